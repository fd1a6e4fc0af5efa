/* Operations on whole files and names, made of system calls with a time limit (call.c).  Short transfers are
 * continued here; every other failure carries the path and the reason. */
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

enum { ROOM_FOR_NAMES = 256 };       /* Room for a name in a directory whose path has a fixed size. */
enum { LARGEST_TRANSFER = 1 << 30 }; /* Bytes of one system call; Linux moves at most 2 GiB less a page. */

bool sagoi_path_join(char path[SAGOI_CKPT_PATH], const char *dir, const char *name) {
    int length = snprintf(path, SAGOI_CKPT_PATH, "%s/%s", dir, name);
    return length >= 0 && length < SAGOI_CKPT_PATH;
}

void sagoi_path_fix(char path[SAGOI_CKPT_PATH]) {
    char here[SAGOI_CKPT_PATH], fixed[SAGOI_CKPT_PATH];
    if (path[0] != '/' && getcwd(here, sizeof here - ROOM_FOR_NAMES) && sagoi_path_join(fixed, here, path) &&
        strlen(fixed) < sizeof fixed - ROOM_FOR_NAMES)
        memcpy(path, fixed, sizeof fixed);
}

/* Makes a call; an error other than `fine` becomes the message "`doing` PATH: reason". */
static sago_status call(const sagoi_call_wish *wish, int fine, const char *doing, sagoi_call_result *result) {
    sago_status status = sagoi_call(wish, result);
    if (status || !result->error || result->error == fine)
        return status;
    return sagoi_fail_errno(result->error, "%s %s", doing, wish->op.path);
}

/* ---- Open files ---- */

/* Closes a descriptor that belongs to no sagoi_cfile yet. */
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
    wish.op.flags = flags[mode] | O_NONBLOCK | (appends ? 0 : O_NOFOLLOW); /* opening a FIFO must not hang */
    wish.op.mode = 0666;
    sago_status status = call(&wish, 0, "opening", &got);
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

/* Reads or writes all bytes, or up to the end of the file: *moved.  `op` says which, and has the memory; `stays`:
 * that memory stays however long a call takes, so nothing is copied. */
static sago_status transfer(const sagoi_cfile *file, sagoi_file_op op, int64_t len, bool stays, int64_t *moved) {
    int64_t off = op.off, done = 0, most = stays ? LARGEST_TRANSFER : SAGOI_CALL_LARGEST;
    op.path = file->path;
    op.fd = file->fd;
    for (sagoi_call_result result = {.value = 1}; done < len && result.value > 0; done += result.value) {
        sagoi_call_wish wish = {.op = op, .stays = stays};
        wish.op.off = off + done;
        wish.op.len = sagoi_min(len - done, most);
        if (op.kind == SAGOI_OP_WRITE)
            wish.op.data = (const char *)op.data + done;
        else
            wish.op.into = (char *)op.into + done;
        sago_status status = sagoi_call(&wish, &result);
        if (status)
            return status;
        if (result.error)
            return sagoi_fail_errno(result.error, "%s %lld bytes at %lld of %s",
                                    op.kind == SAGOI_OP_WRITE ? "writing" : "reading", (long long)len,
                                    (long long)off, file->path);
    }
    *moved = done;
    return SAGO_OK;
}

static sago_status write_all(const sagoi_cfile *file, const void *data, int64_t len, int64_t off, bool stays) {
    sagoi_file_op op = {.kind = SAGOI_OP_WRITE, .data = data, .off = off};
    int64_t done = 0;
    op.flags = file->appends ? O_APPEND : 0;
    sago_status status = transfer(file, op, len, stays, &done);
    if (!status && done < len)
        status = sagoi_fail(SAGO_ERR_IO, "writing to %s makes no progress", file->path);
    return status;
}

sago_status sagoi_cfile_write(sagoi_cfile *file, const void *data, int64_t len, int64_t off) {
    return write_all(file, data, len, off, false);
}

sago_status sagoi_cfile_write_lent(sagoi_cfile *file, const void *data, int64_t len, int64_t off) {
    return write_all(file, data, len, off, true);
}

sago_status sagoi_cfile_read(sagoi_cfile *file, void *data, int64_t len, int64_t off, int64_t *got) {
    return transfer(file, (sagoi_file_op){.kind = SAGOI_OP_READ, .into = data, .off = off}, len, false, got);
}

