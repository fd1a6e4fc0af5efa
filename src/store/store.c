/* Open files: opening (only files that have offsets), sizes, space, syncing, and the checks before a transfer.
 * The transfers themselves are in transfer.c. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "store/transfer.h"
#include "system/syscalls.h"

/* Characters of a path in a message of about 500 bytes, which must also have room for the cause; the end of a path
 * tells most. */
enum { NAME_SHOWN = 200 };
/* Block size of a file whose file system is not asked. */
enum { SERVED_BLOCK = 4096 };

static char *name_of_path(const char *path) {
    size_t len = strlen(path);
    char *name = calloc(1, NAME_SHOWN + 1);
    if (name && len <= NAME_SHOWN)
        (void)snprintf(name, NAME_SHOWN + 1, "%s", path);
    else if (name)
        (void)snprintf(name, NAME_SHOWN + 1, "...%s", path + len - (NAME_SHOWN - 3));
    return name;
}

/* Opens without waiting for the other end of a FIFO.  O_APPEND is left out, since Linux would ignore the offset of
 * every write; O_DIRECT is for the second descriptor. */
static int open_without_waiting(const char *path, const sagoi_store_options *options) {
    int flags = (options->flags & ~(O_APPEND | O_DIRECT)) | O_NOCTTY;
    int fd = sagoi_layout_create(path, flags | O_NONBLOCK, options->mode, &options->stripes);
    if (fd >= 0 || errno != EWOULDBLOCK)
        return fd;
    /* A process holds a lease on the file (a file server does); this wait ends. */
    struct stat file;
    if (sagoi_stat(path, &file) == 0 && S_ISREG(file.st_mode))
        return sagoi_layout_create(path, flags, options->mode, &options->stripes);
    errno = EWOULDBLOCK;
    return -1;
}

static sago_status open_failed(const sagoi_store *store, int error) {
    if (error == ENXIO)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "open of %s: a FIFO, a socket or a device, not a regular file",
                          store->name);
    return sagoi_fail_errno(error, "open of %s", store->name);
}

/* *file: what the file system says of the file.  Some ask all targets for the size each time. */
static sago_status check_kind(const sagoi_store *store, struct stat *file) {
    if (sagoi_fstat(store->fd, store->name, file) != 0)
        return sagoi_fail_errno(errno, "fstat of %s", store->name);
    if (S_ISREG(file->st_mode))
        return SAGO_OK;
    const char *kind = S_ISDIR(file->st_mode) ? "a directory" : S_ISFIFO(file->st_mode) ? "a FIFO" : "a device";
    return sagoi_fail(SAGO_ERR_BAD_FILE, "open of %s: %s, not a regular file", store->name, kind);
}

static bool is_empty(const sagoi_store *store) {
    struct stat file;
    return sagoi_fstat(store->fd, store->name, &file) == 0 && file.st_size == 0;
}

/* Refuses a file whose size is 0 although it has data, which a read would leave out.  On known file systems the
 * size is right; on others, such as /proc, it may not be. */
static sago_status check_emptiness(const sagoi_store *store) {
    char byte;
    const struct iovec one = {&byte, 1};
    bool doubtful = strncmp(store->layout.name, "unknown", 7) == 0 || strcmp(store->layout.name, "fuse") == 0;
    if (!doubtful || store->access == O_WRONLY || !is_empty(store) ||
        sagoi_pread(store->fd, store->name, &one, 1, 0) <= 0 ||
        !is_empty(store)) /* and nobody has written meanwhile */
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_BAD_FILE, "open of %s: its size is 0, but there is data in it", store->name);
}

/* O_NONBLOCK was needed for opening only, and some file systems would answer EAGAIN because of it. */
static sago_status clear_nonblock(const sagoi_store *store, int opened_with) {
    if (fcntl(store->fd, F_SETFL, opened_with & ~(O_APPEND | O_DIRECT | O_NONBLOCK)) != 0)
        return sagoi_fail_errno(errno, "fcntl of %s", store->name);
    return SAGO_OK;
}

