/* What paper 003 measures: how long it takes to find who shares a directory, in each of the ways (its
 * section 4.2), and writing to local against global storage (its Table 1): one file for each storage
 * neighbourhood, written collectively by its ranks, against one file of all. */
#ifndef BENCH_STORAGE_TIMES_H
#define BENCH_STORAGE_TIMES_H

#include <stdint.h>

typedef struct bench_storage_config {
    const char *dir, *local; /* seen by all; seen by whoever discovery finds */
    const char *json;        /* NULL: none */
    int64_t bytes;           /* that a rank writes; 0: nothing is written */
    int64_t repeat;
} bench_storage_config;

/* Starts and ends MPI.  Exit status: 0; 1 an error. */
int bench_storage_execute(const bench_storage_config *config);

#endif
