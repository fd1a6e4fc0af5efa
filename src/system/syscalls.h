/* The one place where the library makes system calls on files of data: those of users, of checkpoints, of the
 * local tier, and probe files.  A call is described by a value, so that tests can record all of them, make any of
 * them fail, and replay crashes (system/faults.h).  Interrupted calls are made again here and nowhere else.
 *
 * Not here: what is asked of the file system itself (stripes, locks), io_uring, mappings, and what the library
 * reads of the machine or writes for its own use (/proc, /dev/shm, reports). */
#ifndef SAGOI_SYSCALLS_H
#define SAGOI_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

typedef enum {
    SAGOI_OP_OPEN, /* of an existing file; changes nothing */
    SAGOI_OP_CREATE,
    SAGOI_OP_WRITE,
    SAGOI_OP_READ,
    SAGOI_OP_SYNC,
    SAGOI_OP_MKDIR,
    SAGOI_OP_SYNC_DIR,
    SAGOI_OP_RMDIR,
    SAGOI_OP_RENAME,
    SAGOI_OP_UNLINK,
    SAGOI_OP_LINK,
    SAGOI_OP_TRUNCATE,
    SAGOI_OP_ALLOCATE,
    /* What follows only asks. */
    SAGOI_OP_ASKS,
    SAGOI_OP_CLOSE = SAGOI_OP_ASKS,
    SAGOI_OP_FSTAT,
    SAGOI_OP_STAT,
    SAGOI_OP_ACCESS,
    SAGOI_OP_STATFS,  /* the result is the bytes that are free */
    SAGOI_OP_LIST,    /* the result is the bytes of `names` */
    SAGOI_OP_RESOLVE, /* `names` is what the path is without symbolic links */
} sagoi_op_kind;

static inline bool sagoi_op_changes(sagoi_op_kind kind) {
    return kind != SAGOI_OP_OPEN && kind != SAGOI_OP_READ && kind < SAGOI_OP_ASKS;
}

typedef struct sagoi_file_op {
    sagoi_op_kind kind;
    const char *path, *to; /* to: of a rename, of a link.  What is open has a path, too, for messages and tests */
    int fd;                /* of what is open */
    bool in_fd;            /* the path begins at the directory that `fd` is of */
    int flags;             /* of open(2), of fallocate(2), of access(2); AT_SYMLINK_NOFOLLOW of a look */
    mode_t mode;           /* of what is made, before the umask */
    const void *data;      /* of a write */
    void *into;            /* of a read */
    int64_t off, len;      /* len: also the size of a truncation or allocation */
    struct stat *info;     /* of a look: where the answer goes */
    char *names;           /* of a listing: each with its NUL, without . and ..; to be freed */
} sagoi_file_op;

/* -1 with errno, or what the system call returned: a descriptor, a number of bytes, 0.  Closing and syncing are
 * not repeated when they are interrupted: the descriptor is gone, and of a sync nobody knows. */
int64_t sagoi_syscall(sagoi_file_op *op);

/* The same by arguments; errno as above. */
int sagoi_open(const char *path, int flags, mode_t mode);
/* Linux has closed the descriptor even when it says EINTR, and a second try might close another's: 0 then, too. */
int sagoi_close(int fd, const char *path);
int sagoi_stat(const char *path, struct stat *info);
int sagoi_fstat(int fd, const char *path, struct stat *info);
/* Of a name: MKDIR (with all rights but those of the umask), RMDIR, UNLINK; RENAME and LINK, to the name `to`. */
int sagoi_name_call(sagoi_op_kind kind, const char *path, const char *to);

/* The same for what the engine does most, without a description where nobody looks at it. */
ssize_t sagoi_pwrite(int fd, const char *path, const struct iovec *iov, int count, int64_t off);
ssize_t sagoi_pread(int fd, const char *path, const struct iovec *iov, int count, int64_t off);

#endif
