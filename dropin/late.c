#include "late.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool is_of_one(MPI_Comm comm) {
    int inter = 1, size = 0;
    return MPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
           MPI_Comm_size(comm, &size) == MPI_SUCCESS && size == 1;
}

bool dropin_put_off(dropin_file *file, MPI_Comm comm, MPI_Info info) {
    struct stat found;
    bool known_to_be_refused = file->amode & MPI_MODE_SEQUENTIAL;
    if (known_to_be_refused || !is_of_one(comm) || !file->path || stat(file->path, &found) != 0 ||
        !S_ISREG(found.st_mode))
        return false;
    dropin_late *late = calloc(1, sizeof *late);
    if (!late)
        return false;
    *late = (dropin_late){found.st_dev, found.st_ino, MPI_INFO_NULL};
    if (info != MPI_INFO_NULL && MPI_Info_dup(info, &late->info) != MPI_SUCCESS) {
        free(late);
        return false;
    }
    file->late = late;
    return true;
}

/* The number of a file that is open is nobody else's, and the MPI library has this one open. */
static bool leads_there(const dropin_late *late, const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && found.st_dev == late->device && found.st_ino == late->inode;
}

/* Among the process's descriptors, one of which is the MPI library's. */
static const char *search_descriptors(const dropin_late *late, char path[DROPIN_LATE_PATH]) {
    DIR *own = opendir("/proc/self/fd");
    const struct dirent *entry;
    bool found = false;
    while (own && !found && (entry = readdir(own))) {
        (void)snprintf(path, DROPIN_LATE_PATH, "/proc/self/fd/%.20s", entry->d_name);
        found = leads_there(late, path);
    }
    if (own)
        (void)closedir(own);
    return found ? path : NULL;
}

const char *dropin_late_path(const dropin_file *file, char path[DROPIN_LATE_PATH]) {
    return leads_there(file->late, file->path) ? file->path : search_descriptors(file->late, path);
}

void dropin_late_free(dropin_file *file) {
    dropin_late *late = file->late;
    file->late = NULL; /* from here on other threads look at what became of the file */
    if (late && late->info != MPI_INFO_NULL)
        (void)MPI_Info_free(&late->info);
    free(late);
}
