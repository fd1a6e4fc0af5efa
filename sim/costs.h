/* What costs time beside bandwidth: one row of numbers a machine, the same for all engines.
 *
 * `sago sim --costs` prints the table with the source of every number.  A number that was fitted to a published
 * result is marked there; no machine has more than six of them. */
#ifndef SIM_COSTS_H
#define SIM_COSTS_H

#include <stdbool.h>
#include <stdio.h>

#include "machine/description.h"

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
    double payload; /* share of a link's bandwidth that is left for data */
    double open;    /* seconds the metadata server needs to create or open a file */
} sim_costs;

/* Whose costs a simulation has. */
typedef struct sim_costs_origin {
    const char *of; /* the column of the table; where the machine has none, that of the virtual cluster */
    bool described; /* what the lines `process` and `io` of the description say is taken from there */
    bool assumed;   /* nothing but the description knows the machine: all else is the virtual cluster's */
    char text[256]; /* the same in words */
} sim_costs_origin;

/* A column of the table, by the name of a machine; false: it has none. */
bool sim_costs_of(const char *machine, sim_costs *costs, sim_costs_origin *origin);
/* Of a described machine; NULL: there is no description.  `targets`: the file's storage targets are known, so that
 * the line `io` is about each of them. */
void sim_costs_described(const sagoi_description *described, bool targets, sim_costs *costs,
                         sim_costs_origin *origin);
/* "match=2e-8"; false: there is no such cost, or it is not a number that could be. */
bool sim_costs_set(sim_costs *costs, const char *text, char *why);
/* All of them, as a table of Markdown. */
void sim_costs_print(FILE *out);

#endif
