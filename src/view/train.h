/* Constructors applied to a part that is one train: no memory is needed, and most small types are nothing else.
 * Shared by the files of this folder only. */
#ifndef SAGOI_TRAIN_H
#define SAGOI_TRAIN_H

#include "view/contents.h"

/* Runs of one length at one stride, as in extent/pattern.h. */
typedef struct sagoi_train {
    int64_t off, len;
    int64_t count; /* > 0 */
    int64_t stride;
} sagoi_train;

/* `count` trains, each `distance` further than the one before, as one; false: they are not one, or do not fit. */
bool sagoi_train_repeat(sagoi_train *train, int64_t count, int64_t distance);
bool sagoi_train_move(sagoi_train *train, int64_t distance); /* false: it does not fit */

/* One copy of the part, at a distance in bytes: the part's extent says nothing about it. */
bool sagoi_combines_one(const sagoi_contents *contents);

/* What the constructor makes of a part of this extent, in the part's place; false: not one train, or an error, and
 * the train may be anything. */
bool sagoi_combine_train(const sagoi_contents *contents, int64_t extent, sagoi_train *train);

#endif
