/* Where the ranks of a file run, asked once for all files of the same ranks. */
#ifndef SAGOI_JOB_NETWORK_H
#define SAGOI_JOB_NETWORK_H

#include "base/hints.h"
#include "machine/discover.h"
#include "move/circle.h"
#include "move/team.h"

typedef struct sagoi_job_network {
    sagoi_circle_note note;
    uint64_t fingerprint;                                         /* of what was found; never 0 */
    char machine[SAGOI_HINT_TEXT_MAX], site[SAGOI_HINT_TEXT_MAX]; /* the hints it was asked with */
    sagoi_surroundings found;
    int64_t place[]; /* of each node of the team */
} sagoi_job_network;

/* What these ranks found when they were asked with the same hints; NULL: they were not.  Other threads may be
 * asking, so ranks compare fingerprints before they rely on it. */
const sagoi_job_network *sagoi_job_network_recall(const sagoi_team *team, const sagoi_hints *hints);

/* Collective; the hints are the same on all ranks, and so is the status.  Kept with the circle. */
sago_status sagoi_job_network_ask(sagoi_team *team, const sagoi_hints *hints, const sagoi_job_network **network)
    SAGOI_CHECKED;

/* Hints that were left to Sago take the value that the site file gives: sago_local_dirs. */
void sagoi_job_network_fill(const sagoi_job_network *network, sagoi_hints *hints);

#endif
