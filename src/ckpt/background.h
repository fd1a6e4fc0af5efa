/* The threads of a writer: one writes what the ranks of its group have copied, the other brings steps to the
 * global directory and removes old ones.  They only do file I/O, never call MPI, and block all signals. */
#ifndef SAGOI_CKPT_BACKGROUND_H
#define SAGOI_CKPT_BACKGROUND_H

#include "ckpt/commit.h"
#include "ckpt/lease.h"
#include "ckpt/pool.h"

typedef struct sagoi_background sagoi_background;

typedef enum { SAGOI_JOB_NONE, SAGOI_JOB_PENDING, SAGOI_JOB_DONE, SAGOI_JOB_FAILED } sagoi_job_state;

/* One save at this writer.  The rank fills it in; then it is the thread's, until its states say otherwise. */
typedef struct sagoi_job {
    int64_t step;
    sagoi_id id;
    char *intent; /* encoded; owned */
    int64_t intent_len;
    bool intent_first, intent_global; /* this writer puts the intent at the first level; at the global level */
    sagoi_part part;                  /* without sums; the blocks belong to the layout */
    sagoi_writer_desc place;
    /* guarded by the lock */
    /* States at the level that is written from memory, and at the global level if that is another one. */
    sagoi_job_state first, global;
    bool started, held; /* held: the thread leaves the job alone, since it may be dropped */
    sago_status status; /* status of the first failure */
    char message[SAGOI_MESSAGE_MAX];
    double queue, write, drain; /* seconds */
    /* used by the thread alone */
    sagoi_commit commit;
    bool begun;
    double submitted, opened;
} sagoi_job;

/* The present states of a job. */
typedef struct sagoi_job_news {
    sagoi_job_state first, global;
    bool started;
    sago_status status;
    char message[SAGOI_MESSAGE_MAX];
    double queue, write, drain;
} sagoi_job_news;

typedef struct sagoi_background_options {
    const char *dir;   /* global */
    const char *local; /* directory of the local level; "": there is none */
    sagoi_pool *pool;
    uint32_t group_size;
    int64_t rate;       /* bytes a second when draining; 0: no limit */
    sagoi_lease *lease; /* looked at between writes; NULL: none */
    const sagoi_fence *fence;
    int core; /* core of the threads; -1: any */
} sagoi_background_options;

sago_status sagoi_background_start(const sagoi_background_options *options, sagoi_background **made) SAGOI_CHECKED;
/* Waits for all work, and frees the threads. */
void sagoi_background_stop(sagoi_background **background);

/* One window of a save. */
typedef struct sagoi_pool_window {
    sagoi_job *job;
    uint32_t number;
    char *data;
    int64_t off, len;
    bool first, last;
} sagoi_pool_window;

/* Hands a window to the thread, or writes it at once.  `inside`: the caller writes. */
sago_status sagoi_background_window(sagoi_background *background, const sagoi_pool_window *window, bool inside)
    SAGOI_CHECKED;
/* Brings a save that is complete at the local level to the global directory.  A save whose `global` is pending
 * from the beginning goes there by itself. */
void sagoi_background_drain(sagoi_background *background, sagoi_job *job);
/* Removes a save's folder at the first level (`local`) or at the global level. */
void sagoi_background_remove(sagoi_background *background, bool local, int64_t step, uint64_t id_low);

/* Notes that a save was complete at a level, so that it never counts as a leftover, whatever happens to it
 * later. */
void sagoi_background_mark(sagoi_background *background, bool local, int64_t step, uint64_t id_low);

sagoi_job_news sagoi_job_ask(sagoi_background *background, const sagoi_job *job);
/* Waits a little for a change of any job; false: no work is left. */
bool sagoi_background_wait(sagoi_background *background);
/* Is anything left to be written from memory? */
bool sagoi_background_writes(sagoi_background *background);
/* Keeps a job that has not started from starting; true: it had not. */
bool sagoi_job_hold(sagoi_background *background, sagoi_job *job);
/* Takes the windows of a held job out of the queue (drop), or lets the job go on. */
void sagoi_job_release(sagoi_background *background, sagoi_job *job, bool drop);

double sagoi_background_cpu(sagoi_background *background);

#endif
