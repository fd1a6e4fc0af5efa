/* Data between ranks through files (paper 003, 4.4): every rank writes blocks, each for another rank, which reads
 * it. Once all blocks go to the directory that everybody sees; once those whose two ends share the local directory
 * go there, and the others to the global one.  Every byte that arrives is verified. */
#ifndef BENCH_EXCHANGE_H
#define BENCH_EXCHANGE_H

#include <stdint.h>

typedef struct bench_exchange_config {
    const char *dir, *local; /* seen by all; seen by whoever discovery finds */
    const char *json;        /* NULL: none */
    int64_t block, blocks;   /* bytes; blocks a rank and repetition */
    int64_t repeat, seed;
} bench_exchange_config;

/* Starts and ends MPI.  Exit status: 0; 1 a wrong byte or an error. */
int bench_exchange_execute(const bench_exchange_config *config);

#endif
