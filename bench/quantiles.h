/* Medians, and how far they can be trusted. */
#ifndef BENCH_QUANTILES_H
#define BENCH_QUANTILES_H

#include <stdint.h>

typedef struct bench_estimate {
    double median, low, high; /* low..high: its 95% interval */
} bench_estimate;

double bench_best(int64_t count, const double values[]);
double bench_median(int64_t count, const double values[]);

/* Ratios of the times of a and b, of turns two by two: the second of two turns has the opposite order, since the
 * engine that comes second finds other caches than the first.  A single last turn is left out, unless it is the
 * only one.  `ratios` has room for (count + 1) / 2; returns their number. */
int64_t bench_turn_ratios(int64_t count, const double a[], const double b[], double ratios[]);

/* The median, with the interval of the sign test: order statistics, without assumptions about the distribution.
 * Fewer than six pairs allow no interval at 95%; then it is the whole range. */
bench_estimate bench_estimate_of(int64_t count, const double values[]);

/* The estimate of bench_turn_ratios(), for ways that took turns. */
bench_estimate bench_turn_ratio(int64_t count, const double a[], const double b[]);

/* The same of a[i]/b[i], pair by pair. */
bench_estimate bench_paired_ratio(int64_t count, const double a[], const double b[]);

#endif
