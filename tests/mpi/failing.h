/* What the library asks of others fails on this rank: the n-th allocation, MPI call or system call that it makes,
 * once, or it and all after it.  What fails has no effect.  Only what is linked into the program asks here: the
 * linker sends allocations and system calls through wrappers (-Wl,--wrap), MPI's functions are replaced by ours.
 * MPI and what it brings along are served as ever.  For programs that CMakeLists.txt links so. */
#ifndef SAGO_TESTS_FAILING_H
#define SAGO_TESTS_FAILING_H

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "mpi/check.h"

typedef enum { FAIL_MEMORY, FAIL_MPI, FAIL_SYSTEM, FAIL_KINDS } fail_kind;
static const char *const fail_names[FAIL_KINDS] = {"memory", "mpi", "system"};

static atomic_int calls_left[FAIL_KINDS]; /* the one that makes it 0 fails */
static atomic_bool fails_for_good;        /* and then all after it */
static const char *_Atomic failed_call;   /* what failed first */
static atomic_uint polled;                /* bits: asked since the last other call; how often depends on time */

static bool failing(fail_kind kind, const char *name) {
    int left = atomic_load(&calls_left[kind]);
    if (left == 0)
        return false;
    if (left < 0)
        return atomic_load(&fails_for_good);
    if (atomic_fetch_sub(&calls_left[kind], 1) != 1)
        return false;
    atomic_fetch_sub(&calls_left[kind], 1);
    atomic_store(&failed_call, name);
    return true;
}

/* The same of a call that only looks whether something is there; asking again is no other call. */
static bool failing_poll(unsigned bit, const char *name) {
    if (atomic_load(&calls_left[FAIL_MPI]) > 0 && (atomic_fetch_or(&polled, bit) & bit))
        return false;
    return failing(FAIL_MPI, name);
}

static atomic_int calls_until_late; /* of MPI; the one that makes it 0 comes so late: */
static const unsigned late_us = 1500000;

static bool failing_call(const char *name) {
    atomic_store(&polled, 0);
    if (atomic_load(&calls_until_late) > 0 && atomic_fetch_sub(&calls_until_late, 1) == 1)
        (void)usleep(late_us);
    return failing(FAIL_MPI, name);
}

/* A real MPI does not only return an error: it calls the handler of what the call was made on, and a program may
 * have left MPI_ERRORS_ARE_FATAL there.  So every call of the library, whether it fails or not, is to be made
 * where that would not end the program. */
static const char *_Atomic fatal_call; /* the first one that was not */

static bool fails_mpi(void) { return atomic_load(&calls_left[FAIL_MPI]) != 0; }

static void note_handler(const char *name, MPI_Errhandler *handler) {
    const char *none = NULL;
    if (*handler == MPI_ERRORS_ARE_FATAL)
        atomic_compare_exchange_strong(&fatal_call, &none, name);
    PMPI_Errhandler_free(handler);
}

static void look_at_comm(const char *name, MPI_Comm comm) {
    MPI_Errhandler handler;
    if (fails_mpi() && PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS)
        note_handler(name, &handler);
}

static void look_at_window(const char *name, MPI_Win win) {
    MPI_Errhandler handler;
    if (fails_mpi() && PMPI_Win_get_errhandler(win, &handler) == MPI_SUCCESS)
        note_handler(name, &handler);
}

/* Calls on types, groups and info objects raise their errors at MPI_COMM_WORLD, or at MPI_COMM_SELF since MPI 4.
 * So do calls that complete requests under MPICH, whatever communicator the request is from. */
static void look_at_world(const char *name) {
    look_at_comm(name, MPI_COMM_WORLD);
    look_at_comm(name, MPI_COMM_SELF);
}

#define ON_COMM(name) look_at_comm(name, comm)
#define ON_ITS_COMM(name) look_at_comm(name, *comm)
#define ON_WINDOW(name) look_at_window(name, win)
#define ON_ITS_WINDOW(name) look_at_window(name, *win)
#define ON_WHAT_IS_NEW(name) /* a handler can only be replaced under the one that is there */
#define ON_NOTHING(name) look_at_world(name)

