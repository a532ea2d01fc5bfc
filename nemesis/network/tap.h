/* One end of the switch's network inside an endpoint's namespace: an interface eth0 whose frames we
 * read and write. Knows the kernel's calls and nothing of the switch. */
#ifndef COUP_NEMESIS_NETWORK_TAP_H
#define COUP_NEMESIS_NETWORK_TAP_H

#include <stdint.h>

#include "base/error.h"
#include "nemesis/network/backend.h"

#define TAP_INTERFACE "eth0"
#define TAP_MTU 1500

/* Can TAPs be had at all? 0, or -errno with the one command that changes it. */
int tap_probe(struct error *error);

/* Create and configure the interface of endpoint `index` in its namespace: hardware address,
 * address, MTU, up, the loopback too, a permanent neighbour entry for every other endpoint (so that
 * a cut cannot leave failed ones behind), and TCP told to notice and forget dead connections fast.
 * `*ret_warning` is set to a static text if the kernel lacks a part of the last, else NULL. Returns
 * 0 with the non-blocking descriptor: the interface lives as long as somebody has it open. */
int tap_open(const struct network_config *config, uint32_t index, int *ret_fd,
             const char **ret_warning, struct error *error);

#endif
