/* `coup bench NAME`: each benchmark is a command of its own, controller/bench/<name>.c, which
 * defines `bench_<name>`, and a line here. */
#ifndef COUP_CONTROLLER_BENCH_H
#define COUP_CONTROLLER_BENCH_H

#include "controller/command.h"

#define COUP_BENCHES(X) \
    X(history) X(sim) X(inject) X(check) X(start) X(failover) X(lease) X(messages)

#define X(name) extern const struct command bench_##name;
COUP_BENCHES(X)
#undef X

#endif
