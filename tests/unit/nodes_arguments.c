/* Command lines of the child programs, and the address plan. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "nodes/address.h"
#include "nodes/arguments.h"

#define WORDS_MAX 16

/* The parsed arguments, or the error. */
static int parse(enum program program, const char *line, struct arguments *out, struct error *error)
{
    static char buffer[512];
    char *argv[WORDS_MAX];
    int argc = 0;
    (void)snprintf(buffer, sizeof buffer, "%s", line);
    for (char *at = buffer; *at;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    return arguments_parse(program, argc, argv, out, error);
}

#define NODE "id=2 nodes=3 run=beef origin=5 base=10.1.2.0 algorithm=raft state=/tmp"

static void test_a_whole_line(void **state)
{
    (void)state;
    struct arguments arguments;
    struct error error;
    assert_int_equal(parse(PROGRAM_NODE, NODE " trace=on incarnation=4", &arguments, &error), 0);
    assert_int_equal(arguments.id, 2);
    assert_int_equal(arguments.run, 0xbeef);
    assert_int_equal(arguments.base, 10u << 24 | 1u << 16 | 2u << 8);
    assert_int_equal(arguments.trace, 1);
    assert_int_equal(arguments.incarnation, 4);
    assert_int_equal(arguments.witnesses, 0);
    assert_string_equal(arguments.knobs, "");
    assert_string_equal(arguments.algorithm, "raft");
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        enum program program;
        const char *line, *error;
    } cases[] = {
        {PROGRAM_NODE, "id=2", "nodes is missing (number of nodes in the cluster)"},
        {PROGRAM_NODE, "id=0", "id: must be between 1 and 64"},
        {PROGRAM_NODE, "id=x", "id: 'x' is not a whole number"},
        {PROGRAM_NODE, "run=0x1", "run: '0x1' is not a hexadecimal number of 1 to 16 digits"},
        {PROGRAM_NODE, "run=11112222333344445",
         "run: '11112222333344445' is not a hexadecimal number of 1 to 16 digits"},
        {PROGRAM_NODE, "trace=yes", "trace: 'yes' is not off or on"},
        {PROGRAM_RESOURCE, "mode=half", "mode: 'half' is not unfenced or fenced"},
        {PROGRAM_NODE, "id=1 id=1", "id is given twice"},
        {PROGRAM_NODE, "base=10.1.2.3",
         "base: '10.1.2.3' is not the first address of a /24, such as 10.1.2.0"},
        {PROGRAM_NODE, "base=10.1.2", "base: '10.1.2' is not an address such as 10.1.2.0"},
        {PROGRAM_NODE, "base=10.1.02.0", "base: '10.1.02.0' is not an address such as 10.1.2.0"},
        {PROGRAM_NODE, "base=10.1.256.0", "base: '10.1.256.0' is not an address such as 10.1.2.0"},
        {PROGRAM_CLIENT, "state=/tmp",
         "'state=/tmp' is no argument (accepted, each as name=value: id, nodes, run, seed, origin, "
         "incarnation, base, knobs, rate)"},
        {PROGRAM_CLIENT, "id",
         "'id' is no argument (accepted, each as name=value: id, nodes, run, seed, origin, "
         "incarnation, base, knobs, rate)"},
        {PROGRAM_NODE, "id=4 nodes=3 run=1 origin=5 base=10.1.2.0 algorithm=raft state=/tmp",
         "id is larger than nodes"},
        {PROGRAM_NODE, NODE " witnesses=3",
         "witnesses must be fewer than nodes, or nobody can lead"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arguments arguments = {.id = 42};
        struct error error;
        assert_true(parse(cases[i].program, cases[i].line, &arguments, &error) < 0);
        assert_string_equal(error.text, cases[i].error);
        assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        assert_int_equal(arguments.id, 42);
    }
}

static void test_help_names_what_is_known(void **state)
{
    (void)state;
    struct text text = {0};
    arguments_help(PROGRAM_RESOURCE, &text);
    assert_non_null(strstr(text_string(&text), "  mode         fenced or unfenced (fenced)\n"));
    assert_non_null(strstr(text_string(&text), "required\n"));
    assert_null(strstr(text_string(&text), "algorithm"));
    text_release(&text);
}

static void test_no_two_processes_share_an_address(void **state)
{
    (void)state;
    bool used[256] = {false};
    for (uint32_t kind = 0; kind < PROCESS_KINDS; kind++) {
        for (uint32_t index = 0; index <= CLIENTS_MAX; index++) {
            bool single = kind == PROCESS_RESOURCE || kind == PROCESS_COORDINATOR;
            uint32_t last = kind == PROCESS_NODE   ? NODES_MAX
                            : kind == PROCESS_TWIN ? 1 /* at a time */
                                                   : CLIENTS_MAX;
            if ((single && index > 0) || (!single && index == 0) || index > last)
                continue;
            uint32_t address = address_of(0x0a010200, PROCESS_NUMBER(kind, index));
            if (address == 0)
                continue; /* has none */
            assert_int_equal(address & 0xffffff00, 0x0a010200);
            assert_in_range(address & 0xff, 1, 254);
            assert_false(used[address & 0xff]);
            used[address & 0xff] = true;
        }
    }
    char text[ADDRESS_TEXT_MAX];
    assert_string_equal(address_format(0xfffffffe, text), "255.255.255.254");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_line),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_help_names_what_is_known),
        cmocka_unit_test(test_no_two_processes_share_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
