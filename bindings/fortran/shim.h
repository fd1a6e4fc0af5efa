/* What the files of the shim share. */
#ifndef SAGO_FORTRAN_SHIM_H
#define SAGO_FORTRAN_SHIM_H

#include <ISO_Fortran_binding.h>

/* Where a buffer is.  One with gaps has no place for C: NULL, which the call refuses on all ranks. */
static inline void *shim_address(const CFI_cdesc_t *buffer) {
    return buffer->rank == 0 || CFI_is_contiguous(buffer) ? buffer->base_addr : NULL;
}

#endif
