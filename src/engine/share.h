/* The part of a node's memory that a file may use, beside other files and other ranks. */
#ifndef SAGOI_SHARE_H
#define SAGOI_SHARE_H

#include "engine/file.h"

/* This rank's part for each of its open files; the leader sums the parts of the file's ranks on the node. */
int64_t sagoi_share_part(void);
/* The memory that a plan may use on this node: of the hint, or else a modest share of what is free.  `parts` is
 * the sum of the ranks' parts. */
int64_t sagoi_share_of_node(sago_file *file, int64_t parts);
/* Called when a plan was made with so much memory on this node. */
void sagoi_share_apply(sago_file *file, int64_t memory);

/* Have more files been opened since, so that this file's windows are more than its share? */
bool sagoi_share_exceeded(const sago_file *file);
/* Collective, after an agreement: frees the windows, and the plans that need them. */
void sagoi_share_give_back(sago_file *file);

#endif
