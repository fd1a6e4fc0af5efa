/* How ranks share a file: views for all of them at once, most of them disjoint by construction. */
#ifndef ORACLE_PATTERN_H
#define ORACLE_PATTERN_H

#include "mpi/oracle_model.h"

/* Where views are made: `n` owners of [low, low + span). */
typedef struct pattern_space {
    rng *r;
    arena *a;
    int n;
    int64_t low, span;
} pattern_space;

static int64_t pick_grain(rng *r) {
    static const int64_t most[] = {1, 8, 16, 100, 600, 4096};
    int64_t grain = pick(r, 1, most[pick(r, 0, 5)]);
    return chance(r, 40) ? (grain + 7) / 8 * 8 : grain;
}

/* ---- Cells dealt out at random ---- */

typedef struct deal {
    int64_t grain, cells;
    int *owner; /* of each cell; -1: nobody */
} deal;

static deal deal_make(const pattern_space *space, int64_t most_cells) {
    rng *r = space->r;
    deal d = {.grain = pick_grain(r)};
    if (d.grain > space->span)
        d.grain = 1;
    d.cells = space->span / d.grain;
    d.cells = d.cells > most_cells ? pick_skewed(r, 1, most_cells) : d.cells;
    d.owner = arena_alloc(space->a, d.cells * (int64_t)sizeof *d.owner);
    int holes = (int)(chance(r, 40) ? 0 : pick_skewed(r, 1, 80)), sticky = (int)pick(r, 0, 90);
    for (int64_t i = 0; i < d.cells; i++) {
        if (i > 0 && chance(r, sticky))
            d.owner[i] = d.owner[i - 1];
        else
            d.owner[i] = chance(r, holes) ? -1 : (int)pick(r, 0, space->n - 1);
    }
    return d;
}

/* The cells of one owner as runs in bytes from the deal's start; neighbours joined if `join`. */
static int64_t deal_runs(const deal *d, int owner, bool join, run *out) {
    int64_t n = 0;
    for (int64_t i = 0; i < d->cells; i++) {
        if (d->owner[i] != owner)
            continue;
        if (join && n > 0 && out[n - 1].off + out[n - 1].len == i * d->grain)
            out[n - 1].len += d->grain;
        else
            out[n++] = (run){i * d->grain, d->grain};
    }
    return n;
}

static void shuffle(rng *r, run *list, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = pick(r, 0, i);
        run swapped = list[i];
        list[i] = list[j];
        list[j] = swapped;
    }
}

/* One owner's cells as a type of one of the constructors that take lists. */
static const otype *deal_type(const pattern_space *space, const deal *d, int owner, const otype *etype) {
    static const otype_kind kinds[] = {O_INDEXED, O_HINDEXED, O_INDEXED_BLOCK, O_HINDEXED_BLOCK, O_STRUCT};
    rng *r = space->r;
    otype_kind kind = kinds[pick(r, 0, 4)];
    bool join = kind != O_INDEXED_BLOCK && kind != O_HINDEXED_BLOCK && chance(r, 50);
    run *cells = arena_alloc(space->a, d->cells * (int64_t)sizeof *cells);
    int64_t n = deal_runs(d, owner, join, cells);
    if (chance(r, 12))
        shuffle(r, cells, n);
    if (kind == O_STRUCT && n > 64)
        kind = O_HINDEXED;
    otype *t = otype_new(space->a, kind, n);
    for (int64_t i = 0; i < n; i++)
        otype_block(t, i, cells[i].off, cells[i].len / etype->size, etype);
    t->member[0] = etype;
    (void)otype_finish(t);
    return otype_resized(space->a, t, 0, d->cells * d->grain);
}

static void pattern_deal(const pattern_space *space, oview views[]) {
    deal d = deal_make(space, 600);
    for (int i = 0; i < space->n; i++) {
        const otype *etype = otype_leaf(space->a, chance(space->r, 50) ? 1 : d.grain);
        views[i] = (oview){space->low, etype, deal_type(space, &d, i, etype)};
    }
}

/* ---- Regular ones ---- */

/* A piece for every rank. */
static void pattern_blocks(const pattern_space *space, oview views[]) {
    rng *r = space->r;
    int64_t share = space->span / space->n;
    const otype *etype = otype_leaf(space->a, pick(r, 1, chance(r, 50) ? 1 : 12));
    for (int i = 0; i < space->n; i++) {
        const otype *type = chance(r, 50) ? etype : otype_contiguous(space->a, pick(r, 1, 50), etype);
        views[i] = (oview){space->low + i * share + (chance(r, 30) ? pick(r, 0, share / 2) : 0), etype, type};
    }
}

