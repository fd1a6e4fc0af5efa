/* Blocks that one process leaves in a directory for another: written aside and renamed, so that whoever finds one
 * finds all of it; gone when it was fetched.  Each block has a file in a folder of the exchange's own.  No MPI. */
#ifndef SAGOI_HANDOVER_H
#define SAGOI_HANDOVER_H

#include <stdint.h>

#include "base/status.h"

enum { SAGOI_HANDOVER_PATH = 1024, SAGOI_HANDOVER_NAME = 128 }; /* of a folder; of a block, as its users call it */

/* Who leaves what for whom. */
typedef struct sagoi_parcel {
    int from, to; /* ranks */
    const char *name;
} sagoi_parcel;

/* "dir/.sago-exchange-TOKEN".  SAGO_ERR_BAD_FILE: too long. */
sago_status sagoi_handover_folder(const char *dir, const uint64_t token[2], char folder[SAGOI_HANDOVER_PATH])
    SAGOI_CHECKED;
sago_status sagoi_handover_make(const char *folder) SAGOI_CHECKED;
/* With whatever is still in it; fine if it is gone. */
sago_status sagoi_handover_remove(const char *folder) SAGOI_CHECKED;

sago_status sagoi_parcel_check(const sagoi_parcel *parcel) SAGOI_CHECKED;
/* SAGO_ERR_EXISTS: it is there and was not fetched; SAGO_ERR_NO_SPACE: nothing is left behind. */
sago_status sagoi_parcel_put(const char *folder, const sagoi_parcel *parcel, const void *data, int64_t bytes)
    SAGOI_CHECKED;
/* SAGO_ERR_NO_FILE: it is not there.  *bytes: its size, also where `capacity` is less, which is SAGO_ERR_ARG: then
 * it stays. */
sago_status sagoi_parcel_get(const char *folder, const sagoi_parcel *parcel, void *data, int64_t capacity,
                             int64_t *bytes) SAGOI_CHECKED;

#endif
