/* The local tier: collective writes go to one file for each storage neighbourhood, and later to the global file.
 *
 * The local file is a sparse image of the global one: the same offsets.  What is in it is known by the calls that
 * put it there, which every rank remembers as they were made: a view and a place in it, or extents.  Merging makes
 * them again, in their order, from the local file to the global one.  So of two writes to one byte the later call
 * wins, also between neighbourhoods; and nothing that nobody wrote is written.
 *
 * Independent writes go to the local file, too, and are remembered by their rank alone; they come after the
 * collective calls before them.  Whatever other collective call is made first merges (nonblocking ones when their
 * turn comes; what a rank writes alone meanwhile waits for the next merge).  Independent reads cannot: a rank
 * knows its own calls, and of collective ones where they wrote, so it finds out byte by byte where the latest data
 * is, or that it cannot know (tier_read.c).
 *
 * What calls there were is known to the ranks alone until sago_sync_local() writes it down (tier_persist.c); then
 * the next job that opens the file finds what is local (tier_found.c).  Local files of jobs that died before that
 * are of no use: their names are random, so that nobody takes them for data, and who opens a file with a tier
 * later removes them. */
#ifndef SAGOI_TIER_H
#define SAGOI_TIER_H

#include "engine/compose.h"
#include "engine/file.h"

typedef struct sagoi_local_tier sagoi_local_tier;

/* Opens a file with these hints, collectively; sago_close() closes it. */
typedef sago_status sagoi_open_fn(MPI_Comm comm, const char *path, int amode, const sagoi_hints *hints,
                                  sago_file **file);

/* Collective, on a file that is otherwise open: finds the neighbourhoods, opens their files, and is the file's
 * stage from then on.  If any neighbourhood's storage fails in a write (it is full, say), all that is local is
 * merged, and the write goes to the global file. */
sago_status sagoi_tier_open(sago_file *file, sagoi_open_fn *open_file) SAGOI_CHECKED;
/* Collective.  Removes the local files, with what is in them. */
sago_status sagoi_tier_close(sago_file *file);
/* Local.  Removes a global file; what jobs have left of it in local storage is not wanted any more. */
sago_status sagoi_tier_remove_global(const char *path) SAGOI_CHECKED;
/* Frees; no communication. */
void sagoi_tier_destroy(sago_file *file);

/* Where the file ends when all is merged, as far as this rank knows; 0: no further than it does. */
int64_t sagoi_tier_end(const sago_file *file);
/* Collective.  `nonblocking`: for a nonblocking call, so that nothing may wait inside MPI. */
sago_status sagoi_tier_merge(sago_file *file, bool nonblocking) SAGOI_CHECKED;
/* The file's view is about to be replaced: true if it is kept here, for merging. */
bool sagoi_tier_keep_view(sago_file *file);
/* Collective.  What is local is on the device. */
sago_status sagoi_tier_sync(sago_file *file) SAGOI_CHECKED;

#endif
