/* Random arrays, decompositions and contents for the tests of checkpoints.  Everything follows from a seed, so
 * that every rank, and a later run with another number of ranks, knows what must be there. */
#ifndef SAGO_TESTS_CKPT_MODEL_H
#define SAGO_TESTS_CKPT_MODEL_H

#include "mpi/check.h"
#include "support/random.h"

enum { MODEL_ARRAYS = 3, MODEL_BLOCKS = 64, MODEL_GHOST = 77, MODEL_LOCAL_MAX = 3000, MODEL_SHARED = 1234 };

typedef struct model_array {
    char name[32];
    int ndims;
    int64_t global[4];
    MPI_Datatype type;
    int64_t element;
} model_array;

typedef struct model {
    uint64_t seed;
    int narrays;
    model_array arrays[MODEL_ARRAYS];
} model;

static inline int64_t draw_range(uint64_t *state, int64_t low, int64_t high) {
    return low + (int64_t)(next_bits(state) % (uint64_t)(high - low + 1));
}

/* `large`: up to some megabytes, so that a small pool needs rounds. */
static inline void model_make(model *m, uint64_t seed, bool large) {
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_SIGNED_CHAR, MPI_FLOAT};
    const int64_t sizes[] = {8, 4, 1, 4};
    uint64_t state = seed * 1000003;
    *m = (model){.seed = seed, .narrays = (int)draw_range(&state, 1, MODEL_ARRAYS)};
    for (int i = 0; i < m->narrays; i++) {
        model_array *a = &m->arrays[i];
        int type = (int)draw_range(&state, 0, 3);
        snprintf(a->name, sizeof a->name, "array-%d", (i * 7 + 3) % 10);
        a->ndims = (int)draw_range(&state, 1, 4);
        for (int d = 0; d < a->ndims; d++)
            a->global[d] = draw_range(&state, d == 0 && draw_range(&state, 0, 20) == 0 ? 0 : 1, large ? 40 : 12);
        if (large && i == 0) {
            a->ndims = 3;
            a->global[0] = 70, a->global[1] = 90, a->global[2] = 60;
        }
        a->type = types[type];
        a->element = sizes[type];
    }
}

/* The byte of an array at a place, for one step. */
static inline unsigned char model_byte(const model *m, int array, int64_t offset, int64_t step) {
    return byte_of(offset, (int64_t)m->seed * 100 + array * 10 + step * 1009);
}

/* ---- Decompositions ---- */

typedef struct model_block {
    int64_t start[4], count[4], shape[4], at[4]; /* shape, at: memory with ghost cells */
    int owner;
    unsigned char *data;
    int64_t bytes; /* of memory */
} model_block;

typedef struct decomposition {
    int n[MODEL_ARRAYS];
    model_block blocks[MODEL_ARRAYS][MODEL_BLOCKS];
} decomposition;

static inline void cut_boxes(const model_array *a, decomposition *d, int array, int wanted, uint64_t *state) {
    model_block *blocks = d->blocks[array];
    d->n[array] = 1;
    memset(blocks, 0, sizeof d->blocks[array]);
    memcpy(blocks[0].count, a->global, sizeof blocks[0].count);
    for (int tries = 0; d->n[array] < wanted && tries < 4 * wanted; tries++) {
        int from = (int)draw_range(state, 0, d->n[array] - 1), dim = (int)draw_range(state, 0, a->ndims - 1);
        model_block *cut = &blocks[from];
        if (cut->count[dim] < 2)
            continue;
        int64_t part = draw_range(state, 1, cut->count[dim] - 1);
        blocks[d->n[array]] = *cut;
        blocks[d->n[array]].start[dim] += part;
        blocks[d->n[array]++].count[dim] -= part;
        cut->count[dim] = part;
    }
}

/* Blocks of all ranks; memory of this rank's. */
static inline void decompose(const model *m, decomposition *d, uint64_t seed, int nranks, int me) {
    uint64_t state = seed;
    for (int i = 0; i < m->narrays; i++) {
        const model_array *a = &m->arrays[i];
        cut_boxes(a, d, i, (int)draw_range(&state, 1, 3 * nranks < MODEL_BLOCKS ? 3 * nranks : MODEL_BLOCKS),
                  &state);
        for (int b = 0; b < d->n[i]; b++) {
            model_block *block = &d->blocks[i][b];
            block->owner = (int)draw_range(&state, 0, nranks - 1);
            block->bytes = a->element;
            for (int k = 0; k < a->ndims; k++) {
                int64_t before = draw_range(&state, 0, 2), after = draw_range(&state, 0, 2);
                block->at[k] = before;
                block->shape[k] = before + block->count[k] + after;
                block->bytes *= block->shape[k];
            }
            block->data = block->owner == me ? malloc((size_t)block->bytes + 1) : NULL;
            if (block->data)
                memset(block->data, MODEL_GHOST, (size_t)block->bytes);
        }
    }
}

