/* The system calls of checkpoints, each of them in one place.  Interrupted ones are made again; what tests want to
 * happen happens here, so that a call can be made to hang, too. */
#include "ckpt/call.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/checked.h"

enum { NAMES_MOST = 1 << 28 }; /* bytes of a directory's names */

/* Everything that a call needs and gives, in memory of its own. */
typedef struct file_call {
    sagoi_errand errand;
    sagoi_file_op op; /* kind, paths (in what follows), data of a write, place */
    char path[SAGOI_CKPT_PATH], to[SAGOI_CKPT_PATH];
    int fd, flags;
    char *into; /* of a read */
    sagoi_call_result result;
} file_call;

/* ---- The calls: 0, or an errno ---- */

static int open_file(file_call *call) {
    call->result.fd = open(call->path, call->flags | O_CLOEXEC, 0666);
    return call->result.fd < 0 ? errno : 0;
}

static int transfer(file_call *call, int64_t len) {
    bool appends = call->flags & O_APPEND;
    ssize_t done;
    if (call->op.kind == SAGOI_OP_READ)
        done = pread(call->fd, call->into, (size_t)len, call->op.off);
    else if (appends)
        done = write(call->fd, call->op.data, (size_t)len);
    else
        done = pwrite(call->fd, call->op.data, (size_t)len, call->op.off);
    call->result.done = call->op.len = done < 0 ? 0 : done;
    return done < 0 ? errno : 0;
}

