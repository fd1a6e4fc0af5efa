/* The file mapped into this process, so that runs are copied straight into the file: no window, no second copy.
 *
 * A mapping is used only where one kernel holds the file (one node, a file system in memory, or the user's
 * hint).  Pages are brought in by MADV_POPULATE_*, which reports what a plain access would turn into SIGBUS: a
 * full file system, or a file that another process has cut short. */
#ifndef SAGOI_MAPPING_H
#define SAGOI_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/budget.h"
#include "base/status.h"
#include "store/store.h"

typedef struct sagoi_mapping {
    char *base;
    int64_t off, bytes; /* the mapped range of the file; `off` is a multiple of the block */
    bool in_place;      /* a page that was read can be written to without a further failure */
    uint8_t *populated; /* for each block, whether the pages of the block are there */
    int64_t blocks;
    /* Of the file after the last call: fewer blocks or another time mean that pages may be gone. */
    int64_t file_blocks;
    struct timespec file_changed;
} sagoi_mapping;

enum { SAGOI_MAPPING_BLOCK = 64 * 1024 };

/* Does this kernel know MADV_POPULATE_READ and _WRITE? */
bool sagoi_mapping_supported(void);

/* Makes the mapping cover [low, high).  `write` must always be the same for a file.  SAGO_ERR_MEMORY: there can be
 * no such mapping, for whatever reason; the caller tries smaller ones, or system calls. */
sago_status sagoi_mapping_cover(sagoi_mapping *mapping, sagoi_store *store, int64_t low, int64_t high, bool write,
                                sagoi_budget *budget) SAGOI_CHECKED;
/* Brings in the pages of [start, end). */
sago_status sagoi_mapping_populate(sagoi_mapping *mapping, sagoi_store *store, int64_t start, int64_t end)
    SAGOI_CHECKED;
/* Called after a call, when all ranks are done: whoever changes the file from now on may take pages away. */
void sagoi_mapping_remember(sagoi_mapping *mapping, sagoi_store *store);
static inline char *sagoi_mapping_at(const sagoi_mapping *mapping, int64_t off) {
    return mapping->base + (off - mapping->off);
}
/* Unmaps; fine on a zeroed struct, and twice. */
void sagoi_mapping_cleanup(sagoi_mapping *mapping, sagoi_budget *budget);

#endif
