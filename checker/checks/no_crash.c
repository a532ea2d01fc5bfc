/* No node ends by itself: an assert, a sanitizer's report, an exit nobody asked for. What somebody
 * outside the run killed (out of memory, an operator) says nothing of the algorithm, and neither
 * does a crash of the harness' own programs: unknown.
 *
 * A node that the machine fails (a full disk, no more descriptors) must not go on as if it had kept
 * its word: it ends with status 3, which is unknown, and right where a fault failed its disk. The
 * fault's event comes when the fault is confirmed, which may be after the end that it caused. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/units.h"
#include "checker/fault_kinds.h"
#include "checker/table.h"
#include "checker/words.h"

/* From a request that failed to the end that is seen, on a busy machine. */
#define LAST_WORDS_NS (2 * NS_PER_S)

struct disk {
    uint32_t failing;  /* faults active on it */
    uint64_t until_ns; /* of the last one */
};

struct ended {
    uint64_t index, time_ns;
    uint32_t process;
};

struct no_crash {
    bool ended; /* phase end: processes leave now */
    uint32_t nodes;
    struct disk *disks;     /* by node id */
    struct table active;    /* id of a fault that lets disks fail -> targets, bit per node */
    struct ended *unsolved; /* ends that a fault may yet explain */
    uint32_t unsolved_count, unsolved_capacity;
};

static void begin(void *state, const struct history_header *header)
{
    struct no_crash *check = state;
    check->nodes = header->nodes;
    check->disks = must_alloc(header->nodes + 1, sizeof *check->disks);
    table_init(&check->active, sizeof(uint64_t));
}

static const char *how(const struct event *event, char buffer[48])
{
    if (event_has(event, FIELD_SIGNAL))
        (void)snprintf(buffer, 48, "by signal %" PRIu64, event_number(event, FIELD_SIGNAL));
    else
        (void)snprintf(buffer, 48, "with status %" PRIu64, event_number(event, FIELD_STATUS));
    return buffer;
}

/* ---- disks that fail ---- */

/* Faults are done to nodes of live and simulated runs, which are few. */
static void add_target(void *context, uint32_t node)
{
    uint64_t *targets = context;
    if (node <= 64)
        *targets |= UINT64_C(1) << (node - 1);
}

static void count_failing(struct no_crash *check, uint64_t targets, uint64_t at_ns, bool on)
{
    for (; targets; targets &= targets - 1) {
        uint32_t node = (uint32_t)__builtin_ctzll(targets) + 1;
        if (node > check->nodes)
            continue;
        check->disks[node].failing += on ? 1 : UINT32_MAX;
        check->disks[node].until_ns = at_ns;
    }
}

/* Ends of these nodes since the fault began are solved. */
static void solve(struct no_crash *check, uint64_t targets, uint64_t begin_ns)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < check->unsolved_count; i++) {
        const struct ended *ended = &check->unsolved[i];
        uint64_t bit = UINT64_C(1) << (process_index(ended->process) - 1);
        if (!(targets & bit) || ended->time_ns < begin_ns)
            check->unsolved[kept++] = *ended;
    }
    check->unsolved_count = kept;
}

static void on_fault(struct no_crash *check, const struct event *event)
{
    uint64_t targets = 0;
    if (fault_effect(event) != EFFECT_FAIL || !fault_installed(event))
        return;
    fault_targets(event, add_target, &targets);
    bool fresh = false;
    uint64_t *kept = table_put(&check->active, event_number(event, FIELD_ID), 0, &fresh);
    if (!fresh)
        return;
    *kept = targets;
    count_failing(check, targets, event->time_ns, true);
    solve(check, targets, event_number(event, FIELD_BEGIN));
}

static void on_heal(struct no_crash *check, const struct event *event)
{
    uint64_t id = event_number(event, FIELD_ID);
    const uint64_t *targets = table_find(&check->active, id, 0);
    if (!targets)
        return;
    count_failing(check, *targets, event->time_ns, false);
    (void)table_remove(&check->active, id, 0);
}

static bool is_explained(const struct no_crash *check, const struct event *event)
{
    const struct disk *disk = &check->disks[process_index(event->process)];
    return disk->failing > 0 ||
           (disk->until_ns > 0 && event->time_ns < disk->until_ns + LAST_WORDS_NS);
}

static void keep_unsolved(struct no_crash *check, const struct event *event)
{
    if (check->unsolved_count == check->unsolved_capacity) {
        check->unsolved_capacity = check->unsolved_capacity ? check->unsolved_capacity * 2 : 8;
        check->unsolved =
            must_grow(check->unsolved, check->unsolved_capacity, sizeof *check->unsolved);
    }
    check->unsolved[check->unsolved_count++] =
        (struct ended){event->index, event->time_ns, event->process};
}

/* True if the end is of the kind that a failing disk brings about. */
static bool by_disk(struct no_crash *check, const struct event *event)
{
    uint32_t id = process_index(event->process);
    bool gave_up = process_elects(event->process) && id >= 1 && id <= check->nodes &&
                   slice_equals(event_text(event, FIELD_BY), "itself") &&
                   !event_has(event, FIELD_SIGNAL) &&
                   event_number(event, FIELD_STATUS) == EXIT_HARNESS;
    if (gave_up && !is_explained(check, event)) {
        if (id > 64)
            return false;
        keep_unsolved(check, event);
    }
    return gave_up;
}

/* ---- ends ---- */

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
    else if (slice_equals(by, "itself") && process_elects(event->process))
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
    if (event->f == F_SPAWN)
        finding->judged++;
    else if (event->f == F_PHASE)
        check->ended = slice_equals(event_text(event, FIELD_NAME), "end");
    else if (event->f == F_FAULT)
        on_fault(check, event);
    else if (event->f == F_HEAL)
        on_heal(check, event);
    else if (check->ended && !event_number(event, FIELD_STATUS) && !event_has(event, FIELD_SIGNAL))
        return;
    else if (!by_disk(check, event))
        on_exit_event(event, finding);
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct no_crash *check = state;
    (void)end_ns;
    for (uint32_t i = 0; i < check->unsolved_count; i++) {
        const struct ended *ended = &check->unsolved[i];
        struct words words = {0};
        finding_unknown(finding, &ended->index, 1,
                        "%s gave up at %s: the machine failed it (status %d, see its log), and no "
                        "fault of its disk explains it",
                        word_process(&words, ended->process), word_time(&words, ended->time_ns),
                        EXIT_HARNESS);
    }
    free(check->disks);
    free(check->unsolved);
    table_release(&check->active);
}

const struct check check_no_crash = {
    .name = "no-crash",
    .summary = "no node ends by itself",
    .judges = "process",
    .events = 1u << F_SPAWN | 1u << F_EXIT | 1u << F_PHASE | 1u << F_FAULT | 1u << F_HEAL,
    .state_bytes = sizeof(struct no_crash),
    .begin = begin,
    .step = step,
    .end = end,
};
