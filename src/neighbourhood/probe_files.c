#include "neighbourhood/probe_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/syscalls.h"
#include "system/watch.h"

/* Counts a call and makes it: in the directory, in the folder or, with -1, anywhere. */
static int count_call(int64_t *count, int dir, sagoi_file_op op) {
    ++*count;
    op.in_fd = dir >= 0 && op.kind != SAGOI_OP_FSTAT;
    op.fd = dir;
    return (int)sagoi_syscall(&op);
}

void sagoi_probe_init(sagoi_probe *probe, const char *path) {
    *probe = (sagoi_probe){.path = path, .dir = -1, .folder = -1};
}

static sago_status close_all(sagoi_probe *probe, int64_t unused, int64_t *nothing) {
    (void)unused;
    (void)nothing;
    if (probe->folder >= 0)
        (void)sagoi_close(probe->folder, probe->folder_name);
    if (probe->dir >= 0)
        (void)sagoi_close(probe->dir, probe->path);
    probe->folder = probe->dir = -1;
    return SAGO_OK;
}

void sagoi_probe_set_name(sagoi_probe *probe, const uint64_t random[2]) {
    char unique[40];
    (void)snprintf(unique, sizeof unique, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
    (void)snprintf(probe->name, sizeof probe->name, ".sago-%s", unique);
    (void)snprintf(probe->folder_name, sizeof probe->folder_name, ".sago-%s.d", unique);
}

/* Finds out which directory it is, and whether it can be written to (which also shows a file system that is
 * mounted read-only). */
static sago_status examine_directory(sagoi_probe *probe) {
    struct stat info;
    sagoi_file_op stat = {.kind = SAGOI_OP_FSTAT, .path = probe->path, .info = &info};
    sagoi_file_op access = {.kind = SAGOI_OP_ACCESS, .path = ".", .flags = W_OK | X_OK};
    if (count_call(&probe->counts.checks, probe->dir, stat) != 0)
        return sagoi_fail_errno(errno, "the directory %s", probe->path);
    probe->device = info.st_dev;
    probe->inode = info.st_ino;
    if (count_call(&probe->counts.checks, probe->dir, access) != 0)
        return sagoi_fail_errno(errno, "the directory %s cannot be written to", probe->path);
    return SAGO_OK;
}

static sago_status open_directory(sagoi_probe *probe, int64_t examine, int64_t *nothing) {
    (void)nothing;
    sagoi_file_op open = {.kind = SAGOI_OP_OPEN, .path = probe->path, .flags = O_RDONLY | O_DIRECTORY};
    probe->dir = count_call(&probe->counts.opens, -1, open);
    if (probe->dir < 0)
        return sagoi_fail_errno(errno, "the directory %s", probe->path);
    return examine ? examine_directory(probe) : SAGO_OK;
}

/* ---- One file for all ---- */

static int create_exclusively(sagoi_probe *probe, int dir, const char *name) {
    sagoi_file_op op = {.kind = SAGOI_OP_CREATE, .path = name, .mode = 0600};
    op.flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    return count_call(&probe->counts.creates, dir, op);
}

static sago_status create(sagoi_probe *probe, int64_t unused, int64_t *nothing) {
    (void)unused;
    (void)nothing;
    int fd = create_exclusively(probe, probe->dir, probe->name);
    if (fd < 0)
        return sagoi_fail_errno(errno, "creating a file in %s", probe->path);
    probe->has_file = true;
    (void)sagoi_close(fd, probe->name);
    return SAGO_OK;
}

static sago_status look(sagoi_probe *probe, int64_t unused, int64_t *seen) {
    struct stat info;
    (void)unused;
    sagoi_file_op op = {.kind = SAGOI_OP_STAT, .path = probe->name, .flags = AT_SYMLINK_NOFOLLOW, .info = &info};
    *seen = count_call(&probe->counts.looks, probe->dir, op) == 0 && S_ISREG(info.st_mode);
    return SAGO_OK;
}

/* ---- A file for each, in a folder ---- */

static sago_status open_folder(sagoi_probe *probe) {
    sagoi_file_op make = {.kind = SAGOI_OP_MKDIR, .path = probe->folder_name, .mode = 0700};
    sagoi_file_op open = {.kind = SAGOI_OP_OPEN, .path = probe->folder_name};
    open.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    if (count_call(&probe->counts.creates, probe->dir, make) != 0 && errno != EEXIST)
        return sagoi_fail_errno(errno, "creating a folder in %s", probe->path);
    probe->has_folder = true;
    probe->folder = count_call(&probe->counts.opens, probe->dir, open);
    if (probe->folder < 0)
        return sagoi_fail_errno(errno, "opening a folder just made in %s", probe->path);
    return SAGO_OK;
}

static void entry_name(int64_t number, char name[SAGOI_PROBE_NAME_MAX]) {
    (void)snprintf(name, SAGOI_PROBE_NAME_MAX, "%" PRId64, number);
}

/* The folder was made by this or another rank, unless somebody has moved it away and put another one in its place.
 * Its owner is compared with that of our own files, since a server may give files to another user than the one
 * that we run as. */
static sago_status check_owner(sagoi_probe *probe, int fd) {
    struct stat folder, file;
    sagoi_file_op op = {.kind = SAGOI_OP_FSTAT, .path = probe->folder_name, .info = &folder};
    if (count_call(&probe->counts.checks, probe->folder, op) != 0 ||
        sagoi_fstat(fd, probe->folder_name, &file) != 0)
        return sagoi_fail_errno(errno, "a folder just made in %s", probe->path);
    if (folder.st_uid != file.st_uid)
        return sagoi_fail(SAGO_ERR_ACCESS, "a folder just made in %s now belongs to user %u", probe->path,
                          (unsigned)folder.st_uid);
    return SAGO_OK;
}

static sago_status enter(sagoi_probe *probe, int64_t number, int64_t *nothing) {
    (void)nothing;
    char name[SAGOI_PROBE_NAME_MAX];
    sago_status status = open_folder(probe);
    if (status)
        return status;
    entry_name(number, name);
    int fd = create_exclusively(probe, probe->folder, name);
    if (fd < 0)
        return sagoi_fail_errno(errno, "creating a file in a folder in %s", probe->path);
    probe->entry = number;
    probe->has_entry = true;
    status = check_owner(probe, fd);
    (void)sagoi_close(fd, name);
    return status;
}

/* The number of a name; -1: entry_name() gives no such name, so the file is somebody else's. */
static int64_t entry_number(const char *name) {
    char *end, again[SAGOI_PROBE_NAME_MAX];
    errno = 0;
    long long number = strtoll(name, &end, 10);
    if (errno || *end || number < 0)
        return -1;
    entry_name(number, again);
    return strcmp(name, again) == 0 ? number : -1;
}

static sago_status list(sagoi_probe *probe, int64_t end, int64_t *least) {
    sagoi_file_op op = {.kind = SAGOI_OP_LIST, .path = ".", .fd = probe->folder, .in_fd = true};
    bool own = false;
    int64_t found = probe->entry;
    probe->counts.lists++;
    int64_t bytes = sagoi_syscall(&op);
    if (bytes < 0)
        return sagoi_fail_errno(errno, "listing a folder in %s", probe->path);
    for (const char *name = op.names; name < op.names + bytes; name += strlen(name) + 1) {
        int64_t number = entry_number(name);
        own = own || number == probe->entry;
        if (number >= 0 && number < end && number < found)
            found = number;
    }
    free(op.names);
    if (!own)
        return sagoi_fail(SAGO_ERR_NO_FILE, "a file just made in %s has gone: was the directory removed?",
                          probe->path);
    *least = found;
    return SAGO_OK;
}

/* ---- The end ---- */

/* Returns 0 or an errno; a name that is gone already counts as removed. */
static int remove_one(sagoi_probe *probe, int dir, const char *name, sagoi_op_kind kind) {
    sagoi_file_op op = {.kind = kind, .path = name};
    return count_call(&probe->counts.removes, dir, op) == 0 || errno == ENOENT ? 0 : errno;
}

static int remove_entry(sagoi_probe *probe) {
    char number[SAGOI_PROBE_NAME_MAX];
    entry_name(probe->entry, number);
    return remove_one(probe, probe->folder, number, SAGOI_OP_UNLINK);
}

static sago_status remove_files(sagoi_probe *probe, int64_t unused, int64_t *nothing) {
    (void)unused;
    (void)nothing;
    int error = probe->has_file ? remove_one(probe, probe->dir, probe->name, SAGOI_OP_UNLINK) : 0;
    int entry_error = probe->has_entry ? remove_entry(probe) : 0;
    probe->has_file = probe->has_entry = false;
    if (error || entry_error)
        return sagoi_fail_errno(error ? error : entry_error, "a file %s is left in %s", probe->name, probe->path);
    return SAGO_OK;
}

static sago_status remove_folder(sagoi_probe *probe, int64_t alone, int64_t *nothing) {
    (void)nothing;
    int error = probe->has_folder ? remove_one(probe, probe->dir, probe->folder_name, SAGOI_OP_RMDIR) : 0;
    probe->has_folder = false;
    if (error && alone)
        return sagoi_fail_errno(error, "a folder %s is left in %s", probe->folder_name, probe->path);
    return SAGO_OK;
}

/* ---- By whom: a directory that is watched has threads for it ---- */

typedef sago_status (*probe_step)(sagoi_probe *probe, int64_t number, int64_t *found);

typedef struct probe_errand {
    sagoi_errand errand;
    sagoi_probe probe; /* a copy while a step is under way */
    char path[SAGOI_WATCH_PATH];
    probe_step step;
    int64_t number, found;
} probe_errand;

static sago_status run(sagoi_errand *errand) {
    probe_errand *at = (probe_errand *)errand;
    return at->step(&at->probe, at->number, &at->found);
}

static void forgotten(sagoi_errand *errand) {
    probe_errand *at = (probe_errand *)errand;
    (void)close_all(&at->probe, 0, NULL);
}

/* After a step that has not come back, the probe has nothing open, and nothing that it could remove. */
static sago_status take_step(sagoi_probe *probe, probe_step step, int64_t number, int64_t *found) {
    _Static_assert(sizeof(probe_errand) <= SAGOI_ERRAND_ROOM, "a step fits into the room of an errand");
    sagoi_runner *runner = NULL;
    const char *path = probe->path;
    bool gone = false;
    sago_status status = sagoi_runner_take(path, &runner);
    if (status || !runner)
        return status ? status : step(probe, number, found);
    probe_errand *at = sagoi_runner_room(runner);
    *at = (probe_errand){.errand = {.run = run, .forgotten = forgotten, .what = "trying out"}, .probe = *probe};
    (void)snprintf(at->path, sizeof at->path, "%s", path);
    at->errand.path = at->probe.path = at->path;
    at->step = step;
    at->number = number;
    status = sagoi_runner_go(runner, &gone);
    if (gone) {
        sagoi_probe_init(probe, path);
        return status;
    }
    *probe = at->probe;
    probe->path = path;
    *found = at->found;
    sagoi_runner_give(runner);
    return status;
}

/* In a directory that is stuck nothing can be closed. */
void sagoi_probe_cleanup(sagoi_probe *probe) {
    int64_t nothing;
    if (take_step(probe, close_all, 0, &nothing) != SAGO_ERR_TIMEOUT)
        return;
    if (probe->folder >= 0)
        (void)sagoi_watch_close_later(probe->path, probe->folder);
    if (probe->dir >= 0)
        (void)sagoi_watch_close_later(probe->path, probe->dir);
    probe->folder = probe->dir = -1;
}

sago_status sagoi_probe_open(sagoi_probe *probe, bool examine) {
    int64_t nothing;
    return take_step(probe, open_directory, examine, &nothing);
}

sago_status sagoi_probe_create(sagoi_probe *probe) {
    int64_t nothing;
    return take_step(probe, create, 0, &nothing);
}

bool sagoi_probe_sees(sagoi_probe *probe) {
    int64_t seen = 0;
    return take_step(probe, look, 0, &seen) == SAGO_OK && seen;
}

sago_status sagoi_probe_enter(sagoi_probe *probe, int64_t number) {
    int64_t nothing;
    return take_step(probe, enter, number, &nothing);
}

sago_status sagoi_probe_list(sagoi_probe *probe, int64_t end, int64_t *least) {
    int64_t found = *least;
    sago_status status = take_step(probe, list, end, &found);
    if (!status)
        *least = found;
    return status;
}

sago_status sagoi_probe_remove_files(sagoi_probe *probe) {
    int64_t nothing;
    return take_step(probe, remove_files, 0, &nothing);
}

sago_status sagoi_probe_remove_folder(sagoi_probe *probe, bool alone) {
    int64_t nothing;
    return take_step(probe, remove_folder, alone, &nothing);
}
