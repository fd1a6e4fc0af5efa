/* Blocks of arrays, as callers give them. */
#ifndef SAGOI_ARRAY_H
#define SAGOI_ARRAY_H

#include <sago/sago.h>

#include "engine/compose.h"

/* Where this rank's block of the array lies, in memory at `data`, checked; *any: is there one?  What the array
 * points to must stay. */
sago_status sagoi_array_place(const sago_array *array, char *data, sagoi_block_place *place, bool *any)
    SAGOI_CHECKED;
/* Adds this rank's block of the array, in memory at `data`, checked. */
sago_status sagoi_compose_array(sagoi_composed *composed, const sago_array *array, char *data) SAGOI_CHECKED;

#endif
