/* Where the ranks of a file run, found out once for all files of the same ranks. */
#ifndef SAGOI_JOB_NETWORK_H
#define SAGOI_JOB_NETWORK_H

#include "base/hints.h"
#include "machine/discover.h"
#include "move/circle.h"
#include "move/team.h"

typedef struct sagoi_job_network {
    sagoi_circle_note note;
    uint64_t fingerprint;                                         /* fingerprint of the answer; never 0 */
    char machine[SAGOI_HINT_TEXT_MAX], site[SAGOI_HINT_TEXT_MAX]; /* the hints that the question was asked with */
    sagoi_surroundings found;
    int64_t place[]; /* the place of each node of the team */
} sagoi_job_network;

/* The answer that these ranks got earlier for the same hints; NULL: there is none.  Other threads may be asking,
 * so the ranks compare fingerprints before they use an answer. */
const sagoi_job_network *sagoi_job_network_recall(const sagoi_team *team, const sagoi_hints *hints);

/* Collective; the hints must be equal on all ranks, and so is the status.  The answer is kept with the circle. */
sago_status sagoi_job_network_ask(sagoi_team *team, const sagoi_hints *hints, const sagoi_job_network **network)
    SAGOI_CHECKED;

/* Fills in hints that were left to Sago and that the site file sets: sago_local_dirs. */
void sagoi_job_network_fill(const sagoi_job_network *network, sagoi_hints *hints);

#endif
