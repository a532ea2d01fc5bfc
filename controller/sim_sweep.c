#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
#include "controller/sim_sweep.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/farm.h"
#include "controller/interrupts.h"
#include "controller/output.h"
#include "controller/run_folder.h"
#include "controller/sim_keep.h"
#include "report/verdict.h"

/* The rest of the failures is only counted. */
#define SHOWN_MAX 20u

struct shown_failure {
    struct sweep_outcome outcome;
    char *history; /* NULL: could not be kept */
};

/* Seeds of which nothing is known, and why of the first. */
struct unknown_seeds {
    uint64_t count;
    char reason[sizeof((struct sweep_outcome *)NULL)->reason];
};

struct sweep {
    const struct sweep_order *order;
    uint64_t counts[VERDICT_INVALID + 1]; /* seeds by verdict */
    uint64_t vacuous, repeated;
    uint64_t matching; /* invalid as expected */
    uint64_t happenings, events, simulated_ns;
    bool interrupted; /* not all seeds were run */
    uint64_t landed;  /* fault kinds, over all seeds */
    uint64_t done;
    uint64_t by_check[CHECKS_MAX];                /* seeds in which the check was invalid */
    struct unknown_seeds unknown[CHECKS_MAX + 1]; /* by the check that decided; [0]: none did */
    struct shown_failure shown[SHOWN_MAX];
    uint32_t shown_count;
    struct text folder;
    uint64_t started_ns, drawn_ns;
    bool line_shown;
    int rc; /* of what take() did */
    struct error error;
};

static uint64_t wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static double per_second(uint64_t count, uint64_t ns)
{
    return ns ? (double)count * (double)NS_PER_S / (double)ns : 0;
}

/* --- the progress line --- */

static void clear_line(struct sweep *sweep)
{
    if (sweep->line_shown)
        (void)fprintf(stderr, "\r\033[K");
    sweep->line_shown = false;
}

static void draw_line(void *context)
{
    struct sweep *sweep = context;
    const struct sweep_order *order = sweep->order;
    uint64_t now = wall_ns();
    if (order->quiet || now - sweep->drawn_ns < NS_PER_S / 5 || !isatty(STDERR_FILENO))
        return;
    sweep->drawn_ns = now;
    uint64_t past = now - sweep->started_ns;
    (void)fprintf(stderr,
                  "\r\033[K%" PRIu64 " of %" PRIu64 " seeds, %.0f a second, %.0f simulated s a "
                  "second, %" PRIu64 " failed",
                  sweep->done, order->last - order->first + 1, per_second(sweep->done, past),
                  per_second(sweep->simulated_ns, past) / 1e9, sweep->counts[VERDICT_INVALID]);
    sweep->line_shown = true;
}

/* --- keeping a run --- */

static int open_folder(struct sweep *sweep, struct error *error)
{
    if (sweep->folder.length)
        return 0;
    return run_folder_create(sweep->order->folder, "sim", sweep->order->first, &sweep->folder,
                             error);
}

static void command_of(const struct sweep_order *order, uint64_t seed, struct text *out)
{
    text_add(out, "%s --seeds %" PRIu64 "..%" PRIu64, order->again, seed, seed);
}

/* The same as it can be typed here; the history's own must not depend on where coup lies. */
static void shown_command_of(const struct sweep_order *order, uint64_t seed, struct text *out)
{
    struct text command = {0};
    command_of(order, seed, &command);
    text_add(out, "%s%s", output_program(), text_string(&command) + strlen("coup"));
    text_release(&command);
}

static int keep(struct sweep *sweep, const struct sweep_outcome *outcome, char **ret_path,
                struct error *error)
{
    struct text path = {0}, command = {0};
    int rc = open_folder(sweep, error);
    if (rc < 0)
        return rc;
    text_add(&path, "%s/seed-%" PRIu64 ".coup", text_string(&sweep->folder), outcome->seed);
    command_of(sweep->order, outcome->seed, &command);
    rc =
        sim_keep(&sweep->order->request, outcome, text_string(&command), text_string(&path), error);
    text_release(&command);
    if (rc < 0)
        text_release(&path);
    else
        *ret_path = path.at;
    return rc;
}

