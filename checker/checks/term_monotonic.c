/* The term a node reports never falls, across restarts too: what it promised for the larger term
 * would be forgotten. Judged in the node's own stream, so no clock matters. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/words.h"

struct highest {
    uint64_t term, index, time_ns;
    uint8_t f;
};

struct term_monotonic {
    uint32_t nodes;
    struct highest *highest; /* by node id */
};

static void begin(void *state, const struct history_header *header)
{
    struct term_monotonic *check = state;
    check->nodes = header->nodes;
    check->highest = must_alloc(header->nodes + 1, sizeof *check->highest);
}

static void report(const struct event *event, const struct highest *highest,
                   struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){highest->index, event->index}, 2,
                    "%s fell from term %" PRIu64 " (%s at %s) to term %" PRIu64 " (%s at %s), %s "
                    "later",
                    word_process(&words, event->process), highest->term,
                    event_f_name((enum event_f)highest->f), word_time(&words, highest->time_ns),
                    event_number(event, FIELD_TERM), event_f_name((enum event_f)event->f),
                    word_time(&words, event->time_ns),
                    word_apart(&words, highest->time_ns, event->time_ns));
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct term_monotonic *check = state;
    uint32_t id = process_index(event->process);
    if (process_kind(event->process) != PROCESS_NODE || id > check->nodes ||
        !event_has(event, FIELD_TERM))
        return;
    uint64_t term = event->field[FIELD_TERM].number;
    struct highest *highest = &check->highest[id];
    finding->judged++;
    if (term < highest->term)
        report(event, highest, finding);
    else if (term > highest->term)
        *highest = (struct highest){term, event->index, event->time_ns, event->f};
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    (void)end_ns;
    (void)finding;
    free(((struct term_monotonic *)state)->highest);
}

const struct check check_term_monotonic = {
    .name = "term-monotonic",
    .summary = "the term a node reports never falls, across restarts too",
    .traits = 1u << TRAIT_DURABLE,
    .judges = "reported term",
    .events = 1u << F_LEAD | 1u << F_FOLLOW | 1u << F_VOTE | 1u << F_CAMPAIGN | 1u << F_PERSIST,
    .state_bytes = sizeof(struct term_monotonic),
    .begin = begin,
    .step = step,
    .end = end,
};
