/* No node ends by itself: an assert, a sanitizer's report, an exit nobody asked for. What somebody
 * outside the run killed (out of memory, an operator) says nothing of the algorithm, and neither
 * does a crash of the harness' own programs: unknown. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdio.h>

#include "checker/words.h"

struct no_crash {
    bool ended; /* phase end: processes leave now */
};

static void begin(void *state, const struct history_header *header)
{
    (void)state;
    (void)header;
}

static const char *how(const struct event *event, char buffer[48])
{
    if (event_has(event, FIELD_SIGNAL))
        (void)snprintf(buffer, 48, "by signal %" PRIu64, event_number(event, FIELD_SIGNAL));
    else
        (void)snprintf(buffer, 48, "with status %" PRIu64, event_number(event, FIELD_STATUS));
    return buffer;
}

static void on_exit_event(const struct event *event, struct finding *finding)
{
    struct words words = {0};
    char buffer[48];
    struct slice by = event_text(event, FIELD_BY);
    const char *who = word_process(&words, event->process), *at = word_time(&words, event->time_ns);
    if (slice_equals(by, "outside"))
        finding_unknown(finding, &event->index, 1,
                        "%s was killed at %s by something outside the run (%s)", who, at,
                        how(event, buffer));
    else if (slice_equals(by, "itself") && process_kind(event->process) == PROCESS_NODE)
        finding_invalid(finding, &event->index, 1, "%s ended by itself at %s, %s", who, at,
                        how(event, buffer));
    else if (slice_equals(by, "itself"))
        finding_unknown(finding, &event->index, 1,
                        "%s, which is part of the harness, ended by itself at %s, %s", who, at,
                        how(event, buffer));
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct no_crash *check = state;
    if (event->f == F_PHASE)
        check->ended = slice_equals(event_text(event, FIELD_NAME), "end");
    else if (!check->ended || event_number(event, FIELD_STATUS) || event_has(event, FIELD_SIGNAL))
        on_exit_event(event, finding);
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    (void)state;
    (void)end_ns;
    (void)finding;
}

const struct check check_no_crash = {
    .name = "no-crash",
    .summary = "no node ends by itself",
    .events = 1u << F_EXIT | 1u << F_PHASE,
    .state_bytes = sizeof(struct no_crash),
    .begin = begin,
    .step = step,
    .end = end,
};