static int sync_directory(file_call *call) {
    int fd = open(call->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = fsync(fd) == 0 ? 0 : errno;
    (void)close(fd);
    return error;
}

static int ask_free_space(file_call *call) {
    struct statvfs info;
    int64_t room;
    if (statvfs(call->path, &info) != 0)
        return errno;
    call->result.done = sagoi_mul((int64_t)info.f_bavail, (int64_t)info.f_frsize, &room) ? INT64_MAX : room;
    return 0;
}

/* Room for one more name. */
static int make_room(file_call *call, int64_t *capacity) {
    int64_t longest = (int64_t)sizeof((struct dirent *)0)->d_name;
    if (call->result.done + longest <= *capacity)
        return 0;
    int64_t larger = 2 * *capacity + 16 * longest;
    char *moved = larger <= NAMES_MOST ? realloc(call->result.names, (size_t)larger) : NULL;
    if (!moved)
        return ENOMEM;
    call->result.names = moved;
    *capacity = larger;
    return 0;
}

static int read_names(file_call *call, DIR *dir) {
    int64_t capacity = 0;
    for (;;) {
        int error = make_room(call, &capacity);
        if (error)
            return error;
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            return errno;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        size_t len = strlen(entry->d_name) + 1;
        memcpy(call->result.names + call->result.done, entry->d_name, len);
        call->result.done += (int64_t)len;
    }
}

static int list(file_call *call) {
    DIR *dir = opendir(call->path);
    if (!dir)
        return errno;
    int error = read_names(call, dir);
    (void)closedir(dir);
    if (error) {
        free(call->result.names);
        call->result.names = NULL;
    }
    return error;
}

static int errno_of(int result) { return result == 0 ? 0 : errno; }

static int perform(file_call *call, int64_t len) {
    switch (call->op.kind) {
    case SAGOI_OP_OPEN:
    case SAGOI_OP_CREATE:
        return open_file(call);
    case SAGOI_OP_WRITE:
    case SAGOI_OP_READ:
        return transfer(call, len);
    case SAGOI_OP_SYNC:
        return errno_of(fsync(call->fd));
    case SAGOI_OP_MKDIR:
        return errno_of(mkdir(call->path, 0777));
    case SAGOI_OP_SYNC_DIR:
        return sync_directory(call);
    case SAGOI_OP_RMDIR:
        return errno_of(rmdir(call->path));
    case SAGOI_OP_RENAME:
        return errno_of(rename(call->path, call->to));
    case SAGOI_OP_UNLINK:
        return errno_of(unlink(call->path));
    case SAGOI_OP_LINK:
        return errno_of(link(call->path, call->to));
    case SAGOI_OP_CLOSE:
        return errno_of(close(call->fd));
    case SAGOI_OP_FSTAT:
        return errno_of(fstat(call->fd, &call->result.info));
    case SAGOI_OP_STAT:
        return errno_of(stat(call->path, &call->result.info));
    case SAGOI_OP_ACCESS:
        return errno_of(access(call->path, R_OK));
    case SAGOI_OP_STATFS:
        return ask_free_space(call);
    default:
        return list(call);
    }
}

/* Closing is not repeated: the descriptor is gone, whatever was said. */
static bool is_repeated(const file_call *call) {
    return call->result.error == EINTR && call->op.kind != SAGOI_OP_CLOSE && call->op.kind != SAGOI_OP_SYNC &&
           call->op.kind != SAGOI_OP_SYNC_DIR;
}

static sago_status run(sagoi_errand *errand) {
    file_call *call = (file_call *)errand;
    int64_t wanted = call->op.len;
    bool told = call->op.kind < SAGOI_OP_UNTOLD; /* tests know of it */
    if (call->op.kind == SAGOI_OP_STAT || call->op.kind == SAGOI_OP_LIST)
        sagoi_fault_look(&call->op);
    do {
        int64_t len = call->op.len = wanted;
        call->result.error = told ? sagoi_fault_before(&call->op, &len) : 0;
        if (!call->result.error)
            call->result.error = perform(call, len);
    } while (is_repeated(call));
    /* That a directory exists is what was wanted, and what the next sync makes durable. */
    if (told && (!call->result.error || (call->op.kind == SAGOI_OP_MKDIR && call->result.error == EEXIST)))
        sagoi_fault_after(&call->op);
    return SAGO_OK;
}

/* Nobody has waited for it. */
static void forgotten(sagoi_errand *errand) {
    const file_call *call = (const file_call *)errand;
    bool opened = call->op.kind == SAGOI_OP_OPEN || call->op.kind == SAGOI_OP_CREATE;
    if (opened && !call->result.error)
        (void)close(call->result.fd);
    free(call->result.names);
}

/* ---- By whom ---- */

static const char *const deeds[] = {
    [SAGOI_OP_OPEN] = "opening",
    [SAGOI_OP_CREATE] = "opening",
    [SAGOI_OP_WRITE] = "writing to",
    [SAGOI_OP_READ] = "reading from",
    [SAGOI_OP_SYNC] = "syncing",
    [SAGOI_OP_MKDIR] = "making the directory",
    [SAGOI_OP_SYNC_DIR] = "syncing the directory",
    [SAGOI_OP_RMDIR] = "removing the directory",
    [SAGOI_OP_RENAME] = "renaming",
    [SAGOI_OP_UNLINK] = "removing",
    [SAGOI_OP_LINK] = "linking",
    [SAGOI_OP_CLOSE] = "closing",
    [SAGOI_OP_FSTAT] = "asking for the size of",
    [SAGOI_OP_STAT] = "looking at",
    [SAGOI_OP_ACCESS] = "looking at",
    [SAGOI_OP_STATFS] = "asking for the free space of",
    [SAGOI_OP_LIST] = "listing the directory",
};

static void fill(file_call *call, const sagoi_call_wish *wish) {
    call->errand = (sagoi_errand){.run = run, .forgotten = forgotten, .what = deeds[wish->kind]};
    (void)snprintf(call->path, sizeof call->path, "%s", wish->path);
    (void)snprintf(call->to, sizeof call->to, "%s", wish->to ? wish->to : "");
    call->errand.path = call->path;
    call->op = (sagoi_file_op){.kind = wish->kind, .path = call->path, .off = wish->off, .len = wish->len};
    call->op.to = wish->to ? call->to : NULL;
    call->op.data = call->into = wish->memory;
    call->fd = wish->fd;
    call->flags = wish->flags;
    call->result = (sagoi_call_result){.fd = -1};
}

/* A write may look at memory that stays; everything else uses the runner's. */
static sago_status lend_memory(file_call *call, const sagoi_call_wish *wish, sagoi_runner *runner) {
    bool writes = wish->kind == SAGOI_OP_WRITE;
    if (writes && wish->stays) {
        call->errand.lent = wish->memory;
        call->errand.lent_bytes = wish->len;
        return SAGO_OK;
    }
    call->into = sagoi_runner_buffer(runner, wish->len);
    call->op.data = call->into;
    if (!call->into)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %s %s", deeds[wish->kind], wish->path);
    if (writes)
        memcpy(call->into, wish->memory, (size_t)wish->len);
    return SAGO_OK;
}

static sago_status call_by(sagoi_runner *runner, const sagoi_call_wish *wish, sagoi_call_result *result) {
    file_call *call = sagoi_runner_room(runner);
    bool reads = wish->kind == SAGOI_OP_READ;
    bool gone = false;
    fill(call, wish);
    sago_status status = wish->memory ? lend_memory(call, wish, runner) : SAGO_OK;
    if (!status)
        status = sagoi_runner_go(runner, &gone);
    result->gone = gone;
    if (gone)
        return status;
    *result = call->result;
    if (!status && reads)
        memcpy(wish->memory, call->into, (size_t)result->done);
    sagoi_runner_give(runner);
    return status;
}

sago_status sagoi_call(const sagoi_call_wish *wish, sagoi_call_result *result) {
    _Static_assert(sizeof(file_call) <= SAGOI_ERRAND_ROOM, "a call fits into the room of an errand");
    sagoi_runner *runner = NULL;
    *result = (sagoi_call_result){.fd = -1};
    sago_status status = sagoi_runner_take(wish->watched ? wish->watched : wish->path, &runner);
    if (status || runner)
        return status ? status : call_by(runner, wish, result);
    file_call call;
    fill(&call, wish);
    status = run(&call.errand);
    *result = call.result;
    return status;
}
