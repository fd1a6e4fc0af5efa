/* The system calls of checkpoints, each of them in one place.  Interrupted and short transfers are continued here;
 * everything else fails with the path and the reason. */
#include "ckpt/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/checked.h"

enum { LARGEST_TRANSFER = 1 << 30 };

static const sagoi_file_hooks *_Atomic hooks_now;

void sagoi_file_set_hooks(const sagoi_file_hooks *hooks) { atomic_store(&hooks_now, hooks); }

/* The errno a test wants this call to fail with, or 0. */
static int before(const sagoi_file_op *op, int64_t *len) {
    const sagoi_file_hooks *hooks = atomic_load(&hooks_now);
    return hooks && hooks->before ? hooks->before(hooks->arg, op, len) : 0;
}

static void after(const sagoi_file_op *op) {
    const sagoi_file_hooks *hooks = atomic_load(&hooks_now);
    if (hooks && hooks->after)
        hooks->after(hooks->arg, op);
}

bool sagoi_path_join(char path[SAGOI_CKPT_PATH], const char *dir, const char *name) {
    int length = snprintf(path, SAGOI_CKPT_PATH, "%s/%s", dir, name);
    return length >= 0 && length < SAGOI_CKPT_PATH;
}

/* ---- Open files ---- */

static int open_once(const char *path, sagoi_cfile_mode mode) {
    static const int flags[] = {[SAGOI_CFILE_READ] = O_RDONLY,
                                [SAGOI_CFILE_CREATE] = O_RDWR | O_CREAT | O_EXCL,
                                [SAGOI_CFILE_OVERWRITE] = O_RDWR | O_CREAT};
    sagoi_file_op op = {.kind = mode == SAGOI_CFILE_READ ? SAGOI_OP_OPEN : SAGOI_OP_CREATE, .path = path};
    int64_t unused = 0;
    int error = before(&op, &unused);
    if (error) {
        errno = error;
        return -1;
    }
    int fd = open(path, flags[mode] | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666); /* a FIFO must not hang us */
    if (fd >= 0)
        after(&op);
    return fd;
}

sago_status sagoi_cfile_open(const char *path, sagoi_cfile_mode mode, sagoi_cfile *file) {
    struct stat info;
    int fd;
    do
        fd = open_once(path, mode);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return sagoi_fail_errno(errno, "opening %s", path);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s is not a regular file", path);
    }
    file->fd = fd;
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    return SAGO_OK;
}

/* One system call: what was moved, or -1 and errno. */
static ssize_t transfer_once(const sagoi_cfile *file, sagoi_file_op *op, void *read_into) {
    int64_t len = op->len;
    int error = before(op, &len);
    if (error) {
        errno = error;
        return -1;
    }
    ssize_t done = op->kind == SAGOI_OP_WRITE ? pwrite(file->fd, op->data, (size_t)len, op->off)
                                              : pread(file->fd, read_into, (size_t)len, op->off);
    if (done >= 0) {
        op->len = done;
        after(op);
    }
    return done;
}

sago_status sagoi_cfile_write(sagoi_cfile *file, const void *data, int64_t len, int64_t off) {
    for (int64_t done = 0; done < len;) {
        sagoi_file_op op = {SAGOI_OP_WRITE, file->path,
                            NULL,           (const char *)data + done,
                            off + done,     sagoi_min(len - done, LARGEST_TRANSFER)};
        ssize_t count = transfer_once(file, &op, NULL);
        if (count < 0 && errno != EINTR)
            return sagoi_fail_errno(errno, "writing %lld bytes at %lld of %s", (long long)len, (long long)off,
                                    file->path);
        if (count == 0)
            return sagoi_fail(SAGO_ERR_IO, "writing to %s makes no progress", file->path);
        done += count > 0 ? count : 0;
    }
    return SAGO_OK;
}

