/* One writer's part of a save, on one level: data, fsync, then the part record (written aside, fsynced, renamed),
 * then the directory.  A save is complete when its intent and the parts of all writers are there; the order in
 * which the writers come does not matter, and nobody waits for anybody.  Never calls MPI. */
#ifndef SAGOI_CKPT_COMMIT_H
#define SAGOI_CKPT_COMMIT_H

#include "ckpt/generation.h"

typedef struct sagoi_commit_plan {
    const char *dir;    /* of the level */
    bool global;        /* names and places as at the global level */
    bool lent;          /* what is written stays where it is, also when a write does not come back */
    const char *intent; /* encoded; NULL: another writer puts it there */
    int64_t intent_len;
    const sagoi_part *part;         /* all but the sums, unless they are known already */
    const sagoi_writer_desc *place; /* of this writer */
    const sagoi_fence *fence;
} sagoi_commit_plan;

typedef struct sagoi_commit {
    sagoi_commit_plan plan;
    char folder[SAGOI_CKPT_PATH];
    sagoi_cfile data;
    sagoi_cfile record; /* of the part, under the name that says it is not yet one */
    uint64_t *sums;     /* of the pieces written */
    int64_t base;       /* of the stream in the file */
    int64_t unsynced;
} sagoi_commit;

/* Where the data goes, also for who is not the writer. */
sago_status sagoi_commit_data_path(const sagoi_commit_plan *plan, char path[SAGOI_CKPT_PATH]) SAGOI_CHECKED;

/* The plan's pointers stay valid until the end.  After any failure: sagoi_commit_abandon(). */
sago_status sagoi_commit_begin(sagoi_commit *commit, const sagoi_commit_plan *plan) SAGOI_CHECKED;
/* Bytes [off, off + len) of the stream; off is a multiple of the piece, so is len but at the end. */
sago_status sagoi_commit_write(sagoi_commit *commit, const char *data, int64_t len, int64_t off) SAGOI_CHECKED;
/* After SAGO_OK the part is durable. */
sago_status sagoi_commit_end(sagoi_commit *commit) SAGOI_CHECKED;
/* Gives back what commit has, and removes what this writer alone has made, but for the sign that it did not end.
 */
void sagoi_commit_abandon(sagoi_commit *commit);

/* ---- The folder of a save as a whole, in the directory of a level ---- */

typedef struct sagoi_save_name {
    const char *dir; /* of the level */
    int64_t step;
    uint64_t id_low;
    const sagoi_fence *fence; /* what follows is SAGO_ERR_BUSY if another job owns the directory now */
} sagoi_save_name;

/* Every change of a folder's name is made here: one rename, durable on return.  After a crash it has either name.
 * SAGO_ERR_NO_FILE: it does not have the name `from`. */
sago_status sagoi_save_rename(const sagoi_save_name *save, sagoi_folder_kind from, sagoi_folder_kind to)
    SAGOI_CHECKED;
/* Puts an empty file of this name (SAGOI_MARK_NAME, SAGOI_BAD_DATA_NAME) into the folder; fine if there is none.
 */
sago_status sagoi_save_note(const sagoi_save_name *save, const char *name) SAGOI_CHECKED;
/* Removes the folder that has this kind of name, with everything in it.  Its own name goes first, so that what is
 * half removed is no checkpoint.  leave_trace: an empty folder stays until sagoi_traces_remove(), for those who
 * find what other nodes have not yet removed. */
sago_status sagoi_save_remove(const sagoi_save_name *save, sagoi_folder_kind kind, bool leave_trace) SAGOI_CHECKED;
/* Traces of all removed saves but one, and what removals that were interrupted have left. */
/* The same when nobody has asked for it: what cannot be removed, as a folder with something strange in it, is left
 * for the next time. */
sago_status sagoi_save_tidy(const sagoi_save_name *save, sagoi_folder_kind kind) SAGOI_CHECKED;
sago_status sagoi_traces_remove(const sagoi_fence *fence, const char *dir, const sagoi_save_name *but)
    SAGOI_CHECKED;

#endif
