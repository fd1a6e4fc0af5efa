/* What is done with whole files and names, made of system calls with a limit (call.c).  Short transfers are
 * continued here; everything else fails with the path and the reason. */
#include "system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/checked.h"
#include "system/call.h"

enum { LARGEST_TRANSFER = 1 << 30 };

bool sagoi_path_join(char path[SAGOI_CKPT_PATH], const char *dir, const char *name) {
    int length = snprintf(path, SAGOI_CKPT_PATH, "%s/%s", dir, name);
    return length >= 0 && length < SAGOI_CKPT_PATH;
}

/* ---- Open files ---- */

/* Closes a descriptor that no sagoi_cfile has yet. */
static void close_fd(const char *path, int fd) {
    sagoi_cfile file = {.fd = fd};
    (void)snprintf(file.path, sizeof file.path, "%s", path);
    (void)sagoi_cfile_close(&file);
}

sago_status sagoi_cfile_open(const char *path, sagoi_cfile_mode mode, sagoi_cfile *file) {
    static const int flags[] = {[SAGOI_CFILE_READ] = O_RDONLY,
                                [SAGOI_CFILE_CREATE] = O_RDWR | O_CREAT | O_EXCL,
                                [SAGOI_CFILE_OVERWRITE] = O_RDWR | O_CREAT,
                                [SAGOI_CFILE_UPDATE] = O_RDWR,
                                [SAGOI_CFILE_APPEND] = O_WRONLY | O_CREAT | O_APPEND};
    bool appends = mode == SAGOI_CFILE_APPEND;
    sagoi_call_wish wish = {.op = {.kind = flags[mode] & O_CREAT ? SAGOI_OP_CREATE : SAGOI_OP_OPEN, .path = path}};
    sagoi_call_result got, info;
    wish.op.flags = flags[mode] | O_NONBLOCK | (appends ? 0 : O_NOFOLLOW); /* a FIFO must not hang us */
    wish.op.mode = 0666;
    sago_status status = sagoi_call(&wish, &got);
    if (!status && got.error)
        status = sagoi_fail_errno(got.error, "opening %s", path);
    if (status)
        return status;
    sagoi_call_wish ask = {.op = {.kind = SAGOI_OP_FSTAT, .path = path, .fd = (int)got.value}};
    status = appends ? SAGO_OK : sagoi_call(&ask, &info);
    if (!status && !appends && (info.error || !S_ISREG(info.info.st_mode)))
        status = sagoi_fail(SAGO_ERR_BAD_FILE, "%s is not a regular file", path);
    if (status) {
        close_fd(path, (int)got.value);
        return status;
    }
    file->fd = (int)got.value;
    file->appends = appends;
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    return SAGO_OK;
}

/* `largest`: bytes of one system call. */
static sago_status write_all(sagoi_cfile *file, const void *data, int64_t len, int64_t off, bool stays) {
    int64_t largest = stays ? LARGEST_TRANSFER : SAGOI_CALL_LARGEST;
    for (int64_t done = 0; done < len;) {
        sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_WRITE, .path = file->path, .fd = file->fd},
                                .stays = stays};
        sagoi_call_result result;
        wish.op.flags = file->appends ? O_APPEND : 0;
        wish.op.data = (const char *)data + done;
        wish.op.off = off + done;
        wish.op.len = sagoi_min(len - done, largest);
        sago_status status = sagoi_call(&wish, &result);
        if (status)
            return status;
        if (result.error)
            return sagoi_fail_errno(result.error, "writing %lld bytes at %lld of %s", (long long)len,
                                    (long long)off, file->path);
        if (result.value == 0)
            return sagoi_fail(SAGO_ERR_IO, "writing to %s makes no progress", file->path);
        done += result.value;
    }
    return SAGO_OK;
}

sago_status sagoi_cfile_write(sagoi_cfile *file, const void *data, int64_t len, int64_t off) {
    return write_all(file, data, len, off, false);
}

sago_status sagoi_cfile_write_kept(sagoi_cfile *file, const void *data, int64_t len, int64_t off) {
    return write_all(file, data, len, off, true);
}

sago_status sagoi_cfile_read(sagoi_cfile *file, void *data, int64_t len, int64_t off, int64_t *got) {
    int64_t done = 0;
    while (done < len) {
        sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_READ, .path = file->path, .fd = file->fd}};
        sagoi_call_result result;
        wish.op.into = (char *)data + done;
        wish.op.off = off + done;
        wish.op.len = sagoi_min(len - done, SAGOI_CALL_LARGEST);
        sago_status status = sagoi_call(&wish, &result);
        if (status)
            return status;
        if (result.error)
            return sagoi_fail_errno(result.error, "reading %lld bytes at %lld of %s", (long long)len,
                                    (long long)off, file->path);
        if (result.value == 0)
            break;
        done += result.value;
    }
    *got = done;
    return SAGO_OK;
}