sago_status sagoi_cfile_read(sagoi_cfile *file, void *data, int64_t len, int64_t off, int64_t *got) {
    int64_t done = 0;
    while (done < len) {
        sagoi_file_op op = {SAGOI_OP_READ, file->path, NULL,
                            NULL,          off + done, sagoi_min(len - done, LARGEST_TRANSFER)};
        ssize_t count = transfer_once(file, &op, (char *)data + done);
        if (count < 0 && errno != EINTR)
            return sagoi_fail_errno(errno, "reading %lld bytes at %lld of %s", (long long)len, (long long)off,
                                    file->path);
        if (count == 0)
            break;
        done += count > 0 ? count : 0;
    }
    *got = done;
    return SAGO_OK;
}

sago_status sagoi_cfile_size(sagoi_cfile *file, int64_t *size) {
    struct stat info;
    if (fstat(file->fd, &info) != 0)
        return sagoi_fail_errno(errno, "asking for the size of %s", file->path);
    *size = info.st_size;
    return SAGO_OK;
}

static int sync_fd(int fd, sagoi_op_kind kind, const char *path) {
    sagoi_file_op op = {.kind = kind, .path = path};
    int64_t unused = 0;
    int error = before(&op, &unused);
    if (!error && fsync(fd) != 0)
        error = errno;
    if (!error)
        after(&op);
    return error;
}

sago_status sagoi_cfile_sync(sagoi_cfile *file) {
    int error = sync_fd(file->fd, SAGOI_OP_SYNC, file->path);
    return error ? sagoi_fail_errno(error, "syncing %s", file->path) : SAGO_OK;
}

sago_status sagoi_cfile_close(sagoi_cfile *file) {
    int fd = file->fd;
    file->fd = -1;
    if (fd >= 0 && close(fd) != 0 && errno != EINTR)
        return sagoi_fail_errno(errno, "closing %s", file->path);
    return SAGO_OK;
}

/* ---- Names ---- */

/* Runs one operation on names; *error is 0, what a test wanted, or the call's errno. */
static int name_call(const sagoi_file_op *op) {
    int64_t unused = 0;
    int error = before(op, &unused), result = 0;
    if (error)
        return error;
    switch (op->kind) {
    case SAGOI_OP_MKDIR:
        result = mkdir(op->path, 0777);
        break;
    case SAGOI_OP_RMDIR:
        result = rmdir(op->path);
        break;
    case SAGOI_OP_RENAME:
        result = rename(op->path, op->to);
        break;
    default:
        result = unlink(op->path);
    }
    error = result == 0 ? 0 : errno;
    if (!error || (op->kind == SAGOI_OP_MKDIR && error == EEXIST))
        after(op); /* that it exists is what was wanted, and what the next sync makes durable */
    return error;
}

sago_status sagoi_cdir_make(const char *path) {
    sagoi_file_op op = {.kind = SAGOI_OP_MKDIR, .path = path};
    int error = name_call(&op);
    return !error || error == EEXIST ? SAGO_OK : sagoi_fail_errno(error, "making the directory %s", path);
}

sago_status sagoi_cdir_sync(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return sagoi_fail_errno(errno, "opening the directory %s", path);
    int error = sync_fd(fd, SAGOI_OP_SYNC_DIR, path);
    (void)close(fd);
    return error ? sagoi_fail_errno(error, "syncing the directory %s", path) : SAGO_OK;
}

sago_status sagoi_cdir_sync_parent(const char *path) {
    char parent[SAGOI_CKPT_PATH];
    (void)snprintf(parent, sizeof parent, "%s", path);
    for (size_t len = strlen(parent); len > 1 && parent[len - 1] == '/'; len--)
        parent[len - 1] = '\0';
    char *slash = strrchr(parent, '/');
    if (!slash)
        (void)snprintf(parent, sizeof parent, ".");
    else
        slash[slash == parent] = '\0'; /* "/" stays */
    if (access(parent, R_OK) != 0)
        return SAGO_OK;
    return sagoi_cdir_sync(parent);
}

sago_status sagoi_cdir_remove(const char *path) {
    sagoi_file_op op = {.kind = SAGOI_OP_RMDIR, .path = path};
    int error = name_call(&op);
    return !error || error == ENOENT ? SAGO_OK : sagoi_fail_errno(error, "removing the directory %s", path);
}

