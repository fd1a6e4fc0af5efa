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

enum {
    SAGOI_SUMS = 10,   /* As many sums as the agreement with most needs. */
    SAGOI_MAXIMA = 15, /* As many maxima as the agreement with most needs. */
    SAGOI_COUNTS = 32, /* A node's histogram has so many regions (plan/plan.h). */
    SAGOI_DESCRIBED_BYTES =
        96 + SAGOI_COUNTS * 8 /* The largest description of a node is a shape with its histogram. */
};

/* Ranks agree by reducing sums and maxima over all of them, element by element. */
typedef struct sagoi_agreement {
    uint64_t sum[SAGOI_SUMS];
    int64_t max[SAGOI_MAXIMA];
} sagoi_agreement;

/* A value that must be equal on all ranks takes two maxima, from `at` on: of the value, and of its complement. */
static inline void sagoi_agreement_claim(sagoi_agreement *agreement, int at, int64_t value) {
    agreement->max[at] = value;
    agreement->max[at + 1] = ~value;
}
/* The least value that any rank claimed; the largest one is max[at]. */
static inline int64_t sagoi_agreement_least(const sagoi_agreement *agreed, int at) { return ~agreed->max[at + 1]; }
static inline bool sagoi_agreement_is_equal(const sagoi_agreement *agreed, int at) {
    return agreed->max[at] == sagoi_agreement_least(agreed, at);
}

/* Node-shared memory, the same bytes in every rank of the node. */
typedef struct sagoi_segment {
    char *base;
    int64_t bytes;
    int64_t kind; /* the kind of memory that the caller asked for; 0: any */
    bool leaked;  /* The segment is never unmapped, since a rank of a broken team may look at it for ever. */
} sagoi_segment;

/* A function that is called again and again while a rank waits; true: the function got something done.  It may
 * call MPI. */
typedef bool (*sagoi_idle_fn)(void *arg);

struct sagoi_control; /* defined in control.h */

