/* The envelope as bytes: a msgpack array [run, source, target, type, body...], the body's elements
 * in the order of the structs. Decoding first finds out whose message it is, then vets every field.
 */
#include "nodes/wire.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "base/pack.h"

#define HEAD_ITEMS 4u
#define ELECTION_ITEMS (2 + MESSAGE_ARGUMENTS + 1) /* kind, term, arguments, ids */
#define REQUEST_ITEMS 7u
#define REPLY_ITEMS 7u

/* Large enough for every time in ns and every counter of ours, small enough that adding two of them
 * cannot wrap: whatever a damaged message says, terms stay ordered. */
#define NUMBER_MAX (UINT64_C(1) << 62)

static void encode_election(const struct message *message, struct text *out)
{
    pack_uint(out, message->kind);
    pack_uint(out, message->term);
    for (uint32_t i = 0; i < MESSAGE_ARGUMENTS; i++)
        pack_uint(out, message->argument[i]);
    pack_array(out, message->id_count);
    for (uint32_t i = 0; i < message->id_count; i++)
        pack_uint(out, message->ids[i]);
}

static void encode_request(const struct request *request, struct text *out)
{
    pack_uint(out, request->id);
    pack_uint(out, request->operation);
    pack_uint(out, request->reg);
    pack_uint(out, request->value);
    pack_uint(out, request->expected);
    pack_uint(out, request->token);
    pack_uint(out, request->holder);
}

static void encode_reply(const struct reply *reply, struct text *out)
{
    pack_uint(out, reply->id);
    pack_uint(out, reply->outcome);
    pack_uint(out, reply->leader);
    pack_uint(out, reply->value);
    pack_uint(out, reply->position);
    pack_uint(out, reply->sequence);
    pack_uint(out, reply->highest);
}

static const uint32_t body_items[WIRE_TYPES] = {
    [WIRE_ELECTION] = ELECTION_ITEMS,
    [WIRE_REQUEST] = REQUEST_ITEMS,
    [WIRE_REPLY] = REPLY_ITEMS,
};

void wire_encode(const struct envelope *envelope, struct text *out)
{
    assert(envelope->type < WIRE_TYPES);
    pack_array(out, HEAD_ITEMS + body_items[envelope->type]);
    pack_uint(out, envelope->run);
    pack_uint(out, envelope->source);
    pack_uint(out, envelope->target);
    pack_uint(out, envelope->type);
    switch (envelope->type) {
    case WIRE_ELECTION: encode_election(&envelope->message, out); break;
    case WIRE_REQUEST: encode_request(&envelope->request, out); break;
    case WIRE_REPLY: encode_reply(&envelope->reply, out); break;
    case WIRE_TYPES: break;
    }
}

/* Reads fields one after the other; the first that is out of range is remembered by name. */
struct field_reader {
    struct pack_reader pack;
    const struct wire_context *context;
    const char *refused;
    uint64_t value;
};

static uint64_t read_field(struct field_reader *in, const char *name, uint64_t min, uint64_t max)
{
    uint64_t value = pack_read_uint(&in->pack);
    if (!in->refused && (in->pack.bad || value < min || value > max)) {
        in->refused = name;
        in->value = value;
    }
    return in->refused ? min : value;
}

static uint32_t read_node(struct field_reader *in, const char *name, uint32_t min)
{
    return (uint32_t)read_field(in, name, min, in->context->nodes);
}

static uint32_t read_holder(struct field_reader *in)
{
    uint32_t holder = (uint32_t)read_field(in, "holder", 0, UINT32_MAX);
    bool known = process_elects(holder) && process_index(holder) <= in->context->nodes;
    if (!known && !in->refused) {
        in->refused = "holder";
        in->value = holder;
    }
    return in->refused ? 0 : holder;
}

static void decode_election(struct field_reader *in, uint32_t *ids, struct message *out)
{
    if (in->context->kinds == 0)
        in->refused = "kind";
    else
        out->kind = (uint8_t)read_field(in, "kind", 0, in->context->kinds - 1);
    out->term = read_field(in, "term", 0, NUMBER_MAX);
    for (uint32_t i = 0; i < MESSAGE_ARGUMENTS; i++)
        out->argument[i] = read_field(in, "argument", 0, NUMBER_MAX);
    out->id_count = pack_read_array(&in->pack);
    if (out->id_count > in->context->nodes && !in->refused) {
        in->refused = "ids";
        in->value = out->id_count;
    }
    for (uint32_t i = 0; i < out->id_count && !in->refused; i++)
        ids[i] = read_node(in, "id", 1);
    out->ids = ids;
}

static void decode_request(struct field_reader *in, struct request *out)
{
    out->id = read_field(in, "id", 0, NUMBER_MAX);
    out->operation = (enum operation)read_field(in, "operation", 0, OPERATIONS - 1);
    out->reg = (uint32_t)read_field(in, "register", 0, WIRE_REGISTERS_MAX - 1);
    out->value = read_field(in, "value", 0, NUMBER_MAX);
    out->expected = read_field(in, "expected", 0, NUMBER_MAX);
    out->token = read_field(in, "token", 0, NUMBER_MAX);
    out->holder = read_holder(in);
}

