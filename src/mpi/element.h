/* Types of the elements of arrays. */
#ifndef SAGOI_ELEMENT_H
#define SAGOI_ELEMENT_H

#include <stdint.h>

#include "mpi/types.h"
#include "base/status.h"

/* The bytes of one element.  SAGO_ERR_TYPE: elements of the type would not lie side by side, or have no bytes. */
sago_status sagoi_element_bytes(MPI_Datatype type, int64_t *bytes) SAGOI_CHECKED;

#endif
