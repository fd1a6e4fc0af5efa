/* The ranks and nodes of a run, and meetings without spinning: a benchmark whose idle ranks spin would measure the
 * spinning. */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct bench_world {
    MPI_Comm comm, node; /* all ranks; the ranks of this node */
    int rank, ranks, node_rank, node_ranks;
    int64_t nodes;
    int64_t cores;     /* cores that the ranks of this node may use, all together */
    bool common_clock; /* all ranks see the same CLOCK_MONOTONIC, since they run under one kernel */
    char mpi[64];      /* "MPICH 4.0.2" */
} bench_world;

void bench_world_init(bench_world *world);
void bench_world_cleanup(bench_world *world);

double bench_now(void); /* CLOCK_MONOTONIC, seconds */

/* Collective.  All ranks return at the same time: at an agreed moment if they share a clock. */
void bench_barrier(const bench_world *world);
/* Collective.  The largest of all ranks' values, on each rank. */
void bench_max(const bench_world *world, double values[], int count);
/* Collective.  The sum, on each rank. */
void bench_sum(const bench_world *world, int64_t values[], int count);
/* Collective.  true: `ok` is true on all ranks; else `message` becomes that of the lowest rank that failed. */
bool bench_agree(const bench_world *world, bool ok, char *message);

#endif
