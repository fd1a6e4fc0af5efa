/* 64-bit arithmetic that tells when it overflows: true means that the result does not fit. */
#ifndef SAGOI_CHECKED_H
#define SAGOI_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool sagoi_add(int64_t a, int64_t b, int64_t *sum) { return __builtin_add_overflow(a, b, sum); }
static inline bool sagoi_mul(int64_t a, int64_t b, int64_t *product) {
    return __builtin_mul_overflow(a, b, product);
}

/* Adds modulo 2^64, for a result that is only used if it fits, such as that of a step past the last one. */
static inline int64_t sagoi_add_wrapped(int64_t a, int64_t b) {
    int64_t sum;
    (void)__builtin_add_overflow(a, b, &sum);
    return sum;
}
static inline int64_t sagoi_mul_wrapped(int64_t a, int64_t b) {
    int64_t product;
    (void)__builtin_mul_overflow(a, b, &product);
    return product;
}
/* The nearest result that fits, where the result is only compared: a - b, a + b. */
static inline int64_t sagoi_distance(int64_t a, int64_t b) {
    int64_t distance;
    return __builtin_sub_overflow(a, b, &distance) ? (a < b ? INT64_MIN : INT64_MAX) : distance;
}
static inline int64_t sagoi_add_limited(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t sagoi_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t sagoi_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline double sagoi_smaller(double a, double b) { return a < b ? a : b; }
static inline double sagoi_larger(double a, double b) { return a > b ? a : b; }

/* For values that are known to fit; unit > 0, value >= 0. */
static inline int64_t sagoi_div_up(int64_t value, int64_t unit) { return value / unit + (value % unit != 0); }
static inline int64_t sagoi_round_up(int64_t value, int64_t unit) { return sagoi_div_up(value, unit) * unit; }
static inline int64_t sagoi_round_down(int64_t value, int64_t unit) { return value - value % unit; }

#endif
