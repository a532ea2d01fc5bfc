/* docs/history-format.md says what the tables of the program say: every event with its fields,
 * every field with its type, every key of the header. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "tests/history_sample.h"

static struct text read_docs(void)
{
    struct text docs = {0};
    char piece[4096];
    FILE *file = fopen(TESTS_FOLDER "/../docs/history-format.md", "r");
    assert_non_null(file);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        text_add_bytes(&docs, piece, got);
    assert_int_equal(fclose(file), 0);
    return docs;
}

static void expect_line(const struct text *docs, const char *line)
{
    if (!strstr(text_string(docs), line))
        fail_msg("docs/history-format.md lacks\n%s", line);
}

static void add_fields(uint64_t fields, struct text *out)
{
    const char *comma = "";
    text_add(out, " | ");
    for (int field = 0; field < EVENT_FIELDS && ~fields != 0; field++) {
        if (!(fields & FIELD_BIT(field)))
            continue;
        text_add(out, "%s%s", comma, event_field_name((enum event_field)field));
        comma = ", ";
    }
    text_add(out, ~fields == 0 ? "any" : *comma == '\0' ? "-" : "");
}

static void add_processes(uint8_t processes, struct text *out)
{
    static const char *const names[PROCESS_KINDS] = {
        "node", "client", "resource", "coordinator", "nemesis", "controller", "switch"};
    const char *comma = "";
    text_add(out, " | ");
    for (int kind = 0; kind < PROCESS_KINDS; kind++) {
        bool said = processes >> kind & 1 && kind != PROCESS_TWIN; /* whatever a node may */
        if (!said || processes == (1u << PROCESS_KINDS) - 1)
            continue;
        text_add(out, "%s%s", comma, names[kind]);
        comma = ", ";
    }
    text_add(out, *comma == '\0' ? "any" : "");
}

static bool same_form(const struct event_form *a, const struct event_form *b)
{
    return a->processes == b->processes && a->must == b->must && a->may == b->may;
}

/* One row for all types of `f` that have the form of its type `first`. */
static void add_row(enum event_f f, enum event_type first, struct text *out)
{
    const struct event_form *form = event_form(f, first);
    text_add(out, "\n| %s | %d", event_f_name(f), (int)f);
    add_processes(form->processes, out);
    text_add(out, " | %s", event_type_name(first));
    for (int type = (int)first + 1; type < EVENT_TYPES; type++)
        if (same_form(form, event_form(f, (enum event_type)type)))
            text_add(out, ", %s", event_type_name((enum event_type)type));
    add_fields(form->must, out);
    add_fields(~form->may == 0 ? form->may : form->may & ~form->must, out);
    text_add(out, " |\n");
}

static void test_every_event_with_its_fields(void **state)
{
    (void)state;
    struct text docs = read_docs();
    for (int f = 0; f < EVENT_FS; f++) {
        uint64_t told = 0; /* bit per type */
        for (int type = 0; type < EVENT_TYPES; type++) {
            const struct event_form *form = event_form((enum event_f)f, (enum event_type)type);
            struct text row = {0};
            if (form->processes == 0 || told >> type & 1)
                continue;
            for (int other = type; other < EVENT_TYPES; other++)
                if (same_form(form, event_form((enum event_f)f, (enum event_type)other)))
                    told |= UINT64_C(1) << other;
            add_row((enum event_f)f, (enum event_type)type, &row);
            expect_line(&docs, row.at);
            text_release(&row);
        }
    }
    text_release(&docs);
}

static void test_every_field_with_its_type(void **state)
{
    (void)state;
    static const char *const kinds[] = {"number", "process", "text"};
    struct text docs = read_docs();
    for (int field = 0; field < EVENT_FIELDS; field++) {
        struct text row = {0};
        text_add(&row, "\n| %s | %d | %s | ", event_field_name((enum event_field)field), field,
                 kinds[event_field_kind((enum event_field)field)]);
        expect_line(&docs, row.at);
        text_release(&row);
    }
    text_release(&docs);
}

static void test_every_key_of_the_header(void **state)
{
    (void)state;
    struct history_header header = sample_header();
    struct text docs = read_docs(), json = {0};
    const char *key;
    json_t *value;
    header_to_json(&header, &json);
    json_t *root = json_loadb(json.at, json.length, 0, NULL);
    json_object_foreach(root, key, value)
    {
        struct text row = {0};
        text_add(&row, "\n| %s | ", key);
        expect_line(&docs, row.at);
        text_release(&row);
    }
    json_decref(root);
    for (int trait = 0; trait < TRAITS; trait++)
        expect_line(&docs, trait_name((enum trait)trait));
    text_release(&docs);
    text_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_with_its_fields),
        cmocka_unit_test(test_every_field_with_its_type),
        cmocka_unit_test(test_every_key_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
