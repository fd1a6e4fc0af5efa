/* What the user is told if Sago is not used: once a job, unless it was switched off. */
#ifndef DROPIN_TOLD_H
#define DROPIN_TOLD_H

#include "library.h"

/* The program runs with this MPI library. */
void tell_foreign(const mpi_library *mpi);

/* Sago itself cannot be loaded. */
void tell_broken(const char *why);

/* The same for a rank that is not the job's first, on which Sago may be there. */
void tell_absent(const char *why);

/* SAGO_DISABLE: Sago serves nothing.  A word that means neither on nor off counts as on. */
bool is_disabled(void);
/* Warns of such a word, unless the library is in the program and will do so. */
void tell_disabled(void);

#endif
