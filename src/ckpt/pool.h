/* The buffers that a save is copied into: memory that the ranks of a node share, so that every rank copies its
 * arrays straight to the place from which its writer's thread writes them.
 *
 * A save goes through windows, which are numbered through the life of the pool; window n is in slot n % slots.
 * If memory allows, a window holds the whole stream of the group, and there are two slots: the next save is
 * copied while the last one is written. */
#ifndef SAGOI_CKPT_POOL_H
#define SAGOI_CKPT_POOL_H

#include <stdatomic.h>

#include "base/futex.h"
#include "move/team.h"

enum { SAGOI_POOL_SLOTS = 2, SAGOI_POOL_WHY = 256 };

/* State of one group, in shared memory. */
typedef struct sagoi_pool_group {
    _Alignas(64) sagoi_futex written;                  /* number of windows that are free again */
    _Alignas(64) sagoi_futex filled[SAGOI_POOL_SLOTS]; /* ranks that have copied their bytes */
    _Atomic int32_t spoiled[SAGOI_POOL_SLOTS];         /* 1 + the number of a rank that could not copy */
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
    const int64_t *bytes; /* bytes of the stream of each group of the node */
    int64_t groups, mine; /* number of groups; this rank's group */
    int64_t piece;
    int64_t memory; /* bytes that the pool may use on this node */
} sagoi_pool_wish;

/* Collective over the node; no rank may be using the pool. */
sago_status sagoi_pool_resize(sagoi_pool *pool, sagoi_team *team, const sagoi_pool_wish *wish) SAGOI_CHECKED;
void sagoi_pool_release(sagoi_pool *pool);

/* Is this group's slot free for the next window?  A rank on another node than its writer does not know. */
bool sagoi_pool_free(const sagoi_pool *pool);
/* Waits until the slot is free, and gives its memory.  SAGO_ERR_PEER: a process has died. */
sago_status sagoi_pool_claim(sagoi_pool *pool, sagoi_team *team, char **window) SAGOI_CHECKED;
/* Says that this rank could not copy all its bytes to the window it claimed, which it has to fill all the same;
 * the thread's message tells why.  The first such rank counts. */
void sagoi_pool_spoil(sagoi_pool *pool, int rank);
/* Called by the writer when all ranks have filled window n: could all of them copy? */
sago_status sagoi_pool_check(const sagoi_pool *pool, uint32_t n) SAGOI_CHECKED;
/* Called by the writer for `ranks` ranks of other nodes, whose bytes are in the window it claimed. */
void sagoi_pool_fill_for(sagoi_pool *pool, uint32_t ranks);
/* Says that this rank has copied its bytes of the window it claimed. */
void sagoi_pool_fill(sagoi_pool *pool);

/* Called by a writer that writes by itself: waits until all `ranks` ranks have filled window n.  SAGO_ERR_PEER: a
 * process has died. */
sago_status sagoi_pool_wait(sagoi_pool *pool, sagoi_team *team, uint32_t n, uint32_t ranks) SAGOI_CHECKED;
/* Called by the writer's thread: waits until all `ranks` ranks have filled window n; false: *stop was set
 * before. */
bool sagoi_pool_await(sagoi_pool *pool, uint32_t n, uint32_t ranks, const atomic_bool *stop);
/* Called by a writer that has not begun with it: the next window is filled anew. */
void sagoi_pool_take_back(sagoi_pool *pool);
/* Says that window n was written, so that its slot is free. */
void sagoi_pool_done(sagoi_pool *pool, uint32_t n);

#endif
