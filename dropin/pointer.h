/* The individual file pointer of a file that Sago has taken.
 *
 * The MPI library has one, which its own calls move.  Sago's calls move a copy, in etypes, and the library's
 * pointer is corrected before it is used again.  So a program that only makes collective calls never asks the
 * library, whose answer takes long with views of many pieces, and is sometimes wrong (MPICH 4.0.2: if a part's
 * lower bound is not 0). */
#ifndef DROPIN_POINTER_H
#define DROPIN_POINTER_H

#include "mpi_files.h"

/* The pointer's position. */
int dropin_pointer_get(dropin_file *file, MPI_Offset *at);
/* A call of Sago's has moved the pointer. */
void dropin_pointer_set(dropin_file *file, MPI_Offset at);
/* There is a new view, so the pointer is at its start. */
void dropin_pointer_reset(dropin_file *file);
/* The MPI library is going to use the pointer and move it; `file` may be NULL. */
void dropin_pointer_leave(dropin_file *file);

#endif
