/* What Sago counts about a file.  Needs no MPI header. */
#ifndef SAGO_STATS_H
#define SAGO_STATS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sago_phase {
    SAGO_PHASE_FLATTEN,  /* datatypes to runs */
    SAGO_PHASE_PLAN,     /* agreeing on the call, planning */
    SAGO_PHASE_GATHER,   /* copies between the caller's buffers and the node's windows or staging */
    SAGO_PHASE_EXCHANGE, /* messages between nodes */
    SAGO_PHASE_STORE,    /* file system calls, and waiting for the I/O thread */
    SAGO_PHASE_WAIT,     /* waiting for other ranks of the node */
    SAGO_PHASE_COUNT
} sago_phase;

typedef struct sago_phase_stats {
    double seconds;
    int64_t bytes;    /* moved in this phase by this rank */
    int64_t runs;     /* contiguous pieces */
    int64_t messages; /* MPI messages or puts (exchange), system calls (store) */
} sago_phase_stats;

/* Of this rank and file, since it was opened. */
typedef struct sago_stats {
    size_t size; /* sizeof(sago_stats), set by SAGO_STATS_INIT */
    sago_phase_stats phase[SAGO_PHASE_COUNT];
    int64_t collective_writes, collective_reads;
    int64_t bytes_written, bytes_read; /* the application's */
    int64_t metadata_bytes;            /* delta-coded extents sent to other nodes */
    int64_t wire_bytes;                /* metadata and data sent to other nodes */
    int64_t plan_hits, plan_misses;
    int64_t direct_calls, mapped_calls, aggregated_calls; /* collective calls by strategy */
    int64_t memory_now, memory_peak;                      /* drawn from the budget by this process, bytes */
    int64_t memory_budget;                                /* of the node, bytes */
    char decision[2048];                                  /* the last plan, one reason a line */
    int64_t local_writes,
        local_merges;          /* with sago_tier=local: calls that stayed local; moves to the global file */
    int64_t local_refused;     /* calls that local storage did not take, and the global file did */
    int64_t nonblocking_calls; /* of the collective ones, done */
} sago_stats;

#define SAGO_STATS_INIT                                                                                           \
    { .size = sizeof(sago_stats) }

const char *sago_phase_string(sago_phase phase);

#ifdef __cplusplus
}
#endif

#endif
