/* What lets local data outlive its job (hint sago_tier=local, after sago_sync_local()): two kinds of records, in
 * the envelope of those of checkpoints.
 *
 *   claim   beside the global file: local data belongs to it, in so many parts, and this is what the file was like
 *           when it was claimed.  One file, so that one rename or removal decides: a part without a claim is void.
 *   part    beside each neighbourhood's local file: which of its bytes were written by which calls
 *   block   a part's runs of one call, coded; blocks are made again in the order of their keys
 *
 * Everything in a record comes from a file, and is checked before it is believed. */
#ifndef SAGOI_TIER_RECORD_H
#define SAGOI_TIER_RECORD_H

#include "base/subfiles.h"
#include "system/files.h"
#include "ckpt/record.h"

#define SAGOI_TIER_PREFIX ".sago-tier-" /* of local files */
#define SAGOI_TIER_RECORD ".record"     /* behind a local file's name: its part */

enum { SAGOI_TIER_HOST = 64, SAGOI_TIER_NAME = 96 };

/* Of a local file: a random id, and the lowest rank of its neighbourhood. */
void sagoi_tier_name(char name[SAGOI_TIER_NAME], sagoi_id id, int64_t first);

/* ---- Claims ---- */

/* What the global file is like; whoever writes to it changes that. */
typedef struct sagoi_file_mark {
    int64_t inode, size, seconds, nanoseconds; /* when it was last written to */
} sagoi_file_mark;

/* `subfiles`: NULL for one plain file. */
sago_status sagoi_file_mark_of(const char *path, const sagoi_subfiles *subfiles, sagoi_file_mark *mark)
    SAGOI_CHECKED;
bool sagoi_file_mark_same(const sagoi_file_mark *one, const sagoi_file_mark *two);

typedef enum { SAGOI_CLAIM_HELD, SAGOI_CLAIM_MERGING } sagoi_claim_state;

typedef struct sagoi_claimed_part {
    int64_t first; /* rank, as in its name */
    char host[SAGOI_TIER_HOST];
} sagoi_claimed_part;

typedef struct sagoi_claim {
    sagoi_id id;
    int64_t state;      /* sagoi_claim_state; merging: some of it may be in the global file */
    int64_t generation; /* parts that are older have lost something */
    sagoi_file_mark mark;
    int64_t nparts;
    sagoi_claimed_part *parts;
} sagoi_claim;

void sagoi_claim_encode(const sagoi_claim *claim, sagoi_wire_out *out);
sago_status sagoi_claim_decode(const char *bytes, int64_t len, sagoi_claim *claim) SAGOI_CHECKED;
void sagoi_claim_cleanup(sagoi_claim *claim);

/* Where the claim of a file is: links in the file's path have been followed. */
typedef struct sagoi_claim_place {
    char folder[SAGOI_CKPT_PATH], path[SAGOI_CKPT_PATH]; /* of the claim, and the whole */
    char file[SAGOI_CKPT_PATH];                          /* that it belongs to */
} sagoi_claim_place;

/* The file must exist. */
sago_status sagoi_claim_find(const char *file, sagoi_claim_place *place) SAGOI_CHECKED;
/* *bytes becomes NULL where there is none, else it is to be freed. */
sago_status sagoi_claim_load(const sagoi_claim_place *place, char **bytes, int64_t *len) SAGOI_CHECKED;
/* Durable when it returns; so is removing. */
sago_status sagoi_claim_publish(const sagoi_claim_place *place, const sagoi_claim *claim) SAGOI_CHECKED;
sago_status sagoi_claim_remove(const sagoi_claim_place *place) SAGOI_CHECKED;

/* ---- Parts ---- */

typedef struct sagoi_tier_block {
    int64_t key;
    const uint8_t *code; /* sagoi_code_get(), ascending */
    int64_t bytes;       /* of the code */
} sagoi_tier_block;

typedef struct sagoi_tier_part {
    sagoi_id id;
    int64_t generation, first;
    int64_t end;                /* the local file has at least so many bytes */
    int64_t folder;             /* inode of the global file's: is it the same file system that is seen there? */
    char file[SAGOI_CKPT_PATH]; /* the global one */
    char host[SAGOI_TIER_HOST];
    int64_t nblocks;
    sagoi_tier_block *blocks; /* point into the bytes that were decoded */
} sagoi_tier_part;

/* Appends one block to others. */
void sagoi_tier_block_encode(sagoi_wire_out *out, const sagoi_tier_block *block);
/* `blocks`: part->nblocks of them, encoded. */
void sagoi_tier_part_encode(const sagoi_tier_part *part, const char *blocks, int64_t bytes, sagoi_wire_out *out);
sago_status sagoi_tier_part_decode(const char *bytes, int64_t len, sagoi_tier_part *part) SAGOI_CHECKED;
void sagoi_tier_part_cleanup(sagoi_tier_part *part);
int64_t sagoi_tier_part_bytes(const sagoi_tier_part *part); /* of data; what was written twice counts twice */

/* Is the part's data still wanted?  True also where that cannot be known. */
bool sagoi_tier_part_claimed(const sagoi_tier_part *part);

#endif
