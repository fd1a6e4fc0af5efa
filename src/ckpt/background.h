/* A writer's threads: one writes what the ranks of its group have copied, the other brings steps to the global
 * directory and removes old ones.  They do file I/O only and never call MPI; they block all signals. */
#ifndef SAGOI_CKPT_BACKGROUND_H
#define SAGOI_CKPT_BACKGROUND_H

#include "ckpt/commit.h"
#include "ckpt/lease.h"
#include "ckpt/pool.h"

typedef struct sagoi_background sagoi_background;

typedef enum { SAGOI_JOB_NONE, SAGOI_JOB_PENDING, SAGOI_JOB_DONE, SAGOI_JOB_FAILED } sagoi_job_state;

/* One save at this writer.  Filled by the rank, then the thread's until its states say otherwise. */
typedef struct sagoi_job {
    int64_t step;
    sagoi_id id;
    char *intent; /* encoded; owned */
    int64_t intent_len;
    bool intent_first, intent_global; /* does this writer put the intent at the first level, at the global one? */
    sagoi_part part;                  /* without sums; the blocks are the layout's */
    sagoi_writer_desc place;
    /* under the thread's lock */
    sagoi_job_state first, global; /* the level that is written from memory; the global one if it is another */
    bool started, held;            /* held: may be dropped, the thread leaves it alone */
    sago_status status;            /* the first failure */
    char message[SAGOI_MESSAGE_MAX];
    double queue, write, drain; /* seconds */
    /* of the thread alone */
    sagoi_commit commit;
    bool begun;
    double submitted, opened;
} sagoi_job;

/* What the states of a job are, as of now. */
typedef struct sagoi_job_news {
    sagoi_job_state first, global;
    bool started;
    sago_status status;
    char message[SAGOI_MESSAGE_MAX];
    double queue, write, drain;
} sagoi_job_news;

typedef struct sagoi_background_options {
    const char *dir;   /* global */
    const char *local; /* "" where there is no local level */
    sagoi_pool *pool;
    uint32_t group_size;
    int64_t rate;       /* bytes a second when draining; 0: as fast as it goes */
    sagoi_lease *lease; /* to be looked at between writes, or NULL */
    const sagoi_fence *fence;
    int core; /* to run on; -1: anywhere */
} sagoi_background_options;

sago_status sagoi_background_start(const sagoi_background_options *options, sagoi_background **made) SAGOI_CHECKED;
/* Waits for everything; frees it. */
void sagoi_background_stop(sagoi_background **background);

/* One window of a save. */
typedef struct sagoi_pool_window {
    sagoi_job *job;
    uint32_t number;
    char *data;
    int64_t off, len;
    bool first, last;
} sagoi_pool_window;

/* Hands a window to the thread, or writes it here and now.  `inside`: the caller writes. */
sago_status sagoi_background_window(sagoi_background *background, const sagoi_pool_window *window, bool inside)
    SAGOI_CHECKED;
/* Brings a save that is done at the local level to the global directory.  Those whose `global` is pending from the
 * beginning go there by themselves. */
void sagoi_background_drain(sagoi_background *background, sagoi_job *job);
/* Removes a save's folder at the first level (`local`) or the global one. */
void sagoi_background_remove(sagoi_background *background, bool local, int64_t step, uint64_t id_low);

/* Notes that a save was complete there: whatever happens to it later, it is no leftover. */
void sagoi_background_mark(sagoi_background *background, bool local, int64_t step, uint64_t id_low);

sagoi_job_news sagoi_job_ask(sagoi_background *background, const sagoi_job *job);
/* Waits a little for a change of any job; false: nothing was left to do. */
bool sagoi_background_wait(sagoi_background *background);
/* Is anything left to be written from memory? */
bool sagoi_background_writes(sagoi_background *background);
/* Keeps a job that has not been started from being started: true if it could. */
bool sagoi_job_hold(sagoi_background *background, sagoi_job *job);
/* Takes the windows of a held job out of the queue (drop), or lets it go on. */
void sagoi_job_release(sagoi_background *background, sagoi_job *job, bool drop);

double sagoi_background_cpu(sagoi_background *background);

#endif
