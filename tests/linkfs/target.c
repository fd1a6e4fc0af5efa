/* A storage target: a thread for each connection, files in a directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "locks.h"
#include "wire.h"

static int root; /* descriptor of the directory */

/* ---- The disk: one request after another ---- */

static struct {
    pthread_mutex_t turn;
    double time, rate; /* seconds of a request; bytes a second, 0: any number */
    double flush;      /* seconds that making a block durable takes */
    double free_at;    /* CLOCK_MONOTONIC, seconds */
} disk;

static void disk_use(int64_t bytes, bool flush) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    (void)pthread_mutex_lock(&disk.turn);
    disk.free_at = (disk.free_at > seconds ? disk.free_at : seconds) + disk.time +
                   (disk.rate > 0 ? (double)bytes / disk.rate : 0) + (flush ? disk.flush : 0);
    double until = disk.free_at;
    (void)pthread_mutex_unlock(&disk.turn);
    struct timespec end = {(time_t)until, (long)((until - (double)(time_t)until) * 1e9)};
    while (until > seconds && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        ;
}

/* ---- Requests ---- */

/* Of one connection; `data` is large enough for a block, and for what a folder holds. */
typedef struct visit {
    int fd;
    link_request request;
    char path[LINK_PATH + 1], *second; /* relative to the root; the second of two */
    char *data;
    int64_t bytes; /* of data to send back */
} visit;

enum { DATA_MAX = 4 << 20 };

static int64_t result_of(int result) { return result < 0 ? -errno : 0; }

static int64_t move(visit *v) {
    const link_request *request = &v->request;
    bool write = request->kind == LINK_WRITE;
    struct stat info;
    int fd = openat(root, v->path, write ? O_WRONLY : O_RDONLY);
    if (fd < 0)
        return -errno;
    (void)fstat(fd, &info);
    disk_use(request->length, locks_take(info.st_ino, request->offset / link_block, (int)request->node, write));
    ssize_t done = write ? pwrite(fd, v->data, (size_t)request->length, request->offset)
                         : pread(fd, v->data, (size_t)request->length, request->offset);
    int64_t result = done < 0 ? -errno : done;
    v->bytes = write || done < 0 ? 0 : done;
    (void)close(fd);
    return result;
}

static int64_t create(visit *v) {
    int fd = openat(root, v->path, (int)v->request.flags | O_CREAT | O_RDWR, v->request.mode);
    if (fd < 0)
        return -errno;
    (void)close(fd);
    return 0;
}

static int64_t cut(visit *v) {
    int fd = openat(root, v->path, O_WRONLY);
    if (fd < 0)
        return -errno;
    int64_t result = result_of(ftruncate(fd, v->request.offset));
    (void)close(fd);
    return result;
}

static int64_t list(visit *v) {
    int fd = openat(root, v->path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        return -errno;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        size_t bytes = strlen(entry->d_name) + 1;
        if (v->bytes + (int64_t)bytes > DATA_MAX)
            break;
        memcpy(v->data + v->bytes, entry->d_name, bytes);
        v->bytes += (int64_t)bytes;
    }
    (void)closedir(dir);
    return 0;
}

static int64_t tell(visit *v) {
    bool file = v->request.kind == LINK_STAT;
    int64_t result = result_of(file ? fstatat(root, v->path, (struct stat *)v->data, AT_SYMLINK_NOFOLLOW)
                                    : fstatvfs(root, (struct statvfs *)v->data));
    v->bytes = result ? 0 : (int64_t)(file ? sizeof(struct stat) : sizeof(struct statvfs));
    return result;
}

static int64_t serve(visit *v) {
    switch ((link_kind)v->request.kind) {
    case LINK_STAT:
    case LINK_STATFS:
        return tell(v);
    case LINK_CREATE:
        return create(v);
    case LINK_TRUNCATE:
        return cut(v);
    case LINK_UNLINK:
        return result_of(unlinkat(root, v->path, 0));
    case LINK_MKDIR:
        return result_of(mkdirat(root, v->path, v->request.mode));
    case LINK_RMDIR:
        return result_of(unlinkat(root, v->path, AT_REMOVEDIR));
    case LINK_RENAME:
        return result_of(renameat2(root, v->path, root, v->second, v->request.flags));
    case LINK_LINK:
        return result_of(linkat(root, v->path, root, v->second, 0));
    case LINK_LIST:
        return list(v);
    case LINK_READ:
    case LINK_WRITE:
        return move(v);
    case LINK_CALLBACK:
        break;
    }
    return -ENOSYS;
}

/* ---- Connections ---- */

static bool take_request(visit *v) {
    link_request *request = &v->request;
    if (!link_receive(v->fd, request, sizeof *request) || request->path_bytes > LINK_PATH ||
        request->length > DATA_MAX || request->length < 0 || request->node >= LINK_NODES ||
        !link_receive(v->fd, v->path, request->path_bytes))
        return false;
    v->path[request->path_bytes] = 0;
    v->second = v->path + strnlen(v->path, request->path_bytes) + (request->path_bytes > strlen(v->path));
    v->bytes = 0;
    return request->kind != LINK_WRITE || link_receive(v->fd, v->data, (size_t)request->length);
}

static bool answer(visit *v) {
    link_reply reply = {.result = serve(v)};
    reply.bytes = v->bytes;
    return link_send(v->fd, &reply, sizeof reply) && link_send(v->fd, v->data, (size_t)reply.bytes);
}

static void *attend(void *argument) {
    visit *v = argument;
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    while (take_request(v)) {
        if (v->request.kind == LINK_CALLBACK) {
            locks_node((int)v->request.node, v->fd);
            v->fd = -1;
            break;
        }
        if (!answer(v))
            break;
    }
    if (v->fd >= 0)
        (void)close(v->fd);
    free(v->data);
    free(v);
    return NULL;
}

static void welcome(int fd) {
    visit *v = calloc(1, sizeof *v);
    pthread_t thread;
    link_no_delay(fd);
    if (!v || !(v->data = malloc(DATA_MAX)))
        abort(); /* a test's machine without memory */
    v->fd = fd;
    if (pthread_create(&thread, NULL, attend, v) != 0)
        abort();
    (void)pthread_detach(thread);
}

static bool read_options(int argc, char **argv) {
    for (int i = 2; i + 1 < argc; i += 2) {
        double value = strtod(argv[i + 1], NULL);
        if (strcmp(argv[i], "--time") == 0)
            disk.time = 1e-6 * value;
        else if (strcmp(argv[i], "--rate") == 0)
            disk.rate = value;
        else if (strcmp(argv[i], "--flush") == 0)
            disk.flush = 1e-6 * value;
        else
            return false;
    }
    return argc % 2 == 0;
}

int linkfs_serve(int argc, char **argv) {
    struct sockaddr_in address;
    int on = 1, door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    root = open(argv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)umask(0);
    if (!read_options(argc, argv) || !link_address(argv[1], &address)) {
        (void)fprintf(stderr, "linkfs serve: wrong arguments\n");
        return 2;
    }
    (void)setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (root < 0 || bind(door, (struct sockaddr *)&address, sizeof address) != 0 || listen(door, 128) != 0) {
        perror("linkfs serve");
        return 1;
    }
    for (;;) {
        int fd = accept(door, NULL, NULL);
        if (fd >= 0)
            welcome(fd);
    }
}