static sago_status open_plain(sagoi_store *store, const char *path, const sagoi_store_options *options) {
    store->fd = open_without_waiting(path, options);
    if (store->fd < 0)
        return open_failed(store, errno);
    if (options->flags & O_CREAT)
        sagoi_layout_wish(store->fd, &options->stripes);
    struct stat file;
    sago_status status = check_kind(store, &file);
    if (status == SAGO_OK)
        status = clear_nonblock(store, options->flags);
    if (status != SAGO_OK)
        return status;
    sagoi_layout_of(store->fd, &file, &store->layout);
    status = check_emptiness(store);
    if (status != SAGO_OK)
        return status;
    if (options->direct_io)
        sagoi_direct_open(&store->direct, store);
    if (options->uring)
        store->uring = sagoi_uring_create();
    return SAGO_OK;
}

static sago_status open_inside(sagoi_store *store, const char *path, const sagoi_store_options *options) {
    bool made;
    sago_status status = sagoi_subfile_store_make(path, options, &made);
    if (status != SAGO_OK)
        return status;
    return made || sagoi_subfile_store_are_at(path) ? sagoi_subfile_store_open(store, path, options)
                                                    : open_plain(store, path, options);
}

static sago_status store_create(const char *path, int access, sagoi_store **store) {
    sagoi_store *made = calloc(1, sizeof *made);
    char *name = name_of_path(path);
    if (!made || !name) {
        free(made);
        free(name);
        return sagoi_fail_errno(ENOMEM, "open of a file");
    }
    made->name = name;
    made->access = access;
    made->fd = -1;
    made->direct.fd = -1;
    *store = made;
    return SAGO_OK;
}

sago_status sagoi_store_open(const char *path, const sagoi_store_options *options, sagoi_store **store) {
    if (!path || !options || !store)
        return sagoi_fail(SAGO_ERR_ARG, "open without a path, options or a place for the result");
    sagoi_store *opened = NULL;
    sago_status status = store_create(path, options->flags & O_ACCMODE, &opened);
    if (status != SAGO_OK)
        return status;
    status = open_inside(opened, path, options);
    if (status == SAGO_OK)
        *store = opened;
    else
        (void)sagoi_store_close(&opened);
    return status;
}

sago_status sagoi_store_serve(const char *name, const sagoi_store_service *service, sagoi_store **store) {
    sago_status status = store_create(name, O_WRONLY, store);
    if (status != SAGO_OK)
        return status;
    (*store)->service = *service;
    (*store)->layout.block = SERVED_BLOCK;
    return SAGO_OK;
}

/* Returns 0 or an errno. */
static int close_one(const sagoi_store *store, int fd) {
    return fd < 0 || sagoi_close(fd, store->name) == 0 ? 0 : errno;
}

sago_status sagoi_store_close(sagoi_store **store) {
    if (!store || !*store)
        return SAGO_OK;
    sagoi_store *closing = *store;
    *store = NULL;
    sago_status status = sagoi_subfile_store_close(&closing->subfiles);
    sagoi_uring_destroy(&closing->uring);
    int direct_error = close_one(closing, closing->direct.fd);
    int error = close_one(closing, closing->fd);
    if (error || direct_error)
        status = sagoi_fail_errno(error ? error : direct_error, "close of %s", closing->name);
    free(closing->name);
    free(closing);
    return status;
}

int sagoi_store_fd(const sagoi_store *store) { return store->fd; }

const sagoi_layout *sagoi_store_layout(const sagoi_store *store) { return &store->layout; }

void sagoi_store_set_stripes(sagoi_store *store, int64_t block, int64_t lock_unit, sagoi_stripes stripes,
                             int64_t first) {
    store->layout.block = block;
    store->layout.lock_unit = lock_unit;
    store->layout.stripe_unit = stripes.unit;
    store->layout.stripe_count = stripes.count;
    store->layout.stripe_first = first;
}

void sagoi_store_set_shared(sagoi_store *store) {
    store->layout.local = false;
    store->layout.in_memory = false;
}

sagoi_store_counts sagoi_store_counters(const sagoi_store *store) {
    sagoi_store_counts counts = {
        .system_calls = atomic_load_explicit(&store->system_calls, memory_order_relaxed),
        .bytes_written = atomic_load_explicit(&store->bytes_written, memory_order_relaxed),
        .bytes_read = atomic_load_explicit(&store->bytes_read, memory_order_relaxed),
        .runs = atomic_load_explicit(&store->runs, memory_order_relaxed),
    };
    if (store->subfiles)
        sagoi_subfile_store_count(store->subfiles, &counts);
    return counts;
}

/* ---- Size and space ---- */

