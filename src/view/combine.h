/* Constructors applied to patterns: from the pattern of the part to that of the whole.  No MPI calls.  Used by the
 * files of this folder only. */
#ifndef SAGOI_COMBINE_H
#define SAGOI_COMBINE_H

#include "view/contents.h"
#include "view/flatten.h"

sago_status sagoi_fail_offsets(void); /* fails because an offset does not fit */

/* Is the part one run that the next part, at distance `stride`, follows at once? */
static inline bool sagoi_pattern_solid(const sagoi_pattern *part, int64_t stride) {
    return part->npieces > 0 && sagoi_pattern_contiguous(part) && part->pieces[0].len == stride;
}

/* Applies any constructor with one part.  `whole` must be initialised; on success it is finished, else the caller
 * cleans it up. */
sago_status sagoi_combine(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole)
    SAGOI_CHECKED;

/* Two of these constructors, in array.c: subarray and darray. */
sago_status sagoi_combine_subarray(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole)
    SAGOI_CHECKED;
sago_status sagoi_combine_darray(const sagoi_contents *contents, const sagoi_flat *part, sagoi_pattern *whole)
    SAGOI_CHECKED;

#endif
