/* A node's side: FUSE above, connections to the targets below. */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "wire.h"

enum { IDLE_MAX = 64 };

typedef struct target {
    struct sockaddr_in address;
    pthread_mutex_t turn;
    int idle[IDLE_MAX], nidle; /* connections that nobody uses */
} target;

static target targets[LINK_TARGETS];
static int ntargets;
static uint32_t this_node;

/* ---- Connections ---- */

static int connect_to(const target *to) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to->address, sizeof to->address) == 0) {
        link_no_delay(fd);
        return fd;
    }
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

static int take_connection(target *to) {
    (void)pthread_mutex_lock(&to->turn);
    int fd = to->nidle > 0 ? to->idle[--to->nidle] : -1;
    (void)pthread_mutex_unlock(&to->turn);
    return fd >= 0 ? fd : connect_to(to);
}

static void leave_connection(target *to, int fd) {
    (void)pthread_mutex_lock(&to->turn);
    bool kept = to->nidle < IDLE_MAX;
    if (kept)
        to->idle[to->nidle++] = fd;
    (void)pthread_mutex_unlock(&to->turn);
    if (!kept)
        (void)close(fd);
}

/* Gives every lock back at once: nothing is cached here. */
static void *give_back(void *argument) {
    int fd = *(int *)argument;
    char word;
    while (link_receive(fd, &word, 1) && link_send(fd, &word, 1))
        ;
    return NULL;
}

static bool listen_to(target *to) {
    link_request request = {.kind = LINK_CALLBACK, .node = this_node};
    pthread_t thread;
    int *fd = malloc(sizeof *fd); /* for as long as this runs */
    return fd && (*fd = connect_to(to)) >= 0 && link_send(*fd, &request, sizeof request) &&
           pthread_create(&thread, NULL, give_back, fd) == 0;
}

/* ---- Asking ---- */

/* What is asked, beside its fields: what goes out with a write, and room for what comes back. */
typedef struct question {
    link_request request;
    const char *path; /* or two, the first ended by a zero byte */
    const void *out;
    void *in;
    int64_t room, got; /* bytes of in; those that came */
} question;

static const char *relative(const char *path) { return path[1] ? path + 1 : "."; }

static question about(link_kind kind, const char *path) {
    const char *name = relative(path);
    return (question){.request = {.kind = kind, .node = this_node, .path_bytes = (uint32_t)strlen(name)},
                      .path = name};
}

static bool talk(int fd, question *q, link_reply *reply) {
    bool write = q->request.kind == LINK_WRITE;
    return link_send(fd, &q->request, sizeof q->request) && link_send(fd, q->path, q->request.path_bytes) &&
           (!write || link_send(fd, q->out, (size_t)q->request.length)) &&
           link_receive(fd, reply, sizeof *reply) && reply->bytes <= q->room &&
           link_receive(fd, q->in, (size_t)reply->bytes);
}

static int64_t ask(int number, question *q) {
    target *to = &targets[number];
    link_reply reply;
    int fd = take_connection(to);
    if (fd < 0)
        return -EIO;
    if (!talk(fd, q, &reply)) {
        (void)close(fd);
        return -EIO;
    }
    leave_connection(to, fd);
    q->got = reply.bytes;
    return reply.result;
}

/* The first target decides whether it can be; then the others follow. */
static int ask_all(question *q) {
    int64_t result = ask(0, q);
    q->request.flags &= ~(uint32_t)O_EXCL;
    for (int i = 1; result == 0 && i < ntargets; i++) {
        int64_t other = ask(i, q);
        result = other == -ENOENT || other == -EEXIST ? 0 : other;
    }
    return (int)result;
}

/* Two paths in one; what they are put into is the caller's. */
static question about_two(link_kind kind, const char *from, const char *to, char *paths) {
    question q = {.request = {.kind = kind, .node = this_node}, .path = paths};
    int bytes = snprintf(paths, LINK_PATH, "%s%c%s", relative(from), 0, relative(to));
    q.request.path_bytes = (uint32_t)bytes;
    return q;
}

