/* A file system that hangs on demand: it shows a directory of another one and passes every call on, but for calls
 * of the kinds that are named in a control file.  Those wait until they are no longer named there.
 *
 *     hangfs BACKING MOUNTPOINT CONTROL
 *
 * CONTROL is a text of kinds ("write", "fsync", ...; "all"), each with spaces around it; a file that is empty, or
 * not there, hangs nothing.  "hung KIND" is added to CONTROL.log whenever a call begins to wait.  Runs in the
 * foreground and has as many threads as calls wait.  Nothing is cached by the kernel, so that every call comes
 * here. */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static int backing; /* descriptor of the directory */
static const char *control;

static bool is_named(const char *kind) {
    char text[512] = " ", word[64];
    int fd = open(control, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text + 1, sizeof text - 3);
    (void)close(fd);
    text[got > 0 ? got + 1 : 1] = ' ';
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    (void)snprintf(word, sizeof word, " %s ", kind);
    return strstr(text, word) || strstr(text, " all ");
}

static void tell(const char *kind) {
    char path[PATH_MAX], line[64];
    (void)snprintf(path, sizeof path, "%s.log", control);
    int length = snprintf(line, sizeof line, "hung %s\n", kind);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        (void)fprintf(stderr, "hangfs: cannot write to %s\n", path);
    if (fd >= 0)
        (void)close(fd);
}

/* Waits for as long as calls of this kind are to hang. */
static void pass(const char *kind) {
    const struct timespec nap = {0, 20000000};
    if (!is_named(kind))
        return;
    tell(kind);
    while (is_named(kind))
        (void)nanosleep(&nap, NULL);
}

static const char *relative(const char *path) { return path[1] ? path + 1 : "."; }
static int result_of(int result) { return result < 0 ? -errno : 0; }

static int fs_getattr(const char *path, struct stat *info, struct fuse_file_info *file) {
    pass("getattr");
    if (file)
        return result_of(fstat((int)file->fh, info));
    return result_of(fstatat(backing, relative(path), info, AT_SYMLINK_NOFOLLOW));
}

static int fs_access(const char *path, int mode) {
    pass("access");
    return result_of(faccessat(backing, relative(path), mode, 0));
}

static int fs_mkdir(const char *path, mode_t mode) {
    pass("mkdir");
    return result_of(mkdirat(backing, relative(path), mode));
}

static int fs_unlink(const char *path) {
    pass("unlink");
    return result_of(unlinkat(backing, relative(path), 0));
}

static int fs_rmdir(const char *path) {
    pass("rmdir");
    return result_of(unlinkat(backing, relative(path), AT_REMOVEDIR));
}

static int fs_rename(const char *from, const char *to, unsigned flags) {
    pass("rename");
    return result_of(renameat2(backing, relative(from), backing, relative(to), flags));
}

static int fs_link(const char *from, const char *to) {
    pass("link");
    return result_of(linkat(backing, relative(from), backing, relative(to), 0));
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *file) {
    (void)path;
    pass("truncate");
    return file ? result_of(ftruncate((int)file->fh, size)) : -ENOSYS;
}

static int fs_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *file) {
    (void)file;
    pass("utimens");
    return result_of(utimensat(backing, relative(path), times, AT_SYMLINK_NOFOLLOW));
}

static int keep(int fd, struct fuse_file_info *file) {
    if (fd < 0)
        return -errno;
    file->fh = (uint64_t)fd;
    file->direct_io = 1;
    return 0;
}

static int fs_open(const char *path, struct fuse_file_info *file) {
    pass("open");
    return keep(openat(backing, relative(path), file->flags & ~O_NONBLOCK), file);
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *file) {
    pass("create");
    return keep(openat(backing, relative(path), file->flags | O_CREAT, mode), file);
}

static int fs_read(const char *path, char *data, size_t len, off_t off, struct fuse_file_info *file) {
    (void)path;
    pass("read");
    ssize_t done = pread((int)file->fh, data, len, off);
    return done < 0 ? -errno : (int)done;
}

static int fs_write(const char *path, const char *data, size_t len, off_t off, struct fuse_file_info *file) {
    (void)path;
    pass("write");
    ssize_t done = pwrite((int)file->fh, data, len, off);
    return done < 0 ? -errno : (int)done;
}

static int fs_statfs(const char *path, struct statvfs *info) {
    (void)path;
    pass("statfs");
    return result_of(fstatvfs(backing, info));
}

static int fs_flush(const char *path, struct fuse_file_info *file) {
    (void)path;
    (void)file;
    pass("flush");
    return 0;
}

static int fs_release(const char *path, struct fuse_file_info *file) {
    (void)path;
    return result_of(close((int)file->fh));
}

static int fs_fsync(const char *path, int data_only, struct fuse_file_info *file) {
    (void)path;
    (void)data_only;
    pass("fsync");
    return result_of(fsync((int)file->fh));
}

static int fs_opendir(const char *path, struct fuse_file_info *file) {
    pass("opendir");
    return keep(openat(backing, relative(path), O_RDONLY | O_DIRECTORY), file);
}

static int fs_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t off, struct fuse_file_info *file,
                      enum fuse_readdir_flags flags) {
    (void)path;
    (void)off;
    (void)flags;
    pass("readdir");
    int fd = openat((int)file->fh, ".", O_RDONLY | O_DIRECTORY);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        return -errno;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        (void)fill(buffer, entry->d_name, NULL, 0, 0);
    (void)closedir(dir);
    return 0;
}

static int fs_fsyncdir(const char *path, int data_only, struct fuse_file_info *file) {
    (void)path;
    (void)data_only;
    pass("fsyncdir");
    return result_of(fsync((int)file->fh));
}

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config) {
    (void)connection;
    config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
    config->hard_remove = 1;
    config->use_ino = 1;
    return NULL;
}

static const struct fuse_operations operations = {
    .init = fs_init,
    .getattr = fs_getattr,
    .access = fs_access,
    .mkdir = fs_mkdir,
    .unlink = fs_unlink,
    .rmdir = fs_rmdir,
    .rename = fs_rename,
    .link = fs_link,
    .truncate = fs_truncate,
    .utimens = fs_utimens,
    .open = fs_open,
    .create = fs_create,
    .read = fs_read,
    .write = fs_write,
    .statfs = fs_statfs,
    .flush = fs_flush,
    .release = fs_release,
    .fsync = fs_fsync,
    .opendir = fs_opendir,
    .readdir = fs_readdir,
    .releasedir = fs_release,
    .fsyncdir = fs_fsyncdir,
};

int main(int argc, char **argv) {
    if (argc != 4) {
        (void)fprintf(stderr, "usage: hangfs BACKING MOUNTPOINT CONTROL\n");
        return 2;
    }
    backing = open(argv[1], O_RDONLY | O_DIRECTORY);
    control = argv[3];
    if (backing < 0) {
        perror(argv[1]);
        return 1;
    }
    char *arguments[] = {argv[0], "-f", "-o", "fsname=hangfs", argv[2], NULL};
    return fuse_main(5, arguments, &operations, NULL);
}