/* --- taking results --- */

static bool matches(const struct expectation *expect, const struct sweep_outcome *outcome)
{
    if (!expect->given || expect->verdict != VERDICT_INVALID || outcome->verdict != VERDICT_INVALID)
        return false;
    for (uint32_t i = 0; checks[i]; i++)
        if (checks[i] == expect->check)
            return outcome->invalid >> i & 1;
    return true; /* any check will do */
}

static void count_unknown(struct sweep *sweep, const struct sweep_outcome *outcome)
{
    struct unknown_seeds *unknown = &sweep->unknown[outcome->decided_by + 1];
    if (outcome->verdict == VERDICT_UNKNOWN && unknown->count++ == 0)
        memcpy(unknown->reason, outcome->reason, sizeof unknown->reason);
}

static void count(struct sweep *sweep, const struct sweep_outcome *outcome)
{
    sweep->done++;
    sweep->counts[outcome->verdict]++;
    sweep->vacuous += sweep_vacuous(outcome);
    count_unknown(sweep, outcome);
    sweep->matching += matches(&sweep->order->expect, outcome);
    sweep->repeated += outcome->repeated;
    sweep->happenings += outcome->happenings;
    sweep->events += outcome->events;
    sweep->simulated_ns += outcome->simulated_ns;
    sweep->landed |= outcome->landed;
    for (uint32_t i = 0; checks[i]; i++)
        sweep->by_check[i] += outcome->invalid >> i & 1;
}

static void show(struct sweep *sweep, const struct sweep_outcome *outcome, char *history)
{
    if (sweep->shown_count < SHOWN_MAX)
        sweep->shown[sweep->shown_count++] = (struct shown_failure){*outcome, history};
    else
        free(history);
}

static bool failed(struct sweep *sweep, int code)
{
    sweep->rc = code;
    return false;
}

/* Where a violation of one check is expected, those of others are counted, and the search goes on.
 */
static bool is_wanted(const struct sweep *sweep, const struct sweep_outcome *outcome)
{
    const struct expectation *expect = &sweep->order->expect;
    return !expect->given || !expect->check || matches(expect, outcome);
}

static bool take(void *context, uint64_t number, struct slice bytes)
{
    struct sweep *sweep = context;
    struct sweep_outcome outcome;
    char *history = NULL;
    assert(bytes.length == sizeof outcome);
    memcpy(&outcome, bytes.at, sizeof outcome);
    assert(outcome.seed == number);
    count(sweep, &outcome);
    if (outcome.diverged)
        return failed(sweep, error_set(&sweep->error, -EPROTO,
                                       "seed %" PRIu64 " gives another run when repeated", number));
    bool invalid = outcome.verdict == VERDICT_INVALID;
    bool wanted = invalid && is_wanted(sweep, &outcome);
    if (sweep->order->keep_all || wanted) {
        int rc = keep(sweep, &outcome, &history, &sweep->error);
        if (rc < 0)
            return failed(sweep, rc);
    }
    if (wanted)
        show(sweep, &outcome, history);
    else
        free(history);
    sweep->interrupted = number < sweep->order->last && interrupts_pending();
    return !sweep->interrupted && (!wanted || sweep->order->keep_going);
}

static int work(void *context, uint64_t number, struct text *result, struct error *error)
{
    const struct sweep *sweep = context;
    struct sweep_outcome outcome;
    int rc = sweep_one(&sweep->order->request, number, &outcome, error);
    if (rc < 0)
        return rc;
    text_add_bytes(result, &outcome, sizeof outcome);
    return 0;
}

/* --- the judgement of the whole --- */

/* A kind that was asked for and never landed in any seed: then nothing was tested with it. */
static const char *never_landed(const struct sweep *sweep)
{
    const struct sim_config *base = &sweep->order->request.base;
    for (uint32_t i = 0; i < base->kind_count; i++)
        for (uint32_t place = 0; faults[place]; place++)
            if (faults[place] == base->kinds[i] && !(sweep->landed >> place & 1))
                return base->kinds[i]->name;
    return NULL;
}

