/* coup-disk's decisions: what survives a power loss, what an ailing disk refuses, what it is told.
 */
#include "nemesis/disk/disk_core.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "nemesis/disk/ailment.h"
#include "nemesis/disk/disk_command.h"
#include "tests/test.h"

static uint64_t create(struct disk_core *core, const char *name, const char *bytes)
{
    uint64_t file = 0;
    assert_int_equal(disk_core_create(core, name, &file), 0);
    assert_int_equal(disk_core_write(core, file, 0, slice_of(bytes)), 0);
    return file;
}

static void assert_holds(const struct disk_core *core, const char *name, const char *bytes)
{
    uint64_t file;
    struct slice slice;
    if (!bytes) {
        assert_int_equal(disk_core_find(core, name, &file), -ENOENT);
        return;
    }
    assert_int_equal(disk_core_find(core, name, &file), 0);
    assert_int_equal(disk_core_read(core, file, &slice), 0);
    assert_int_equal(slice.length, strlen(bytes));
    assert_memory_equal(slice.at, bytes, slice.length);
}

/* As a careful program replaces a file, up to a step. */
enum { WRITTEN, SYNCED, RENAMED, ALL };
static void replace(struct disk_core *core, const char *bytes, int last)
{
    uint64_t file = create(core, "a.new", bytes);
    if (last >= SYNCED)
        assert_int_equal(disk_core_sync(core, file), 0);
    if (last >= RENAMED)
        assert_int_equal(disk_core_rename(core, "a.new", "a"), 0);
    if (last >= ALL)
        assert_int_equal(disk_core_sync(core, DISK_FOLDER), 0);
}

static void test_careful_replacement_is_old_or_new(void **state)
{
    (void)state;
    for (int last = WRITTEN; last <= ALL; last++) {
        struct disk_core *core = disk_core_new();
        replace(core, "old", ALL);
        assert_int_equal(disk_core_unsynced(core), 0);
        replace(core, "newer", last);
        assert_holds(core, last >= RENAMED ? "a" : "a.new", "newer");
        uint32_t unsynced = disk_core_unsynced(core);
        assert_int_equal(disk_core_power_loss(core, 0), unsynced);
        assert_holds(core, "a", last == ALL ? "newer" : "old");
        assert_holds(core, "a.new", NULL);
        assert_int_equal(disk_core_unsynced(core), 0);
        disk_core_free(core);
    }
}

/* Neither the file's bytes nor its name alone bring it back. */
static void test_both_must_be_synced(void **state)
{
    (void)state;
    struct disk_core *core = disk_core_new();
    uint64_t nameless = create(core, "nameless", "bytes");
    (void)disk_core_sync(core, nameless);
    (void)disk_core_power_loss(core, 0);
    assert_holds(core, "nameless", NULL);
    (void)create(core, "empty", "bytes");
    (void)disk_core_sync(core, DISK_FOLDER);
    (void)disk_core_power_loss(core, 0);
    assert_holds(core, "empty", "");
    disk_core_free(core);
}

