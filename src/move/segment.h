/* Memory that the processes of a node share, and how they find it. */
#ifndef SAGOI_SEGMENT_H
#define SAGOI_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

enum { SAGOI_SEGMENT_NAME_MAX = 64 };

/* What whoever made a segment tells the others.  Plain bytes, to be sent. */
typedef struct sagoi_shared_name {
    int32_t pid, fd;        /* of whoever made it, as long as it is open there */
    uint64_t pid_namespace; /* inode: where that pid means something */
    uint64_t device, inode;
    uint64_t token;                    /* stands behind the memory: is it really the same? */
    char file[SAGOI_SEGMENT_NAME_MAX]; /* "": it has no name */
} sagoi_shared_name;

/* Zeroed memory; errno on failure, and then there is nothing to be closed.  `by_name`: in a file of
 * /dev/shm, for processes that do not see each other's in /proc. */
int sagoi_shared_create(bool by_name, int64_t bytes, sagoi_shared_name *name, char **base);
/* Another process's, which has not closed it. */
int sagoi_shared_open(const sagoi_shared_name *name, int64_t bytes, char **base);
/* By whoever made it, when all have opened it: from here on it can be found no more.  Also of a name all zero. */
void sagoi_shared_close(sagoi_shared_name *name);

uint64_t sagoi_pid_namespace(void); /* of this process; 0: unknown */

#endif
