/* MPI datatypes to patterns.
 *
 * Flattening walks the type's constructors by MPI_Type_get_envelope and _get_contents, or packs numbers where
 * there are very many (probe.h); cost is in proportion to the runs.  Handles are never kept: a pattern is a copy
 * of what the type says. */
#ifndef SAGOI_FLATTEN_H
#define SAGOI_FLATTEN_H

#include "mpi/types.h"
#include "extent/pattern.h"

typedef struct sagoi_flat {
    sagoi_pattern pattern; /* in typemap order: origin = the address given to MPI */
    int64_t size;          /* bytes of data, == pattern.bytes */
    int64_t lower_bound;   /* MPI_Type_get_extent */
    int64_t extent;
    int64_t numbers; /* that the type and its parts are described by: what flattening it costs */
    bool rebased; /* it or a part of it is resized, with a lower bound other than 0 (not looked for in probe.h) */
} sagoi_flat;

/* Any datatype of MPI 3.1, and those of MPI 4's large-count calls; committed or not.  SAGO_ERR_TYPE for
 * MPI_DATATYPE_NULL, SAGO_ERR_OVERFLOW, SAGO_ERR_MPI, SAGO_ERR_MEMORY. */
sago_status sagoi_flatten(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat) SAGOI_CHECKED;
void sagoi_flat_cleanup(sagoi_flat *flat); /* fine on a zeroed struct, and twice */

#endif
