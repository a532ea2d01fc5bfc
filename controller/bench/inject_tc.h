/* What a script would do to netem links: run tc. For `coup bench inject` to compare with. */
#ifndef COUP_CONTROLLER_BENCH_INJECT_TC_H
#define COUP_CONTROLLER_BENCH_INJECT_TC_H

#include "base/error.h"
#include "nemesis/network/backend.h"

/* Cut these links, or mend them, of a netem network: by one tc process after the other, each for
 * one link, or by a batch for each namespace, all at once. Blocks until the last has ended. */
int tc_apply(const struct endpoint *endpoints, const struct link_change *links, uint32_t count,
             bool batch, struct error *error);

#endif
