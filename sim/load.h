/* What an engine has to move, as the replay sees it: flows between nodes and aggregators, stores, and the seconds
 * that processors work for them.  Who decides all this is an engine (engine.h); how long it takes together is the
 * replay's.
 *
 * Folding: the ranks of a node that send to one aggregator in one round are one flow; what their messages cost is
 * in the seconds beside it. */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* Between a node and an aggregator, in one round. */
typedef struct sim_flow {
    double bytes;   /* bytes that cross the network, or only memory on the aggregator's own node */
    double seconds; /* work of the aggregator for these bytes */
    double messages;
} sim_flow;

/* An aggregator's window in one round. */
typedef struct sim_store {
    double bytes;
    double seconds;  /* time beside the bytes: calls, locks */
    double work;     /* seconds of the aggregator between moving and storing: sorting */
    int64_t stripe;  /* the first one */
    int64_t stripes; /* how many, one after another */
    double requests; /* at each target that it touches; 0: one */
    double first,
        last; /* shares of the bytes that the first and the last stripe have; both 0: all stripes have as many */
} sim_store;

typedef struct sim_round {
    sim_flow *flow;      /* nodes x aggregators, a node's side by side (owned, as all of these) */
    double *node;        /* nodes: seconds of work before its sends (reads: after its receives) */
    sim_store *store;    /* aggregators */
    double bytes;        /* bytes of the file */
    double runs, listed; /* runs of all ranks; runs in the lists that aggregators get */
} sim_round;

typedef struct sim_load {
    bool write;
    bool overlapped; /* two windows: one is stored while the other one fills */
    bool in_step;    /* all wait for each other after every round; costs `step` seconds */
    double step;
    double ahead;      /* seconds before the first round */
    int64_t in_flight; /* messages that an aggregator receives, or sends, at a time */
    bool own_files;    /* every aggregator has a file of its own */
    int64_t clients;   /* processes that store for one aggregator: 1, or all ranks of a node */
    int64_t processes; /* processes of a node that do its work side by side */
    int64_t cores; /* cores that all nodes share; 0: each process has its own, so work takes the seconds that it is
                      given */
    int64_t at_once; /* pieces of the file that a node's client writes at a time; 0: any number */
    bool one_by_one; /* a client moves one piece of a window after another; else all of them side by side */
    int64_t nodes, aggregators;
    int64_t *place; /* place of each node; owned */
    int64_t *host;  /* node of each aggregator; owned */
    int64_t rounds; /* rounds that are described, a sample of all */
    double repeats; /* bytes of the file in all rounds, over those of the described rounds */
    sim_round *round;
} sim_load;

bool sim_load_init(sim_load *load, int64_t nodes, int64_t aggregators, int64_t rounds);
/* The first `burst` bytes that a node, and a storage target of `targets`, sends or takes pass at once: a token
 * bucket.  False: there is no memory. */
bool sim_load_burst(sim_load *load, double burst, int64_t targets);
void sim_load_cleanup(sim_load *load);
/* How often the rounds are replayed: twice where they stand for more, so that one can see what they add. */
static inline int64_t sim_load_passes(const sim_load *load) { return load->repeats >= 2 ? 2 : 1; }
static inline int64_t sim_load_replayed(const sim_load *load) { return load->rounds * sim_load_passes(load); }
static inline sim_round *sim_load_round(const sim_load *load, int64_t round) {
    return &load->round[round % load->rounds];
}
static inline sim_flow *sim_load_flow(const sim_load *load, int64_t round, int64_t node, int64_t aggregator) {
    return &sim_load_round(load, round)->flow[node * load->aggregators + aggregator];
}
/* Does the node have something for the aggregator that must leave the node? */
static inline bool sim_load_crosses(const sim_load *load, int64_t round, int64_t node, int64_t aggregator) {
    return sim_load_flow(load, round, node, aggregator)->bytes > 0 && load->host[aggregator] != node;
}

#endif
