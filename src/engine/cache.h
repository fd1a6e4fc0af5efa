/* Plans that are kept for shapes that come again.
 *
 * The key is the sum of all ranks' fingerprints, which are relative to each rank's first offset.  Where all
 * ranks moved by the same distance, the plan moves along.  The caches of all ranks get the same entries in the
 * same order, so all ranks find a plan, or none does. */
#ifndef SAGOI_CACHE_H
#define SAGOI_CACHE_H

#include "base/budget.h"
#include "base/hash.h"
#include "move/remembered.h"
#include "plan/plan.h"

typedef struct sagoi_cache_key {
    sagoi_hash shape;  /* sum over the ranks */
    uint64_t weighted; /* sum over the ranks with data: weight(rank) * first offset */
    uint64_t weights;  /* sum of those weights */
    int64_t low;       /* lowest offset of all ranks */
} sagoi_cache_key;

typedef struct sagoi_cache_entry {
    sagoi_cache_key key;
    sagoi_plan plan;
    sagoi_remembered received;       /* what this aggregator remembers of the extents that ranks sent */
    struct sagoi_exchange *exchange; /* ready for the next call; NULL: the next call makes one */
    struct sagoi_rma *rma;           /* what one-sided movement keeps in the same way */
    uint64_t last_use;
    bool used;
    bool answered; /* reads: every rank gets data of every aggregator, or sees its node's */
} sagoi_cache_entry;

typedef struct sagoi_cache {
    sagoi_cache_entry *entries;
    int64_t capacity; /* number of entries; 0 until the first plan, since ranks that go alone plan nothing */
    int64_t most;     /* the capacity that comes with the first entry */
    uint64_t clock;
    struct sagoi_rma *aside; /* one-sided windows of plans that were dropped; the same on all ranks */
    sagoi_budget *budget;    /* not owned */
} sagoi_cache;

void sagoi_cache_init(sagoi_cache *cache, int64_t capacity, sagoi_budget *budget);
/* Fine on a zeroed struct, and twice; collective if data was moved one-sided. */
void sagoi_cache_cleanup(sagoi_cache *cache);

/* Finds the entry for this shape; the call is *shift bytes further on than the plan, a multiple of `alignment`.
 * NULL: there is none. */
sagoi_cache_entry *sagoi_cache_find(sagoi_cache *cache, const sagoi_cache_key *key, int64_t alignment,
                                    int64_t *shift);
/* Makes room for entries, before the first is inserted. */
sago_status sagoi_cache_reserve(sagoi_cache *cache) SAGOI_CHECKED;
/* An empty entry for this key, never NULL.  In a full cache the entry that was unused for longest makes room. */
sagoi_cache_entry *sagoi_cache_insert(sagoi_cache *cache, const sagoi_cache_key *key);
/* Takes all other entries out. */
void sagoi_cache_keep_only(sagoi_cache *cache, const sagoi_cache_entry *entry);
/* Frees the exchanges that entries keep for their next calls; the plans stay. */
void sagoi_cache_drop_exchanges(sagoi_cache *cache);
/* Takes an entry out, for instance because its plan could not be made. */
void sagoi_cache_drop(sagoi_cache *cache, sagoi_cache_entry *entry);

#endif
