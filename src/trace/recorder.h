/* Records what this process does, for the report (SAGO_REPORT) and the trace (SAGO_TRACE).
 *
 * Off, it costs nothing: all hooks hang on a word that whoever takes a time looks at anyway (base/fiber.h).  On,
 * an event is a few additions under one lock: only what is asked for, report or trace, is added to.  Files are
 * told apart by the address of their statistics, so that whatever ends a phase needs to know nothing more. */
#ifndef SAGOI_RECORDER_H
#define SAGOI_RECORDER_H

#include "trace/rank_record.h"
#include "trace/stats.h"

typedef struct sagoi_recorder_setup {
    int64_t rank, ranks, run;
    int64_t nodes;                             /* of the job, as far as is known */
    const char *program, *mpi, *version, *job; /* what runs */
    const char *node;                          /* where this rank is */
    bool reported;                             /* what the report shows of calls and phases is kept */
    bool traced;                               /* events are kept */
    const char *saved; /* a file that gets this rank's record every few seconds; NULL: none */
    int64_t slot;      /* which of the file's */
} sagoi_recorder_setup;

/* Nothing happens when it is on already. */
sago_status sagoi_recorder_begin(const sagoi_recorder_setup *setup) SAGOI_CHECKED;
/* It is off from here on.  What it has recorded is the caller's; NULL: nothing, or no memory. */
sagoi_record *sagoi_recorder_end(void);

/* What is known of a file that is opened. */
typedef struct sagoi_opened {
    const char *path, *storage, *hints;
    int64_t block, stripe_unit, stripe_count;
    int64_t ranks; /* of its communicator */
    bool leads;    /* this rank is the first of them */
    bool theirs;   /* a layer above counts it in the statistics (trace/tally.h) */
    double stream; /* bytes a second of one stream to the storage that `sago tune` measured; 0: not known */
} sagoi_opened;

void sagoi_recorder_open(const sago_stats *stats, const sagoi_opened *about);
void sagoi_recorder_close(const sago_stats *stats);

/* A call that was done. */
typedef struct sagoi_recorded_call {
    bool write;
    int64_t bytes;    /* moved by this rank, */
    int64_t range[2]; /* between these offsets */
} sagoi_recorded_call;

void sagoi_recorder_call(const sago_stats *stats, const sagoi_recorded_call *call);

/* The I/O thread was busy for `seconds` from `start` on, by sagoi_clock(). */
void sagoi_recorder_io(const sago_stats *stats, double start, double seconds);
/* A request to the storage that took `seconds`, whoever did it; how much of it went to which of the targets. */
typedef struct sagoi_recorded_request {
    double seconds, bytes;
    double parts[SAGOI_RECORD_TARGETS];
} sagoi_recorded_request;

void sagoi_recorder_request(const sago_stats *stats, const sagoi_recorded_request *request);
/* Something that somebody else did with a file. */
void sagoi_recorder_note(const char *path, const char *text, bool leads);
/* A call that the MPI library served and that ends now. */
typedef struct sagoi_recorded_passed {
    bool together, write;
    int64_t bytes;
    double seconds;
} sagoi_recorded_passed;

void sagoi_recorder_passed(const char *path, const sagoi_recorded_passed *call);
/* `seconds` in a call that opens, closes or syncs a file (sago/report.h). */
void sagoi_recorder_around(int call, double seconds);
/* A checkpoint that has come as far as it is to go. */
void sagoi_recorder_step(const sagoi_record_step *step);

#endif
