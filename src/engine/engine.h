/* Runs a plan: one collective call from agreeing on it to agreeing on its outcome. */
#ifndef SAGOI_ENGINE_H
#define SAGOI_ENGINE_H

#include "engine/compose.h"
#include "engine/file.h"

/* One collective data access while it runs. */
typedef struct sagoi_call {
    sago_file *file;
    sagoi_composed *composed;
    sagoi_cache_entry *entry; /* its plan */
    int64_t shift;            /* the request lies this much further on than the plan says */
    int64_t low, high;        /* of all ranks */
    int64_t most_runs;        /* of any rank */
    int64_t size;             /* of the file when the call began, if it is known: */
    int64_t pace;   /* of gathering between nodes, where nobody has described the network; 0: not known */
    int64_t sent;   /* by this rank to other nodes in the first round of a write, */
    double sending; /* and the seconds of that round until nothing was under way */
    bool sized;
    bool first;     /* this rank has moved its part before the ranks met, */
    bool all_first; /* and so have all of them */
    bool sparse;    /* the file has holes */
    bool staged;    /* some rank's memory is a device's */
    bool in_place;  /* all that is accessed lies in the file already, and it has no holes */
    bool hit;       /* the plan was there already */
    bool exclusive; /* nobody writes to the file meanwhile but by this call */
    bool forgetful; /* this aggregator could not remember all extents it was sent */
} sagoi_call;

/* Collective.  `status` is what the caller found wrong with its arguments, if anything: then every rank gets that
 * status, and nothing is moved but what others moved before they knew (sagoi_route_goes_first()).  *bytes: what
 * this rank moved. */
sago_status sagoi_engine_run(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes)
    SAGOI_CHECKED;

/* Collective.  Makes the plan of a request that will be run later, and keeps it.  Moves no data. */
sago_status sagoi_engine_prepare(sago_file *file, sagoi_composed *composed) SAGOI_CHECKED;

/* Not collective: this rank's runs, by the method that its route says (plan/route.h). */
sago_status sagoi_engine_alone(sago_file *file, sagoi_composed *composed, int64_t *bytes) SAGOI_CHECKED;

static inline sagoi_memory_form sagoi_memory_form_of(const sagoi_memory *memory) {
    if (memory->staging)
        return SAGOI_MEMORY_DEVICE;
    return memory->extents.pattern ? SAGOI_MEMORY_PIECES : SAGOI_MEMORY_WHOLE;
}

/* Moves it by one system call. */
sago_status sagoi_engine_piece(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                               int64_t *bytes) SAGOI_CHECKED;

/* What this rank wants moved, for its route. */
sagoi_route_wanted sagoi_engine_wanted(const sagoi_composed *composed);
/* How this rank would serve its part alone; the file system may be asked. */
void sagoi_engine_choose(const sago_file *file, sagoi_route_call call, const sagoi_composed *composed,
                         sagoi_route *route);
/* Seconds that a nonblocking call waits for the others to come. */
double sagoi_engine_worth_waiting(const sago_file *file, const sagoi_composed *composed);

/* Reads [start, end) whole into a buffer, and this rank's runs from there. */
sago_status sagoi_read_through(sago_file *file, const sagoi_request *request, int64_t start, int64_t end,
                               int64_t *moved) SAGOI_CHECKED;

/* The same without a look at the clock.  Where the memory is contiguous it only uses the store, so that another
 * thread may be in a collective call on this file. */
sago_status sagoi_move_alone(sago_file *file, const sagoi_composed *composed) SAGOI_CHECKED;

/* What ranks tell each other about writes that they put off, so that all decide alike when to move them. */
typedef struct sagoi_deferral_facts {
    int64_t calls;   /* put off since the last time: must be the same on all ranks */
    int64_t largest; /* bytes that a call took; of all ranks the largest, */
    int64_t room;    /* bytes there are for them; the smallest, */
    bool harmful;    /* going alone was; any */
} sagoi_deferral_facts;

/* Collective.  *late: an error of a call before, that nobody has been told; becomes the worst of all ranks, with
 * its message. */
sago_status sagoi_engine_agree_deferral(sago_file *file, sagoi_deferral_facts *facts, sago_status *late)
    SAGOI_CHECKED;

/* ---- Strategies; each moves this rank's request and waits for its I/O ---- */
/* Reads runs as sagoi_store_read() does, by this rank, with help of the I/O thread where that pays.  The runs are
 * the caller's again, as they were. */
sago_status sagoi_read_runs(sago_file *file, sagoi_io_run *runs, int64_t n, int64_t *bytes) SAGOI_CHECKED;
sago_status sagoi_run_direct(sago_file *file, const sagoi_composed *composed) SAGOI_CHECKED;
sago_status sagoi_run_mapped(sagoi_call *call) SAGOI_CHECKED;
sago_status sagoi_run_aggregated(sagoi_call *call) SAGOI_CHECKED;

/* ---- File I/O of a call (io.c) ---- */

/* Begins it: by the file's thread, or here, where it is done on return. */
void sagoi_task_begin(sago_file *file, sagoi_task *task, sagoi_worker worker);
/* Waits for it; MPI, and whatever else this process has under way, goes on. */
sago_status sagoi_task_finish(sago_file *file, sagoi_task *task) SAGOI_CHECKED;

/* Frees the message buffers kept for the next call. */
void sagoi_drop_exchanges(sago_file *file);

/* Node-shared memory for a plan; collective over the node. */
sago_status sagoi_reserve_windows(sago_file *file, const sagoi_plan *plan) SAGOI_CHECKED;

/* What kind of collective call this is, for finding ranks that are in another one. */
typedef enum {
    SAGOI_KIND_ACCESS_WRITE = 1,
    SAGOI_KIND_ACCESS_READ,
    SAGOI_KIND_START_WRITE, /* nonblocking */
    SAGOI_KIND_START_READ,
    SAGOI_KIND_STEP,
    SAGOI_KIND_FLUSH,
    SAGOI_KIND_ASK, /* whether to go alone in a call */
    SAGOI_KIND_START_ASK,
    SAGOI_KIND_SIZE, /* of a read that is planned after all */
    SAGOI_KIND_OTHER
} sagoi_kind;

/* Collective calls that move no data, for noticing ranks that are in another one. */
enum {
    SAGOI_CALL_VIEW = SAGOI_KIND_OTHER,
    SAGOI_CALL_SYNC,
    SAGOI_CALL_SIZE,
    SAGOI_CALL_PREALLOCATE,
    SAGOI_CALL_CLOSE,
    SAGOI_CALL_DECLARE,
    SAGOI_CALL_NEXT,
    SAGOI_CALL_FREE,
    SAGOI_CALL_SYNC_LOCAL,
    SAGOI_CALL_TIER,      /* argument 0: a write to local storage, 1: a merge */
    SAGOI_CALL_TIER_HOLDS /* is there anything to merge? */
};

/* Ranks agree on a call that moves no data: its status, its kind and one argument that must be the same. */
sago_status sagoi_engine_agree(sago_file *file, sago_status status, int64_t kind, int64_t argument) SAGOI_CHECKED;
/* The same without an argument, and whether `mine` is true on any rank. */
sago_status sagoi_engine_agree_any(sago_file *file, sago_status status, int64_t kind, bool mine, bool *any)
    SAGOI_CHECKED;

/* This rank's part in bringing the file's data to its device. */
sago_status sagoi_sync_here(const sago_file *file) SAGOI_CHECKED;

#endif