/* The n-th call of this kind from now on fails. */
static inline void fail_at(fail_kind kind, int n, bool for_good) {
    atomic_store(&failed_call, NULL);
    atomic_store(&fatal_call, NULL);
    atomic_store(&polled, 0);
    atomic_store(&fails_for_good, for_good);
    atomic_store(&calls_left[kind], n);
}

/* No more failures; has there been one?  Its name, or NULL. */
static inline const char *fail_no_more(void) {
    for (int kind = 0; kind < FAIL_KINDS; kind++)
        atomic_store(&calls_left[kind], 0);
    return atomic_load(&failed_call);
}

/* ---- Memory ---- */

static atomic_llong allocations; /* that have not been freed */

static void *counted(void *memory) {
    atomic_fetch_add(&allocations, memory != NULL);
    return memory;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
char *__real_strdup(const char *text);
char *__real_realpath(const char *path, char *into);
ssize_t __real___getdelim(char **line, size_t *room, int end, FILE *file);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_realpath(const char *path, char *into);
int __wrap_asprintf(char **text, const char *format, ...);
ssize_t __wrap___getdelim(char **line, size_t *room, int end, FILE *file);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t bytes) { return failing(FAIL_MEMORY, "malloc") ? NULL : counted(__real_malloc(bytes)); }
void *__wrap_calloc(size_t n, size_t bytes) {
    return failing(FAIL_MEMORY, "calloc") ? NULL : counted(__real_calloc(n, bytes));
}
void *__wrap_realloc(void *memory, size_t bytes) {
    if (failing(FAIL_MEMORY, "realloc"))
        return NULL;
    return memory ? __real_realloc(memory, bytes) : counted(__real_realloc(NULL, bytes));
}
char *__wrap_strdup(const char *text) {
    return failing(FAIL_MEMORY, "strdup") ? NULL : counted(__real_strdup(text));
}
char *__wrap_realpath(const char *path, char *into) {
    errno = ENOMEM;
    return failing(FAIL_MEMORY, "realpath") ? NULL
           : into                           ? __real_realpath(path, into)
                                            : counted(__real_realpath(path, NULL));
}
int __wrap_asprintf(char **text, const char *format, ...) {
    va_list args;
    if (failing(FAIL_MEMORY, "asprintf"))
        return -1;
    va_start(args, format);
    int length = vasprintf(text, format, args);
    va_end(args);
    atomic_fetch_add(&allocations, length >= 0);
    return length;
}
ssize_t __wrap___getdelim(char **line, size_t *room, int end, FILE *file) {
    const char *before = *line;
    ssize_t length = __real___getdelim(line, room, end, file);
    atomic_fetch_add(&allocations, !before && *line);
    return length;
}
void __wrap_free(void *memory) {
    atomic_fetch_sub(&allocations, memory != NULL);
    __real_free(memory);
}

/* ---- System calls ---- */

