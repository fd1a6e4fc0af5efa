/* The C side of calls by blocks of arrays. */
#include <stdlib.h>

#include <sago/sago.h>

#include "shim.h"

/* ---- Access by blocks of arrays: Fortran's order of dimensions, from 1 on ---- */

/* A block as Fortran has it; what is left of it when the dimensions are too many is refused by the library. */
typedef struct turned_block {
    int64_t global[SAGO_CKPT_DIMS_MAX], start[SAGO_CKPT_DIMS_MAX], count[SAGO_CKPT_DIMS_MAX];
    int64_t shape[SAGO_CKPT_DIMS_MAX], inside[SAGO_CKPT_DIMS_MAX];
    sago_block block;
} turned_block;

/* mem_start[0] 0: memory is the block. */
static void turn_block(int n, const int64_t *global, const int64_t *start, const int64_t *count,
                       const int64_t *mem_shape, const int64_t *mem_start, turned_block *turned) {
    *turned = (turned_block){.block = {.start = turned->start, .count = turned->count}};
    shim_turn(n, global, 0, turned->global);
    shim_turn(n, start, 1, turned->start);
    shim_turn(n, count, 0, turned->count);
    if (mem_start[0] == 0)
        return;
    shim_turn(n, mem_shape, 0, turned->shape);
    shim_turn(n, mem_start, 1, turned->inside);
    turned->block.mem_shape = turned->shape;
    turned->block.mem_start = turned->inside;
}

/* The shape of memory is that of the array given; one of another rank is refused as too small. */
static void turn_array(int n, const int64_t *global, const int64_t *start, const int64_t *count,
                       const CFI_cdesc_t *data, const int64_t *mem_start, turned_block *turned) {
    int64_t shape[SAGO_CKPT_DIMS_MAX] = {0};
    for (int d = 0; d < n && n <= SAGO_CKPT_DIMS_MAX && data->rank == n; d++)
        shape[d] = data->dim[d].extent;
    turn_block(n, global, start, count, shape, mem_start, turned);
    turned->block.data = shim_address(data);
}

void sagof_block_all(sago_file *const *file, const int *write, const int64_t *offset, const MPI_Fint *type,
                     const int *ndims, const int64_t *global, const int64_t *start, const int64_t *count,
                     const CFI_cdesc_t *data, const int64_t *mem_start, int64_t *bytes, int *status) {
    turned_block t;
    MPI_Datatype element = MPI_Type_f2c(*type);
    MPI_Count moved = 0;
    turn_array(*ndims, global, start, count, data, mem_start, &t);
    shim_tell(status, *write ? sago_write_block_all(*file, *offset, element, *ndims, t.global, &t.block)
                             : sago_read_block_all(*file, *offset, element, *ndims, t.global, &t.block, &moved));
    shim_tell_bytes(bytes, moved);
}

void sagof_iblock_all(sago_file *const *file, const int *write, const int64_t *offset, const MPI_Fint *type,
                      const int *ndims, const int64_t *global, const int64_t *start, const int64_t *count,
                      const CFI_cdesc_t *data, const int64_t *mem_start, sago_request **request, int *status) {
    turned_block t;
    MPI_Datatype element = MPI_Type_f2c(*type);
    *request = NULL;
    turn_array(*ndims, global, start, count, data, mem_start, &t);
    shim_tell(status, *write ? sago_iwrite_block_all(*file, *offset, element, *ndims, t.global, &t.block, request)
                             : sago_iread_block_all(*file, *offset, element, *ndims, t.global, &t.block, request));
}

/* As in sago.f90. */
typedef struct fortran_array {
    int64_t offset;
    MPI_Fint element;
    int ndims;
    int64_t global[SAGO_CKPT_DIMS_MAX], start[SAGO_CKPT_DIMS_MAX], count[SAGO_CKPT_DIMS_MAX];
    int64_t mem_shape[SAGO_CKPT_DIMS_MAX], mem_start[SAGO_CKPT_DIMS_MAX];
} fortran_array;

void sagof_declare_arrays(sago_file *const *file, const int64_t *n, const fortran_array *arrays,
                          sago_series **series, int *status) {
    sago_array *converted = *n > 0 ? calloc((size_t)*n, sizeof *converted) : NULL;
    turned_block *blocks = *n > 0 ? calloc((size_t)*n, sizeof *blocks) : NULL;
    for (int64_t i = 0; converted && blocks && i < *n; i++) {
        const fortran_array *from = &arrays[i];
        turn_block(from->ndims, from->global, from->start, from->count, from->mem_shape, from->mem_start,
                   &blocks[i]);
        converted[i] = (sago_array)SAGO_ARRAY_INIT;
        converted[i].offset = from->offset;
        converted[i].element = MPI_Type_f2c(from->element);
        converted[i].ndims = from->ndims;
        converted[i].global = blocks[i].global;
        converted[i].block = &blocks[i].block;
    }
    *series = NULL;
    shim_tell(status, sago_declare_arrays(*file, *n, blocks ? converted : NULL, series));
    free(converted);
    free(blocks);
}
