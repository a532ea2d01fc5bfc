/* A node does not act after it itself reported the end of its reign: a step-down, its own end, a
 * newer reign, or a lease that had run out by its own clock. Judged in the node's own stream. Only
 * the start of an act counts (the invocation), for a write already on its way may well arrive
 * later; what the resource accepts then is fencing's business. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/words.h"

/* What a node last said of its leadership. `said` is the event behind it. */
struct reign {
    bool leads, lost;
    uint64_t token;
    uint64_t until_ns; /* own clock; 0: no lease */
    uint64_t index, time_ns;
    uint8_t said;
};

struct acted_after_loss {
    uint32_t nodes;
    struct reign *reigns; /* by story */
};

static void begin(void *state, const struct history_header *header)
{
    struct acted_after_loss *check = state;
    check->nodes = header->nodes;
    check->reigns = must_alloc(STORIES(header->nodes) + 1, sizeof *check->reigns);
}

static void lose(struct reign *reign, const struct event *event)
{
    reign->lost = reign->lost || reign->leads;
    reign->leads = false;
    if (!reign->lost)
        return;
    reign->index = event->index;
    reign->time_ns = event->time_ns;
    reign->said = event->f;
}

static void lead(struct reign *reign, const struct event *event)
{
    uint64_t token = event_number(event, FIELD_TOKEN);
    *reign = (struct reign){.leads = true,
                            .lost = reign->lost || (reign->leads && token != reign->token),
                            .token = token,
                            .until_ns = event_number(event, FIELD_UNTIL),
                            .index = event->index,
                            .time_ns = event->time_ns,
                            .said = event->f};
}

static void report(const struct reign *reign, const struct event *event, struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){reign->index, event->index}, 2,
                    "%s wrote with token %" PRIu64 " at %s, %s after its own %s",
                    word_process(&words, event->process), event_number(event, FIELD_TOKEN),
                    word_time(&words, event->time_ns),
                    word_apart(&words, reign->time_ns, event->time_ns),
                    reign->leads ? "newer claim" : event_f_name((enum event_f)reign->said));
    if (finding->violations == 1 && reign->leads)
        finding_add(finding, " with token %" PRIu64, reign->token);
}

static void report_expired(const struct reign *reign, const struct event *event,
                           struct finding *finding)
{
    struct words words = {0};
    finding_invalid(
        finding, (uint64_t[]){reign->index, event->index}, 2,
        "%s wrote with token %" PRIu64 " at %s, %s after its lease had ended by its own "
        "clock",
        word_process(&words, event->process), event_number(event, FIELD_TOKEN),
        word_time(&words, event->time_ns), word_apart(&words, reign->until_ns, event->node_ns));
}

/* An act stamped before the loss is no act after it: the end of a process is recorded by somebody
 * else and may come into the file ahead of the process's own last words. */
static void act(const struct reign *reign, const struct event *event, struct finding *finding)
{
    uint64_t token = event_number(event, FIELD_TOKEN);
    if (reign->leads) {
        if (reign->lost && token != reign->token)
            report(reign, event, finding);
        else if (reign->until_ns && event->node_ns > reign->until_ns)
            report_expired(reign, event, finding);
    } else if (reign->lost && event->time_ns > reign->time_ns) {
        report(reign, event, finding);
    }
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct acted_after_loss *check = state;
    uint32_t story = story_of(event->process, check->nodes);
    if (story == 0)
        return;
    struct reign *reign = &check->reigns[story];
    switch ((enum event_f)event->f) {
    case F_LEAD: lead(reign, event); break;
    case F_RENEW:
        if (reign->leads) {
            reign->until_ns = event_number(event, FIELD_UNTIL);
            reign->index = event->index;
        }
        break;
    case F_STEP_DOWN:
    case F_EXIT: lose(reign, event); break;
    default:
        if (event->type != EVENT_INVOKE || (!reign->leads && !reign->lost))
            return;
        finding->judged++;
        act(reign, event, finding);
    }
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    (void)end_ns;
    (void)finding;
    free(((struct acted_after_loss *)state)->reigns);
}

const struct check check_acted_after_loss = {
    .name = "acted-after-loss",
    .summary = "a node does not write after it reported the end of its own reign",
    .owed = check_needs_resource,
    .judges = "write",
    .events =
        1u << F_LEAD | 1u << F_RENEW | 1u << F_STEP_DOWN | 1u << F_EXIT | 1u << F_GUARDED_WRITE,
    .state_bytes = sizeof(struct acted_after_loss),
    .begin = begin,
    .step = step,
    .end = end,
};
