#include "tests/test.h"

#include <string.h>

#include "base/random.h"
#include "histories/crc32c.h"

/* The definition, a bit at a time. */
static uint32_t bit_by_bit(uint32_t crc, const uint8_t *at, size_t length)
{
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

/* RFC 3720 appendix B.4, and the check value of the catalogues. */
static void test_known_values(void **state)
{
    (void)state;
    uint8_t zeros[32] = {0}, ones[32], up[32], down[32];
    memset(ones, 0xff, sizeof ones);
    for (uint8_t i = 0; i < 32; i++) {
        up[i] = i;
        down[i] = (uint8_t)(31 - i);
    }
    const struct {
        const void *bytes;
        size_t length;
        uint32_t crc;
    } cases[] = {
        {zeros, 32, 0x8a9136aa}, {ones, 32, 0x62a8ab43},       {up, 32, 0x46dd794e},
        {down, 32, 0x113fdb5c},  {"123456789", 9, 0xe3069283}, {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(crc32c(0, cases[i].bytes, cases[i].length), cases[i].crc);
        assert_int_equal(crc32c_portable(0, cases[i].bytes, cases[i].length), cases[i].crc);
    }
}

static void test_both_ways_agree_at_every_length_and_offset(void **state)
{
    (void)state;
    uint8_t bytes[100];
    struct random random;
    random_init(&random, 1, "crc", 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)random_next(&random);
    for (size_t from = 0; from < 9; from++) {
        for (size_t length = 0; from + length <= sizeof bytes; length++) {
            uint32_t start = (uint32_t)random_next(&random);
            uint32_t want = bit_by_bit(start, bytes + from, length), hardware = want;
            assert_int_equal(crc32c_portable(start, bytes + from, length), want);
            (void)crc32c_hardware(start, bytes + from, length, &hardware);
            assert_int_equal(hardware, want);
        }
    }
}

static void test_in_pieces_as_in_one(void **state)
{
    (void)state;
    static const char text[] = "a leader, once cut off, goes on writing";
    for (size_t cut = 0; cut < sizeof text; cut++)
        assert_int_equal(crc32c(crc32c(0, text, cut), text + cut, sizeof text - cut),
                         crc32c(0, text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_both_ways_agree_at_every_length_and_offset),
        cmocka_unit_test(test_in_pieces_as_in_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
