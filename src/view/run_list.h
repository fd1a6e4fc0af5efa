/* A datatype made in one step, of a flattened one's runs.
 *
 * A type of very many types is taken apart by every library that is given it.  One that gets the list of runs
 * instead has little left to do. */
#ifndef SAGOI_RUN_LIST_H
#define SAGOI_RUN_LIST_H

#include "view/flatten.h"

/* Committed, with the same bytes in the same order, and the same bounds; to be freed.  MPI_DATATYPE_NULL: the type
 * that was flattened is about as short, or is not committed, which whoever is given it is to find, or the list
 * cannot be had, or has other bounds that ROMIO would misread. */
MPI_Datatype sagoi_run_list(const sagoi_flat *flat, MPI_Datatype type, sagoi_budget *budget);

#endif
