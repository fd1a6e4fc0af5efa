/* Medians and their intervals. */
#include "bench/quantiles.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A sorted copy; NULL: there is no memory, or nothing to sort. */
static double *sorted_copy(int64_t count, const double values[]) {
    double *sorted = count > 0 ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (!sorted)
        return NULL;
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    return sorted;
}

static double middle(int64_t count, const double sorted[]) {
    return count % 2 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]);
}

double bench_median(int64_t count, const double values[]) {
    double *sorted = sorted_copy(count, values);
    double median = sorted ? middle(count, sorted) : 0;
    free(sorted);
    return median;
}

double bench_best(int64_t count, const double values[]) {
    double best = count > 0 ? values[0] : 0;
    for (int64_t i = 1; i < count; i++)
        best = values[i] < best ? values[i] : best;
    return best;
}

/* How many order statistics may be cut off at each end: the largest k with P(Binomial(n, 1/2) < k) <= 2.5%. */
static int64_t cut_off(int64_t n) {
    double term = 1, below = 0; /* term: P(= k) */
    for (int64_t i = 0; i < n; i++)
        term *= 0.5;
    int64_t k = 0;
    while (k < n / 2 && below + term <= 0.025) {
        below += term;
        term *= (double)(n - k) / (double)(k + 1);
        k++;
    }
    return k;
}

int64_t bench_turn_ratios(int64_t count, const double a[], const double b[], double ratios[]) {
    if (count == 1)
        ratios[0] = a[0] / b[0];
    for (int64_t i = 0; i + 1 < count; i += 2)
        ratios[i / 2] = (a[i] + a[i + 1]) / (b[i] + b[i + 1]);
    return count == 1 ? 1 : count / 2;
}

bench_estimate bench_estimate_of(int64_t count, const double values[]) {
    bench_estimate estimate = {0};
    double *sorted = sorted_copy(count, values);
    if (!sorted)
        return estimate;
    int64_t k = cut_off(count), first = k > 0 ? k - 1 : 0;
    estimate.median = middle(count, sorted);
    estimate.low = sorted[first];
    estimate.high = sorted[count - 1 - first];
    free(sorted);
    return estimate;
}

/* The ratios by `ratios_of`, and their median. */
static bench_estimate ratio_of(int64_t count, const double a[], const double b[],
                               int64_t (*ratios_of)(int64_t, const double[], const double[], double[])) {
    bench_estimate estimate = {0};
    double *ratios = count > 0 ? malloc((size_t)count * sizeof *ratios) : NULL;
    if (ratios)
        estimate = bench_estimate_of(ratios_of(count, a, b, ratios), ratios);
    free(ratios);
    return estimate;
}

static int64_t pair_ratios(int64_t count, const double a[], const double b[], double ratios[]) {
    for (int64_t i = 0; i < count; i++)
        ratios[i] = a[i] / b[i];
    return count;
}

bench_estimate bench_turn_ratio(int64_t count, const double a[], const double b[]) {
    return ratio_of(count, a, b, bench_turn_ratios);
}

bench_estimate bench_paired_ratio(int64_t count, const double a[], const double b[]) {
    return ratio_of(count, a, b, pair_ratios);
}
