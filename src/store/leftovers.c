#include "store/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "system/syscalls.h"

void sagoi_leftovers_lock(const sagoi_store *store) { (void)flock(sagoi_store_fd(store), LOCK_SH | LOCK_NB); }

/* Where the file system has no locks at all, a lock of another process cannot be seen. */
bool sagoi_leftovers_seize(const sagoi_store *store) {
    return flock(sagoi_store_fd(store), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static bool is_old(const struct stat *file, int64_t age) {
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_sec - file->st_mtim.tv_sec >= age;
}

/* Removes the file while holding its lock, if it is still the file that was looked at. */
static bool remove_locked(int dir, const char *name, const struct stat *seen) {
    struct stat now;
    sagoi_file_op look = {.kind = SAGOI_OP_STAT, .path = name, .fd = dir, .in_fd = true, .info = &now};
    sagoi_file_op unlink = {.kind = SAGOI_OP_UNLINK, .path = name, .fd = dir, .in_fd = true};
    look.flags = AT_SYMLINK_NOFOLLOW;
    return sagoi_syscall(&look) == 0 && now.st_ino == seen->st_ino && now.st_dev == seen->st_dev &&
           sagoi_syscall(&unlink) == 0;
}

static bool remove_one(int dir, const char *name, int64_t age) {
    struct stat file;
    sagoi_file_op open = {.kind = SAGOI_OP_OPEN, .path = name, .fd = dir, .in_fd = true};
    open.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
    int fd = (int)sagoi_syscall(&open);
    if (fd < 0)
        return false;
    bool removed = sagoi_fstat(fd, name, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
                   is_old(&file, age) && flock(fd, LOCK_EX | LOCK_NB) == 0 && remove_locked(dir, name, &file);
    (void)sagoi_close(fd, name);
    return removed;
}

int64_t sagoi_leftovers_remove(const char *dir, const char *prefix, int64_t age, sagoi_leftover_keep keep) {
    sagoi_layout layout = {0};
    struct stat folder;
    int64_t removed = 0;
    int fd = sagoi_open(dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return 0;
    sagoi_file_op list = {.kind = SAGOI_OP_LIST, .path = ".", .fd = fd, .in_fd = true};
    if (sagoi_fstat(fd, dir, &folder) == 0)
        sagoi_layout_of(fd, &folder, &layout);
    int64_t bytes = layout.local ? sagoi_syscall(&list) : 0;
    for (const char *name = list.names; name && name < list.names + bytes; name += strlen(name) + 1)
        if (strncmp(name, prefix, strlen(prefix)) == 0 && !keep(dir, name))
            removed += remove_one(fd, name, age);
    free(list.names);
    (void)sagoi_close(fd, dir);
    return removed;
}
