/* Movement between nodes by packed messages: delta-coded extents with the data behind them, which the receiver
 * puts into the window by position.
 *
 * Every rank packs what it has for aggregators on other nodes into its own staging area in node-shared memory,
 * and its local aggregator (001) sends one message per aggregator for all the ranks it serves.  A rank that is
 * its own local aggregator sends data straight from the caller's memory, and receives there, where the data
 * lies together; it waits for no other rank of its node.  What does not fit the staging area or a message goes
 * in another pass.  When a shape repeats, aggregators remember the coded extents and only data moves.  Reading
 * goes the same way in the opposite direction: extents go to the aggregator, data returns. */
#ifndef SAGOI_EXCHANGE_H
#define SAGOI_EXCHANGE_H

#include "base/budget.h"
#include "move/remembered.h"
#include "move/mailroom.h"
#include "move/pack.h"
#include "move/team.h"
#include "trace/stats.h"

typedef struct sagoi_exchange sagoi_exchange;

/* What an exchange works with; the caller owns all of it. */
typedef struct sagoi_exchange_setup {
    sagoi_team *team;
    const sagoi_plan *plan;
    const sagoi_request *request;
    sagoi_remembered *received; /* what the plan's aggregators remember */
    bool remembered;            /* the aggregators remember the extents, so only data moves */
    char *staging;              /* local_size * 2 areas in the node's segment */
    sagoi_packet *packets;      /* local_size * 2 * the domains in reach, in the node's segment */
    int64_t first, reach;       /* domains that this node's range overlaps */
    int64_t domain;             /* the domain that this rank aggregates; -1: none */
    sagoi_mailroom *room;
    sago_stats *stats;
    sagoi_budget *budget;
} sagoi_exchange_setup;

/* Finds the rank of each domain's aggregator. */
void sagoi_find_aggregators(const sagoi_team *team, const sagoi_plan *plan, int32_t *aggregators);

/* Local.  Makes an exchange for a plan and a direction, which calls with the same plan use again. */
sago_status sagoi_exchange_create(const sagoi_exchange_setup *setup, sagoi_exchange **exchange) SAGOI_CHECKED;
void sagoi_exchange_destroy(sagoi_exchange **exchange);

/* Local.  Begins a call: a request of the same plan, perhaps at another place in memory. */
void sagoi_exchange_begin(sagoi_exchange *exchange, const sagoi_exchange_setup *setup);

/* One round between this node's ranks and aggregators on other nodes, in three steps; only the third one
 * reports errors.
 *
 *   start   this rank sends, or asks for, what it can without waiting for another rank of its node
 *   open    the aggregator begins to receive, or to answer; `window` is the window of its domain in this round,
 * NULL if there is none.  When writing, this step comes before the start; when reading, as soon as the window is
 *           full.
 *   round   the rest of the round; when writing it has at least one gate of the node in it */
void sagoi_exchange_start(sagoi_exchange *exchange, int64_t round);
void sagoi_exchange_open(sagoi_exchange *exchange, int64_t round, const sagoi_window *window);
sago_status sagoi_exchange_round(sagoi_exchange *exchange, int64_t round) SAGOI_CHECKED;

/* What this rank knows when a call ends. */
typedef struct sagoi_exchange_end {
    bool forgetful; /* aggregators must not rely on what they remember of this call */
    /* Reading.  Each aggregator of another node had data for this rank (or for one that its local aggregator
     * serves), in a single pass; not told of repeated reads. */
    bool reached_all;
    bool refused; /* an aggregator of another node could not read, and told this node so instead of sending data */
} sagoi_exchange_end;

/* Called after the last round: waits for messages that are still under way. */
sago_status sagoi_exchange_finish(sagoi_exchange *exchange, sagoi_exchange_end *end) SAGOI_CHECKED;

#endif
