/* Buffers that very many small types describe, made for one call (HDF5 makes them for each of its chunks).  Taking
 * such a type apart costs more than copying the data, which the MPI library does quickly, so Sago gets a copy
 * without gaps. A type that is used again is worth taking apart, since Sago keeps its form. */
#ifndef DROPIN_PACKED_H
#define DROPIN_PACKED_H

#include <stdbool.h>

#include <sago/sago.h>

typedef struct dropin_packed {
    char *copy; /* NULL: the buffer is used as it is */
    MPI_Count bytes;
} dropin_packed;

/* Packs the buffer's data, after its arguments were found right.  For a read as well: bytes that the file does not
 * have stay as they were. */
dropin_packed dropin_pack(const void *buf, MPI_Count count, MPI_Datatype type);
/* False: what was read is not in the buffer. */
bool dropin_unpack(const dropin_packed *packed, void *buf, MPI_Count count, MPI_Datatype type);
void dropin_packed_free(dropin_packed *packed);

#endif
