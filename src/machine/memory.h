/* How much memory this node can really give. */
#ifndef SAGOI_MEMORY_H
#define SAGOI_MEMORY_H

#include <stdint.h>

/* min(MemAvailable, over the own cgroup and its ancestors, v1 and v2: limit - (usage - inactive file)), in
 * bytes.  `root` is put before every path ("" for the real machine).  Unknown: a conservative constant. */
int64_t sagoi_memory_available(const char *root);

/* A node's memory is shared by its ranks, equally, and a rank's part by the files that it has open, equally: so
 * the parts of all files of a node come to no more than there is.  A rank adds SAGOI_MEMORY_PART / (its open
 * files). */
enum { SAGOI_MEMORY_PART = 1 << 20 };
/* What a file may have of `memory`: `parts` are those of its ranks on the node, summed; `ranks` is how many ranks
 * of the job are on the node, whether they opened the file or not. */
int64_t sagoi_memory_share(int64_t memory, int64_t parts, int64_t ranks);

#endif
