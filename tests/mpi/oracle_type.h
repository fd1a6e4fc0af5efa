/* Random datatypes with a naive model of them.
 *
 * A type is a tree.  Each constructor is kept as a list of blocks (byte displacement, length, part), from which
 * the typemap is expanded entry by entry as the standard defines it, and with the arguments of the MPI call that
 * builds the same.  Nothing here knows how Sago flattens. */
#ifndef ORACLE_TYPE_H
#define ORACLE_TYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

/* ---- Memory that goes all at once ---- */

typedef struct arena_block {
    struct arena_block *next;
} arena_block;

typedef struct arena {
    arena_block *blocks;
} arena;

static void *arena_alloc(arena *a, int64_t bytes) {
    arena_block *block = calloc(1, sizeof *block + 16 + (size_t)bytes);
    if (!block)
        abort();
    block->next = a->blocks;
    a->blocks = block;
    return (char *)block + 16;
}

static void arena_clear(arena *a) {
    for (arena_block *next; a->blocks; a->blocks = next) {
        next = a->blocks->next;
        free(a->blocks);
    }
}

/* ---- Random numbers: the same on every rank ---- */

typedef struct rng {
    uint64_t state;
} rng;

static uint64_t rng_next(rng *r) { return next_bits(&r->state); }

/* low..high, both included */
static int64_t pick(rng *r, int64_t low, int64_t high) {
    return high <= low ? low : low + (int64_t)(rng_next(r) % (uint64_t)(high - low + 1));
}

/* True `percent` times of 100. */
static bool chance(rng *r, int percent) { return pick(r, 0, 99) < percent; }

/* Small ones more often than large ones. */
static int64_t pick_skewed(rng *r, int64_t low, int64_t high) { return pick(r, low, pick(r, low, high)); }

/* ---- Runs ---- */

typedef struct run {
    int64_t off, len;
} run;

typedef struct runs {
    run *list;
    int64_t n, capacity, bytes;
} runs;

static void runs_add(runs *all, int64_t off, int64_t len) {
    if (len == 0)
        return;
    all->bytes += len;
    if (all->n > 0 && all->list[all->n - 1].off + all->list[all->n - 1].len == off) {
        all->list[all->n - 1].len += len;
        return;
    }
    if (all->n == all->capacity) {
        all->capacity = all->capacity ? 2 * all->capacity : 64;
        all->list = realloc(all->list, (size_t)all->capacity * sizeof *all->list);
        if (!all->list)
            abort();
    }
    all->list[all->n++] = (run){off, len};
}

static void runs_free(runs *all) {
    free(all->list);
    memset(all, 0, sizeof *all);
}

/* First byte, and one past the last; both 0 when there is none. */
static void runs_bounds(const runs *all, int64_t *low, int64_t *high) {
    *low = all->n ? all->list[0].off : 0;
    *high = *low;
    for (int64_t i = 0; i < all->n; i++) {
        *low = all->list[i].off < *low ? all->list[i].off : *low;
        *high = all->list[i].off + all->list[i].len > *high ? all->list[i].off + all->list[i].len : *high;
    }
}

static int run_by_offset(const void *a, const void *b) {
    const run *x = a, *y = b;
    return x->off < y->off ? -1 : x->off > y->off;
}

static bool runs_overlap(const runs *all) {
    run *sorted = malloc((size_t)(all->n + 1) * sizeof *sorted);
    bool found = false;
    if (!sorted)
        abort();
    if (all->n > 0)
        memcpy(sorted, all->list, (size_t)all->n * sizeof *sorted);
    qsort(sorted, (size_t)all->n, sizeof *sorted, run_by_offset);
    for (int64_t i = 1; i < all->n && !found; i++)
        found = sorted[i].off < sorted[i - 1].off + sorted[i - 1].len;
    free(sorted);
    return found;
}

/* ---- Types ---- */

typedef enum {
    O_LEAF,
    O_DUP,
    O_CONTIGUOUS,
    O_VECTOR,
    O_HVECTOR,
    O_INDEXED,
    O_HINDEXED,
    O_INDEXED_BLOCK,
    O_HINDEXED_BLOCK,
    O_STRUCT,
    O_RESIZED,
    O_SUBARRAY,
    O_DARRAY,
    O_KINDS
} otype_kind;

