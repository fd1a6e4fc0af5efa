/* What aggregators of one storage target cost each other in locks.
 *
 * Lustre's server gives a client all of a target's part of the file (its object) that nobody else holds or waits
 * for, upwards to the end.  So an aggregator that goes on where it ended in the object has the lock already; one
 * that goes on behind another node's data has to have it taken back, and waits until the holder's data is stored.
 * Nodes, not processes, hold locks.
 *
 *   the first time  a node comes to a target it waits for one holder, side by side with all that come then: what
 *                   they ask for does not overlap, so the server grants it to all of them at once
 *   every time      its next part lies behind another node's (stripes dealt out to several aggregators of a
 * target) the lock goes from one to the next of them, one after another
 *
 * Where locks do not go in turn (costs.h: in_turn) there is nothing of this. */
#ifndef SIM_LOCKS_H
#define SIM_LOCKS_H

#include "sim/sim_engine.h"

typedef struct sim_locks sim_locks;

/* Do those who want locks at one storage target wait one after another? */
bool sim_locks_in_turn(const sim_case *c);
/* Seconds until another node has given a target's lock up, if it is storing so many bytes there. */
double sim_locks_handover(const sim_case *c, double bytes);

/* Looks at every window of the layout.  NULL without `why`: nobody waits for locks. */
sim_locks *sim_locks_create(const sim_case *c, const sim_layout *layout, char *why);
void sim_locks_destroy(sim_locks *locks);
/* Fills seconds[aggregators] with what each waits for locks in the round. */
void sim_locks_wait(sim_locks *locks, int64_t round, double *seconds);

#endif
