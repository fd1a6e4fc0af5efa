/* One system call that may hang for ever, as an errand (system/watch.h): a thread of the directory that the call's
 * path is in makes it or, if nobody watches that directory, the caller. */
#ifndef SAGOI_CALL_H
#define SAGOI_CALL_H

#include "system/files.h"
#include "system/syscalls.h"
#include "system/watch.h"

enum { SAGOI_CALL_LARGEST = 1 << 20 }; /* bytes that may be copied for one call */

typedef struct sagoi_call_wish {
    sagoi_file_op op;
    const char *watched; /* a path in the directory whose threads make the call; NULL: the path of `op` */
    bool stays;          /* the memory of a write stays where it is, so it need not be copied */
} sagoi_call_wish;

typedef struct sagoi_call_result {
    int error;        /* errno, or 0 */
    bool gone;        /* the call has not come back */
    int64_t value;    /* the result of sagoi_syscall() */
    struct stat info; /* the answer to a look */
    char *names;      /* names that a listing found; to be freed */
} sagoi_call_result;

/* SAGO_ERR_TIMEOUT: the call has not come back, or the directory is stuck; SAGO_ERR_MEMORY.  After SAGO_OK the
 * call was made, and *result tells how it went. */
sago_status sagoi_call(const sagoi_call_wish *wish, sagoi_call_result *result) SAGOI_CHECKED;

#endif
