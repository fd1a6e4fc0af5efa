/* What the engine offers to the folders above, and to the other files of its own: collective calls from agreeing
 * on them to agreeing on their outcome, a rank on its own, and tasks of the I/O thread. */
#ifndef SAGOI_ENGINE_H
#define SAGOI_ENGINE_H

#include "engine/compose.h"
#include "engine/file.h"

/* Collective.  Serves a request together with the other ranks.  `status` is what the caller found wrong with the
 * arguments, if anything: then every rank gets that status, and no bytes are moved but those of ranks that moved
 * their part before the ranks met (sagoi_route_goes_first()).  *bytes: what this rank moved. */
sago_status sagoi_engine_run(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes)
    SAGOI_CHECKED;

/* Collective.  Makes the plan of a request that will be run later, and keeps the plan.  Moves no data. */
sago_status sagoi_engine_prepare(sago_file *file, sagoi_composed *composed) SAGOI_CHECKED;

/* Not collective.  Moves this rank's runs, by the method that the rank's route says (plan/route.h).  A method is
 * chosen only where none was chosen before. */
sago_status sagoi_engine_alone(sago_file *file, sagoi_composed *composed, sagoi_lone_part *part, int64_t *bytes)
    SAGOI_CHECKED;

/* Is this an error after which the ranks can go on by other means, if all of them get it?  Memory is short, or the
 * call is more than the file system or the MPI library supports. */
static inline bool sagoi_is_beyond(sago_status status) {
    return status == SAGO_ERR_MEMORY || status == SAGO_ERR_UNSUPPORTED;
}

/* Ends a collective call in which this rank went alone.  A rank alone cannot go on by other means, so failures
 * after which all ranks together could are counted. */
static inline sago_status sagoi_engine_end_alone(sago_file *file, sago_status status) {
    sagoi_tell_done(file->team);
    file->stats.separate_calls++;
    file->stats.separate_failures += sagoi_is_beyond(status);
    return status;
}

static inline sagoi_memory_form sagoi_memory_form_of(const sagoi_memory *memory) {
    if (memory->staging)
        return SAGOI_MEMORY_DEVICE;
    return memory->extents.pattern ? SAGOI_MEMORY_PIECES : SAGOI_MEMORY_WHOLE;
}

/* Moves one run by one system call. */
sago_status sagoi_engine_piece(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                               int64_t *bytes) SAGOI_CHECKED;

/* The request of this rank, as the functions of plan/route.h see it. */
sagoi_route_wanted sagoi_engine_wanted(const sagoi_composed *composed);
/* Chooses how this rank would serve its part alone; asks the file system where the answer depends on it. */
void sagoi_engine_choose(const sago_file *file, const sagoi_composed *composed, sagoi_lone_part *part);
/* Seconds that a nonblocking call waits for the other ranks before it goes alone. */
double sagoi_engine_worth_waiting(const sago_file *file, const sagoi_composed *composed);

/* Reads the whole range [start, end) into a buffer, and copies this rank's runs out of the buffer. */
sago_status sagoi_read_through(sago_file *file, const sagoi_request *request, int64_t start, int64_t end,
                               int64_t *moved) SAGOI_CHECKED;

/* Moves this rank's runs without a look at the clock.  Where the memory is contiguous the function uses nothing
 * but the store, so that another thread may be in a collective call on this file. */
sago_status sagoi_move_alone(sago_file *file, const sagoi_composed *composed) SAGOI_CHECKED;

/* What ranks tell each other about writes that they put off, so that all decide alike when to move them. */
typedef struct sagoi_deferral_facts {
    int64_t calls;   /* put off since the last agreement: the same on all ranks, or the call fails */
    int64_t largest; /* bytes of the largest call; becomes the largest of all ranks */
    int64_t room;    /* bytes of room for deferred data; becomes the smallest of all ranks */
    bool harmful;    /* going alone did harm (sagoi_deferral_harms()); becomes true if it did on any rank */
} sagoi_deferral_facts;

/* Collective.  *late is an error of an earlier call that no call has returned yet; *late becomes the worst error
 * of all ranks, with that error's message. */
sago_status sagoi_engine_agree_deferral(sago_file *file, sagoi_deferral_facts *facts, sago_status *late)
    SAGOI_CHECKED;

/* Moves runs in the caller's thread; *bytes (reads): how many came. */
sago_status sagoi_move_runs(sago_file *file, sagoi_direction direction, const sagoi_io_run *runs, int64_t n,
                            int64_t *bytes) SAGOI_CHECKED;
/* ---- Strategies; each moves this rank's request and waits for its I/O ---- */
/* Reads runs as sagoi_store_read() does, with help of the I/O thread where that pays.  The runs come back
 * unchanged. */
sago_status sagoi_read_runs(sago_file *file, sagoi_io_run *runs, int64_t n, int64_t *bytes) SAGOI_CHECKED;
sago_status sagoi_run_direct(sago_file *file, const sagoi_composed *composed) SAGOI_CHECKED;
/* ---- File I/O of a call (io.c) ---- */

/* Begins a task: by the file's I/O thread, or by the caller, and then the task is done on return. */
void sagoi_task_begin(sago_file *file, sagoi_task *task, sagoi_worker worker);
/* Waits for a task; meanwhile MPI, and the other calls that this process has under way, go on. */
sago_status sagoi_task_finish(sago_file *file, sagoi_task *task) SAGOI_CHECKED;

/* Frees the message buffers kept for the next call. */
void sagoi_drop_exchanges(sago_file *file);

/* What ranks meet for.  Ranks compare these numbers, so that a rank in another call is found. */
typedef enum {
    SAGOI_MEETING_ACCESS_WRITE = 1,
    SAGOI_MEETING_ACCESS_READ,
    SAGOI_MEETING_START_WRITE, /* nonblocking */
    SAGOI_MEETING_START_READ,
    SAGOI_MEETING_STEP,
    SAGOI_MEETING_FLUSH,
    SAGOI_MEETING_ASK, /* whether to go alone in a call */
    SAGOI_MEETING_START_ASK,
    SAGOI_MEETING_FIND_SIZE, /* the size of a file for a read that is planned after all */
    /* Calls that move no data. */
    SAGOI_MEETING_VIEW,
    SAGOI_MEETING_SYNC,
    SAGOI_MEETING_SET_SIZE,
    SAGOI_MEETING_PREALLOCATE,
    SAGOI_MEETING_CLOSE,
    SAGOI_MEETING_DECLARE,
    SAGOI_MEETING_NEXT,
    SAGOI_MEETING_FREE,
    SAGOI_MEETING_SYNC_LOCAL,
    SAGOI_MEETING_TIER,      /* argument 0: a write to local storage, 1: a merge */
    SAGOI_MEETING_TIER_HOLDS /* asks whether local storage holds anything to merge */
} sagoi_meeting;

/* Collective.  Ranks agree on a call that moves no data: on the status, the meeting, and one argument that must
 * be the same on all ranks. */
sago_status sagoi_engine_agree(sago_file *file, sago_status status, sagoi_meeting meeting, int64_t argument)
    SAGOI_CHECKED;
/* Collective.  Like sagoi_engine_agree() without an argument; *any tells whether `mine` is true on any rank. */
sago_status sagoi_engine_agree_any(sago_file *file, sago_status status, sagoi_meeting meeting, bool mine,
                                   bool *any) SAGOI_CHECKED;

/* Makes this rank's part of the file's data durable. */
sago_status sagoi_sync_here(const sago_file *file) SAGOI_CHECKED;

#endif