#define FAILING_SYSTEM(type, name, failure, error, params, args)                                                  \
    type __real_##name params;                                                                                    \
    type __wrap_##name params;                                                                                    \
    type __wrap_##name params {                                                                                   \
        if (!failing(FAIL_SYSTEM, #name))                                                                         \
            return __real_##name args;                                                                            \
        errno = (error);                                                                                          \
        return (failure);                                                                                         \
    }

FAILING_SYSTEM(ssize_t, pread, -1, EIO, (int fd, void *buf, size_t n, off_t off), (fd, buf, n, off))
FAILING_SYSTEM(ssize_t, pwrite, -1, EIO, (int fd, const void *buf, size_t n, off_t off), (fd, buf, n, off))
FAILING_SYSTEM(ssize_t, preadv, -1, EIO, (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off))
FAILING_SYSTEM(ssize_t, pwritev, -1, ENOSPC, (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off))
FAILING_SYSTEM(ssize_t, read, -1, EIO, (int fd, void *buf, size_t n), (fd, buf, n))
FAILING_SYSTEM(ssize_t, write, -1, ENOSPC, (int fd, const void *buf, size_t n), (fd, buf, n))
FAILING_SYSTEM(int, ftruncate, -1, EIO, (int fd, off_t size), (fd, size))
FAILING_SYSTEM(int, fstat, -1, EIO, (int fd, struct stat *info), (fd, info))
FAILING_SYSTEM(int, stat, -1, EACCES, (const char *path, struct stat *info), (path, info))
FAILING_SYSTEM(int, lstat, -1, EACCES, (const char *path, struct stat *info), (path, info))
FAILING_SYSTEM(int, fsync, -1, EIO, (int fd), (fd))
FAILING_SYSTEM(void *, mmap, MAP_FAILED, ENOMEM, (void *at, size_t n, int prot, int flags, int fd, off_t off),
               (at, n, prot, flags, fd, off))
FAILING_SYSTEM(int, madvise, -1, EFAULT, (void *at, size_t n, int advice), (at, n, advice))
FAILING_SYSTEM(int, unlink, -1, EIO, (const char *path), (path))
FAILING_SYSTEM(int, rename, -1, EIO, (const char *from, const char *to), (from, to))
FAILING_SYSTEM(int, mkdir, -1, EIO, (const char *path, mode_t mode), (path, mode))
FAILING_SYSTEM(int, rmdir, -1, EIO, (const char *path), (path))
FAILING_SYSTEM(DIR *, opendir, NULL, EMFILE, (const char *path), (path))
FAILING_SYSTEM(int, shm_open, -1, EMFILE, (const char *name, int flags, mode_t mode), (name, flags, mode))
FAILING_SYSTEM(int, posix_fallocate, ENOSPC, ENOSPC, (int fd, off_t off, off_t n), (fd, off, n))
FAILING_SYSTEM(int, flock, -1, EIO, (int fd, int operation), (fd, operation))
FAILING_SYSTEM(ssize_t, getrandom, -1, EINTR, (void *buf, size_t n, unsigned flags), (buf, n, flags))
FAILING_SYSTEM(int, pthread_create, EAGAIN, EAGAIN,
               (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg),
               (thread, attributes, run, arg))

FAILING_SYSTEM(int, access, -1, EIO, (const char *path, int mode), (path, mode))
FAILING_SYSTEM(int, faccessat, -1, EIO, (int dir, const char *path, int mode, int flags), (dir, path, mode, flags))
FAILING_SYSTEM(int, fallocate, -1, ENOSPC, (int fd, int mode, off_t off, off_t n), (fd, mode, off, n))
FAILING_SYSTEM(DIR *, fdopendir, NULL, ENOMEM, (int fd), (fd))
FAILING_SYSTEM(struct dirent *, readdir, NULL, EIO, (DIR * dir), (dir))
FAILING_SYSTEM(int, fstatat, -1, EIO, (int dir, const char *path, struct stat *info, int flags),
               (dir, path, info, flags))
FAILING_SYSTEM(int, fstatfs, -1, EIO, (int fd, struct statfs *info), (fd, info))
FAILING_SYSTEM(int, statfs, -1, EIO, (const char *path, struct statfs *info), (path, info))
FAILING_SYSTEM(int, statvfs, -1, EIO, (const char *path, struct statvfs *info), (path, info))
FAILING_SYSTEM(int, link, -1, EIO, (const char *from, const char *to), (from, to))
FAILING_SYSTEM(int, linkat, -1, EIO, (int a, const char *from, int b, const char *to, int flags),
               (a, from, b, to, flags))
FAILING_SYSTEM(int, mkdirat, -1, EIO, (int dir, const char *path, mode_t mode), (dir, path, mode))
FAILING_SYSTEM(int, unlinkat, -1, EIO, (int dir, const char *path, int flags), (dir, path, flags))
FAILING_SYSTEM(int, memfd_create, -1, EMFILE, (const char *name, unsigned flags), (name, flags))
FAILING_SYSTEM(off_t, lseek, -1, EIO, (int fd, off_t off, int whence), (fd, off, whence))
FAILING_SYSTEM(ssize_t, fgetxattr, -1, EIO, (int fd, const char *name, void *value, size_t n),
               (fd, name, value, n))
FAILING_SYSTEM(int, fsetxattr, -1, EIO, (int fd, const char *name, const void *value, size_t n, int flags),
               (fd, name, value, n, flags))
FAILING_SYSTEM(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
struct io_uring;
FAILING_SYSTEM(int, io_uring_queue_init, -ENOMEM, ENOMEM, (unsigned n, struct io_uring *ring, unsigned flags),
               (n, ring, flags))
FAILING_SYSTEM(int, io_uring_submit_and_wait, -ENOMEM, ENOMEM, (struct io_uring * ring, unsigned n), (ring, n))

/* With a mode, if they make a file. */
#define OPTIONAL_MODE(flags, mode)                                                                                \
    va_list more;                                                                                                 \
    va_start(more, flags);                                                                                        \
    mode_t mode = (flags) & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                                     \
    va_end(more)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    OPTIONAL_MODE(flags, mode);
    if (!failing(FAIL_SYSTEM, "open"))
        return __real_open(path, flags, mode);
    errno = EMFILE;
    return -1;
}

int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...) {
    OPTIONAL_MODE(flags, mode);
    if (!failing(FAIL_SYSTEM, "openat"))
        return __real_openat(dir, path, flags, mode);
    errno = EMFILE;
    return -1;
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) {
    va_list more;
    va_start(more, command);
    void *arg = va_arg(more, void *);
    va_end(more);
    if (!failing(FAIL_SYSTEM, "fcntl"))
        return __real_fcntl(fd, command, arg);
    errno = EIO;
    return -1;
}

