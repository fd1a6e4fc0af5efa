/* Files and names of which every call may hang: those of checkpoints, and the records of the local tier.  Paths
 * are whole; failures carry the path and the reason.  Never calls MPI: everything may run in a writer's thread.
 *
 * Nothing here takes longer than the patience of the directory that a path is in, if it is watched
 * (system/watch.h): SAGO_ERR_TIMEOUT.  Then nobody knows whether it happened, and it may still happen. */
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

/* "dir/name"; false if it does not fit. */
bool sagoi_path_join(char path[SAGOI_CKPT_PATH], const char *dir, const char *name);

/* A relative path is put behind the current directory, so that it stays the same when the program goes elsewhere.
 * Where that does not fit, or there is no such directory, it stays as it is. */
void sagoi_path_fix(char path[SAGOI_CKPT_PATH]);

/* The one name of what is there that has no symbolic links in it; stays as it is where that does not fit. */
sago_status sagoi_path_resolve(char path[SAGOI_CKPT_PATH]) SAGOI_CHECKED;

typedef enum {
    SAGOI_CFILE_READ,
    SAGOI_CFILE_CREATE,    /* must not exist */
    SAGOI_CFILE_OVERWRITE, /* made if it does not exist; contents kept */
    SAGOI_CFILE_UPDATE,    /* must exist; contents kept */
    SAGOI_CFILE_APPEND,    /* made if it does not exist; may be something else than a regular file */
} sagoi_cfile_mode;

sago_status sagoi_cfile_open(const char *path, sagoi_cfile_mode mode, sagoi_cfile *file) SAGOI_CHECKED;
sago_status sagoi_cfile_write(sagoi_cfile *file, const void *data, int64_t len, int64_t off) SAGOI_CHECKED;
/* The same from lent memory, which stays where it is, also after SAGO_ERR_TIMEOUT: the data is not copied. */
sago_status sagoi_cfile_write_lent(sagoi_cfile *file, const void *data, int64_t len, int64_t off) SAGOI_CHECKED;
/* *got < len: the file ended. */
sago_status sagoi_cfile_read(sagoi_cfile *file, void *data, int64_t len, int64_t off, int64_t *got) SAGOI_CHECKED;
sago_status sagoi_cfile_size(sagoi_cfile *file, int64_t *size) SAGOI_CHECKED;
/* fsync; a failure is final: what was written may be gone, whatever a second try says. */
sago_status sagoi_cfile_sync(sagoi_cfile *file) SAGOI_CHECKED;
sago_status sagoi_cfile_close(sagoi_cfile *file); /* fine when not open */

sago_status sagoi_cdir_make(const char *path) SAGOI_CHECKED; /* fine if it exists */
sago_status sagoi_cdir_sync(const char *path)
    SAGOI_CHECKED; /* names made, changed and removed in it are durable */
/* The same for the name of a directory itself; where its parent may not be opened, nothing can be done. */
sago_status sagoi_cdir_sync_parent(const char *path) SAGOI_CHECKED;
sago_status sagoi_cdir_remove(const char *path) SAGOI_CHECKED; /* an empty one; fine if it does not exist */
sago_status sagoi_path_rename(const char *from, const char *to) SAGOI_CHECKED;
sago_status sagoi_path_remove(const char *path) SAGOI_CHECKED; /* fine if it does not exist */
void sagoi_path_discard(const char *path);                     /* the same, as well as it goes */
sago_status sagoi_path_stat(const char *path, struct stat *info) SAGOI_CHECKED;
/* The same of the name itself: a symbolic link is not followed. */
sago_status sagoi_path_look(const char *path, struct stat *info) SAGOI_CHECKED;
sago_status sagoi_path_there(const char *path, bool *there) SAGOI_CHECKED;
sago_status sagoi_path_free_space(const char *path, int64_t *bytes) SAGOI_CHECKED;

/* Calls `each` for every name that is there, but . and .., until one returns an error. */
typedef sago_status (*sagoi_name_fn)(void *arg, const char *name);
sago_status sagoi_cdir_list(const char *path, sagoi_name_fn each, void *arg) SAGOI_CHECKED;

/* A whole small file: written aside under an unguessable name, fsynced, renamed.  Durable once the directory is
 * synced. */
sago_status sagoi_cfile_publish(const char *dir, const char *name, const void *data, int64_t len) SAGOI_CHECKED;
/* The first half of it: `aside` is the name that it has now, to be renamed or discarded. */
sago_status sagoi_cfile_put_aside(const char *dir, const char *name, const void *data, int64_t len,
                                  char aside[SAGOI_CKPT_PATH]) SAGOI_CHECKED;
/* A whole small file under a name that nobody has: of all who try, one wins, whatever the delays.  *won is right
 * also where the answer of the call was lost on its way (NFS).  Durable once the directory is synced. */
sago_status sagoi_cfile_claim(const char *dir, const char *name, const void *data, int64_t len, bool *won)
    SAGOI_CHECKED;
/* A whole file of at most `most` bytes, to be freed.  SAGO_ERR_BAD_FILE: it is longer. */
sago_status sagoi_cfile_load(const char *path, int64_t most, char **data, int64_t *len) SAGOI_CHECKED;

/* What sagoi_cfile_publish() calls a file while it is being written. */
#define SAGOI_ASIDE_SUFFIX ".aside"

#endif
