/* Who has what in some windows of the file, found by looking at every rank's runs there. */
#ifndef SIM_TRAFFIC_H
#define SIM_TRAFFIC_H

#include <stdint.h>

#include "tools/plan_input.h"

enum { SIM_ALL_CALLS = -1 };

/* A range of the file; start == end: none. */
typedef struct sim_window {
    int64_t start, end;
} sim_window;

/* What a node has in a window. */
typedef struct sim_share {
    double bytes, runs;
    double joined; /* runs, when each local aggregator has joined those that touch */
    double ranks;  /* ranks that have something there */
    double locals; /* local aggregators that serve some of these ranks */
} sim_share;

/* What the busiest rank of a node has in all of a round's windows. */
typedef struct sim_rank_share {
    double bytes, runs, windows;
    double span; /* bytes from the rank's first to its last one, call by call */
} sim_rank_share;

typedef struct sim_traffic {
    int64_t nodes, windows, rounds;
    sim_share *share;        /* rounds x nodes x windows; owned */
    sim_rank_share *busiest; /* rounds x nodes; owned */
    double stretches;        /* share of all ranks' runs, in windows with some, that a hole follows */
} sim_traffic;

typedef struct sim_question {
    const plan_config *config;
    int64_t call;             /* number of a call of the pattern, or all calls */
    int64_t locals;           /* local aggregators a node */
    const sim_window *window; /* rounds x windows; none overlaps with another */
    int64_t windows, rounds;
    bool join;   /* count joined runs, too */
    bool sample; /* find out how many runs touch the next one, whoever has it */
} sim_question;

static inline sim_share *sim_traffic_share(const sim_traffic *traffic, int64_t round, int64_t node) {
    return &traffic->share[(round * traffic->nodes + node) * traffic->windows];
}
static inline sim_rank_share *sim_traffic_busiest(const sim_traffic *traffic, int64_t round, int64_t node) {
    return &traffic->busiest[round * traffic->nodes + node];
}

/* Every rank is looked at once.  False: `why`. */
bool sim_traffic_make(sim_traffic *traffic, const sim_question *question, char *why);
void sim_traffic_cleanup(sim_traffic *traffic);

#endif
