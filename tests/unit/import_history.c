/* Histories of other tools, as small as they can be: what each option and model makes of them, what
 * is refused, and that the public ones get their published verdicts. */
#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker/import/import.h"

/* The verdict in a word and the reason, or the error. */
static void judge(const struct import_options *options, struct slice history, struct text *out)
{
    const struct search_limits limits = SEARCH_LIMITS;
    struct linear_result result;
    struct import import;
    struct error error;
    if (import_history(history, options, &import, &error) < 0) {
        assert_int_equal(error.kind, ERROR_USAGE);
        text_add(out, "! %s", error.text);
        return;
    }
    import_check(&import, &limits, &result, NULL);
    text_add(out, "%s",
             result.fault == LINEAR_FINE       ? "fine"
             : result.fault == LINEAR_GIVEN_UP ? "gave up"
                                               : "wrong");
    if (result.fault != LINEAR_FINE) {
        text_add(out, ": ");
        import_explain(&import, &result, out);
    }
    import_release(&import);
}

#define OP(process, type, f, value) \
    "{:process " #process " :type :" #type " :f :" #f " :value " value "}\n"
#define DONE(process, f, asked, told) OP(process, invoke, f, asked) OP(process, ok, f, told)
#define LOG(words) "INFO  jepsen.util - " words "\n"

