/* Data between ranks through files (paper 003, 4.4): every rank writes blocks, each for another rank, which
 * reads it. First all blocks go through the directory that all ranks see; then blocks whose two ranks share the
 * local directory go through that one, and only the others through the global one.  Every byte that arrives is
 * verified. */
#ifndef BENCH_EXCHANGE_H
#define BENCH_EXCHANGE_H

#include <stdint.h>

typedef struct bench_exchange_config {
    const char *dir, *local; /* seen by all ranks; seen by the ranks that discovery finds */
    const char *json;        /* NULL: none */
    int64_t block, blocks;   /* bytes of a block; blocks of a rank in one repetition */
    int64_t repeat, seed;
} bench_exchange_config;

/* Starts and ends MPI.  Exit status: 0; 1 a wrong byte or an error. */
int bench_exchange_execute(const bench_exchange_config *config);

#endif
