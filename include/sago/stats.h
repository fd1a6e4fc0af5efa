/* What Sago counts about a file.  This header needs no MPI header. */
#ifndef SAGO_STATS_H
#define SAGO_STATS_H

#include <stddef.h>
#include <stdint.h>

#include <sago/init.h>

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

/* Why deferred writes (hint sago_defer) were moved to the file. */
typedef enum sago_flush {
    SAGO_FLUSH_MEMORY,  /* so many calls were deferred that they were expected to fill their room */
    SAGO_FLUSH_OVERLAP, /* by this rank alone: a call writes to bytes of a deferred one */
    SAGO_FLUSH_READ,    /* a collective read */
    SAGO_FLUSH_SYNC,
    SAGO_FLUSH_SIZE,    /* sago_set_size(), sago_preallocate() */
    SAGO_FLUSH_STEP,    /* a step of a series */
    SAGO_FLUSH_STARTED, /* a nonblocking call */
    SAGO_FLUSH_CLOSE,
    SAGO_FLUSH_ASKED, /* sago_flush_all() */
    SAGO_FLUSH_OWN,   /* by this rank alone, before an independent access */
    SAGO_FLUSH_ROOM,  /* by this rank alone: there was no room for a call */
    SAGO_FLUSH_AGE,   /* by this rank alone, after sago_defer_age */
    SAGO_FLUSH_COUNT
} sago_flush;

/* How calls were served.  A rank goes alone, without a plan, in independent calls and in some collective ones
 * (hint sago_agree).  Ranks serve a call together by a plan, or after they have agreed that none is needed. */
typedef enum sago_route {
    SAGO_ROUTE_ALONE_PIECE,        /* one system call for one run */
    SAGO_ROUTE_ALONE_READ_THROUGH, /* one call read several runs with the gaps between them */
    SAGO_ROUTE_ALONE_MAPPED,       /* runs were copied to or from a mapping of the file */
    SAGO_ROUTE_ALONE_DIRECT,       /* a system call for each run */
    SAGO_ROUTE_TOGETHER_DIRECT,
    SAGO_ROUTE_TOGETHER_MAPPED,
    SAGO_ROUTE_TOGETHER_AGGREGATED,
    SAGO_ROUTE_NOTHING,  /* no rank accessed anything */
    SAGO_ROUTE_DEFERRED, /* copied, to be moved with other calls (hint sago_defer) */
    SAGO_ROUTE_LOCAL,    /* to or from local storage (hint sago_tier) */
    SAGO_ROUTE_COUNT
} sago_route;

/* Everything is counted for this rank and this file, since the file was opened. */
typedef struct sago_stats {
    size_t size; /* sizeof(sago_stats), set by SAGO_STATS_INIT */
    sago_phase_stats phase[SAGO_PHASE_COUNT];
    int64_t collective_writes, collective_reads; /* the application's, deferred ones too */
    int64_t deferred_writes;                     /* calls */
    int64_t flushes[SAGO_FLUSH_COUNT];           /* of deferred writes, by reason */
    int64_t flush_steps;                         /* movements that they took */
    int64_t bytes_written, bytes_read;           /* the application's */
    int64_t metadata_bytes;                      /* delta-coded extents sent to other nodes */
    int64_t wire_bytes;                          /* metadata and data sent to other nodes */
    int64_t plan_hits, plan_misses;
    int64_t direct_calls, mapped_calls, aggregated_calls; /* collective calls by strategy */
    int64_t separate_calls;          /* collective calls that each rank ended alone (sago_agree) */
    int64_t memory_now, memory_peak; /* drawn from the budget by this process, bytes */
    int64_t memory_budget;           /* of the node, bytes */
    char decision[2048];             /* the last plan, one reason a line */
    int64_t local_writes,
        local_merges;          /* with sago_tier=local: calls that stayed local; moves to the global file */
    int64_t local_refused;     /* calls that local storage did not take, and the global file did */
    int64_t nonblocking_calls; /* of the collective ones, done */
    int64_t rounds;            /* of aggregated calls: each fills one window of every aggregator */
    int64_t separate_failures; /* separate calls that only this rank could not serve: no memory, or not offered */
    int64_t independent_writes, independent_reads; /* calls of this rank alone, done */
    int64_t routes[SAGO_ROUTE_COUNT];              /* the application's calls, by how they were served */
} sago_stats;

#define SAGO_STATS_INIT SAGO_SIZED(sago_stats)

enum { SAGO_REPORT_REASONS = 16 };

/* Calls around the reads and writes of a file (sago/report.h); SAGO_REPORT_AROUND: how many there are. */
enum { SAGO_REPORT_OPEN, SAGO_REPORT_CLOSE, SAGO_REPORT_SYNC, SAGO_REPORT_AROUND };

/* For layers between a program and Sago (sago/report.h): what they count of the files that they open.  Pairs:
 * reads, writes. */
typedef struct sago_report_counts {
    int64_t size; /* sizeof(sago_report_counts), set by SAGO_REPORT_COUNTS_INIT */
    int64_t files, files_taken;
    int64_t calls[2], bytes[2]; /* collective calls that Sago served; bytes of these and of `alone` */
    int64_t independent[2];     /* calls of one rank that another library served */
    int64_t alone[2];           /* the same, served by Sago */
    int64_t deferred, flush_steps, flushes[SAGO_FLUSH_COUNT];
    int64_t routes[SAGO_ROUTE_COUNT];
    int64_t handed[SAGO_REPORT_REASONS]; /* collective calls that another library served, by reason */
    double seconds[2];                   /* of this rank in collective calls */
    double phase[SAGO_PHASE_COUNT];      /* seconds of this rank */
} sago_report_counts;

#define SAGO_REPORT_COUNTS_INIT SAGO_SIZED(sago_report_counts)

/* The names of phases, reasons and routes, as reports have them; never NULL. */
const char *sago_phase_string(sago_phase phase);
const char *sago_flush_string(sago_flush reason);
const char *sago_route_string(sago_route route); /* "alone_piece" and so on */

#ifdef __cplusplus
}
#endif

#endif
