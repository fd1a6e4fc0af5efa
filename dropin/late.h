/* Files of one rank are opened by Sago at the first call that it may serve, so that those it never serves cost
 * neither time nor a descriptor.  There is nobody to agree with, so what cannot be had then is simply left to the
 * MPI library.  docs/descriptors.md says why files of several ranks are not opened so. */
#ifndef DROPIN_LATE_H
#define DROPIN_LATE_H

#include <stdbool.h>

#include "mpi_files.h"

typedef struct dropin_late {
    MPI_Info info; /* the program's, a copy; or MPI_INFO_NULL */
} dropin_late;

/* False: it is to be opened by Sago now. */
bool dropin_put_off(dropin_file *file, MPI_Comm comm, MPI_Info info);

void dropin_late_free(dropin_file *file);

#endif
