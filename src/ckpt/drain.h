/* Copying one writer's part from one level to another, checked on the way.  Never calls MPI. */
#ifndef SAGOI_CKPT_DRAIN_H
#define SAGOI_CKPT_DRAIN_H

#include "ckpt/commit.h"

typedef struct sagoi_drain_plan {
    const char *from, *to; /* directories of the local and the global level */
    const char *intent;    /* to be put there; NULL: another writer does */
    int64_t intent_len;
    const sagoi_writer_desc *place;
    const sagoi_fence *fence;
    int64_t step;
    sagoi_id id;
    int64_t writer;
    int64_t rate;                 /* bytes a second; 0: as fast as it goes */
    sago_status (*pause)(void *); /* called between pieces; an error ends it */
    void *pause_arg;
} sagoi_drain_plan;

sago_status sagoi_drain_part(const sagoi_drain_plan *plan) SAGOI_CHECKED;

#endif