static enum verdict whole_verdict(const struct sweep *sweep)
{
    if (sweep->counts[VERDICT_INVALID])
        return VERDICT_INVALID;
    if (sweep->interrupted)
        return VERDICT_UNKNOWN; /* seeds that were asked for are missing */
    if (sweep->counts[VERDICT_UNKNOWN] > sweep->vacuous || sweep->counts[VERDICT_VALID] == 0)
        return VERDICT_UNKNOWN;
    return VERDICT_VALID;
}

static int exit_code(const struct sweep *sweep)
{
    const struct expectation *expect = &sweep->order->expect;
    enum verdict verdict = whole_verdict(sweep);
    if (!expect->given || expect->verdict == VERDICT_VALID)
        return (int)verdict_exit_code(verdict);
    if (sweep->matching)
        return EXIT_VALID;
    return verdict == VERDICT_UNKNOWN && sweep->counts[VERDICT_VALID] == 0 ? EXIT_UNKNOWN
                                                                           : EXIT_INVALID;
}

/* --- what is printed --- */

static const char *check_name(const struct sweep_outcome *outcome)
{
    return outcome->decided_by < 0 ? "" : checks[outcome->decided_by]->name;
}

static void add_also(const struct sweep_outcome *outcome, struct text *out)
{
    const char *before = "  also invalid ";
    for (int i = 0; checks[i]; i++) {
        if (i == outcome->decided_by || !(outcome->invalid >> i & 1))
            continue;
        text_add(out, "%s%s", before, checks[i]->name);
        before = ", ";
    }
    if (*before == ',')
        text_add(out, "\n");
}

static void add_unknown(const struct sweep *sweep, struct text *out)
{
    for (uint32_t i = 0; i < CHECKS_MAX + 1; i++) {
        const struct unknown_seeds *unknown = &sweep->unknown[i];
        if (unknown->count == 0)
            continue;
        text_add(out, "  %s%sunknown in %" PRIu64 ": %s%s\n", i ? checks[i - 1]->name : "",
                 i ? " " : "", unknown->count, unknown->reason,
                 i && unknown->count > 1 ? " (the first)" : "");
    }
}

static void add_failures(const struct sweep *sweep, struct text *out)
{
    for (uint32_t i = 0; i < sweep->shown_count; i++) {
        const struct shown_failure *failure = &sweep->shown[i];
        text_add(out, "seed %" PRIu64 ": %s: %s\n  drawn    %s\n", failure->outcome.seed,
                 check_name(&failure->outcome), failure->outcome.reason, failure->outcome.drawn);
        add_also(&failure->outcome, out);
        text_add(out, "  history  %s\n  repeat   ", failure->history);
        shown_command_of(sweep->order, failure->outcome.seed, out);
        text_add(out, "\n");
    }
    if (sweep->counts[VERDICT_INVALID] > sweep->shown_count)
        text_add(out, "and %" PRIu64 " more failures\n",
                 sweep->counts[VERDICT_INVALID] - sweep->shown_count);
}

static void add_summary(const struct sweep *sweep, struct text *out)
{
    uint64_t past = wall_ns() - sweep->started_ns;
    bool all = sweep->done > sweep->order->last - sweep->order->first;
    const char *missing = all ? never_landed(sweep) : NULL; /* it may have come yet */
    char seeds[COUNT_TEXT_MAX];
    text_add(out, "%s: %s (%" PRIu64 " valid, %" PRIu64 " invalid, %" PRIu64 " unknown)\n",
             verdict_name(whole_verdict(sweep)), count_of(sweep->done, "seed", seeds),
             sweep->counts[VERDICT_VALID], sweep->counts[VERDICT_INVALID],
             sweep->counts[VERDICT_UNKNOWN]);
    for (uint32_t i = 0; checks[i]; i++)
        if (sweep->by_check[i])
            text_add(out, "  %s invalid in %" PRIu64 "\n", checks[i]->name, sweep->by_check[i]);
    if (sweep->interrupted)
        text_add(out, "  interrupted after %" PRIu64 " of %" PRIu64 " seeds\n", sweep->done,
                 sweep->order->last - sweep->order->first + 1);
    add_unknown(sweep, out);
    if (sweep->vacuous)
        text_add(out, "  unknown only because a drawn fault never landed: %" PRIu64 "\n",
                 sweep->vacuous);
    if (missing)
        text_add(out, "  never landed in any seed: %s\n", missing);
    text_add(out,
             "  %.0f simulated s in %.2f s (%.0f a second), %.0f seeds a second, %" PRIu64
             " repeated alike\n",
             (double)sweep->simulated_ns / 1e9, (double)past / 1e9,
             per_second(sweep->simulated_ns, past) / 1e9, per_second(sweep->done, past),
             sweep->repeated);
    if (sweep->folder.length)
        text_add(out, "  histories in %s\n", text_string(&sweep->folder));
    expectation_line(&sweep->order->expect, exit_code(sweep) == EXIT_VALID, out);
}

