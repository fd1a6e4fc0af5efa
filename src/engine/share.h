/* Which part of a node's memory a file may use, beside other files and other ranks. */
#ifndef SAGOI_SHARE_H
#define SAGOI_SHARE_H

#include "engine/file.h"

/* This rank's part for each of its open files; to be summed over the file's ranks on the node. */
int64_t sagoi_share_part(void);
/* What a plan may use on this node, `parts` being those of the node's ranks: of the hint, or a modest share of
 * what is free now. */
int64_t sagoi_share_of_node(sago_file *file, int64_t parts);
/* The file was planned for on all ranks: its memory on this node is known. */
void sagoi_share_apply(sago_file *file, int64_t memory);

/* Have more files been opened since, so that the windows of this one are more than its share? */
bool sagoi_share_exceeded(const sago_file *file);
/* Collective, by agreement: the windows go, and the plans that need them. */
void sagoi_share_give_back(sago_file *file);

#endif
