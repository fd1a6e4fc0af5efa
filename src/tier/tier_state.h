/* The local tier's own: what its files share.  tier.c writes and merges, tier_read.c reads where ranks
 * cannot merge, tier_persist.c makes what is local outlive the job, tier_found.c finds what an earlier job has
 * left.
 */
#ifndef SAGOI_TIER_STATE_H
#define SAGOI_TIER_STATE_H

#include "engine/engine.h"
#include "tier/tier.h"
#include "tier/tier_record.h"

/* Without a hint a rank merges so many bytes at once. */
enum { SAGOI_TIER_CHUNK = 8 << 20 };

/* A view that calls still refer to. */
typedef struct sagoi_logged_view {
    sagoi_view view;
    struct sagoi_logged_view *next;
} sagoi_logged_view;

typedef struct sagoi_logged {
    sagoi_origin call; /* where it wrote, with extents of its own */
    int64_t key;       /* its place among the calls of all ranks: odd for collective ones */
    sagoi_range all;   /* a collective one: where any rank wrote, */
    sagoi_range near;  /* and what the neighbourhood wrote without a gap; low == high: not known */
    bool looked;       /* whether to drain it was decided, */
    bool drained;      /* and this rank's part is in the global file */
    struct sagoi_logged *next;
} sagoi_logged;

/* Where a neighbourhood keeps its files. */
typedef struct sagoi_tier_place {
    char dir[SAGOI_CKPT_PATH];
    int first;     /* lowest rank of the neighbourhood */
    bool head;     /* this rank is it */
    MPI_Comm near; /* the ranks that share the directory */
} sagoi_tier_place;

/* What was done so that it outlives the job. */
typedef struct sagoi_tier_persisted {
    sagoi_id id;           /* of the local files' names */
    bool claimed;          /* there may be a claim; the same on all ranks */
    bool parted;           /* there may be a part, and this rank is to remove it */
    sagoi_claim claim;     /* parts: rank 0's */
    sagoi_wire_out blocks; /* the calls, coded */
    int64_t nblocks;
    sagoi_logged **next; /* the first call that is not among them */
} sagoi_tier_persisted;

struct sagoi_local_tier {
    sagoi_tier_place place;
    sago_file *local; /* of the neighbourhood */
    sagoi_logged *first, **last;
    int64_t calls;   /* collective ones in the log; the same on all ranks */
    int64_t end;     /* of what they wrote; the same on all ranks */
    int64_t own;     /* independent ones */
    int64_t own_end; /* of what these wrote */
    int64_t chunk;   /* bytes that a rank merges at once */
    bool spent;      /* the local file has data that is merged; the same on all ranks */
    sagoi_logged_view *views;
    sagoi_logged_view *spare; /* for the view of the calls in the log, when it is replaced */
    sagoi_tier_persisted persisted;
    struct sagoi_drain *prepared; /* calls that may go to the global file in the background, */
    struct sagoi_drain *drains;   /* and those that are on their way */
    char *room;                   /* of `chunk` bytes, for these; NULL: none */
};

/* ---- tier_drain.c ---- */

typedef struct sagoi_drain sagoi_drain;
/* May calls of this rank be drained?  If any rank's may not, none is. */
bool sagoi_tier_may_drain(const sago_file *file);
/* Finds the calls whose order does not matter; true: there are some. */
bool sagoi_tier_prepare_drains(sago_file *file);
/* They go to the global file in the background, if all ranks agree. */
void sagoi_tier_drain(sago_file *file, bool all_agree);
/* Waits for it; `team`: MPI goes on meanwhile. */
void sagoi_tier_end_drains(sago_file *file, bool team);

/* ---- tier_read.c ---- */

/* An independent read: from wherever this rank knows the data to be.  SAGO_ERR_STATE for bytes that other ranks
 * have, or may have, written since the last merge. */
sago_status sagoi_tier_read_alone(sago_file *file, sagoi_composed *composed, int64_t *bytes) SAGOI_CHECKED;

/* ---- tier_persist.c ---- */

/* The code of a stream's runs, to be freed. */
sago_status sagoi_tier_code_stream(const sagoi_extents *extents, sagoi_wire_out *code) SAGOI_CHECKED;
/* A call without its data: only where it goes matters. */
sago_status sagoi_tier_compose_place(sagoi_composed *composed, const sagoi_origin *call) SAGOI_CHECKED;
/* Collective, around a merge; nothing to do without a claim. */
sago_status sagoi_tier_begin_merge(sago_file *file) SAGOI_CHECKED;
sago_status sagoi_tier_end_merge(sago_file *file) SAGOI_CHECKED;
void sagoi_tier_remove_part(sagoi_local_tier *t);
/* The coded calls go with the log. */
void sagoi_tier_forget_persisted(sagoi_local_tier *t);
/* Removes what jobs that died have left in a directory, unless a claim says that it is wanted. */
void sagoi_tier_clear_leftovers(const char *dir);

/* ---- tier_found.c ---- */

/* Collective.  What an earlier job has left of this file is merged, or dropped, as the hint sago_tier_found says.
 */
sago_status sagoi_tier_take_found(sago_file *file, const sagoi_tier_place *place) SAGOI_CHECKED;
/* Collective.  The same for a file that this job does not write to. */
sago_status sagoi_tier_take_found_for_reading(sago_file *file, sagoi_open_fn *open_file) SAGOI_CHECKED;

#endif
