/* The records of a checkpoint directory; docs/checkpoint-format.md is their description for others.
 *
 * Glossary
 *   save     one sago_ckpt_save(): a step and a random id
 *   writer   a rank that writes for its group; its *stream* is the bytes of the group, block after block
 *   intent   what a save consists of: arrays, writers, how much each writes
 *   part     what one writer wrote: its blocks, and a checksum for each piece of the stream
 *   piece    `piece` bytes of a stream (the last one less): what is read and checked at once
 *   set      writers on different storage devices that hold parity for each other
 *   parity   what a member of a set holds for the others
 *
 * Everything in a record comes from a file, and is checked before it is believed. */
#ifndef SAGOI_CKPT_RECORD_H
#define SAGOI_CKPT_RECORD_H

#include <sago/ckpt.h>

#include "base/status.h"
#include "ckpt/wire.h"
#include "system/files.h"

enum { SAGOI_CKPT_TYPE_MAX = 32 };
#define SAGOI_RECORD_MOST (INT64_C(1) << 30) /* bytes of a record */

typedef enum {
    SAGOI_RECORD_DIRECTORY = 1,
    SAGOI_RECORD_INTENT = 2,
    SAGOI_RECORD_PART = 3,
    SAGOI_RECORD_PARITY = 4,
    SAGOI_RECORD_LEASE = 5,
    SAGOI_RECORD_TIER_CLAIM = 6, /* of the local tier: src/tier/tier_record.h */
    SAGOI_RECORD_TIER_PART = 7,
    SAGOI_RECORD_FOUND = 8, /* ckpt/generation.h */
} sagoi_record_kind;

typedef struct sagoi_id {
    uint64_t low, high;
} sagoi_id;

static inline bool sagoi_id_equal(sagoi_id a, sagoi_id b) { return a.low == b.low && a.high == b.high; }

/* ---- The envelope of all records ---- */

/* Begins a record; the caller appends the body. */
void sagoi_record_begin(sagoi_wire_out *out, sagoi_record_kind kind);
/* Fills in the length and adds the checksum.  A record that is too long to be read fails, as without memory. */
void sagoi_record_end(sagoi_wire_out *out);
/* Checks the envelope of a whole record, and gives its body.  SAGO_ERR_IO: it is damaged, or no such record;
 * SAGO_ERR_UNSUPPORTED: it is of a newer version.  `what` is for the message. */
sago_status sagoi_record_open(const char *bytes, int64_t len, sagoi_record_kind kind, const char *what,
                              sagoi_wire_in *body) SAGOI_CHECKED;

/* ---- Intent ---- */

typedef struct sagoi_array_desc {
    char name[SAGO_CKPT_NAME_MAX];
    char type[SAGOI_CKPT_TYPE_MAX];
    int64_t kind; /* sago_ckpt_kind */
    int64_t element;
    int64_t ndims;
    int64_t global[SAGO_CKPT_DIMS_MAX]; /* arrays */
    int64_t bytes;                      /* of all ranks */
} sagoi_array_desc;

typedef struct sagoi_writer_desc {
    int64_t bytes;       /* of the writer's stream */
    int64_t file, base;  /* at the global level: the data file, and where the stream begins in it */
    int64_t set, member; /* of the writer's redundancy set; -1, 0: there is none */
} sagoi_writer_desc;

typedef struct sagoi_intent {
    sagoi_id id, directory;
    int64_t step, time, ranks, nodes, files, piece;
    /* Members of a stripe that hold data, and those that hold parity; 0, 0: there is no redundancy. */
    int64_t data, parity;
    int64_t narrays, nwriters;
    sagoi_array_desc *arrays;
    sagoi_writer_desc *writers;
} sagoi_intent;

void sagoi_intent_encode(const sagoi_intent *intent, sagoi_wire_out *out);
sago_status sagoi_intent_decode(const char *bytes, int64_t len, sagoi_intent *intent) SAGOI_CHECKED;
void sagoi_intent_cleanup(sagoi_intent *intent);
int64_t sagoi_intent_bytes(const sagoi_intent *intent); /* of data */

/* ---- Part ---- */

typedef struct sagoi_stored_block {
    int64_t array, rank; /* rank: the one that had the block */
    int64_t ndims;
    int64_t start[SAGO_CKPT_DIMS_MAX], count[SAGO_CKPT_DIMS_MAX]; /* of an array: place in the global array */
    int64_t offset, bytes;                                        /* place and size in the stream */
} sagoi_stored_block;

typedef struct sagoi_part {
    sagoi_id id;
    int64_t step, writer, bytes, piece;
    int64_t nsums, nblocks;
    uint64_t *sums; /* XXH3 64 of each piece */
    sagoi_stored_block *blocks;
} sagoi_part;

