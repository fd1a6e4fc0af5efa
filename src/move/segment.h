/* Memory that the processes of a node share, and how they find it. */
#ifndef SAGOI_SEGMENT_H
#define SAGOI_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

enum { SAGOI_SEGMENT_NAME_MAX = 64 };

/* What the maker of a segment tells the other processes.  Plain bytes, so that it can be sent. */
typedef struct sagoi_shared_name {
    int32_t pid, fd;        /* the maker's process and descriptor, as long as that is open */
    uint64_t pid_namespace; /* inode of the namespace in which the process id means something */
    uint64_t device, inode;
    uint64_t token;                    /* stands behind the memory, to tell whether this is the same memory */
    char file[SAGOI_SEGMENT_NAME_MAX]; /* "": the memory has no name */
} sagoi_shared_name;

/* Makes zeroed memory; returns 0 or an errno, and after an errno there is nothing to be closed.  `by_name`: in a
 * file of /dev/shm, for processes that do not see each other in /proc. */
int sagoi_shared_create(bool by_name, int64_t bytes, sagoi_shared_name *name, char **base);
/* Maps the segment of another process, which has not closed it. */
int sagoi_shared_open(const sagoi_shared_name *name, int64_t bytes, char **base);
/* Called by the maker when all have opened the segment: from then on it cannot be found any more.  Fine with a
 * name that is all zero. */
void sagoi_shared_close(sagoi_shared_name *name);

uint64_t sagoi_pid_namespace(void); /* namespace of this process; 0: not known */

#endif
