/* The load on links that many nodes share: the bytes that the domains placed so far bring over them, and the
 * seconds that this costs one more domain (paper 000, VI, as future work).
 *
 * C1 + C2 of a domain is its cost on an idle network.  Two domains whose bytes cross the same link wait for each
 * other, so the host of a domain costs C3 seconds more:
 *
 *     C3 = the bytes beyond its even share on the busiest shared link on the way to the host, / its bandwidth
 *
 * The even share of a link is what the link would carry if all domains were spread evenly over the nodes, in whole
 * domains.  So an even spread costs nothing.
 *
 * Not every link of a path is counted, only the links that most nodes share:
 *   fat tree   the links from the top switch down to the subtrees below it; each place uses one of them.  They are
 *              not counted if a subtree has as many of them as places, since then nobody shares one
 *   dragonfly  the link between each pair of groups
 *   torus      the links of the last dimension.  Bytes are routed dimension by dimension, so all bytes for a line
 * of places arrive over the links of that line.  Two links lead to each place, or one if the line has two places
 */
#ifndef SAGOI_LOADS_H
#define SAGOI_LOADS_H

#include "plan/draft.h"

typedef struct sagoi_loads sagoi_loads;

/* *loads becomes NULL where no links are known to be shared. */
sago_status sagoi_loads_create(const sagoi_draft *draft, sagoi_loads **loads) SAGOI_CHECKED;
void sagoi_loads_destroy(sagoi_loads *loads); /* NULL is fine */

void sagoi_loads_begin(sagoi_loads *loads); /* no domain is placed */

/* Describe the next domain: its bytes, place by place, and then the places that may host it. */
void sagoi_loads_clear(sagoi_loads *loads);
void sagoi_loads_add(sagoi_loads *loads, int64_t place, double bytes);
void sagoi_loads_weigh(sagoi_loads *loads, int64_t place);
/* Is C3 more than 0 for any place that may host the domain? */
bool sagoi_loads_matter(const sagoi_loads *loads);
/* C3 of a place that was weighed, in seconds. */
double sagoi_loads_wait(const sagoi_loads *loads, int64_t place);
/* Places the domain there.  The description stays, for another domain that is like this one. */
void sagoi_loads_carry(sagoi_loads *loads, int64_t place);

#endif
