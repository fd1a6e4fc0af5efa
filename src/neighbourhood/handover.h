/* Blocks that one process leaves in a directory for another one.  A block is written under another name and then
 * renamed, so that a process that finds a block finds all of it; fetching a block removes it.  Each block is a
 * file in a folder of the exchange.  No MPI. */
#ifndef SAGOI_HANDOVER_H
#define SAGOI_HANDOVER_H

#include <stdint.h>

#include "base/status.h"

enum {
    SAGOI_HANDOVER_PATH = 1024,
    SAGOI_HANDOVER_NAME = 128
}; /* room for the path of a folder; for the name of a block */

/* Names a block: from whom, for whom, and what its users call it. */
typedef struct sagoi_parcel {
    int from, to; /* ranks */
    const char *name;
} sagoi_parcel;

/* "dir/.sago-exchange-TOKEN".  SAGO_ERR_BAD_FILE: the path is too long. */
sago_status sagoi_handover_folder(const char *dir, const uint64_t token[2], char folder[SAGOI_HANDOVER_PATH])
    SAGOI_CHECKED;
sago_status sagoi_handover_make(const char *folder) SAGOI_CHECKED;
/* Removes a folder with everything in it; fine if there is none. */
sago_status sagoi_handover_remove(const char *folder) SAGOI_CHECKED;

sago_status sagoi_parcel_check(const sagoi_parcel *parcel) SAGOI_CHECKED;
/* SAGO_ERR_EXISTS: the block is there, and was not fetched; SAGO_ERR_NO_SPACE: nothing is left behind. */
sago_status sagoi_parcel_put(const char *folder, const sagoi_parcel *parcel, const void *data, int64_t bytes)
    SAGOI_CHECKED;
/* SAGO_ERR_NO_FILE: the block is not there.  *bytes: its size.  SAGO_ERR_ARG: `capacity` is less than that, and
 * the block stays. */
sago_status sagoi_parcel_get(const char *folder, const sagoi_parcel *parcel, void *data, int64_t capacity,
                             int64_t *bytes) SAGOI_CHECKED;

#endif
