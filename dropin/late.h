/* Files of one rank are opened by Sago at the first call that it may serve, so that files without such a call cost
 * neither time nor a descriptor.  There is no other rank to agree with, so if that fails the file is left to the
 * MPI library. docs/descriptors.md tells why files of several ranks are not opened so. */
#ifndef DROPIN_LATE_H
#define DROPIN_LATE_H

#include <stdbool.h>

#include "mpi_files.h"

typedef struct dropin_late {
    MPI_Info info; /* a copy of the program's; or MPI_INFO_NULL */
} dropin_late;

/* false: Sago has to open the file now. */
bool dropin_put_off(dropin_file *file, MPI_Comm comm, MPI_Info info);

void dropin_late_free(dropin_file *file);

#endif
