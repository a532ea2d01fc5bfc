/* Outputs of electors as events of the history. */
#include "tests/test.h"

#include <string.h>

#include "nodes/chronicle.h"
#include "tests/outbox_text.h"

static const char *const kinds[] = {"ask", "tell", NULL};
static const char *const durable_words[] = {"term", "vote", "epoch", "seen", NULL};
static const struct algorithm algorithm = {.kinds = kinds, .durable = durable_words};

/* A story: one step a line, what is told of it below. */
struct scene {
    struct belief belief;
    const char *reason;
    bool persist, late;
    struct note notes[2];
    const char *told;
};

#define FOLLOWER(whom, in_term)                                    \
    {                                                              \
        .role = ROLE_FOLLOWER, .leader = (whom), .term = (in_term) \
    }
#define LEADER(in_term)                                                            \
    {                                                                              \
        .role = ROLE_LEADER, .leader = 2, .term = (in_term), .token = (in_term)*10 \
    }

static const struct scene scenes[] = {
    {FOLLOWER(0, 1), NULL, false, false, {{0}}, ""},
    {FOLLOWER(3, 1), NULL, false, false, {{0}}, "n2 info follow term=1 leader=n3\n"},
    {FOLLOWER(3, 1), NULL, false, false, {{0}}, ""},
    {FOLLOWER(3, 2), NULL, false, false, {{0}}, "n2 info follow term=2 leader=n3\n"},
    {FOLLOWER(0, 2),
     "silent",
     false,
     false,
     {{.f = F_SUSPECT, .term = 2}},
     "n2 info suspect term=2\n"
     "n2 info follow term=2 reason=silent\n"},
    {{.role = ROLE_CANDIDATE, .term = 3},
     NULL,
     true,
     false,
     {{.f = F_CAMPAIGN, .term = 3}, {.f = F_VOTE, .term = 3, .peer = 2}},
     "n2 info persist term=3 for=n2 durable=epoch=5,seen=0\n"
     "n2 info campaign term=3\n"
     "n2 info vote term=3 for=n2\n"},
    {LEADER(3), NULL, false, false, {{0}}, "n2 info lead term=3 token=30\n"},
    {LEADER(3), NULL, false, false, {{0}}, ""},
    {LEADER(4),
     NULL,
     false,
     false,
     {{0}},
     "n2 info step-down term=3\nn2 info lead term=4 token=40\n"},
    /* The reign that ended is told with its own term, before anything of the new one. */
    {FOLLOWER(0, 3),
     "higher term",
     true,
     false,
     {{.f = F_VOTE, .term = 3, .peer = 1}},
     "n2 info step-down term=4 reason=higher term\n"
     "n2 info persist term=3 for=n2 durable=epoch=5,seen=0\n"
     "n2 info vote term=3 for=n1\n"
     "n2 info follow term=3\n"},
    {FOLLOWER(0, 3),
     NULL,
     true,
     true,
     {{.f = F_NOTE, .reason = "hello"}, {.f = F_RENEW, .term = 3, .until_ns = 99}},
     "n2 info note text=hello\n"
     "n2 info renew term=3 until=99\n"
     "late: n2 info persist term=3 for=n2 durable=epoch=5,seen=0\n"},
};

static void play(struct chronicle *chronicle, const struct scene *scene, struct outbox *outbox,
                 struct text *told)
{
    struct text part = {0};
    struct output output = {.persist = scene->persist,
                            .send_before_persist = scene->late,
                            .durable = {.word = {3, 2, 5, 0}},
                            .belief = scene->belief,
                            .step_reason = scene->reason};
    for (uint32_t i = 0; i < 2 && (scene->notes[i].f || scene->notes[i].term); i++)
        output_note(&output, scene->notes[i]);
    chronicle_step(chronicle, &output, outbox);
    text_add(told, "%s", outbox_as_text(outbox, &part));
    chronicle_late_persist(chronicle, &output, outbox);
    if (outbox->event_count)
        text_add(told, "late: %s", outbox_as_text(outbox, &part));
    text_release(&part);
    output_release(&output);
}

static void test_story(void **state)
{
    (void)state;
    struct chronicle chronicle;
    struct outbox outbox = {0};
    struct text told = {0};
    chronicle_init(&chronicle, &algorithm, 2, false);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        text_clear(&told);
        play(&chronicle, &scenes[i], &outbox, &told);
        assert_string_equal(text_string(&told), scenes[i].told);
    }
    text_release(&told);
    outbox_release(&outbox);
}

static void test_messages_are_counted_and_traced(void **state)
{
    (void)state;
    struct chronicle chronicle;
    struct outbox outbox = {0};
    struct text text = {0};
    const struct message ask = {.source = 2, .target = 3, .kind = 0, .term = 4};
    const struct message tell = {.source = 1, .target = 2, .kind = 1, .term = 4};
    chronicle_init(&chronicle, &algorithm, 2, true);
    chronicle_counts(&chronicle, &outbox);
    assert_string_equal(outbox_as_text(&outbox, &text), "");
    chronicle_send(&chronicle, &ask, &outbox);
    chronicle_receive(&chronicle, &tell, &outbox);
    assert_string_equal(outbox_as_text(&outbox, &text),
                        "n2 info send term=4 peer=n3 kind=ask\n"
                        "n2 info receive term=4 peer=n1 kind=tell\n");
    chronicle.trace = false;
    chronicle_send(&chronicle, &ask, &outbox);
    chronicle_send(&chronicle, &ask, &outbox);
    chronicle_dropped(&chronicle, &ask);
    chronicle_counts(&chronicle, &outbox);
    assert_string_equal(outbox_as_text(&outbox, &text),
                        "n2 info message-counts counts=ask=2 dropped=ask=1\n");
    chronicle_counts(&chronicle, &outbox);
    assert_string_equal(outbox_as_text(&outbox, &text), "");
    text_release(&text);
    outbox_release(&outbox);
}

static void test_scratch_is_bounded(void **state)
{
    (void)state;
    struct outbox outbox = {0};
    size_t total = 0;
    for (uint32_t i = 0; i < 1000; i++)
        total += outbox_text(&outbox, "%s", "ten bytes.").length;
    assert_true(total < OUTBOX_SCRATCH_BYTES && total > OUTBOX_SCRATCH_BYTES - 16);
    outbox_reset(&outbox);
    assert_int_equal(outbox_text(&outbox, "%s", "ten bytes.").length, 10);
    outbox_release(&outbox);
}

/* Different owners, incarnations and counters never share a number, and numbers grow. */
static void test_operation_numbers(void **state)
{
    (void)state;
    static const uint32_t owners[] = {1, 2, SIMULATED_NODES_MAX, PROCESS_NUMBER(PROCESS_CLIENT, 1),
                                      PROCESS_NUMBER(PROCESS_CLIENT, CLIENTS_MAX)};
    uint64_t last = 0;
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        for (uint64_t incarnation = 1; incarnation <= INCARNATIONS_MAX; incarnation += 2047) {
            uint64_t first = operation_number(owners[i], incarnation, 1);
            uint64_t end = operation_number(owners[i], incarnation, OPERATIONS_MAX);
            assert_true(first > last && end > first && end < UINT64_C(1) << 53);
            assert_int_equal(operation_owner(first), operation_owner(end));
            last = end;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_story),
        cmocka_unit_test(test_messages_are_counted_and_traced),
        cmocka_unit_test(test_scratch_is_bounded),
        cmocka_unit_test(test_operation_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
