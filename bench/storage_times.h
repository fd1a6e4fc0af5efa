/* What paper 003 measures: how long each way takes to find out which ranks share a directory (section 4.2), and
 * how writing to local storage compares with writing to global storage (Table 1): one file for each storage
 * neighbourhood, written collectively by its ranks, against one file of all ranks. */
#ifndef BENCH_STORAGE_TIMES_H
#define BENCH_STORAGE_TIMES_H

#include <stdint.h>

typedef struct bench_storage_config {
    const char *dir, *local; /* seen by all ranks; seen by the ranks that discovery finds */
    const char *json;        /* NULL: none */
    int64_t bytes;           /* bytes that a rank writes; 0: nothing is written */
    int64_t repeat;
} bench_storage_config;

/* Starts and ends MPI.  Exit status: 0; 1 an error. */
int bench_storage_execute(const bench_storage_config *config);

#endif
