/* Medians and how far they can be trusted. */
#ifndef BENCH_QUANTILES_H
#define BENCH_QUANTILES_H

#include <stdint.h>

typedef struct bench_estimate {
    double median, low, high; /* low..high: its 95% interval */
} bench_estimate;

double bench_best(int64_t count, const double values[]);
double bench_median(int64_t count, const double values[]);

/* The median of a[i]/b[i], with the interval that the sign test gives: order statistics, no assumption about
 * the distribution.  Fewer than six pairs allow none at 95%: then the whole range. */
bench_estimate bench_paired_ratio(int64_t count, const double a[], const double b[]);

#endif
