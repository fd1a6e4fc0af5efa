/* Records what this process does, for the report (SAGO_REPORT) and the trace (SAGO_TRACE).
 *
 * While recording is off it costs nothing: its switch is a bit of a word that every function looks at which
 * takes a time (base/fiber.h).  While it is on, only what the report or the trace needs is kept.  An event of the
 * trace takes no lock; an event of the report takes a few additions under one lock.  The recorder tells files
 * apart by the address of their statistics, so that the end of a phase needs no other argument. */
#ifndef SAGOI_RECORDER_H
#define SAGOI_RECORDER_H

#include "trace/rank_record.h"
#include "trace/stats.h"

typedef struct sagoi_recorder_setup {
    int64_t rank, ranks, run;
    int64_t nodes;                             /* nodes of the job, as far as known */
    const char *program, *mpi, *version, *job; /* what the job runs */
    const char *node;                          /* name of this rank's node */
    bool reported;                             /* a report is wanted, so calls and phases are counted */
    bool traced;                               /* a trace is wanted, so events are kept */
    const char *saved; /* file that gets this rank's record every few seconds; NULL: none */
    int64_t slot;      /* number of this rank's slot in the file `saved` */
} sagoi_recorder_setup;

/* Begins to record; does nothing if recording is on already. */
sago_status sagoi_recorder_begin(const sagoi_recorder_setup *setup) SAGOI_CHECKED;
/* Ends recording.  The caller owns the record that is returned; NULL: nothing was recorded, or there was no
 * memory. */
sagoi_record *sagoi_recorder_end(void);

/* What is known of a file that is opened. */
typedef struct sagoi_opened {
    const char *path, *storage, *hints;
    int64_t block, stripe_unit, stripe_count;
    int64_t ranks; /* ranks of the file's communicator */
    bool first;    /* this rank is the first rank of the file */
    bool theirs;   /* a layer above counts the file in the statistics (trace/tally.h) */
    double stream; /* bytes a second of one stream to the storage, as `sago tune` measured it; 0: not known */
} sagoi_opened;

void sagoi_recorder_open(const sago_stats *stats, const sagoi_opened *about);
void sagoi_recorder_close(const sago_stats *stats);

/* A call that is done. */
typedef struct sagoi_recorded_call {
    bool write;
    int64_t bytes;    /* bytes that this rank moved */
    int64_t range[2]; /* offsets between which the bytes lie */
} sagoi_recorded_call;

void sagoi_recorder_call(const sago_stats *stats, const sagoi_recorded_call *call);

/* The I/O thread was busy for `seconds` from `start` on, by sagoi_clock(). */
void sagoi_recorder_io(const sago_stats *stats, double start, double seconds);
/* A request to the storage that took `seconds`, whichever thread made it, and its bytes to each target. */
typedef struct sagoi_recorded_request {
    double seconds, bytes;
    double parts[SAGOI_RECORD_TARGETS];
} sagoi_recorded_request;

void sagoi_recorder_request(const sago_stats *stats, const sagoi_recorded_request *request);
/* A layer above did something with a file. */
void sagoi_recorder_note(const char *path, const char *text, bool first);
/* A call that the MPI library served, and that ends now. */
typedef struct sagoi_recorded_passed {
    bool together, write;
    int64_t bytes;
    double seconds;
} sagoi_recorded_passed;

void sagoi_recorder_passed(const char *path, const sagoi_recorded_passed *call);
/* `seconds` were spent in a call that opens, closes or syncs a file (sago/report.h). */
void sagoi_recorder_around(int call, double seconds);
/* A checkpoint has reached the last level that it goes to. */
void sagoi_recorder_step(const sagoi_record_step *step);

#endif
