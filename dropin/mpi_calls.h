/* The MPI-IO calls that Sago stands in front of, and the way past it.
 *
 * For each call there is an entry for MPI_File_x and one for PMPI_File_x, and dropin_x() behind them, which gets
 * the call's parameters and the table `next` to hand the call on with (entry_points.c).
 *
 * Calls without an entry never come here: they go to the MPI library, whose MPI_File every handle is. */
#ifndef DROPIN_MPI_CALLS_H
#define DROPIN_MPI_CALLS_H

#include <stdbool.h>

#include <sago/sago.h>

#include "entry_points.h"

/* The MPI library's own functions. */
extern const dropin_calls *const dropin_mpi;

/* ---- For the entries ---- */

extern dropin_calls dropin_after_mpi, dropin_after_pmpi;
extern bool dropin_tools;                /* somebody else stands behind MPI_File_x */
extern _Thread_local bool dropin_within; /* a call of such a tool's is let straight through */

#endif