static const char *const otype_names[] = {"leaf",    "dup",      "contiguous",    "vector",         "hvector",
                                          "indexed", "hindexed", "indexed_block", "hindexed_block", "struct",
                                          "resized", "subarray", "darray"};

enum { O_DIMS = 3 };

typedef struct otype {
    otype_kind kind;
    int64_t n;                   /* blocks */
    int64_t *at, *length;        /* byte displacement and parts of each block; of a leaf: unused */
    const struct otype **member; /* of each block */
    int64_t lower, extent, size; /* bytes; a leaf is `size` contiguous bytes */
    /* arguments of the MPI call that are not told by the blocks */
    int64_t stride;
    int dims, sizes[O_DIMS], subsizes[O_DIMS], starts[O_DIMS], order;
    int processes, rank, distributions[O_DIMS], arguments[O_DIMS], shape[O_DIMS];
} otype;

/* Everything in bytes; blocks may be empty. */
static otype *otype_new(arena *a, otype_kind kind, int64_t blocks) {
    otype *t = arena_alloc(a, sizeof *t);
    t->kind = kind;
    t->n = blocks;
    t->at = arena_alloc(a, (blocks + 1) * (int64_t)sizeof *t->at);
    t->length = arena_alloc(a, (blocks + 1) * (int64_t)sizeof *t->length);
    t->member = arena_alloc(a, (blocks + 1) * (int64_t)sizeof *t->member);
    return t;
}

static void otype_block(otype *t, int64_t i, int64_t at, int64_t length, const otype *member) {
    t->at[i] = at;
    t->length[i] = length;
    t->member[i] = member;
}

/* Size, and the bounds of a type without explicit ones. */
static otype *otype_finish(otype *t) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; i < t->n; i++) {
        const otype *m = t->member[i];
        t->size += t->length[i] * m->size;
        if (t->length[i] == 0)
            continue;
        int64_t spread = (t->length[i] - 1) * m->extent, first = t->at[i] + m->lower + (spread < 0 ? spread : 0);
        int64_t last = t->at[i] + m->lower + m->extent + (spread > 0 ? spread : 0);
        low = first < low ? first : low;
        high = last > high ? last : high;
    }
    t->lower = low == INT64_MAX ? 0 : low;
    t->extent = low == INT64_MAX ? 0 : high - low;
    return t;
}

static otype *otype_leaf(arena *a, int64_t bytes) {
    otype *t = otype_new(a, O_LEAF, 0);
    t->size = t->extent = bytes;
    return t;
}

static otype *otype_resized(arena *a, const otype *part, int64_t lower, int64_t extent) {
    otype *t = otype_new(a, O_RESIZED, 1);
    otype_block(t, 0, 0, 1, part);
    (void)otype_finish(t);
    t->lower = lower;
    t->extent = extent;
    return t;
}

static otype *otype_contiguous(arena *a, int64_t count, const otype *part) {
    otype *t = otype_new(a, O_CONTIGUOUS, 1);
    otype_block(t, 0, 0, count, part);
    return otype_finish(t);
}

/* Stride in bytes; O_VECTOR: a multiple of the part's extent. */
static otype *otype_vector(arena *a, otype_kind kind, int64_t count, int64_t length, int64_t stride,
                           const otype *part) {
    otype *t = otype_new(a, kind, count);
    for (int64_t i = 0; i < count; i++)
        otype_block(t, i, i * stride, length, part);
    t->stride = kind == O_VECTOR ? stride / part->extent : stride;
    return otype_finish(t);
}

/* Element `k` of an array: its index in each dimension.  False past the end. */
static bool otype_index(const otype *t, int64_t k, int index[]) {
    for (int i = 0; i < t->dims; i++) {
        int dim = t->order == MPI_ORDER_C ? t->dims - 1 - i : i;
        index[dim] = (int)(k % t->sizes[dim]);
        k /= t->sizes[dim];
    }
    return k == 0;
}

