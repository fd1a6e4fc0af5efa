/* Constructors applied to patterns: from the part's pattern to that of the whole.  No MPI calls.
 * Shared by the files of this folder only. */
#ifndef SAGOI_COMBINE_H
#define SAGOI_COMBINE_H

#include "view/contents.h"
#include "view/flatten.h"

sago_status sagoi_fail_offsets(void); /* the status of an offset that does not fit */

/* One run that the next part at distance `stride` would follow at once? */
static inline bool sagoi_pattern_solid(const sagoi_pattern *part, int64_t stride) {
    return part->npieces > 0 && sagoi_pattern_contiguous(part) && part->pieces[0].len == stride;
}

/* All constructors with one part, by their contents.  `whole` is initialised before, and on success finished
 * after; else the caller cleans it up. */
sago_status sagoi_combine(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole)
    SAGOI_CHECKED;

/* Of these, subarray and darray. */
sago_status sagoi_combine_subarray(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole)
    SAGOI_CHECKED;
sago_status sagoi_combine_darray(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole)
    SAGOI_CHECKED;

#endif
