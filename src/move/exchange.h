/* Movement between nodes, in packed messages: extents delta-coded, data behind them, scattered by position.
 *
 * Every rank packs what it has for aggregators on other nodes into its own staging area in node-shared memory;
 * its local aggregator (001) sends one message per aggregator for all the ranks it serves.  A rank that is its own
 * local aggregator sends straight from the caller's memory, and receives there, where data lie together, and waits
 * for no other rank of its node.  What does not fit
 * the staging area or a message goes in another pass.  When the shape repeats, aggregators remember the coded
 * extents and only data moves.  Reading is the same way back: extents go to the aggregator, data returns. */
#ifndef SAGOI_EXCHANGE_H
#define SAGOI_EXCHANGE_H

#include "base/budget.h"
#include "move/remembered.h"
#include "move/mailroom.h"
#include "move/pack.h"
#include "move/team.h"
#include "trace/stats.h"

typedef struct sagoi_exchange sagoi_exchange;

/* Everything an exchange works with; the caller keeps it all. */
typedef struct sagoi_exchange_setup {
    sagoi_team *team;
    const sagoi_plan *plan;
    const sagoi_request *request;
    sagoi_remembered *received; /* of the plan */
    bool remembered;            /* aggregators remember the extents: only data moves */
    char *staging;              /* in the node's segment: local_size * 2 areas */
    sagoi_region *regions;      /* in the node's segment: local_size * 2 * the domains in its reach */
    int64_t first, reach;       /* domains that this node's range overlaps */
    int64_t domain;             /* this rank aggregates it; -1: none */
    sagoi_mailroom *room;
    sago_stats *stats;
    sagoi_budget *budget;
} sagoi_exchange_setup;

/* The rank of each domain's aggregator. */
void sagoi_find_aggregators(const sagoi_team *team, const sagoi_plan *plan, int32_t *aggregators);

/* Local.  Made for a plan and a direction, and kept for the calls that repeat it. */
sago_status sagoi_exchange_create(const sagoi_exchange_setup *setup, sagoi_exchange **exchange) SAGOI_CHECKED;
void sagoi_exchange_destroy(sagoi_exchange **exchange);

/* Local.  Begins a call: another request of the same plan, perhaps at another place in memory. */
void sagoi_exchange_begin(sagoi_exchange *exchange, const sagoi_exchange_setup *setup);

/* One round between this node's ranks and aggregators on other nodes, in three steps that fail in the third.
 *   start  this rank sends what it can without waiting for another one of its node, or asks for it
 *   open   the aggregator begins to take what comes, or to answer; `window` is the place of its domain in this
 *          round, NULL if it has none.  Before the start when writing; when reading, as soon as it is full
 *   round  the rest; has at least one gate of the node in it when writing */
void sagoi_exchange_start(sagoi_exchange *exchange, int64_t round);
void sagoi_exchange_open(sagoi_exchange *exchange, int64_t round, const sagoi_window *window);
sago_status sagoi_exchange_round(sagoi_exchange *exchange, int64_t round) SAGOI_CHECKED;

/* After the last round: waits for what is still on its way.  *forgetful: aggregators must not rely on what they
 * remember of this call. */
sago_status sagoi_exchange_finish(sagoi_exchange *exchange, bool *forgetful) SAGOI_CHECKED;

#endif
