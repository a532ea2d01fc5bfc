/* Stopping at the first violation: every process is frozen where it stands, so that its state and
 * memory can be looked at; held like that until somebody presses Enter, if that was asked for. */
#define _GNU_SOURCE
#include "controller/run_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"
#include "checker/cluster.h"

/* Who waits for its disk cannot be stopped before that answers. */
#define FROZEN_WITHIN_NS (2 * NS_PER_S)

static void freeze(struct run *run, uint64_t now_ns)
{
    run->freeze_ns = now_ns;
    world_attach(run->world, NULL);
    world_freeze(run->world);
    run_record(run, F_NOTE, FIELD_TEXT, "frozen at the first violation");
    run_record(run, F_NOTE, FIELD_TEXT, NOTE_INTERRUPTED);
    /* However long it is looked at: what does not happen any more is nobody's fault. */
    run_record(run, F_PHASE, FIELD_NAME, phase_name(PHASE_END));
}

static void invite(struct run *run)
{
    live_clear(&run->live);
    (void)fprintf(
        stderr,
        "violated after %" PRIu64 ".%03" PRIu64
        "s: every process is stopped (ps -C coup-node shows them), states and logs are in "
        "%s; press Enter to end\n",
        run->freeze_ns / NS_PER_S, run->freeze_ns % NS_PER_S / NS_PER_MS, run->order->folder);
    run->held = true;
}

/* Something was typed, or nobody will ever type anything. */
static bool is_released(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char byte;
    if (poll(&input, 1, 0) <= 0)
        return false;
    ssize_t got = read(STDIN_FILENO, &byte, 1);
    return got == 0 || (got == 1 && byte == '\n') || (got < 0 && errno != EINTR);
}

bool freeze_advance(struct run *run, uint64_t now_ns)
{
    if (!run->config->stop_on_violation || run->failed || run->phase == PHASE_END)
        return false;
    if (run->freeze_ns == 0) {
        if (!recorder_violated(run->recorder))
            return false;
        freeze(run, now_ns);
    }
    bool still = world_moving(run->world) == WORLD_NOBODY;
    if (!still && now_ns < run->freeze_ns + FROZEN_WITHIN_NS)
        return true;
    if (run->config->hold && !run->held)
        invite(run);
    if (!run->config->hold || run->interrupted || is_released())
        uv_stop(&run->loop); /* closing kills them as they are: their ends tell nothing */
    return true;
}