void sagoi_part_encode(const sagoi_part *part, sagoi_wire_out *out);
sago_status sagoi_part_decode(const char *bytes, int64_t len, sagoi_part *part) SAGOI_CHECKED;
void sagoi_part_cleanup(sagoi_part *part);
/* Does the part belong to this save, and contradict the intent in nothing? */
bool sagoi_part_fits(const sagoi_part *part, const sagoi_intent *intent);

/* A block as the body of a message: ranks send these to their writer. */
void sagoi_block_encode(const sagoi_stored_block *block, sagoi_wire_out *out);
void sagoi_block_decode(sagoi_wire_in *in, sagoi_stored_block *block);

/* ---- Parity ---- */

typedef struct sagoi_parity_member {
    int64_t writer;
    int64_t part_len; /* the member's part record as a whole, which would be lost with the member */
    char *part;
} sagoi_parity_member;

/* Member `member` of the set holds `parity` fragments of `chunk` bytes each, one after the other. */
typedef struct sagoi_parity {
    sagoi_id id;
    int64_t step, set, member, data, parity, chunk, piece;
    int64_t nsums, nmembers;
    uint64_t *sums;
    sagoi_parity_member *members;
} sagoi_parity;

void sagoi_parity_encode(const sagoi_parity *parity, sagoi_wire_out *out);
sago_status sagoi_parity_decode(const char *bytes, int64_t len, sagoi_parity *parity) SAGOI_CHECKED;
void sagoi_parity_cleanup(sagoi_parity *parity);

/* ---- Checksums and names ---- */

/* Can this be the name of an array?  Names are printed, and become parts of the names of exported files. */
bool sagoi_array_name_fits(const char *name);

uint64_t sagoi_piece_sum(const void *data, int64_t len);

enum { SAGOI_CKPT_FILE_NAME = 64 };
/* What the name of a save's folder tells. */
typedef enum {
    SAGOI_FOLDER_STEP,    /* the save is there, or being written */
    SAGOI_FOLDER_DAMAGED, /* set aside: the save was complete once, or may have been, and is not now */
    SAGOI_FOLDER_REMOVED, /* being removed; an empty folder: removed here, perhaps not yet on other nodes */
} sagoi_folder_kind;
/* Name of a folder of the kind SAGOI_FOLDER_STEP. */
void sagoi_save_folder(char name[SAGOI_CKPT_FILE_NAME], int64_t step, sagoi_id id);
void sagoi_save_folder_as(char name[SAGOI_CKPT_FILE_NAME], sagoi_folder_kind kind, int64_t step, uint64_t id_low);
bool sagoi_save_folder_parse(const char *name, sagoi_folder_kind *kind, int64_t *step, uint64_t *id_low);
/* "dir/FOLDER/name" in the folder of a save; "dir/FOLDER" if `name` is NULL.  SAGO_ERR_BAD_FILE: too long. */
sago_status sagoi_save_path(char path[SAGOI_CKPT_PATH], const char *dir, int64_t step, sagoi_id id,
                            const char *name) SAGOI_CHECKED;
void sagoi_part_name(char name[SAGOI_CKPT_FILE_NAME], int64_t writer);
/* A part has this name from when its writer begins until it is published; without a part the writer never
 * ended. */
void sagoi_begun_name(char name[SAGOI_CKPT_FILE_NAME], int64_t writer);
/* Is this the name that `make`, one of these two functions, gives for a writer? */
typedef void sagoi_writer_name_fn(char name[SAGOI_CKPT_FILE_NAME], int64_t writer);
bool sagoi_writer_name_parse(const char *name, sagoi_writer_name_fn *make, int64_t *writer);
/* On node-local storage every writer has a file; at the global level several writers may share one. */
void sagoi_local_data_name(char name[SAGOI_CKPT_FILE_NAME], int64_t writer);
void sagoi_global_data_name(char name[SAGOI_CKPT_FILE_NAME], int64_t file);
void sagoi_parity_name(char name[SAGOI_CKPT_FILE_NAME], int64_t set, int64_t member);
bool sagoi_parity_name_parse(const char *name, int64_t *set, int64_t *member);
void sagoi_parity_data_name(char name[SAGOI_CKPT_FILE_NAME], int64_t set, int64_t member);
#define SAGOI_INTENT_NAME "intent"
/* An empty file: the save was complete at this level once.  Its parts tell whether it still is. */
#define SAGOI_MARK_NAME "complete"
/* Another empty file: damage was found in the data that the records do not show. */
#define SAGOI_BAD_DATA_NAME "damaged"

#endif
