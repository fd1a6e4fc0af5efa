/* Copying one writer's part from one level to another, with checks on the way.  Never calls MPI. */
#ifndef SAGOI_CKPT_DRAIN_H
#define SAGOI_CKPT_DRAIN_H

#include "ckpt/commit.h"

typedef struct sagoi_drain_plan {
    const char *from, *to; /* directories of the local and of the global level */
    const char *intent;    /* intent to be put there; NULL: another writer does that */
    int64_t intent_len;
    const sagoi_writer_desc *place;
    const sagoi_fence *fence;
    int64_t step;
    sagoi_id id;
    int64_t writer;
    int64_t rate;                 /* bytes a second; 0: no limit */
    sago_status (*pause)(void *); /* called between pieces; an error ends the copy */
    void *pause_arg;
} sagoi_drain_plan;

sago_status sagoi_drain_part(const sagoi_drain_plan *plan) SAGOI_CHECKED;

#endif
