/* How a path of the user's is written: by replacing a regular file, or directly.  Owns the file beside the path
 * until that has the path's name.  Messages are left to the callers. */
#include "trace/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINKS = 40 };          /* as many as Linux follows */
enum { PATIENCE_MS = 10000 }; /* for a reader that takes nothing */
enum { BYTES_OF_A_LINK = 4096 };

const char *sagoi_output_reason(int error) {
    return error == ENXIO       ? "nobody reads from it"
           : error == ETIMEDOUT ? "its reader takes nothing"
                                : strerror(error);
}

bool sagoi_output_is_special(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* What the link at `path` points to, seen from here; the caller frees it. */
static char *behind_link(const char *path) {
    char *to = malloc(BYTES_OF_A_LINK), *joined = NULL;
    ssize_t length = to ? readlink(path, to, BYTES_OF_A_LINK - 1) : -1;
    if (length >= 0) {
        const char *slash = strrchr(path, '/');
        to[length] = '\0';
        if (to[0] == '/' || !slash)
            return to;
        if (asprintf(&joined, "%.*s/%s", (int)(slash - path), path, to) < 0)
            joined = NULL;
    }
    free(to);
    return joined;
}

/* The path after symbolic links, whether or not a file is there; the caller frees it. */
static char *follow(const char *path) {
    char *now = strdup(path);
    struct stat info;
    for (int links = 0; now && lstat(now, &info) == 0 && S_ISLNK(info.st_mode); links++) {
        char *next = links < LINKS ? behind_link(now) : NULL;
        if (links == LINKS)
            errno = ELOOP;
        free(now);
        now = next;
    }
    return now;
}

static bool same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The stream, standard output or standard error, that goes to this file; -1: neither.  It would lose a file that
 * is replaced. */
static int stream_of(const struct stat *info) {
    struct stat own;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &own) == 0 && same(&own, info))
            return fd;
    return -1;
}

/* Makes a file of a new name beside `target`. */
static int make_aside(const char *target, char **aside) {
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random ||
        asprintf(aside, "%s.%016llx.aside", target, (unsigned long long)random) < 0) {
        *aside = NULL;
        return -1;
    }
    int fd = open(*aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        free(*aside);
        *aside = NULL;
    }
    return fd;
}

int sagoi_output_check(const char *path) {
    struct stat info;
    bool there = stat(path, &info) == 0;
    if (!there && errno != ENOENT)
        return errno;
    if (there && S_ISDIR(info.st_mode))
        return EISDIR;
    if (there && (!S_ISREG(info.st_mode) || stream_of(&info) >= 0))
        return access(path, W_OK) == 0 ? 0 : errno;
    char *target = follow(path), *aside = NULL;
    int fd = target ? make_aside(target, &aside) : -1, error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(aside);
    }
    free(aside);
    free(target);
    return error;
}

/* A stream is written by its own descriptor, which has the offset of what the program writes next. */
static bool open_directly(sagoi_output *out, const char *path, int stream) {
    out->fd = stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 0)
                          : open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    out->file = out->fd >= 0 ? open_memstream(&out->text, &out->length) : NULL;
    if (!out->file && out->fd >= 0)
        (void)close(out->fd);
    return out->file != NULL;
}

static bool open_aside(sagoi_output *out, const char *path, const struct stat *old) {
    out->target = follow(path);
    int fd = out->target ? make_aside(out->target, &out->aside) : -1;
    if (fd >= 0 && old)
        (void)fchmod(fd, old->st_mode & 07777);
    out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out->file)
        return true;
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(out->aside);
    }
    free(out->aside);
    free(out->target);
    return false;
}

bool sagoi_output_open(sagoi_output *out, const char *path) {
    struct stat info;
    bool there = stat(path, &info) == 0;
    *out = (sagoi_output){.fd = -1};
    if (!there && errno != ENOENT)
        return false; /* such as a link that the kernel does not follow here (fs.protected_symlinks) */
    if (there && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return false;
    }
    int stream = there ? stream_of(&info) : -1;
    if (there && (!S_ISREG(info.st_mode) || stream >= 0))
        return open_directly(out, path, stream);
    return open_aside(out, path, there ? &info : NULL);
}

/* Writes all, or as much as a reader takes. */
static bool write_out(int fd, const char *text, size_t length) {
    while (length > 0) {
        ssize_t n = write(fd, text, length);
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        if (n > 0) {
            text += n;
            length -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            int ready = poll(&wait, 1, PATIENCE_MS);
            if (ready == 0)
                errno = ETIMEDOUT;
            if (ready == 0 || (ready < 0 && errno != EINTR))
                return false;
        } else if (n == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* A reader that goes away is an error, not a signal that ends the job. */
static bool write_without_signal(int fd, const char *text, size_t length) {
    sigset_t pipe, before;
    const struct timespec now = {0};
    (void)sigemptyset(&pipe);
    (void)sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
    bool good = write_out(fd, text, length);
    int error = errno;
    if (!good && error == EPIPE && !sigismember(&before, SIGPIPE))
        (void)sigtimedwait(&pipe, NULL, &now);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return good;
}

static bool close_directly(sagoi_output *out) {
    bool good = fclose(out->file) == 0 && write_without_signal(out->fd, out->text, out->length);
    int error = errno;
    good = close(out->fd) == 0 && good;
    free(out->text);
    errno = error;
    return good;
}

bool sagoi_output_close(sagoi_output *out) {
    if (out->fd >= 0)
        return close_directly(out);
    bool good = !ferror(out->file) && fflush(out->file) == 0;
    good = good && (fsync(fileno(out->file)) == 0 || errno == EINVAL); /* a file system that cannot */
    int error = good ? 0 : errno;
    if (fclose(out->file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(out->aside, out->target) != 0) {
        good = false;
        error = errno;
    }
    if (!good)
        (void)unlink(out->aside);
    free(out->aside);
    free(out->target);
    errno = error;
    return good;
}
