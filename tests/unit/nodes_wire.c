#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "base/random.h"
#include "base/units.h"
#include "nodes/wire.h"

#define NODES 7u
#define KINDS 5u
#define NUMBER_MAX (UINT64_C(1) << 62)

static const uint32_t resource = PROCESS_NUMBER(PROCESS_RESOURCE, 0);
static const uint32_t coordinator = PROCESS_NUMBER(PROCESS_COORDINATOR, 0);

static struct wire_context context_for(const struct envelope *envelope)
{
    bool service = envelope->source == coordinator || envelope->target == coordinator;
    return (struct wire_context){envelope->run, envelope->target, NODES, KINDS, service};
}

static struct message random_message(struct random *random, uint32_t *ids)
{
    struct message message = {
        .kind = (uint8_t)random_below(random, KINDS),
        .term = random_below(random, NUMBER_MAX) >> random_below(random, 62),
        .ids = ids,
        .id_count = (uint32_t)random_below(random, NODES + 1),
    };
    for (uint32_t i = 0; i < MESSAGE_ARGUMENTS; i++)
        message.argument[i] = random_below(random, NUMBER_MAX) >> random_below(random, 62);
    for (uint32_t i = 0; i < message.id_count; i++)
        ids[i] = (uint32_t)random_between(random, 1, NODES);
    return message;
}

static void random_ends(struct random *random, struct envelope *out)
{
    uint32_t node = (uint32_t)random_between(random, 1, NODES);
    uint32_t other =
        random_chance(random, PPM_ONE / 2) ? resource : PROCESS_NUMBER(PROCESS_CLIENT, 3);
    bool node_asks = other == resource;
    if (out->type == WIRE_ELECTION) {
        out->source = node;
        out->target = node % NODES + 1;
        if (random_chance(random, PPM_ONE / 3))
            *(random_chance(random, PPM_ONE / 2) ? &out->source : &out->target) = coordinator;
        out->message.source = process_index(out->source);
        out->message.target = process_index(out->target);
        return;
    }
    bool from_node = node_asks == (out->type == WIRE_REQUEST);
    out->source = from_node ? node : other;
    out->target = from_node ? other : node;
}

static struct envelope random_envelope(struct random *random, uint32_t *ids)
{
    struct envelope envelope = {.run = random_next(random),
                                .type = (enum wire_type)random_below(random, WIRE_TYPES)};
    if (envelope.type == WIRE_ELECTION)
        envelope.message = random_message(random, ids);
    else if (envelope.type == WIRE_REQUEST)
        envelope.request = (struct request){
            .id = random_below(random, NUMBER_MAX),
            .operation = (enum operation)random_below(random, OPERATIONS),
            .reg = (uint32_t)random_below(random, WIRE_REGISTERS_MAX),
            .value = random_below(random, 1000),
            .expected = random_below(random, NUMBER_MAX),
            .token = random_below(random, NUMBER_MAX),
            .holder = (uint32_t)random_below(random, NODES + 1),
        };
    else
        envelope.reply = (struct reply){
            .id = random_below(random, NUMBER_MAX),
            .outcome = (enum outcome)random_below(random, OUTCOMES),
            .leader = (uint32_t)random_below(random, NODES + 1),
            .value = random_below(random, NUMBER_MAX),
            .position = random_below(random, NUMBER_MAX),
            .sequence = random_below(random, 1000),
            .highest = random_below(random, NUMBER_MAX),
        };
    random_ends(random, &envelope);
    return envelope;
}

static void assert_same_message(const struct message *a, const struct message *b)
{
    assert_int_equal(a->source, b->source);
    assert_int_equal(a->target, b->target);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->term, b->term);
    assert_memory_equal(a->argument, b->argument, sizeof a->argument);
    assert_int_equal(a->id_count, b->id_count);
    if (a->id_count)
        assert_memory_equal(a->ids, b->ids, a->id_count * sizeof a->ids[0]);
}