sago_status sagoi_cfile_size(sagoi_cfile *file, int64_t *size) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_FSTAT, .path = file->path, .fd = file->fd}};
    sagoi_call_result result;
    sago_status status = call(&wish, 0, "asking for the size of", &result);
    if (!status)
        *size = result.info.st_size;
    return status;
}

sago_status sagoi_cfile_sync(sagoi_cfile *file) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_SYNC, .path = file->path, .fd = file->fd}};
    sagoi_call_result result;
    return call(&wish, 0, "syncing", &result);
}

/* Closes a file.  If its directory is stuck, it is closed when the directory answers again. */
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

/* Makes a call that concerns a name only. */
static sago_status name_call(sagoi_op_kind kind, const char *path, int fine, const char *doing) {
    sagoi_call_wish wish = {.op = {.kind = kind, .path = path, .mode = 0777}};
    sagoi_call_result result;
    return call(&wish, fine, doing, &result);
}

sago_status sagoi_cdir_make(const char *path) {
    return name_call(SAGOI_OP_MKDIR, path, EEXIST, "making the directory");
}

/* `watched`: a path in the directory whose time limit counts. */
static sago_status sync_directory(const char *path, const char *watched) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_SYNC_DIR, .path = path}, .watched = watched};
    sagoi_call_result result;
    return call(&wish, 0, "syncing the directory", &result);
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
    return name_call(SAGOI_OP_RMDIR, path, ENOENT, "removing the directory");
}

sago_status sagoi_path_rename(const char *from, const char *to) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_RENAME, .path = from, .to = to}};
    sagoi_call_result result;
    sago_status status = sagoi_call(&wish, &result);
    return status || !result.error ? status : sagoi_fail_errno(result.error, "renaming %s to %s", from, to);
}

sago_status sagoi_path_remove(const char *path) { return name_call(SAGOI_OP_UNLINK, path, ENOENT, "removing"); }

void sagoi_path_discard(const char *path) {
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    if (sagoi_path_remove(path))
        sagoi_message_set(why);
}

static sago_status look_at(const char *path, int flags, struct stat *info) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_STAT, .path = path, .flags = flags}};
    sagoi_call_result result;
    sago_status status = call(&wish, 0, "looking at", &result);
    if (!status)
        *info = result.info;
    return status;
}

sago_status sagoi_path_stat(const char *path, struct stat *info) { return look_at(path, 0, info); }

sago_status sagoi_path_look(const char *path, struct stat *info) {
    return look_at(path, AT_SYMLINK_NOFOLLOW, info);
}

sago_status sagoi_path_resolve(char path[SAGOI_CKPT_PATH]) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_RESOLVE, .path = path}};
    sagoi_call_result result;
    sago_status status = call(&wish, 0, "following the links of", &result);
    if (!status && strlen(result.names) < SAGOI_CKPT_PATH - ROOM_FOR_NAMES)
        (void)snprintf(path, SAGOI_CKPT_PATH, "%s", result.names);
    free(result.names);
    return status;
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
    sago_status status = call(&wish, 0, "asking for the free space of", &result);
    if (!status)
        *bytes = result.value;
    return status;
}

/* Calls `each` for names as a listing gives them, each with its NUL. */
static sago_status tell_names(const char *names, int64_t bytes, sagoi_name_fn each, void *arg) {
    sago_status status = SAGO_OK;
    for (const char *at = names; at < names + bytes && !status; at += strlen(at) + 1)
        status = each(arg, at);
    return status;
}

sago_status sagoi_cdir_list(const char *path, sagoi_name_fn each, void *arg) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_LIST, .path = path}};
    sagoi_call_result result;
    sago_status status = call(&wish, 0, "listing the directory", &result);
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

/* Writes and closes a new file; if that fails the file is removed. */
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

/* Makes the file where a file can have only one name. */
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

/* Makes the file by a link.  If the answer of the call was lost, the call is made again and says that the name
 * exists; two names of our file then tell that it was ours. */
static sago_status link_alone(const char *aside, const char *path, bool *won, bool *unknown) {
    sagoi_call_wish wish = {.op = {.kind = SAGOI_OP_LINK, .path = aside, .to = path}};
    sagoi_call_result result;
    struct stat info;
    sago_status status = sagoi_call(&wish, &result);
    if (status)
        return status;
    int error = result.error;
    *won = !error || (sagoi_path_stat(aside, &info) == SAGO_OK && info.st_nlink == 2);
    *unknown = !*won && links_are_unknown(error);
    sagoi_message_clear();
    /* ENOENT: a later owner has removed the other name. */
    if (*won || *unknown || error == EEXIST || error == ENOENT)
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
