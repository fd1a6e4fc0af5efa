/* A type's bytes, found by packing numbers instead of taking the type apart.
 *
 * Open MPI gives a copy of every part of a type that is taken apart, which for a struct of tens of thousands of
 * parts, as HDF5 makes one of chunks, costs ten times what the MPI library itself does with the type.  Packing
 * bytes that say where they are tells the same: as the MPI library will move the data itself. */
#ifndef SAGOI_PROBE_H
#define SAGOI_PROBE_H

#include "view/flatten.h"

/* True: *flat is filled.  False: the type is to be taken apart, since that costs less, or this failed; nothing to
 * be cleaned up. */
bool sagoi_probe(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat);

#endif
