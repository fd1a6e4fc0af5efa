/* What the files of the local tier share: tier.c writes and merges, tier_drain.c copies to the global file in the
 * background, tier_read.c reads where ranks cannot merge, tier_persist.c makes local data outlive the job, and
 * tier_found.c finds what an earlier job has left. */
#ifndef SAGOI_TIER_STATE_H
#define SAGOI_TIER_STATE_H

#include "engine/engine.h"
#include "tier/tier.h"
#include "tier/tier_record.h"

/* Bytes that a rank merges at once, without a hint. */
enum { SAGOI_TIER_CHUNK = 8 << 20 };

/* A view that logged calls still refer to. */
typedef struct sagoi_logged_view {
    sagoi_view view;
    struct sagoi_logged_view *next;
} sagoi_logged_view;

typedef struct sagoi_logged {
    sagoi_origin call; /* where the call wrote; the log owns the extents */
    int64_t key;       /* the call's place in the order of all ranks' calls: odd for collective calls */
    sagoi_range all;   /* range that any rank wrote in a collective call */
    /* Of a collective call: the range that the neighbourhood wrote without a gap; low == high: not known. */
    sagoi_range near;
    bool looked;  /* whether to drain the call was decided */
    bool drained; /* this rank's part of the call is in the global file */
    struct sagoi_logged *next;
} sagoi_logged;

/* Where a neighbourhood keeps its files. */
typedef struct sagoi_tier_place {
    char dir[SAGOI_CKPT_PATH];
    int first;     /* lowest rank of the neighbourhood */
    bool head;     /* this rank is the lowest */
    MPI_Comm near; /* communicator of the ranks that share the directory */
} sagoi_tier_place;

/* What was written down so that local data outlives the job. */
typedef struct sagoi_tier_persisted {
    sagoi_id id;           /* random part of the local files' names */
    bool claimed;          /* a claim may exist; equal on all ranks */
    bool parted;           /* a part may exist, and this rank is to remove it */
    sagoi_claim claim;     /* only rank 0's claim lists the parts */
    sagoi_wire_out blocks; /* the coded calls */
    int64_t nblocks;
    sagoi_logged **next; /* the first call that is not coded yet */
} sagoi_tier_persisted;

struct sagoi_local_tier {
    sagoi_tier_place place;
    sago_file *local; /* the neighbourhood's local file */
    sagoi_logged *first, **last;
    int64_t calls;   /* collective calls in the log; equal on all ranks */
    int64_t end;     /* end of what the collective calls wrote; equal on all ranks */
    int64_t own;     /* independent calls in the log */
    int64_t own_end; /* end of what the independent calls wrote */
    int64_t chunk;   /* bytes that a rank merges at once */
    bool spent;      /* the local file still has data that was merged; equal on all ranks */
    sagoi_logged_view *views;
    sagoi_logged_view *spare; /* allocated before the view of logged calls is replaced, to keep that view */
    sagoi_tier_persisted persisted;
    struct sagoi_drain *prepared; /* calls that may go to the global file in the background */
    struct sagoi_drain *drains;   /* calls that are on their way to the global file */
    char *room;                   /* buffer of `chunk` bytes for the drains; NULL: not allocated */
};

/* ---- tier_drain.c ---- */

typedef struct sagoi_drain sagoi_drain;
/* Does this rank allow draining?  If any rank does not, no call is drained. */
bool sagoi_tier_may_drain(const sago_file *file);
/* Finds the calls whose place in the order does not matter; true: there are some. */
bool sagoi_tier_prepare_drains(sago_file *file);
/* Drains the calls that were prepared, if all ranks agreed to that; else forgets them. */
void sagoi_tier_drain(sago_file *file, bool all_agree);
/* Waits for all drains; `team`: the ranks are still a team, so MPI makes progress during the wait. */
void sagoi_tier_end_drains(sago_file *file, bool team);

/* ---- tier_read.c ---- */

/* Serves an independent read from wherever this rank knows the data to be.  SAGO_ERR_STATE: other ranks have
 * written, or may have written, some of the bytes since the last merge. */
sago_status sagoi_tier_read_alone(sago_file *file, sagoi_composed *composed, int64_t *bytes) SAGOI_CHECKED;

/* ---- tier_persist.c ---- */

/* Codes the runs of a stream; the caller frees the code. */
sago_status sagoi_tier_code_stream(const sagoi_extents *extents, sagoi_wire_out *code) SAGOI_CHECKED;
/* Composes a call without its data, for its place in the file. */
sago_status sagoi_tier_compose_place(sagoi_composed *composed, const sagoi_origin *call) SAGOI_CHECKED;
/* Collective, around a merge.  Without a claim there is nothing to do. */
sago_status sagoi_tier_begin_merge(sago_file *file) SAGOI_CHECKED;
sago_status sagoi_tier_end_merge(sago_file *file) SAGOI_CHECKED;
void sagoi_tier_remove_part(sagoi_local_tier *t);
/* Forgets the coded calls when the log is emptied. */
void sagoi_tier_forget_persisted(sagoi_local_tier *t);
/* Removes what dead jobs have left in a directory, unless a claim says that the data is wanted. */
void sagoi_tier_clear_leftovers(const char *dir);

/* ---- tier_found.c ---- */

/* Collective.  Merges or drops what an earlier job has left of this file, as the hint sago_tier_found says. */
sago_status sagoi_tier_take_found(sago_file *file, const sagoi_tier_place *place) SAGOI_CHECKED;
/* Collective.  Does the same for a file that this job opens for reading only. */
sago_status sagoi_tier_take_found_for_reading(sago_file *file, sagoi_open_fn *open_file) SAGOI_CHECKED;

#endif
