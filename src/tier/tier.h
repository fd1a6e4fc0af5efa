/* The local tier (a burst buffer on the nodes): collective writes go to one file for each storage
 * neighbourhood, and later to the global file.
 *
 * The local file is a sparse image of the global one, with the same offsets.  Every rank keeps a log of the
 * calls that wrote to the local file, as the calls were made: a view and a place in the view, or extents.
 * Merging repeats the calls of the log in their order, reading from the local file and writing to the global
 * one.  So of two writes to one byte the later call wins, also between neighbourhoods, and no byte is written
 * that no call wrote.
 *
 * Independent writes go to the local file, too, and only their own rank logs them; they come after the
 * collective calls before them.  Any other collective call merges first.  A nonblocking call merges when its
 * turn comes, and what a rank writes by independent calls meanwhile waits for the next merge.  Independent
 * reads cannot merge: a rank knows its own calls, and of collective calls the range, so it finds out byte by
 * byte where the latest data is, or that nobody on this rank can know (tier_read.c).
 *
 * Only the ranks know the log until sago_sync_local() writes it down (tier_persist.c); then the next job that
 * opens the file finds the local data (tier_found.c).  Local files of a job that died before that are of no
 * use.  Their names are random, so that no job takes them for data, and the next job that opens a file with a
 * tier removes them. */
#ifndef SAGOI_TIER_H
#define SAGOI_TIER_H

#include "engine/compose.h"
#include "engine/file.h"

typedef struct sagoi_local_tier sagoi_local_tier;

/* Opens a file with these hints, collectively; sago_close() closes it. */
typedef sago_status sagoi_open_fn(MPI_Comm comm, const char *path, int amode, const sagoi_hints *hints,
                                  sago_file **file);

/* Collective, on a file that is otherwise open: finds the neighbourhoods, opens their files, and becomes the
 * file's stage.  If the storage of any neighbourhood fails in a write (because the storage is full, say), all
 * local data is merged, and the write goes to the global file. */
sago_status sagoi_tier_open(sago_file *file, sagoi_open_fn *open_file) SAGOI_CHECKED;
/* Collective.  Removes the local files with their contents. */
sago_status sagoi_tier_close(sago_file *file);
/* Local.  Removes a global file.  Data that jobs have left for that file in local storage then counts as
 * unwanted. */
sago_status sagoi_tier_remove_global(const char *path) SAGOI_CHECKED;
/* Frees the tier without communication. */
void sagoi_tier_destroy(sago_file *file);

/* Where the global file will end when all data is merged, as far as this rank knows; 0: the merge makes it no
 * longer. */
int64_t sagoi_tier_end(const sago_file *file);
/* Collective.  Merges all local data.  `nonblocking`: a nonblocking call asks for the merge, so nothing may wait
 * inside MPI. */
sago_status sagoi_tier_merge(sago_file *file, bool nonblocking) SAGOI_CHECKED;
/* Called before the file's view is replaced.  True: the log still refers to the view, so the tier keeps the
 * view. */
bool sagoi_tier_keep_view(sago_file *file);
/* Collective.  Makes the local data durable on its device. */
sago_status sagoi_tier_sync(sago_file *file) SAGOI_CHECKED;

#endif