static const struct row {
    const char *model;
    struct import_options options;
    const char *history, *output;
} rows[] = {
    /* formats */
    {"register", {0}, DONE(0, write, "1", "1") DONE(1, read, "nil", "1"), "fine"},
    {"register",
     {0},
     "[" DONE(0, write, "1", "1") "; between\n" DONE(1, read, "nil", "2") "]",
     "wrong: register: process 1's read of 2 (line 4 to 5) found 2, which nobody wrote"},
    {"register",
     {0},
     "0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n:nemesis\t:info\t:start\tnil\n"
     "1\t:invoke\t:read\tnil\n1\t:fail\t:read\tnil\t:timeout\n",
     "fine"},
    {"register",
     {0},
     "noise\n" LOG("0 :invoke :write 1") LOG(":nemesis :info :start nil")
         LOG("0 :ok :write 1") "0 :ok :read 7\n" LOG("1\t:invoke\t:read\tnil")
             LOG("1\t:ok\t:read\tnil"),
     "wrong: register: stale: process 1's read of nil (line 6 to 7) began after process 0's write "
     "of "
     "1 (line 2 to 4) was over"},
    {"register", {0}, "\xef\xbb\xbf[{:process :nemesis :type :info :f :start}]", "fine"},
    {"register",
     {0},
     "[{:type :invoke\n :value {:deep [1 #{2}]} :f :write, :process 3 :extra #inst \"now\"}\n"
     " {:process 3 :type :ok :f :write}]",
     "fine"},
    /* what nil is */
    {"register",
     {.nil = NIL_IS_VALUE},
     DONE(0, write, "1", "1") DONE(1, read, "nil", "nil"),
     "wrong: register: stale: process 1's read of nil (line 3 to 4) began after process 0's write "
     "of 1 (line 1 to 2) was over"},
    {"register",
     {.nil = NIL_IS_UNKNOWN},
     DONE(0, write, "1", "1") DONE(1, read, "nil", "nil"),
     "fine"},
    {"register", {0}, DONE(0, write, "1", "1") DONE(1, read, "nil", "nil"), "fine"},
    /* what a failure is */
    {"register",
     {.fail = FAIL_IS_REFUSED},
     DONE(0, write, "1", "1") OP(1, invoke, cas, "[1 2]") OP(1, fail, cas, "[1 2]"),
     "wrong: register: process 1's refused cas from 1 (line 3 to 4) does not fit: by then it was "
     "1"},
    {"register",
     {0},
     DONE(0, write, "1", "1") OP(1, invoke, cas, "[1 2]") OP(1, fail, cas, "[1 2]"),
     "fine"},
    {"register",
     {0},
     LOG("0 :invoke :write 1") LOG("0 :ok :write 1") LOG("1 :invoke :cas [1 2]")
         LOG("1 :fail :cas [1 2]"),
     "wrong: register: process 1's refused cas from 1 (line 3 to 4) does not fit: by then it was "
     "1"},
    {"register",
     {0},
     OP(0, invoke, write, "1") OP(0, fail, write, "1") DONE(1, read, "nil", "1"),
     "wrong: register: process 1's read of 1 (line 3 to 4) found 1, which nobody wrote"},
    /* what it begins with */
    {"register",
     {.initial = "5"},
     DONE(0, read, "nil", "5") DONE(0, cas, "[5 :x]", "[5 :x]"),
     "fine"},
    {"register", {.initial = "\"a\""}, DONE(0, read, "nil", "\"a\""), "fine"},
    {"register",
     {.initial = "5"},
     DONE(0, read, "nil", "6"),
     "wrong: register: process 0's read of 6 (line 1 to 2) found 6, which nobody wrote"},
    /* unknown outcomes */
    {"register",
     {0},
     OP(0, invoke, write, "1") OP(0, info, write, ":timed-out") DONE(1, read, "nil", "1"),
     "fine"},
    {"register", {0}, OP(0, invoke, write, "1") DONE(1, read, "nil", "1"), "fine"},
    {"register",
     {.nil = NIL_IS_VALUE},
     OP(0, invoke, write, "1") DONE(1, read, "nil", "1") DONE(1, read, "nil", "nil"),
     "wrong: register: stale: process 1's read of nil (line 4 to 5) began after process 1's read "
     "of "
     "1 (line 2 to 3) was over"},
    /* keys */
    {"register",
     {0},
     DONE(0, write, "[:x 1]", "[:x 1]") DONE(1, read, "[:y nil]", "[:y 1]"),
     "wrong: key :y: process 1's read of 1 (line 3 to 4) found 1, which nobody wrote"},
    {"register",
     {0},
     DONE(0, write, "[7 1]", "[7 1]") DONE(1, cas, "[7 [1 2]]", "[7 [1 2]]")
         DONE(1, read, "[7 nil]", "[7 2]"),
     "fine"},
    /* texts */
    {"kv",
     {0},
     "{:process 0 :type :invoke :f :append :key \"a\" :value \"x\"}"
     "{:process 1 :type :invoke :f :append :key \"a\" :value \"y\"}"
     "{:process 0 :type :ok :f :append :key \"a\" :value \"x\"}"
     "{:process 1 :type :ok :f :append :key \"a\" :value \"y\"}"
     "{:process 0 :type :invoke :f :get :key \"a\" :value nil}"
     "{:process 0 :type :ok :f :get :key \"a\" :value \"yx\"}"
     "{:process 0 :type :invoke :f :get :key \"b\" :value nil}"
     "{:process 0 :type :ok :f :get :key \"b\" :value \"\"}",
     "fine"},
    {"kv",
     {.initial = "\"z\""},
     "{:process 0 :type :invoke :f :append :key \"a\" :value \"x\"}\n"
     "{:process 0 :type :ok :f :append :key \"a\" :value \"x\"}\n"
     "{:process 0 :type :invoke :f :get :key \"a\" :value nil}\n"
     "{:process 0 :type :ok :f :get :key \"a\" :value \"x\"}\n",
     "wrong: key \"a\": process 0's read of \"x\" (line 3 to 4) does not fit: by then it was a "
     "text "
     "that leads to none that was read"},
    /* transactions */
    {"multi-register",
     {0},
     DONE(0, txn, "[[:write :x 1] [:write :y 2]]", "[[:write :x 1] [:write :y 2]]")
         DONE(1, txn, "[[:read :x nil] [:read :z nil]]", "[[:read :x 1] [:read :z 0]]"),
     "fine"},
    {"multi-register",
     {0},
     DONE(0, txn, "[[:w :x 1] [:w :y 2]]", "[[:w :x 1] [:w :y 2]]")
         DONE(1, txn, "[[:r :x nil] [:r :y nil]]", "[[:r :x 1] [:r :y 0]]"),
     "wrong: multi-register: process 1's transaction of read 0=1 read 1=0 (line 3 to 4) does not "
     "fit: "
     "by then it was (1 2)"},
    /* locks */
    {"mutex", {0}, DONE(0, acquire, "nil", "nil") DONE(1, release, "nil", "nil"), "fine"},
    {"owner-mutex",
     {0},
     DONE(0, acquire, "nil", "nil") DONE(1, release, "nil", "nil"),
     "wrong: owner-mutex: process 1's release (line 3 to 4) does not fit: by then it was held by "
     "process 0"},
    {"mutex",
     {0},
     DONE(0, acquire, "nil", "nil") DONE(1, acquire, "nil", "nil"),
     "wrong: mutex: process 1's acquire (line 3 to 4) does not fit: by then it was held"},
    {"mutex",
     {0},
     DONE(0, acquire, "nil", "nil") OP(0, invoke, release, "nil") OP(0, info, release, "nil")
         DONE(1, acquire, "nil", "nil"),
     "fine"},
    {"mutex",
     {0},
     DONE(0, acquire, "nil", "nil") OP(0, invoke, release, "nil") OP(0, fail, release, "nil")
         DONE(1, acquire, "nil", "nil"),
     "wrong: mutex: process 1's acquire (line 5 to 6) does not fit: by then it was held"},
    {"reentrant-mutex", {0}, DONE(0, acquire, "nil", "nil") DONE(0, acquire, "nil", "nil"), "fine"},
    {"reentrant-mutex",
     {0},
     DONE(0, acquire, "nil", "nil") DONE(0, acquire, "nil", "nil") DONE(0, acquire, "nil", "nil"),
     "wrong: reentrant-mutex: process 0's acquire (line 5 to 6) does not fit: by then it was held "
     "by process 0 twice"},
    {"fenced-lock",
     {0},
     DONE(0, acquire, "nil", "7") DONE(0, release, "nil", "nil") DONE(1, acquire, "nil", "9"),
     "fine"},
    {"fenced-lock",
     {0},
     DONE(0, acquire, "nil", "{:fence 9}") DONE(0, release, "nil", "nil")
         DONE(1, acquire, "nil", "{:fence 7}"),
     "wrong: fenced-lock: process 1's acquire with fence 7 (line 5 to 6) does not fit: by then it "
     "was "
     "free, with fences up to 9"},
    {"fenced-lock",
     {0},
     DONE(0, acquire, "nil", "9") DONE(0, release, "nil", "nil") DONE(1, acquire, "nil", "0"),
     "fine"},
    {"reentrant-fenced-lock",
     {0},
     DONE(0, acquire, "nil", "9") DONE(0, acquire, "nil", "9") DONE(0, release, "nil", "nil")
         DONE(0, release, "nil", "nil") DONE(1, acquire, "nil", "10"),
     "fine"},
    {"reentrant-fenced-lock",
     {0},
     DONE(0, acquire, "nil", "9") DONE(0, acquire, "nil", "10"),
     "wrong: reentrant-fenced-lock: process 0's acquire with fence 10 (line 3 to 4) does not fit: "
     "by "
     "then it was held by process 0, with fences up to 9"},
    {"semaphore", {0}, DONE(0, acquire, "nil", "nil") DONE(1, acquire, "nil", "nil"), "fine"},
    {"semaphore",
     {0},
     DONE(0, acquire, "nil", "nil") DONE(1, acquire, "nil", "nil") DONE(2, acquire, "nil", "nil"),
     "wrong: semaphore: process 2's acquire (line 5 to 6) does not fit: by then it was 2 of 2 "
     "permits held"},
    /* what is no such history */
    {"register", {0}, "", "! no history that can be read: neither EDN nor lines of Jepsen"},
    {"register", {0}, "hello\n", "! no history that can be read: neither EDN nor lines of Jepsen"},
    {"register", {0}, "\n[1]", "! line 2: an operation is a map, {:process ...}"},
    {"register", {0}, "{\"a\" 1}", "! line 1: an operation without :process"},
    {"register", {0}, "{:process \"a\"}", "! line 1: :process is neither a number nor a keyword"},
    {"register",
     {0},
     "{:process 99999999999999999999}",
     "! line 1: the number of the process is too large"},
    {"register",
     {0},
     "{:process 1 :type :done :f :read}",
     "! line 1: :type is none of :invoke, :ok, :fail, :info"},
    {"register",
     {0},
     "{:process 1 :type :invoke}",
     "! line 1: an operation without :f is no operation of model register (accepted: :read, "
     ":write, "
     ":cas)"},
    {"mutex",
     {0},
     OP(1, invoke, read, "nil"),
     "! line 1: :f :read is no operation of model mutex (accepted: :acquire, :release)"},
    {"kv",
     {0},
     OP(1, invoke, frob, "nil"),
     "! line 1: :f :frob is no operation of model kv (accepted: :read, :get, :write, :put, "
     ":append)"},
    {"register",
     {0},
     OP(1, invoke, read, "nil") OP(1, invoke, read, "nil"),
     "! line 2: process 1 begins an operation before that of line 1 has ended"},
    {"register",
     {0},
     OP(1, ok, read, "nil"),
     "! line 1: process 1 ends an operation that it has not begun"},
    {"register",
     {0},
     OP(1, invoke, read, "nil") OP(1, ok, write, "1"),
     "! line 2: another operation than that begun in line 1"},
    {"register", {0}, OP(1, invoke, cas, "7"), "! line 1: the value of :cas is [OLD NEW]"},
    {"register", {0}, OP(1, invoke, cas, "[1 2 3]"), "! line 1: the value of :cas is [OLD NEW]"},
    {"kv", {0}, OP(1, invoke, put, "7"), "! line 1: a value of model kv is a string"},
    {"kv", {0}, OP(1, invoke, append, "nil"), "! line 1: a value of model kv is a string"},
    {"multi-register",
     {0},
     OP(1, invoke, txn, "[[:add :x 1]]"),
     "! line 1: a transaction is of [:read KEY VALUE] and [:write KEY VALUE]"},
    {"multi-register",
     {0},
     OP(1, invoke, txn, "nil"),
     "! line 1: the value of :txn is a list of reads and writes"},
    {"fenced-lock",
     {0},
     DONE(1, acquire, "nil", "-3"),
     "! line 2: a fence is a whole number from 0 to 2^63 - 1"},
    {"register", {.initial = ""}, DONE(1, read, "nil", "1"), "! initial value: nothing"},
    {"register",
     {.initial = "1 2"},
     DONE(1, read, "nil", "1"),
     "! initial value: more than one value"},
    {"register",
     {.initial = "["},
     DONE(1, read, "nil", "1"),
     "! initial value: line 1: a bracket that nothing closes"},
    {"kv",
     {.initial = "nil"},
     DONE(1, read, "nil", "\"\""),
     "! initial value: line 1: a value of model kv is a string"},
    {"register",
     {0},
     "[" DONE(1, read, "nil", "1"),
     "! line 3: the history's opening bracket is never closed"},
};

