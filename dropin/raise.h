/* Errors the way MPI reports them. */
#ifndef DROPIN_RAISE_H
#define DROPIN_RAISE_H

#include "mpi_calls.h"

/* Calls the file's error handler, and returns the code. */
static inline int dropin_raise_code(MPI_File file, int code) {
    if (code != MPI_SUCCESS)
        (void)dropin_mpi->call_errhandler(file, code);
    return code;
}

static inline int dropin_raise(MPI_File file, sago_status status) {
    return dropin_raise_code(file, sago_status_mpi_class(status));
}

#endif