static bool otype_subarray_has(const otype *t, const int index[]) {
    for (int i = 0; i < t->dims; i++)
        if (index[i] < t->starts[i] || index[i] >= t->starts[i] + t->subsizes[i])
            return false;
    return true;
}

static bool otype_darray_has(const otype *t, const int index[]) {
    int rest = t->rank;
    for (int i = t->dims - 1; i >= 0; i--) { /* ranks are row-major, whatever the order */
        int place = rest % t->shape[i], block = t->arguments[i];
        rest /= t->shape[i];
        if (t->distributions[i] == MPI_DISTRIBUTE_NONE)
            continue;
        if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block =
                t->distributions[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : (t->sizes[i] + t->shape[i] - 1) / t->shape[i];
        if (index[i] / block % t->shape[i] != place)
            return false;
    }
    return true;
}

/* A subarray or darray whose arguments `like` has: one block for every element that belongs to it. */
static otype *otype_array(arena *a, const otype *like, const otype *part) {
    int64_t elements = 1, n = 0;
    int index[O_DIMS];
    for (int i = 0; i < like->dims; i++)
        elements *= like->sizes[i];
    otype *t = otype_new(a, like->kind, elements);
    int64_t *at = t->at, *length = t->length;
    const otype **member = t->member;
    *t = *like;
    t->at = at;
    t->length = length;
    t->member = member;
    for (int64_t k = 0; otype_index(t, k, index); k++)
        if (t->kind == O_SUBARRAY ? otype_subarray_has(t, index) : otype_darray_has(t, index))
            otype_block(t, n++, k * part->extent, 1, part);
    t->n = n;
    t->size = 0;
    (void)otype_finish(t);
    t->lower = 0;
    t->extent = elements * part->extent;
    t->member[0] = part; /* also of an empty one */
    return t;
}

/* ---- The typemap ---- */

static void otype_expand(const otype *t, int64_t base, runs *out) {
    if (t->kind == O_LEAF)
        runs_add(out, base, t->size);
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t k = 0; k < t->length[i]; k++)
            otype_expand(t->member[i], base + t->at[i] + k * t->member[i]->extent, out);
}

/* The first `bytes` bytes of the stream of tiles of a type from byte `begin` on, up to the first that lies
 * outside [0, cap): so far it is walked. */
static void otype_stream(const otype *t, int64_t base, int64_t begin, int64_t bytes, int64_t cap, runs *out) {
    runs tile = {0};
    otype_expand(t, 0, &tile);
    int64_t skip = tile.bytes ? begin % tile.bytes : 0;
    int64_t number = tile.bytes ? begin / tile.bytes : 0;
    for (; tile.bytes > 0 && bytes > 0; number++) {
        for (int64_t i = 0; i < tile.n && bytes > 0; i++) {
            int64_t off = base + number * t->extent + tile.list[i].off, len = tile.list[i].len;
            int64_t cut = skip < len ? skip : len;
            skip -= cut;
            off += cut;
            len = len - cut < bytes ? len - cut : bytes;
            if (len > 0 && (off < 0 || off + len > cap)) {
                runs_add(out, off, off < 0 || off > cap ? 0 : cap - off);
                bytes = 0;
                break;
            }
            runs_add(out, off, len);
            bytes -= len;
        }
    }
    runs_free(&tile);
}

/* ---- The same for MPI ---- */

static MPI_Datatype otype_build(const otype *t);

/* Bytes: with larger basic types Open MPI moves upper bounds to where it likes their alignment. */
static MPI_Datatype otype_build_leaf(const otype *t) {
    MPI_Datatype type;
    MPI_Type_contiguous((int)t->size, MPI_BYTE, &type);
    return type;
}

/* A type that is nothing but a leaf may be a basic one. */
static MPI_Datatype otype_build_alone(const otype *t) {
    MPI_Datatype type;
    static const struct {
        int64_t size;
        MPI_Datatype type;
    } basic[] = {{1, MPI_BYTE}, {2, MPI_SHORT}, {4, MPI_INT}, {8, MPI_DOUBLE}, {16, MPI_C_DOUBLE_COMPLEX}};
    for (size_t i = 0; t->kind == O_LEAF && i < sizeof basic / sizeof *basic; i++)
        if (t->size == basic[i].size) {
            MPI_Type_dup(basic[i].type, &type);
            return type;
        }
    return otype_build(t);
}

