/* A voter grants one candidate a term, ever: across restarts, wiped disks and whoever else runs
 * under its id (Raft, figure 3.1: votedFor). Standing for election is a vote for oneself. Saying
 * the same vote again is fine. Standing without a term (to a coordinator) asks for no votes. */
#include "checker/check.h"

#include <inttypes.h>

#include "checker/table.h"
#include "checker/words.h"

struct grant {
    uint64_t index, time_ns;
    uint32_t candidate, voter; /* the process: two may share the id */
};

struct vote_once {
    struct table grants; /* (term, voter) -> first grant */
};

static void begin(void *state, const struct history_header *header)
{
    (void)header;
    table_init(&((struct vote_once *)state)->grants, sizeof(struct grant));
}

static void report(const struct event *event, const struct grant *first, uint32_t candidate,
                   struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){first->index, event->index}, 2,
                    "%s voted twice in term %" PRIu64 ": for %s at %s and%s%s for %s at %s, %s "
                    "apart",
                    word_process(&words, first->voter), event_number(event, FIELD_TERM),
                    word_process(&words, first->candidate), word_time(&words, first->time_ns),
                    event->process == first->voter ? "" : " as ",
                    event->process == first->voter ? "" : word_process(&words, event->process),
                    word_process(&words, candidate), word_time(&words, event->time_ns),
                    word_apart(&words, first->time_ns, event->time_ns));
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct vote_once *check = state;
    bool fresh;
    if (!event_has(event, FIELD_TERM))
        return; /* a campaign that only asks around */
    finding->judged++;
    uint32_t candidate = event->f == F_CAMPAIGN ? process_identity(event->process)
                                                : (uint32_t)event_number(event, FIELD_FOR);
    struct grant *grant = table_put(&check->grants, event_number(event, FIELD_TERM),
                                    process_identity(event->process), &fresh);
    if (fresh)
        *grant = (struct grant){event->index, event->time_ns, candidate, event->process};
    else if (grant->candidate != candidate)
        report(event, grant, candidate, finding);
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    (void)end_ns;
    (void)finding;
    table_release(&((struct vote_once *)state)->grants);
}

const struct check check_vote_once = {
    .name = "vote-once",
    .summary = "a voter grants one candidate a term, across restarts and wiped disks",
    .traits = 1u << TRAIT_MAJORITY,
    .judges = "vote",
    .events = 1u << F_VOTE | 1u << F_CAMPAIGN,
    .state_bytes = sizeof(struct vote_once),
    .begin = begin,
    .step = step,
    .end = end,
};
