/* The histories of histories/corpus: each is judged as its table says, every check is shown one it
 * must accept and one it must refuse, and files of version 1 stay readable. */
#include "tests/test.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker/checker.h"
#include "histories/jsonl.h"

#define FOLDER TESTS_FOLDER "/../histories/corpus/"
#define ROWS_MAX 200
#define COLUMNS 5

/* file, check, verdict, witness, what it shows */
struct row {
    char line[400];
    const char *column[COLUMNS];
};

static struct row rows[ROWS_MAX];
static uint32_t row_count;

static void split(struct row *row)
{
    char *at = row->line;
    for (int i = 0; i < COLUMNS; i++) {
        char *tab = strchr(at, i + 1 < COLUMNS ? '\t' : '\n');
        if (!tab)
            fail_msg("too few columns: %s", row->line);
        *tab = '\0';
        row->column[i] = at;
        at = tab + 1;
    }
}

static int read_table(void **state)
{
    (void)state;
    FILE *file = fopen(FOLDER "expected.tsv", "r");
    assert_non_null(file);
    while (row_count < ROWS_MAX && fgets(rows[row_count].line, sizeof rows[0].line, file))
        if (rows[row_count].line[0] != '#')
            split(&rows[row_count++]);
    assert_true(feof(file));
    assert_int_equal(fclose(file), 0);
    return 0;
}

static struct history_reader *open_history(const char *name)
{
    struct history_reader *reader;
    struct error error;
    char path[400];
    (void)snprintf(path, sizeof path, FOLDER "%s", name);
    if (history_open(path, &reader, &error) < 0)
        fail_msg("%s", error.text);
    return reader;
}

static void judge(const char *name, struct report_data *out)
{
    struct history_reader *reader = open_history(name);
    struct checker *checker;
    struct event event;
    assert_int_equal(checker_new(history_header(reader), NULL, &checker, NULL), 0);
    while (history_next(reader, &event) == 1)
        checker_step(checker, &event);
    checker_end(checker, out);
    assert_null(history_damage(reader));
    history_reader_close(reader);
}

static const struct check_result *result_of(const struct report_data *data, const char *check)
{
    for (uint32_t i = 0; i < data->result_count; i++)
        if (strcmp(data->results[i].check->name, check) == 0 && data->results[i].owed)
            return &data->results[i];
    fail_msg("%s is not owed", check);
    return NULL;
}

static void compare(const struct row *row, const struct finding *finding)
{
    struct text witness = {0};
    for (uint32_t i = 0; i < finding->witness_count; i++)
        text_add(&witness, "%s%" PRIu64, i ? "," : "", finding->witness[i]);
    if (witness.length == 0)
        text_add(&witness, "-");
    bool same = strcmp(verdict_name(finding->verdict), row->column[2]) == 0 &&
                strcmp(text_string(&witness), row->column[3]) == 0;
    /* Valid by having been judged, not for want of anything to judge. */
    same = same && (finding->verdict != VERDICT_VALID || finding->judged > 0);
    if (!same)
        fail_msg("%s: %s: %s, witness %s (%s)", row->column[0], row->column[1],
                 verdict_name(finding->verdict), text_string(&witness), finding->reason);
    text_release(&witness);
}

static void test_every_row(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < row_count; i++) {
        struct report_data data;
        judge(rows[i].column[0], &data);
        compare(&rows[i], &result_of(&data, rows[i].column[1])->finding);
        report_data_release(&data);
    }
}

static void test_every_check_and_file_has_a_row(void **state)
{
    (void)state;
    for (uint32_t i = 0; checks[i]; i++) {
        bool good = false, bad = false;
        for (uint32_t k = 0; k < row_count; k++)
            if (strcmp(rows[k].column[1], checks[i]->name) == 0)
                *(strcmp(rows[k].column[2], "valid") == 0 ? &good : &bad) = true;
        if (!good || !bad)
            fail_msg("%s has no %s history", checks[i]->name, good ? "bad" : "good");
    }
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        bool named = entry->d_name[0] == '.' || strcmp(entry->d_name, "expected.tsv") == 0;
        for (uint32_t k = 0; k < row_count; k++)
            named = named || strcmp(rows[k].column[0], entry->d_name) == 0;
        if (!named)
            fail_msg("%s is not in the table", entry->d_name);
    }
    assert_int_equal(closedir(folder), 0);
}

/* What version 1 wrote is read, and means the same, in either form. */
static void test_version_1(void **state)
{
    (void)state;
    char *lines = NULL, *kept = must_alloc(1, 1 << 20);
    size_t length = 0;
    struct history_reader *reader = open_history("version-1.coup");
    FILE *out = open_memstream(&lines, &length);
    assert_non_null(out);
    assert_int_equal(history_to_jsonl(reader, out, NULL), 0);
    assert_int_equal(fclose(out), 0);
    history_reader_close(reader);
    FILE *file = fopen(FOLDER "version-1.jsonl", "r");
    assert_non_null(file);
    size_t got = fread(kept, 1, (1 << 20) - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(got, length);
    assert_memory_equal(lines, kept, length);
    free(lines);
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_every_check_and_file_has_a_row),
        cmocka_unit_test(test_version_1),
    };
    return cmocka_run_group_tests(tests, read_table, NULL);
}