typedef struct sagoi_team {
    MPI_Comm all; /* Sago's communicator of the file's ranks.  Other teams share it, so only messages go by it,
                     with tags of this team (sagoi_team_tag()). */
    MPI_Comm own; /* The team's communicator for collective calls of MPI; MPI_COMM_NULL before
                     sagoi_team_need_own(). */
    int first_tag, tags;
    int rank, size;
    int local_rank, local_size; /* number of this rank on its node, and of the ranks there */
    int host_ranks;             /* ranks of the whole job on this node, if the launcher tells; else local_size */
    int node, nodes;
    const int32_t *node_first; /* nodes + 1 places where a node's ranks start in members[]; owned by the circle */
    const int32_t *members;    /* ranks in `all`, node by node; owned by the circle */
    struct sagoi_control *control;
    int64_t control_bytes;
    cpu_set_t rank_cores; /* cores that the node's ranks may use, all together */
    int64_t cores;        /* how many cores that is */
    bool by_name;         /* the node's ranks find shared memory by a name, not by a descriptor */
    sagoi_idle_fn idle;   /* set while an exchange runs; else NULL */
    void *idle_arg;
    sagoi_segment windows;           /* kept from call to call, grown when a plan needs more */
    int64_t patience;                /* sago_patience: seconds, 0: for ever */
    struct sagoi_bulletin *bulletin; /* news of other nodes (calls.c); NULL: there was none yet */
    struct sagoi_team *within; /* The team of the file that this team's file belongs to, as the file of a local
                                  tier does: if that team breaks, this one does.  NULL: none. */
    struct sagoi_circle *circle;
    struct sagoi_team *next;         /* the next team of the same circle */
    int channel;                     /* number of the team in its circle, the same on all ranks */
    struct sagoi_assembly *assembly; /* how leaders come together for nonblocking calls (assembly.c); else NULL */
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

/* Collective over comm: finds a team of comm's ranks that no file uses, or makes a new one.  Other threads may
 * close files of the same ranks meanwhile, and open files on other communicators. */
sago_status sagoi_team_acquire(MPI_Comm comm, sagoi_team **team) SAGOI_CHECKED;
/* Collective over the team: gives the team a communicator of its own. */
sago_status sagoi_team_need_own(sagoi_team *team) SAGOI_CHECKED;
/* Gives the team back for the next file; no communication. */
void sagoi_team_release(sagoi_team *team);
/* How many teams this process uses now: one for each open file and checkpoint directory. */
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
/* Waits for all ranks of the node, and sums `value` over them. */
sago_status sagoi_gate_sum(sagoi_team *team, int64_t value, int64_t *sum) SAGOI_CHECKED;

/* Where ranks do without a gate, each counts the calls that it has finished: this rank has finished one more. */
void sagoi_tell_done(sagoi_team *team);
/* Waits until all other ranks of the node have finished as many calls as this rank.  The wait ends after
 * `patience` seconds, and *late becomes true; 0: it has no limit. */
sago_status sagoi_await_done(sagoi_team *team, double patience, bool *late) SAGOI_CHECKED;

/* A function that one rank of each node runs after all ranks of the node have come and before any of them goes on.
 * `agreed` is what the whole team agreed on. */
typedef void (*sagoi_once_fn)(void *arg, sagoi_agreement *agreed);

/* Collective.  *agreement becomes the reduction over all ranks of the team, *of_node (may be NULL) the reduction
 * over the ranks of this node. */
sago_status sagoi_agree(sagoi_team *team, sagoi_agreement *agreement, sagoi_agreement *of_node, sagoi_once_fn once,
                        void *arg) SAGOI_CHECKED;

/* Numbers that ranks leave for their leader.  A rank writes its numbers before a meeting of the node; the leader
 * sums all numbers after that meeting and before the next one. */
int64_t *sagoi_node_counts(sagoi_team *team); /* this rank's SAGOI_COUNTS */
void sagoi_sum_node_counts(const sagoi_team *team, int64_t *sums);

/* A function that makes the description of a node for the other nodes.  The leader calls it after all ranks of the
 * node have come; `of_node` is the reduction of what the ranks brought. */
typedef void (*sagoi_describe_fn)(void *arg, const sagoi_agreement *of_node, void *described);

/* Gathers the descriptions of all nodes, of `bytes` bytes each, at most SAGOI_DESCRIBED_BYTES.  *all is one copy a
 * node, which stays until the next call of this function. */
sago_status sagoi_describe_nodes(sagoi_team *team, const sagoi_agreement *mine, sagoi_describe_fn describe,
                                 void *arg, int64_t bytes, const void **all) SAGOI_CHECKED;

/* Gathers a pair of numbers from each rank of this node into all[local_size]. */
typedef struct sagoi_pair {
    uint64_t one, two;
} sagoi_pair;
sago_status sagoi_pairs_of_node(sagoi_team *team, sagoi_pair mine, sagoi_pair all[]) SAGOI_CHECKED;

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
/* The same with more to agree on: max[0] of the agreement is used for the status. */
sago_status sagoi_agree_with(sagoi_team *team, sago_status status, sagoi_agreement *agreement) SAGOI_CHECKED;
/* Agrees on the status, and on a value that must be equal on all ranks; `mismatch` is the message if it is not. */
sago_status sagoi_agree_equal(sagoi_team *team, sago_status status, int64_t value, const char *mismatch)
    SAGOI_CHECKED;
/* All ranks get rank 0's status, after a step that rank 0 has made alone; what the others give does not matter.
 * Between nodes this takes fewer messages than agreeing.  A rank does not wait for all others, so the ranks have
 * met before. */
sago_status sagoi_hear_first(sagoi_team *team, sago_status status) SAGOI_CHECKED;

/* ---- Node-shared memory (segment.c) ---- */

/* Collective over the node; *segment is replaced if it is smaller.  Real memory, not a promise: a full
 * /dev/shm is SAGO_ERR_MEMORY on every rank of the node. */
sago_status sagoi_segment_reserve(sagoi_team *team, int64_t bytes, sagoi_segment *segment) SAGOI_CHECKED;
void sagoi_segment_release(sagoi_segment *segment);

#endif
