/* Two kinds of records let local data outlive its job (hint sago_tier=local, after sago_sync_local()).  Both
 * have the envelope of the records of checkpoints.
 *
 *   claim   stands beside the global file and says: so many parts of local data belong to this file, which looked
 *           like this when the claim was made.  It is one file, so that one rename or one removal decides: a part
 *           without a claim is void.
 *   part    stands beside each neighbourhood's local file and says which bytes of that file were written by which
 *           calls
 *   block   the coded runs of one call in a part; a merge writes the blocks in the order of their keys
 *
 * Everything in a record comes from a file, and is checked before it is used. */
#ifndef SAGOI_TIER_RECORD_H
#define SAGOI_TIER_RECORD_H

#include "base/subfiles.h"
#include "system/files.h"
#include "ckpt/record.h"

#define SAGOI_TIER_PREFIX ".sago-tier-" /* begins the names of local files */
#define SAGOI_TIER_RECORD ".record"     /* ends the name of a part; the local file's name stands before it */

enum { SAGOI_TIER_HOST = 64, SAGOI_TIER_NAME = 96 };

/* The name of a local file: a random id, and the lowest rank of its neighbourhood. */
void sagoi_tier_name(char name[SAGOI_TIER_NAME], sagoi_id id, int64_t first);

/* ---- Claims ---- */

/* What tells one state of the global file from another: every write changes the mark. */
typedef struct sagoi_file_mark {
    int64_t inode, size, seconds, nanoseconds; /* the times are of the last write */
} sagoi_file_mark;

/* `subfiles`: how the file is divided; NULL for one plain file. */
sago_status sagoi_file_mark_of(const char *path, const sagoi_subfiles *subfiles, sagoi_file_mark *mark)
    SAGOI_CHECKED;
bool sagoi_file_mark_same(const sagoi_file_mark *one, const sagoi_file_mark *two);

typedef enum { SAGOI_CLAIM_HELD, SAGOI_CLAIM_MERGING } sagoi_claim_state;

typedef struct sagoi_claimed_part {
    int64_t first; /* lowest rank of the neighbourhood, as in the name of its local file */
    char host[SAGOI_TIER_HOST];
} sagoi_claimed_part;

typedef struct sagoi_claim {
    sagoi_id id;
    int64_t state;      /* sagoi_claim_state; with "merging" some of the data may be in the global file already */
    int64_t generation; /* parts of an older generation lack something */
    sagoi_file_mark mark;
    int64_t nparts;
    sagoi_claimed_part *parts;
} sagoi_claim;

void sagoi_claim_encode(const sagoi_claim *claim, sagoi_wire_out *out);
sago_status sagoi_claim_decode(const char *bytes, int64_t len, sagoi_claim *claim) SAGOI_CHECKED;
void sagoi_claim_cleanup(sagoi_claim *claim);

/* Where the claim of a file is.  Links in the file's path have been followed. */
typedef struct sagoi_claim_place {
    char folder[SAGOI_CKPT_PATH], path[SAGOI_CKPT_PATH]; /* the claim's folder, and its whole path */
    char file[SAGOI_CKPT_PATH];                          /* path of the file that the claim belongs to */
} sagoi_claim_place;

/* Finds the place of a claim; the file must exist. */
sago_status sagoi_claim_find(const char *file, sagoi_claim_place *place) SAGOI_CHECKED;
/* Reads the claim.  *bytes becomes NULL where there is no claim; else the caller frees it. */
sago_status sagoi_claim_load(const sagoi_claim_place *place, char **bytes, int64_t *len) SAGOI_CHECKED;
/* The claim is durable when this function returns, and so is its removal by the next one. */
sago_status sagoi_claim_publish(const sagoi_claim_place *place, const sagoi_claim *claim) SAGOI_CHECKED;
sago_status sagoi_claim_remove(const sagoi_claim_place *place) SAGOI_CHECKED;

/* ---- Parts ---- */

typedef struct sagoi_tier_block {
    int64_t key;
    const uint8_t *code; /* coded runs in ascending order, for sagoi_code_get() */
    int64_t bytes;       /* bytes of the code */
} sagoi_tier_block;

typedef struct sagoi_tier_part {
    sagoi_id id;
    int64_t generation, first;
    int64_t end; /* bytes that the local file has at the least */
    /* Inode of the global file's folder, which shows whether the same file system is mounted there. */
    int64_t folder;
    char file[SAGOI_CKPT_PATH]; /* path of the global file */
    char host[SAGOI_TIER_HOST];
    int64_t nblocks;
    sagoi_tier_block *blocks; /* the codes point into the bytes that were decoded */
} sagoi_tier_part;

/* Appends one block to others. */
void sagoi_tier_block_encode(sagoi_wire_out *out, const sagoi_tier_block *block);
/* `blocks` holds part->nblocks encoded blocks. */
void sagoi_tier_part_encode(const sagoi_tier_part *part, const char *blocks, int64_t bytes, sagoi_wire_out *out);
sago_status sagoi_tier_part_decode(const char *bytes, int64_t len, sagoi_tier_part *part) SAGOI_CHECKED;
void sagoi_tier_part_cleanup(sagoi_tier_part *part);
/* Bytes of data; a byte that was written twice counts twice. */
int64_t sagoi_tier_part_bytes(const sagoi_tier_part *part);

/* Does the part's claim still exist?  True also where that cannot be known. */
bool sagoi_tier_part_claimed(const sagoi_tier_part *part);

#endif
