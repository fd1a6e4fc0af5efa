/* A datatype made in one step from the runs of a flattened one.
 *
 * Every library that is given a type of very many types takes it apart.  A library that gets a list of runs
 * instead has little to do. */
#ifndef SAGOI_RUN_LIST_H
#define SAGOI_RUN_LIST_H

#include "view/flatten.h"

/* Makes a committed type with the same bytes in the same order, and the same bounds; the caller frees it.
 * MPI_DATATYPE_NULL: the flattened type is about as short, or is not committed (which the library that is given it
 * has to find out), or there can be no list, or ROMIO would misread its bounds. */
MPI_Datatype sagoi_run_list(const sagoi_flat *flat, MPI_Datatype type, sagoi_budget *budget);

#endif
