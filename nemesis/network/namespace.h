/* The network namespace of an endpoint, whatever interfaces are put in it: entering it, and how TCP
 * behaves there. */
#ifndef COUP_NEMESIS_NETWORK_NAMESPACE_H
#define COUP_NEMESIS_NETWORK_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct network_config;

/* Run `work` for endpoint `index` inside its namespace and come back. Returns what `work` does, or
 * -errno; errors name the endpoint. */
int namespace_run(const struct network_config *config, uint32_t index,
                  int (*work)(void *context, uint32_t index, struct error *error), void *context,
                  struct error *error);

/* Before interfaces come up in the namespace we are in: no chatter of IPv6, and unless the config
 * says that TCP is to be as the kernel has it, TCP told to notice and forget dead connections fast.
 * `*ret_warning` is a static text if the kernel lacks a part of it, else NULL. */
void namespace_prepare(const struct network_config *config, const char **ret_warning);

/* The shortest time after which TCP resends; 0: as the kernel has it. Earlier kernels know it as a
 * metric of each route only: then namespace_rto_min() is false and routes must carry it. */
#define NAMESPACE_RTO_MIN_MS 20u
bool namespace_rto_min(void);

#endif
