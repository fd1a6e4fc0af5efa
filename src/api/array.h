/* Blocks of arrays, as callers give them. */
#ifndef SAGOI_ARRAY_H
#define SAGOI_ARRAY_H

#include <sago/sago.h>

#include "engine/compose.h"

/* Adds this rank's block of the array, in memory at `data`, checked. */
sago_status sagoi_compose_array(sagoi_composed *composed, const sago_array *array, char *data) SAGOI_CHECKED;

#endif
