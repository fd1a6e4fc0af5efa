#include "pointer.h"

#include "mpi_calls.h"

int dropin_pointer_get(dropin_file *file, MPI_Offset *at) {
    int code = MPI_SUCCESS;
    (void)pthread_mutex_lock(&file->lock);
    if (!file->pointer_known)
        code = dropin_mpi->get_position(file->handle, &file->pointer);
    file->pointer_known = code == MPI_SUCCESS;
    *at = file->pointer;
    (void)pthread_mutex_unlock(&file->lock);
    return code;
}

void dropin_pointer_set(dropin_file *file, MPI_Offset at) {
    (void)pthread_mutex_lock(&file->lock);
    file->pointer = at;
    file->pointer_known = file->pointer_moved = true;
    (void)pthread_mutex_unlock(&file->lock);
}

void dropin_pointer_reset(dropin_file *file) {
    (void)pthread_mutex_lock(&file->lock);
    file->pointer = 0;
    file->pointer_known = true;
    file->pointer_moved = false;
    (void)pthread_mutex_unlock(&file->lock);
}

void dropin_pointer_leave(dropin_file *file) {
    if (!file)
        return;
    (void)pthread_mutex_lock(&file->lock);
    if (file->pointer_moved)
        (void)dropin_mpi->seek(file->handle, file->pointer, MPI_SEEK_SET);
    file->pointer_known = file->pointer_moved = false;
    (void)pthread_mutex_unlock(&file->lock);
}
