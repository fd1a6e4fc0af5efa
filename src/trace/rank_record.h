/* What is recorded for the report: of one rank, or of many ranks, added up.
 *
 * A record is bounded, whatever the job does.  Times are counted in bins of a power of two of milliseconds
 * since 1970, offsets in bins of a power of two of bytes; when a time or an offset lies outside of the bins,
 * the bins become twice as wide.  So the records of any two ranks add up exactly.  Each rank has a row of its
 * own, or shares one with its neighbours.
 *
 * A record can be packed into bytes, for a message, or for a file that is read on the same kind of machine. */
#ifndef SAGOI_RECORD_H
#define SAGOI_RECORD_H

#include <sago/stats.h>
#include <stdbool.h>

enum {
    SAGOI_RECORD_FILES = 16,  /* files, by path; the last entry is for all others */
    SAGOI_RECORD_SIZES = 44,  /* sizes of calls: bin i counts calls of up to 2^i bytes */
    SAGOI_RECORD_BINS = 96,   /* bins of time in a row */
    SAGOI_RECORD_ROWS = 96,   /* rows, each of one or more ranks */
    SAGOI_RECORD_TIMES = 48,  /* columns of a heat map: times */
    SAGOI_RECORD_PLACES = 32, /* rows of a heat map: offsets */
    SAGOI_RECORD_SPANS = 384, /* spans that are kept of one rank */
    SAGOI_RECORD_SHOWN = 32,  /* ranks whose spans are kept */
    SAGOI_RECORD_STEPS = 64,  /* checkpoints that are kept: the newest */
    SAGOI_RECORD_NODES = 256, /* nodes that are kept with their names */
    SAGOI_RECORD_NOTES = 16,  /* notes on one file */
    /* Storage targets of a file; where there are more, neighbouring targets share an entry. */
    SAGOI_RECORD_TARGETS = 32,
    SAGOI_PHASE_MPI = SAGO_PHASE_COUNT, /* time in calls that the MPI library served */
    SAGOI_RECORD_PHASES,                /* kinds of time in a row; as a span's phase: the I/O thread */
};

/* What is counted for a file: fields of sago_stats. */
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

/* Where the bins of a row lie in time: bin i begins (first + i) << shift milliseconds after 1970. */
typedef struct sagoi_scale {
    int64_t first;
    int32_t shift;
    int32_t used; /* bins in use; 0: nothing happened yet */
} sagoi_scale;

/* Bytes by time, direction (read, written) and place. */
typedef struct sagoi_heat {
    sagoi_scale time;
    int64_t place_shift; /* a place is 1 << place_shift bytes of the file */
    float cells[SAGOI_RECORD_TIMES][2][SAGOI_RECORD_PLACES];
} sagoi_heat;

/* Something that a layer above Sago did with a file, and why. */
typedef struct sagoi_record_note {
    char text[64];
    int64_t count, once; /* how often any rank did it; how often the first rank of the file did */
} sagoi_record_note;

/* Calls on a file that the MPI library served, as the drop-in counted them. */
typedef struct sagoi_record_passed {
    int64_t calls[2], bytes[2]; /* reads and writes of all ranks */
    double longest;             /* seconds of the rank with the most */
} sagoi_record_passed;

/* Requests to one storage target of a striped file.  A request to several targets counts for each target by the
 * bytes there. */
typedef struct sagoi_record_target {
    double bytes, seconds; /* sums over all ranks */
    int64_t ranks;         /* ranks with requests to the target */
    double longest;        /* seconds of the rank with the most */
    int64_t longest_rank;
} sagoi_record_target;

typedef struct sagoi_record_file {
    char path[256];
    char storage[64]; /* name of the file system */
    int64_t block, stripe_unit, stripe_count;
    char hints[2048];     /* hints that somebody set: "name=value (from where)", a line each */
    char decision[1024];  /* the reasons of the last plan, a line each */
    int64_t opens, ranks; /* opens, as the first rank counts them; ranks of the file's communicator */
    int64_t counts[SAGOI_RECORD_COUNT_COUNT]; /* sums over all ranks */
    /* The counts of the file's first rank alone, where a collective call counts once. */
    int64_t once[SAGOI_RECORD_COUNT_COUNT];
    int64_t routes[SAGO_ROUTE_COUNT];         /* calls of all ranks, by how they were served */
    int64_t sizes[2][SAGOI_RECORD_SIZES];     /* calls of all ranks, by the bytes that a rank moved */
    sago_phase_stats phase[SAGO_PHASE_COUNT]; /* sums over all ranks */
    double longest[SAGO_PHASE_COUNT];         /* seconds of the rank with the most */
    int64_t longest_rank[SAGO_PHASE_COUNT];   /* the rank with the most */
    double io_seconds; /* sum over all ranks: tasks of the I/O thread, whichever thread did them */
    double calls[2];   /* seconds in reads and in writes of the rank with the most */
    sagoi_record_note notes[SAGOI_RECORD_NOTES];
    sagoi_record_passed passed[2]; /* independent calls, collective calls */
    sagoi_record_target targets[SAGOI_RECORD_TARGETS];
    sagoi_heat heat;
} sagoi_record_file;

