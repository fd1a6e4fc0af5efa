/* A rank on which the core cannot be loaded.  Other ranks may have it.  So this rank says so in every call in
 * which others would wait for it, and then all ranks do what the MPI library does by itself. */
#ifndef DROPIN_ABSENT_H
#define DROPIN_ABSENT_H

#include "../entries.h"
#include "library.h"

/* Fills in the entries of these calls.  `why`: what the user is told, unless another rank without a core tells. */
void absent_begin(const mpi_library *mpi, const char *why, dropin_next *next,
                  dropin_entry *entries[DROPIN_ENTRY_COUNT]);

#endif
