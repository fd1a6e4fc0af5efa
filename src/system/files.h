/* Files and names for which every call may hang: those of checkpoints, and the records of the local tier.
 * Paths are complete; a failure carries the path and the reason.  Never calls MPI: every function may run in a
 * writer's thread.
 *
 * If a path lies in a watched directory (system/watch.h), a function takes no longer than that directory's
 * patience: SAGO_ERR_TIMEOUT.  Then nobody knows whether the operation has happened, and it may still happen. */
#ifndef SAGOI_FILES_H
#define SAGOI_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/status.h"

enum { SAGOI_CKPT_PATH = 1024 }; /* bytes of a path, the closing NUL included */

typedef struct sagoi_cfile {
    int fd; /* -1: not open */
    bool appends;
    char path[SAGOI_CKPT_PATH];
} sagoi_cfile;

/* "dir/name"; false: it does not fit. */
bool sagoi_path_join(char path[SAGOI_CKPT_PATH], const char *dir, const char *name);

/* Puts the current directory before a relative path, so that the path stays valid when the program changes its
 * directory.  If that does not fit, or there is no current directory, the path is left alone. */
void sagoi_path_fix(char path[SAGOI_CKPT_PATH]);

/* The one name of what is there that has no symbolic links in it; stays as it is where that does not fit. */
sago_status sagoi_path_resolve(char path[SAGOI_CKPT_PATH]) SAGOI_CHECKED;

typedef enum {
    SAGOI_CFILE_READ,
    SAGOI_CFILE_CREATE,    /* the file must not exist */
    SAGOI_CFILE_OVERWRITE, /* the file is made if it does not exist; contents are kept */
    SAGOI_CFILE_UPDATE,    /* the file must exist; contents are kept */
    SAGOI_CFILE_APPEND, /* the file is made if it does not exist; it may be something else than a regular file */
} sagoi_cfile_mode;

sago_status sagoi_cfile_open(const char *path, sagoi_cfile_mode mode, sagoi_cfile *file) SAGOI_CHECKED;
sago_status sagoi_cfile_write(sagoi_cfile *file, const void *data, int64_t len, int64_t off) SAGOI_CHECKED;
/* Writes from lent memory, which must stay where it is, even after SAGO_ERR_TIMEOUT; the data is not copied. */
sago_status sagoi_cfile_write_lent(sagoi_cfile *file, const void *data, int64_t len, int64_t off) SAGOI_CHECKED;
/* *got < len: the file has ended. */
sago_status sagoi_cfile_read(sagoi_cfile *file, void *data, int64_t len, int64_t off, int64_t *got) SAGOI_CHECKED;
sago_status sagoi_cfile_size(sagoi_cfile *file, int64_t *size) SAGOI_CHECKED;
/* fsync(); a failure is final: what was written may be lost, whatever a second try says. */
sago_status sagoi_cfile_sync(sagoi_cfile *file) SAGOI_CHECKED;
sago_status sagoi_cfile_close(sagoi_cfile *file); /* fine when not open */

sago_status sagoi_cdir_make(const char *path) SAGOI_CHECKED; /* fine if it exists */
sago_status sagoi_cdir_sync(const char *path)
    SAGOI_CHECKED; /* makes durable which names were made, changed and removed in the directory */
/* Makes the name of a directory durable in its parent; if the parent may not be opened, nothing can be done. */
sago_status sagoi_cdir_sync_parent(const char *path) SAGOI_CHECKED;
/* Removes an empty directory; fine if there is none. */
sago_status sagoi_cdir_remove(const char *path) SAGOI_CHECKED;
sago_status sagoi_path_rename(const char *from, const char *to) SAGOI_CHECKED;
sago_status sagoi_path_remove(const char *path) SAGOI_CHECKED; /* fine if the file does not exist */
void sagoi_path_discard(const char *path);                     /* removes a file if that is possible */
sago_status sagoi_path_stat(const char *path, struct stat *info) SAGOI_CHECKED;
/* Looks at the name itself: a symbolic link is not followed. */
sago_status sagoi_path_look(const char *path, struct stat *info) SAGOI_CHECKED;
sago_status sagoi_path_there(const char *path, bool *there) SAGOI_CHECKED;
sago_status sagoi_path_free_space(const char *path, int64_t *bytes) SAGOI_CHECKED;

/* Calls `each` for every name but . and .., until a call returns an error. */
typedef sago_status (*sagoi_name_fn)(void *arg, const char *name);
sago_status sagoi_cdir_list(const char *path, sagoi_name_fn each, void *arg) SAGOI_CHECKED;

/* Writes a whole small file: under a name that nobody can guess, followed by fsync() and a rename.  Durable once
 * the directory is synced. */
sago_status sagoi_cfile_publish(const char *dir, const char *name, const void *data, int64_t len) SAGOI_CHECKED;
/* The first half of sagoi_cfile_publish(): the file has the name `aside`, and is to be renamed or discarded. */
sago_status sagoi_cfile_put_aside(const char *dir, const char *name, const void *data, int64_t len,
                                  char aside[SAGOI_CKPT_PATH]) SAGOI_CHECKED;
/* Writes a whole small file under a name that nobody else has: of all processes that try, one wins, whatever the
 * delays.  *won is right even if the answer of the call was lost on its way (NFS).  Durable once the directory is
 * synced. */
sago_status sagoi_cfile_claim(const char *dir, const char *name, const void *data, int64_t len, bool *won)
    SAGOI_CHECKED;
/* Reads a whole file of at most `most` bytes; the caller frees *data.  SAGO_ERR_BAD_FILE: the file is longer. */
sago_status sagoi_cfile_load(const char *path, int64_t most, char **data, int64_t *len) SAGOI_CHECKED;

/* Ends the name of a file that sagoi_cfile_publish() is writing. */
#define SAGOI_ASIDE_SUFFIX ".aside"

#endif
