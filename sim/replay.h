/* Carries a load out.  There are two ways:
 *
 *   flows  on SimGrid: every node, every aggregator and its I/O thread is an actor, every flow is one of SimGrid's
 *   links  round by round: what each link, client, target and aggregator has to do is summed up, and whoever is
 * last ends the round; for loads of more flows than SimGrid can carry, within a few per cent of it */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "sim/load.h"
#include "sim/network.h"

typedef enum { SIM_GATHER, SIM_EXCHANGE, SIM_STORE, SIM_PHASES } sim_phase;
typedef enum { SIM_MODEL_AUTO, SIM_MODEL_FLOWS, SIM_MODEL_LINKS } sim_model;

enum { SIM_SPANS_MAX = 4096, SIM_NAME_MAX = 64, SIM_LANES = 8 };

/* What an aggregator or node that is drawn did for some time. */
typedef struct sim_span {
    sim_phase phase;
    int64_t lane; /* an aggregator, or from -1 downwards a node of `drawn` */
    double start, end;
} sim_span;

typedef struct sim_use {
    char name[SIM_NAME_MAX];
    double share; /* share of the time in which its bandwidth, or the processor, was in use */
} sim_use;

/* A plain value, which can cross to another process. */
typedef struct sim_outcome {
    sim_model model;          /* the model that was used */
    double seconds;           /* time of everything, in all rounds */
    double ahead;             /* seconds before the first round */
    double phase[SIM_PHASES]; /* seconds of whoever was busiest with it, all rounds */
    double held;              /* seconds until the last sender has sent (writes), all rounds */
    double bytes;             /* bytes of the file */
    double wire;              /* bytes between nodes */
    double messages;
    double stored; /* bytes that reached the storage */
    sim_use link, target, node;
    double replayed; /* seconds of the rounds that were simulated */
    int64_t rounds, nspans;
    int64_t drawn[SIM_LANES]; /* nodes that have something to move; -1: no more */
    sim_span span[SIM_SPANS_MAX];
} sim_outcome;

/* SimGrid can run once in a process.  SIM_MODEL_AUTO: flows as long as they are few.  False: `why`. */
bool sim_replay(const sim_load *load, sim_network *network, sim_model model, sim_outcome *outcome, char *why);

#endif
