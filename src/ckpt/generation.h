/* Which job owns a checkpoint directory, and what an owner may do that has been replaced without knowing it.
 *
 * Every owner has a generation, a number one higher than that of the owner before.  A job gets its generation
 * by making the name lock.GENERATION, which only one job can (sagoi_cfile_claim()); the owner is the job that
 * made the highest one. The highest lock is never removed, not even when it is given back, so no generation is
 * used twice.  Later owners remove older locks.  So whatever else happens, an owner was replaced exactly when
 * there is a higher lock than its own.
 *
 * Nothing can keep a job that was stopped for long from going on with its next system call.  Three rules make
 * sure that such a job does no harm:
 *   - the ids of saves carry the generation, and with them every name that an owner makes;
 *   - before an owner removes or renames anything it looks whether it still is the owner, and it only touches what
 *     is its own or older (the fence; all of this goes through the functions below);
 *   - an owner writes down, in each directory of each level, which saves of older generations it has found there
 *     (found.GENERATION): such saves that appear later do not count. */
#ifndef SAGOI_CKPT_GENERATION_H
#define SAGOI_CKPT_GENERATION_H

#include "system/files.h"
#include "ckpt/record.h"

#define SAGOI_GENERATION_MOST ((INT64_C(1) << 24) - 1)

/* ---- In the ids of saves ---- */

/* Makes the low half of a save's id: a constant (16 bits), the generation (24), a random number (24). */
uint64_t sagoi_id_low_of(int64_t generation, uint64_t random);
/* The generation of an id; 0: from before there were generations, so older than all others. */
int64_t sagoi_id_generation(uint64_t id_low);

/* ---- In a directory ---- */

/* The highest generations that are there; 0: none. */
typedef struct sagoi_generations {
    int64_t lock, found;
    int64_t save; /* in the names of saves */
} sagoi_generations;

/* The generation of the next owner of a directory in this state. */
int64_t sagoi_next_generation(const sagoi_generations *seen);

sago_status sagoi_generations_look(const char *dir, sagoi_generations *seen) SAGOI_CHECKED;
/* The name of a lock, or of a list of what was found. */
bool sagoi_is_generation_name(const char *name);
void sagoi_lock_name(char name[SAGOI_CKPT_FILE_NAME], int64_t generation);

/* ---- The fence ---- */

/* The same on all ranks. */
typedef struct sagoi_fence {
    char dir[SAGOI_CKPT_PATH]; /* where the locks are */
    int64_t generation;        /* this job's */
} sagoi_fence;

/* Looks at the locks: the highest one is this job's own, or it was replaced.  A listing that lacks the own lock
 * while that is there is not believed. */
sago_status sagoi_fence_look(const sagoi_fence *fence, sagoi_generations *seen) SAGOI_CHECKED;
/* May this job remove or rename anything of this save?  SAGO_ERR_BUSY: the job was replaced, or a newer owner made
 * the save; SAGO_ERR_NO_FILE: the directory is away now.  A NULL fence allows everything. */
sago_status sagoi_fence_check(const sagoi_fence *fence, uint64_t id_low) SAGOI_CHECKED;
/* May this job add anything to the save?  If the directory does not answer it may: what it makes carries its
 * generation, and the nodes' storage must not wait for a directory that hangs. */
sago_status sagoi_fence_check_adding(const sagoi_fence *fence, uint64_t id_low) SAGOI_CHECKED;
/* sagoi_cfile_publish() for a save, with a look at the fence between writing and renaming. */
sago_status sagoi_fence_publish(const sagoi_fence *fence, uint64_t id_low, const char *dir, const char *name,
                                const sagoi_wire_out *record) SAGOI_CHECKED;
sago_status sagoi_fence_rename(const sagoi_fence *fence, uint64_t id_low, const char *from, const char *to)
    SAGOI_CHECKED;
sago_status sagoi_fence_remove(const sagoi_fence *fence, uint64_t id_low, const char *path) SAGOI_CHECKED;
/* Removes a file if that is possible. */
void sagoi_fence_discard(const sagoi_fence *fence, uint64_t id_low, const char *path);
/* Removes locks and lists of older generations, and the rest of their claims, from the directory of a level. */
sago_status sagoi_fence_tidy(const sagoi_fence *fence, const char *dir) SAGOI_CHECKED;

/* ---- What an owner found ---- */

typedef struct sagoi_found_save {
    int64_t step;
    uint64_t id_low;
} sagoi_found_save;

typedef struct sagoi_found {
    int64_t generation; /* generation of the owner who made the list; 0: there is no list, and everything counts */
    int64_t n;
    sagoi_found_save *saves;
} sagoi_found;

/* Loads the newest list of a level's directory; a damaged list counts as none.  SAGO_OK also if there is none. */
sago_status sagoi_found_load(const char *dir, sagoi_found *found) SAGOI_CHECKED;
void sagoi_found_cleanup(sagoi_found *found);
sago_status sagoi_found_add(sagoi_found *found, int64_t step, uint64_t id_low) SAGOI_CHECKED;
/* Was the save there when the list was made, or did that owner or a later one make it? */
bool sagoi_found_counts(const sagoi_found *found, int64_t step, uint64_t id_low);
/* Publishes this owner's list; durable afterwards. */
sago_status sagoi_found_store(const sagoi_fence *fence, const char *dir, const sagoi_found *found) SAGOI_CHECKED;
/* Adds an older save to this owner's list, before the owner makes a folder for it (draining, rebuilding). */
sago_status sagoi_found_adopt(const sagoi_fence *fence, const char *dir, int64_t step, uint64_t id_low)
    SAGOI_CHECKED;

sago_status sagoi_found_decode(const char *bytes, int64_t len, sagoi_found *found) SAGOI_CHECKED;
void sagoi_found_encode(const sagoi_found *found, sagoi_wire_out *out);

#endif