sago_status sagoi_cfile_stat(sagoi_cfile *file, struct stat *info) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_FSTAT, .path = file->path, .fd = file->fd}};
    sagoi_call_result result;
    sago_status status = sagoi_call(&wish, &result);
    if (!status && result.error)
        status = sagoi_fail_errno(result.error, "asking for the size of %s", file->path);
    if (!status)
        *info = result.info;
    return status;
}

sago_status sagoi_cfile_size(sagoi_cfile *file, int64_t *size) {
    struct stat info;
    sago_status status = sagoi_cfile_stat(file, &info);
    if (!status)
        *size = info.st_size;
    return status;
}

sago_status sagoi_cfile_sync(sagoi_cfile *file) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_SYNC, .path = file->path, .fd = file->fd}};
    sagoi_call_result result;
    sago_status status = sagoi_call(&wish, &result);
    return status || !result.error ? status : sagoi_fail_errno(result.error, "syncing %s", file->path);
}

/* A file whose directory is stuck is closed when it no longer is. */
sago_status sagoi_cfile_close(sagoi_cfile *file) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_CLOSE, .path = file->path, .fd = file->fd}};
    sagoi_call_result result = {0};
    sago_status status = SAGO_OK;
    file->fd = -1;
    if (wish.op.fd < 0)
        return SAGO_OK;
    bool later;
    do {
        status = sagoi_call(&wish, &result);
        later = result.gone || (status && sagoi_watch_close_later(file->path, wish.op.fd));
    } while (status == SAGO_ERR_TIMEOUT && !later);
    if (!status && result.error && result.error != EINTR)
        status = sagoi_fail_errno(result.error, "closing %s", file->path);
    return status;
}

/* ---- Names ---- */

/* 0 or an errno in *error. */
static sago_status name_call(sagoi_op_kind kind, const char *path, const char *to, int *error) {
    sagoi_call_wish wish = {.op = {.kind = kind, .path = path, .to = to, .mode = 0777}};
    sagoi_call_result result;
    sago_status status = sagoi_call(&wish, &result);
    *error = result.error;
    return status;
}

sago_status sagoi_cdir_make(const char *path) {
    int error;
    sago_status status = name_call(SAGOI_OP_MKDIR, path, NULL, &error);
    return status || !error || error == EEXIST ? status : sagoi_fail_errno(error, "making the directory %s", path);
}

/* `watched`: in the directory that the call counts for. */
static sago_status sync_directory(const char *path, const char *watched) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_SYNC_DIR, .path = path}, .watched = watched};
    sagoi_call_result result;
    sago_status status = sagoi_call(&wish, &result);
    return status || !result.error ? status : sagoi_fail_errno(result.error, "syncing the directory %s", path);
}

sago_status sagoi_cdir_sync(const char *path) { return sync_directory(path, path); }

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
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_ACCESS, .path = parent, .flags = R_OK}, .watched = path};
    sagoi_call_result result;
    sago_status status = sagoi_call(&wish, &result);
    return status || result.error ? status : sync_directory(parent, path);
}

sago_status sagoi_cdir_remove(const char *path) {
    int error;
    sago_status status = name_call(SAGOI_OP_RMDIR, path, NULL, &error);
    return status || !error || error == ENOENT ? status
                                               : sagoi_fail_errno(error, "removing the directory %s", path);
}

sago_status sagoi_path_rename(const char *from, const char *to) {
    int error;
    sago_status status = name_call(SAGOI_OP_RENAME, from, to, &error);
    return status || !error ? status : sagoi_fail_errno(error, "renaming %s to %s", from, to);
}

sago_status sagoi_path_remove(const char *path) {
    int error;
    sago_status status = name_call(SAGOI_OP_UNLINK, path, NULL, &error);
    return status || !error || error == ENOENT ? status : sagoi_fail_errno(error, "removing %s", path);
}

void sagoi_path_discard(const char *path) {
    char why[SAGOI_MESSAGE_MAX];
    (void)snprintf(why, sizeof why, "%s", sagoi_message());
    if (sagoi_path_remove(path))
        sagoi_message_set(why);
}

static sago_status look_at(const char *path, int flags, struct stat *info) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_STAT, .path = path, .flags = flags}};
    sagoi_call_result result;
    sago_status status = sagoi_call(&wish, &result);
    if (!status && result.error)
        status = sagoi_fail_errno(result.error, "looking at %s", path);
    if (!status)
        *info = result.info;
    return status;
}

sago_status sagoi_path_stat(const char *path, struct stat *info) { return look_at(path, 0, info); }

sago_status sagoi_path_look(const char *path, struct stat *info) {
    return look_at(path, AT_SYMLINK_NOFOLLOW, info);
}