/* One rank, or neighbouring ranks that share the row. */
typedef struct sagoi_record_row {
    int64_t ranks;
    double seconds[SAGOI_RECORD_PHASES]; /* sums over all ranks of the row */
    double least, most; /* seconds in all of Sago's phases, of the fastest and of the slowest rank of the row */
    int64_t bytes[2];
    double stored, stored_bytes; /* seconds and bytes of requests to the storage, whichever thread waited */
    double waited;               /* seconds of waiting for messages from other nodes */
    char node[48];               /* the ranks' node; "": several */
    sagoi_scale time;
    float bins[SAGOI_RECORD_BINS][SAGOI_RECORD_PHASES]; /* seconds */
} sagoi_record_row;

/* One phase of one call on one rank. */
typedef struct sagoi_record_span {
    double start, seconds; /* start: seconds since 1970 */
    int64_t call;          /* number of the file's collective calls before this one */
    int32_t rank, round;
    int16_t file, phase; /* the phase SAGOI_RECORD_PHASES stands for the I/O thread */
    int32_t stride;      /* the rank kept the spans of every stride-th call only */
} sagoi_record_span;

typedef struct sagoi_record_step {
    int64_t step, bytes;
    double date, held, copy, queue, write, redundancy, drain; /* seconds of the slowest rank */
    int32_t written, level;
} sagoi_record_step;

typedef struct sagoi_record_node {
    char name[64];
    int64_t ranks, peak, budget; /* peak: most bytes that all ranks together used; budget: bytes */
} sagoi_record_node;

/* Calls that open and close files, of the rank that spent most time in both together; calls that sync files, of
 * the rank that spent most time there. */
typedef struct sagoi_record_around {
    int64_t calls;
    double seconds;
} sagoi_record_around;

typedef struct sagoi_record {
    char program[128], mpi[64], version[16], job[64];
    int64_t run;         /* equal on all ranks of a job, and different for each job */
    int64_t ranks, seen; /* ranks of the job; ranks whose records are added up here */
    double begin, end;   /* seconds since 1970 */
    double date;         /* seconds since 1970: when the record was written */
    int64_t complete;    /* 1: the job reached MPI_Finalize */
    double stream; /* bytes a second of one stream to the storage, as `sago tune` measured it; 0: not known */
    sagoi_record_around around[SAGO_REPORT_AROUND];
    int64_t nfiles, nspans, nsteps, nnodes; /* nnodes: nodes that are named */
    int64_t all_nodes;                      /* nodes that are known of; at least nnodes */
    sagoi_record_file *files;               /* at most SAGOI_RECORD_FILES */
    sagoi_record_row *rows[SAGOI_RECORD_ROWS];
    /* For each row: seconds that other ranks waited for messages of the row's ranks. */
    double awaited[SAGOI_RECORD_ROWS];
    sagoi_record_span *spans;
    sagoi_record_step *steps;
    sagoi_record_node *nodes;
} sagoi_record;

/* An empty record; NULL: there is no memory. */
sagoi_record *sagoi_record_create(int64_t ranks);
void sagoi_record_destroy(sagoi_record *record);

/* The entry of a path, or the entry for all other files. */
sagoi_record_file *sagoi_record_find(sagoi_record *record, const char *path);
/* The number of a rank's row; -1: there is no such rank. */
int64_t sagoi_record_row_number(const sagoi_record *record, int64_t rank);
/* The first rank that a row counts. */
int64_t sagoi_record_first_rank(const sagoi_record *record, int64_t row);
/* A rank's row; NULL: there is no memory. */
sagoi_record_row *sagoi_record_row_of(sagoi_record *record, int64_t rank);
/* The entry of a node; NULL: there are too many nodes. */
sagoi_record_node *sagoi_record_node_of(sagoi_record *record, const char *name);
/* Adds what one more rank says of a checkpoint: the times of the slowest rank count. */
void sagoi_record_step_add(sagoi_record *record, const sagoi_record_step *step);
void sagoi_record_note_add(sagoi_record_file *file, const char *text, int64_t count, int64_t once);

/* Adds `seconds` of a phase, or of SAGOI_PHASE_MPI, that ended at `end`. */
void sagoi_row_add(sagoi_record_row *row, int phase, double end, double seconds);
/* Adds `bytes` between two offsets that were moved in `seconds` until `end`. */
void sagoi_heat_add(sagoi_heat *heat, bool write, const int64_t range[2], int64_t bytes, double end,
                    double seconds);
/* The entry that counts one of `count` targets, and how many targets share an entry. */
int64_t sagoi_record_target_entry(int64_t target, int64_t count);
int64_t sagoi_record_target_share(int64_t entry, int64_t count);
/* The bin that counts calls of so many bytes. */
int sagoi_size_bin(int64_t bytes);

/* Adds another record; false: there is no memory, and some of the other record is missing. */
bool sagoi_record_merge(sagoi_record *record, const sagoi_record *more);

/* Gives all rows the same bins. */
void sagoi_record_align(sagoi_record *record);

/* Packs a record into memory of malloc(); NULL: there is no memory. */
char *sagoi_record_pack(const sagoi_record *record, int64_t *bytes);
/* Unpacks a record; NULL: the bytes are no record, or there is no memory. */
sagoi_record *sagoi_record_unpack(const char *packed, int64_t bytes);

#endif
