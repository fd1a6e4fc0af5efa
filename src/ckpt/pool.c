#include "ckpt/pool.h"

#include <stdio.h>

#include "base/checked.h"
#include "base/futex.h"
#include "system/watch.h"
#include "move/calls.h"
#include "move/control.h"

enum {
    PAGE = 4096,
    /* After so long the writer looks whether the job has ended, of which nobody wakes it. */
    LONGEST_SLEEP_US = 20000
};

/* Places in the segment: first the groups' words, then for each slot the groups' windows. */
typedef struct pool_shape {
    int64_t slots, control, slot_bytes; /* control: bytes of the words */
    int64_t offset, window;             /* place of this group's window in a slot, and its bytes */
} pool_shape;

/* Windows hold whole streams if these fit, twice if possible; else they hold a few pieces, and there are several
 * rounds. */
static pool_shape shape_of(const sagoi_pool_wish *wish) {
    pool_shape shape = {.slots = SAGOI_POOL_SLOTS};
    int64_t whole = 0;
    shape.control = sagoi_round_up(wish->groups * (int64_t)sizeof(sagoi_pool_group), PAGE);
    for (int64_t i = 0; i < wish->groups; i++)
        whole += sagoi_round_up(sagoi_max(wish->bytes[i], 1), PAGE);
    int64_t share = sagoi_max(wish->memory / SAGOI_POOL_SLOTS / wish->groups / wish->piece, 1) * wish->piece;
    bool rounds = whole > wish->memory;
    if (!rounds && whole > wish->memory / SAGOI_POOL_SLOTS)
        shape.slots = 1;
    for (int64_t i = 0; i < wish->groups; i++) {
        int64_t window = rounds ? sagoi_min(share, sagoi_max(wish->bytes[i], 1)) : sagoi_max(wish->bytes[i], 1);
        if (i == wish->mine) {
            shape.offset = shape.slot_bytes;
            shape.window = window;
        }
        shape.slot_bytes += sagoi_round_up(window, PAGE);
    }
    return shape;
}

static void attach(sagoi_pool *pool, const sagoi_pool_wish *wish, const pool_shape *shape) {
    pool->group = (sagoi_pool_group *)pool->segment.base + wish->mine;
    pool->slots = shape->slots;
    pool->window = shape->window;
    pool->next = 0;
    for (int64_t i = 0; i < shape->slots; i++)
        pool->slot[i] = pool->segment.base + shape->control + i * shape->slot_bytes + shape->offset;
}

/* A write that has not come back may still read the windows, so they stay mapped for good. */
static void keep_lent(sagoi_pool *pool) {
    sagoi_segment *segment = &pool->segment;
    segment->leaked = segment->leaked || (segment->base && sagoi_memory_is_lent(segment->base, segment->bytes));
}

sago_status sagoi_pool_resize(sagoi_pool *pool, sagoi_team *team, const sagoi_pool_wish *wish) {
    sagoi_pool_wish smaller = *wish;
    sago_status status;
    pool_shape shape;
    keep_lent(pool);
    for (;; smaller.memory /= 2) { /* a small /dev/shm means more rounds */
        shape = shape_of(&smaller);
        status = sagoi_segment_reserve(team, shape.control + shape.slots * shape.slot_bytes, &pool->segment);
        if (status != SAGO_ERR_MEMORY || smaller.memory < wish->piece)
            break;
    }
    if (status)
        return status;
    attach(pool, wish, &shape);
    atomic_store(&pool->group->written.value, 0); /* all ranks of the group store the same value */
    for (int i = 0; i < SAGOI_POOL_SLOTS; i++)
        atomic_store(&pool->group->filled[i].value, 0);
    for (int i = 0; i < SAGOI_POOL_SLOTS; i++)
        atomic_store(&pool->group->spoiled[i], 0);
    return sagoi_gate(team);
}