/* The lists of a type, in the integers that MPI takes; displacements divided by `unit`. */
typedef struct otype_lists {
    int *lengths, *displacements;
    MPI_Aint *addresses;
} otype_lists;

static otype_lists otype_lists_make(const otype *t, int64_t unit) {
    otype_lists lists = {calloc((size_t)t->n + 1, sizeof(int)), calloc((size_t)t->n + 1, sizeof(int)),
                         calloc((size_t)t->n + 1, sizeof(MPI_Aint))};
    if (!lists.lengths || !lists.displacements || !lists.addresses)
        abort();
    for (int64_t i = 0; i < t->n; i++) {
        lists.lengths[i] = (int)t->length[i];
        lists.displacements[i] = (int)(t->at[i] / (unit ? unit : 1));
        lists.addresses[i] = (MPI_Aint)t->at[i];
    }
    return lists;
}

static void otype_lists_free(otype_lists *lists) {
    free(lists->lengths);
    free(lists->displacements);
    free(lists->addresses);
}

/* Alignment may move the upper bound of a struct: it gets its bounds by name. */
static MPI_Datatype otype_build_struct(const otype *t, const otype_lists *lists) {
    MPI_Datatype *types = calloc((size_t)t->n + 1, sizeof *types), loose, type;
    if (!types)
        abort();
    for (int64_t i = 0; i < t->n; i++)
        types[i] = otype_build(t->member[i]);
    MPI_Type_create_struct((int)t->n, lists->lengths, lists->addresses, types, &loose);
    MPI_Type_create_resized(loose, (MPI_Aint)t->lower, (MPI_Aint)t->extent, &type);
    MPI_Type_free(&loose);
    for (int64_t i = 0; i < t->n; i++)
        MPI_Type_free(&types[i]);
    free(types);
    return type;
}

static MPI_Datatype otype_build_lists(const otype *t, MPI_Datatype part) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    otype_lists lists = otype_lists_make(t, t->n ? t->member[0]->extent : 1);
    int n = (int)t->n, length = t->n ? (int)t->length[0] : 0;
    if (t->kind == O_INDEXED)
        MPI_Type_indexed(n, lists.lengths, lists.displacements, part, &type);
    else if (t->kind == O_HINDEXED)
        MPI_Type_create_hindexed(n, lists.lengths, lists.addresses, part, &type);
    else if (t->kind == O_INDEXED_BLOCK)
        MPI_Type_create_indexed_block(n, length, lists.displacements, part, &type);
    else if (t->kind == O_HINDEXED_BLOCK)
        MPI_Type_create_hindexed_block(n, length, lists.addresses, part, &type);
    else
        type = otype_build_struct(t, &lists);
    otype_lists_free(&lists);
    return type;
}

static MPI_Datatype otype_build_array(const otype *t, MPI_Datatype part) {
    MPI_Datatype type;
    if (t->kind == O_SUBARRAY)
        MPI_Type_create_subarray(t->dims, t->sizes, t->subsizes, t->starts, t->order, part, &type);
    else
        MPI_Type_create_darray(t->processes, t->rank, t->dims, t->sizes, t->distributions, t->arguments, t->shape,
                               t->order, part, &type);
    return type;
}

/* To be freed by the caller; not committed, which Sago does not need. */
static MPI_Datatype otype_build(const otype *t) {
    MPI_Datatype type, part = MPI_DATATYPE_NULL;
    if (t->kind == O_LEAF)
        return otype_build_leaf(t);
    const otype *member = t->member[0];
    part = member ? otype_build(member) : otype_build(&(otype){.kind = O_LEAF, .size = 1});
    switch (t->kind) {
    case O_DUP:
        MPI_Type_dup(part, &type);
        break;
    case O_CONTIGUOUS:
        MPI_Type_contiguous((int)t->length[0], part, &type);
        break;
    case O_VECTOR:
        MPI_Type_vector((int)t->n, (int)t->length[0], (int)t->stride, part, &type);
        break;
    case O_HVECTOR:
        MPI_Type_create_hvector((int)t->n, (int)t->length[0], (MPI_Aint)t->stride, part, &type);
        break;
    case O_RESIZED:
        MPI_Type_create_resized(part, (MPI_Aint)t->lower, (MPI_Aint)t->extent, &type);
        break;
    case O_SUBARRAY:
    case O_DARRAY:
        type = otype_build_array(t, part);
        break;
    default:
        type = otype_build_lists(t, part);
    }
    MPI_Type_free(&part);
    return type;
}

