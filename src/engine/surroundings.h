/* Where the ranks of a file run, asked once for each communicator. */
#ifndef SAGOI_SURROUNDINGS_H
#define SAGOI_SURROUNDINGS_H

#include "base/hints.h"
#include "machine/discover.h"
#include "move/team.h"

typedef struct sagoi_whereabouts {
    char machine[SAGOI_HINT_TEXT_MAX], site[SAGOI_HINT_TEXT_MAX]; /* the hints it was asked with */
    sagoi_surroundings found;
    int64_t place[]; /* of each node of the team */
} sagoi_whereabouts;

/* Collective; the hints are the same on all ranks, and so is the status.  Kept with the team until it is asked
 * with other hints. */
sago_status sagoi_surroundings_ask(sagoi_team *team, const sagoi_hints *hints, const sagoi_whereabouts **known)
    SAGOI_CHECKED;

/* Hints that were left to Sago take the value that the site file gives: sago_local_dirs. */
void sagoi_surroundings_fill(const sagoi_whereabouts *known, sagoi_hints *hints);

#endif
