/* The one place where the library makes system calls on files of data: those of users, of checkpoints, of the
 * local tier, and probe files.  A value describes a call, so that tests can record all calls, make any of them
 * fail, and replay crashes (system/faults.h).  Interrupted calls are made again here and nowhere else.
 *
 * Other calls are not made here: questions to the file system itself (stripes, locks), io_uring, mappings, and
 * what the library reads of the machine or writes for its own use (/proc, /dev/shm, reports). */
#ifndef SAGOI_SYSCALLS_H
#define SAGOI_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

typedef enum {
    SAGOI_OP_OPEN, /* opens an existing file; changes nothing */
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
    SAGOI_OP_CLOSE, /* this operation and all that follow change nothing */
    SAGOI_OP_FSTAT,
    SAGOI_OP_STAT,
    SAGOI_OP_ACCESS,
    SAGOI_OP_STATFS,  /* the result is the number of free bytes */
    SAGOI_OP_LIST,    /* the result is the number of bytes in `names` */
    SAGOI_OP_RESOLVE, /* `names` is what the path is without symbolic links */
} sagoi_op_kind;

typedef struct sagoi_file_op {
    sagoi_op_kind kind;
    /* `to`: the new name of a rename or a link; an open file has a path, too, for messages and tests. */
    const char *path, *to;
    int fd;            /* descriptor of an open file */
    bool in_fd;        /* the path begins at the directory with the descriptor `fd` */
    int flags;         /* flags of open(2), fallocate(2) or access(2); AT_SYMLINK_NOFOLLOW for a look */
    mode_t mode;       /* rights of a new file, before the umask */
    const void *data;  /* bytes to be written */
    void *into;        /* where read bytes go */
    int64_t off, len;  /* len: also the new size of a truncation, or the bytes of an allocation */
    struct stat *info; /* where the answer to a look goes */
    char *names;       /* result of a listing: each name with its NUL, without . and ..; the caller frees them */
} sagoi_file_op;

/* Returns -1 and sets errno, or returns what the system call returned: a descriptor, a number of bytes, 0.
 * Closing and syncing are not repeated when they are interrupted: the descriptor is gone, and whether data was
 * synced is not known. */
int64_t sagoi_syscall(sagoi_file_op *op);

/* The same with arguments; errno as above. */
int sagoi_open(const char *path, int flags, mode_t mode);
/* Linux has closed the descriptor even after EINTR, and a second try might close another file's: so the result is
 * then 0. */
int sagoi_close(int fd, const char *path);
int sagoi_stat(const char *path, struct stat *info);
int sagoi_fstat(int fd, const char *path, struct stat *info);
/* Operations on a name: MKDIR (with all rights but those of the umask), RMDIR, UNLINK; RENAME and LINK, to the
 * name `to`. */
int sagoi_name_call(sagoi_op_kind kind, const char *path, const char *to);

/* The calls that the engine makes most, without a description unless a test or bench watches. */
ssize_t sagoi_pwrite(int fd, const char *path, const struct iovec *iov, int count, int64_t off);
ssize_t sagoi_pread(int fd, const char *path, const struct iovec *iov, int count, int64_t off);

#endif
