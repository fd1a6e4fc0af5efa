/* Constructors that lay copies of one part in blocks: contiguous, vector, indexed and their relatives.
 *
 * All of them are blocks at some distance, so all become repetitions, of which a pattern keeps what is regular.
 * The values are in the order of the C binding: see contents.h. */
#include "view/combine.h"

#include "base/checked.h"

sago_status sagoi_fail_offsets(void) {
    return sagoi_fail(SAGO_ERR_OVERFLOW, "the displacements of a datatype do not fit 63 bits");
}

static sago_status combine_contiguous(const sagoi_contents *contents, const sagoi_flat *part,
                                      sagoi_pattern *whole) {
    sagoi_pattern_add_repeated(whole, &part->pattern, 0, contents->values[0], part->extent);
    return SAGO_OK;
}

/* count, blocklength, stride; the stride in units of `unit` bytes */
static sago_status combine_vector(const sagoi_contents *contents, const sagoi_flat *part, int64_t unit,
                                  sagoi_pattern *whole) {
    const int64_t *values = contents->values;
    sagoi_blocks blocks = {.length = values[1], .stride = part->extent};
    if (sagoi_mul(values[2], unit, &blocks.step) || sagoi_mul(values[0], values[1], &blocks.count))
        return sagoi_fail_offsets();
    sagoi_pattern_add_blocks(whole, &part->pattern, &blocks);
    return SAGO_OK;
}

/* Blocks at listed displacements. */
typedef struct listed {
    int64_t count;
    const int64_t *lengths; /* of the blocks, in parts */
    int64_t lengths_step;   /* 1; 0: all blocks have one length */
    const int64_t *displacements;
    int64_t unit; /* bytes in which the displacements are counted */
} listed;

static sago_status combine_listed(const listed *list, const sagoi_flat *part, sagoi_pattern *whole) {
    bool solid = sagoi_pattern_solid(&part->pattern, part->extent);
    int64_t first = part->pattern.npieces ? part->pattern.pieces[0].off : 0;
    for (int64_t i = 0; i < list->count && !whole->failed; i++) {
        int64_t off, length = list->lengths[i * list->lengths_step];
        if (length == 0)
            continue;
        if (sagoi_mul(list->displacements[i], list->unit, &off))
            return sagoi_fail_offsets();
        if (!solid) {
            sagoi_pattern_add_repeated(whole, &part->pattern, off, length, part->extent);
            continue;
        }
        /* The common case, kept short: lists of very many blocks of plain numbers. */
        if (sagoi_mul(length, part->extent, &length) || sagoi_add(off, first, &off))
            return sagoi_fail_offsets();
        sagoi_pattern_add(whole, off, length);
    }
    return SAGO_OK;
}

/* count, blocklengths[], displacements[] */
static sago_status combine_indexed(const sagoi_contents *contents, const sagoi_flat *part, int64_t unit,
                                   sagoi_pattern *whole) {
    const int64_t *values = contents->values;
    listed list = {values[0], values + 1, 1, values + 1 + values[0], unit};
    return combine_listed(&list, part, whole);
}

/* count, blocklength, displacements[] */
static sago_status combine_indexed_block(const sagoi_contents *contents, const sagoi_flat *part, int64_t unit,
                                         sagoi_pattern *whole) {
    const int64_t *values = contents->values;
    listed list = {values[0], values + 1, 0, values + 2, unit};
    return combine_listed(&list, part, whole);
}

static sago_status combine_blocks(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole) {
    switch (contents->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        return combine_contiguous(contents, part, whole);
    case MPI_COMBINER_VECTOR:
        return combine_vector(contents, part, part->extent, whole);
    case MPI_COMBINER_HVECTOR:
        return combine_vector(contents, part, 1, whole);
    case MPI_COMBINER_INDEXED:
        return combine_indexed(contents, part, part->extent, whole);
    case MPI_COMBINER_HINDEXED:
        return combine_indexed(contents, part, 1, whole);
    case MPI_COMBINER_INDEXED_BLOCK:
        return combine_indexed_block(contents, part, part->extent, whole);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return combine_indexed_block(contents, part, 1, whole);
    default:
        return sagoi_fail(SAGO_ERR_TYPE, "the datatype has an unknown combiner, %d", contents->combiner);
    }
}

sago_status sagoi_combine(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole) {
    if (contents->combiner == MPI_COMBINER_SUBARRAY)
        return sagoi_combine_subarray(contents, part, whole);
    if (contents->combiner == MPI_COMBINER_DARRAY)
        return sagoi_combine_darray(contents, part, whole);
    sago_status status = combine_blocks(contents, part, whole);
    return status == SAGO_OK ? sagoi_pattern_finish(whole) : status;
}
