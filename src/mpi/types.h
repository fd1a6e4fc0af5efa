/* MPI as the library's own files see it.  No other header of src/ includes mpi.h, so that another ABI of MPI has
 * one place to come in (docs/measured.md, "One header for MPI's types"). */
#ifndef SAGOI_MPI_TYPES_H
#define SAGOI_MPI_TYPES_H

#include <mpi.h>
#include <stdint.h>

#include "base/status.h"

/* A place in memory as a displacement from MPI_BOTTOM.  MPI_Get_address() gives the same number, but it is a call
 * of MPI's for every piece, and could fail. */
static inline MPI_Aint sagoi_address(const void *place) {
    return (MPI_Aint)((intptr_t)place - (intptr_t)MPI_BOTTOM);
}

/* The bytes of one element of an array.  SAGO_ERR_TYPE: elements of the type would not lie side by side, or have
 * no bytes. */
sago_status sagoi_element_bytes(MPI_Datatype type, int64_t *bytes) SAGOI_CHECKED;

#endif
