/* Parts of arrays: subarray and darray.
 *
 * Along each axis a process has blocks of elements at a regular distance, and perhaps a shorter block after
 * them; a subarray has one block on each axis.  The axes are applied from the fastest one outwards, each to the
 * result of the one before.  So rows become trains, and an axis that is taken as a whole joins the run inside
 * of it. */
#include "view/combine.h"

#include "base/checked.h"

typedef struct axis {
    int64_t size;                 /* elements of the array along this axis */
    int64_t first;                /* the element where the first block starts */
    int64_t blocks, length, step; /* full blocks; elements of a block; elements from block to block */
    int64_t remainder;            /* elements of a shorter block, which stands where one more block would */
    int64_t stride;               /* bytes from element to element */
} axis;

typedef struct axes {
    axis *axis; /* the fastest axis first */
    int64_t count;
    int64_t off; /* bytes to the first element */
    sagoi_budget *budget;
} axes;

static sago_status axes_init(axes *all, int64_t count, sagoi_budget *budget) {
    *all = (axes){.count = count, .budget = budget};
    all->axis = sagoi_budget_alloc(budget, count * (int64_t)sizeof *all->axis);
    return all->axis ? SAGO_OK
                     : sagoi_fail(SAGO_ERR_MEMORY, "no memory for an array of %lld dimensions", (long long)count);
}

static void axes_cleanup(axes *all) { sagoi_budget_free(all->budget, all->axis); }

/* The axis of dimension `dim`, as the caller of MPI numbers dimensions. */
static axis *axis_of(const axes *all, int64_t dim, int64_t order) {
    return &all->axis[order == MPI_ORDER_FORTRAN ? dim : all->count - 1 - dim];
}

/* Works out strides, and where the first element is. */
static sago_status place_axes(axes *all, int64_t extent) {
    int64_t stride = extent;
    for (int64_t i = 0; i < all->count; i++) {
        axis *a = &all->axis[i];
        int64_t off;
        a->stride = stride;
        if (sagoi_mul(a->first, stride, &off) || sagoi_add(all->off, off, &all->off) ||
            sagoi_mul(stride, a->size, &stride))
            return sagoi_fail_offsets();
    }
    return SAGO_OK;
}

static int64_t elements(const axis *a) { return a->blocks * a->length + a->remainder; }

/* Appends what the axis makes of `part`. */
static sago_status add_axis(const axis *a, const sagoi_pattern *part, sagoi_pattern *out) {
    sagoi_blocks blocks = {.count = elements(a), .length = a->length, .stride = a->stride};
    if (sagoi_mul(a->step, a->stride, &blocks.step))
        return sagoi_fail_offsets();
    sagoi_pattern_add_blocks(out, part, &blocks);
    return SAGO_OK;
}

/* Applies the axes outwards.  Axes of one element are left out; their offset is added to the innermost result,
 * which is the smallest. */
static sago_status spread(const axes *all, const sagoi_pattern *element, sagoi_pattern *whole) {
    sagoi_pattern inner;
    sagoi_pattern_init(&inner, all->budget);
    sagoi_pattern_add_repeated(&inner, element, all->off, 1, 0);
    sago_status status = sagoi_pattern_finish(&inner);
    for (int64_t i = 0; i < all->count && status == SAGO_OK; i++) {
        if (elements(&all->axis[i]) == 1)
            continue;
        sagoi_pattern outer;
        sagoi_pattern_init(&outer, all->budget);
        status = add_axis(&all->axis[i], &inner, &outer);
        if (status == SAGO_OK)
            status = sagoi_pattern_finish(&outer);
        sagoi_pattern_cleanup(status == SAGO_OK ? &inner : &outer);
        if (status == SAGO_OK)
            inner = outer;
    }
    if (status == SAGO_OK)
        *whole = inner;
    else
        sagoi_pattern_cleanup(&inner);
    return status;
}

static sago_status combine_axes(axes *all, const sagoi_flat *part, sagoi_pattern *whole) {
    sago_status status = place_axes(all, part->extent);
    return status == SAGO_OK ? spread(all, &part->pattern, whole) : status;
}

/* ndims, sizes[], subsizes[], starts[], order */
sago_status sagoi_combine_subarray(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole) {
    const int64_t *values = contents->values;
    int64_t ndims = values[0], order = values[1 + 3 * ndims];
    const int64_t *sizes = values + 1, *subsizes = sizes + ndims, *starts = subsizes + ndims;
    axes all;
    sago_status status = axes_init(&all, ndims, contents->budget);
    if (status != SAGO_OK)
        return status;
    for (int64_t i = 0; i < ndims; i++)
        *axis_of(&all, i, order) =
            (axis){.size = sizes[i], .first = starts[i], .blocks = 1, .length = subsizes[i]};
    status = combine_axes(&all, part, whole);
    axes_cleanup(&all);
    return status;
}

/* Elements of a block: what the standard calls darg, with its default filled in. */
static int64_t block_length(int64_t size, int64_t distribution, int64_t argument, int64_t processes) {
    if (distribution == MPI_DISTRIBUTE_NONE)
        return sagoi_max(1, size);
    if (argument != MPI_DISTRIBUTE_DFLT_DARG)
        return argument;
    return distribution == MPI_DISTRIBUTE_BLOCK ? sagoi_max(1, sagoi_div_up(size, processes)) : 1;
}

/* What process `me` of `processes` gets when blocks of `length` are dealt out in turn: MPI 3.1, 4.1.4. */
static axis deal(int64_t size, int64_t length, int64_t processes, int64_t me) {
    int64_t blocks = sagoi_div_up(size, length), mine = blocks / processes + (me < blocks % processes);
    bool last_is_mine = blocks > 0 && (blocks - 1) % processes == me;
    int64_t remainder = last_is_mine ? size % length : 0;
    return (axis){.size = size,
                  .first = me * length,
                  .blocks = mine - (remainder > 0),
                  .length = length,
                  .step = processes * length,
                  .remainder = remainder};
}

/* size, rank, ndims, gsizes[], distribs[], dargs[], psizes[], order */
sago_status sagoi_combine_darray(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole) {
    const int64_t *values = contents->values;
    int64_t processes = values[0], rank = values[1], ndims = values[2], order = values[3 + 4 * ndims];
    const int64_t *sizes = values + 3, *distributions = sizes + ndims, *arguments = distributions + ndims;
    const int64_t *grid = arguments + ndims;
    axes all;
    sago_status status = axes_init(&all, ndims, contents->budget);
    if (status != SAGO_OK)
        return status;
    for (int64_t i = 0; i < ndims; i++) { /* the grid of processes is row-major whatever the order */
        processes /= grid[i];
        int64_t me = rank / processes;
        rank %= processes;
        int64_t length = block_length(sizes[i], distributions[i], arguments[i], grid[i]);
        *axis_of(&all, i, order) = deal(sizes[i], length, grid[i], me);
    }
    status = combine_axes(&all, part, whole);
    axes_cleanup(&all);
    return status;
}
