/* Messages on their way. One packet is the content, shared by all copies of it: a broadcast to n
 * nodes is one packet and n queue entries. Packets live in a slab and go back to it; nothing is
 * allocated while a run is warm. */
#ifndef COUP_SIMULATOR_PACKET_H
#define COUP_SIMULATOR_PACKET_H

#include "nodes/wire.h"

/* 64 bytes: one cache line. */
struct packet {
    uint8_t type; /* enum wire_type */
    uint8_t kind;
    uint32_t references; /* deliveries still to come; free slots: the next free one */
    uint32_t source;     /* process number */
    uint32_t id_count;
    union {
        struct {
            uint64_t term;
            uint64_t argument[MESSAGE_ARGUMENTS];
            uint32_t *ids; /* owned */
        } message;
        struct request request;
        struct reply reply;
    };
};

#define PACKET_NONE UINT32_MAX

/* Zeroed is empty. Growing moves packets: hold slots, not pointers, across packets_take(). */
struct packets {
    struct packet *slots;
    uint32_t capacity, in_use;
    uint32_t free; /* head of the list, valid if in_use < capacity */
};

/* A slot with no references; packets_hold() for every copy that will arrive. */
uint32_t packets_message(struct packets *packets, const struct message *message);
uint32_t packets_envelope(struct packets *packets, const struct envelope *envelope);

static inline struct packet *packet_at(const struct packets *packets, uint32_t slot)
{
    return &packets->slots[slot];
}

/* One copy is delivered, or will never be. With none left the slot is free again. */
void packets_drop(struct packets *packets, uint32_t slot);

/* Is it what `message` would become, its target aside? */
bool packet_carries(const struct packet *packet, const struct message *message);

/* What travels, in bytes, for links of limited rate. About the length of the wire format. */
uint32_t packet_bytes(const struct packet *packet);

void packets_release(struct packets *packets);

#endif
