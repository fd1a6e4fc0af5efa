#include "store/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void sagoi_leftovers_lock(const sagoi_store *store) { (void)flock(sagoi_store_fd(store), LOCK_SH | LOCK_NB); }

/* Where there are no locks at all, nobody can be seen to hold one. */
bool sagoi_leftovers_seize(const sagoi_store *store) {
    return flock(sagoi_store_fd(store), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static bool is_old(const struct stat *file, int64_t age) {
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_sec - file->st_mtim.tv_sec >= age;
}

/* Is it still what was looked at?  Then it goes, while its lock is held. */
static bool remove_locked(int dir, const char *name, const struct stat *seen) {
    struct stat now;
    return fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == seen->st_ino &&
           now.st_dev == seen->st_dev && unlinkat(dir, name, 0) == 0;
}

static bool remove_one(int dir, const char *name, int64_t age) {
    struct stat file;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool removed = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
                   is_old(&file, age) && flock(fd, LOCK_EX | LOCK_NB) == 0 && remove_locked(dir, name, &file);
    (void)close(fd);
    return removed;
}

int64_t sagoi_leftovers_remove(const char *dir, const char *prefix, int64_t age, sagoi_leftover_keep keep) {
    sagoi_layout layout;
    int64_t removed = 0;
    DIR *stream = opendir(dir);
    if (!stream)
        return 0;
    if (sagoi_layout_of(dirfd(stream), &layout) == SAGO_OK && layout.local)
        for (struct dirent *entry = readdir(stream); entry; entry = readdir(stream))
            if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && !keep(dir, entry->d_name))
                removed += remove_one(dirfd(stream), entry->d_name, age);
    (void)closedir(stream);
    return removed;
}
