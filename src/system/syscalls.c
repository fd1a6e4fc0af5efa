#include "system/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/checked.h"
#include "system/faults.h"

_Static_assert(sizeof(off_t) == 8, "offsets are 64 bits: compile with _FILE_OFFSET_BITS=64");

/* Bytes of all names of a directory, at the most. */
enum { NAMES_MOST = 1 << 28 };

static int start_of(const sagoi_file_op *op) { return op->in_fd ? op->fd : AT_FDCWD; }

/* ---- Calls that take more than one system call ---- */

static int64_t sync_directory(const sagoi_file_op *op) {
    int fd = open(op->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int result = fsync(fd), error = errno;
    (void)close(fd);
    errno = error;
    return result;
}

static int64_t ask_free_space(const sagoi_file_op *op) {
    struct statvfs info;
    int64_t room;
    if (statvfs(op->path, &info) != 0)
        return -1;
    return sagoi_mul((int64_t)info.f_bavail, (int64_t)info.f_frsize, &room) ? INT64_MAX : room;
}

/* Makes room for one more name; returns 0 or an errno. */
static int make_room(sagoi_file_op *op, int64_t used, int64_t *capacity) {
    int64_t longest = (int64_t)sizeof((struct dirent *)0)->d_name;
    if (used + longest <= *capacity)
        return 0;
    int64_t larger = 2 * *capacity + 16 * longest;
    char *moved = larger <= NAMES_MOST ? realloc(op->names, (size_t)larger) : NULL;
    if (!moved)
        return ENOMEM;
    op->names = moved;
    *capacity = larger;
    return 0;
}

/* Returns 0 or an errno. */
static int read_names(sagoi_file_op *op, DIR *dir, int64_t *used) {
    int64_t capacity = 0;
    for (;;) {
        int error = make_room(op, *used, &capacity);
        if (error)
            return error;
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            return errno;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        size_t len = strlen(entry->d_name) + 1;
        memcpy(op->names + *used, entry->d_name, len);
        *used += (int64_t)len;
    }
}

static int64_t list(sagoi_file_op *op) {
    int64_t used = 0;
    int fd = openat(start_of(op), op->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int error = dir ? read_names(op, dir, &used) : errno;
    if (dir)
        (void)closedir(dir);
    else if (fd >= 0)
        (void)close(fd);
    if (!error)
        return used;
    free(op->names);
    op->names = NULL;
    errno = error;
    return -1;
}

/* ---- Any call ---- */

static int64_t transfer(const sagoi_file_op *op, int64_t len) {
    if (op->kind == SAGOI_OP_READ)
        return pread(op->fd, op->into, (size_t)len, op->off);
    if (op->flags & O_APPEND)
        return write(op->fd, op->data, (size_t)len);
    return pwrite(op->fd, op->data, (size_t)len, op->off);
}

static int64_t perform(sagoi_file_op *op, int64_t len) {
    switch (op->kind) {
    case SAGOI_OP_OPEN:
    case SAGOI_OP_CREATE:
        return openat(start_of(op), op->path, op->flags | O_CLOEXEC, op->mode);
    case SAGOI_OP_WRITE:
    case SAGOI_OP_READ:
        return transfer(op, len);
    case SAGOI_OP_SYNC:
        return fsync(op->fd);
    case SAGOI_OP_MKDIR:
        return mkdirat(start_of(op), op->path, op->mode);
    case SAGOI_OP_SYNC_DIR:
        return sync_directory(op);
    case SAGOI_OP_RMDIR:
        return unlinkat(start_of(op), op->path, AT_REMOVEDIR);
    case SAGOI_OP_RENAME:
        return rename(op->path, op->to);
    case SAGOI_OP_UNLINK:
        return unlinkat(start_of(op), op->path, 0);
    case SAGOI_OP_LINK:
        return link(op->path, op->to);
    case SAGOI_OP_TRUNCATE:
        return ftruncate(op->fd, len);
    case SAGOI_OP_ALLOCATE:
        return fallocate(op->fd, op->flags, 0, len);
    case SAGOI_OP_CLOSE:
        return close(op->fd);
    case SAGOI_OP_FSTAT:
        return fstat(op->fd, op->info);
    case SAGOI_OP_STAT:
        return fstatat(start_of(op), op->path, op->info, op->flags);
    case SAGOI_OP_ACCESS:
        return faccessat(start_of(op), op->path, op->flags, AT_EACCESS);
    case SAGOI_OP_STATFS:
        return ask_free_space(op);
    case SAGOI_OP_RESOLVE:
        op->names = realpath(op->path, NULL);
        return op->names ? 0 : -1;
    default:
        return list(op);
    }
}

static bool is_repeated(sagoi_op_kind kind) {
    return kind != SAGOI_OP_CLOSE && kind != SAGOI_OP_SYNC && kind != SAGOI_OP_SYNC_DIR;
}

/* Has the operation happened, although the call failed?  A directory that exists is what mkdir() was to make; the
 * next sync makes it durable. */
static bool has_happened(const sagoi_file_op *op, int64_t result) {
    return result >= 0 || (op->kind == SAGOI_OP_MKDIR && errno == EEXIST);
}

int64_t sagoi_syscall(sagoi_file_op *op) {
    int64_t result;
    do {
        int64_t len = op->len;
        int error = sagoi_fault_before(op, &len);
        errno = error;
        result = error ? -1 : perform(op, len);
    } while (result < 0 && errno == EINTR && is_repeated(op->kind));
    if (has_happened(op, result)) {
        int error = errno;
        if (op->kind == SAGOI_OP_READ || op->kind == SAGOI_OP_WRITE)
            op->len = result;
        sagoi_fault_after(op);
        errno = error;
    }
    return result;
}

/* ---- Some of them by arguments ---- */

int sagoi_open(const char *path, int flags, mode_t mode) {
    sagoi_op_kind kind = flags & O_CREAT ? SAGOI_OP_CREATE : SAGOI_OP_OPEN;
    return (int)sagoi_syscall(&(sagoi_file_op){.kind = kind, .path = path, .flags = flags, .mode = mode});
}

int sagoi_close(int fd, const char *path) {
    int64_t result = sagoi_syscall(&(sagoi_file_op){.kind = SAGOI_OP_CLOSE, .path = path, .fd = fd});
    return result == 0 || errno == EINTR ? 0 : -1;
}

int sagoi_stat(const char *path, struct stat *info) {
    return (int)sagoi_syscall(&(sagoi_file_op){.kind = SAGOI_OP_STAT, .path = path, .info = info});
}

int sagoi_fstat(int fd, const char *path, struct stat *info) {
    if (!sagoi_faults_active())
        return fstat(fd, info);
    return (int)sagoi_syscall(&(sagoi_file_op){.kind = SAGOI_OP_FSTAT, .path = path, .fd = fd, .info = info});
}

int sagoi_name_call(sagoi_op_kind kind, const char *path, const char *to) {
    return (int)sagoi_syscall(&(sagoi_file_op){.kind = kind, .path = path, .to = to, .mode = 0777});
}

/* ---- Transfers of open files ---- */

/* While a test or bench watches, runs move one by one, so that every run is seen. */
static ssize_t move_first(sagoi_op_kind kind, int fd, const char *path, const struct iovec *first, int64_t off) {
    sagoi_file_op op = {.kind = kind, .path = path, .fd = fd, .off = off, .len = (int64_t)first->iov_len};
    op.data = op.into = first->iov_base;
    return sagoi_syscall(&op);
}

ssize_t sagoi_pwrite(int fd, const char *path, const struct iovec *iov, int count, int64_t off) {
    ssize_t done;
    if (sagoi_faults_active())
        return move_first(SAGOI_OP_WRITE, fd, path, iov, off);
    do
        done = count == 1 ? pwrite(fd, iov->iov_base, iov->iov_len, off) : pwritev(fd, iov, count, off);
    while (done < 0 && errno == EINTR);
    return done;
}

ssize_t sagoi_pread(int fd, const char *path, const struct iovec *iov, int count, int64_t off) {
    ssize_t done;
    if (sagoi_faults_active())
        return move_first(SAGOI_OP_READ, fd, path, iov, off);
    do
        done = count == 1 ? pread(fd, iov->iov_base, iov->iov_len, off) : preadv(fd, iov, count, off);
    while (done < 0 && errno == EINTR);
    return done;
}