static void add_json_failure(const struct sweep *sweep, const struct shown_failure *failure,
                             struct text *out)
{
    struct text command = {0};
    shown_command_of(sweep->order, failure->outcome.seed, &command);
    text_add(out, "{\"seed\":%" PRIu64 ",\"check\":", failure->outcome.seed);
    text_add_json(out, slice_of(check_name(&failure->outcome)));
    text_add(out, ",\"reason\":");
    text_add_json(out, slice_of(failure->outcome.reason));
    text_add(out, ",\"history\":");
    text_add_json(out, slice_of(failure->history));
    text_add(out, ",\"command\":");
    text_add_json(out, slice_of(text_string(&command)));
    text_add(out, "}");
    text_release(&command);
}

static void add_json(const struct sweep *sweep, struct text *out)
{
    text_add(out,
             "{\"verdict\":\"%s\",\"seeds\":%" PRIu64 ",\"valid\":%" PRIu64 ",\"invalid\":%" PRIu64
             ",\"unknown\":%" PRIu64 ",\"vacuous\":%" PRIu64 ",\"failures\":[",
             verdict_name(whole_verdict(sweep)), sweep->done, sweep->counts[VERDICT_VALID],
             sweep->counts[VERDICT_INVALID], sweep->counts[VERDICT_UNKNOWN], sweep->vacuous);
    for (uint32_t i = 0; i < sweep->shown_count; i++) {
        text_add(out, "%s", i ? "," : "");
        add_json_failure(sweep, &sweep->shown[i], out);
    }
    text_add(out, "],\"stats\":{\"simulated_ns\":%" PRIu64 ",\"wall_ns\":%" PRIu64,
             sweep->simulated_ns, wall_ns() - sweep->started_ns);
    text_add(out, ",\"happenings\":%" PRIu64 ",\"events\":%" PRIu64 ",\"repeated\":%" PRIu64 "}}\n",
             sweep->happenings, sweep->events, sweep->repeated);
}

static int print(const struct sweep *sweep, struct error *error)
{
    struct text out = {0};
    if (sweep->order->json) {
        add_json(sweep, &out);
    } else {
        add_failures(sweep, &out);
        add_summary(sweep, &out);
    }
    int rc = output_text(&out, error);
    text_release(&out);
    return rc;
}

int sweep_execute(const struct sweep_order *order, struct error *error)
{
    struct sweep *sweep = must_alloc(1, sizeof *sweep);
    struct farm farm = {.first = order->first,
                        .last = order->last,
                        .workers = order->jobs,
                        .context = sweep,
                        .work = work,
                        .take = take,
                        .tick = draw_line};
    sweep->order = order;
    sweep->started_ns = wall_ns();
    interrupts_hold();
    int rc = farm_run(&farm, error);
    clear_line(sweep);
    if (rc < 0)
        error_prefix(error, "simulated run");
    if (rc == 0 && (rc = sweep->rc) < 0 && error)
        *error = sweep->error;
    if (rc == 0)
        rc = print(sweep, error);
    int code = exit_code(sweep);
    for (uint32_t i = 0; i < sweep->shown_count; i++)
        free(sweep->shown[i].history);
    text_release(&sweep->folder);
    free(sweep);
    return rc < 0 ? rc : code;
}