/* ---- Names ---- */

static int fs_getattr(const char *path, struct stat *info, struct fuse_file_info *file) {
    (void)file;
    question q = about(LINK_STAT, path);
    struct stat other;
    q.room = sizeof other;
    q.in = info;
    int64_t result = ask(0, &q);
    q.in = &other;
    for (int i = 1; result == 0 && S_ISREG(info->st_mode) && i < ntargets; i++) {
        int64_t there = ask(i, &q);
        if (there != 0)
            result = there == -ENOENT ? 0 : there; /* being made or removed */
        else if (other.st_size > info->st_size)
            info->st_size = other.st_size;
    }
    info->st_blksize = link_block;
    return (int)result;
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *file) {
    question q = about(LINK_CREATE, path);
    q.request.flags = (uint32_t)file->flags & (O_EXCL | O_TRUNC);
    q.request.mode = mode;
    file->direct_io = 1;
    return ask_all(&q);
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *file) {
    (void)file;
    question q = about(LINK_TRUNCATE, path);
    q.request.offset = size;
    return ask_all(&q);
}

static int fs_open(const char *path, struct fuse_file_info *file) {
    struct stat info;
    file->direct_io = 1;
    return file->flags & O_TRUNC ? fs_truncate(path, 0, file) : fs_getattr(path, &info, file);
}

static int fs_unlink(const char *path) {
    question q = about(LINK_UNLINK, path);
    return ask_all(&q);
}

static int fs_mkdir(const char *path, mode_t mode) {
    question q = about(LINK_MKDIR, path);
    q.request.mode = mode;
    return ask_all(&q);
}

static int fs_rmdir(const char *path) {
    question q = about(LINK_RMDIR, path);
    return ask_all(&q);
}

static int fs_rename(const char *from, const char *to, unsigned flags) {
    char paths[LINK_PATH];
    question q = about_two(LINK_RENAME, from, to, paths);
    q.request.flags = flags;
    return ask_all(&q);
}

static int fs_link(const char *from, const char *to) {
    char paths[LINK_PATH];
    question q = about_two(LINK_LINK, from, to, paths);
    return ask_all(&q);
}

static int fs_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *file) {
    (void)path;
    (void)times;
    (void)file;
    return 0;
}

static int fs_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t off, struct fuse_file_info *file,
                      enum fuse_readdir_flags flags) {
    (void)off;
    (void)file;
    (void)flags;
    question q = about(LINK_LIST, path);
    q.room = INT64_C(4) << 20;
    q.in = malloc((size_t)q.room);
    int64_t result = q.in ? ask(0, &q) : -ENOMEM;
    for (const char *at = q.in; result == 0 && at < (char *)q.in + q.got; at += strlen(at) + 1)
        (void)fill(buffer, at, NULL, 0, 0);
    free(q.in);
    return (int)result;
}

static int fs_statfs(const char *path, struct statvfs *info) {
    question q = about(LINK_STATFS, path);
    q.in = info;
    q.room = sizeof *info;
    int64_t result = ask(0, &q);
    info->f_blocks *= (fsblkcnt_t)ntargets;
    info->f_bfree *= (fsblkcnt_t)ntargets;
    info->f_bavail *= (fsblkcnt_t)ntargets;
    return (int)result;
}

static int fs_getxattr(const char *path, const char *name, char *value, size_t size) {
    char text[128];
    (void)path;
    if (strcmp(name, "ceph.file.layout") != 0)
        return -ENODATA;
    int bytes = snprintf(text, sizeof text, "stripe_unit=%lld stripe_count=%d object_size=%lld pool=links",
                         (long long)link_block, ntargets, (long long)link_block);
    if (size > 0 && size < (size_t)bytes)
        return -ERANGE;
    if (size > 0)
        memcpy(value, text, (size_t)bytes);
    return bytes;
}