/* ---- MPI ---- */

#define FAILING_MPI(name, where, params, args)                                                                    \
    int MPI_##name params {                                                                                       \
        where("MPI_" #name);                                                                                      \
        return failing_call("MPI_" #name) ? MPI_ERR_OTHER : PMPI_##name args;                                     \
    }
#define FAILING_POLL(name, where, bit, params, args)                                                              \
    int MPI_##name params {                                                                                       \
        where("MPI_" #name);                                                                                      \
        return failing_poll(bit, "MPI_" #name) ? MPI_ERR_OTHER : PMPI_##name args;                                \
    }

FAILING_MPI(Irecv, ON_COMM,
            (void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
            (buf, n, type, from, tag, comm, request))
FAILING_MPI(Isend, ON_COMM,
            (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
            (buf, n, type, to, tag, comm, request))
FAILING_MPI(Issend, ON_COMM,
            (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
            (buf, n, type, to, tag, comm, request))
FAILING_MPI(Send, ON_COMM, (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
            (buf, n, type, to, tag, comm))
FAILING_MPI(Recv, ON_COMM,
            (void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status),
            (buf, n, type, from, tag, comm, status))
FAILING_MPI(Waitall, ON_NOTHING, (int n, MPI_Request requests[], MPI_Status statuses[]), (n, requests, statuses))
FAILING_POLL(Test, ON_NOTHING, 1, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))
FAILING_POLL(Testall, ON_NOTHING, 2, (int n, MPI_Request requests[], int *flag, MPI_Status statuses[]),
             (n, requests, flag, statuses))
FAILING_POLL(Testsome, ON_NOTHING, 4,
             (int n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]),
             (n, requests, count, indices, statuses))
FAILING_POLL(Iprobe, ON_COMM, 8, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
             (from, tag, comm, flag, status))
FAILING_MPI(Probe, ON_COMM, (int from, int tag, MPI_Comm comm, MPI_Status *status), (from, tag, comm, status))
FAILING_MPI(Cancel, ON_NOTHING, (MPI_Request * request), (request))
FAILING_MPI(Request_free, ON_NOTHING, (MPI_Request * request), (request))
FAILING_MPI(Get_count, ON_NOTHING, (const MPI_Status *status, MPI_Datatype type, int *count),
            (status, type, count))
FAILING_MPI(Get_address, ON_NOTHING, (const void *place, MPI_Aint *address), (place, address))

FAILING_MPI(Allreduce, ON_COMM, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
            (in, out, n, type, op, comm))
FAILING_MPI(Iallreduce, ON_COMM,
            (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request),
            (in, out, n, type, op, comm, request))
FAILING_MPI(Exscan, ON_COMM, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
            (in, out, n, type, op, comm))
FAILING_MPI(Iexscan, ON_COMM,
            (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request),
            (in, out, n, type, op, comm, request))
FAILING_MPI(Bcast, ON_COMM, (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm),
            (buf, n, type, root, comm))
FAILING_MPI(Ibcast, ON_COMM, (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
            (buf, n, type, root, comm, request))
FAILING_MPI(Barrier, ON_COMM, (MPI_Comm comm), (comm))
FAILING_MPI(Ibarrier, ON_COMM, (MPI_Comm comm, MPI_Request *request), (comm, request))
FAILING_MPI(Gather, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, int root, MPI_Comm comm),
            (in, n, t, out, m, u, root, comm))
FAILING_MPI(Igather, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, int root, MPI_Comm comm,
             MPI_Request *request),
            (in, n, t, out, m, u, root, comm, request))
FAILING_MPI(Gatherv, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, const int m[], const int at[], MPI_Datatype u,
             int root, MPI_Comm comm),
            (in, n, t, out, m, at, u, root, comm))
FAILING_MPI(Igatherv, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, const int m[], const int at[], MPI_Datatype u,
             int root, MPI_Comm comm, MPI_Request *request),
            (in, n, t, out, m, at, u, root, comm, request))
FAILING_MPI(Allgather, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm comm),
            (in, n, t, out, m, u, comm))
