/* Which ranks share a directory: three ways to find out, by the files of probe_files.h. */
#ifndef SAGOI_NEIGHBOURHOOD_H
#define SAGOI_NEIGHBOURHOOD_H

#include <sago/storage.h>

#include "move/team.h"

/* Collective over the team.  *first becomes the lowest rank of those that share the directory with this one: the
 * same number for a whole neighbourhood, and for no other rank.  *stats: sums over all ranks. */
sago_status sagoi_storage_discover(sagoi_team *team, const char *dir, sago_storage_mode mode, int *first,
                                   sago_storage_stats *stats) SAGOI_CHECKED;

/* Collective.  Rank 0 draws 128 random bits for names that nobody can guess, and all ranks get them.  `status` is
 * what a rank found wrong before; all ranks get that status. */
sago_status sagoi_storage_draw(sagoi_team *team, sago_status status, uint64_t random[2]) SAGOI_CHECKED;

#endif
