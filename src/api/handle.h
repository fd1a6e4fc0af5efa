/* What the public functions share: checking handles, and naming the failed call in messages. */
#ifndef SAGOI_HANDLE_H
#define SAGOI_HANDLE_H

#include "engine/engine.h"
#include "engine/file.h"

/* Is MPI running, and is it the library that Sago was built with?  A local error. */
sago_status sagoi_check_library(void) SAGOI_CHECKED;
/* Can this communicator be used?  A local error. */
sago_status sagoi_check_comm(MPI_Comm comm) SAGOI_CHECKED;
/* Collective: finds the team of a communicator, and allocates zeroed memory for a handle.  The caller releases the
 * team and frees the memory. */
sago_status sagoi_handle_create(MPI_Comm comm, size_t bytes, sagoi_team **team, void **handle) SAGOI_CHECKED;
/* Sets the hints to their defaults, then to the environment's values, then to those of the info object. */
sago_status sagoi_take_hints(sagoi_hints *hints, MPI_Info info) SAGOI_CHECKED;
/* A number that is equal on all ranks when the bytes are; never negative, so that ranks can compare it by a
 * maximum. */
int64_t sagoi_positive_hash(const void *data, int64_t bytes);

/* SAGO_ERR_HANDLE, a local error: the file is not open. */
sago_status sagoi_check_file(const sago_file *file) SAGOI_CHECKED;

/* The same check at the beginning of a collective call, which first waits for the nonblocking calls on the file
 * that are not done.  The second function leaves data in local storage; the first one merges that data before the
 * call looks at the file. */
sago_status sagoi_check_collective(sago_file *file) SAGOI_CHECKED;
sago_status sagoi_check_unmerged(sago_file *file) SAGOI_CHECKED;

/* Was the file opened for writing, or for reading? */
sago_status sagoi_check_access(const sago_file *file, sagoi_direction direction) SAGOI_CHECKED;

/* Is the team broken, so that the other ranks can no longer be asked?  Then a rank closes and frees alone. */
static inline bool sagoi_beyond_agreeing(sago_status status) {
    return status == SAGO_ERR_PEER || status == SAGO_ERR_MPI;
}

/* Ends every public call: clears the message, or puts the call and the file before it. */
sago_status sagoi_done(const char *call, const char *path, sago_status status);

/* sago_open() inside of another call, which the messages name. */
sago_status sagoi_open_for(const char *call, MPI_Comm comm, const char *path, int amode, MPI_Info hints,
                           sago_file **file) SAGOI_CHECKED;

/* sago_open() with these hints in place of the info object's. */
sago_status sagoi_open_hinted(MPI_Comm comm, const char *path, int amode, const sagoi_hints *hints,
                              sago_file **file) SAGOI_CHECKED;

/* sagoi_open_hinted() on a store that each rank has opened, for collective writes.  The file owns the store from
 * then on, also after a failure. */
struct sagoi_store;
sago_status sagoi_open_on_store(MPI_Comm comm, const char *name, const sagoi_hints *hints,
                                struct sagoi_store *store, sago_file **file) SAGOI_CHECKED;

/* Collective.  The directory to use where the caller names none: the first of sago_local_dirs, from the
 * environment or the site file; "": there is none. */
sago_status sagoi_default_local_dir(sagoi_team *team, char *dir, size_t capacity) SAGOI_CHECKED;

/* Frees a series without communication. */
void sagoi_series_destroy(struct sago_series *series);

#endif