/* ---- Data ---- */

/* A target's file may end before the whole one: what is missing then are zeros. */
static int64_t fill_hole(const char *path, int64_t offset, int64_t length, char *data) {
    struct stat info;
    int result = fs_getattr(path, &info, NULL);
    if (result != 0)
        return result;
    if (length > info.st_size - offset)
        length = info.st_size > offset ? info.st_size - offset : 0;
    memset(data, 0, (size_t)length);
    return length;
}

static int fs_read(const char *path, char *data, size_t length, off_t offset, struct fuse_file_info *file) {
    (void)file;
    int64_t done = 0;
    while (done < (int64_t)length) {
        question q = about(LINK_READ, path);
        int64_t at = offset + done, part = link_block - at % link_block, got;
        part = part < (int64_t)length - done ? part : (int64_t)length - done;
        q.request.offset = at;
        q.request.length = q.room = part;
        q.in = data + done;
        got = ask((int)(at / link_block % ntargets), &q);
        if (got >= 0 && got < part) {
            int64_t zeros = fill_hole(path, at + got, part - got, data + done + got);
            got = zeros < 0 ? zeros : got + zeros;
        }
        if (got < 0)
            return (int)got;
        done += got;
        if (got < part)
            break;
    }
    return (int)done;
}

static int fs_write(const char *path, const char *data, size_t length, off_t offset, struct fuse_file_info *file) {
    (void)file;
    int64_t done = 0;
    while (done < (int64_t)length) {
        question q = about(LINK_WRITE, path);
        int64_t at = offset + done, part = link_block - at % link_block;
        q.request.offset = at;
        q.request.length = part < (int64_t)length - done ? part : (int64_t)length - done;
        q.out = data + done;
        int64_t put = ask((int)(at / link_block % ntargets), &q);
        if (put <= 0)
            return done > 0 ? (int)done : (int)put;
        done += put;
    }
    return (int)done;
}

static int fs_fsync(const char *path, int data_only, struct fuse_file_info *file) {
    (void)path;
    (void)data_only;
    (void)file;
    return 0; /* what was written is there */
}

/* ---- Mounting ---- */

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config) {
    (void)connection;
    config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
    config->use_ino = 1;
    for (int i = 0; i < ntargets; i++)
        if (!listen_to(&targets[i]))
            (void)fprintf(stderr, "linkfs: target %d does not answer\n", i);
    return NULL;
}

static const struct fuse_operations operations = {
    .init = fs_init,
    .getattr = fs_getattr,
    .create = fs_create,
    .open = fs_open,
    .truncate = fs_truncate,
    .unlink = fs_unlink,
    .mkdir = fs_mkdir,
    .rmdir = fs_rmdir,
    .rename = fs_rename,
    .link = fs_link,
    .utimens = fs_utimens,
    .readdir = fs_readdir,
    .statfs = fs_statfs,
    .getxattr = fs_getxattr,
    .read = fs_read,
    .write = fs_write,
    .fsync = fs_fsync,
};

int linkfs_mount(int argc, char **argv) {
    this_node = (uint32_t)strtoul(argv[1], NULL, 10);
    ntargets = argc - 2;
    bool ok = this_node < LINK_NODES && ntargets <= LINK_TARGETS;
    for (int i = 0; ok && i < ntargets; i++)
        ok = link_address(argv[i + 2], &targets[i].address);
    if (!ok) {
        (void)fprintf(stderr, "linkfs mount: wrong arguments\n");
        return 2;
    }
    /* The subtype is what programs know Ceph by, and then ask for its layout. */
    char *arguments[] = {"linkfs", "-f", "-o", "fsname=linkfs,subtype=ceph-fuse,allow_other", argv[0], NULL};
    return fuse_main(5, arguments, &operations, NULL);
}