FAILING_MPI(Iallgather, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm comm,
             MPI_Request *request),
            (in, n, t, out, m, u, comm, request))
FAILING_MPI(Allgatherv, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, const int m[], const int at[], MPI_Datatype u,
             MPI_Comm comm),
            (in, n, t, out, m, at, u, comm))
FAILING_MPI(Iallgatherv, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, const int m[], const int at[], MPI_Datatype u,
             MPI_Comm comm, MPI_Request *request),
            (in, n, t, out, m, at, u, comm, request))
FAILING_MPI(Alltoall, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm comm),
            (in, n, t, out, m, u, comm))
FAILING_MPI(Ialltoall, ON_COMM,
            (const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm comm,
             MPI_Request *request),
            (in, n, t, out, m, u, comm, request))
FAILING_MPI(Alltoallv, ON_COMM,
            (const void *in, const int n[], const int from[], MPI_Datatype t, void *out, const int m[],
             const int at[], MPI_Datatype u, MPI_Comm comm),
            (in, n, from, t, out, m, at, u, comm))
FAILING_MPI(Ialltoallv, ON_COMM,
            (const void *in, const int n[], const int from[], MPI_Datatype t, void *out, const int m[],
             const int at[], MPI_Datatype u, MPI_Comm comm, MPI_Request *request),
            (in, n, from, t, out, m, at, u, comm, request))