static void decode_reply(struct field_reader *in, struct reply *out)
{
    out->id = read_field(in, "id", 0, NUMBER_MAX);
    out->outcome = (enum outcome)read_field(in, "outcome", 0, OUTCOMES - 1);
    out->leader = read_node(in, "leader", 0);
    out->value = read_field(in, "value", 0, NUMBER_MAX);
    out->position = read_field(in, "position", 0, NUMBER_MAX);
    out->sequence = read_field(in, "sequence", 0, NUMBER_MAX);
    out->highest = read_field(in, "highest", 0, NUMBER_MAX);
}

static bool is_node(const struct wire_context *context, uint32_t process)
{
    return process_kind(process) == PROCESS_NODE && process_index(process) >= 1 &&
           process_index(process) <= context->nodes;
}

static bool is_client(uint32_t process)
{
    return process_kind(process) == PROCESS_CLIENT && process_index(process) >= 1 &&
           process_index(process) <= CLIENTS_MAX;
}

/* Who talks to whom: elections among nodes, or between them and a coordinator; requests from client
 * to node and from node to resource; replies the way back. */
static bool may_talk(const struct wire_context *context, enum wire_type type, uint32_t source,
                     uint32_t target)
{
    const uint32_t resource = PROCESS_NUMBER(PROCESS_RESOURCE, 0);
    const uint32_t coordinator = PROCESS_NUMBER(PROCESS_COORDINATOR, 0);
    if (type == WIRE_ELECTION && context->service)
        return (is_node(context, source) && target == coordinator) ||
               (source == coordinator && is_node(context, target));
    if (type == WIRE_ELECTION)
        return is_node(context, source) && is_node(context, target) && source != target;
    uint32_t asker = type == WIRE_REQUEST ? source : target;
    uint32_t asked = type == WIRE_REQUEST ? target : source;
    return (is_client(asker) && is_node(context, asked)) ||
           (is_node(context, asker) && asked == resource);
}

static int decode_head(struct field_reader *in, uint32_t items, struct envelope *out,
                       struct error *error)
{
    out->run = pack_read_uint(&in->pack);
    if (in->pack.bad)
        return error_set(error, -EBADMSG, "a message that is none of ours");
    if (out->run != in->context->run)
        return error_set(error, -ESTALE, "a message of run %" PRIu64, out->run);
    out->source = (uint32_t)read_field(in, "source", 1, UINT32_MAX);
    out->target = (uint32_t)read_field(in, "target", 1, UINT32_MAX);
    out->type = (enum wire_type)read_field(in, "type", 0, WIRE_TYPES - 1);
    if (in->refused)
        return 0;
    if (out->target != in->context->self)
        return error_set(error, -ESTALE, "a message for process %" PRIu32, out->target);
    if (items != HEAD_ITEMS + body_items[out->type])
        return error_set(error, -EBADMSG, "a message of %" PRIu32 " items", items);
    if (!may_talk(in->context, out->type, out->source, out->target))
        return error_set(error, -EBADMSG, "a message from process %" PRIu32, out->source);
    return 0;
}

/* What a finished reader found wrong, if anything. */
static int vetted(const struct field_reader *in, struct error *error)
{
    if (in->pack.bad)
        return error_set(error, -EBADMSG, "a message that ends too early");
    if (in->refused)
        return error_set(error, -EBADMSG, "a message with %s %" PRIu64, in->refused, in->value);
    if (in->pack.at != in->pack.end)
        return error_set(error, -EBADMSG, "a message followed by other bytes");
    return 0;
}

int wire_decode(const struct wire_context *context, const uint8_t *bytes, size_t length,
                uint32_t *ids, struct envelope *out, struct error *error)
{
    if (length == 0 || length > WIRE_BYTES_MAX)
        return error_set(error, -EBADMSG, "a message of %zu bytes (1 to %u are allowed)", length,
                         WIRE_BYTES_MAX);
    struct field_reader in = {.pack = {bytes, bytes + length, false}, .context = context};
    struct envelope read = {0};
    uint32_t items = pack_read_array(&in.pack);
    int rc = decode_head(&in, items, &read, error);
    if (rc < 0)
        return rc;
    if (!in.refused) {
        switch (read.type) {
        case WIRE_ELECTION:
            read.message.source = process_index(read.source); /* of the coordinator: 0 */
            read.message.target = process_index(read.target);
            decode_election(&in, ids, &read.message);
            break;
        case WIRE_REQUEST: decode_request(&in, &read.request); break;
        case WIRE_REPLY: decode_reply(&in, &read.reply); break;
        case WIRE_TYPES: break;
        }
    }
    rc = vetted(&in, error);
    if (rc == 0)
        *out = read;
    return rc;
}
