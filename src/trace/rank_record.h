/* What is recorded of a job for its report: of one rank, or of many, added up.
 *
 * All of it is bounded, whatever a job does.  Times are bins of a power of two of milliseconds since 1970, offsets
 * bins of a power of two of bytes: when either does not fit any more, two bins become one.  So records of any two
 * ranks add up exactly.  Ranks have a row each, or share one with their neighbours.
 *
 * A record can be packed into bytes, for a message or a file of the same kind of machine. */
#ifndef SAGOI_RECORD_H
#define SAGOI_RECORD_H

#include <sago/stats.h>
#include <stdbool.h>

#include "base/status.h"

enum {
    SAGOI_RECORD_FILES = 16,            /* by path; the last is for all others */
    SAGOI_RECORD_SIZES = 44,            /* of calls: bin i has up to 2^i bytes */
    SAGOI_RECORD_BINS = 96,             /* of time, in a row */
    SAGOI_RECORD_ROWS = 96,             /* of ranks */
    SAGOI_RECORD_TIMES = 48,            /* of a heat map, */
    SAGOI_RECORD_PLACES = 32,           /* and its offsets */
    SAGOI_RECORD_SPANS = 384,           /* of a rank; */
    SAGOI_RECORD_SHOWN = 32,            /* of so many ranks */
    SAGOI_RECORD_STEPS = 64,            /* checkpoints, the newest */
    SAGOI_RECORD_NODES = 256,           /* by name */
    SAGOI_RECORD_NOTES = 16,            /* of a file */
    SAGOI_RECORD_TARGETS = 32,          /* of a file's storage; where there are more, neighbours share one */
    SAGOI_PHASE_MPI = SAGO_PHASE_COUNT, /* time of a rank in calls that the MPI library served */
    SAGOI_RECORD_PHASES,                /* what a rank's time is divided into; as a span's: the I/O thread */
};

/* What is counted of a file: fields of sago_stats. */
#define SAGOI_RECORD_COUNTS(X)                                                                                    \
    X(collective_writes)                                                                                          \
    X(collective_reads)                                                                                           \
    X(bytes_written)                                                                                              \
    X(bytes_read)                                                                                                 \
    X(direct_calls)                                                                                               \
    X(mapped_calls)                                                                                               \
    X(aggregated_calls)                                                                                           \
    X(separate_calls)                                                                                             \
    X(nonblocking_calls)                                                                                          \
    X(deferred_writes)                                                                                            \
    X(flush_steps)                                                                                                \
    X(local_writes)                                                                                               \
    X(local_merges)                                                                                               \
    X(local_refused)                                                                                              \
    X(plan_hits)                                                                                                  \
    X(plan_misses)                                                                                                \
    X(rounds)                                                                                                     \
    X(wire_bytes)                                                                                                 \
    X(metadata_bytes)                                                                                             \
    X(separate_failures)                                                                                          \
    X(independent_writes)                                                                                         \
    X(independent_reads)

typedef enum {
#define SAGOI_RECORD_ENUM(name) SAGOI_COUNT_##name,
    SAGOI_RECORD_COUNTS(SAGOI_RECORD_ENUM)
#undef SAGOI_RECORD_ENUM
        SAGOI_RECORD_COUNT_COUNT
} sagoi_record_count;

const char *sagoi_record_count_name(sagoi_record_count count);

/* Bin i of a row of them has what happened from (first + i) << shift on, in milliseconds since 1970. */
typedef struct sagoi_scale {
    int64_t first;
    int32_t shift;
    int32_t used; /* 0: nothing happened yet */
} sagoi_scale;

/* Bytes by time and place: read, written. */
typedef struct sagoi_heat {
    sagoi_scale time;
    int64_t place_shift; /* a place is 1 << place_shift bytes of the file */
    float cells[SAGOI_RECORD_TIMES][2][SAGOI_RECORD_PLACES];
} sagoi_heat;

/* Something that was done with a file by others than Sago, and why. */
typedef struct sagoi_record_note {
    char text[64];
    int64_t count, led; /* by any rank; by the first of the file's */
} sagoi_record_note;

/* Calls on a file that the MPI library served, as the drop-in saw them. */
typedef struct sagoi_record_passed {
    int64_t calls[2], bytes[2]; /* reads, writes of all ranks */
    double longest;             /* seconds of the rank with the most */
} sagoi_record_passed;

/* Requests to one of the targets that a file's stripes are on in turn.  A request to several counts for each by
 * its bytes there. */
typedef struct sagoi_record_target {
    double bytes, seconds; /* of all ranks; */
    int64_t ranks;         /* so many of them, */
    double longest;        /* and the one that was there longest */
    int64_t longest_rank;
} sagoi_record_target;

typedef struct sagoi_record_file {
    char path[256];
    char storage[64]; /* name of the file system */
    int64_t block, stripe_unit, stripe_count;
    char hints[2048];     /* that are not what Sago would choose: "name=value (from where)", a line each */
    char decision[1024];  /* why the last plan is as it is, a line each */
    int64_t opens, ranks; /* by the first rank of the file's; of its communicator */
    int64_t counts[SAGOI_RECORD_COUNT_COUNT]; /* of all ranks */
    int64_t led[SAGOI_RECORD_COUNT_COUNT];    /* of the first ranks alone: so a collective call counts once */
    int64_t routes[SAGO_ROUTE_COUNT];         /* calls of all ranks, by how they were served */
    int64_t sizes[2][SAGOI_RECORD_SIZES];     /* calls of all ranks, by how much a rank moved */
    sago_phase_stats phase[SAGO_PHASE_COUNT]; /* of all ranks */
    double longest[SAGO_PHASE_COUNT];         /* seconds of one rank, */
    int64_t longest_rank[SAGO_PHASE_COUNT];   /* and which */
    double io_seconds;                        /* of all ranks, in tasks of the I/O thread, whoever did them */
    double calls[2];                          /* seconds in reads and writes of the rank with the most */
    sagoi_record_note notes[SAGOI_RECORD_NOTES];
    sagoi_record_passed passed[2]; /* independent calls, collective ones */
    sagoi_record_target targets[SAGOI_RECORD_TARGETS];
    sagoi_heat heat;
} sagoi_record_file;

