/* Files of one rank are opened by Sago at the first call that it may serve, so that those it never serves cost
 * neither time nor a descriptor.  There is nobody to agree with, so what cannot be had then is simply left to the
 * MPI library.  docs/descriptors.md says why files of several ranks are not opened so. */
#ifndef DROPIN_LATE_H
#define DROPIN_LATE_H

#include <stdbool.h>

#include "mpi_files.h"

typedef struct dropin_late {
    dev_t device;
    ino_t inode;
    MPI_Info info; /* the program's, a copy; or MPI_INFO_NULL */
} dropin_late;

/* False: it is to be opened by Sago now. */
bool dropin_put_off(dropin_file *file, MPI_Comm comm, MPI_Info info);

enum { DROPIN_LATE_PATH = 64 };
/* A path of the file that was put off, whatever its name and the process's folder are by now; NULL: there is none.
 */
const char *dropin_late_path(const dropin_file *file, char path[DROPIN_LATE_PATH]);

void dropin_late_free(dropin_file *file);

#endif
