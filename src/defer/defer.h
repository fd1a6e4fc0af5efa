/* Deferred writes (hint sago_defer): a collective write copies its data and returns; many of them are fused
 * (fuse.h) and moved as one, at a call whose number all ranks know (pace.h).
 *
 * Collective calls move what all ranks have.  At local ones, when its room is used up, and when the data is older
 * than sago_defer_age, a rank writes its own part by itself.  Whenever a collective call moves data, nothing is
 * put off on any rank, and nobody is writing by itself. */
#ifndef SAGOI_DEFER_H
#define SAGOI_DEFER_H

#include "engine/engine.h"
#include "engine/file.h"

/* Local; sets file->deferred if writes are to be put off. */
sago_status sagoi_pending_create(sago_file *file) SAGOI_CHECKED;
/* Drops whatever is still there; fine on a file without.  The file's thread is gone. */
void sagoi_pending_destroy(sago_file *file);

/* Collective, in place of sagoi_engine_run(), but as a rule without meeting anybody: then errors are told by the
 * call in which the ranks meet next, to all of them. */
sago_status sagoi_defer_write(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes)
    SAGOI_CHECKED;

/* Collective: everything deferred is in the file.  What could not be written stays deferred.  No communication
 * when no call was put off.  Also tells all ranks of calls that failed on one of them. */
sago_status sagoi_flush(sago_file *file, sago_flush reason) SAGOI_CHECKED;

/* Local: what this rank has deferred is in the file.  Another thread may be in a collective call on the file. */
sago_status sagoi_flush_own(sago_file *file) SAGOI_CHECKED;
void sagoi_count_own(const sago_file *file,
                     int64_t flushes[SAGO_FLUSH_COUNT]); /* adds how often it did, and why */

#endif
