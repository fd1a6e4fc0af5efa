/* Accesses by extents: drawn at random. */
#ifndef ORACLE_EXTENTS_H
#define ORACLE_EXTENTS_H

#include "mpi/oracle_access.h"

/* The extents of one rank as a part: a view of bytes at 0 that has just these runs, in memory one after another.
 */
static opart extents_part(oracle *o, const run *list, int64_t n) {
    const otype *byte = otype_leaf(&o->a, 1);
    otype *t = otype_new(&o->a, O_HINDEXED, n);
    for (int64_t i = 0; i < n; i++)
        otype_block(t, i, list[i].off, list[i].len, byte);
    t->member[0] = byte;
    (void)otype_finish(t);
    return (opart){{0, byte, t}, 0, t->size, byte, t->size};
}

/* Ascending runs at random, some of them empty. */
static opart random_extents(oracle *o) {
    rng *r = &o->r;
    int64_t n = pick_skewed(r, 0, 200), at = pick_skewed(r, 0, o->cap), done = 0,
            scale = chance(r, 80) ? 60 : 5000;
    run *list = arena_alloc(&o->a, (n + 1) * (int64_t)sizeof *list);
    for (; done < n; done++) {
        int64_t len = chance(r, 10) ? 0 : pick_skewed(r, 1, scale);
        at += chance(r, 20) ? 0 : pick_skewed(r, 0, scale);
        if (at + len > o->cap)
            break;
        list[done] = (run){at, len};
        at += len;
    }
    return extents_part(o, list, done);
}

static void pick_extents(oracle *o, oaccess *what, bool write) {
    pattern_space space = pick_space(o, o->size);
    deal d = deal_make(&space, 2000);
    run *list = arena_alloc(&o->a, d.cells * (int64_t)sizeof *list);
    what->pattern = "extents";
    for (int i = 0; i < o->size; i++) {
        int64_t n = deal_runs(&d, i, chance(&o->r, 70), list);
        for (int64_t k = 0; k < n; k++)
            list[k].off += space.low;
        what->parts[i] = !write && chance(&o->r, 50) ? random_extents(o) : extents_part(o, list, n);
    }
}

static sago_extent *extents_of(const oracle *o, const opart *part) {
    const otype *t = part->view.filetype;
    sago_extent *list = calloc((size_t)t->n + 1, sizeof *list);
    for (int64_t i = 0; list && i < t->n; i++)
        list[i] = (sago_extent){o->base + t->at[i], t->length[i]};
    return list;
}

#endif
