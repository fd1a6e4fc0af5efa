/* One writer's part of a save on one level: data, fsync, then the part record (written under another name, fsync,
 * rename), then the directory.  A save is complete when its intent and the parts of all writers are there; writers
 * may come in any order, and no writer waits for another one.  Never calls MPI. */
#ifndef SAGOI_CKPT_COMMIT_H
#define SAGOI_CKPT_COMMIT_H

#include "ckpt/generation.h"

typedef struct sagoi_commit_plan {
    const char *dir;    /* directory of the level */
    bool global;        /* names and places are those of the global level */
    bool lent;          /* the data that is written stays where it is, even if a write does not come back */
    const char *intent; /* encoded; NULL: another writer puts the intent there */
    int64_t intent_len;
    const sagoi_part *part;         /* without the sums, unless they are known already */
    const sagoi_writer_desc *place; /* this writer's description */
    const sagoi_fence *fence;
} sagoi_commit_plan;

typedef struct sagoi_commit {
    sagoi_commit_plan plan;
    char folder[SAGOI_CKPT_PATH];
    sagoi_cfile data;
    sagoi_cfile record; /* of the part, under the name that says it is not a part yet */
    bool published;     /* the record may be a part by now */
    uint64_t *sums;     /* sums of the pieces that were written */
    int64_t base;       /* place of the stream in the file */
    int64_t unsynced;
} sagoi_commit;

/* The path of the data file, also for ranks that are not the writer. */
sago_status sagoi_commit_data_path(const sagoi_commit_plan *plan, char path[SAGOI_CKPT_PATH]) SAGOI_CHECKED;

/* The plan's pointers stay valid until the end.  After any failure sagoi_commit_abandon() has to follow. */
sago_status sagoi_commit_begin(sagoi_commit *commit, const sagoi_commit_plan *plan) SAGOI_CHECKED;
/* Writes the bytes [off, off + len) of the stream; `off` is a multiple of the piece, and so is `len`, except at
 * the end. */
sago_status sagoi_commit_write(sagoi_commit *commit, const char *data, int64_t len, int64_t off) SAGOI_CHECKED;
/* After SAGO_OK the part is durable. */
sago_status sagoi_commit_end(sagoi_commit *commit) SAGOI_CHECKED;
/* Frees what the commit has, and removes what this writer alone has made, except the file that says it did not
 * end. */
void sagoi_commit_abandon(sagoi_commit *commit);

/* ---- The folder of a save as a whole, in the directory of a level ---- */

typedef struct sagoi_save_name {
    const char *dir; /* directory of the level */
    int64_t step;
    uint64_t id_low;
    const sagoi_fence *fence; /* where another job owns the directory now, these functions return SAGO_ERR_BUSY */
} sagoi_save_name;

/* All changes of a folder's name are made here: one rename, which is durable on return.  After a crash the folder
 * has either name.  SAGO_ERR_NO_FILE: there is no folder with the name `from`. */
sago_status sagoi_save_rename(const sagoi_save_name *save, sagoi_folder_kind from, sagoi_folder_kind to)
    SAGOI_CHECKED;
/* Puts an empty file with this name (SAGOI_MARK_NAME, SAGOI_BAD_DATA_NAME) into the folder; fine if there is no
 * folder. */
sago_status sagoi_save_note(const sagoi_save_name *save, const char *name) SAGOI_CHECKED;
/* Removes the folder that has this kind of name, with everything in it.  Its name is changed first, so that a half
 * removed folder is no checkpoint.  leave_trace: an empty folder stays until sagoi_traces_remove(), and tells of
 * the removal where other nodes have not removed theirs yet. */
sago_status sagoi_save_remove(const sagoi_save_name *save, sagoi_folder_kind kind, bool leave_trace) SAGOI_CHECKED;
/* Removes traces of all removed saves but one, and the rest of removals that were interrupted. */
/* Does the same without being asked to: what cannot be removed, such as a folder with something strange in it,
 * stays until the next time. */
sago_status sagoi_save_tidy(const sagoi_save_name *save, sagoi_folder_kind kind) SAGOI_CHECKED;
sago_status sagoi_traces_remove(const sagoi_fence *fence, const char *dir, const sagoi_save_name *but)
    SAGOI_CHECKED;

#endif