static void assert_same(const struct envelope *a, const struct envelope *b)
{
    assert_int_equal(a->run, b->run);
    assert_int_equal(a->source, b->source);
    assert_int_equal(a->target, b->target);
    assert_int_equal(a->type, b->type);
    if (a->type == WIRE_ELECTION) {
        assert_same_message(&a->message, &b->message);
    } else if (a->type == WIRE_REQUEST) {
        const struct request *x = &a->request, *y = &b->request;
        assert_true(x->id == y->id && x->operation == y->operation && x->reg == y->reg);
        assert_true(x->value == y->value && x->expected == y->expected);
        assert_true(x->token == y->token && x->holder == y->holder);
    } else {
        const struct reply *x = &a->reply, *y = &b->reply;
        assert_true(x->id == y->id && x->outcome == y->outcome && x->leader == y->leader);
        assert_true(x->value == y->value && x->position == y->position);
        assert_true(x->sequence == y->sequence && x->highest == y->highest);
    }
}

/* Decode a copy of exactly `length` bytes, so that a read past the end is a sanitizer report. */
static int decode(const struct wire_context *context, const struct text *bytes, size_t length,
                  struct envelope *out, uint32_t *ids)
{
    struct error error = {0};
    uint8_t *copy = must_alloc(length + 1, 1);
    uint8_t *exact = must_grow(copy, length ? length : 1, 1);
    if (length)
        memcpy(exact, bytes->at, length);
    int rc = wire_decode(context, exact, length, ids, out, &error);
    if (rc < 0)
        assert_int_not_equal(strlen(error.text), 0);
    free(exact);
    return rc;
}

static void test_random_envelopes_come_back_whole_or_not_at_all(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 1, "wire", 0);
    for (int round = 0; round < 2000; round++) {
        uint32_t ids[NODES], decoded_ids[NODES];
        struct text bytes = {0};
        struct envelope sent = random_envelope(&random, ids), got;
        struct wire_context context = context_for(&sent);
        wire_encode(&sent, &bytes);
        assert_true(bytes.length <= WIRE_BYTES_MAX);
        assert_int_equal(decode(&context, &bytes, bytes.length, &got, decoded_ids), 0);
        assert_same(&sent, &got);
        for (size_t length = 0; length < bytes.length; length++)
            assert_int_equal(decode(&context, &bytes, length, &got, decoded_ids), -EBADMSG);
        text_add_bytes(&bytes, "", 1);
        assert_int_equal(decode(&context, &bytes, bytes.length, &got, decoded_ids), -EBADMSG);
        text_release(&bytes);
    }
}

static void test_foreign_runs_and_strangers_are_stale(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 2, "wire", 0);
    for (int round = 0; round < 2000; round++) {
        uint32_t ids[NODES], decoded_ids[NODES];
        struct text bytes = {0};
        struct envelope sent = random_envelope(&random, ids), got;
        struct wire_context context = context_for(&sent);
        wire_encode(&sent, &bytes);
        context.run ^= UINT64_C(1) << random_below(&random, 64);
        assert_int_equal(decode(&context, &bytes, bytes.length, &got, decoded_ids), -ESTALE);
        context = context_for(&sent);
        context.self ^= UINT32_C(1) << random_below(&random, 27);
        assert_int_equal(decode(&context, &bytes, bytes.length, &got, decoded_ids), -ESTALE);
        text_release(&bytes);
    }
}

