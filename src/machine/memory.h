/* How much memory this node can really give. */
#ifndef SAGOI_MEMORY_H
#define SAGOI_MEMORY_H

#include <stdint.h>

/* min(MemAvailable, over the own cgroup and its ancestors, v1 and v2: limit - (usage - inactive file)), in
 * bytes.  `root` is put before every path ("" for the real machine).  Unknown: a conservative constant. */
int64_t sagoi_memory_available(const char *root);

#endif
