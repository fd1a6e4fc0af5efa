/* What the public functions share: checking handles, and saying which call failed. */
#ifndef SAGOI_HANDLE_H
#define SAGOI_HANDLE_H

#include "engine/engine.h"
#include "engine/file.h"

/* Is MPI running, and is it the library that Sago was built with?  A local error. */
sago_status sagoi_check_library(void) SAGOI_CHECKED;
/* Can this communicator be used?  A local error. */
sago_status sagoi_check_comm(MPI_Comm comm) SAGOI_CHECKED;
/* Collective: the team of a communicator, to be released, and zeroed memory for what is opened there, to be freed.
 */
sago_status sagoi_handle_create(MPI_Comm comm, size_t bytes, sagoi_team **team, void **handle) SAGOI_CHECKED;
/* Defaults, the environment, and what the info object says. */
sago_status sagoi_take_hints(sagoi_hints *hints, MPI_Info info) SAGOI_CHECKED;
/* A number that is the same on all ranks when the bytes are, to be agreed on by maximum. */
int64_t sagoi_positive_hash(const void *data, int64_t bytes);

/* SAGO_ERR_HANDLE, a local error, if this is no open file. */
sago_status sagoi_check_file(const sago_file *file) SAGOI_CHECKED;

/* The same for a collective call, which the nonblocking ones before it on this file must not meet: waits for them
 * first.  What is in local storage is merged first, but not for a call that looks at no data. */
sago_status sagoi_check_collective(sago_file *file) SAGOI_CHECKED;
sago_status sagoi_check_unmerged(sago_file *file) SAGOI_CHECKED;

/* May the file be written to, or read from? */
sago_status sagoi_check_access(const sago_file *file, sagoi_direction direction) SAGOI_CHECKED;

/* Can the other ranks not be asked any more?  Then a rank closes and frees alone. */
static inline bool sagoi_beyond_agreeing(sago_status status) {
    return status == SAGO_ERR_PEER || status == SAGO_ERR_MPI;
}

/* Ends every public call: clears the message, or says in it which call failed on which file. */
sago_status sagoi_done(const char *call, const char *path, sago_status status);

/* sago_open() for another call, which its messages name. */
sago_status sagoi_open_for(const char *call, MPI_Comm comm, const char *path, int amode, MPI_Info hints,
                           sago_file **file) SAGOI_CHECKED;

/* sago_open() with these hints. */
sago_status sagoi_open_hinted(MPI_Comm comm, const char *path, int amode, const sagoi_hints *hints,
                              sago_file **file) SAGOI_CHECKED;

/* The same on a store that each rank has, which is the file's from then on, also on failure: for collective
 * writes. */
struct sagoi_store;
sago_status sagoi_open_on_store(MPI_Comm comm, const char *name, const sagoi_hints *hints,
                                struct sagoi_store *store, sago_file **file) SAGOI_CHECKED;

/* Collective.  What the environment or the site file names where nobody names a directory: the first of
 * sago_local_dirs; "" if there is none. */
sago_status sagoi_default_local_dir(sagoi_team *team, char *dir, size_t capacity) SAGOI_CHECKED;

/* Frees a series without communication. */
void sagoi_series_destroy(struct sago_series *series);

#endif