/* Blocks in turn, perhaps with room left. */
static void pattern_turns(const pattern_space *space, oview views[]) {
    rng *r = space->r;
    const otype *etype = otype_leaf(space->a, pick(r, 1, chance(r, 50) ? 1 : 16));
    int64_t length = pick_skewed(r, 1, chance(r, 20) ? 1000 : 20),
            period = space->n + (chance(r, 50) ? 0 : pick(r, 1, 3));
    int64_t bytes = length * etype->size, whole = period * bytes;
    int64_t turns = pick_skewed(r, 1, chance(r, 30) ? 200 : 10);
    for (int i = 0; i < space->n; i++) {
        const otype *type;
        int form = (int)pick(r, 0, 2);
        if (form == 0) {
            type = otype_resized(space->a, otype_contiguous(space->a, length, etype), 0, whole);
        } else {
            type = otype_vector(space->a, form == 1 ? O_VECTOR : O_HVECTOR, turns, length, whole, etype);
            type = otype_resized(space->a, type, 0, turns * whole);
        }
        views[i] = (oview){space->low + i * bytes, etype, type};
    }
}

/* Elements of arrays: at times with a hole. */
static const otype *array_element(const pattern_space *space, const otype **etype) {
    rng *r = space->r;
    *etype = otype_leaf(space->a, pick(r, 1, chance(r, 70) ? 8 : 40));
    if (chance(r, 70))
        return *etype;
    return otype_resized(space->a, *etype, 0, (*etype)->size + pick(r, 1, 8));
}

/* `n` as a product of `dims` factors. */
static void factorize(rng *r, int n, int dims, int shape[]) {
    for (int i = 0; i < dims; i++)
        shape[i] = 1;
    for (int f = 2; n > 1; f++)
        for (; n % f == 0; n /= f)
            shape[pick(r, 0, dims - 1)] *= f;
}

