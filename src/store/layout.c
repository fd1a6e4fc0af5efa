/* What is known of file systems, as a table by the magic number of statfs(2).  Stripes are not asked for
 * here yet. */
#include "store/layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/checked.h"

typedef struct known {
    const char *name;
    uint32_t magic; /* of statfs(2) */
    bool local;     /* shared with nobody else's kernel; not sure: false */
    bool in_memory;
} known;

static const known table[] = {
    {"tmpfs", 0x01021994, true, true},
    {"ramfs", 0x858458f6, true, true},
    {"ext4", 0x0000ef53, true, false}, /* and ext2, ext3 */
    {"xfs", 0x58465342, true, false},
    {"btrfs", 0x9123683e, true, false},
    {"bcachefs", 0xca451a4e, true, false},
    {"zfs", 0x2fc12fc1, true, false},
    {"f2fs", 0xf2f52010, true, false},
    {"jfs", 0x3153464a, true, false},
    {"reiserfs", 0x52654973, true, false},
    {"vfat", 0x00004d44, true, false},
    {"exfat", 0x2011bab0, true, false},
    {"ntfs", 0x5346544e, true, false},
    {"ntfs3", 0x7366746e, true, false},
    {"overlayfs", 0x794c7630, true, false}, /* a container's; its upper layer is never a network's */
    {"nfs", 0x00006969, false, false},
    {"lustre", 0x0bd00bd0, false, false},
    {"gpfs", 0x47504653, false, false},
    {"ceph", 0x00c36400, false, false},
    {"fuse", 0x65735546, false, false}, /* Gluster, ceph-fuse, DAOS, sshfs, virtiofs, ...: may be anything */
    {"beegfs", 0x19830326, false, false},
    {"orangefs", 0x20030528, false, false},
    {"panfs", 0xaad7aaea, false, false},
    {"gfs2", 0x01161970, false, false},
    {"ocfs2", 0x7461636f, false, false},
    {"snfs", 0xbeefdead, false, false},
    {"vxfs", 0xa501fcf5, false, false}, /* there is a cluster form of it */
    {"acfs", 0x61636673, false, false},
    {"smb", 0x0000517b, false, false},
    {"cifs", 0xff534d42, false, false},
    {"smb2", 0xfe534d42, false, false},
    {"9p", 0x01021997, false, false},
    {"afs", 0x5346414f, false, false},
    {"kafs", 0x6b414653, false, false},
};

static void layout_name(sagoi_layout *layout, uint32_t magic) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].magic != magic)
            continue;
        (void)snprintf(layout->name, sizeof layout->name, "%s", table[i].name);
        layout->local = table[i].local;
        layout->in_memory = table[i].in_memory;
        return;
    }
    (void)snprintf(layout->name, sizeof layout->name, "unknown (0x%x)", (unsigned)magic);
}

sago_status sagoi_layout_of(int fd, sagoi_layout *layout) {
    struct stat file;
    if (fstat(fd, &file) != 0)
        return sagoi_fail_errno(errno, "fstat of descriptor %d", fd);
    struct statfs system;
    int result;
    do
        result = fstatfs(fd, &system);
    while (result != 0 && errno == EINTR);
    sagoi_layout found = {.block = sagoi_max(512, file.st_blksize)};
    layout_name(&found, result == 0 ? (uint32_t)system.f_type : 0);
    *layout = found;
    return SAGO_OK;
}
