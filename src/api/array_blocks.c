/* Checks a block of an array and hands it on as two slabs, one in the file and one in memory. */
#include "api/array_blocks.h"

#include "mpi/types.h"

_Static_assert((int)SAGOI_AXES_MAX == (int)SAGO_CKPT_DIMS_MAX, "blocks are those of checkpoints");

static sago_status check_block(const sago_array *array) {
    const sago_block *block = array->block;
    if (array->ndims < 1 || array->ndims > SAGOI_AXES_MAX)
        return sagoi_fail(SAGO_ERR_ARG, "%d dimensions, not 1 to %d", array->ndims, SAGOI_AXES_MAX);
    if (!array->global)
        return sagoi_fail(SAGO_ERR_ARG, "the global shape is NULL");
    if (array->offset < 0)
        return sagoi_fail(SAGO_ERR_ARG, "the offset %lld is negative", (long long)array->offset);
    if (block && (!block->start || !block->count))
        return sagoi_fail(SAGO_ERR_ARG, "the block's start or count is NULL");
    if (block && !block->mem_shape != !block->mem_start)
        return sagoi_fail(SAGO_ERR_ARG, "of mem_shape and mem_start one is NULL");
    return SAGO_OK;
}

sago_status sagoi_array_place(const sago_array *array, char *data, sagoi_block_place *place, bool *any) {
    const sago_block *block = array->block;
    int64_t element = 1;
    *any = block != NULL;
    sago_status status = check_block(array);
    if (!status)
        status = sagoi_element_bytes(array->element, &element);
    if (status || !block)
        return status;
    *place = (sagoi_block_place){.offset = array->offset, .base = data};
    place->file = (sagoi_slab){element, array->ndims, array->global, block->start, block->count};
    place->memory = (sagoi_slab){element, array->ndims, block->mem_shape ? block->mem_shape : block->count,
                                 block->mem_start, block->count};
    return SAGO_OK;
}

sago_status sagoi_compose_array(sagoi_composed *composed, const sago_array *array, char *data) {
    sagoi_block_place place;
    bool any = false;
    sago_status status = sagoi_array_place(array, data, &place, &any);
    return status || !any ? status : sagoi_compose_block(composed, &place);
}
