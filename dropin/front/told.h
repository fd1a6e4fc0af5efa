/* What the user is told when Sago is not used: once a job, unless nobody wants to hear of Sago. */
#ifndef DROPIN_TOLD_H
#define DROPIN_TOLD_H

#include "library.h"

/* The program runs on this MPI library. */
void tell_foreign(const mpi_library *mpi);

/* Sago itself cannot be loaded. */
void tell_broken(const char *why);

/* The same, of a rank that is not the job's first, which may have it. */
void tell_absent(const char *why);

/* SAGO_DISABLE: nothing is to be Sago's.  A word that means neither on nor off counts as on. */
bool is_disabled(void);
/* Says so of such a word, unless the library is in the program and will say it. */
void tell_disabled(void);

#endif
