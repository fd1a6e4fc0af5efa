/* Deferred writes (hint sago_defer): a collective write copies its data and returns; many of them are fused
 * (fuse.h) and moved as one, at a call whose number all ranks know (plan/deferral.h).
 *
 * Collective calls move what all ranks have.  At local ones, when its room is used up, and when the data is older
 * than sago_defer_age, a rank writes its own part by itself.  Whenever a collective call moves data, nothing is
 * put off on any rank, and nobody is writing by itself. */
#ifndef SAGOI_DEFER_H
#define SAGOI_DEFER_H

#include "engine/engine.h"
#include "engine/file.h"

/* Local; sets file->deferred, and the file's stage, if writes may be put off.  A write that is put off meets
 * nobody as a rule: then its errors are told by the call in which the ranks meet next, to all of them. */
sago_status sagoi_pending_create(sago_file *file) SAGOI_CHECKED;
/* Drops whatever is still there; fine on a file without.  The file's thread is gone. */
void sagoi_pending_destroy(sago_file *file);

/* Collective: everything deferred is in the file.  What could not be written stays deferred.  No communication
 * when no call was put off.  `nonblocking`: for a nonblocking call, so that nothing may wait inside MPI.  Also
 * tells all ranks of calls that failed on one of them. */
sago_status sagoi_flush(sago_file *file, sago_flush reason, bool nonblocking) SAGOI_CHECKED;

/* Local: what this rank has deferred is in the file.  Another thread may be in a collective call on the file. */
sago_status sagoi_flush_own(sago_file *file) SAGOI_CHECKED;
/* The same, of all files of this process that are the one of this name.  What could not be written stays deferred.
 */
void sagoi_flush_named(const char *path);
void sagoi_count_own(const sago_file *file,
                     int64_t flushes[SAGO_FLUSH_COUNT]); /* adds how often it did, and why */

#endif
