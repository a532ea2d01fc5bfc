#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include <msgpack/object.h>
#include <msgpack/unpack.h>

#include "base/pack.h"
#include "base/random.h"

/* msgpack-c refuses deeper nesting than this many bytes can make. */
#define BYTES_MAX 31

static bool same_text(struct slice text, const char *at, size_t length)
{
    return text.length == length && (length == 0 || memcmp(text.at, at, length) == 0);
}

/* Read with the cursor what msgpack-c made of the same bytes. */
static bool same(struct pack_reader *reader, const msgpack_object *object)
{
    const msgpack_object_kv *pair;
    bool good = true;
    switch (object->type) {
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        if (pack_peek(reader) == PACK_UINT)
            return pack_read_uint(reader) == object->via.u64;
        break; /* a positive number in a signed form: nothing we write, passed over */
    case MSGPACK_OBJECT_STR:
        return pack_peek(reader) == PACK_TEXT &&
               same_text(pack_read_text(reader), object->via.str.ptr, object->via.str.size);
    case MSGPACK_OBJECT_BIN:
        return pack_peek(reader) == PACK_TEXT &&
               same_text(pack_read_text(reader), object->via.bin.ptr, object->via.bin.size);
    case MSGPACK_OBJECT_NIL: return pack_read_nil(reader);
    case MSGPACK_OBJECT_ARRAY:
        if (pack_read_array(reader) != object->via.array.size)
            return false;
        for (uint32_t i = 0; good && i < object->via.array.size; i++)
            good = same(reader, &object->via.array.ptr[i]);
        return good;
    case MSGPACK_OBJECT_MAP:
        if (pack_read_map(reader) != object->via.map.size)
            return false;
        pair = object->via.map.ptr;
        for (uint32_t i = 0; good && i < object->via.map.size; i++, pair++)
            good = same(reader, &pair->key) && same(reader, &pair->val);
        return good;
    default: break;
    }
    good = pack_peek(reader) == PACK_OTHER;
    pack_skip(reader);
    return good;
}

/* msgpack-c believes any 32-bit count and allocates gigabytes for it: not asked about those that
 * the cursor refuses. */
static bool may_ask(const uint8_t *bytes, size_t length)
{
    return !memchr(bytes, 0xdd, length) && !memchr(bytes, 0xdf, length);
}

/* The same verdict, length and content as msgpack-c's own unpacker. */
static void compare(const uint8_t *bytes, size_t length)
{
    uint8_t *exact = malloc(length ? length : 1); /* a sanitizer sees a read past the end */
    memcpy(exact, bytes, length);
    struct pack_reader skipper = {.at = exact, .end = exact + length};
    struct pack_reader walker = skipper;
    pack_skip(&skipper);
    if (skipper.bad && !may_ask(exact, length)) {
        free(exact);
        return;
    }
    msgpack_unpacked theirs;
    size_t used = 0;
    msgpack_unpacked_init(&theirs);
    msgpack_unpack_return rc = msgpack_unpack_next(&theirs, (const char *)exact, length, &used);
    assert_int_equal(!skipper.bad, rc == MSGPACK_UNPACK_SUCCESS);
    if (rc == MSGPACK_UNPACK_SUCCESS) {
        assert_int_equal(skipper.at - exact, used);
        assert_true(same(&walker, &theirs.data));
        assert_false(walker.bad);
        assert_ptr_equal(walker.at, skipper.at);
    }
    msgpack_unpacked_destroy(&theirs);
    free(exact);
}

static void test_random_bytes_as_msgpack_c_reads_them(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 1, "pack", 0);
    for (int i = 0; i < 40000; i++) {
        uint8_t bytes[BYTES_MAX];
        size_t length = (size_t)random_below(&random, sizeof bytes + 1);
        for (size_t at = 0; at < length; at++) {
            bytes[at] = (uint8_t)random_next(&random);
            if (random_chance(&random, 600000)) /* so that longer forms come to an end */
                bytes[at] = (uint8_t)(bytes[at] & 0x83);
            if (random_chance(&random, 200000))
                bytes[at] = (uint8_t)(0xc0 + bytes[at] % 32);
        }
        compare(bytes, length);
    }
}

/* Every first byte, before lengths that fit, are too long by one, or lie. */
static void test_every_type_byte_at_the_edge_of_its_length(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        for (unsigned second = 0; second < 4; second++) {
            for (size_t length = 1; length <= BYTES_MAX; length++) {
                uint8_t bytes[BYTES_MAX] = {(uint8_t)type};
                bytes[1] = (uint8_t)(second == 3 ? 0xff : 0);
                bytes[2] = (uint8_t)(second == 3 ? 0xff : second);
                bytes[4] = (uint8_t)second;
                compare(bytes, length);
            }
        }
    }
}

static void test_numbers_and_texts_come_back(void **state)
{
    (void)state;
    char long_text[70000];
    memset(long_text, 'x', sizeof long_text);
    static const size_t lengths[] = {0, 1, 31, 32, 255, 256, 65535, 65536, sizeof long_text};
    for (int bit = 0; bit < 64; bit++) {
        for (uint64_t off = 0; off < 3; off++) {
            struct text out = {0};
            uint64_t number = (UINT64_C(1) << bit) - 1 + off;
            pack_uint(&out, number);
            struct pack_reader reader = {(uint8_t *)out.at, (uint8_t *)out.at + out.length, false};
            assert_true(pack_read_uint(&reader) == number);
            assert_true(!reader.bad && reader.at == reader.end);
            text_release(&out);
        }
    }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct text out = {0};
        pack_text(&out, (struct slice){long_text, lengths[i]});
        struct pack_reader reader = {(uint8_t *)out.at, (uint8_t *)out.at + out.length, false};
        assert_true(same_text(pack_read_text(&reader), long_text, lengths[i]));
        assert_true(!reader.bad && reader.at == reader.end);
        text_release(&out);
    }
}

/* After the first mistake every read fails, whatever still stands there. */
static void test_the_first_mistake_is_final(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x01, 0xa1, 'x', 0x02, 0xc0};
    struct pack_reader reader = {.at = bytes, .end = bytes + sizeof bytes};
    assert_int_equal(pack_read_uint(&reader), 1);
    assert_int_equal(pack_read_uint(&reader), 0); /* a text stands here */
    assert_true(reader.bad);
    assert_int_equal(pack_read_text(&reader).length, 0);
    assert_int_equal(pack_read_uint(&reader), 0);
    assert_int_equal(pack_read_array(&reader), 0);
    assert_int_equal(pack_read_map(&reader), 0);
    assert_false(pack_read_nil(&reader));
    assert_int_equal(pack_peek(&reader), PACK_END);
}

/* Nesting that would overrun a recursive reader's stack. */
static void test_deep_nesting_is_passed_over(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    uint8_t *bytes = malloc(DEPTH + 1);
    memset(bytes, 0x91, DEPTH);
    bytes[DEPTH] = 0xc0;
    struct pack_reader reader = {.at = bytes, .end = bytes + DEPTH + 1};
    pack_skip(&reader);
    assert_true(!reader.bad && reader.at == reader.end);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_bytes_as_msgpack_c_reads_them),
        cmocka_unit_test(test_every_type_byte_at_the_edge_of_its_length),
        cmocka_unit_test(test_numbers_and_texts_come_back),
        cmocka_unit_test(test_the_first_mistake_is_final),
        cmocka_unit_test(test_deep_nesting_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
