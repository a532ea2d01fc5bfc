#include "checker/met_messages.h"

#include <inttypes.h>
#include <stdio.h>

#include "checker/words.h"

/* What follows within this time may well follow from it: a step and its fsync. */
#define MET_NS (20 * NS_PER_MS)

struct met {
    uint64_t time_ns, term;
    uint32_t peer;
    const char *how;
    char kind[32];
};

/* Ways to be delivered; what is dropped or held is not. */
static const struct {
    const char *outcome, *how;
} ways[] = {{"released", "late"}, {"duplicated", "twice"}, {"overtaken", "out of order"}};

static const char *how_it_came(struct slice outcome)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (slice_equals(outcome, ways[i].outcome))
            return ways[i].how;
    return NULL;
}

void met_init(struct met_messages *met)
{
    table_init(&met->last, sizeof(struct met));
}

void met_release(struct met_messages *met)
{
    table_release(&met->last);
}

void met_step(struct met_messages *met, const struct event *event)
{
    const char *how = how_it_came(event_text(event, FIELD_OUTCOME));
    struct slice kind = event_text(event, FIELD_KIND);
    if (!how)
        return;
    struct met *last = table_put(&met->last, event->process, 0, NULL);
    *last = (struct met){.time_ns = event->time_ns,
                         .term = event_number(event, FIELD_TERM),
                         .peer = (uint32_t)event_number(event, FIELD_PEER),
                         .how = how};
    (void)snprintf(last->kind, sizeof last->kind, "%.*s",
                   (int)(kind.length < 31 ? kind.length : 31), kind.at);
}

void met_explain(const struct met_messages *met, const struct event *event, struct finding *finding)
{
    const struct met *last = table_find(&met->last, event->process, 0);
    struct words words = {0};
    if (!last || last->time_ns > event->time_ns || event->time_ns - last->time_ns > MET_NS)
        return;
    finding_add(finding, "; %s before, the nemesis gave %s a %s of term %" PRIu64 " from %s %s",
                word_apart(&words, last->time_ns, event->time_ns),
                word_process(&words, event->process), last->kind, last->term,
                word_process(&words, last->peer), last->how);
}
