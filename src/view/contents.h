/* What a datatype was made from, as numbers and handles: one call of a constructor, read back.  Used by the files
 * of this folder only. */
#ifndef SAGOI_CONTENTS_H
#define SAGOI_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/types.h"
#include "base/budget.h"
#include "base/status.h"

enum { SAGOI_FEW_VALUES = 12 };

typedef struct sagoi_contents {
    int combiner;        /* MPI_COMBINER_*; Fortran's old INTEGER calls have the same values as the newer ones */
    int64_t nvalues;     /* numbers */
    int64_t ntypes;      /* handles */
    int64_t *values;     /* all arguments but the handles, in the order of the constructor's C binding; owned */
    MPI_Datatype *types; /* owned, as is each handle that is not predefined */
    sagoi_budget *budget;
    /* Room for values and a handle if there are few: views are made of tens of thousands of small types, and
     * allocating memory costs more than filling it.  Pointers lead here, so this struct must not be moved. */
    int64_t few_values[SAGOI_FEW_VALUES];
    MPI_Datatype one_type;
} sagoi_contents;

/* Not for MPI_DATATYPE_NULL.  A predefined type has no values and no types. */
sago_status sagoi_contents_init(sagoi_contents *contents, MPI_Datatype type, sagoi_budget *budget) SAGOI_CHECKED;
void sagoi_contents_cleanup(sagoi_contents *contents); /* fine on a zeroed struct, and twice */

/* Releases a handle that is not needed any more; `derived` saves asking MPI. */
void sagoi_contents_drop(sagoi_contents *contents, int64_t index, bool derived);

/* Bytes of the predefined types that most programs use, all without gaps; 0: another type. */
static inline int64_t sagoi_common_size(MPI_Datatype type) {
    if (type == MPI_BYTE || type == MPI_CHAR)
        return 1;
    if (type == MPI_DOUBLE)
        return sizeof(double);
    if (type == MPI_INT)
        return sizeof(int);
    return type == MPI_FLOAT ? sizeof(float) : 0;
}

/* Is the type named, or one of Fortran's sized types?  Such a type has no parts, and its handle must not be
 * freed. */
bool sagoi_combiner_predefined(int combiner);
/* Both are false if MPI does not tell; not for MPI_DATATYPE_NULL. */
bool sagoi_type_predefined(MPI_Datatype type);
bool sagoi_type_derived(MPI_Datatype type);

/* As MPI_Type_size_x and MPI_Type_get_extent_x. */
sago_status sagoi_type_size(MPI_Datatype type, int64_t *size) SAGOI_CHECKED;
sago_status sagoi_type_extent(MPI_Datatype type, int64_t *lower_bound, int64_t *extent) SAGOI_CHECKED;
/* From the first byte of data to the last. */
sago_status sagoi_type_true_extent(MPI_Datatype type, int64_t *low, int64_t *span) SAGOI_CHECKED;

/* The parts of a struct, and how many numbers describe it; 0 for any other type. */
int64_t sagoi_type_parts(MPI_Datatype type, int64_t *numbers);
/* Commits a type of ours, so that it can be packed; the program's parts need not be committed. */
bool sagoi_type_commit(MPI_Datatype type);
/* Packs one element whose first byte of data, at `low` of the type, is at `first`.  false: the result has not
 * exactly `size` bytes. */
bool sagoi_type_pack(MPI_Datatype type, const void *first, int64_t low, void *packed, int64_t size);

#endif