/* Ranks side by side. */
typedef struct sagoi_record_row {
    int64_t ranks;
    double seconds[SAGOI_RECORD_PHASES]; /* of them together */
    double least, most;                  /* seconds in all phases of Sago's of one of them */
    int64_t bytes[2];
    double stored, stored_bytes; /* seconds of requests to the storage, whoever waited, and what they moved */
    double waited;               /* for messages of other nodes */
    char node[48];               /* where they are; "": on several */
    sagoi_scale time;
    float bins[SAGOI_RECORD_BINS][SAGOI_RECORD_PHASES]; /* seconds */
} sagoi_record_row;

/* One phase of one call on one rank. */
typedef struct sagoi_record_span {
    double start, seconds; /* since 1970 */
    int64_t call;          /* number of the file's collective calls before it */
    int32_t rank, round;
    int16_t file, phase; /* phase SAGOI_RECORD_PHASES: the I/O thread */
    int32_t stride;      /* calls whose number is no multiple of it were left out; of the rank */
} sagoi_record_span;

typedef struct sagoi_record_step {
    int64_t step, bytes;
    double date, held, copy, queue, write, redundancy, drain; /* seconds of the slowest rank */
    int32_t written, level;
} sagoi_record_step;

typedef struct sagoi_record_node {
    char name[64];
    int64_t ranks, peak, budget; /* bytes: of all ranks together; of the node */
} sagoi_record_node;

/* Calls that open and close files, of the rank that was longest in both; that sync them, of that rank. */
typedef struct sagoi_record_around {
    int64_t calls;
    double seconds;
} sagoi_record_around;

typedef struct sagoi_record {
    char program[128], mpi[64], version[16], job[64];
    int64_t run;         /* the same on all ranks of a job, another for each job */
    int64_t ranks, seen; /* of the job; of these there are records */
    double begin, end;   /* since 1970 */
    double date;         /* when it was written */
    int64_t complete;    /* 1: the job came to MPI_Finalize */
    double stream;       /* bytes a second of one stream to the storage that `sago tune` measured; 0: not known */
    sagoi_record_around around[SAGO_REPORT_AROUND];
    int64_t nfiles, nspans, nsteps, nnodes; /* nnodes: those that are named, */
    int64_t all_nodes;                      /* of all that are known of; at least nnodes */
    sagoi_record_file *files;               /* SAGOI_RECORD_FILES at most */
    sagoi_record_row *rows[SAGOI_RECORD_ROWS];
    double awaited[SAGOI_RECORD_ROWS]; /* seconds that others waited for messages of a row's ranks */
    sagoi_record_span *spans;
    sagoi_record_step *steps;
    sagoi_record_node *nodes;
} sagoi_record;

/* An empty one; NULL without memory. */
sagoi_record *sagoi_record_create(int64_t ranks);
void sagoi_record_destroy(sagoi_record *record);

/* The entry for this path, or the one for all others. */
sagoi_record_file *sagoi_record_find(sagoi_record *record, const char *path);
/* The number of the row that a rank is in; -1: there is no such rank. */
int64_t sagoi_record_row_number(const sagoi_record *record, int64_t rank);
/* The row that a rank is in; NULL without memory. */
sagoi_record_row *sagoi_record_row_of(sagoi_record *record, int64_t rank);
/* The entry for this node; NULL: there are too many. */
sagoi_record_node *sagoi_record_node_of(sagoi_record *record, const char *name);
/* What one more rank says of a checkpoint: the slowest counts. */
void sagoi_record_step_add(sagoi_record *record, const sagoi_record_step *step);
void sagoi_record_note_add(sagoi_record_file *file, const char *text, int64_t count, int64_t led);

/* `seconds` of a phase, or SAGOI_PHASE_MPI, that ended at `end`. */
void sagoi_row_add(sagoi_record_row *row, int phase, double end, double seconds);
/* `bytes` between two offsets, moved in `seconds` up to `end`. */
void sagoi_heat_add(sagoi_heat *heat, bool write, const int64_t range[2], int64_t bytes, double end,
                    double seconds);
/* Where one of `count` targets is counted; of how many targets that entry is. */
int64_t sagoi_record_target_entry(int64_t target, int64_t count);
int64_t sagoi_record_target_share(int64_t entry, int64_t count);
/* Which bin of sizes. */
int sagoi_size_bin(int64_t bytes);

/* Adds what another one has; false without memory, and something is missing. */
bool sagoi_record_merge(sagoi_record *record, const sagoi_record *more);

/* All rows get the same bins. */
void sagoi_record_align(sagoi_record *record);

/* To bytes; malloc()ed, NULL without memory. */
char *sagoi_record_pack(const sagoi_record *record, int64_t *bytes);
/* And back; NULL: these bytes are no record, or there is no memory. */
sagoi_record *sagoi_record_unpack(const char *packed, int64_t bytes);

#endif
