/* A tree of switches that is given switch by switch, as in Slurm's topology.conf, made into a regular fat tree:
 * every switch of a height has room for as many children as the one with most, so places may stay empty. */
#ifndef SAGOI_SWITCHES_H
#define SAGOI_SWITCHES_H

#include "machine/hostlist.h"
#include "machine/text.h"
#include "machine/topology.h"

enum { SAGOI_SWITCHES_MAX = 8192 };

typedef struct sagoi_switch {
    char name[SAGOI_HOST_MAX];
    int64_t line;         /* number of the line in the file that names the switch */
    bool leaf;            /* the children are hosts, not switches */
    sagoi_hostlist below; /* owned */
    int64_t parent;       /* -1: a root */
    int64_t position;     /* number among the children of the parent */
    int64_t children;     /* switches or hosts */
    int64_t depth;        /* roots: 0 */
} sagoi_switch;

typedef struct sagoi_switches {
    int64_t count, capacity;
    sagoi_switch *item; /* owned */
} sagoi_switches;

/* Adds a switch and the hosts or switches below it, from the current line of `text`. */
sago_status sagoi_switches_add(sagoi_switches *switches, const sagoi_text *text, const char *name,
                               const char *below, bool leaf) SAGOI_CHECKED;
/* Sets kind, dimensions and extent of the topology, and the hosts with their places; errors name lines of `text`.
 * It is an error if a switch is unknown or repeated, or if the tree has a cycle or is too high or too wide.  A
 * switch that several others name belongs to the first of them.  Several roots are joined by one more switch. */
sago_status sagoi_switches_lay(sagoi_switches *switches, sagoi_text *text, sagoi_topology *topology,
                               sagoi_hostlist *hosts) SAGOI_CHECKED;
void sagoi_switches_cleanup(sagoi_switches *switches);

#endif
