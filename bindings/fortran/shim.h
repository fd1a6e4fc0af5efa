/* What the files of the shim share. */
#ifndef SAGO_FORTRAN_SHIM_H
#define SAGO_FORTRAN_SHIM_H

#include <ISO_Fortran_binding.h>
#include <stddef.h>
#include <stdint.h>

/* Arguments that the caller has left out are NULL. */
static inline void shim_tell(int *status, int value) {
    if (status)
        *status = value;
}

static inline void shim_tell_bytes(int64_t *bytes, int64_t value) {
    if (bytes)
        *bytes = value;
}

#include <sago/ckpt.h>

/* Where a buffer is.  One with gaps has no place for C: NULL, which the call refuses on all ranks. */
static inline void *shim_address(const CFI_cdesc_t *buffer) {
    return buffer->rank == 0 || CFI_is_contiguous(buffer) ? buffer->base_addr : NULL;
}

/* Fortran's order of dimensions to C's; of as many dimensions as C knows: with more the call is refused before it
 * looks.
 */
static inline void shim_turn(int ndims, const int64_t from[], int64_t base, int64_t to[SAGO_CKPT_DIMS_MAX]) {
    for (int d = 0; d < ndims && ndims <= SAGO_CKPT_DIMS_MAX; d++)
        to[d] = from[ndims - 1 - d] - base;
}

#endif
