/* Where aggregators go: one election a domain, in the order of the file.
 *
 * Constraints: a node has fewer than N_ah aggregators, and memory for one more; what a chosen one takes is gone
 * for the next.  Among the nodes that hold data of the domain the one with the least C1 + C2 + C3 is elected
 * (`cost`; 000, IV-B, and loads.h), or the one with the most memory (`memory`; 004, 3.4).  `rank` and `spread` go
 * by the number of the domain alone.
 *
 * Costs that differ by less than moving a page does are equal: shapes are not known better.  Of those the least
 * latency is elected, and of equal ones the next node at or after the one that an even spread would take.  (Where
 * all nodes send to every aggregator, latencies do not count: they would put aggregators close together.) */
#ifndef SAGOI_HOSTS_H
#define SAGOI_HOSTS_H

#include "plan/draft.h"

/* What an aggregator needs, and what a node has for aggregators. */
typedef struct sagoi_hosting {
    int64_t need;      /* bytes an aggregator */
    bool keep_reserve; /* leave a quarter of every node's memory alone */
} sagoi_hosting;

sago_status sagoi_hosts_create(const sagoi_draft *draft, sagoi_hosts **hosts) SAGOI_CHECKED;
void sagoi_hosts_destroy(sagoi_hosts *hosts); /* NULL is fine */

/* Nobody aggregates anything yet.  false: what every node needs anyway does not fit one of them.  *refused: some
 * node has no memory for even one aggregator. */
bool sagoi_hosts_begin(sagoi_hosts *hosts, const sagoi_hosting *hosting, bool *refused);
/* Elections for the group's `domains` domains follow, the first of which is number `first` of `all` in the plan.
 */
void sagoi_hosts_group(sagoi_hosts *hosts, int64_t group, int64_t domains, int64_t first, int64_t all);

/* The host of the next domain; -1: none.  Of a contiguous range: ranges come in ascending order.  With `anyone`
 * nodes of the group that hold no data of it may be elected, too. */
int64_t sagoi_hosts_elect_range(sagoi_hosts *hosts, int64_t start, int64_t end, bool anyone);
/* Of a domain that is spread over the file: part `part` of every node's data, or the turn's.  All of it goes to
 * the file's target `target`; -1: to all alike. */
int64_t sagoi_hosts_elect_dealt(sagoi_hosts *hosts, int64_t number, double part, int64_t target);
int64_t sagoi_hosts_elect_turn(sagoi_hosts *hosts, const sagoi_turn *turn);

/* Domains that are not where C1 + C2 is least, since links on the way there carry more than their share. */
int64_t sagoi_hosts_moved(const sagoi_hosts *hosts);
/* The file's storage targets, where C2 depends on which of them a domain goes to; else 0. */
int64_t sagoi_hosts_targets(const sagoi_hosts *hosts);
/* How many nodes of each group can host one at all. */
const int64_t *sagoi_hosts_able(const sagoi_hosts *hosts);
bool sagoi_hosts_fixed(const sagoi_hosts *hosts); /* rank or spread: memory does not decide where */

#endif
