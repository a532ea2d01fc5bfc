/* The durable store: what was written is read back, and anything else is refused by name. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodes/resource.h"
#include "nodes/store.h"

#define NAME "node-3.state"
#define FRESH NAME ".new"

static const struct store_owner owner = {.node = 3, .run = 0xabc, .algorithm = "raft"};
static const struct durable words = {.word = {7, 2, 0, UINT64_MAX, 5, 6}};

static int setup(void **state)
{
    char path[] = "/tmp/coup-store-XXXXXX";
    if (!mkdtemp(path) || chdir(path) < 0)
        return -1;
    *state = must_copy(path);
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {NAME, FRESH, "node-4.state", "resource.log",
                                        "resource.log.new"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(names[i]);
    int rc = chdir("/");
    if (rc == 0)
        rc = rmdir(*state);
    free(*state);
    return rc;
}

static int open_as(const struct store_owner *as, struct durable *out, struct error *error)
{
    struct store store;
    int rc = store_open(".", as, &store, out, error);
    if (rc == 0)
        store_release(&store);
    return rc;
}

static void keep(const struct durable *durable)
{
    struct store store;
    struct durable before;
    struct error error;
    assert_int_equal(store_open(".", &owner, &store, &before, &error), 0);
    assert_int_equal(store_write(&store, durable, &error), 0);
    store_release(&store);
}

/* A copied disk has what was there; one that has been used is let alone. */
static void test_a_copy_begins_with_what_is_stored(void **state)
{
    (void)state;
    struct durable later = words, read;
    struct error error;
    later.word[0]++;
    keep(&words);
    assert_int_equal(mkdir("copy", 0777), 0);
    for (int round = 0; round < 2; round++) {
        struct store store;
        assert_int_equal(store_copy(".", "copy", &error), 0);
        assert_int_equal(store_open("copy", &owner, &store, &read, &error), 0);
        assert_memory_equal(&read, &words, sizeof read);
        store_release(&store);
        keep(&later);
    }
    assert_true(store_copy("nowhere", "copy", &error) < 0);
    assert_non_null(strstr(error.text, "nowhere"));
    assert_int_equal(unlink("copy/" NAME), 0);
    assert_int_equal(rmdir("copy"), 0);
}

static size_t read_file(const char *name, char *bytes, size_t room)
{
    int file = open(name, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    ssize_t length = read(file, bytes, room);
    assert_true(length >= 0);
    (void)close(file);
    return (size_t)length;
}

static void write_file(const char *name, const char *bytes, size_t length)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), length);
    (void)close(file);
}

static void test_a_missing_file_is_a_new_disk(void **state)
{
    (void)state;
    static const struct durable zero = {0};
    struct durable read = words;
    struct error error;
    assert_int_equal(open_as(&owner, &read, &error), 0);
    assert_memory_equal(&read, &zero, sizeof zero);
}

static void test_words_are_read_back(void **state)
{
    (void)state;
    struct durable read = {0}, later = words;
    struct error error;
    keep(&words);
    assert_int_equal(open_as(&owner, &read, &error), 0);
    assert_memory_equal(&read, &words, sizeof words);
    later.word[0]++;
    keep(&later);
    assert_int_equal(open_as(&owner, &read, &error), 0);
    assert_memory_equal(&read, &later, sizeof later);
}

/* A crash between writing and renaming leaves a new file beside the old one, whole or in part. */
static void test_a_crash_before_the_rename_leaves_the_old_words(void **state)
{
    (void)state;
    struct durable read = {0};
    struct error error;
    char bytes[256];
    keep(&words);
    size_t length = read_file(NAME, bytes, sizeof bytes);
    bytes[0] ^= 1;
    for (size_t cut = 0; cut <= length; cut += length / 4) {
        write_file(FRESH, bytes, cut);
        assert_int_equal(open_as(&owner, &read, &error), 0);
        assert_memory_equal(&read, &words, sizeof words);
        keep(&words); /* and does not stand in the way */
    }
}

static void refused(struct error *error)
{
    struct durable read = words;
    assert_int_equal(open_as(&owner, &read, error), -EBADMSG);
    assert_memory_equal(&read, &words, sizeof words); /* untouched */
    assert_non_null(strstr(error->text, NAME));
    assert_int_equal(error_exit_code(error), EXIT_HARNESS);
}

