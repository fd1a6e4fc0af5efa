/* The sizes of patterns as options: names, ranges, help and parsing, from one table. */
#ifndef BENCH_PARAMS_H
#define BENCH_PARAMS_H

#include <stdio.h>

#include "bench/patterns.h"

/* Parses a number that consists of digits; false: the text is none. */
bool bench_parse_count(const char *text, int64_t *count);

/* The values that the pattern starts from. */
void bench_params_init(bench_params *params, const bench_pattern *pattern);

/* Takes --name value.  false: the pattern has no such option, or the value is wrong; `why` says what is
 * allowed. */
bool bench_params_set(bench_params *params, const bench_pattern *pattern, const char *name, const char *value,
                      char *why);

/* The i-th name of all options that some pattern has; NULL: there are no more. */
const char *bench_params_any(int64_t i);

/* The i-th option of a pattern, and its value as text; NULL: there are no more. */
const char *bench_params_name(const bench_pattern *pattern, int64_t i, char *name);
void bench_params_format(const bench_params *params, const char *name, char *text, size_t capacity);

/* Prints help on all options. */
void bench_params_help(FILE *out);

#endif