sago_status sagoi_path_rename(const char *from, const char *to) {
    sagoi_file_op op = {.kind = SAGOI_OP_RENAME, .path = from, .to = to};
    int error = name_call(&op);
    return error ? sagoi_fail_errno(error, "renaming %s to %s", from, to) : SAGO_OK;
}

sago_status sagoi_path_remove(const char *path) {
    sagoi_file_op op = {.kind = SAGOI_OP_UNLINK, .path = path};
    int error = name_call(&op);
    return !error || error == ENOENT ? SAGO_OK : sagoi_fail_errno(error, "removing %s", path);
}

void sagoi_path_discard(const char *path) {
    sagoi_file_op op = {.kind = SAGOI_OP_UNLINK, .path = path};
    (void)name_call(&op);
}

sago_status sagoi_path_free_space(const char *path, int64_t *bytes) {
    struct statvfs info;
    if (statvfs(path, &info) != 0)
        return sagoi_fail_errno(errno, "asking for the free space of %s", path);
    int64_t room;
    *bytes = sagoi_mul((int64_t)info.f_bavail, (int64_t)info.f_frsize, &room) ? INT64_MAX : room;
    return SAGO_OK;
}

sago_status sagoi_cdir_list(const char *path, sagoi_name_fn each, void *arg) {
    DIR *dir = opendir(path);
    if (!dir)
        return sagoi_fail_errno(errno, "opening the directory %s", path);
    sago_status status = SAGO_OK;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry && errno)
            status = sagoi_fail_errno(errno, "listing the directory %s", path);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = each(arg, entry->d_name);
        if (status)
            break;
    }
    (void)closedir(dir);
    return status;
}

/* ---- Whole files ---- */

static bool aside_path(char path[SAGOI_CKPT_PATH], const char *dir, const char *name) {
    unsigned long long random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    int length = snprintf(path, SAGOI_CKPT_PATH, "%s/%s.%016llx" SAGOI_ASIDE_SUFFIX, dir, name, random);
    return length >= 0 && length < SAGOI_CKPT_PATH;
}

sago_status sagoi_cfile_publish(const char *dir, const char *name, const void *data, int64_t len) {
    char aside[SAGOI_CKPT_PATH], final[SAGOI_CKPT_PATH];
    sagoi_cfile file = {.fd = -1};
    if (!aside_path(aside, dir, name) || !sagoi_path_join(final, dir, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s/%s: the path is too long, or there are no random numbers", dir,
                          name);
    sago_status status = sagoi_cfile_open(aside, SAGOI_CFILE_CREATE, &file);
    if (status)
        return status;
    status = sagoi_cfile_write(&file, data, len, 0);
    if (!status)
        status = sagoi_cfile_sync(&file);
    sago_status closed = sagoi_cfile_close(&file);
    if (!status)
        status = closed;
    if (!status)
        status = sagoi_path_rename(aside, final);
    if (status)
        sagoi_path_discard(aside);
    return status;
}

sago_status sagoi_cfile_load(const char *path, int64_t most, char **data, int64_t *len) {
    sagoi_cfile file = {.fd = -1};
    int64_t size = 0, got = 0;
    sago_status status = sagoi_cfile_open(path, SAGOI_CFILE_READ, &file);
    if (status)
        return status;
    status = sagoi_cfile_size(&file, &size);
    if (!status && size > most)
        status = sagoi_fail(SAGO_ERR_BAD_FILE, "%s is too long: %lld bytes", path, (long long)size);
    char *bytes = status ? NULL : malloc((size_t)size + 1);
    if (!status && !bytes)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for %s", path);
    if (!status)
        status = sagoi_cfile_read(&file, bytes, size, 0, &got);
    (void)sagoi_cfile_close(&file);
    if (status) {
        free(bytes);
        return status;
    }
    *data = bytes;
    *len = got;
    return SAGO_OK;
}
