/* The ranks of one open file: their communicators, their nodes, and the shared memory through which the ranks
 * of a node meet.
 *
 * Glossary
 *   team     all ranks of the file's communicator
 *   leader   the first rank of a node; only leaders call MPI to agree
 *   gate     where the ranks of a node wait for each other, asleep
 *   control  a small shared segment: the gate, one slot a rank
 *   circle   what all teams of the same ranks share (circle.h)
 *
 * A team that a file has left is used again by the next file of the same ranks. */
#ifndef SAGOI_TEAM_H
#define SAGOI_TEAM_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/types.h"
#include "base/status.h"

/* What ranks agree on in one step: sums and maxima, element by element. */
enum { SAGOI_SUMS = 10, SAGOI_MAXIMA = 14, SAGOI_COUNTS = 32, SAGOI_SHARE_BYTES = 96 + SAGOI_COUNTS * 8 };
typedef struct sagoi_agreement {
    uint64_t sum[SAGOI_SUMS];
    int64_t max[SAGOI_MAXIMA];
} sagoi_agreement;

/* Node-shared memory, the same bytes in every rank of the node. */
typedef struct sagoi_segment {
    char *base;
    int64_t bytes;
    int64_t kind; /* of memory, as whoever asked for it says; 0: any */
    bool leaked;  /* on purpose, never unmapped: somebody may look at it for ever */
} sagoi_segment;

/* Called again and again while a rank waits; true: it got something done.  It may call MPI. */
typedef bool (*sagoi_idle_fn)(void *arg);

struct sagoi_control; /* of gate.c */

typedef struct sagoi_team {
    MPI_Comm all; /* Sago's own, with the ranks of the file's; shared with other teams: messages only, by tags of
                     this team's (sagoi_team_tag()) */
    MPI_Comm own; /* for collective calls of MPI: sagoi_team_need_own(); MPI_COMM_NULL before */
    int first_tag, tags;
    int rank, size;
    int local_rank, local_size; /* on this node */
    int host_ranks;             /* of the whole job on this node, where the launcher tells; else local_size */
    int node, nodes;
    const int32_t *node_first; /* nodes + 1: where a node's ranks start in members[]; both the circle's */
    const int32_t *members;    /* ranks in `all`, node by node */
    struct sagoi_control *control;
    int64_t control_bytes;
    cpu_set_t rank_cores; /* that the node's ranks may use, all together */
    int64_t cores;        /* how many */
    bool by_name;         /* how the node's ranks find shared memory */
    sagoi_idle_fn idle;   /* while an exchange runs; else NULL */
    void *idle_arg;
    sagoi_segment windows;           /* kept from call to call, grown when a plan needs more */
    int64_t patience;                /* sago_patience: seconds, 0: for ever */
    struct sagoi_bulletin *bulletin; /* of calls.c; NULL: there was no news yet */
    struct sagoi_team *within; /* a file that this team's belongs to: whoever meets in it comes from there, and
                                  when it breaks, so does this one; NULL: none */
    struct sagoi_circle *circle;
    struct sagoi_team *next;         /* of the same circle */
    int channel;                     /* the same on all ranks */
    struct sagoi_assembly *assembly; /* of a leader: coming together for nonblocking calls; assembly.c */
} sagoi_team;

/* Tags of a team, below those of its exchange (mail.h). */
enum {
    SAGOI_TAG_ASSEMBLY = 7,
    SAGOI_TAG_NEWS,
    SAGOI_TAG_OWN,
    SAGOI_TAG_TOLD = 10,
    SAGOI_TAG_REPLY = 11,
    SAGOI_TAG_FIRST = 12
};
static inline int sagoi_team_tag(const sagoi_team *team, int number) { return team->first_tag + number; }

/* ---- Life ---- */

/* Collective over comm: a team of its ranks that nobody uses, or a new one.  Other threads may close files of the
 * same ranks meanwhile, and open some on other communicators. */
sago_status sagoi_team_acquire(MPI_Comm comm, sagoi_team **team) SAGOI_CHECKED;
/* Collective over the team: from here on it has a communicator of its own. */
sago_status sagoi_team_need_own(sagoi_team *team) SAGOI_CHECKED;
/* Gives it back for the next file; no communication. */
void sagoi_team_release(sagoi_team *team);
/* How many this process uses now: its open files and checkpoints. */
int64_t sagoi_teams_in_use(void);

