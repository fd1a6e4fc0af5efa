/* The load on routes: what the domains that were placed so far bring over the links that many nodes share, and
 * what that would cost one more (000, VI: its future work).
 *
 * C1 + C2 of a domain is its cost on an idle network.  Two domains whose bytes cross the same link wait for each
 * other, so a host costs C3 more:
 *
 *     C3 = what the busiest of the shared links on the way to it carries beyond its even share, / bandwidth
 *
 * Counted are the links that most nodes share, not each link of a path:
 *   fat tree   from the top switch down to the subtrees below it, of which a place has its own; none, unless they
 *              are fewer than the places there
 *   dragonfly  from each group to each other one: one link a pair
 *   torus      those of the last dimension, over which bytes arrive that were routed dimension by dimension: all
 *              that is aggregated in a line of places comes over its links, of which two lead to each place, or
 *              one where a line has two places
 *
 * A link's even share is what it would carry if all domains were spread evenly
 * over the nodes, in whole domains: an even spread costs nothing. */
#ifndef SAGOI_LOADS_H
#define SAGOI_LOADS_H

#include "plan/draft.h"

typedef struct sagoi_loads sagoi_loads;

/* *loads becomes NULL where no links are known to be shared. */
sago_status sagoi_loads_create(const sagoi_draft *draft, sagoi_loads **loads) SAGOI_CHECKED;
void sagoi_loads_destroy(sagoi_loads *loads); /* NULL is fine */

void sagoi_loads_begin(sagoi_loads *loads); /* no domain is placed */

/* The domain at hand: its bytes, place by place, then the places that may host it. */
void sagoi_loads_clear(sagoi_loads *loads);
void sagoi_loads_add(sagoi_loads *loads, int64_t place, double bytes);
void sagoi_loads_weigh(sagoi_loads *loads, int64_t place);
/* Is C3 more than 0 for any of those? */
bool sagoi_loads_matter(const sagoi_loads *loads);
/* C3 of a place that was weighed, seconds. */
double sagoi_loads_wait(const sagoi_loads *loads, int64_t place);
/* The domain at hand is aggregated there, and another one like it is at hand. */
void sagoi_loads_carry(sagoi_loads *loads, int64_t place);

#endif
