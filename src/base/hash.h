/* 128-bit fingerprints that add up: their sum over the ranks identifies a collective call. */
#ifndef SAGOI_HASH_H
#define SAGOI_HASH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sagoi_hash {
    uint64_t low, high;
} sagoi_hash;

/* The fingerprint of `bytes` bytes, chained to `seed`. */
sagoi_hash sagoi_hash_bytes(const void *data, int64_t bytes, sagoi_hash seed);

static inline sagoi_hash sagoi_hash_int(int64_t value, sagoi_hash seed) {
    return sagoi_hash_bytes(&value, sizeof value, seed);
}
static inline bool sagoi_hash_equal(sagoi_hash a, sagoi_hash b) { return a.low == b.low && a.high == b.high; }

/* Mixes an offset with a key in a nonlinear way, for the cover check. */
static inline uint64_t sagoi_mix(uint64_t key, int64_t offset) {
    uint64_t x = (uint64_t)offset ^ key;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

#endif
