/* One system call of checkpoints, as an errand (base/watch.h): made by a thread of the directory that its path is
 * in, or, where nobody watches that, by the caller. */
#ifndef SAGOI_CKPT_CALL_H
#define SAGOI_CKPT_CALL_H

#include <sys/stat.h>

#include "base/watch.h"
#include "ckpt/files.h"

enum { SAGOI_CALL_LARGEST = 1 << 20 }; /* bytes that may be copied for one call */

typedef struct sagoi_call_wish {
    sagoi_op_kind kind;
    const char *path, *to; /* to: of a rename or a link, else NULL */
    const char *watched;   /* in the directory whose threads make it; NULL: `path` is */
    int fd, flags;         /* of what is open, or to be opened */
    void *memory;          /* of a read or write: its data */
    bool stays;            /* a write: the memory stays where it is, and need not be copied */
    int64_t off, len;
} sagoi_call_wish;

typedef struct sagoi_call_result {
    int error;    /* errno, or 0 */
    bool gone;    /* the call has not come back */
    int fd;       /* that was opened */
    char *names;  /* in a directory, each with its NUL; to be freed */
    int64_t done; /* bytes moved, or free, or of names */
    struct stat info;
} sagoi_call_result;

/* SAGO_ERR_TIMEOUT: it has not come back, or the directory is stuck; SAGO_ERR_MEMORY.  After SAGO_OK it was made,
 * and *result tells how it went. */
sago_status sagoi_call(const sagoi_call_wish *wish, sagoi_call_result *result) SAGOI_CHECKED;

#endif