/* One honest envelope of each type, as a list of numbers to falsify one at a time. */
#define ITEMS_MAX 12
static const struct {
    const char *what;
    uint64_t item[ITEMS_MAX];
    uint32_t count;
    int falsify; /* index, -1: nothing */
    uint64_t with;
} refusals[] = {
    {"type", {9, 2, 1, 0, 1, 5, 0, 0, 0, 0}, 10, 3, WIRE_TYPES},
    {"kind", {9, 2, 1, 0, 1, 5, 0, 0, 0, 0}, 10, 4, KINDS},
    {"term", {9, 2, 1, 0, 1, 5, 0, 0, 0, 0}, 10, 5, NUMBER_MAX + 1},
    {"argument", {9, 2, 1, 0, 1, 5, 0, 0, 0, 0}, 10, 9, UINT64_MAX},
    {"no source", {9, 2, 1, 0, 1, 5, 0, 0, 0, 0}, 10, 1, 0},
    {"source beyond n", {9, 2, 1, 0, 1, 5, 0, 0, 0, 0}, 10, 1, NODES + 1},
    {"source is target", {9, 2, 1, 0, 1, 5, 0, 0, 0, 0}, 10, 1, 1},
    {"source is no node", {9, 2, 1, 0, 1, 5, 0, 0, 0, 0}, 10, 1, PROCESS_NUMBER(1, 1)},
    {"coordinator where there is none",
     {9, 2, 1, 0, 1, 5, 0, 0, 0, 0},
     10,
     1,
     PROCESS_NUMBER(PROCESS_COORDINATOR, 0)},
    {"source of 33 bits", {9, 2, 1, 0, 1, 5, 0, 0, 0, 0}, 10, 1, UINT64_C(1) << 32 | 2},
    {"request from a node", {9, 2, 1, 1, 4, 0, 0, 1, 0, 0, 0}, 11, -1, 0},
    {"operation", {9, 1 << 24 | 1, 1, 1, 4, 0, 0, 1, 0, 0, 0}, 11, 5, OPERATIONS},
    {"register", {9, 1 << 24 | 1, 1, 1, 4, 0, 0, 1, 0, 0, 0}, 11, 6, WIRE_REGISTERS_MAX},
    {"holder", {9, 1 << 24 | 1, 1, 1, 4, 0, 0, 1, 0, 0, 0}, 11, 10, NODES + 1},
    {"request of 10 items", {9, 1 << 24 | 1, 1, 1, 4, 0, 0, 1, 0, 0}, 10, -1, 0},
    {"client beyond", {9, 1 << 24 | 1, 1, 1, 4, 0, 0, 1, 0, 0, 0}, 11, 1, 1 << 24 | 65},
    {"outcome", {9, 2 << 24, 1, 2, 4, 0, 0, 1, 0, 0, 0}, 11, 5, OUTCOMES},
    {"leader", {9, 2 << 24, 1, 2, 4, 0, 0, 1, 0, 0, 0}, 11, 6, NODES + 1},
    {"reply from a client", {9, 2 << 24, 1, 2, 4, 0, 0, 1, 0, 0, 0}, 11, 1, 1 << 24 | 1},
};

static int decode_items(const uint64_t *item, uint32_t count, bool election)
{
    struct wire_context context = {9, 1, NODES, KINDS, false};
    uint32_t ids[NODES];
    struct envelope got;
    struct text bytes = {0};
    pack_array(&bytes, count + election);
    for (uint32_t i = 0; i < count; i++)
        pack_uint(&bytes, item[i]);
    if (election)
        pack_array(&bytes, 0);
    int rc = decode(&context, &bytes, bytes.length, &got, ids);
    text_release(&bytes);
    return rc;
}

static void test_each_field_out_of_range_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        uint64_t item[ITEMS_MAX];
        bool election = refusals[i].item[3] == WIRE_ELECTION;
        memcpy(item, refusals[i].item, sizeof item);
        if (refusals[i].falsify >= 0) {
            assert_int_equal(decode_items(item, refusals[i].count, election), 0);
            item[refusals[i].falsify] = refusals[i].with;
        }
        if (decode_items(item, refusals[i].count, election) != -EBADMSG)
            fail_msg("accepted: %s", refusals[i].what);
    }
}

static void test_id_lists_are_bounded_by_the_cluster(void **state)
{
    (void)state;
    static const struct {
        uint32_t count, id;
        int rc;
    } cases[] = {{NODES, 1, 0},      {NODES, NODES, 0},        {NODES + 1, 1, -EBADMSG},
                 {1, 0, -EBADMSG},   {2, NODES + 1, -EBADMSG}, {3, UINT32_MAX, -EBADMSG},
                 {4000, 1, -EBADMSG}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct envelope sent = {9, 2, 1, WIRE_ELECTION, {{.source = 2, .target = 1}}}, got;
        struct wire_context context = context_for(&sent);
        uint32_t *ids = must_alloc(cases[i].count, sizeof *ids), decoded_ids[NODES];
        for (uint32_t k = 0; k < cases[i].count; k++)
            ids[k] = cases[i].id;
        sent.message.ids = ids;
        sent.message.id_count = cases[i].count;
        struct text bytes = {0};
        wire_encode(&sent, &bytes);
        assert_int_equal(decode(&context, &bytes, bytes.length, &got, decoded_ids), cases[i].rc);
        text_release(&bytes);
        free(ids);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_envelopes_come_back_whole_or_not_at_all),
        cmocka_unit_test(test_foreign_runs_and_strangers_are_stale),
        cmocka_unit_test(test_each_field_out_of_range_is_refused),
        cmocka_unit_test(test_id_lists_are_bounded_by_the_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
