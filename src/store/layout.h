/* What the file system says of a file, as data.  File systems contribute numbers here, never algorithms. */
#ifndef SAGOI_LAYOUT_H
#define SAGOI_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct sagoi_layout {
    char name[24];        /* "tmpfs", "ext4", "lustre", "nfs", ...; "unknown (0x...)" */
    int64_t block;        /* preferred unit of I/O, bytes (st_blksize), at least 512 */
    int64_t stripe_unit;  /* bytes; 0: not striped */
    int64_t stripe_count; /* storage targets; 0: not striped */
    bool local;           /* one kernel's own: not shared between nodes */
    bool in_memory;       /* tmpfs, ramfs: a mapping of it is plain memory and writes nothing back */
} sagoi_layout;

/* Of an open file; never fails for want of knowledge, only for a bad descriptor. */
sago_status sagoi_layout_of(int fd, sagoi_layout *layout) SAGOI_CHECKED;

#endif
