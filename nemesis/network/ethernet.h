/* What the switch must know of a frame: for whom it is, whether it carries data, where a flipped
 * bit is noticed. Pure; never reads past `length`, whatever the bytes. */
#ifndef COUP_NEMESIS_NETWORK_ETHERNET_H
#define COUP_NEMESIS_NETWORK_ETHERNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETHERNET_HEAD_BYTES 14u
#define ETHERNET_ADDRESS_BYTES 6u

/* The hardware address of an endpoint, locally administered: 02:63:6f:75 and its number. */
void ethernet_address(uint32_t endpoint, uint8_t out[ETHERNET_ADDRESS_BYTES]);

#define ETHERNET_EVERYBODY UINT32_MAX    /* broadcast or multicast */
#define ETHERNET_NOBODY (UINT32_MAX - 1) /* no endpoint's address, or too short to have one */

/* The endpoint a frame is addressed to. */
uint32_t ethernet_target(const uint8_t *frame, size_t length);

/* A TCP segment with at least one byte of payload. A later fragment of one counts, an empty
 * acknowledgement, a SYN or a FIN does not. */
bool ethernet_carries_data(const uint8_t *frame, size_t length);

struct byte_range {
    size_t start, length;
};

/* The bytes that a transport checksum covers: the payload of TCP or UDP, else all behind the
 * network header. Empty for a frame that is only a header. */
struct byte_range ethernet_payload(const uint8_t *frame, size_t length);

#endif