void sagoi_pool_release(sagoi_pool *pool) {
    keep_lent(pool);
    sagoi_segment_release(&pool->segment);
    *pool = (sagoi_pool){0};
}

/* Windows up to next - slots must have been written. */
static bool is_free(const sagoi_pool *pool, uint32_t written) {
    return (int32_t)(written - (pool->next + 1 - (uint32_t)pool->slots)) >= 0;
}

bool sagoi_pool_free(const sagoi_pool *pool) {
    return !pool->group || is_free(pool, atomic_load(&pool->group->written.value));
}

sago_status sagoi_pool_claim(sagoi_pool *pool, sagoi_team *team, char **window) {
    for (;;) {
        uint32_t written = atomic_load_explicit(&pool->group->written.value, memory_order_acquire);
        if (is_free(pool, written))
            break;
        if (!sagoi_wait_word(team, &pool->group->written, written))
            return sagoi_broken(team);
    }
    *window = pool->slot[pool->next % (uint32_t)pool->slots];
    return SAGO_OK;
}

void sagoi_pool_spoil(sagoi_pool *pool, int rank) {
    uint32_t slot = pool->next % (uint32_t)pool->slots;
    int32_t nobody = 0;
    if (atomic_compare_exchange_strong(&pool->group->spoiled[slot], &nobody, rank + 1))
        (void)snprintf(pool->group->why[slot], SAGOI_POOL_WHY, "%s", sagoi_message());
}

sago_status sagoi_pool_check(const sagoi_pool *pool, uint32_t n) {
    uint32_t slot = n % (uint32_t)pool->slots;
    int32_t spoiled = atomic_load(&pool->group->spoiled[slot]);
    if (!spoiled)
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_IO, "rank %d: %.255s", spoiled - 1, pool->group->why[slot]);
}

void sagoi_pool_fill_for(sagoi_pool *pool, uint32_t ranks) {
    sagoi_futex *filled = &pool->group->filled[pool->next % (uint32_t)pool->slots];
    atomic_fetch_add_explicit(&filled->value, ranks, memory_order_release);
}

void sagoi_pool_fill(sagoi_pool *pool) {
    sagoi_futex *filled = &pool->group->filled[pool->next++ % (uint32_t)pool->slots];
    atomic_fetch_add_explicit(&filled->value, 1, memory_order_release);
    sagoi_futex_wake(filled);
}

bool sagoi_pool_await(sagoi_pool *pool, uint32_t n, uint32_t ranks, const atomic_bool *stop) {
    sagoi_futex *filled = &pool->group->filled[n % (uint32_t)pool->slots];
    for (;;) {
        uint32_t count = atomic_load_explicit(&filled->value, memory_order_acquire);
        if (count == ranks)
            return true;
        if (atomic_load(stop))
            return false;
        sagoi_futex_wait(filled, count, LONGEST_SLEEP_US);
    }
}

sago_status sagoi_pool_wait(sagoi_pool *pool, sagoi_team *team, uint32_t n, uint32_t ranks) {
    sagoi_futex *filled = &pool->group->filled[n % (uint32_t)pool->slots];
    for (;;) {
        uint32_t count = atomic_load_explicit(&filled->value, memory_order_acquire);
        if (count == ranks)
            return SAGO_OK;
        if (!sagoi_wait_word(team, filled, count))
            return sagoi_broken(team);
    }
}

static void empty(sagoi_pool *pool, uint32_t n) {
    atomic_store(&pool->group->filled[n % (uint32_t)pool->slots].value, 0);
    atomic_store(&pool->group->spoiled[n % (uint32_t)pool->slots], 0);
}

void sagoi_pool_take_back(sagoi_pool *pool) { empty(pool, pool->next); }

void sagoi_pool_done(sagoi_pool *pool, uint32_t n) {
    empty(pool, n);
    atomic_store_explicit(&pool->group->written.value, n + 1, memory_order_release);
    sagoi_futex_wake(&pool->group->written);
}
