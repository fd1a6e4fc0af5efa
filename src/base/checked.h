/* 64-bit arithmetic that says when it overflows: true is "did not fit". */
#ifndef SAGOI_CHECKED_H
#define SAGOI_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool sagoi_add(int64_t a, int64_t b, int64_t *sum) { return __builtin_add_overflow(a, b, sum); }
static inline bool sagoi_mul(int64_t a, int64_t b, int64_t *product) {
    return __builtin_mul_overflow(a, b, product);
}

static inline int64_t sagoi_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t sagoi_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* For values that are known to fit; unit > 0, value >= 0. */
static inline int64_t sagoi_div_up(int64_t value, int64_t unit) { return value / unit + (value % unit != 0); }
static inline int64_t sagoi_round_up(int64_t value, int64_t unit) { return sagoi_div_up(value, unit) * unit; }
static inline int64_t sagoi_round_down(int64_t value, int64_t unit) { return value - value % unit; }

#endif
