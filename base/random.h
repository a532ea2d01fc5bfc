/* Seeded random numbers (xoshiro256**, Blackman & Vigna 2018; seeded by splitmix64).
 * One generator per purpose: random_init() takes a stream name, so that adding a draw in one place
 * does not shift the draws of another. Nothing in coup draws from anywhere else. */
#ifndef COUP_BASE_RANDOM_H
#define COUP_BASE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state[4];
};

/* Same seed, stream and number: same sequence, on every machine. */
void random_init(struct random *random, uint64_t seed, const char *stream, uint64_t number);

uint64_t random_next(struct random *random);
uint64_t random_below(struct random *random, uint64_t limit); /* 0..limit-1, unbiased; 0 for 0 */
uint64_t random_between(struct random *random, uint64_t low, uint64_t high); /* both included */
bool random_chance(struct random *random, uint64_t ppm); /* true with ppm / 1,000,000 */
void random_shuffle(struct random *random, uint32_t *items, uint32_t count);

/* A well-mixed 64-bit hash of the words, for keyed draws and table keys. */
uint64_t mix64(uint64_t word);

#endif