static inline void decomposition_free(const model *m, decomposition *d) {
    for (int i = 0; i < m->narrays; i++)
        for (int b = 0; b < d->n[i]; b++)
            free(d->blocks[i][b].data);
}

/* Walks over the bytes of a block: calls `each` with where it is in memory and in the array; -1: a ghost cell. */
static inline void walk_block(const model_array *a, const model_block *block,
                              void (*each)(void *arg, unsigned char *byte, int64_t offset), void *arg) {
    int64_t index[4] = {0}, cells = block->bytes / a->element;
    for (int64_t cell = 0; cell < cells; cell++) {
        int64_t place = 0, rest = cell;
        bool inside = true;
        for (int k = a->ndims - 1; k >= 0; k--) {
            index[k] = rest % block->shape[k];
            rest /= block->shape[k];
        }
        for (int k = 0; k < a->ndims; k++) {
            int64_t in_block = index[k] - block->at[k];
            inside = inside && in_block >= 0 && in_block < block->count[k];
            place = place * a->global[k] + block->start[k] + in_block;
        }
        for (int64_t i = 0; i < a->element; i++)
            each(arg, block->data + cell * a->element + i, inside ? place * a->element + i : -1);
    }
}

typedef struct model_visit {
    const model *m;
    int array;
    int64_t step, wrong;
} model_visit;

static inline void fill_byte(void *arg, unsigned char *byte, int64_t offset) {
    model_visit *at = arg;
    *byte = offset < 0 ? MODEL_GHOST : model_byte(at->m, at->array, offset, at->step);
}

static inline void compare_byte(void *arg, unsigned char *byte, int64_t offset) {
    model_visit *at = arg;
    at->wrong += *byte != (offset < 0 ? MODEL_GHOST : model_byte(at->m, at->array, offset, at->step));
}

static inline int64_t visit_all(const model *m, decomposition *d, int64_t step,
                                void (*each)(void *, unsigned char *, int64_t)) {
    int64_t wrong = 0;
    for (int i = 0; i < m->narrays; i++)
        for (int b = 0; b < d->n[i]; b++) {
            model_visit visit = {m, i, step, 0};
            if (d->blocks[i][b].data)
                walk_block(&m->arrays[i], &d->blocks[i][b], each, &visit);
            wrong += visit.wrong;
        }
    return wrong;
}

static inline void protect_arrays(const model *m, decomposition *d, sago_ckpt *ckpt) {
    for (int i = 0; i < m->narrays; i++) {
        sago_block mine[MODEL_BLOCKS];
        int64_t n = 0;
        for (int b = 0; b < d->n[i]; b++) {
            model_block *block = &d->blocks[i][b];
            if (block->data)
                mine[n++] = (sago_block){block->start, block->count, block->shape, block->at, block->data};
        }
        CHECK_OK(sago_ckpt_protect(ckpt, m->arrays[i].name, m->arrays[i].type, m->arrays[i].ndims,
                                   m->arrays[i].global, n, mine));
    }
}

/* ---- What is not an array ---- */

typedef struct extras {
    unsigned char local[MODEL_LOCAL_MAX], shared[MODEL_SHARED];
    int64_t local_bytes;
} extras;

static inline void extras_fill(extras *e, const model *m, int64_t step, int me) {
    uint64_t state = m->seed + (uint64_t)me;
    e->local_bytes = draw_range(&state, 0, MODEL_LOCAL_MAX);
    for (int64_t i = 0; i < e->local_bytes; i++)
        e->local[i] = byte_of(i, 7 + me + step * 31);
    for (int64_t i = 0; i < MODEL_SHARED; i++)
        e->shared[i] = byte_of(i, 99 + step * 31);
}

static inline int64_t extras_wrong(const extras *e, const model *m, int64_t step, int me) {
    extras wanted;
    extras_fill(&wanted, m, step, me);
    return (memcmp(e->local, wanted.local, (size_t)wanted.local_bytes) != 0) +
           (memcmp(e->shared, wanted.shared, MODEL_SHARED) != 0);
}

static inline void extras_clear(extras *e) {
    memset(e->local, 0, sizeof e->local);
    memset(e->shared, 0, sizeof e->shared);
}

#endif
