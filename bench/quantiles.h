/* Medians and how far they can be trusted. */
#ifndef BENCH_QUANTILES_H
#define BENCH_QUANTILES_H

#include <stdint.h>

typedef struct bench_estimate {
    double median, low, high; /* low..high: its 95% interval */
} bench_estimate;

double bench_best(int64_t count, const double values[]);
double bench_median(int64_t count, const double values[]);

/* The ratios of what a and b took, turns taken two by two: in the second of two the order is the reverse of the
 * first, and who comes second finds other caches than who comes first.  A last turn without another is left out,
 * unless it is the only one.  `ratios` has room for (count + 1) / 2; how many there are. */
int64_t bench_turn_ratios(int64_t count, const double a[], const double b[], double ratios[]);

/* The median, with the interval that the sign test gives: order statistics, no assumption about
 * the distribution.  Fewer than six pairs allow none at 95%: then the whole range. */
bench_estimate bench_estimate_of(int64_t count, const double values[]);

/* Of what took turns: the estimate of bench_turn_ratios. */
bench_estimate bench_turn_ratio(int64_t count, const double a[], const double b[]);

/* The same of a[i]/b[i], pair by pair. */
bench_estimate bench_paired_ratio(int64_t count, const double a[], const double b[]);

#endif
