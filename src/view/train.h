/* Constructors applied to a part that is one train, as most small types are: no memory is needed.  Used by the
 * files of this folder only. */
#ifndef SAGOI_TRAIN_H
#define SAGOI_TRAIN_H

#include "view/contents.h"

/* Runs of one length at one stride, as in extent/pattern.h. */
typedef struct sagoi_train {
    int64_t off, len;
    int64_t count; /* > 0 */
    int64_t stride;
} sagoi_train;

/* `count` trains, each `distance` further than the one before, as one train; false: they are not one, or do not
 * fit. */
bool sagoi_train_repeat(sagoi_train *train, int64_t count, int64_t distance);
bool sagoi_train_move(sagoi_train *train, int64_t distance); /* false: the offset does not fit */

/* Is there one copy of the part, at a distance in bytes?  Then the part's extent does not matter. */
bool sagoi_combines_one(const sagoi_contents *contents);

/* Applies the constructor to a train, which is a part of this extent; false: the result is not one train, or an
 * error, and the train has any value. */
bool sagoi_combine_train(const sagoi_contents *contents, int64_t extent, sagoi_train *train);

#endif