/* Do MPI and the model agree on what the type is? */
static bool otype_agrees(const otype *t, MPI_Datatype type) {
    MPI_Count lower, extent, size;
    MPI_Type_get_extent_x(type, &lower, &extent);
    MPI_Type_size_x(type, &size);
    return lower == t->lower && extent == t->extent && size == t->size;
}

static void otype_print(const otype *t, FILE *out) {
    fprintf(out, "%s[%lld", otype_names[t->kind], (long long)t->size);
    if (t->kind != O_LEAF)
        fprintf(out, " of %lld+%lld", (long long)t->lower, (long long)t->extent);
    for (int64_t i = 0; i < t->n && i < 12; i++)
        fprintf(out, "%s%lldx%lld", i ? "," : ": ", (long long)t->at[i], (long long)t->length[i]);
    fprintf(out, "%s]", t->n > 12 ? ",..." : "");
    if (t->kind == O_LEAF || t->n == 0)
        return;
    fprintf(out, "(");
    for (int64_t i = 0; i < (t->kind == O_STRUCT && t->n < 6 ? t->n : 1); i++)
        otype_print(t->member[i], out);
    fprintf(out, ")");
}

/* ---- At random ---- */

/* What random types are made of. */
typedef struct otype_source {
    rng *r;
    arena *a;
    const otype *leaf;
    int64_t unit;  /* all displacements are multiples of it, and the leaf's extent is one */
    bool negative; /* displacements and strides may be negative */
    bool ordered;  /* no displacement lies before the one before */
} otype_source;

static const otype *otype_random(const otype_source *from, int depth);

static int64_t otype_displacement(const otype_source *from, int64_t before, int64_t span, int64_t unit) {
    rng *r = from->r;
    if (from->ordered || chance(r, 60))
        return before +
               (chance(r, 50) ? span : span + unit * pick_skewed(r, 0, 6)); /* a neighbour, or after a gap */
    return unit * pick(r, from->negative ? -12 : 0, 24);
}

static const otype *otype_random_list(const otype_source *from, otype_kind kind, const otype *part, int depth) {
    rng *r = from->r;
    bool by_bytes = kind == O_HINDEXED || kind == O_HINDEXED_BLOCK || kind == O_STRUCT;
    bool equal = kind == O_INDEXED_BLOCK || kind == O_HINDEXED_BLOCK;
    int64_t n = pick_skewed(r, 1, kind == O_STRUCT ? 4 : 9), at = 0, length = pick(r, 1, 3);
    int64_t unit = by_bytes ? from->unit : part->extent;
    otype *t = otype_new(from->a, kind, n);
    at = from->negative ? unit * pick(r, -8, 8) : unit * pick_skewed(r, 0, 8);
    for (int64_t i = 0; i < n; i++) {
        const otype *member =
            kind == O_STRUCT && depth > 0 && chance(r, 60) ? otype_random(from, depth - 1) : part;
        if (i > 0)
            at = otype_displacement(from, at, t->length[i - 1] * t->member[i - 1]->extent, unit);
        if (!equal)
            length = chance(r, 8) ? 0 : pick_skewed(r, 1, 4);
        otype_block(t, i, at, length, member);
    }
    (void)otype_finish(t);
    return kind == O_STRUCT || equal ? t : otype_resized(from->a, t, t->lower, t->extent); /* empty blocks */
}

