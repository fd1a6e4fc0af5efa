/* A table of file systems by the magic number of statfs(2), and how each is asked for stripes. */
#include "store/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/checked.h"
#include "system/syscalls.h"

typedef struct file_system {
    const char *name;
    uint32_t magic; /* of statfs(2) */
    bool local;     /* certainly not shared between kernels */
    bool in_memory;
    bool coherent;
} file_system;

static const file_system table[] = {
    {"tmpfs", 0x01021994, true, true, false},
    {"ramfs", 0x858458f6, true, true, false},
    {"ext4", 0x0000ef53, true, false, false}, /* and ext2, ext3 */
    {"xfs", 0x58465342, true, false, false},
    {"btrfs", 0x9123683e, true, false, false},
    {"bcachefs", 0xca451a4e, true, false, false},
    {"zfs", 0x2fc12fc1, true, false, false},
    {"f2fs", 0xf2f52010, true, false, false},
    {"jfs", 0x3153464a, true, false, false},
    {"reiserfs", 0x52654973, true, false, false},
    {"vfat", 0x00004d44, true, false, false},
    {"exfat", 0x2011bab0, true, false, false},
    {"ntfs", 0x5346544e, true, false, false},
    {"ntfs3", 0x7366746e, true, false, false},
    {"overlayfs", 0x794c7630, true, false, false}, /* of containers, whose upper layer is never a network's */
    {"nfs", 0x00006969, false, false, false},
    {"lustre", 0x0bd00bd0, false, false, true},
    {"gpfs", 0x47504653, false, false, true},
    {"ceph", 0x00c36400, false, false, true},
    {"fuse", 0x65735546, false, false,
     false}, /* Gluster, ceph-fuse, DAOS, sshfs, virtiofs, ...: may be anything */
    {"beegfs", 0x19830326, false, false, false},
    {"orangefs", 0x20030528, false, false, false},
    {"panfs", 0xaad7aaea, false, false, false},
    {"gfs2", 0x01161970, false, false, true},
    {"ocfs2", 0x7461636f, false, false, true},
    {"snfs", 0xbeefdead, false, false, false},
    {"vxfs", 0xa501fcf5, false, false, false}, /* there is a cluster form of it */
    {"acfs", 0x61636673, false, false, false},
    {"smb", 0x0000517b, false, false, false},
    {"cifs", 0xff534d42, false, false, false},
    {"smb2", 0xfe534d42, false, false, false},
    {"9p", 0x01021997, false, false, false},
    {"afs", 0x5346414f, false, false, false},
    {"kafs", 0x6b414653, false, false, false},
};

static const uint32_t magic_ceph = 0x00c36400;

static void layout_name(sagoi_layout *layout, uint32_t magic) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].magic != magic)
            continue;
        (void)snprintf(layout->name, sizeof layout->name, "%s", table[i].name);
        layout->local = table[i].local;
        layout->in_memory = table[i].in_memory;
        layout->coherent = table[i].coherent;
        return;
    }
    (void)snprintf(layout->name, sizeof layout->name, "unknown (0x%x)", (unsigned)magic);
}

/* ---- FUSE: which file system is behind it? ---- */

/* The type in a line of mountinfo(5) for this device, such as "fuse.glusterfs". */
static bool mount_type(const char *line, dev_t device, char *type, size_t capacity) {
    unsigned high, low;
    const char *separator = strstr(line, " - ");
    if (sscanf(line, "%*d %*d %u:%u ", &high, &low) != 2 || makedev(high, low) != device || !separator)
        return false;
    (void)snprintf(type, capacity, "%.*s", (int)strcspn(separator + 3, " \n"), separator + 3);
    return true;
}

static void name_fuse(sagoi_layout *layout, dev_t device) {
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    char *line = NULL, type[64] = "";
    size_t capacity = 0;
    if (!mounts)
        return;
    while (getline(&line, &capacity, mounts) > 0 && !mount_type(line, device, type, sizeof type))
        ;
    free(line);
    (void)fclose(mounts);
    if (strcmp(type, "fuse.glusterfs") == 0)
        (void)snprintf(layout->name, sizeof layout->name, "glusterfs");
    else if (strcmp(type, "fuse.ceph-fuse") == 0 || strcmp(type, "fuse.ceph") == 0)
        layout_name(layout, magic_ceph);
}

/* ---- Stripes ---- */

enum { ATTRIBUTE_MAX = 65536 }; /* Linux's own limit */

