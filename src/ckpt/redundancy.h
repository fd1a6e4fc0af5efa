/* What the writers of different storage devices hold for each other. */
#ifndef SAGOI_CKPT_REDUNDANCY_H
#define SAGOI_CKPT_REDUNDANCY_H

#include "ckpt/state.h"

#define SAGOI_PARITY_PIECE (INT64_C(64) << 10)
#define SAGOI_PARITY_SLICE (4 * SAGOI_PARITY_PIECE) /* bytes that are exchanged at a time */

#define SAGOI_STREAM_MOST (INT64_C(1) << 50) /* bytes of a stream that parity is worked out for */

/* A set, as the intent of a save describes it. */
typedef struct sagoi_set {
    int64_t number, n; /* members */
    int64_t d, k;      /* data and parity fragments of a stripe */
    int64_t chunk;     /* bytes of a fragment */
    int64_t writers[SAGOI_SETS_LARGEST];
} sagoi_set;

/* The members of a set; n == 0: there is no such set. */
void sagoi_set_find(const sagoi_intent *intent, int64_t number, sagoi_set *set);

/* Opens the data of a writer, or of a member's parity, in this node's folder of a save. */
sago_status sagoi_open_local(const sago_ckpt *ckpt, int64_t step, sagoi_id id, const char *name,
                             sagoi_cfile_mode mode, sagoi_cfile *file) SAGOI_CHECKED;

/* Reads [off, off + len); bytes behind the end are zero. */
sago_status sagoi_read_padded(sagoi_cfile *file, unsigned char *data, int64_t len, int64_t off) SAGOI_CHECKED;

#endif
