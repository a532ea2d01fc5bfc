#include "nemesis/clock_shape.h"

const char *const clock_directions[] = {"forward", "back", NULL};

/* Evenly over orders of magnitude: small steps meet other bugs than large ones. */
uint64_t clock_draw_step(struct random *random, const struct fault_scale *scale)
{
    uint64_t step_ns = scale->election_timeout_ns / 4 + NS_PER_MS;
    for (uint64_t doublings = random_below(random, 10); doublings > 0; doublings--)
        step_ns *= 2;
    step_ns = random_between(random, step_ns, 2 * step_ns);
    step_ns = step_ns < CLOCK_STEP_MAX_NS ? step_ns : CLOCK_STEP_MAX_NS;
    return step_ns - step_ns % NS_PER_MS;
}

bool clock_start(const struct cluster_view *view, node_set chosen, enum facility needs,
                 struct clock_bend bend, struct injection *out, const char **ret_why)
{
    node_set running = chosen & view->running & ~view->paused;
    out->act = (struct act){.action = ACTION_CLOCK, .clock = bend};
    out->targets = running & ~view->lacking[needs];
    *ret_why = running ? "in this run the other kind of clock fault has this node's clocks"
                       : "the target is not running";
    return out->targets != 0;
}
