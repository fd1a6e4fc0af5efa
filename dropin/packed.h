/* Buffers described by very many small types, made for one call (HDF5 makes them for each of its chunks): taking
 * such a type apart costs more than to copy what it describes, which the MPI library is quick at.  So Sago gets a
 * copy without gaps.  A type that is used again is worth taking apart: Sago keeps what it looks like. */
#ifndef DROPIN_PACKED_H
#define DROPIN_PACKED_H

#include <sago/sago.h>

typedef struct dropin_packed {
    char *copy; /* NULL: the buffer is used as it is */
    MPI_Count bytes;
} dropin_packed;

/* What is in the buffer; the arguments were found right.  Of a read, too: what the file does not have stays as it
 * was. */
dropin_packed dropin_pack(const void *buf, MPI_Count count, MPI_Datatype type);
void dropin_unpack(const dropin_packed *packed, void *buf, MPI_Count count, MPI_Datatype type);
void dropin_packed_free(dropin_packed *packed);

#endif
