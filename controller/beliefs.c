#include "controller/beliefs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/process.h"
#include "base/units.h"

void beliefs_step(struct beliefs *beliefs, const struct event *event)
{
    if (event->f != F_LEAD && event->f != F_FOLLOW && event->f != F_STEP_DOWN &&
        event->f != F_CAMPAIGN)
        return;
    if (beliefs->count == beliefs->capacity) {
        beliefs->capacity = beliefs->capacity ? 2 * beliefs->capacity : 64;
        beliefs->at = must_grow(beliefs->at, beliefs->capacity, sizeof *beliefs->at);
    }
    beliefs->at[beliefs->count++] = (struct stated){
        .time_ns = event->time_ns,
        .term = event_number(event, FIELD_TERM),
        .process = event->process,
        .leader = (uint32_t)event_number(event, FIELD_LEADER),
        .f = event->f,
    };
}

void beliefs_release(struct beliefs *beliefs)
{
    free(beliefs->at);
    *beliefs = (struct beliefs){0};
}

static bool is_same(const struct stated *a, const struct stated *b)
{
    return a->f == b->f && a->process == b->process && a->term == b->term && a->leader == b->leader;
}

uint32_t beliefs_diverge(const struct beliefs *a, const struct beliefs *b)
{
    uint32_t common = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < common; i++)
        if (!is_same(&a->at[i], &b->at[i]))
            return i;
    return common;
}

void belief_format(const struct beliefs *beliefs, uint32_t place, struct text *out)
{
    char name[PROCESS_NAME_MAX], leader[PROCESS_NAME_MAX], at[UNIT_TEXT_MAX];
    if (place >= beliefs->count) {
        text_add(out, "the end");
        return;
    }
    const struct stated *stated = &beliefs->at[place];
    text_add(out, "%s %s", process_name(stated->process, name), event_f_name(stated->f));
    if (stated->leader)
        text_add(out, " %s", process_name(stated->leader, leader));
    text_add(out, " term=%" PRIu64 " at %s", stated->term, human_duration(stated->time_ns, at));
}
