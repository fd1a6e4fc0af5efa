/* Random numbers for tests: the same state gives the same numbers, on every rank and in every run. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

/* 31 bits of a linear congruential generator. */
static inline uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static inline int64_t random_below(uint64_t *state, int64_t limit) {
    return (int64_t)(next_random(state) % (uint64_t)limit);
}

/* From low to high, both included. */
static inline int64_t random_from(uint64_t *state, int64_t low, int64_t high) {
    return low + random_below(state, high - low + 1);
}

/* 64 bits, all of them good (splitmix64). */
static inline uint64_t next_bits(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
