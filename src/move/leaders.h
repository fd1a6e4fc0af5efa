/* What ranks tell each other by point-to-point messages, under tags of the file's own.  The files of the same
 * ranks share one communicator, and their collective calls may come in different orders on different ranks
 * (threads, nonblocking calls), so collective calls of MPI cannot be used there. */
#ifndef SAGOI_LEADERS_H
#define SAGOI_LEADERS_H

#include "move/team.h"

/* Called by the leader of every node: *agreement becomes the reduction over the nodes. */
sago_status sagoi_leaders_reduce(sagoi_team *team, sagoi_agreement *agreement) SAGOI_CHECKED;
/* Called by the leader of every node: all[i * bytes] becomes what node i has in `mine`. */
sago_status sagoi_leaders_gather(sagoi_team *team, const void *mine, int64_t bytes, void *all) SAGOI_CHECKED;
/* Does the same, but only node 0 gets the result; the others need the room, too. */
sago_status sagoi_leaders_collect(sagoi_team *team, const void *mine, int64_t bytes, void *all) SAGOI_CHECKED;
/* Called by the leader of every node: the leader of node `from` has `data`, and all leaders get it. */
sago_status sagoi_leaders_tell(sagoi_team *team, int from, void *data, int64_t bytes) SAGOI_CHECKED;
/* Called by every rank of the team: rank 0 has `data`, and all ranks get it. */
sago_status sagoi_team_tell(sagoi_team *team, void *data, int64_t bytes) SAGOI_CHECKED;

#endif
