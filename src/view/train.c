/* The constructors of combine.c for parts and results that are one train.  Whatever is no train, or has an offset
 * that does not fit, is left to combine.c to store or to refuse. */
#include "view/train.h"

#include "base/checked.h"

bool sagoi_train_repeat(sagoi_train *train, int64_t count, int64_t distance) {
    int64_t span;
    if (count == 1)
        return true;
    if (count < 1)
        return false;
    if (train->count == 1 && train->len != distance) {
        train->count = count;
        train->stride = distance;
        return true;
    }
    if (train->count == 1)
        return !sagoi_mul(train->len, count, &train->len);
    return !sagoi_mul(train->count, train->stride, &span) && span == distance &&
           !sagoi_mul(train->count, count, &train->count);
}

bool sagoi_train_move(sagoi_train *train, int64_t distance) {
    return !sagoi_add(train->off, distance, &train->off);
}

/* Blocks of `length` parts at a distance in units of `unit` bytes. */
static bool repeat_blocks(const sagoi_contents *contents, int64_t extent, int64_t unit, sagoi_train *train) {
    const int64_t *values = contents->values;
    int64_t step;
    return !sagoi_mul(values[2], unit, &step) && sagoi_train_repeat(train, values[1], extent) &&
           sagoi_train_repeat(train, values[0], step);
}

/* Blocks at listed displacements, if the list has one block. */
static bool repeat_listed(const sagoi_contents *contents, int64_t extent, int64_t unit, sagoi_train *train) {
    const int64_t *values = contents->values;
    int64_t off;
    return values[0] == 1 && !sagoi_mul(values[2], unit, &off) && sagoi_train_repeat(train, values[1], extent) &&
           sagoi_train_move(train, off);
}

bool sagoi_combines_one(const sagoi_contents *contents) {
    switch (contents->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        return contents->values[0] == 1;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return contents->values[0] == 1 && contents->values[1] == 1;
    default:
        return false;
    }
}

bool sagoi_combine_train(const sagoi_contents *contents, int64_t extent, sagoi_train *train) {
    switch (contents->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        return sagoi_train_repeat(train, contents->values[0], extent);
    case MPI_COMBINER_VECTOR:
        return repeat_blocks(contents, extent, extent, train);
    case MPI_COMBINER_HVECTOR:
        return repeat_blocks(contents, extent, 1, train);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
        return repeat_listed(contents, extent, extent, train);
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return repeat_listed(contents, extent, 1, train);
    default:
        return false;
    }
}
