/* No vote leaves a node before its record is durable (Raft, section 3.8). A node persists, then
 * reports, then sends, so in its own stream the persist event that names term and vote comes before
 * the vote. Standing for election asks others on the strength of one's own vote: the same rule. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/words.h"

struct record {
    bool present, voted;
    uint64_t index;
    uint64_t term;
    uint32_t vote; /* process number */
};

struct persist_before_send {
    uint32_t nodes;
    struct record *last; /* by node id: a later record replaces the earlier one on disk too */
};

static void begin(void *state, const struct history_header *header)
{
    struct persist_before_send *check = state;
    check->nodes = header->nodes;
    check->last = must_alloc(header->nodes + 1, sizeof *check->last);
}

static void report(const struct event *event, const struct record *record, uint32_t candidate,
                   struct finding *finding)
{
    struct words words = {0};
    uint64_t witness[2] = {event->index, record->index};
    finding_invalid(finding, witness, record->present ? 2 : 1,
                    "%s %s in term %" PRIu64 " at %s before that was durable: on disk was ",
                    word_process(&words, event->process),
                    event->f == F_VOTE ? "voted" : "stood for election",
                    event_number(event, FIELD_TERM), word_time(&words, event->time_ns));
    if (finding->violations > 1)
        return;
    if (!record->present)
        finding_add(finding, "nothing yet");
    else if (record->voted)
        finding_add(finding, "term %" PRIu64 " and a vote for %s, not %s", record->term,
                    word_process(&words, record->vote), word_process(&words, candidate));
    else
        finding_add(finding, "term %" PRIu64 " without a vote", record->term);
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct persist_before_send *check = state;
    uint32_t id = process_index(event->process);
    if (process_kind(event->process) != PROCESS_NODE || id > check->nodes)
        return;
    struct record *record = &check->last[id];
    uint32_t vote = (uint32_t)event_number(event, FIELD_FOR);
    if (event->f == F_PERSIST) {
        *record = (struct record){true, process_index(vote) != 0, event->index,
                                  event_number(event, FIELD_TERM), vote};
        return;
    }
    if (!event_has(event, FIELD_TERM))
        return; /* a campaign that only asks around */
    finding->judged++;
    uint32_t candidate = event->f == F_CAMPAIGN ? event->process : vote;
    bool covered = record->present && record->voted &&
                   record->term == event_number(event, FIELD_TERM) && record->vote == candidate;
    if (!covered)
        report(event, record, candidate, finding);
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    (void)end_ns;
    (void)finding;
    free(((struct persist_before_send *)state)->last);
}

const struct check check_persist_before_send = {
    .name = "persist-before-send",
    .summary = "a vote is durable before it leaves the node",
    .traits = 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE,
    .judges = "vote",
    .events = 1u << F_VOTE | 1u << F_CAMPAIGN | 1u << F_PERSIST,
    .state_bytes = sizeof(struct persist_before_send),
    .begin = begin,
    .step = step,
    .end = end,
};