static void test_every_truncation_and_extension_is_refused(void **state)
{
    (void)state;
    struct error error;
    char bytes[256] = {0};
    keep(&words);
    size_t length = read_file(NAME, bytes, sizeof bytes);
    for (size_t cut = 0; cut <= length + 3; cut++) {
        if (cut == length)
            continue;
        write_file(NAME, bytes, cut);
        refused(&error);
    }
}

static void test_every_flipped_bit_is_refused(void **state)
{
    (void)state;
    struct error error;
    char bytes[256];
    keep(&words);
    size_t length = read_file(NAME, bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        write_file(NAME, bytes, length);
        refused(&error);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
}

static void test_somebody_elses_state_is_refused(void **state)
{
    (void)state;
    static const struct {
        struct store_owner owner;
        const char *error;
    } cases[] = {
        {{3, 0xabd, "raft"},
         "state in .: node-3.state: the state of another run (0000000000000abc)"},
        {{3, 0xabc, "bully"},
         "state in .: node-3.state: the state of algorithm 'raft', not 'bully'"},
        {{4, 0xabc, "raft"}, "state in .: node-4.state: the state of node 3, not of node 4"},
    };
    struct durable read;
    struct error error;
    char bytes[256];
    keep(&words);
    write_file("node-4.state", bytes, read_file(NAME, bytes, sizeof bytes));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(open_as(&cases[i].owner, &read, &error), -EBADMSG);
        assert_string_equal(error.text, cases[i].error);
    }
    write_file(NAME, "{\"json\":1}", 10);
    assert_int_equal(open_as(&owner, &read, &error), -EBADMSG);
    assert_string_equal(error.text, "state in .: node-3.state: not a node's state (10 bytes)");
}

static void test_what_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    struct store store;
    struct durable read;
    struct error error;
    assert_int_equal(store_open("./absent", &owner, &store, &read, &error), -ENOENT);
    assert_string_equal(error.text, "open state folder ./absent: No such file or directory");
    assert_int_equal(store_open(".", &owner, &store, &read, &error), 0);
    assert_int_equal(mkdir(FRESH, 0755), 0); /* stands where the new file would be written */
    assert_int_equal(store_write(&store, &words, &error), -EISDIR);
    assert_string_equal(error.text, "create node-3.state.new: Is a directory");
    assert_int_equal(rmdir(FRESH), 0);
    store_release(&store);
    store_release(&store);
}

static struct resource *fresh_resource(void)
{
    return resource_new(&(struct resource_config){.fenced = true, .registers = 2, .run = 1});
}

/* Write through a log, tear its end, open it again. */
static void test_resource_log_is_kept_and_its_torn_end_cut_off(void **state)
{
    (void)state;
    struct outbox outbox = {0};
    struct resource_log log;
    struct error error;
    struct stat status;
    for (uint64_t i = 1; i <= 5; i++) {
        struct resource *resource = fresh_resource();
        assert_int_equal(resource_log_open(".", resource, &log, &error), 0);
        assert_int_equal(resource_highest(resource), i - 1);
        uint64_t id = operation_number(1, i, 1);
        resource_request(
            resource, 1,
            &(struct request){
                .id = id, .operation = OPERATION_WRITE, .value = id, .token = i, .holder = 1},
            &outbox, &log.waiting);
        assert_int_equal(resource_log_commit(&log, &error), 0);
        assert_int_equal(write(log.file, "torn", 4), 4);
        resource_log_release(&log);
        resource_free(resource);
    }
    assert_int_equal(stat("resource.log", &status), 0);
    assert_int_equal(status.st_size, 64 * 6 + 4);
    outbox_release(&outbox);
}

static void test_resource_log_that_is_none_is_refused(void **state)
{
    (void)state;
    struct resource *resource = fresh_resource();
    struct resource_log log;
    struct error error;
    write_file("resource.log", "", 0);
    assert_int_equal(resource_log_open(".", resource, &log, &error), -EBADMSG);
    assert_string_equal(error.text, "state in .: resource.log: too short for a resource log");
    resource_free(resource);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_missing_file_is_a_new_disk),
        TEST(test_words_are_read_back),
        TEST(test_a_crash_before_the_rename_leaves_the_old_words),
        TEST(test_every_truncation_and_extension_is_refused),
        TEST(test_every_flipped_bit_is_refused),
        TEST(test_somebody_elses_state_is_refused),
        TEST(test_what_cannot_be_written_is_an_error),
        TEST(test_a_copy_begins_with_what_is_stored),
        TEST(test_resource_log_is_kept_and_its_torn_end_cut_off),
        TEST(test_resource_log_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