static void pattern_darray(const pattern_space *space, oview views[]) {
    rng *r = space->r;
    const otype *etype, *element = array_element(space, &etype);
    otype like = {.kind = O_DARRAY, .dims = (int)pick(r, 1, O_DIMS), .processes = space->n};
    like.order = chance(r, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    factorize(r, space->n, like.dims, like.shape);
    for (int i = 0; i < like.dims; i++) {
        bool cyclic = chance(r, 50);
        like.sizes[i] = (int)pick(r, like.shape[i], like.dims == 1 ? 300 : like.dims == 2 ? 40 : 12);
        if (like.sizes[i] < like.shape[i])
            like.sizes[i] = like.shape[i];
        like.distributions[i] = like.shape[i] == 1 && chance(r, 50) ? MPI_DISTRIBUTE_NONE
                                : cyclic                            ? MPI_DISTRIBUTE_CYCLIC
                                                                    : MPI_DISTRIBUTE_BLOCK;
        like.arguments[i] = cyclic && chance(r, 60) ? (int)pick(r, 1, 4) : MPI_DISTRIBUTE_DFLT_DARG;
        if (like.distributions[i] == MPI_DISTRIBUTE_NONE)
            like.arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
    }
    for (int i = 0; i < space->n; i++) {
        like.rank = i;
        views[i] = (oview){space->low, etype, otype_array(space->a, &like, element)};
    }
}

/* Blocks of an array with a rim that belongs to nobody. */
static void pattern_subarray(const pattern_space *space, oview views[]) {
    rng *r = space->r;
    const otype *etype, *element = array_element(space, &etype);
    otype like = {.kind = O_SUBARRAY, .dims = (int)pick(r, 1, O_DIMS)};
    int inner[O_DIMS], rim[O_DIMS], shape[O_DIMS];
    like.order = chance(r, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    factorize(r, space->n, like.dims, shape);
    for (int i = 0; i < like.dims; i++) {
        rim[i] = chance(r, 70) ? 0 : (int)pick(r, 1, 2);
        inner[i] = shape[i] * (int)pick(r, 1, like.dims == 1 ? 60 : like.dims == 2 ? 12 : 5);
        like.sizes[i] = inner[i] + 2 * rim[i];
        like.subsizes[i] = inner[i] / shape[i];
    }
    for (int k = 0; k < space->n; k++) {
        int rest = k;
        for (int i = like.dims - 1; i >= 0; i--) {
            like.starts[i] = rim[i] + rest % shape[i] * like.subsizes[i];
            rest /= shape[i];
        }
        views[k] = (oview){space->low, etype, otype_array(space->a, &like, element)};
    }
}

/* ---- Random types ---- */

/* The lowest byte of a type's first tile. */
static int64_t lowest(const otype *type) {
    runs map = {0};
    int64_t low, high;
    otype_expand(type, 0, &map);
    runs_bounds(&map, &low, &high);
    runs_free(&map);
    return low;
}

/* Any types, in steps of `period` cells of which each rank owns another one. */
static void pattern_combs(const pattern_space *space, oview views[]) {
    rng *r = space->r;
    int64_t cell = pick_skewed(r, 1, 40), period = space->n + (chance(r, 50) ? 0 : pick(r, 1, 3)),
            unit = cell * period;
    const otype *etype = otype_leaf(space->a, cell);
    for (int i = 0; i < space->n; i++) {
        const otype *leaf = otype_resized(space->a, etype, 0, unit * (chance(r, 60) ? 1 : pick(r, 1, 5)));
        otype_source from = {r, space->a, leaf, unit, chance(r, 30), chance(r, 80)};
        const otype *type = otype_random(&from, (int)pick(r, 0, 3));
        int64_t low = lowest(type);
        views[i] = (oview){space->low + i * cell + (low < 0 ? -low : 0), etype, type};
    }
}

/* Any types, each rank in a part of its own. */
static void pattern_parts(const pattern_space *space, oview views[]) {
    rng *r = space->r;
    int64_t share = space->span / space->n;
    for (int i = 0; i < space->n; i++) {
        const otype *leaf = otype_leaf(space->a, pick_skewed(r, 1, 40));
        otype_source from = {r, space->a, leaf, chance(r, 50) ? 1 : leaf->size, chance(r, 30), chance(r, 70)};
        const otype *type = otype_random(&from, (int)pick(r, 0, 4));
        int64_t low = lowest(type);
        views[i] = (oview){space->low + i * share + (low < 0 ? -low : 0),
                           chance(r, 50) ? leaf : otype_leaf(space->a, 1), type};
    }
}

/* Any types anywhere: for reading, or for whoever takes out what overlaps. */
static void pattern_anything(const pattern_space *space, oview views[]) {
    rng *r = space->r;
    pattern_parts(space, views);
    for (int i = 0; i < space->n; i++) {
        if (i > 0 && chance(r, 30))
            views[i] = views[pick(r, 0, i - 1)];
        int64_t low = lowest(views[i].filetype);
        views[i].disp = space->low + (low < 0 ? -low : 0) + pick_skewed(r, 0, space->span / 2);
    }
}

/* The same for all. */
static void pattern_same(const pattern_space *space, oview views[]) {
    pattern_blocks(space, views);
    for (int i = 0; i < space->n; i++)
        views[i] = (oview){space->low, views[0].etype, views[0].filetype};
}

typedef void (*pattern_fn)(const pattern_space *space, oview views[]);

static const struct {
    const char *name;
    pattern_fn make;
} patterns[] = {{"deal", pattern_deal},     {"blocks", pattern_blocks},     {"turns", pattern_turns},
                {"darray", pattern_darray}, {"subarray", pattern_subarray}, {"combs", pattern_combs},
                {"parts", pattern_parts},   {"anything", pattern_anything}, {"same", pattern_same}};

/* Views for all owners; returns the pattern's name. */
static const char *pattern_views(const pattern_space *space, oview views[]) {
    int64_t k = pick(space->r, 0, (int64_t)(sizeof patterns / sizeof *patterns) - 1);
    patterns[k].make(space, views);
    return patterns[k].name;
}

/* ---- Memory ---- */

/* A memory type for at most `bytes` bytes; the part's bytes become a multiple of its size.  `exact`: they stay. */
static void pick_memory(rng *r, arena *a, opart *part, bool exact) {
    const otype *type = otype_leaf(a, 1);
    if (part->bytes == 0) {
        part->memory = chance(r, 70) ? type : otype_contiguous(a, 0, type); /* elements without bytes */
        part->count = part->memory->size ? 0 : pick(r, 0, 3);
        return;
    }
    if (chance(r, 70)) {
        otype_source from = {r,
                             a,
                             otype_leaf(a, pick(r, 1, 3) == 1 ? pick_skewed(r, 1, 64) : 1 << pick(r, 0, 3)),
                             1,
                             chance(r, 50),
                             chance(r, 50)};
        type = otype_random(&from, (int)pick(r, 0, 3));
        if (chance(r, 5))
            type = otype_resized(a, type, 0, -type->extent - pick(r, 0, 3));
    }
    if (type->size > part->bytes || (exact && part->bytes % type->size != 0))
        type = otype_leaf(a, 1);
    part->memory = type;
    part->count = part->bytes / type->size;
    part->bytes = part->count * type->size;
}

/* The same, such that no byte of memory is named twice. */
static void pick_plain_memory(rng *r, arena *a, opart *part, bool exact) {
    int64_t bytes = part->bytes;
    for (int tries = 0; tries < 5; tries++) {
        runs memory = {0};
        part->bytes = bytes;
        pick_memory(r, a, part, exact);
        part_memory_runs(part, &memory);
        bool plain = !runs_overlap(&memory);
        runs_free(&memory);
        if (plain)
            return;
    }
    part->bytes = part->count = bytes;
    part->memory = otype_leaf(a, 1);
}

#endif
