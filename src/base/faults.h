/* The one place where tests, and `sago bench`, come between the library and the operating system: to record what
 * it does, to make it fail, or to slow it down.
 *
 * The library calls these functions and has none of the faults: its own versions (faults.c) do what the system
 * does. A program that is linked with versions of its own, like tests/support/inject.c, replaces them. */
#ifndef SAGOI_FAULTS_H
#define SAGOI_FAULTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- File operations of checkpoints ---- */

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
    /* What follows changes nothing; it cannot be made to fail. */
    SAGOI_OP_UNTOLD,
    SAGOI_OP_CLOSE = SAGOI_OP_UNTOLD,
    SAGOI_OP_FSTAT,
    SAGOI_OP_STAT,
    SAGOI_OP_ACCESS,
    SAGOI_OP_STATFS,
    SAGOI_OP_LIST,
} sagoi_op_kind;

static inline bool sagoi_op_changes(sagoi_op_kind kind) {
    return kind != SAGOI_OP_OPEN && kind != SAGOI_OP_READ && kind < SAGOI_OP_UNTOLD;
}

typedef struct sagoi_file_op {
    sagoi_op_kind kind;
    const char *path, *to; /* to: of a rename, of a link */
    const void *data;      /* of a write */
    int64_t off, len;
} sagoi_file_op;

/* Before a system call: an errno to fail with, or 0; *len may be cut to make a write or read short. */
int sagoi_fault_before(const sagoi_file_op *op, int64_t *len);
/* After it succeeded, with what was really done. */
void sagoi_fault_after(const sagoi_file_op *op);
/* Before a look at a name, or at all names of a directory; may take its time. */
void sagoi_fault_look(const sagoi_file_op *op);

/* ---- Others ---- */

/* Before an operation of a storage probe: an errno to fail with, or 0. */
int sagoi_fault_probe(const char *operation);

/* System calls of open files.  While somebody replaces them, each moves one run, so that all are seen. */
bool sagoi_faults_in_store(void);
ssize_t sagoi_fault_pwrite(int fd, const void *buf, size_t len, off_t off);
ssize_t sagoi_fault_pread(int fd, void *buf, size_t len, off_t off);
int sagoi_fault_fsync(int fd);

/* By how many seconds the clocks of checkpoints are ahead. */
double sagoi_fault_clock(void);

#endif
