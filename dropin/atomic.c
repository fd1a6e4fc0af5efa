#include "atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static atomic_int locked_files; /* in atomic mode; while there are none, nothing is looked up */

bool dropin_by_romio(void) {
#ifdef SAGO_MPI_MPICH
    return true;
#else
    const char *component = getenv("OMPI_MCA_io");
    return component && strstr(component, "romio");
#endif
}

/* Opens the file by its descriptor, since it may have another name by now. */
static int open_again(const dropin_file *file) {
    char room[DROPIN_PATH];
    const char *path = dropin_files_path(file, room);
    bool reads = !(file->amode & MPI_MODE_WRONLY);
    return path ? open(path, (reads ? O_RDONLY : O_WRONLY) | O_CLOEXEC) : -1;
}

void dropin_atomic_switch(dropin_file *file, bool on) {
    file->atomic = on;
    if (on && file->atomic_lock < 0 && file->sago && !dropin_by_romio()) {
        file->atomic_lock = open_again(file);
        if (file->atomic_lock >= 0)
            atomic_fetch_add(&locked_files, 1);
    } else if (!on && file->atomic_lock >= 0) {
        (void)close(file->atomic_lock);
        file->atomic_lock = -1;
        atomic_fetch_sub(&locked_files, 1);
    }
}

/* The ranks agree on one mode, whether each of them could open its lock or not. */
bool dropin_atomic_alone(MPI_File handle) {
    const dropin_file *file = dropin_files_find(handle);
    return file && file->atomic && !dropin_by_romio();
}

int dropin_atomic_enter(MPI_File handle) {
    if (atomic_load_explicit(&locked_files, memory_order_relaxed) == 0)
        return -1;
    dropin_file *file = dropin_files_find(handle);
    if (!file || file->atomic_lock < 0)
        return -1;
    while (flock(file->atomic_lock, LOCK_EX) != 0)
        if (errno != EINTR)
            return -1;
    return file->atomic_lock;
}

void dropin_atomic_leave(int lock) {
    if (lock >= 0)
        (void)flock(lock, LOCK_UN);
}
