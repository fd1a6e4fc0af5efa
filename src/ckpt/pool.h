/* The buffers that a save is copied into: memory that the ranks of a node share, so that every rank copies its own
 * arrays straight to where its writer's thread writes them from.
 *
 * A save goes through windows, numbered through the life of the pool; window n is in slot n % slots.  Where memory
 * allows, one window is the whole stream of the group, and there are two slots: the next save is copied while the
 * last one is written. */
#ifndef SAGOI_CKPT_POOL_H
#define SAGOI_CKPT_POOL_H

#include <stdatomic.h>

#include "base/futex.h"
#include "move/team.h"

enum { SAGOI_POOL_SLOTS = 2, SAGOI_POOL_WHY = 256 };

/* Of one group, in shared memory. */
typedef struct sagoi_pool_group {
    _Alignas(64) sagoi_futex written;                  /* windows that are free again */
    _Alignas(64) sagoi_futex filled[SAGOI_POOL_SLOTS]; /* ranks that have copied theirs */
    _Atomic int32_t spoiled[SAGOI_POOL_SLOTS];         /* 1 + a rank that could not */
    char why[SAGOI_POOL_SLOTS][SAGOI_POOL_WHY];
} sagoi_pool_group;

typedef struct sagoi_pool {
    sagoi_segment segment;
    int64_t slots, window; /* bytes of a window of this group */
    sagoi_pool_group *group;
    char *slot[SAGOI_POOL_SLOTS];
    uint32_t next; /* number of the next window */
} sagoi_pool;

/* What the groups of this node need. */
typedef struct sagoi_pool_wish {
    const int64_t *bytes; /* stream of each group of the node */
    int64_t groups, mine; /* how many; which is this rank's */
    int64_t piece;
    int64_t memory; /* the pool may use on this node */
} sagoi_pool_wish;

/* Collective over the node; nobody may be using the pool. */
sago_status sagoi_pool_resize(sagoi_pool *pool, sagoi_team *team, const sagoi_pool_wish *wish) SAGOI_CHECKED;
void sagoi_pool_release(sagoi_pool *pool);

/* Is a slot free for the next window, as far as this group is concerned?  Who is away from its writer does not
 * know. */
bool sagoi_pool_free(const sagoi_pool *pool);
/* Waits until it is; gives the memory.  SAGO_ERR_PEER: somebody died. */
sago_status sagoi_pool_claim(sagoi_pool *pool, sagoi_team *team, char **window) SAGOI_CHECKED;
/* This rank could not copy all it has to the window it claimed, which it has to fill all the same; the message
 * says why.  Of several the first counts. */
void sagoi_pool_spoil(sagoi_pool *pool, int rank);
/* By the writer, when all have filled window n: could all copy? */
sago_status sagoi_pool_check(const sagoi_pool *pool, uint32_t n) SAGOI_CHECKED;
/* By the writer, for `ranks` ranks of other nodes, whose bytes are in the window it claimed. */
void sagoi_pool_fill_for(sagoi_pool *pool, uint32_t ranks);
/* This rank has copied what it has of the window it claimed. */
void sagoi_pool_fill(sagoi_pool *pool);

/* By a writer that writes by itself: waits until all `ranks` have filled window n.  SAGO_ERR_PEER: somebody died.
 */
sago_status sagoi_pool_wait(sagoi_pool *pool, sagoi_team *team, uint32_t n, uint32_t ranks) SAGOI_CHECKED;
/* By the writer's thread: waits until all `ranks` have filled window n; false when *stop was set first. */
bool sagoi_pool_await(sagoi_pool *pool, uint32_t n, uint32_t ranks, const atomic_bool *stop);
/* By a writer that has not begun with it: the next window is to be filled anew. */
void sagoi_pool_take_back(sagoi_pool *pool);
/* Window n has been written: its slot is free. */
void sagoi_pool_done(sagoi_pool *pool, uint32_t n);

#endif
