#include "nemesis/network/ethernet.h"

#include <string.h>

#define TYPE_IPV4 0x0800u
#define TYPE_IPV6 0x86ddu
#define PROTOCOL_TCP 6u
#define PROTOCOL_UDP 17u
#define IPV6_HEAD_BYTES 40u
#define UDP_HEAD_BYTES 8u

static const uint8_t prefix[4] = {0x02, 0x63, 0x6f, 0x75};

void ethernet_address(uint32_t endpoint, uint8_t out[ETHERNET_ADDRESS_BYTES])
{
    memcpy(out, prefix, sizeof prefix);
    out[4] = (uint8_t)(endpoint >> 8);
    out[5] = (uint8_t)endpoint;
}

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

uint32_t ethernet_target(const uint8_t *frame, size_t length)
{
    if (length < ETHERNET_HEAD_BYTES)
        return ETHERNET_NOBODY;
    if (frame[0] & 1)
        return ETHERNET_EVERYBODY;
    return memcmp(frame, prefix, sizeof prefix) == 0 ? word(frame + 4) : ETHERNET_NOBODY;
}

/* The packet in a frame: where its transport begins and where it ends (padding left out). */
struct packet {
    uint32_t protocol; /* 0: not understood, `start` is then behind what was */
    bool later_fragment;
    size_t start, end;
};

static struct packet parse_ipv4(const uint8_t *frame, size_t length)
{
    struct packet packet = {.start = ETHERNET_HEAD_BYTES, .end = length};
    const uint8_t *head = frame + ETHERNET_HEAD_BYTES;
    size_t room = length - ETHERNET_HEAD_BYTES;
    if (room < 20 || head[0] >> 4 != 4)
        return packet;
    size_t head_bytes = (size_t)(head[0] & 15) * 4, total = word(head + 2);
    if (head_bytes < 20 || head_bytes > total || total > room)
        return packet;
    packet.start += head_bytes;
    packet.end = ETHERNET_HEAD_BYTES + total;
    packet.protocol = head[9];
    packet.later_fragment = (word(head + 6) & 0x1fff) != 0;
    return packet;
}

static struct packet parse_ipv6(const uint8_t *frame, size_t length)
{
    struct packet packet = {.start = ETHERNET_HEAD_BYTES, .end = length};
    const uint8_t *head = frame + ETHERNET_HEAD_BYTES;
    size_t room = length - ETHERNET_HEAD_BYTES;
    if (room < IPV6_HEAD_BYTES || head[0] >> 4 != 6 || word(head + 4) > room - IPV6_HEAD_BYTES)
        return packet;
    packet.start += IPV6_HEAD_BYTES;
    packet.end = packet.start + word(head + 4);
    packet.protocol = head[6];
    return packet;
}

static struct packet parse(const uint8_t *frame, size_t length)
{
    struct packet none = {.start = length, .end = length};
    if (length < ETHERNET_HEAD_BYTES)
        return none;
    switch (word(frame + 12)) {
    case TYPE_IPV4: return parse_ipv4(frame, length);
    case TYPE_IPV6: return parse_ipv6(frame, length);
    default: none.start = ETHERNET_HEAD_BYTES; return none;
    }
}

/* Bytes of the transport's own header, 0 when it is not a whole one. */
static size_t transport_head(const uint8_t *frame, const struct packet *packet)
{
    size_t room = packet->end - packet->start;
    if (packet->later_fragment)
        return 0;
    if (packet->protocol == PROTOCOL_UDP)
        return room >= UDP_HEAD_BYTES ? UDP_HEAD_BYTES : 0;
    if (packet->protocol != PROTOCOL_TCP || room < 20)
        return 0;
    size_t bytes = (size_t)(frame[packet->start + 12] >> 4) * 4;
    return bytes >= 20 && bytes <= room ? bytes : 0;
}

bool ethernet_carries_data(const uint8_t *frame, size_t length)
{
    struct packet packet = parse(frame, length);
    if (packet.protocol != PROTOCOL_TCP)
        return false;
    size_t head = transport_head(frame, &packet);
    return packet.end - packet.start > head && (head > 0 || packet.later_fragment);
}

struct byte_range ethernet_payload(const uint8_t *frame, size_t length)
{
    struct packet packet = parse(frame, length);
    size_t head = transport_head(frame, &packet);
    if (packet.start + head == packet.end) /* only a header: damage that */
        head = 0;
    return (struct byte_range){packet.start + head, packet.end - packet.start - head};
}
