/* How much memory this node can really give. */
#ifndef SAGOI_MEMORY_H
#define SAGOI_MEMORY_H

#include <stdint.h>

/* min(MemAvailable, limit - (usage - inactive file) of our cgroup and its ancestors, v1 and v2), in bytes.  `root`
 * is put before every path ("" for the real machine).  If nothing is known, a cautious constant. */
int64_t sagoi_memory_available(const char *root);

/* The ranks of a node share its memory equally, and a rank shares its part equally among the files that it has
 * open.  So the parts of all files of a node come to no more than there is.  A rank adds SAGOI_MEMORY_PART / (its
 * open files). */
enum { SAGOI_MEMORY_PART = 1 << 20 };
/* The part of `memory` for a file: `parts` is the sum over the file's ranks on the node, and `ranks` the number of
 * ranks of the job on the node, whether they opened the file or not. */
int64_t sagoi_memory_share(int64_t memory, int64_t parts, int64_t ranks);

#endif
