/* Fusing: composed writes of one rank go in, one composed write comes out.
 *
 * The data is packed one call after another; of the file only trains of runs are kept, so that pieces at one
 * distance, however many calls brought them, are four numbers.  Calls that ascend in the file become one stream.
 * No byte of the file is in it twice: whoever would bring one again is told, and what is there goes first. */
#ifndef SAGOI_FUSE_H
#define SAGOI_FUSE_H

#include "engine/compose.h"
#include "store/store.h"

typedef struct sagoi_fused_train {
    int64_t off, len, stride, count; /* in the file */
} sagoi_fused_train;

/* Trains that ascend, and whose data lies together. */
typedef struct sagoi_fused_part {
    int64_t first;     /* of its trains */
    int64_t at;        /* where its data begins */
    int64_t low, high; /* in the file */
} sagoi_fused_part;

typedef struct sagoi_fuse {
    sagoi_budget *budget;
    char *data;
    int64_t room, used; /* bytes: `room` is for data and trains together */
    sagoi_fused_train *trains;
    int64_t ntrains, trains_capacity;
    sagoi_fused_part *parts; /* in the order of the calls */
    int64_t nparts, parts_capacity;
    sagoi_pattern *patterns; /* of the request that came out */
    int64_t npatterns;
} sagoi_fuse;

void sagoi_fuse_init(sagoi_fuse *fuse, int64_t room, sagoi_budget *budget);
void sagoi_fuse_cleanup(sagoi_fuse *fuse);

typedef enum {
    SAGOI_FUSED,
    SAGOI_FUSE_FULL,    /* no room, or no memory: whatever is in there has to go first */
    SAGOI_FUSE_CLASHES, /* it writes bytes that are in there: the same */
    SAGOI_FUSE_NEVER    /* nor would it fit then */
} sagoi_fuse_answer;

/* Copies a write in, or leaves everything as it was.  An error is that of the caller's memory, a device's. */
sago_status sagoi_fuse_add(sagoi_fuse *fuse, const sagoi_composed *composed, sagoi_fuse_answer *answer)
    SAGOI_CHECKED;

/* What it takes of the room so far. */
int64_t sagoi_fuse_size(const sagoi_fuse *fuse);
static inline bool sagoi_fuse_empty(const sagoi_fuse *fuse) { return fuse->used == 0; }

/* Gives everything that was added as the streams of `step`, which is empty before; the streams lead into the
 * fuse's memory. */
sago_status sagoi_fuse_compose(sagoi_fuse *fuse, sagoi_composed *step) SAGOI_CHECKED;

/* Writes all that was added straight to the file, in the order it was added.  Any thread may do so. */
sago_status sagoi_fuse_store(const sagoi_fuse *fuse, sagoi_store *store) SAGOI_CHECKED;
int64_t sagoi_fuse_end(const sagoi_fuse *fuse); /* of what was added, in the file */
int64_t sagoi_fuse_runs(const sagoi_fuse *fuse);

/* Empties the fuse; its memory stays allocated for the next calls. */
void sagoi_fuse_reset(sagoi_fuse *fuse);

#endif
