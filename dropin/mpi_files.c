/* A small hash table of files.  Threads may use different files at once, and each file is used by one thread at a
 * time, so an entry that was found stays: only closing its file removes it. */
#include "mpi_files.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic.h"
#include "late.h"
#include "own_calls.h"

enum { BUCKETS = 64 };

static dropin_file *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static dropin_file **bucket_of(MPI_File handle) { return &buckets[((uintptr_t)handle >> 4) % BUCKETS]; }

dropin_file *dropin_files_create(void) {
    dropin_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->handle = MPI_FILE_NULL;
    file->process = getpid();
    file->atomic_lock = -1;
    file->filetype = MPI_DATATYPE_NULL;
    (void)pthread_mutex_init(&file->lock, NULL);
    return file;
}

void dropin_files_add(dropin_file *file, MPI_File handle) {
    static int64_t opened;
    file->handle = handle;
    (void)pthread_mutex_lock(&lock);
    file->number = ++opened;
    dropin_file **bucket = bucket_of(handle);
    file->next = *bucket;
    *bucket = file;
    (void)pthread_mutex_unlock(&lock);
}

dropin_file *dropin_files_find(MPI_File handle) {
    (void)pthread_mutex_lock(&lock);
    dropin_file *file = *bucket_of(handle);
    while (file && file->handle != handle)
        file = file->next;
    (void)pthread_mutex_unlock(&lock);
    return file;
}

void dropin_files_remove(dropin_file *file) {
    (void)pthread_mutex_lock(&lock);
    dropin_file **at = bucket_of(file->handle);
    while (*at && *at != file)
        at = &(*at)->next;
    if (*at)
        *at = file->next;
    (void)pthread_mutex_unlock(&lock);
    dropin_atomic_switch(file, false);
    (void)pthread_mutex_destroy(&file->lock);
    dropin_late_free(file);
    if (file->filetype != MPI_DATATYPE_NULL)
        (void)DROPIN_DONE(MPI_Type_free(&file->filetype));
    free(file->path);
    free(file);
}

bool dropin_failed_alone(dropin_file *file) {
    sago_stats stats = SAGO_STATS_INIT;
    if (sago_get_stats(file->sago, &stats) != SAGO_OK || stats.separate_failures <= file->own_failures)
        return false;
    file->own_failures++;
    return true;
}

/* A program that ends without closing its files finds in them what it wrote. */
__attribute__((destructor)) static void flush_unclosed(void) { dropin_files_flush(); }

void dropin_files_flush(void) {
    for (int i = 0; i < BUCKETS; i++)
        for (dropin_file *file = buckets[i]; file; file = file->next)
            if (file->sago && file->process == getpid())
                (void)sago_flush_own(file->sago);
}

/* The inode of an open file belongs to no other file, and the MPI library has this file open. */
static bool is_named(const dropin_file *file, const struct stat *named) {
    return file->found && named->st_dev == file->device && named->st_ino == file->inode;
}

static bool leads_to(const dropin_file *file, const char *path) {
    struct stat named;
    return stat(path, &named) == 0 && is_named(file, &named);
}

/* Looks among the process's descriptors, one of which is the MPI library's. */
static const char *search_descriptors(const dropin_file *file, char path[DROPIN_PATH]) {
    DIR *own = opendir("/proc/self/fd");
    const struct dirent *entry;
    bool found = false;
    while (own && !found && (entry = readdir(own))) {
        (void)snprintf(path, DROPIN_PATH, "/proc/self/fd/%.20s", entry->d_name);
        found = leads_to(file, path);
    }
    if (own)
        (void)closedir(own);
    return found ? path : NULL;
}

const char *dropin_files_path(const dropin_file *file, char path[DROPIN_PATH]) {
    if (!file->found)
        return NULL;
    return leads_to(file, file->path) ? file->path : search_descriptors(file, path);
}

/* Data that could not be written stays deferred, and closing the file reports the error. */
void dropin_files_flush_named(const char *path) {
    struct stat named;
    if (!path || stat(path, &named) != 0)
        return;
    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS; i++)
        for (dropin_file *file = buckets[i]; file; file = file->next)
            if (file->sago && file->process == getpid() && is_named(file, &named))
                (void)sago_flush_own(file->sago);
    (void)pthread_mutex_unlock(&lock);
}
