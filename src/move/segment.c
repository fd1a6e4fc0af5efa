/* Node-shared memory.
 *
 * The memory has no name: it is a memfd that the other processes open through /proc, so that a job that is
 * killed at any moment leaves nothing behind.  Where processes do not see each other in /proc (different
 * namespaces, or a kernel that forbids it) the memory is a file in /dev/shm under a name that nobody can guess,
 * which is unlinked as soon as all have mapped it.  The maker of such a file holds a lock on the file from
 * before it has a name, so the next job can recognise and remove files of jobs that were killed.
 *
 * The memory is allocated for real, because touching a page of a mapping that the system cannot provide would
 * be a SIGBUS. */
#include "move/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "move/control.h"

static const char folder[] = "/dev/shm";
static const char prefix[] = "sago-";
enum { HEX_DIGITS = 32 };

uint64_t sagoi_pid_namespace(void) {
    struct stat info;
    return stat("/proc/self/ns/pid", &info) == 0 ? (uint64_t)info.st_ino : 0;
}

static int map_shared(int fd, int64_t bytes, char **base) {
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return errno;
    *base = memory;
    return 0;
}

/* ---- Files in /dev/shm ---- */

static bool is_ours(const char *file) {
    const char *digits = file + sizeof prefix - 1;
    return strncmp(file, prefix, sizeof prefix - 1) == 0 && strlen(digits) == HEX_DIGITS &&
           strspn(digits, "0123456789abcdef") == HEX_DIGITS;
}

/* Removes segments that killed jobs of this user have left: no process holds a lock on them. */
static void remove_leftovers(void) {
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        struct stat info;
        if (!is_ours(entry->d_name))
            continue;
        int fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
            flock(fd, LOCK_EX | LOCK_NB) == 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        (void)close(fd);
    }
    (void)closedir(dir);
}

/* The file is locked before other processes can see it. */
static int create_file(char file[SAGOI_SEGMENT_NAME_MAX]) {
    uint64_t random[2];
    char self[SAGOI_SEGMENT_NAME_MAX];
    remove_leftovers();
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return -1;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    (void)snprintf(file, SAGOI_SEGMENT_NAME_MAX, "%s/%s%016llx%016llx", folder, prefix,
                   (unsigned long long)random[0], (unsigned long long)random[1]);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && linkat(AT_FDCWD, self, AT_FDCWD, file, AT_SYMLINK_FOLLOW) == 0)
        return fd;
    int error = errno;
    file[0] = '\0';
    (void)close(fd);
    errno = error;
    return -1;
}

/* ---- Segments ---- */

static int fill_in(int fd, int64_t bytes, sagoi_shared_name *name, char **base) {
    struct stat info;
    const ssize_t size = sizeof name->token;
    int error = posix_fallocate(fd, 0, bytes + size);
    if (!error && (fstat(fd, &info) != 0 || getrandom(&name->token, (size_t)size, 0) != size ||
                   pwrite(fd, &name->token, (size_t)size, bytes) != size))
        error = EIO;
    if (!error)
        error = map_shared(fd, bytes, base);
    if (error)
        return error;
    name->pid = (int32_t)getpid();
    name->fd = fd;
    name->pid_namespace = sagoi_pid_namespace();
    name->device = info.st_dev;
    name->inode = info.st_ino;
    return 0;
}

int sagoi_shared_create(bool by_name, int64_t bytes, sagoi_shared_name *name, char **base) {
    *name = (sagoi_shared_name){0};
    int fd = by_name ? create_file(name->file) : memfd_create("sago", MFD_CLOEXEC);
    if (fd < 0)
        return errno ? errno : EIO;
    int error = fill_in(fd, bytes, name, base);
    if (!error)
        return 0;
    name->pid = 1;
    name->fd = fd;
    sagoi_shared_close(name);
    return error;
}

/* What the name leads to is checked before it is opened, since opening may have effects. */
static int find_shared(const sagoi_shared_name *name, char path[SAGOI_SEGMENT_NAME_MAX]) {
    struct stat info;
    if (name->file[0])
        (void)snprintf(path, SAGOI_SEGMENT_NAME_MAX, "%s", name->file);
    else if (name->pid_namespace && name->pid_namespace == sagoi_pid_namespace())
        (void)snprintf(path, SAGOI_SEGMENT_NAME_MAX, "/proc/%d/fd/%d", (int)name->pid, (int)name->fd);
    else
        return EACCES;
    if (stat(path, &info) != 0)
        return errno;
    return S_ISREG(info.st_mode) && info.st_dev == name->device && info.st_ino == name->inode ? 0 : ENOENT;
}

int sagoi_shared_open(const sagoi_shared_name *name, int64_t bytes, char **base) {
    char path[SAGOI_SEGMENT_NAME_MAX];
    int error = name->pid ? find_shared(name, path) : ENOENT;
    int fd = error ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return error ? error : errno;
    uint64_t token = 0;
    if (pread(fd, &token, sizeof token, bytes) != (ssize_t)sizeof token || token != name->token)
        error = ENOENT;
    if (!error)
        error = map_shared(fd, bytes, base);
    (void)close(fd);
    return error;
}

void sagoi_shared_close(sagoi_shared_name *name) {
    if (!name->pid)
        return;
    if (name->file[0])
        (void)unlink(name->file);
    (void)close(name->fd);
    *name = (sagoi_shared_name){0};
}

void sagoi_segment_release(sagoi_segment *segment) {
    if (segment->base && !segment->leaked)
        (void)munmap(segment->base, (size_t)segment->bytes);
    *segment = (sagoi_segment){0};
}

static void create_as_leader(sagoi_team *team, int64_t bytes, sagoi_segment *segment) {
    sagoi_control *control = team->control;
    control->shared_errno = sagoi_shared_create(team->by_name, bytes, &control->segment, &segment->base);
    if (!control->shared_errno)
        segment->bytes = bytes;
}

sago_status sagoi_segment_reserve(sagoi_team *team, int64_t bytes, sagoi_segment *segment) {
    if (segment->bytes >= bytes) /* every rank of the node sees the same sizes */
        return SAGO_OK;
    sagoi_control *control = team->control;
    sagoi_segment_release(segment);
    if (team->local_rank == 0)
        create_as_leader(team, bytes, segment);
    sago_status status = sagoi_gate(team);
    if (status)
        return status;
    int error = control->shared_errno;
    if (!error && team->local_rank != 0) {
        error = sagoi_shared_open(&control->segment, bytes, &segment->base);
        if (!error)
            segment->bytes = bytes;
    }
    int64_t failures = 0;
    status = sagoi_gate_sum(team, error != 0, &failures);
    if (team->local_rank == 0 && !control->shared_errno)
        sagoi_shared_close(&control->segment);
    if (status)
        return status;
    if (failures == 0)
        return SAGO_OK;
    sagoi_segment_release(segment);
    return sagoi_fail(SAGO_ERR_MEMORY, "%lld bytes of node-shared memory cannot be had: %s", (long long)bytes,
                      error ? strerror(error) : "another rank of the node failed");
}