static const otype *otype_random_vector(const otype_source *from, otype_kind kind, const otype *part) {
    rng *r = from->r;
    int64_t length = pick_skewed(r, 1, 4), count = pick_skewed(r, 1, 12), span = length * part->extent;
    int64_t unit = kind == O_VECTOR ? part->extent : from->unit;
    int64_t stride = span + unit * pick_skewed(r, 0, 8);
    if (from->negative && chance(r, 40))
        stride = -stride;
    else if (!from->ordered && chance(r, 10))
        stride = unit * pick(r, 0, 3);
    if (stride == -1)
        stride = -2; /* Open MPI takes -1 for "the natural one" */
    return otype_vector(from->a, kind, count, length, stride, part);
}

static const otype *otype_random_subarray(const otype_source *from, const otype *part) {
    rng *r = from->r;
    otype like = {.kind = O_SUBARRAY, .dims = (int)pick(r, 1, O_DIMS)};
    like.order = chance(r, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int i = 0; i < like.dims; i++) {
        like.sizes[i] = (int)pick(r, 1, 7);
        like.subsizes[i] = chance(r, 30) ? like.sizes[i] : (int)pick(r, 1, like.sizes[i]);
        like.starts[i] = (int)pick(r, 0, like.sizes[i] - like.subsizes[i]);
    }
    return otype_array(from->a, &like, part);
}

static const otype *otype_random_darray(const otype_source *from, const otype *part) {
    rng *r = from->r;
    static const int kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    otype like = {.kind = O_DARRAY, .dims = (int)pick(r, 1, O_DIMS), .processes = 1};
    like.order = chance(r, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int i = 0; i < like.dims; i++) {
        like.sizes[i] = (int)pick(r, 1, 8);
        like.distributions[i] = kinds[pick(r, 0, 2)];
        like.shape[i] = like.distributions[i] == MPI_DISTRIBUTE_NONE ? 1 : (int)pick(r, 1, 3);
        like.arguments[i] = like.distributions[i] == MPI_DISTRIBUTE_CYCLIC && chance(r, 60)
                                ? (int)pick(r, 1, 3)
                                : MPI_DISTRIBUTE_DFLT_DARG;
        like.processes *= like.shape[i];
    }
    like.rank = (int)pick(r, 0, like.processes - 1);
    return otype_array(from->a, &like, part);
}

static const otype *otype_random_resized(const otype_source *from, const otype *part) {
    rng *r = from->r;
    runs map = {0};
    int64_t low, high, unit = from->unit;
    otype_expand(part, 0, &map);
    runs_bounds(&map, &low, &high);
    runs_free(&map);
    int64_t span = (high - low + unit - 1) / unit; /* in units: no copy overlaps another */
    int64_t extent = unit * (span + pick_skewed(r, 0, 8));
    if (chance(r, 15))
        extent = part->extent; /* only the lower bound moves */
    return otype_resized(from->a, part, unit * (from->negative ? pick(r, -4, 4) : 0), extent > 0 ? extent : unit);
}

/* Not larger than tests of this kind need. */
static bool otype_modest(const otype *t) {
    return t->size > 0 && t->size <= 4096 && t->extent > 0 && t->extent <= 32768 && t->n <= 1024;
}

/* A random type of at most this depth; never empty. */
static const otype *otype_random(const otype_source *from, int depth) {
    if (depth <= 0)
        return from->leaf;
    const otype *part = otype_random(from, depth - 1), *whole = part;
    otype_kind kind = (otype_kind)pick(from->r, O_DUP, O_DARRAY);
    if (kind == O_DUP) {
        otype *t = otype_new(from->a, O_DUP, 1);
        otype_block(t, 0, 0, 1, part);
        whole = otype_finish(t);
    } else if (kind == O_CONTIGUOUS) {
        whole = otype_contiguous(from->a, pick_skewed(from->r, 1, 8), part);
    } else if (kind == O_VECTOR || kind == O_HVECTOR) {
        whole = otype_random_vector(from, kind, part);
    } else if (kind == O_RESIZED) {
        whole = otype_random_resized(from, part);
    } else if (kind == O_SUBARRAY) {
        whole = otype_random_subarray(from, part);
    } else if (kind == O_DARRAY) {
        whole = otype_random_darray(from, part);
    } else {
        whole = otype_random_list(from, kind, part, depth);
    }
    return otype_modest(whole) ? whole : part;
}

#endif
