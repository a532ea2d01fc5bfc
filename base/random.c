#include "base/random.h"

static uint64_t splitmix64(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return mix64(*state);
}

uint64_t mix64(uint64_t word)
{
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

void random_init(struct random *random, uint64_t seed, const char *stream, uint64_t number)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a over the stream's name */
    for (const char *c = stream; *c; c++)
        hash = (hash ^ (uint64_t)(unsigned char)*c) * UINT64_C(0x100000001b3);
    uint64_t state = mix64(seed) ^ mix64(hash + UINT64_C(0x9e3779b97f4a7c15)) ^ mix64(~number);
    for (int i = 0; i < 4; i++)
        random->state[i] = splitmix64(&state);
}

static uint64_t rotate(uint64_t word, int bits)
{
    return (word << bits) | (word >> (64 - bits));
}

uint64_t random_next(struct random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return result;
}

/* Lemire 2019: multiply and keep the high word, redraw the few biased values. */
uint64_t random_below(struct random *random, uint64_t limit)
{
    if (limit == 0)
        return 0;
    __uint128_t product = (__uint128_t)random_next(random) * limit;
    if ((uint64_t)product < limit) {
        uint64_t threshold = -limit % limit;
        while ((uint64_t)product < threshold)
            product = (__uint128_t)random_next(random) * limit;
    }
    return (uint64_t)(product >> 64);
}

uint64_t random_between(struct random *random, uint64_t low, uint64_t high)
{
    if (high <= low)
        return low;
    if (high - low == UINT64_MAX)
        return random_next(random);
    return low + random_below(random, high - low + 1);
}

bool random_chance(struct random *random, uint64_t ppm)
{
    return random_below(random, 1000000) < ppm;
}

void random_shuffle(struct random *random, uint32_t *items, uint32_t count)
{
    for (uint32_t left = count; left > 1; left--) {
        uint32_t pick = (uint32_t)random_below(random, left);
        uint32_t kept = items[left - 1];
        items[left - 1] = items[pick];
        items[pick] = kept;
    }
}
