/* A small hash table.  Threads may use different files at once; one file is used by one thread at a time, so an
 * entry that was found stays: only closing its file removes it. */
#include "mpi_files.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic.h"
#include "late.h"

enum { BUCKETS = 64 };

static dropin_file *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static dropin_file **bucket_of(MPI_File handle) { return &buckets[((uintptr_t)handle >> 4) % BUCKETS]; }

dropin_file *dropin_files_add(MPI_File handle) {
    dropin_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->handle = handle;
    file->process = getpid();
    file->atomic_lock = -1;
    (void)pthread_mutex_init(&file->lock, NULL);
    (void)pthread_mutex_lock(&lock);
    dropin_file **bucket = bucket_of(handle);
    file->next = *bucket;
    *bucket = file;
    (void)pthread_mutex_unlock(&lock);
    return file;
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

static bool is_named(const dropin_file *file, const struct stat *named) {
    struct stat own;
    return file->path && stat(file->path, &own) == 0 && own.st_dev == named->st_dev && own.st_ino == named->st_ino;
}

/* What could not be written stays deferred, and is told when the file is closed. */
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
