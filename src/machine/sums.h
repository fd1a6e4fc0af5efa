/* What it would cost to gather a set of nodes' bytes at a place, for any number of candidate places.
 *
 * The members (a place and its bytes) are added once, in O(dimensions) each.  Then every candidate costs
 * O(dimensions) as well, however many members there are, since sums are kept per coordinate, and per switch,
 * router or group, instead of per pair.  16,384 candidates for 16,384 members take milliseconds. */
#ifndef SAGOI_SUMS_H
#define SAGOI_SUMS_H

#include "machine/topology.h"

typedef struct sagoi_sums sagoi_sums;

/* Makes an empty set; *topology must live as long.  SAGO_ERR_MEMORY. */
sago_status sagoi_sums_create(const sagoi_topology *topology, sagoi_sums **sums) SAGOI_CHECKED;
void sagoi_sums_destroy(sagoi_sums *sums); /* NULL is fine */

/* Makes the place a member with `bytes` >= 0, or adds the bytes to those it has.  The sum of all bytes stops at
 * INT64_MAX.  A member without bytes still counts a latency. */
void sagoi_sums_add(sagoi_sums *sums, int64_t place, int64_t bytes);
/* Empties the set, in the time that adding took. */
void sagoi_sums_clear(sagoi_sums *sums);

int64_t sagoi_sums_members(const sagoi_sums *sums);
int64_t sagoi_sums_bytes(const sagoi_sums *sums);
/* The sum over the members of l * d(member, place). */
double sagoi_sums_latency(sagoi_sums *sums, int64_t place);
/* The sum over the members other than the place itself of w(member) / B(member -> place). */
double sagoi_sums_transfer(const sagoi_sums *sums, int64_t place);
/* C1 of an aggregator at the place, which may be a member or not: sagoi_sums_latency() + sagoi_sums_transfer(). */
double sagoi_sums_cost(sagoi_sums *sums, int64_t place);

#endif
