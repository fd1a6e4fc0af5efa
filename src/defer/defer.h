/* Deferred writes (hint sago_defer): a collective write copies its data and returns, and many of them are fused
 * (fuse.h) and moved as one, at a call whose number all ranks know (plan/deferral.h).
 *
 * Collective calls move what all ranks have put off.  A rank writes its own part by itself in independent
 * calls, when its room is used up, and when the data is older than sago_defer_age.  While a collective call
 * moves data, no rank puts anything off or writes by itself. */
#ifndef SAGOI_DEFER_H
#define SAGOI_DEFER_H

#include "engine/engine.h"
#include "engine/file.h"

/* Local; sets file->deferred and the file's stage if writes may be put off.  A write that is put off usually meets
 * no other rank: its errors are reported to all ranks by the call in which they next meet. */
sago_status sagoi_pending_create(sago_file *file) SAGOI_CHECKED;
/* Drops the data that is still there; fine if the file defers nothing.  The file's thread must have ended. */
void sagoi_pending_destroy(sago_file *file);

/* Collective: moves everything deferred to the file.  Data that could not be written stays deferred.  Without
 * communication if no call was put off.  `nonblocking`: a nonblocking call asks for it, so nothing may wait inside
 * MPI.  Also reports the errors of calls that failed on one rank. */
sago_status sagoi_flush(sago_file *file, sago_flush reason, bool nonblocking) SAGOI_CHECKED;

/* Local: writes what this rank has deferred.  Another thread may be in a collective call on the file. */
sago_status sagoi_flush_own(sago_file *file) SAGOI_CHECKED;
/* Does the same for all files of this process with this path.  Data that could not be written stays deferred. */
void sagoi_flush_named(const char *path);
void sagoi_count_own(const sago_file *file,
                     int64_t flushes[SAGO_FLUSH_COUNT]); /* adds the number of such writes, by reason */

#endif
