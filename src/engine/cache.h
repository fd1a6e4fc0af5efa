/* Plans kept for shapes that come again.
 *
 * The key is the sum over the ranks of their requests' fingerprints, taken relative to each rank's first
 * offset; where all of them moved by the same distance, the plan moves with them.  Caches of all ranks get the
 * same entries in the same order, so a hit on one is a hit on all. */
#ifndef SAGOI_CACHE_H
#define SAGOI_CACHE_H

#include "base/budget.h"
#include "base/hash.h"
#include "move/remembered.h"
#include "plan/plan.h"

typedef struct sagoi_cache_key {
    sagoi_hash shape;  /* sum over the ranks */
    uint64_t weighted; /* sum over the ranks with data of weight(rank) * first offset */
    uint64_t weights;  /* sum of those weights */
    int64_t low;       /* first offset of all */
} sagoi_cache_key;

typedef struct sagoi_cache_entry {
    sagoi_cache_key key;
    sagoi_plan plan;
    sagoi_remembered received;       /* what an aggregator remembers of the extents it was sent */
    struct sagoi_exchange *exchange; /* ready for the next call; NULL: the next call makes one */
    struct sagoi_rma *rma;           /* the same for one-sided movement */
    uint64_t last_use;
    bool used;
} sagoi_cache_entry;

typedef struct sagoi_cache {
    sagoi_cache_entry *entries;
    int64_t capacity; /* of entries; 0 until one is needed: ranks that go alone plan nothing */
    int64_t most;     /* the capacity that the first entry brings */
    uint64_t clock;
    struct sagoi_rma *aside; /* of plans that were dropped; the same on all ranks */
    sagoi_budget *budget;    /* not owned */
} sagoi_cache;

void sagoi_cache_init(sagoi_cache *cache, int64_t capacity, sagoi_budget *budget);
/* Fine on a zeroed struct, and twice; collective if something was moved one-sided. */
void sagoi_cache_cleanup(sagoi_cache *cache);

/* The entry for this shape, moved by *shift bytes, a multiple of `alignment`; NULL: not there. */
sagoi_cache_entry *sagoi_cache_find(sagoi_cache *cache, const sagoi_cache_key *key, int64_t alignment,
                                    int64_t *shift);
/* Room for entries, before the first is inserted. */
sago_status sagoi_cache_reserve(sagoi_cache *cache) SAGOI_CHECKED;
/* An empty entry for this key, never NULL.  Where the cache is full the entry that was unused longest makes room.
 */
sagoi_cache_entry *sagoi_cache_insert(sagoi_cache *cache, const sagoi_cache_key *key);
/* Takes all other entries out. */
void sagoi_cache_keep_only(sagoi_cache *cache, const sagoi_cache_entry *entry);
/* Frees the exchanges that entries keep for their next calls; the plans stay. */
void sagoi_cache_drop_exchanges(sagoi_cache *cache);
/* Takes an entry out, e.g. because its plan could not be made. */
void sagoi_cache_drop(sagoi_cache *cache, sagoi_cache_entry *entry);

#endif