static void test_rows(void **unused)
{
    int failed = 0;
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct import_options options = rows[i].options;
        struct text out = {0};
        options.model = linear_model_find(slice_of(rows[i].model));
        assert_non_null(options.model);
        judge(&options, slice_of(rows[i].history), &out);
        if (strcmp(text_string(&out), rows[i].output) != 0) {
            print_message("%s:\n%sgives      %s\nexpected   %s\n", rows[i].model, rows[i].history,
                          text_string(&out), rows[i].output);
            failed++;
        }
        text_release(&out);
    }
    assert_int_equal(failed, 0);
}

/* Public histories lie beside the tree, not in it. */

#define PUBLIC_FOLDER TESTS_FOLDER "/../../shared/data/histories"

static bool read_file(const char *name, struct text *out)
{
    char path[1000], piece[65536];
    (void)snprintf(path, sizeof path, "%s/%s", PUBLIC_FOLDER, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        text_add_bytes(out, piece, got);
    assert_int_equal(fclose(file), 0);
    return true;
}

/* "cas-register(nil)", "kv get/put/append, ...": the model's name comes first. */
static const struct linear_model *find_model(const char *text)
{
    return linear_model_find((struct slice){text, strcspn(text, " (")});
}

/* One line of the table: file, model, operations, verdict. 1 when it is not what is published. */
static int check_published(char *line, uint32_t seen[2])
{
    char *fields[4] = {strtok_r(line, "\t", &line)};
    struct text history = {0}, out = {0};
    for (int i = 1; i < 4; i++)
        fields[i] = strtok_r(NULL, "\t", &line);
    if (!read_file(fields[0], &history))
        return 0;
    struct import_options options = {.model = find_model(fields[1])};
    bool wrong = strcmp(fields[3], "not-linearizable") == 0;
    assert_non_null(options.model);
    judge(&options, (struct slice){history.at, history.length}, &out);
    seen[wrong]++;
    int failed = strncmp(text_string(&out), wrong ? "wrong" : "fine", wrong ? 5 : 4) != 0;
    if (failed)
        print_message("%s is %s, not %s\n", fields[0], text_string(&out), fields[3]);
    text_release(&history);
    text_release(&out);
    return failed;
}

static void test_public_histories(void **unused)
{
    struct text table = {0};
    uint32_t seen[2] = {0};
    int failed = 0;
    char *rest = NULL;
    (void)unused;
    if (!read_file("VERDICTS.tsv", &table)) {
        print_message("skipped: no %s\n", PUBLIC_FOLDER);
        skip();
    }
    (void)strtok_r(table.at, "\n", &rest); /* the columns' names */
    for (char *line; (line = strtok_r(NULL, "\n", &rest));)
        failed += check_published(line, seen);
    text_release(&table);
    print_message("%u linearizable, %u not\n", seen[0], seen[1]);
    assert_int_equal(failed, 0);
    assert_true(seen[0] > 0 && seen[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_public_histories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
