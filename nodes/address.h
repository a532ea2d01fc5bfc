/* Who listens where: one plan for the controller that hands addresses out and the programs that
 * dial. A run owns a /24; the base is its .0 address. Any 127.x.y.0 works without a network
 * namespace, because the kernel answers for all of 127/8. Addresses are IPv4 in host order. */
#ifndef COUP_NODES_ADDRESS_H
#define COUP_NODES_ADDRESS_H

#include <stdint.h>

#include "base/error.h"
#include "base/process.h"

#define ADDRESS_PORT 7000u
#define ADDRESS_PREFIX_BITS 24u
#define ADDRESS_RESOURCE 101u /* behind the nodes, 1..NODES_MAX */
#define ADDRESS_COORDINATOR 102u
#define ADDRESS_TWIN 103u    /* of whichever node has one: there is one at a time */
#define ADDRESS_CLIENTS 110u /* client k is at 110 + k */

/* 0 for a process that has no address (nemesis, controller, switch). */
uint32_t address_of(uint32_t base, uint32_t process);

/* "10.1.2.0" and back; the last number must be 0, the error names what is accepted. */
#define ADDRESS_TEXT_MAX 16
int address_parse(const char *text, uint32_t *ret_base, struct error *error);
const char *address_format(uint32_t address, char buffer[ADDRESS_TEXT_MAX]);

#endif
