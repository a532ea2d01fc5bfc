/* A run from within its sandbox: one loop, one clock tick, and the phases one after the other:
 * start, faults, heal, final, end. */
#define _GNU_SOURCE
#include "controller/run_internal.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/run_verdict.h"
#include "nodes/clock.h"

#define TICK_MS 5u
#define FLUSH_EVERY_NS (100 * NS_PER_MS)
#define LIVE_EVERY_NS (200 * NS_PER_MS)
#define SAMPLE_EVERY_NS (100 * NS_PER_MS)
#define STALL_NS (20 * NS_PER_MS) /* shorter ones explain nothing */
#define CONTROLLER_NICE (-5)
#define ORPHANS_EVERY_NS NS_PER_S

uint64_t run_now(const struct run *run)
{
    return clock_true_ns() - run->origin_ns;
}

void run_fail(void *context, const struct error *error)
{
    struct run *run = context;
    if (run->failed)
        return;
    run->failed = true;
    run->error = *error;
    uv_stop(&run->loop);
}

void run_record(struct run *run, enum event_f f, enum event_field field, const char *text)
{
    struct event event = {
        .time_ns = run_now(run),
        .process = PROCESS_NUMBER(PROCESS_CONTROLLER, 0),
        .type = EVENT_INFO,
        .f = (uint8_t)f,
    };
    event_set_text(&event, field, slice_of(text));
    if (run->world)
        world_record(run->world, &event);
    else
        recorder_add(run->recorder, &event); /* there is nothing to see yet */
}

/* --- the tick --- */

static bool is_due(uint64_t *last_ns, uint64_t every_ns, uint64_t now_ns)
{
    if (now_ns < *last_ns + every_ns)
        return false;
    *last_ns = now_ns;
    return true;
}

/* Our loop came late, or a child waited for a CPU: one note for both, so that no time is forgiven
 * twice. */
static void note_stalls(struct run *run, uint64_t now_ns)
{
    uint64_t due_ns = run->ticked_ns + TICK_MS * NS_PER_MS, since_ns = run->sampled_ns;
    if (run->ticked_ns && now_ns > due_ns + STALL_NS)
        run->late_ns += now_ns - due_ns;
    run->ticked_ns = now_ns;
    if (!is_due(&run->sampled_ns, SAMPLE_EVERY_NS, now_ns))
        return;
    uint64_t stall_ns = world_waited(run->world);
    if (run->late_ns > stall_ns)
        stall_ns = run->late_ns;
    run->late_ns = 0;
    if (stall_ns > now_ns - since_ns)
        stall_ns = now_ns - since_ns;
    if (stall_ns > STALL_NS) {
        struct text text = {0};
        text_add(&text, "stall %" PRIu64, stall_ns);
        run_record(run, F_NOTE, FIELD_TEXT, text_string(&text));
        text_release(&text);
    }
}

static void draw(struct run *run, uint64_t now_ns)
{
    struct live_facts facts = {
        .phase = phase_name(run->phase),
        .now_ns = now_ns,
        .end_ns = run->faults_ns ? run->faults_ns + run->config->duration_ns : 0,
        .view = world_view(run->world),
        .engine = run->engine,
        .violated = recorder_violated(run->recorder),
    };
    live_draw(&run->live, &facts);
}

/* As PID 1 we inherit whatever loses its parent. Children have owners here who reap them at once;
 * one that is still there at the second look has none. */
static void reap_orphan(struct run *run)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
        info.si_pid == run->orphan)
        (void)waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
    run->orphan = info.si_pid;
}

static void on_tick(uv_timer_t *timer)
{
    struct run *run = timer->data;
    struct error error;
    uint64_t now_ns = run_now(run);
    if (run->freeze_ns == 0)
        note_stalls(run, now_ns);
    world_tick(run->world);
    int rc = recorder_emit(run->recorder, now_ns, &error);
    if (rc == 0 && is_due(&run->flushed_ns, FLUSH_EVERY_NS, now_ns))
        rc = recorder_flush(run->recorder, &error);
    if (rc < 0)
        run_fail(run, &error);
    if (is_due(&run->orphans_ns, ORPHANS_EVERY_NS, now_ns))
        reap_orphan(run);
    if (freeze_advance(run, now_ns))
        return;
    nemesis_advance(run);
    phase_advance(run, now_ns);
    if (is_due(&run->drawn_ns, LIVE_EVERY_NS, now_ns))
        draw(run, now_ns);
}

/* --- from the first descriptor to the last --- */

static void on_terminated(uv_signal_t *handle, int number)
{
    struct run *run = handle->data;
    (void)number;
    run->interrupted = true;
}

static void on_outside(uv_poll_t *handle, int status, int events)
{
    (void)handle;
    (void)status;
    (void)events;
    _exit(EXIT_HARNESS); /* nobody waits for a verdict; the kernel clears away what is left */
}

static int open_loop(struct run *run, int outside_fd, struct error *error)
{
    sigset_t terminate;
    int rc = uv_loop_init(&run->loop);
    if (rc < 0)
        return error_set(error, rc, "create an event loop: %s", uv_strerror(rc));
    run->has_loop = true;
    (void)uv_timer_init(&run->loop, &run->tick); /* these only link the handle in */
    (void)uv_timer_init(&run->loop, &run->nemesis);
    (void)uv_signal_init(&run->loop, &run->terminated);
    rc = uv_poll_init(&run->loop, &run->outside, outside_fd);
    run->watches_outside = rc == 0;
    run->tick.data = run->nemesis.data = run->terminated.data = run;
    if (rc == 0)
        rc = uv_poll_start(&run->outside, UV_READABLE | UV_DISCONNECT, on_outside);
    if (rc == 0)
        rc = uv_signal_start(&run->terminated, on_terminated, SIGTERM);
    if (rc < 0)
        return error_set(error, rc, "watch signals: %s", uv_strerror(rc));
    (void)sigemptyset(&terminate);
    (void)sigaddset(&terminate, SIGTERM);
    (void)sigprocmask(SIG_UNBLOCK, &terminate, NULL);
    return 0;
}

