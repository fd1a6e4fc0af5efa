/* How much of a node's free memory files use where no hint says how much. */
#ifndef SAGOI_MEMORY_SHARE_H
#define SAGOI_MEMORY_SHARE_H

#include "plan/thresholds.h"

/* Of `available` bytes of a node, what all files of the node use together. */
static inline int64_t sagoi_memory_usable(int64_t available) { return available / SAGOI_FREE_MEMORY_PART; }

/* Of a share of that, what one file uses that so many ranks of the node have open. */
static inline int64_t sagoi_memory_of_file(int64_t share, int64_t ranks) {
    int64_t most = (ranks + 1) * SAGOI_MEMORY_OF_RANK;
    return share < most ? share : most;
}

#endif
