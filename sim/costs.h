/* What costs time beside bandwidth: one row of numbers a machine, the same for all engines.
 *
 * `sago sim --costs` prints the table with the source of every number.  A number that was fitted to a published
 * result is marked there; no machine has more than six of them. */
#ifndef SIM_COSTS_H
#define SIM_COSTS_H

#include <stdbool.h>
#include <stdio.h>

typedef struct sim_costs {
    double send, receive; /* seconds a message, of the rank at either end */
    double match;         /* seconds for each message that waits in the same queue as one that comes */
    double run;           /* seconds to flatten, pack or scatter a run */
    double compare;       /* seconds a run and level, where sorted lists are merged */
    double copy;          /* bytes a second that one core copies */
    double stack;         /* bytes a second that one core brings onto the network, or from it; 0: it has not to */
    double memory;        /* bytes a second that the cores of a node copy together */
    double collective;    /* seconds a step of a collective call; log2 of the ranks is the number of steps */
    double call;          /* seconds a call on the file beside its bytes */
    double seek;          /* seconds that a storage target is busy with a request beside its bytes */
    double lock;          /* seconds to take over a stripe that another process has written to */
    double in_turn;       /* 1: those who want locks at one storage target wait one after another */
    double at_once;       /* pieces that a node's client writes to a file at a time; 0: any number */
    double writer;        /* bytes a second that one process writes to the storage; 0: no limit of its own */
    double reader;        /* the same for reading */
    double target_write;  /* bytes a second of a storage target */
    double target_read;
    double io_node; /* bytes a second of the I/O node behind a set of gateways; 0: no limit of its own */
    double file;    /* bytes a second that one shared file takes, whoever writes; 0: no limit of its own */
    double payload; /* of a link's bandwidth, the share that is left for data */
    double open;    /* seconds the metadata server needs to create or open a file */
} sim_costs;

/* By the name of a machine; those of `cluster` where nobody has the name. */
sim_costs sim_costs_of(const char *machine);
/* "match=2e-8"; false: there is no such cost, or it is not a number that could be. */
bool sim_costs_set(sim_costs *costs, const char *text, char *why);
/* All of them, as a table of Markdown. */
void sim_costs_print(FILE *out);

#endif
