/* What the file system says of a file, as data.  File systems contribute numbers here, never algorithms. */
#ifndef SAGOI_LAYOUT_H
#define SAGOI_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "store/stripes.h"

typedef struct sagoi_layout {
    char name[24];        /* "tmpfs", "ext4", "lustre", "nfs", "glusterfs", ...; "unknown (0x...)" */
    int64_t block;        /* preferred unit of I/O, bytes (st_blksize), at least 512 */
    int64_t stripe_unit;  /* bytes; 0: not striped */
    int64_t stripe_count; /* storage targets in turn; 0: not striped, or not known */
    int64_t stripe_first; /* the number of the target that stripe 0 is on, plus 1; 0: not known */
    int64_t lock_unit; /* bytes; nodes that write to one such block wait for each other; 0: not known to be so */
    bool local;        /* one kernel's own: not shared between nodes */
    bool in_memory;    /* tmpfs, ramfs: a mapping of it is plain memory and writes nothing back */
    bool coherent;     /* shared between nodes, and whatever one wrote the others read from then on */
    uint64_t device, inode; /* the file, as this kernel knows it */
} sagoi_layout;

/* Stripes for a file that is made, as far as the file system lets one choose; a wish that it does not grant is no
 * error.  The first opens as open(2) does, and knows those that must be told while the file is made; the second
 * knows those that can be told as long as it is empty. */
int sagoi_layout_create(const char *path, int flags, unsigned mode, const sagoi_stripes *wanted);
void sagoi_layout_wish(int fd, const sagoi_stripes *wanted);

/* Of an open file; never fails for want of knowledge, only for a bad descriptor. */
sago_status sagoi_layout_of(int fd, sagoi_layout *layout) SAGOI_CHECKED;

#endif
