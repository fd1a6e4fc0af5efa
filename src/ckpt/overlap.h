/* Copies between a block as it is stored (its elements one after another) and a block in memory; only the elements
 * that both have are moved.  When saving, both are the same block, with ghost cells around it in memory; when
 * restoring, they are any two blocks of one array. */
#ifndef SAGOI_CKPT_OVERLAP_H
#define SAGOI_CKPT_OVERLAP_H

#include <sago/ckpt.h>

#include "extent/copy.h"

/* A block and, in memory, what lies around it; in C order. */
typedef struct sagoi_box {
    int64_t start[SAGO_CKPT_DIMS_MAX], count[SAGO_CKPT_DIMS_MAX];         /* in the global array */
    int64_t mem_shape[SAGO_CKPT_DIMS_MAX], mem_start[SAGO_CKPT_DIMS_MAX]; /* of the memory around it */
} sagoi_box;

/* Rows of bytes that are contiguous on both sides.  Invariant: their places in the stream ascend. */
typedef struct sagoi_overlap {
    int64_t ndims;                      /* >= 1; the last dimension is the bytes of a row, with stride 1 */
    int64_t count[SAGO_CKPT_DIMS_MAX];  /* > 0 */
    int64_t stream[SAGO_CKPT_DIMS_MAX]; /* strides, in bytes */
    int64_t memory[SAGO_CKPT_DIMS_MAX];
    int64_t stream_off, memory_off; /* place of the first byte */
    int64_t stream_end;             /* one past the last byte */
    int64_t bytes;
} sagoi_overlap;

/* The array's dimensions and the bytes of an element; the numbers are known to fit. */
typedef struct sagoi_cells {
    int64_t ndims, element;
} sagoi_cells;

/* What `stored` (without its mem_* fields), which lies at `offset` of its stream, and `mine` have in common;
 * false: nothing. */
bool sagoi_overlap_make(sagoi_overlap *region, sagoi_cells cells, const sagoi_box *stored, int64_t offset,
                        const sagoi_box *mine);

/* A region of bytes that are contiguous on both sides. */
void sagoi_overlap_flat(sagoi_overlap *region, int64_t offset, int64_t bytes);

/* Copies the part of the region that lies in the bytes [from, to) of the stream; stream[0] is byte `from`.  Fails
 * only for memory of a device. */
sago_status sagoi_overlap_copy(const sagoi_overlap *region, char *stream, int64_t from, int64_t to, char *memory,
                               sagoi_direction direction) SAGOI_CHECKED;

#endif
