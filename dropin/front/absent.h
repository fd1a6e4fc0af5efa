/* A rank on which the core cannot be loaded.  Others may have it: so this one says in every call in which they
 * would wait for it that it has none, and all of them do as the MPI library does by itself. */
#ifndef DROPIN_ABSENT_H
#define DROPIN_ABSENT_H

#include "../entries.h"
#include "library.h"

/* Fills in the entries of these calls. `why`: what the user is told, if no other rank without a core does. */
void absent_begin(const mpi_library *mpi, const char *why, dropin_next *next,
                  dropin_entry *entries[DROPIN_ENTRY_COUNT]);

#endif