FAILING_MPI(Reduce, ON_COMM,
            (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
            (in, out, n, type, op, root, comm))
FAILING_MPI(Comm_create, ON_COMM, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
FAILING_MPI(Comm_create_group, ON_COMM, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
            (comm, group, tag, made))
FAILING_MPI(Comm_create_keyval, ON_NOTHING,
            (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *drop, int *key, void *state),
            (copy, drop, key, state))
FAILING_MPI(Comm_group, ON_COMM, (MPI_Comm comm, MPI_Group *group), (comm, group))
FAILING_MPI(Group_compare, ON_NOTHING, (MPI_Group a, MPI_Group b, int *result), (a, b, result))
FAILING_MPI(Group_free, ON_NOTHING, (MPI_Group * group), (group))
FAILING_MPI(Info_get, ON_NOTHING, (MPI_Info info, const char *key, int n, char *value, int *found),
            (info, key, n, value, found))
FAILING_MPI(Info_get_nkeys, ON_NOTHING, (MPI_Info info, int *n), (info, n))
FAILING_MPI(Info_get_nthkey, ON_NOTHING, (MPI_Info info, int n, char *key), (info, n, key))
FAILING_MPI(Info_set, ON_NOTHING, (MPI_Info info, const char *key, const char *value), (info, key, value))
FAILING_MPI(Query_thread, ON_NOTHING, (int *level), (level))
FAILING_MPI(Comm_dup, ON_COMM, (MPI_Comm comm, MPI_Comm *made), (comm, made))
FAILING_MPI(Comm_split, ON_COMM, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
FAILING_MPI(Comm_free, ON_ITS_COMM, (MPI_Comm * comm), (comm))
FAILING_MPI(Comm_rank, ON_COMM, (MPI_Comm comm, int *value), (comm, value))
FAILING_MPI(Comm_size, ON_COMM, (MPI_Comm comm, int *value), (comm, value))
FAILING_MPI(Comm_test_inter, ON_COMM, (MPI_Comm comm, int *value), (comm, value))
FAILING_MPI(Comm_compare, ON_COMM, (MPI_Comm comm, MPI_Comm with, int *result), (comm, with, result))
FAILING_MPI(Comm_free_keyval, ON_NOTHING, (int *key), (key))
FAILING_MPI(Comm_set_errhandler, ON_WHAT_IS_NEW, (MPI_Comm comm, MPI_Errhandler handler), (comm, handler))
FAILING_MPI(Comm_get_attr, ON_COMM, (MPI_Comm comm, int key, void *value, int *found), (comm, key, value, found))
FAILING_MPI(Comm_set_attr, ON_COMM, (MPI_Comm comm, int key, void *value), (comm, key, value))
FAILING_MPI(Type_contiguous, ON_NOTHING, (int n, MPI_Datatype of, MPI_Datatype *made), (n, of, made))
FAILING_MPI(Type_create_hindexed, ON_NOTHING,
            (int n, const int lengths[], const MPI_Aint places[], MPI_Datatype of, MPI_Datatype *made),
            (n, lengths, places, of, made))
FAILING_MPI(Type_commit, ON_NOTHING, (MPI_Datatype * type), (type))
FAILING_MPI(Type_free, ON_NOTHING, (MPI_Datatype * type), (type))
FAILING_MPI(Type_size_x, ON_NOTHING, (MPI_Datatype type, MPI_Count *size), (type, size))
FAILING_MPI(Type_get_extent_x, ON_NOTHING, (MPI_Datatype type, MPI_Count *low, MPI_Count *extent),
            (type, low, extent))
FAILING_MPI(Type_get_envelope, ON_NOTHING, (MPI_Datatype type, int *n, int *addresses, int *types, int *combiner),
            (type, n, addresses, types, combiner))
FAILING_MPI(Type_get_contents, ON_NOTHING,
            (MPI_Datatype type, int n, int addresses, int types, int numbers[], MPI_Aint places[],
             MPI_Datatype parts[]),
            (type, n, addresses, types, numbers, places, parts))
#if MPI_VERSION >= 4
FAILING_MPI(Type_get_envelope_c, ON_NOTHING,
            (MPI_Datatype type, MPI_Count *n, MPI_Count *addresses, MPI_Count *counts, MPI_Count *types,
             int *combiner),
            (type, n, addresses, counts, types, combiner))
FAILING_MPI(Type_get_contents_c, ON_NOTHING,
            (MPI_Datatype type, MPI_Count n, MPI_Count addresses, MPI_Count counts, MPI_Count types, int numbers[],
             MPI_Aint places[], MPI_Count large[], MPI_Datatype parts[]),
            (type, n, addresses, counts, types, numbers, places, large, parts))
#endif
FAILING_MPI(Type_size, ON_NOTHING, (MPI_Datatype type, int *size), (type, size))
FAILING_MPI(Type_create_keyval, ON_NOTHING,
            (MPI_Type_copy_attr_function * copy, MPI_Type_delete_attr_function *drop, int *key, void *state),
            (copy, drop, key, state))
FAILING_MPI(Type_get_attr, ON_NOTHING, (MPI_Datatype type, int key, void *value, int *found),
            (type, key, value, found))
FAILING_MPI(Type_set_attr, ON_NOTHING, (MPI_Datatype type, int key, void *value), (type, key, value))
FAILING_MPI(Type_get_true_extent_x, ON_NOTHING, (MPI_Datatype type, MPI_Count *low, MPI_Count *extent),
            (type, low, extent))
FAILING_MPI(Type_create_resized, ON_NOTHING, (MPI_Datatype of, MPI_Aint low, MPI_Aint extent, MPI_Datatype *made),
            (of, low, extent, made))
FAILING_MPI(Pack, ON_COMM, (const void *in, int n, MPI_Datatype type, void *out, int room, int *at, MPI_Comm comm),
            (in, n, type, out, room, at, comm))
FAILING_MPI(Pack_size, ON_COMM, (int n, MPI_Datatype type, MPI_Comm comm, int *size), (n, type, comm, size))
FAILING_MPI(Op_create, ON_NOTHING, (MPI_User_function * run, int commutes, MPI_Op *op), (run, commutes, op))
FAILING_MPI(Win_create, ON_COMM, (void *base, MPI_Aint n, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
            (base, n, unit, info, comm, win))
FAILING_MPI(Win_fence, ON_WINDOW, (int claims, MPI_Win win), (claims, win))
FAILING_MPI(Win_free, ON_ITS_WINDOW, (MPI_Win * win), (win))
FAILING_MPI(Win_set_errhandler, ON_WHAT_IS_NEW, (MPI_Win win, MPI_Errhandler handler), (win, handler))
FAILING_MPI(Put, ON_WINDOW,
            (const void *buf, int n, MPI_Datatype type, int to, MPI_Aint at, int m, MPI_Datatype there,
             MPI_Win win),
            (buf, n, type, to, at, m, there, win))
FAILING_MPI(Get, ON_WINDOW,
            (void *buf, int n, MPI_Datatype type, int to, MPI_Aint at, int m, MPI_Datatype there, MPI_Win win),
            (buf, n, type, to, at, m, there, win))

/* ---- No leak ---- */

/* What the program holds: memory that it has asked for, descriptors of files (not MPI's sockets and pipes). */
typedef struct holdings {
    long long allocations, descriptors;
} holdings;

static inline bool is_file(const char *number, char target[512]) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%.20s", number);
    ssize_t length = readlink(path, target, 511);
    target[length > 0 ? length : 0] = '\0';
    return (target[0] == '/' || strstr(target, "io_uring")) && strncmp(target, "/proc/", 6) != 0;
}

static inline holdings look_at_holdings(bool tell) {
    holdings now = {atomic_load(&allocations), 0};
    char target[512];
    DIR *folder = opendir("/proc/self/fd");
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_file(entry->d_name, target)) {
            now.descriptors++;
            if (tell)
                printf("descriptor %s: %s\n", entry->d_name, target);
        }
    if (folder)
        closedir(folder);
    return now;
}

static inline holdings count_holdings(void) { return look_at_holdings(false); }
static inline void print_descriptors(void) { (void)look_at_holdings(true); }

/* ---- No hang ---- */

static const char *watched = ""; /* what is being tried */

static inline void ring(int signal) {
    static const char hang[] = ": hangs; failed: ";
    (void)signal;
    const char *name = atomic_load(&failed_call);
    (void)!write(2, watched, strlen(watched));
    (void)!write(2, hang, sizeof hang - 1);
    (void)!write(2, name ? name : "nothing", strlen(name ? name : "nothing"));
    (void)!write(2, "\n", 1);
    void *stack[40];
    backtrace_symbols_fd(stack, backtrace(stack, 40), 2);
    _exit(99);
}

/* Ends the program unless it comes here again in time. */
static inline void watch(const char *name, unsigned seconds) {
    watched = name;
    (void)signal(SIGALRM, ring);
    (void)alarm(seconds);
}

/* ---- One failure after another ---- */

static fail_kind kind;
static bool for_good;
static int64_t tried;     /* times that something failed */
static holdings expected; /* while nothing is open */

/* A call, the way it is served, and which of the calls that it makes fails on which rank. */
typedef struct trial {
    const char *call, *way;
    void (*before)(void);
    sago_status (*run)(void);
    void (*after)(sago_status status);
    void (*after_break)(sago_status status, bool hit, int victim); /* hit: on this rank */
    int n, victim;
    unsigned limit; /* seconds */
} trial;

/* MPI fails for good: that rank cannot even agree that it does. */
static inline bool breaks(void) { return for_good && kind == FAIL_MPI; }

/* The leak sanitizer asks when the program ends.  A broken team's memory that MPI may still write to is kept. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return breaks(); }

/* The first two arguments: what fails, and how often. */
static inline void read_failure(int argc, char **argv) {
    while (kind < FAIL_KINDS && argc > 1 && strcmp(argv[1], fail_names[kind]) != 0)
        kind++;
    CHECK(argc > 2 && kind < FAIL_KINDS);
    for_good = argc > 2 && strcmp(argv[2], "ever") == 0;
}

/* What failed on this rank, or NULL. */
static inline const char *run_failing(const trial *what, sago_status *status) {
    meet();
    if (rank == what->victim)
        fail_at(kind, what->n, for_good);
    *status = what->run();
    const char *failed = rank == what->victim ? atomic_load(&failed_call) : NULL;
    if (!breaks())
        (void)fail_no_more();
    if (*status)
        CHECK(*sago_error_message());
    if (atomic_load(&fatal_call)) {
        check_failed(__FILE__, __LINE__);
        printf("an error of %s would have ended the program\n", atomic_load(&fatal_call));
    }
    if (getenv("SAGO_TEST_VERBOSE") && (failed || *status))
        printf("%s (%s): %s %s\n", scene, failed ? failed : "-", sago_status_string(*status),
               sago_error_message());
    return failed;
}

/* False: the call makes fewer. */
static inline bool try_failure(const trial *what) {
    char name[200];
    sago_status status;
    (void)snprintf(name, sizeof name, "rank %d: %s (%s), %s call %d of rank %d fails%s", rank, what->call,
                   what->way, fail_names[kind], what->n, what->victim, for_good ? " for good" : "");
    scene = name;
    watch(name, what->limit);
    what->before();
    const char *failed = run_failing(what, &status);
    bool hit = sum_everywhere(failed != NULL) > 0;
    tried += hit;
    if (breaks()) {
        what->after_break(status, failed != NULL, what->victim);
    } else {
        CHECK(same_everywhere(status));
        if (!hit)
            CHECK_INT(status, SAGO_OK);
        what->after(status);
    }
    scene = "";
    watch("", 0);
    return hit;
}

/* Nothing has stayed behind, but `kept` allocations; what MPI may still write to does, when it has failed for
 * good. */
static inline void check_holdings(const char *call, const char *way, long long kept) {
    char name[100];
    (void)snprintf(name, sizeof name, "after %s (%s)", call, way);
    scene = name;
    holdings are = count_holdings();
    CHECK_INT(are.descriptors, expected.descriptors);
    if (are.descriptors > expected.descriptors)
        print_descriptors();
    if (!breaks() && kept == 0)
        CHECK_INT(are.allocations, expected.allocations);
    else if (!breaks())
        CHECK(are.allocations <= expected.allocations + kept);
    expected = are;
    scene = "";
}

#endif
