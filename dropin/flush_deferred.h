/* Deferred writes (hint sago_defer) before the MPI library looks at the file.  Both do nothing while there are
 * none, and return a code after the file's error handler has seen it; `file` may be NULL. */
#ifndef DROPIN_FLUSH_DEFERRED_H
#define DROPIN_FLUSH_DEFERRED_H

#include "mpi_files.h"
#include "raise.h"

/* Local: what this rank has deferred is in the file. */
static inline int dropin_flush_own(const dropin_file *file) {
    return file && file->sago ? dropin_raise(file->handle, sago_flush_own(file->sago)) : MPI_SUCCESS;
}

/* Collective: what anybody has. */
static inline int dropin_flush(const dropin_file *file) {
    return file && file->sago ? dropin_raise(file->handle, sago_flush_all(file->sago)) : MPI_SUCCESS;
}

#endif
