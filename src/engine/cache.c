#include "engine/cache.h"

#include <string.h>

#include "base/checked.h"
#include "move/exchange.h"
#include "move/rma.h"

/* One entry is always there: a call needs a plan even if no plan is to be kept. */
void sagoi_cache_init(sagoi_cache *cache, int64_t capacity, sagoi_budget *budget) {
    *cache = (sagoi_cache){.most = sagoi_max(1, capacity), .budget = budget};
}

sago_status sagoi_cache_reserve(sagoi_cache *cache) {
    if (cache->entries)
        return SAGO_OK;
    cache->entries = sagoi_budget_alloc(cache->budget, cache->most * (int64_t)sizeof *cache->entries);
    if (!cache->entries)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld plans", (long long)cache->most);
    cache->capacity = cache->most;
    return SAGO_OK;
}

void sagoi_cache_drop_exchanges(sagoi_cache *cache) {
    for (int64_t i = 0; i < cache->capacity; i++) {
        sagoi_exchange_destroy(&cache->entries[i].exchange);
        sagoi_rma_put_aside(&cache->entries[i].rma, &cache->aside);
    }
}

void sagoi_cache_drop(sagoi_cache *cache, sagoi_cache_entry *entry) {
    sagoi_exchange_destroy(&entry->exchange);
    sagoi_rma_put_aside(&entry->rma, &cache->aside);
    sagoi_plan_cleanup(&entry->plan);
    sagoi_remembered_cleanup(&entry->received, cache->budget);
    memset(entry, 0, sizeof *entry);
}

void sagoi_cache_cleanup(sagoi_cache *cache) {
    for (int64_t i = 0; i < cache->capacity; i++)
        sagoi_cache_drop(cache, &cache->entries[i]);
    sagoi_rma_hide(&cache->aside);
    sagoi_budget_free(cache->budget, cache->entries);
    cache->entries = NULL;
    cache->capacity = 0;
}

/* Has every rank moved by the same distance?  If so, the weighted sums differ by that distance times the sum of
 * the weights.  For a rank that moved by another distance to go unnoticed would take a coincidence of 64 bits. */
static bool moved_together(const sagoi_cache_key *then, const sagoi_cache_key *now, int64_t *shift) {
    *shift = now->low - then->low;
    return now->weighted == then->weighted + (uint64_t)*shift * then->weights;
}

sagoi_cache_entry *sagoi_cache_find(sagoi_cache *cache, const sagoi_cache_key *key, int64_t alignment,
                                    int64_t *shift) {
    for (int64_t i = 0; i < cache->capacity; i++) {
        sagoi_cache_entry *entry = &cache->entries[i];
        if (entry->used && sagoi_hash_equal(entry->key.shape, key->shape) &&
            moved_together(&entry->key, key, shift) && *shift % alignment == 0) {
            entry->last_use = ++cache->clock;
            return entry;
        }
    }
    return NULL;
}

sagoi_cache_entry *sagoi_cache_insert(sagoi_cache *cache, const sagoi_cache_key *key) {
    sagoi_cache_entry *oldest = &cache->entries[0];
    for (int64_t i = 0; i < cache->capacity; i++)
        if (!cache->entries[i].used || cache->entries[i].last_use < oldest->last_use) {
            oldest = &cache->entries[i];
            if (!oldest->used)
                break;
        }
    sagoi_cache_drop(cache, oldest);
    oldest->key = *key;
    oldest->used = true;
    oldest->last_use = ++cache->clock;
    return oldest;
}

void sagoi_cache_keep_only(sagoi_cache *cache, const sagoi_cache_entry *entry) {
    for (int64_t i = 0; i < cache->capacity; i++)
        if (&cache->entries[i] != entry)
            sagoi_cache_drop(cache, &cache->entries[i]);
}
