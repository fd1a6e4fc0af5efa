/* What it would cost to gather a set of nodes' bytes at a place, for any number of candidate places.
 *
 * The members (a place and its bytes) are added once, in O(dimensions) each; then every candidate costs
 * O(dimensions) too, however many members there are: sums are kept per coordinate, and per switch, router or
 * group, not per pair. 16,384 candidates for 16,384 members take milliseconds. */
#ifndef SAGOI_SUMS_H
#define SAGOI_SUMS_H

#include "machine/topology.h"

typedef struct sagoi_sums sagoi_sums;

/* An empty set; *topology must live as long.  SAGO_ERR_MEMORY. */
sago_status sagoi_sums_create(const sagoi_topology *topology, sagoi_sums **sums) SAGOI_CHECKED;
void sagoi_sums_destroy(sagoi_sums *sums); /* NULL is fine */

/* The place becomes a member with `bytes` >= 0, or holds so many more; bytes in all stop at INT64_MAX.  A member
 * with no bytes still counts a latency. */
void sagoi_sums_add(sagoi_sums *sums, int64_t place, int64_t bytes);
/* Empty again, in the time that adding took. */
void sagoi_sums_clear(sagoi_sums *sums);

int64_t sagoi_sums_members(const sagoi_sums *sums);
int64_t sagoi_sums_bytes(const sagoi_sums *sums);
/* Sum over the members of d(member, place). */
int64_t sagoi_sums_distance(sagoi_sums *sums, int64_t place);
/* Sum over the members of l * d(member, place). */
double sagoi_sums_latency(sagoi_sums *sums, int64_t place);
/* Sum over the members other than the place itself of w(member) / B(member -> place). */
double sagoi_sums_transfer(const sagoi_sums *sums, int64_t place);
/* C1 of an aggregator at the place, a member or not: sagoi_sums_latency() + sagoi_sums_transfer(). */
double sagoi_sums_cost(sagoi_sums *sums, int64_t place);

#endif
