/* MPI datatypes to patterns.
 *
 * Flattening walks the type's constructors by MPI_Type_get_envelope and _get_contents or, where there are very
 * many, packs numbers (type_reader.h).  The cost is proportional to the number of runs.  No handle is kept: a
 * pattern is a copy of what the type says. */
#ifndef SAGOI_FLATTEN_H
#define SAGOI_FLATTEN_H

#include "mpi/types.h"
#include "extent/pattern.h"

typedef struct sagoi_flat {
    sagoi_pattern pattern; /* pieces in typemap order; the origin is the address that is given to MPI */
    int64_t size;          /* bytes of data, == pattern.bytes */
    int64_t lower_bound;   /* as from MPI_Type_get_extent */
    int64_t extent;
    int64_t numbers; /* numbers that describe the type and its parts, which is what flattening costs */
    /* ROMIO takes the type for other bytes: it moves the data of a type that is resized with a lower bound by that
     * bound, and knows no gaps in pairs (type_reader.h does not look for either). */
    bool strange_to_romio;
} sagoi_flat;

/* Takes any datatype of MPI 3.1, and those of MPI 4's large-count calls, committed or not.  SAGO_ERR_TYPE for
 * MPI_DATATYPE_NULL, SAGO_ERR_OVERFLOW, SAGO_ERR_MPI, SAGO_ERR_MEMORY. */
sago_status sagoi_flatten(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat) SAGOI_CHECKED;
void sagoi_flat_cleanup(sagoi_flat *flat); /* fine on a zeroed struct, and twice */

#endif