static void ask_attribute(int fd, const char *name, char *value, sagoi_layout *layout) {
    int64_t bytes = fgetxattr(fd, name, value, ATTRIBUTE_MAX);
    bool lustre = strncmp(name, "lustre.", 7) == 0, ceph = strncmp(name, "ceph.", 5) == 0;
    if (bytes <= 0)
        return;
    sagoi_stripes found = lustre ? sagoi_stripes_of_lustre(value, bytes)
                          : ceph ? sagoi_stripes_of_ceph(value, bytes)
                                 : sagoi_stripes_of_gluster(value, bytes);
    layout->stripe_unit = found.unit;
    layout->stripe_count = found.count;
    layout->stripe_first = lustre ? sagoi_stripes_first_of_lustre(value, bytes) : 0;
}

static void find_stripes(int fd, sagoi_layout *layout) {
    static const char *const attributes[][2] = {{"lustre", "lustre.lov"},
                                                {"ceph", "ceph.file.layout"},
                                                {"glusterfs", "trusted.glusterfs.shard.block-size"}};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        char *value = strcmp(layout->name, attributes[i][0]) == 0 ? malloc(ATTRIBUTE_MAX) : NULL;
        if (!value)
            continue;
        ask_attribute(fd, attributes[i][1], value, layout);
        free(value);
    }
    /* GPFS deals blocks out to all disks in turn, and a block is the unit of its locks. */
    if (strcmp(layout->name, "gpfs") == 0)
        layout->stripe_unit = layout->lock_unit = layout->block;
    if (strcmp(layout->name, "lustre") == 0)
        layout->lock_unit = layout->stripe_unit;
}

/* ---- Making a file with stripes ---- */

/* A file that is opened so gets no objects from Lustre until its stripes are set. */
enum { O_LOV_DELAY = 0100000000 | O_NOCTTY | O_ASYNC };
static const uint32_t magic_lustre = 0x0bd00bd0;

static bool is_lustre(const char *path) {
    char copy[PATH_MAX];
    struct statfs system;
    (void)snprintf(copy, sizeof copy, "%s", path);
    return statfs(dirname(copy), &system) == 0 && (uint32_t)system.f_type == magic_lustre;
}

int sagoi_layout_create(const char *path, int flags, unsigned mode, const sagoi_stripes *wanted) {
    char value[SAGOI_STRIPES_VALUE_MAX];
    int64_t bytes =
        (flags & O_CREAT) && wanted->unit + wanted->count > 0 ? sagoi_stripes_to_lustre(*wanted, value) : 0;
    if (bytes == 0 || !is_lustre(path))
        return sagoi_open(path, flags, (mode_t)mode);
    int fd = sagoi_open(path, flags | O_EXCL | O_LOV_DELAY, (mode_t)mode);
    if (fd < 0) /* the file exists, with stripes of its own */
        return errno == EEXIST && !(flags & O_EXCL) ? sagoi_open(path, flags, (mode_t)mode) : -1;
    (void)fsetxattr(fd, "lustre.lov", value, (size_t)bytes, 0); /* stripes are a wish, so a failure is none */
    (void)sagoi_close(fd, path);
    return sagoi_open(path, flags & ~(O_CREAT | O_EXCL), (mode_t)mode);
}

void sagoi_layout_wish(int fd, const sagoi_stripes *wanted) {
    char value[SAGOI_STRIPES_VALUE_MAX];
    struct stat file;
    int64_t bytes = wanted->unit + wanted->count > 0 ? sagoi_stripes_to_ceph(*wanted, value) : 0;
    if (bytes > 0 && fstat(fd, &file) == 0 && file.st_size == 0 && fgetxattr(fd, "ceph.file.layout", NULL, 0) > 0)
        (void)fsetxattr(fd, "ceph.file.layout", value, (size_t)bytes, 0);
}

void sagoi_layout_of(int fd, const struct stat *file, sagoi_layout *layout) {
    struct statfs system;
    int result;
    do
        result = fstatfs(fd, &system);
    while (result != 0 && errno == EINTR);
    sagoi_layout found = {
        .device = file->st_dev, .inode = file->st_ino, .block = sagoi_max(512, file->st_blksize)};
    layout_name(&found, result == 0 ? (uint32_t)system.f_type : 0);
    if (strcmp(found.name, "fuse") == 0)
        name_fuse(&found, file->st_dev);
    find_stripes(fd, &found);
    *layout = found;
}
