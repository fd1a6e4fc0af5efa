/* MPI as the library's own files see it: the one header of src/ that includes mpi.h, so that another ABI of MPI
 * has one place to come in (docs/measured.md, "One header for MPI's types"). */
#ifndef SAGOI_MPI_TYPES_H
#define SAGOI_MPI_TYPES_H

#include <mpi.h>

#endif
