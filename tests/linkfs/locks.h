/* A target's locks, one for each block of its files, and the nodes that hold them. */
#ifndef LINKFS_LOCKS_H
#define LINKFS_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* The connection by which the node is asked; kept open. */
void locks_node(int node, int fd);

/* Returns when the node has the lock of the block: alone to write it, with other readers to read it.  True:
 * another node that had written there had to give it back. */
bool locks_take(uint64_t file, int64_t block, int node, bool write);

#endif
