#include "checker/check.h"

static void begin(void *state, const struct history_header *header)
{
    (void)state;
    (void)header;
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    (void)state;
    (void)event;
    (void)finding;
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    (void)state;
    (void)end_ns;
    (void)finding;
}

const struct check check_stable = {
    .name = "stable",
    .summary = "",
    .state_bytes = 8,
    .begin = begin,
    .step = step,
    .end = end,
};