sago_status sagoi_store_size(sagoi_store *store, int64_t *size) {
    struct stat file;
    if (store->subfiles)
        return sagoi_subfile_store_size(store, 0, 1, size);
    sagoi_count_call(store);
    if (sagoi_fstat(store->fd, store->name, &file) != 0)
        return sagoi_fail_errno(errno, "fstat of %s", store->name);
    *size = file.st_size;
    return SAGO_OK;
}

sago_status sagoi_store_look(sagoi_store *store, int64_t looker, int64_t lookers, sagoi_look *look) {
    struct stat file;
    *look = (sagoi_look){0, false};
    if (store->subfiles)
        return sagoi_subfile_store_size(store, looker, lookers, &look->size);
    if (looker > 0)
        return SAGO_OK;
    if (sagoi_fstat(store->fd, store->name, &file) != 0)
        return sagoi_fail_errno(errno, "fstat of %s", store->name);
    *look = (sagoi_look){file.st_size, (int64_t)file.st_blocks * 512 < file.st_size};
    return SAGO_OK;
}

static sago_status check_size(const sagoi_store *store, const char *verb, int64_t size) {
    if (size < 0)
        return sagoi_fail(SAGO_ERR_ARG, "%s of %s to %lld bytes", verb, store->name, (long long)size);
    if (store->access == O_RDONLY)
        return sagoi_fail(SAGO_ERR_MODE, "%s of %s, which was opened for reading only", verb, store->name);
    return SAGO_OK;
}

sago_status sagoi_store_resize(sagoi_store *store, int64_t size) {
    sago_status status = check_size(store, "resize", size);
    if (status != SAGO_OK)
        return status;
    if (store->subfiles)
        return sagoi_subfile_store_change(store, size, sagoi_store_resize);
    sagoi_file_op op = {.kind = SAGOI_OP_TRUNCATE, .path = store->name, .fd = store->fd, .len = size};
    sagoi_count_call(store);
    if (sagoi_syscall(&op) != 0)
        return sagoi_fail_errno(errno, "resize of %s to %lld bytes", store->name, (long long)size);
    return SAGO_OK;
}

/* Returns 0 or an errno.  When a signal comes, tmpfs undoes what it has allocated.  While a profiler's timer runs,
 * every further try might be interrupted, too, so signals are blocked. */
static int allocate_undisturbed(sagoi_store *store, int mode, int64_t size) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    sagoi_file_op op = {
        .kind = SAGOI_OP_ALLOCATE, .path = store->name, .fd = store->fd, .flags = mode, .len = size};
    sagoi_count_call(store);
    int error = sagoi_syscall(&op) == 0 ? 0 : errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* ext4 leaves the file longer when the disk fills up halfway.  So the space is allocated first, then the size is
 * set, which needs no space.  tmpfs undoes a failed call, so it can do both at once; NFS cannot allocate without
 * setting the size. */
static int allocate_space(sagoi_store *store, int64_t size) {
    int error = store->layout.in_memory ? 0 : allocate_undisturbed(store, FALLOC_FL_KEEP_SIZE, size);
    return error == 0 || error == EOPNOTSUPP ? allocate_undisturbed(store, 0, size) : error;
}

/* posix_fallocate() will not do: where the file system cannot allocate, glibc writes zeros over data that other
 * ranks may be writing. */
sago_status sagoi_store_allocate(sagoi_store *store, int64_t size) {
    sago_status status = check_size(store, "allocate", size);
    if (status != SAGO_OK || size == 0)
        return status;
    if (store->subfiles)
        return sagoi_subfile_store_change(store, size, sagoi_store_allocate);
    int error = allocate_space(store, size);
    if (error == 0)
        return SAGO_OK;
    if (error != EOPNOTSUPP && error != ENOSYS)
        return sagoi_fail_errno(error, "allocation of %lld bytes for %s", (long long)size, store->name);
    int64_t now = 0;
    status = sagoi_store_size(store, &now);
    return status == SAGO_OK && now < size ? sagoi_store_resize(store, size) : status;
}

/* After a failed fsync() the kernel takes the lost pages for clean, and the next fsync() would succeed.  So the
 * first failure is kept: everything written since the last good sync has to be taken for lost. */
