/* Which ranks share a directory: the three ways to find out, on top of probe.h. */
#ifndef SAGOI_NEIGHBOURHOOD_H
#define SAGOI_NEIGHBOURHOOD_H

#include <sago/storage.h>

#include "move/team.h"

/* Collective over the team.  *first becomes the lowest rank of those that share the directory with this one: the
 * same number for all of a neighbourhood, and for nobody else.  *stats: of all ranks. */
sago_status sagoi_storage_discover(sagoi_team *team, const char *dir, sago_storage_mode mode, int *first,
                                   sago_storage_stats *stats) SAGOI_CHECKED;

/* Collective.  128 random bits for names that nobody can guess: rank 0's, on all ranks.  `status` is what a rank
 * found wrong before; then it is everybody's. */
sago_status sagoi_storage_draw(sagoi_team *team, sago_status status, uint64_t random[2]) SAGOI_CHECKED;

#endif
