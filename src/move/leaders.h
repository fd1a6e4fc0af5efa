/* What ranks tell each other by messages, without a communicator of their own: the files of the same ranks share
 * one, and their collective calls may come in another order on each rank (threads, nonblocking calls).  So there
 * is nothing here but messages from one rank to one other, under tags of the file's own. */
#ifndef SAGOI_LEADERS_H
#define SAGOI_LEADERS_H

#include "move/team.h"

/* By every node's leader: *agreement becomes the reduction over the nodes. */
sago_status sagoi_leaders_reduce(sagoi_team *team, sagoi_agreement *agreement) SAGOI_CHECKED;
/* By every node's leader: all[i * bytes] becomes what node i has in `mine`. */
sago_status sagoi_leaders_gather(sagoi_team *team, const void *mine, int64_t bytes, void *all) SAGOI_CHECKED;
/* The same, but only node 0 gets all of it; the others need the room, too. */
sago_status sagoi_leaders_collect(sagoi_team *team, const void *mine, int64_t bytes, void *all) SAGOI_CHECKED;
/* By every node's leader: the leader of node `from` has `data`, and all get them. */
sago_status sagoi_leaders_tell(sagoi_team *team, int from, void *data, int64_t bytes) SAGOI_CHECKED;
/* By every rank of the team: rank 0 has `data`, and all get them. */
sago_status sagoi_team_tell(sagoi_team *team, void *data, int64_t bytes) SAGOI_CHECKED;

#endif
