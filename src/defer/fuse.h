/* Fusing: composed writes of one rank go in, and one composed write comes out.
 *
 * The data is packed, one call after another.  Of places in the file only trains of runs are kept, so that
 * pieces at one distance are four numbers, however many calls brought them.  Calls that ascend in the file
 * become one stream.  No byte of the file is in the fuse twice: a caller who would add such a byte is told so,
 * and first writes what is there. */
#ifndef SAGOI_FUSE_H
#define SAGOI_FUSE_H

#include "engine/compose.h"
#include "store/store.h"

typedef struct sagoi_fused_train {
    int64_t off, len, stride, count; /* offsets and lengths in the file */
} sagoi_fused_train;

/* Ascending trains whose data lies together. */
typedef struct sagoi_fused_part {
    int64_t first;     /* number of the part's first train */
    int64_t at;        /* where the part's data begins */
    int64_t low, high; /* range in the file */
} sagoi_fused_part;

typedef struct sagoi_fuse {
    sagoi_budget *budget;
    char *data;
    int64_t room, used; /* bytes: `room` is for data and trains together */
    sagoi_fused_train *trains;
    int64_t ntrains, trains_capacity;
    sagoi_fused_part *parts; /* in the order of the calls */
    int64_t nparts, parts_capacity;
    sagoi_pattern *patterns; /* patterns of the request that came out */
    int64_t npatterns;
} sagoi_fuse;

void sagoi_fuse_init(sagoi_fuse *fuse, int64_t room, sagoi_budget *budget);
void sagoi_fuse_cleanup(sagoi_fuse *fuse);

typedef enum {
    SAGOI_FUSED,
    SAGOI_FUSE_FULL,    /* there is no room, or no memory: what is in the fuse has to be written first */
    SAGOI_FUSE_CLASHES, /* the call writes bytes that are in the fuse: likewise */
    SAGOI_FUSE_NEVER    /* the call would not fit into an empty fuse either */
} sagoi_fuse_answer;

/* Copies a write in, or leaves everything as it was.  An error comes from the caller's memory on a device. */
sago_status sagoi_fuse_add(sagoi_fuse *fuse, const sagoi_composed *composed, sagoi_fuse_answer *answer)
    SAGOI_CHECKED;

/* Bytes of the room that are used. */
int64_t sagoi_fuse_size(const sagoi_fuse *fuse);
static inline bool sagoi_fuse_empty(const sagoi_fuse *fuse) { return fuse->used == 0; }

/* Adds everything as the streams of `step`, which must be empty; the streams point into the fuse's memory. */
sago_status sagoi_fuse_compose(sagoi_fuse *fuse, sagoi_composed *step) SAGOI_CHECKED;

/* Writes everything straight to the file, in the order in which it was added.  Any thread may call this. */
sago_status sagoi_fuse_store(const sagoi_fuse *fuse, sagoi_store *store) SAGOI_CHECKED;
int64_t sagoi_fuse_end(const sagoi_fuse *fuse); /* end of what was added, in the file */
int64_t sagoi_fuse_runs(const sagoi_fuse *fuse);

/* Empties the fuse; its memory stays allocated for the next calls. */
void sagoi_fuse_reset(sagoi_fuse *fuse);

#endif
