/* Checks of blocks of arrays, as callers give them. */
#ifndef SAGOI_ARRAY_H
#define SAGOI_ARRAY_H

#include <sago/sago.h>

#include "engine/compose.h"

/* Checks the array, and finds the place of this rank's block, in the file and in memory at `data`; *any: this rank
 * has a block.  The place points into the array's arguments. */
sago_status sagoi_array_place(const sago_array *array, char *data, sagoi_block_place *place, bool *any)
    SAGOI_CHECKED;
/* Adds this rank's block of the array, in memory at `data`, after checking it. */
sago_status sagoi_compose_array(sagoi_composed *composed, const sago_array *array, char *data) SAGOI_CHECKED;

#endif
