/* A collective call while it runs: what the files that carry out its steps tell each other.  engine.c has the
 * order of the steps. */
#ifndef SAGOI_COLLECTIVE_H
#define SAGOI_COLLECTIVE_H

#include "engine/engine.h"

/* One collective data access while it runs. */
typedef struct sagoi_call {
    sago_file *file;
    sagoi_composed *composed;
    sagoi_cache_entry *entry;    /* the plan */
    int64_t shift;               /* the request lies this much further on than the plan says */
    int64_t low, high;           /* offsets: the first byte of all ranks, and one past the last */
    sagoi_cache_key key;         /* the shape of the call, by which its plan is found again */
    int64_t all_bytes, all_runs; /* bytes and runs of all ranks */
    int64_t most_runs;           /* runs of the rank that has most */
    uint64_t single_cover;       /* the cover check's sum over the ranks that have one run */
    int64_t size;                /* bytes of the file when the call began, if `sized` */
    int64_t known;               /* the file reaches at least this far: the least that any rank knows */
    /* The pace of gathering between nodes that nobody has described, as the binary logarithm of bytes a second
     * (plan/route.h); 0: not known. */
    int64_t pace_log2;
    int64_t sent;    /* bytes that this rank sent to other nodes in the first round of a write */
    double sending;  /* seconds of that round until nothing was under way */
    bool sized;      /* the size of the file is known, since every rank that was to ask has asked */
    bool trusted;    /* A planned read relies on the known end. */
    bool cut;        /* The file ended earlier than was known. */
    bool first;      /* this rank moved its part before the ranks met */
    bool all_first;  /* every rank moved its part before the ranks met */
    bool sparse;     /* the file has holes, and may be mapped */
    bool staged;     /* some rank's memory is a device's */
    bool in_place;   /* all accessed bytes lie in the file already, and the file has no holes */
    bool hit;        /* the plan was found in the cache */
    bool exceeded;   /* the windows are more than the file may have by now */
    bool exclusive;  /* no other call of the job can write to the file meanwhile */
    bool forgetful;  /* this aggregator had no room to remember all extents that ranks sent */
    bool remembered; /* all aggregators remember the extents from an earlier call */
    bool answered;   /* In a read this rank gets data of every aggregator, or sees that of its node's. */
    bool refused;    /* An aggregator could not read. */
} sagoi_call;

/* enter.c: the agreement that opens a call; sets what all ranks know from then on. */
sago_status sagoi_call_enter(sagoi_call *call, sago_status status) SAGOI_CHECKED;
/* Collective.  Asks for the file's size in a read that turns out to be planned, though no rank had asked. */
sago_status sagoi_call_ask_size(sagoi_call *call) SAGOI_CHECKED;
/* Finds out how far a planned read may go. */
sago_status sagoi_call_find_size(sagoi_call *call) SAGOI_CHECKED;

/* call_plan.c: sets `entry` to the plan that was made for this shape before, or makes the plan. */
sago_status sagoi_call_find_plan(sagoi_call *call) SAGOI_CHECKED;
/* The file, as the planner sees it. */
sagoi_target sagoi_call_target(const sagoi_call *call);

/* The cover check's sum of one run, or of runs that tile the range. */
static inline uint64_t sagoi_cover_of_range(const sago_file *file, int64_t low, int64_t high) {
    return sagoi_mix(file->cover_key, high) - sagoi_mix(file->cover_key, low);
}

/* Do the runs of all ranks, whose sum is `cover`, tile the accessed range? */
static inline bool sagoi_call_is_tiled(const sagoi_call *call, uint64_t cover) {
    return cover == sagoi_cover_of_range(call->file, call->low, call->high);
}

/* ungathered.c: is there nothing to gather, so that no plan is needed? */
bool sagoi_call_gathers_nothing(const sagoi_call *call);
/* Moves this rank's run before the ranks meet, where nothing else is likely to be left to do. */
sago_status sagoi_call_go_first(sagoi_call *call) SAGOI_CHECKED;
/* Moves this rank's run of a call in which nothing is gathered. */
sago_status sagoi_call_run_ungathered(sagoi_call *call) SAGOI_CHECKED;

/* engine.c: counts how the call was served. */
void sagoi_call_count_route(const sagoi_call *call, sago_route route);
/* May a rank end the call without an agreement?  And the end of such a call. */
bool sagoi_call_ends_alone(const sagoi_call *call);
sago_status sagoi_call_end_alone(sagoi_call *call, sago_status status) SAGOI_CHECKED;

/* ---- Strategies that need a call; each moves this rank's request and waits for its I/O ---- */
/* *clock: when the call's last phase ended; then the same of the phases in here.  What follows, the copying, the
 * caller has to time (SAGO_PHASE_GATHER). */
sago_status sagoi_run_mapped(sagoi_call *call, double *clock) SAGOI_CHECKED;
sago_status sagoi_run_aggregated(sagoi_call *call) SAGOI_CHECKED;

/* Collective over the node.  Gets the node-shared memory that a plan needs. */
sago_status sagoi_reserve_windows(sago_file *file, const sagoi_plan *plan) SAGOI_CHECKED;

#endif
