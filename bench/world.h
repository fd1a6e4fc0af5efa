/* The ranks and nodes of a run, and meeting without spinning: a benchmark that lets idle ranks spin measures
 * the spinning. */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct bench_world {
    MPI_Comm comm, node; /* all ranks; those of this node */
    int rank, ranks, node_rank, node_ranks;
    int64_t nodes;
    int64_t cores;     /* of this node, that its ranks may use together */
    bool common_clock; /* all ranks see one CLOCK_MONOTONIC: they run under one kernel */
    char mpi[64];      /* "MPICH 4.0.2" */
} bench_world;

void bench_world_init(bench_world *world);
void bench_world_cleanup(bench_world *world);

double bench_now(void); /* CLOCK_MONOTONIC, seconds */

/* Collective.  All return at one time: at an agreed moment where the clock is common. */
void bench_barrier(const bench_world *world);
/* Collective.  The greatest of all ranks' values, for each of them. */
void bench_max(const bench_world *world, double values[], int count);
/* Collective.  The sum. */
void bench_sum(const bench_world *world, int64_t values[], int count);
/* Collective.  True if `ok` on all ranks; else `message` becomes that of the lowest rank that failed. */
bool bench_agree(const bench_world *world, bool ok, char *message);

#endif