/* Four operations: create and write, twice. */
static void test_first_part_is_kept_and_the_write_torn(void **state)
{
    (void)state;
    static const struct {
        uint64_t kept_ppm;
        uint32_t lost;
        const char *a, *b;
    } cases[] = {
        {0, 4, NULL, NULL},
        {PPM_ONE / 4, 3, "", NULL},
        {PPM_ONE * 3 / 8, 3, "12", NULL}, /* half of the second */
        {PPM_ONE / 2, 2, "1234", NULL},
        {PPM_ONE * 5 / 8, 2, "1234", NULL}, /* no half of a name */
        {PPM_ONE * 15 / 16, 1, "1234", "567"},
        {PPM_ONE, 0, "1234", "5678"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct disk_core *core = disk_core_new();
        (void)create(core, "a", "1234");
        (void)create(core, "b", "5678");
        assert_int_equal(disk_core_power_loss(core, cases[i].kept_ppm), cases[i].lost);
        assert_holds(core, "a", cases[i].a);
        assert_holds(core, "b", cases[i].b);
        disk_core_free(core);
    }
}

/* Bytes, sizes and names, changed after they were synced. */
static void test_what_was_synced_comes_back(void **state)
{
    (void)state;
    struct disk_core *core = disk_core_new();
    uint64_t a = create(core, "a", "12345"), b = create(core, "b", "x");
    (void)disk_core_sync(core, a);
    (void)disk_core_sync(core, b);
    (void)disk_core_sync(core, DISK_FOLDER);
    (void)disk_core_write(core, a, 3, slice_of("ABCD"));
    assert_holds(core, "a", "123ABCD");
    (void)disk_core_resize(core, a, 2);
    assert_holds(core, "a", "12");
    (void)disk_core_rename(core, "a", "b");
    assert_holds(core, "b", "12");
    (void)disk_core_unlink(core, "b");
    assert_holds(core, "b", NULL);
    (void)disk_core_power_loss(core, 0);
    assert_holds(core, "a", "12345");
    assert_holds(core, "b", "x");
    (void)disk_core_resize(core, b, 3);
    struct slice grown;
    (void)disk_core_read(core, b, &grown);
    assert_int_equal(grown.length, 3);
    assert_memory_equal(grown.at, "x\0", 3);
    disk_core_free(core);
}

static void test_wiped(void **state)
{
    (void)state;
    struct disk_core *core = disk_core_new();
    uint64_t file;
    replace(core, "old", ALL);
    (void)create(core, "b", "x");
    disk_core_wipe(core);
    assert_null(disk_core_name(core, 0, &file));
    assert_int_equal(disk_core_unsynced(core), 0);
    (void)disk_core_power_loss(core, PPM_ONE);
    assert_null(disk_core_name(core, 0, &file));
    disk_core_free(core);
}

/* An open file outlives its name. */
static void test_held_files_stay(void **state)
{
    (void)state;
    struct disk_core *core = disk_core_new();
    struct slice bytes;
    uint64_t file = create(core, "a", "x");
    disk_core_hold(core, file);
    (void)disk_core_unlink(core, "a");
    (void)disk_core_sync(core, DISK_FOLDER);
    (void)disk_core_sync(core, file);
    assert_int_equal(disk_core_read(core, file, &bytes), 0);
    disk_core_let_go(core, file, 1);
    assert_int_equal(disk_core_read(core, file, &bytes), -ENOENT);
    assert_int_equal(disk_core_write(core, file, 0, slice_of("y")), -ENOENT);
    assert_int_equal(disk_core_sync(core, file), -ENOENT);
    disk_core_free(core);
}

static void test_core_refuses(void **state)
{
    (void)state;
    struct disk_core *core = disk_core_new();
    char name[DISK_NAME_MAX + 2];
    uint64_t file = create(core, "a", "x"), other;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(disk_core_create(core, "a", &other), -EEXIST);
    assert_int_equal(disk_core_create(core, name, &other), -ENAMETOOLONG);
    assert_int_equal(disk_core_rename(core, "a", name), -ENAMETOOLONG);
    assert_int_equal(disk_core_rename(core, "b", "a"), -ENOENT);
    assert_int_equal(disk_core_unlink(core, "b"), -ENOENT);
    assert_int_equal(disk_core_resize(core, file, DISK_FILE_BYTES_MAX + 1), -EFBIG);
    assert_int_equal(disk_core_write(core, file, UINT64_MAX, slice_of("x")), -EFBIG);
    assert_int_equal(disk_core_write(core, file, DISK_FILE_BYTES_MAX, slice_of("x")), -EFBIG);
    disk_core_free(core);
}

static void test_ailment(void **state)
{
    (void)state;
    struct ailment ailment;
    struct disk_trouble full = {.full = true, .room_bytes = 10};
    ailment_init(&ailment, 1, 1);
    assert_false(ailment_errs(&ailment));
    assert_false(ailment_is_full(&ailment));
    assert_int_equal(ailment_take_room(&ailment, 1000), 1000);
    ailment_set(&ailment, &full);
    assert_int_equal(ailment_take_room(&ailment, 7), 7);
    assert_false(ailment_is_full(&ailment));
    full.stalled = true; /* another fault begins: what was used up stays so */
    ailment_set(&ailment, &full);
    assert_int_equal(ailment_take_room(&ailment, 7), 3);
    assert_true(ailment_is_full(&ailment));
    assert_int_equal(ailment.touched[DISK_FULL], 2);
    ailment_set(&ailment, &(struct disk_trouble){.error_ppm = PPM_ONE});
    assert_true(ailment_errs(&ailment));
    assert_int_equal(ailment_take_room(&ailment, 7), 7);
    assert_int_equal(ailment.touched[DISK_ERRORS], 1);
    ailment_set(&ailment, &full); /* room anew */
    assert_int_equal(ailment_take_room(&ailment, 7), 7);
}

static void test_commands_round_trip(void **state)
{
    (void)state;
    static const struct act acts[] = {
        {.action = ACTION_DISK, .symptom = DISK_STALLED, .disk = {.stalled = true}},
        {.action = ACTION_DISK,
         .symptom = DISK_FULL,
         .disk = {5000000, true, UINT64_C(1) << 40, PPM_ONE, false}},
        {.action = ACTION_POWER, .kept_ppm = 350000},
        {.action = ACTION_WIPE},
    };
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        struct text text = {0};
        struct error error;
        struct act act;
        uint32_t node = 0;
        disk_command_format(4, &acts[i], &text);
        assert_int_equal(disk_command_parse(slice_of(text_string(&text)), 5, &node, &act, &error),
                         0);
        assert_int_equal(node, 4);
        assert_int_equal(act.action, acts[i].action);
        assert_int_equal(act.symptom, acts[i].symptom);
        assert_int_equal(act.kept_ppm, acts[i].kept_ppm);
        assert_int_equal(act.disk.fsync_delay_ns, acts[i].disk.fsync_delay_ns);
        assert_int_equal(act.disk.full, acts[i].disk.full);
        assert_int_equal(act.disk.room_bytes, acts[i].disk.room_bytes);
        assert_int_equal(act.disk.error_ppm, acts[i].disk.error_ppm);
        assert_int_equal(act.disk.stalled, acts[i].disk.stalled);
        text_release(&text);
    }
}

static void test_commands_refused(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "",
        "wipe",
        "wipe 0",
        "wipe 6",
        "wipe 1 2",
        "power 1",
        "power 1 1000001",
        "trouble 1 4 0 0 0 0 0",
        "wipes 1",
        "power 1 5 5",
        "trouble 1 0 0 2 0 0 0",
        "trouble 1 0 0 0 0 1000001 0",
        "trouble 1 0 0 0 0 0 2",
        "trouble 1 0 0 0 0 0",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct error error;
        struct act act;
        uint32_t node;
        assert_true(disk_command_parse(slice_of(refused[i]), 5, &node, &act, &error) < 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_careful_replacement_is_old_or_new),
        cmocka_unit_test(test_both_must_be_synced),
        cmocka_unit_test(test_first_part_is_kept_and_the_write_torn),
        cmocka_unit_test(test_what_was_synced_comes_back),
        cmocka_unit_test(test_wiped),
        cmocka_unit_test(test_held_files_stay),
        cmocka_unit_test(test_core_refuses),
        cmocka_unit_test(test_ailment),
        cmocka_unit_test(test_commands_round_trip),
        cmocka_unit_test(test_commands_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