sago_status sagoi_path_there(const char *path, bool *there) {
    struct stat info;
    sago_status status = sagoi_path_stat(path, &info);
    *there = !status;
    if (status != SAGO_ERR_NO_FILE)
        return status;
    sagoi_message_clear();
    return SAGO_OK;
}

sago_status sagoi_path_free_space(const char *path, int64_t *bytes) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_STATFS, .path = path}};
    sagoi_call_result result;
    sago_status status = sagoi_call(&wish, &result);
    if (!status && result.error)
        status = sagoi_fail_errno(result.error, "asking for the free space of %s", path);
    if (!status)
        *bytes = result.value;
    return status;
}

/* Names as a call gave them: each with its NUL. */
static sago_status tell_names(const char *names, int64_t bytes, sagoi_name_fn each, void *arg) {
    sago_status status = SAGO_OK;
    for (const char *at = names; at < names + bytes && !status; at += strlen(at) + 1)
        status = each(arg, at);
    return status;
}

sago_status sagoi_cdir_list(const char *path, sagoi_name_fn each, void *arg) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_LIST, .path = path}};
    sagoi_call_result result;
    sago_status status = sagoi_call(&wish, &result);
    if (!status && result.error)
        status = sagoi_fail_errno(result.error, "listing the directory %s", path);
    if (!status)
        status = tell_names(result.names, result.value, each, arg);
    free(result.names);
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

/* Writes and closes a file that was just made; what could not be written is removed. */
static sago_status fill(sagoi_cfile *file, const void *data, int64_t len) {
    sago_status status = sagoi_cfile_write(file, data, len, 0);
    if (!status)
        status = sagoi_cfile_sync(file);
    sago_status closed = sagoi_cfile_close(file);
    if (!status)
        status = closed;
    if (status)
        sagoi_path_discard(file->path);
    return status;
}

sago_status sagoi_cfile_put_aside(const char *dir, const char *name, const void *data, int64_t len,
                                  char aside[SAGOI_CKPT_PATH]) {
    sagoi_cfile file = {.fd = -1};
    if (!aside_path(aside, dir, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s/%s: the path is too long, or there are no random numbers", dir,
                          name);
    sago_status status = sagoi_cfile_open(aside, SAGOI_CFILE_CREATE, &file);
    return status ? status : fill(&file, data, len);
}

sago_status sagoi_cfile_publish(const char *dir, const char *name, const void *data, int64_t len) {
    char aside[SAGOI_CKPT_PATH], final[SAGOI_CKPT_PATH];
    if (!sagoi_path_join(final, dir, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s/%s: the path is too long", dir, name);
    sago_status status = sagoi_cfile_put_aside(dir, name, data, len, aside);
    if (status)
        return status;
    status = sagoi_path_rename(aside, final);
    if (status)
        sagoi_path_discard(aside);
    return status;
}

/* Where a file can have one name only. */
static sago_status create_alone(const char *path, const void *data, int64_t len, bool *won) {
    sagoi_cfile file = {.fd = -1};
    sago_status status = sagoi_cfile_open(path, SAGOI_CFILE_CREATE, &file);
    if (status == SAGO_ERR_EXISTS) {
        sagoi_message_clear();
        return SAGO_OK;
    }
    if (!status)
        status = fill(&file, data, len);
    *won = !status;
    return status;
}

static bool links_are_unknown(int error) {
    return error == EPERM || error == ENOSYS || error == EOPNOTSUPP || error == EMLINK;
}

/* A lost answer is asked for again, and the second one says that the name exists: two names of our file tell that
 * it was us who made it. */
static sago_status link_alone(const char *aside, const char *path, bool *won, bool *unknown) {
    struct stat info;
    int error = 0;
    sago_status status = name_call(SAGOI_OP_LINK, aside, path, &error);
    if (status)
        return status;
    *won = !error || (sagoi_path_stat(aside, &info) == SAGO_OK && info.st_nlink == 2);
    *unknown = !*won && links_are_unknown(error);
    sagoi_message_clear();
    if (*won || *unknown || error == EEXIST || error == ENOENT) /* ENOENT: a later owner has tidied up */
        return SAGO_OK;
    return sagoi_fail_errno(error, "linking %s to %s", aside, path);
}

sago_status sagoi_cfile_claim(const char *dir, const char *name, const void *data, int64_t len, bool *won) {
    char aside[SAGOI_CKPT_PATH], path[SAGOI_CKPT_PATH];
    bool unknown = false;
    *won = false;
    if (!sagoi_path_join(path, dir, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s/%s: the path is too long", dir, name);
    sago_status status = sagoi_cfile_put_aside(dir, name, data, len, aside);
    if (status)
        return status;
    status = link_alone(aside, path, won, &unknown);
    sagoi_path_discard(aside);
    return unknown ? create_alone(path, data, len, won) : status;
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
