/* linkfs: a striped file system behind links, for tests and measurements.
 *
 *     linkfs serve DIR ADDRESS [--time US] [--rate BYTES] [--flush US]
 *         a storage target; files are below DIR
 *     linkfs mount DIR NUMBER ADDRESS...
 *         node NUMBER (0 to 63) mounts the targets, by FUSE
 *
 * Block b of a file, of 1 MiB, is on target b mod T.  Names are on all targets, and every target keeps its blocks
 * in a sparse file of that name, at the offsets they have in the whole; the size of a file is that of the longest.
 * A request costs what the network takes for it, then --time and its bytes by --rate on its target, one request at
 * a time.  A block has a lock, of one node that writes it or of those that read it: whoever needs another one
 * waits until the target has asked the holders to give theirs back, and they have answered; what another node
 * wrote there is first made durable, which takes --flush.  Nothing is cached. It tells the layout of a file as
 * Ceph does (ceph.file.layout).
 *
 * This header: what goes over a connection, in the machine's byte order (both ends are on one machine). */
#ifndef LINKFS_WIRE_H
#define LINKFS_WIRE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { LINK_PORT = 7777, LINK_NODES = 64, LINK_TARGETS = 64, LINK_PATH = 4096 };
static const int64_t link_block = INT64_C(1) << 20;

typedef enum {
    LINK_STAT, /* data: struct stat */
    LINK_CREATE,
    LINK_TRUNCATE,
    LINK_UNLINK,
    LINK_MKDIR,
    LINK_RMDIR,
    LINK_RENAME, /* the path is two, the first ended by a zero byte */
    LINK_LINK,   /* so is this one */
    LINK_LIST,   /* data: names, each ended by a zero byte */
    LINK_STATFS, /* data: struct statvfs */
    LINK_READ,
    LINK_WRITE,
    LINK_CALLBACK, /* from now on the target asks and the node answers, bytes that mean nothing: "give a lock back"
                    */
} link_kind;

/* Then the path, without an end, and for LINK_WRITE the data. */
typedef struct link_request {
    uint32_t kind, node;
    uint32_t path_bytes, flags, mode; /* flags of open(2), or of renameat2(2) */
    int64_t offset, length;           /* of data; offset: also the size to cut to */
} link_request;

/* Then the data. */
typedef struct link_reply {
    int64_t result; /* bytes moved, or -errno */
    int64_t bytes;  /* of data that follow */
} link_reply;

/* All of it, or false. */
bool link_send(int fd, const void *data, size_t bytes);
bool link_receive(int fd, void *data, size_t bytes);

/* "10.91.0.101". */
bool link_address(const char *text, struct sockaddr_in *address);
void link_no_delay(int fd);

int linkfs_serve(int argc, char **argv);
int linkfs_mount(int argc, char **argv);

#endif
