/* `coup bench`: measure this machine and this build. */
#include "controller/bench.h"

static const struct command *const benches[] = {
#define X(name) &bench_##name,
    COUP_BENCHES(X)
#undef X
        NULL,
};

const struct command command_bench = {
    .name = "bench",
    .summary = "measure how fast the parts of coup are here",
    .arguments = "BENCHMARK",
    .subcommands = benches,
};
