/* Deferred writes (hint sago_defer): collective writes keep a packed copy of their data at the rank it came from,
 * and are moved together later, as if they had been declared together. */
#ifndef SAGOI_DEFER_H
#define SAGOI_DEFER_H

#include "engine/engine.h"
#include "engine/file.h"

/* Local; sets file->deferred. */
sago_status sagoi_pending_create(sago_file *file) SAGOI_CHECKED;
/* Drops whatever is still there; fine on a file without. */
void sagoi_pending_destroy(sago_file *file);

/* Collective, in place of sagoi_engine_run().  Takes over what `composed` owns, if it can be put off. */
sago_status sagoi_defer_write(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes)
    SAGOI_CHECKED;

/* Collective: everything deferred is in the file, in the order of the calls where they overlap.  What could not be
 * written stays deferred.  No communication when nothing is. */
sago_status sagoi_flush(sago_file *file, sago_flush reason) SAGOI_CHECKED;

/* Local: what this rank has deferred is in the file.  Another thread may be in a collective call on the file. */
sago_status sagoi_flush_own(sago_file *file) SAGOI_CHECKED;
int64_t sagoi_own_flushes(const sago_file *file); /* how often it had something to write */

/* Takes a view that is replaced: deferred calls may still need its pattern.  Else frees it. */
void sagoi_pending_keep_view(sago_file *file, sagoi_view *view);

#endif
