/* What the file system says of a file, as data.  A file system contributes numbers here, never algorithms. */
#ifndef SAGOI_LAYOUT_H
#define SAGOI_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "store/stripes.h"

typedef struct sagoi_layout {
    char name[24];        /* "tmpfs", "ext4", "lustre", "nfs", "glusterfs", ...; "unknown (0x...)" */
    int64_t block;        /* preferred unit of I/O, bytes (st_blksize), at least 512 */
    int64_t stripe_unit;  /* bytes; 0: not striped */
    int64_t stripe_count; /* storage targets that the stripes go to in turn; 0: not striped, or not known */
    int64_t stripe_first; /* number of the target that has stripe 0, plus 1; 0: not known */
    /* Bytes of a lock: nodes that write to one such block wait for each other; 0: not known to be so. */
    int64_t lock_unit;
    bool local;             /* the file system belongs to one kernel and is not shared between nodes */
    bool in_memory;         /* tmpfs, ramfs: a mapping is plain memory, and nothing is written back */
    bool coherent;          /* shared between nodes, and every node reads what any node has written before */
    uint64_t device, inode; /* how this kernel identifies the file */
} sagoi_layout;

/* Creates a file with stripes, as far as the file system lets one choose; a wish that the file system does not
 * grant is no error.  The first function opens the file as open(2) does, and serves file systems that must know
 * the stripes at that time.  The second serves those that take them as long as the file is empty. */
int sagoi_layout_create(const char *path, int flags, unsigned mode, const sagoi_stripes *wanted);
void sagoi_layout_wish(int fd, const sagoi_stripes *wanted);

/* The layout of an open file, of which `file` is what fstat(2) says. */
void sagoi_layout_of(int fd, const struct stat *file, sagoi_layout *layout);

#endif
