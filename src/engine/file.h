/* An open file: everything that the folders below know about it, in one place. */
#ifndef SAGOI_FILE_H
#define SAGOI_FILE_H

#include <sago/sago.h>

#include <stdatomic.h>

#include "base/budget.h"
#include "base/fiber.h"
#include "base/hints.h"
#include "base/live.h"
#include "engine/cache.h"
#include "engine/exclusive.h"
#include "engine/mapping.h"
#include "engine/job_network.h"
#include "move/mailroom.h"
#include "move/team.h"
#include "plan/route.h"
#include "store/io_task.h"
#include "store/store.h"
#include "trace/stats.h"
#include "view/type_form.h"

/* A file view, flattened. */
typedef struct sagoi_view {
    int64_t disp;
    int64_t etype_size;
    bool solid; /* the view's stream of data is the file from disp on, without gaps */
    sagoi_type_form *filetype;
    sagoi_budget *budget; /* the memory that is kept with the filetype counts here, too */
    int64_t counted;      /* bytes counted in that way */
} sagoi_view;

/* A stage comes between the calls and the file: deferral (defer/), or local storage (tier/).  A file has at most
 * one stage. */
struct sagoi_composed;
typedef struct sagoi_stage {
    /* Collective, before a blocking collective write: decides whether the stage will take that write, which is an
     * input of the write's route.  May be NULL. */
    sago_status (*look)(sago_file *file, const struct sagoi_composed *composed);
    /* Collective: takes a blocking collective write, and may hand this write, or earlier ones, on to the engine.
     */
    sago_status (*write)(sago_file *file, struct sagoi_composed *composed, sago_status status, int64_t *bytes);
    /* Collective: all data that the stage holds goes to the file, before a call that passes the stage by. */
    sago_status (*drain)(sago_file *file, sago_flush reason, bool nonblocking);
    /* Takes an independent call.  NULL: this rank's data in the stage is drained, and the call passes the stage
     * by.
     */
    sago_status (*own)(sago_file *file, struct sagoi_composed *composed, int64_t *bytes);
    sago_status (*drain_own)(sago_file *file);
} sagoi_stage;

struct sago_file {
    /* Fields that small calls use come first and lie together: after a pause a call has to fetch every cache line
     * that it touches. */
    sagoi_live live; /* tells an open file from a closed one */
    sagoi_team *team;
    sagoi_store *store;
    int amode;
    bool timed;               /* sago_timing */
    bool layered;             /* a layer above tells the report how long opening and closing the file took */
    bool reported;            /* all ranks want a report */
    bool unruled;             /* the file has subfiles, but no rule that the ranks agreed on; equal on all ranks */
    sagoi_route_file common;  /* inputs of the calls' routes that are equal on all ranks */
    sagoi_route_own own;      /* inputs of the calls' routes that are this rank's own */
    const sagoi_stage *stage; /* the stage before the file; NULL: none */
    _Atomic int64_t pending;  /* nonblocking calls that are not done */
    struct sagoi_local_tier *tier; /* local storage before the file; NULL: none */
    sagoi_view view;
    int64_t written_end;            /* the largest end of the bytes that this rank wrote by itself */
    int64_t known_end;              /* the file reaches at least this far, unless it was cut since the last sync */
    struct sagoi_pending *deferred; /* deferred writes; NULL without sago_defer */
    sagoi_budget budget;            /* memory of this process that the file uses */
    char *path;
    sago_stats stats;

    /* This rank's kernel, and how this rank opened the file, allow mapping the file.  Only after all ranks have
     * agreed on `unmappable` is common.mappable set, which also follows the hints. */
    bool mappable_here;
    bool unmappable; /* some rank cannot map the file; equal on all ranks */
    sagoi_writable writable;
    sagoi_workqueue *thread;
    sagoi_mapping mapping;
    sagoi_hints hints;
    const sagoi_job_network *network; /* the network and the places of the nodes; owned by the circle */
    int64_t memory_kind;   /* the hint's kind of memory for windows (machine/memory_kind.h); equal on all ranks */
    int64_t node_memory;   /* bytes that this node had for this file at the last plan */
    int64_t memory_free;   /* bytes that the node had free at the last look; kept by the leader */
    double memory_looked;  /* the time of the last look, seconds; 0: never */
    int64_t planned_among; /* files that this process had open at the last plan, this one included */
    int64_t windows_share; /* this rank's share of the node's segment, as counted in the budget */
    uint64_t cover_key;    /* random, the same on all ranks */
    sagoi_cache cache;
    sagoi_mailroom mailroom;    /* message buffers for the exchanges of the cache's entries */
    struct sago_series *series; /* all series declared on this file */
    int64_t started_calls;      /* nonblocking calls started so far */
    sago_request *first, *last; /* nonblocking calls that are not done, in the order they were started */
};

/* Adds the counts of the store and of the budget to the statistics. */
void sagoi_stats_fill(const sago_file *file, sago_stats *stats);
/* Tells the recorder of a request to the storage; called only while recording is on. */
void sagoi_record_request(sago_file *file, const sagoi_io_run *runs, int64_t n, double seconds);
/* Tells the report (trace/recorder.h) of a call that this rank has done: bytes moved, and between which offsets.
 */
void sagoi_record_done(sago_file *file, bool write, int64_t low, int64_t high, int64_t bytes);

/* Times the work that a rank does alone, unless the hint sago_timing is off. */
static inline double sagoi_phase_begin(const sago_file *file) { return file->timed ? sagoi_now() : 0; }

static inline double sagoi_phase_next(sago_file *file, sago_phase phase, double start) {
    return file->timed ? sagoi_phase_end(&file->stats, phase, start) : 0;
}

#endif
