/* The phases of a run, one after the other: start, faults, heal, final, end. Each says what happens
 * when it begins and when it is over. */
#define _GNU_SOURCE
#include "controller/run_internal.h"

#include <errno.h>

#include "base/units.h"
#include "checker/cluster.h"

/* Bounds on what must happen for a run to go on. Generous: twenty runs may share two cores. */
#define READY_WITHIN_NS (30 * NS_PER_S)
#define HEAL_WITHIN_NS (15 * NS_PER_S)
#define END_WITHIN_NS (10 * NS_PER_S)
#define TIMEOUTS_TO_LEAD 20u

/* What the final phase lasts longer than its checks need. */
#define MARGIN_NS (100 * NS_PER_MS)
#define FORGIVEN_BOUNDS 5u /* at most so many bounds are added for stalls */

struct phase {
    const char *name;
    void (*enter)(struct run *run);
    bool (*over)(struct run *run, uint64_t now_ns);
};

static void on_nemesis(uv_timer_t *timer)
{
    nemesis_advance(timer->data);
}

void nemesis_advance(struct run *run)
{
    uint64_t now_ns = run_now(run);
    uint64_t next_ns = engine_advance(run->engine, now_ns);
    if (next_ns == UINT64_MAX)
        return;
    uint64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    (void)uv_timer_start(&run->nemesis, on_nemesis, (wait_ns + NS_PER_MS - 1) / NS_PER_MS, 0);
}

static uint64_t timeout_ns(const struct run *run)
{
    return run->config->elector.knobs.election_timeout_max;
}

static void nothing(struct run *run)
{
    (void)run;
}

static bool start_over(struct run *run, uint64_t now_ns)
{
    struct error error;
    char name[PROCESS_NAME_MAX];
    if (run->interrupted || world_crashed(run->world))
        return true;
    if (!world_ready(run->world)) {
        if (now_ns < READY_WITHIN_NS)
            return false;
        (void)error_set(&error, -ETIMEDOUT, "%s was not ready within %d s (its log is in %s/logs)",
                        process_name(world_unready(run->world), name),
                        (int)(READY_WITHIN_NS / NS_PER_S), run->order->folder);
        run_fail(run, &error);
        return false;
    }
    return view_leader(world_view(run->world), NULL) != 0 ||
           now_ns > READY_WITHIN_NS + TIMEOUTS_TO_LEAD * timeout_ns(run);
}

static void faults_enter(struct run *run)
{
    run->faults_ns = run->phase_ns;
    world_tell_clients(run->world, "start");
    engine_begin(run->engine, run->phase_ns);
    nemesis_advance(run);
}

static uint64_t faults_end_ns(const struct run *run)
{
    return run->phase_ns + run->config->duration_ns;
}

static bool faults_over(struct run *run, uint64_t now_ns)
{
    return run->interrupted || now_ns >= faults_end_ns(run);
}

static void heal_enter(struct run *run)
{
    engine_heal(run->engine, run->phase_ns);
    nemesis_advance(run);
}

static bool heal_over(struct run *run, uint64_t now_ns)
{
    bool late = now_ns > run->phase_ns + HEAL_WITHIN_NS;
    if (engine_quiet(run->engine))
        return world_ready(run->world) || late; /* a node that only crashes is the checks' matter */
    if (late) {
        struct error error;
        struct text pending = {0};
        engine_pending(run->engine, &pending);
        (void)error_set(&error, -ETIMEDOUT, "healing did not end within %d s: %.300s",
                        (int)(HEAL_WITHIN_NS / NS_PER_S), text_string(&pending));
        text_release(&pending);
        run_fail(run, &error);
    }
    return false;
}

static void final_enter(struct run *run)
{
    run->recovered_ns = 0;
    run->stalled_before_ns = world_view(run->world)->stalled_ns;
}

/* When the checks have seen long enough to blame the cluster for not recovering. They forgive the
 * time in which the machine did not run us; on one that hardly ever does, they will not know. */
static uint64_t recover_by_ns(const struct run *run)
{
    uint64_t bound_ns = liveness_bound_ns(&run->header) + liveness_slack_ns(&run->header);
    uint64_t stalled_ns = world_view(run->world)->stalled_ns - run->stalled_before_ns;
    uint64_t most_ns = FORGIVEN_BOUNDS * bound_ns;
    return run->phase_ns + bound_ns + (stalled_ns < most_ns ? stalled_ns : most_ns) + MARGIN_NS;
}

static bool final_over(struct run *run, uint64_t now_ns)
{
    const struct view *view = world_view(run->world);
    if (!view_agreed(view) || view->accepted_ns < run->phase_ns)
        run->recovered_ns = 0;
    else if (run->recovered_ns == 0)
        run->recovered_ns = now_ns;
    bool settled = run->recovered_ns && now_ns > run->recovered_ns + timeout_ns(run);
    return settled || now_ns > recover_by_ns(run);
}

static void end_enter(struct run *run)
{
    world_attach(run->world, NULL);
    world_finish(run->world);
}

static bool end_over(struct run *run, uint64_t now_ns)
{
    struct error error;
    char name[PROCESS_NAME_MAX];
    uint32_t left = world_left(run->world);
    if (left == WORLD_NOBODY)
        return true;
    if (now_ns > run->phase_ns + END_WITHIN_NS) {
        (void)error_set(&error, -ETIMEDOUT, "%s did not end within %d s of being told to",
                        process_name(left, name), (int)(END_WITHIN_NS / NS_PER_S));
        run_fail(run, &error);
    }
    return false;
}

static const struct phase phases[PHASES] = {
    [PHASE_START] = {"start", nothing, start_over},
    [PHASE_FAULTS] = {"faults", faults_enter, faults_over},
    [PHASE_HEAL] = {"heal", heal_enter, heal_over},
    [PHASE_FINAL] = {"final", final_enter, final_over},
    [PHASE_END] = {"end", end_enter, end_over},
};

static void enter_phase(struct run *run, enum phase_number phase)
{
    run->phase = phase;
    run->phase_ns = run_now(run);
    run_record(run, F_PHASE, FIELD_NAME, phases[phase].name);
    phases[phase].enter(run);
}

const char *phase_name(enum phase_number phase)
{
    return phases[phase].name;
}

/* Told to stop before everything was done that was asked for? A verdict must know. */
static bool cut_short(const struct run *run, uint64_t now_ns)
{
    return run->interrupted && (run->phase == PHASE_START ||
                                (run->phase == PHASE_FAULTS && now_ns < faults_end_ns(run)));
}

void phase_advance(struct run *run, uint64_t now_ns)
{
    if (run->failed || !phases[run->phase].over(run, now_ns))
        return;
    if (cut_short(run, now_ns))
        run_record(run, F_NOTE, FIELD_TEXT, NOTE_INTERRUPTED);
    if (run->phase == PHASE_END)
        uv_stop(&run->loop);
    else if (run->phase == PHASE_START && (run->interrupted || world_crashed(run->world)))
        enter_phase(run, PHASE_END); /* there is nothing to break */
    else
        enter_phase(run, run->phase + 1);
}
