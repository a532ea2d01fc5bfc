#include "simulator/packet.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct packet) == 64, "a packet is one cache line");

static uint32_t packets_take(struct packets *packets)
{
    if (packets->in_use == packets->capacity) {
        uint32_t old = packets->capacity;
        assert(old < UINT32_MAX / 4);
        packets->capacity = old ? old * 2 : 64;
        packets->slots = must_grow(packets->slots, packets->capacity, sizeof *packets->slots);
        for (uint32_t slot = old; slot < packets->capacity; slot++) {
            packets->slots[slot].references = slot + 1;
            packets->slots[slot].id_count = 0;
        }
        packets->free = old;
    }
    uint32_t slot = packets->free;
    packets->free = packets->slots[slot].references;
    packets->in_use++;
    return slot;
}

uint32_t packets_message(struct packets *packets, const struct message *message)
{
    uint32_t slot = packets_take(packets);
    struct packet *packet = packet_at(packets, slot);
    packet->type = WIRE_ELECTION;
    packet->kind = message->kind;
    packet->references = 0;
    packet->source = PROCESS_NUMBER(PROCESS_NODE, message->source);
    packet->id_count = message->id_count;
    packet->message.term = message->term;
    memcpy(packet->message.argument, message->argument, sizeof message->argument);
    packet->message.ids = NULL;
    if (message->id_count) {
        packet->message.ids = must_alloc(message->id_count, sizeof *message->ids);
        memcpy(packet->message.ids, message->ids, message->id_count * sizeof *message->ids);
    }
    return slot;
}

uint32_t packets_envelope(struct packets *packets, const struct envelope *envelope)
{
    assert(envelope->type != WIRE_ELECTION);
    uint32_t slot = packets_take(packets);
    struct packet *packet = packet_at(packets, slot);
    packet->type = (uint8_t)envelope->type;
    packet->kind = 0;
    packet->references = 0;
    packet->source = envelope->source;
    packet->id_count = 0;
    if (envelope->type == WIRE_REQUEST)
        packet->request = envelope->request;
    else
        packet->reply = envelope->reply;
    return slot;
}

static void release_ids(struct packet *packet)
{
    if (packet->id_count)
        free(packet->message.ids);
    packet->id_count = 0;
}

void packets_drop(struct packets *packets, uint32_t slot)
{
    struct packet *packet = packet_at(packets, slot);
    if (packet->references > 1) {
        packet->references--;
        return;
    }
    release_ids(packet);
    packet->references = packets->free;
    packets->free = slot;
    packets->in_use--;
}

bool packet_carries(const struct packet *packet, const struct message *message)
{
    return packet->type == WIRE_ELECTION && packet->kind == message->kind &&
           packet->source == PROCESS_NUMBER(PROCESS_NODE, message->source) &&
           packet->message.term == message->term && packet->id_count == message->id_count &&
           memcmp(packet->message.argument, message->argument, sizeof message->argument) == 0 &&
           (message->id_count == 0 || memcmp(packet->message.ids, message->ids,
                                             message->id_count * sizeof *message->ids) == 0);
}

uint32_t packet_bytes(const struct packet *packet)
{
    return 60 + 5 * packet->id_count;
}

void packets_release(struct packets *packets)
{
    for (uint32_t slot = 0; slot < packets->capacity; slot++)
        release_ids(&packets->slots[slot]); /* of those still on their way */
    free(packets->slots);
    *packets = (struct packets){0};
}