static inline int sagoi_team_rank_of(const sagoi_team *team, int64_t node, int64_t local) {
    return team->members[team->node_first[node] + local];
}
static inline int64_t sagoi_team_node_ranks(const sagoi_team *team, int64_t node) {
    return team->node_first[node + 1] - team->node_first[node];
}

/* ---- Meeting (gate.c) ---- */

/* Waits for all ranks of the node.  SAGO_ERR_PEER: one of them has died. */
sago_status sagoi_gate(sagoi_team *team) SAGOI_CHECKED;
/* The same, and sums `value` over the node. */
sago_status sagoi_gate_sum(sagoi_team *team, int64_t value, int64_t *sum) SAGOI_CHECKED;

/* Where ranks do without a gate: this one has finished one more thing; and all others of the node have finished as
 * many as this one, which waits until then.  `patience`: no longer than so many seconds, and *late becomes true;
 * 0: as long as it takes. */
void sagoi_tell_done(sagoi_team *team);
sago_status sagoi_await_done(sagoi_team *team, double patience, bool *late) SAGOI_CHECKED;

/* Runs `once` in one rank of each node after all of the node have come and before any may go on; it sees what
 * the whole team agreed on. */
typedef void (*sagoi_once_fn)(void *arg, sagoi_agreement *agreed);

/* All ranks of the team agree: *agreement becomes the reduction over all of them, *of_node (may be NULL) over
 * this node's. */
sago_status sagoi_agree(sagoi_team *team, sagoi_agreement *agreement, sagoi_agreement *of_node, sagoi_once_fn once,
                        void *arg) SAGOI_CHECKED;

/* Numbers that ranks leave for their leader: whoever writes them does so before a meeting of the node, and the
 * leader sums them after it and before the next. */
int64_t *sagoi_node_counts(sagoi_team *team); /* this rank's SAGOI_COUNTS */
void sagoi_sum_node_counts(const sagoi_team *team, int64_t *sums);

/* In the leader, after all ranks of its node have come: makes what the other nodes are to know from what its ranks
 * brought, reduced. */
typedef void (*sagoi_describe_fn)(void *arg, const sagoi_agreement *of_node, void *described);

/* Gathers `bytes` bytes that describe a node, at most SAGOI_SHARE_BYTES, from all of them; *all is one copy a
 * node, until the next time. */
sago_status sagoi_share_nodes(sagoi_team *team, const sagoi_agreement *mine, sagoi_describe_fn describe, void *arg,
                              int64_t bytes, const void **all) SAGOI_CHECKED;

/* Gathers a pair of numbers from each rank of this node into all[local_size]. */
typedef struct sagoi_pair {
    uint64_t one, two;
} sagoi_pair;
sago_status sagoi_share_local(sagoi_team *team, sagoi_pair mine, sagoi_pair all[]) SAGOI_CHECKED;

/* Lets MPI make progress on whatever the program has under way, and looks for news of other nodes. */
void sagoi_poke(sagoi_team *team);

/* ---- Errors (verdict.c) ---- */

/* An error as a number to be agreed on by maximum: 0 for SAGO_OK.  Also leaves this thread's message where
 * sagoi_verdict() finds it. */
int64_t sagoi_verdict_code(sagoi_team *team, sago_status status);
/* The status that an agreed code stands for; on every rank the message becomes the failing rank's.
 * Collective when the code is not 0. */
sago_status sagoi_verdict(sagoi_team *team, int64_t code) SAGOI_CHECKED;
/* The same, of what every rank is known to have failed with: nobody needs to be told, and it is said to be rank
 * 0's. */
sago_status sagoi_verdict_of_all(sago_status status) SAGOI_CHECKED;
/* Agrees on nothing but the status. */
sago_status sagoi_agree_status(sagoi_team *team, sago_status status) SAGOI_CHECKED;

/* ---- Node-shared memory (segment.c) ---- */

/* Collective over the node; *segment is replaced if it is smaller.  Real memory, not a promise: a full
 * /dev/shm is SAGO_ERR_MEMORY on every rank of the node. */
sago_status sagoi_segment_reserve(sagoi_team *team, int64_t bytes, sagoi_segment *segment) SAGOI_CHECKED;
void sagoi_segment_release(sagoi_segment *segment);

#endif