/* Whoever else has handles in the loop closes them at once or as soon as it can. */
static void close_loop(struct run *run)
{
    if (!run->has_loop)
        return;
    uv_close((uv_handle_t *)&run->tick, NULL);
    uv_close((uv_handle_t *)&run->nemesis, NULL);
    uv_close((uv_handle_t *)&run->terminated, NULL);
    if (run->watches_outside)
        uv_close((uv_handle_t *)&run->outside, NULL);
    while (uv_run(&run->loop, UV_RUN_DEFAULT) != 0) /* an earlier stop ends it once */
        continue;
    int rc = uv_loop_close(&run->loop);
    assert(rc == 0);
    (void)rc;
}

static void plan(struct run *run)
{
    const struct run_config *config = run->config;
    struct plan_request request = {
        .seed = config->seed,
        .nodes = config->elector.nodes,
        .kinds = config->faults,
        .kind_count = config->fault_count,
        .every_ns = config->fault_every_ns,
        .length_ns = config->duration_ns,
        .election_timeout_ns = config->elector.knobs.election_timeout_max,
        .clock_drift_ppm = algorithm_clock_drift(config->algorithm, &config->elector.options),
        .message_kinds = config->algorithm->kinds,
    };
    if (!config->schedule)
        plan_random(&request, &run->schedule);
}

static const struct schedule *schedule_of(const struct run *run)
{
    return run->config->schedule ? run->config->schedule : &run->schedule;
}

static uint64_t draw_run_number(void)
{
    uint64_t number = 0;
    ssize_t got = getrandom(&number, sizeof number, 0);
    assert(got == sizeof number); /* never short for so few bytes */
    (void)got;
    return number >> 11 | 1; /* JSON readers keep 53 bits */
}

static int open_run(struct run *run, int outside_fd, struct error *error)
{
    struct header_facts facts = {.run_number = draw_run_number(),
                                 .schedule = schedule_of(run),
                                 .probes = run->order->probes};
    run_header(run->config, &facts, &run->header);
    int rc = open_loop(run, outside_fd, error);
    if (rc == 0)
        rc = recorder_open(run->order->history, &run->header, &run->recorder, error);
    if (rc < 0)
        return rc;
    run_record(run, F_PHASE, FIELD_NAME, phase_name(PHASE_START));
    struct world_config config = {
        .run = run->config,
        .schedule = facts.schedule,
        .loop = &run->loop,
        .recorder = run->recorder,
        .folder = run->order->folder,
        .run_number = facts.run_number,
        .origin_ns = run->origin_ns,
        .context = run,
        .failed = run_fail,
    };
    rc = world_open(&config, &run->world, error);
    if (rc < 0)
        return rc;
    struct nemesis_world hands;
    world_nemesis(run->world, &hands);
    run->engine = engine_new(schedule_of(run), run->config->elector.nodes, &hands);
    world_attach(run->world, run->engine);
    (void)uv_timer_start(&run->tick, on_tick, TICK_MS, TICK_MS); /* fails only without callback */
    return 0;
}

/* Everything said so far comes into the file, also when the run failed. */
static void write_rest(struct run *run)
{
    struct error error;
    if (run->world)
        world_tick(run->world);
    int rc = recorder_emit(run->recorder, UINT64_MAX, &error);
    if (rc == 0)
        rc = recorder_flush(run->recorder, &error);
    if (rc < 0)
        run_fail(run, &error);
}

static void judge(struct run *run)
{
    struct verdict_request request = {
        .config = run->config,
        .header = &run->header,
        .history = run->order->history,
        .folder = run->order->folder,
    };
    struct error error;
    struct recorder *recorder = run->recorder;
    run->recorder = NULL; /* it ends with the verdict */
    if (verdict_conclude(&request, recorder, run->order->outcome, &error) < 0)
        run_fail(run, &error);
}

static void close_run(struct run *run)
{
    struct error error;
    world_close(run->world);
    engine_free(run->engine);
    if (run->recorder)
        recorder_abandon(run->recorder); /* a verdict would have closed it */
    if (recorder_close(run->recorder, &error) < 0)
        run_fail(run, &error);
    close_loop(run);
    header_release(&run->header);
    schedule_release(&run->schedule);
}

int run_inside(void *context, int outside_fd)
{
    const struct run_order *order = context;
    struct error error;
    struct run run = {.order = order, .config = order->config, .origin_ns = clock_true_ns()};
    (void)setpriority(PRIO_PROCESS, 0, CONTROLLER_NICE); /* where we may */
    live_init(&run.live, run.config->quiet);
    plan(&run);
    if (open_run(&run, outside_fd, &error) < 0)
        run_fail(&run, &error);
    else
        (void)uv_run(&run.loop, UV_RUN_DEFAULT); /* until stopped */
    live_clear(&run.live);
    if (run.recorder)
        write_rest(&run);
    if (!run.failed)
        judge(&run);
    close_run(&run);
    order->outcome->failed = run.failed;
    order->outcome->error = run.error;
    return run.failed ? EXIT_HARNESS : EXIT_VALID;
}
