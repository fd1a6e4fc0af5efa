/* Where aggregators go: one election for each domain, in the order of the file.
 *
 * Constraints: a node has at most N_ah aggregators, and memory for one more; the memory that a chosen
 * aggregator takes is gone for the next.  Among the nodes that hold data of the domain, the one with the least
 * C1 + C2 + C3 is elected (`cost`; 000, IV-B, and loads.h), or the one with the most memory (`memory`; 004,
 * 3.4).  `rank` and `spread` go by the number of the domain alone.
 *
 * Costs that differ by less than moving a page are equal, since shapes are not known better.  Among equal costs
 * the least latency wins, and among those the next node at or behind the one that an even spread would take.
 * (If all nodes send to every aggregator, latencies do not count, since they would put aggregators close
 * together.) */
#ifndef SAGOI_HOSTS_H
#define SAGOI_HOSTS_H

#include "plan/draft.h"

/* What an aggregator needs, and what a node has for aggregators. */
typedef struct sagoi_hosting {
    int64_t need;      /* bytes for an aggregator */
    bool keep_reserve; /* leave a quarter of every node's memory */
} sagoi_hosting;

sago_status sagoi_hosts_create(const sagoi_draft *draft, sagoi_hosts **hosts) SAGOI_CHECKED;
void sagoi_hosts_destroy(sagoi_hosts *hosts); /* NULL is fine */

/* Begins without any aggregators.  false: what every node needs anyway does not fit one of them.  *refused: some
 * node has no memory for even one aggregator. */
bool sagoi_hosts_begin(sagoi_hosts *hosts, const sagoi_hosting *hosting, bool *refused);
/* Announces elections for the group's `domains` domains, the first of which is number `first` of `all` in the
 * plan. */
void sagoi_hosts_group(sagoi_hosts *hosts, int64_t group, int64_t domains, int64_t first, int64_t all);

/* Elects the host of the next domain; -1: none.  For contiguous ranges, which come in ascending order.  With
 * `anyone`, nodes of the group that hold no data of the domain may be elected, too. */
int64_t sagoi_hosts_elect_range(sagoi_hosts *hosts, int64_t start, int64_t end, bool anyone);
/* Elects the host of a domain that is spread over the file: part `part` of every node's data, or the turn's.  All
 * of it goes to the file's target `target`; -1: to all targets. */
int64_t sagoi_hosts_elect_dealt(sagoi_hosts *hosts, int64_t number, double part, int64_t target);
int64_t sagoi_hosts_elect_turn(sagoi_hosts *hosts, const sagoi_turn *turn);

/* The number of domains that are not where C1 + C2 is least, since links there carry more than their share. */
int64_t sagoi_hosts_moved(const sagoi_hosts *hosts);
/* The file's storage targets, if C2 depends on the target of a domain; else 0. */
int64_t sagoi_hosts_targets(const sagoi_hosts *hosts);
/* The number of nodes in each group that can host an aggregator at all. */
const int64_t *sagoi_hosts_able(const sagoi_hosts *hosts);
bool sagoi_hosts_fixed(const sagoi_hosts *hosts); /* rank or spread: memory does not decide the place */

#endif
