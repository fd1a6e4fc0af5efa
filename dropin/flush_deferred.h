/* Deferred writes (hint sago_defer), before the MPI library looks at the file.  Both functions do nothing if there
 * are none, and return a code after the file's error handler was called; `file` may be NULL. */
#ifndef DROPIN_FLUSH_DEFERRED_H
#define DROPIN_FLUSH_DEFERRED_H

#include "mpi_files.h"
#include "raise.h"

/* Local: writes what this rank has deferred. */
static inline int dropin_flush_own(const dropin_file *file) {
    return file && file->sago ? dropin_raise(file->handle, sago_flush_own(file->sago)) : MPI_SUCCESS;
}

/* Collective: writes what all ranks have deferred. */
static inline int dropin_flush(const dropin_file *file) {
    return file && file->sago ? dropin_raise(file->handle, sago_flush_all(file->sago)) : MPI_SUCCESS;
}

#endif
