/* What both replays keep count of, and what they make of it: an outcome. */
#ifndef SIM_TALLY_H
#define SIM_TALLY_H

#include "sim/replay.h"

typedef struct sim_busy {
    double phase[SIM_PHASES];
} sim_busy;

typedef struct sim_tally {
    const sim_load *load;
    sim_network *network;
    double *end;  /* rounds: when the last one was done with it */
    double *sent; /* rounds: when the last sender had sent */
    sim_busy *node, *aggregator;
    sim_outcome *outcome;
} sim_tally;

bool sim_tally_init(sim_tally *tally, const sim_load *load, sim_network *network, sim_outcome *outcome);
void sim_tally_cleanup(sim_tally *tally);
/* `who`: an aggregator, or a node from -1 downwards. */
void sim_tally_note(sim_tally *tally, sim_phase phase, int64_t who, double start, double end);
void sim_tally_end(sim_tally *tally, int64_t round, double now);
void sim_tally_sent(sim_tally *tally, int64_t round, double now);
/* Works out the outcome. */
void sim_tally_finish(sim_tally *tally);

/* The pieces of a store, of which each goes to one target; the target of the i-th piece. */
enum { SIM_PIECES_MAX = 16 };
int64_t sim_store_pieces(const sim_store *store, int64_t targets);
double sim_store_bytes(const sim_store *store, int64_t targets, int64_t i);
int64_t sim_store_target(const sim_store *store, int64_t targets, int64_t i);
/* Of the requests that a store is, those of a piece: the stripes of a target that lie side by side there are one.
 */
double sim_store_requests(const sim_store *store, int64_t targets);

bool sim_replay_flows(sim_tally *tally, char *why);
bool sim_replay_links(sim_tally *tally, char *why);

#endif
