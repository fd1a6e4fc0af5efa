/* Who writes a checkpoint: ranks in groups with one writer each (002, section 3), as a pure function of the
 * machine.
 *
 * A group is a part of a node, or one or more whole nodes.  In the first case its first rank writes, and the group
 * meets in shared memory; in the second the writer is the first rank of the node with the least C1 + C2 (000,
 * IV-B), to which the others send.
 *
 * How many groups there are is said by the hints, or else by a model of
 *   gathering  what the other nodes of a group send goes through the writer's link
 *   storing    all writers together no faster than the gateways, each no faster than one process is
 *   names      every writer makes some calls on one directory, which are served one after another
 * that departs from one writer a node only where it gains a tenth.  How much will be saved is not known when a
 * directory is opened: the model assumes as much of every rank. */
#ifndef SAGOI_WRITERS_H
#define SAGOI_WRITERS_H

#include <stdbool.h>

#include "base/status.h"
#include "machine/machine.h"

typedef struct sagoi_writers_wish {
    int64_t files; /* sago_ckpt_files; 0: one a writer */
    int64_t group; /* sago_ckpt_group: ranks that a writer writes for; 0: not said */
    bool stays;    /* data must not leave its node: it goes to the node's own storage first */
    bool even;     /* every node has as many writers as any other, for redundancy sets */
} sagoi_writers_wish;

enum { SAGOI_WRITERS_REASON = 256 };

typedef struct sagoi_writers {
    int64_t count, files; /* files <= count */
    bool spans;           /* groups are whole nodes, at least one of them several */
    int64_t *first; /* of each node: its first group; spans: its only one, which other nodes have, too (owned) */
    int64_t *host;  /* for each group: the node of the writer (owned) */
    char reason[SAGOI_WRITERS_REASON];
} sagoi_writers;

/* The machine's topology may be NULL.  SAGO_ERR_MEMORY. */
sago_status sagoi_writers_plan(const sagoi_machine *machine, const sagoi_writers_wish *wish,
                               sagoi_writers *writers) SAGOI_CHECKED;
void sagoi_writers_cleanup(sagoi_writers *writers); /* fine on a zeroed struct, and twice */

/* Groups that have ranks on the node, from writers->first[node] on. */
int64_t sagoi_writers_groups(const sagoi_writers *writers, const sagoi_machine *machine, int64_t node);

/* What the model says of so many writers, seconds. */
double sagoi_writers_cost(const sagoi_machine *machine, int64_t count);

#endif