sago_status sagoi_store_sync(sagoi_store *store) {
    if (store->subfiles)
        return sagoi_subfile_store_sync(store->subfiles);
    if (store->service.write)
        return store->service.sync(store->service.arg);
    int error = atomic_load(&store->sync_error);
    if (error)
        return sagoi_fail_errno(error, "fsync of %s, which failed before", store->name);
    do {
        sagoi_file_op op = {.kind = SAGOI_OP_SYNC, .path = store->name, .fd = store->fd};
        error = sagoi_syscall(&op) == 0 ? 0 : errno;
        sagoi_count_call(store);
    } while (error == EINTR);
    if (!error)
        return SAGO_OK;
    atomic_store(&store->sync_error, error);
    return sagoi_fail_errno(error, "fsync of %s", store->name);
}

/* ---- Transfers ---- */

/* Writes run by run, through the owner of the open file. */
static sago_status write_served(sagoi_store *store, const sagoi_io_run *runs, int64_t n) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < n && !status; i++) {
        status = store->service.write(store->service.arg, &runs[i]);
        sagoi_count_call(store);
        if (!status)
            (void)atomic_fetch_add_explicit(&store->bytes_written, runs[i].len, memory_order_relaxed);
    }
    (void)atomic_fetch_add_explicit(&store->runs, n, memory_order_relaxed);
    return status;
}

static sago_status check_run(const sagoi_store *store, const sagoi_io_run *run, int64_t *end) {
    if (run->off < 0 || run->len < 0)
        return sagoi_fail(SAGO_ERR_ARG, "run of %lld bytes at offset %lld of %s", (long long)run->len,
                          (long long)run->off, store->name);
    if (sagoi_add(run->off, run->len, end))
        return sagoi_fail(SAGO_ERR_OVERFLOW, "run of %lld bytes at offset %lld of %s ends past the last offset",
                          (long long)run->len, (long long)run->off, store->name);
    return SAGO_OK;
}

/* Checks all runs before the first byte moves.  Runs that are read may overlap and be in any order.  Runs that are
 * written must not overlap, since they are in flight together, and chance would decide which of them wins. */
static sago_status check_runs(const sagoi_store *store, const sagoi_io_run *runs, int64_t n, bool write) {
    if (n < 0 || (n > 0 && !runs))
        return sagoi_fail(SAGO_ERR_ARG, "%lld runs for %s", (long long)n, store->name);
    if (store->access == (write ? O_RDONLY : O_WRONLY))
        return sagoi_fail(SAGO_ERR_MODE, "%s of %s, which was opened for %s only", write ? "write" : "read",
                          store->name, write ? "reading" : "writing");
    int64_t before = 0, end = 0;
    for (int64_t i = 0; i < n; i++) {
        sago_status status = check_run(store, &runs[i], &end);
        if (status != SAGO_OK)
            return status;
        if (write && runs[i].off < before)
            return sagoi_fail(SAGO_ERR_EXTENTS,
                              "write of %s: a run begins at offset %lld, the one before ends at %lld", store->name,
                              (long long)runs[i].off, (long long)before);
        before = end;
    }
    return SAGO_OK;
}

sago_status sagoi_store_write(sagoi_store *store, const sagoi_io_run *runs, int64_t n) {
    sago_status status = check_runs(store, runs, n, true);
    if (status != SAGO_OK)
        return status;
    if (store->subfiles)
        return sagoi_subfile_store_move(store, true, runs, n, NULL);
    if (store->service.write)
        return write_served(store, runs, n);
    sagoi_transfer transfer = {.store = store, .write = true};
    sagoi_transfer_runs(&transfer, runs, n);
    (void)atomic_fetch_add_explicit(&store->runs, n, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&store->bytes_written, transfer.bytes, memory_order_relaxed);
    return transfer.status;
}

sago_status sagoi_store_read(sagoi_store *store, const sagoi_io_run *runs, int64_t n, int64_t *bytes) {
    sago_status status = check_runs(store, runs, n, false);
    if (status != SAGO_OK)
        return status;
    if (store->subfiles)
        return sagoi_subfile_store_move(store, false, runs, n, bytes);
    sagoi_transfer transfer = {.store = store, .write = false};
    sagoi_transfer_runs(&transfer, runs, n);
    (void)atomic_fetch_add_explicit(&store->runs, n, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&store->bytes_read, transfer.bytes, memory_order_relaxed);
    if (bytes && transfer.status == SAGO_OK)
        *bytes = transfer.bytes;
    return transfer.status;
}
