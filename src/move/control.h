/* The control segment of a node.  Shared between processes: no pointers inside. */
#ifndef SAGOI_CONTROL_H
#define SAGOI_CONTROL_H

#include <stdatomic.h>

#include "base/futex.h"
#include "base/process.h"
#include "move/segment.h"
#include "move/team.h"

/* A team is "breaking" while the reason is written down, and "broken" afterwards. */
enum { SAGOI_TEAM_WHOLE, SAGOI_TEAM_BREAKING, SAGOI_TEAM_BROKEN };

/* The part of one rank, to which no other rank writes. */
typedef struct sagoi_slot {
    _Alignas(64) sagoi_agreement agreement;
    int64_t value;                /* what this rank brings to sagoi_gate_sum() */
    _Atomic uint64_t done;        /* calls that this rank has finished (sagoi_tell_done()) */
    sagoi_pair pair;              /* what this rank brings to sagoi_pairs_of_node() */
    int64_t counts[SAGOI_COUNTS]; /* what this rank leaves for its leader (sagoi_node_counts()) */
    sagoi_process process;
    char message[SAGOI_MESSAGE_MAX]; /* message of this rank's last failure */
} sagoi_slot;

typedef struct sagoi_control {
    _Alignas(64) _Atomic uint32_t arrived;  /* ranks that have come to the gate */
    _Alignas(64) sagoi_futex generation;    /* grows when the gate opens */
    _Alignas(64) sagoi_futex ready;         /* grows when the last rank has come, so that the leader goes on */
    _Atomic uint32_t broken;                /* SAGOI_TEAM_...; no rank waits in a broken team */
    _Atomic uint32_t left;                  /* a rank has left the team; no MPI call has failed */
    _Atomic uint32_t told;                  /* the other nodes have been told that the team is broken */
    _Alignas(64) _Atomic uint64_t convened; /* how far the ranks have come together for a call (convene.c) */
    sagoi_futex decided;                    /* grows when it is decided how the call is served */
    /* Inode of the namespace of process ids, which mean something only to ranks of the same namespace. */
    uint64_t pid_namespace;
    _Alignas(64) sagoi_agreement of_node, of_all;
    int64_t value_sum;
    sagoi_agreement theirs;                 /* agreement of another node, on its way to the leader */
    int32_t shared_errno;                   /* the error of the segment that is being made; 0: none */
    sagoi_shared_name segment;              /* the name of the segment that is being made */
    char message[SAGOI_MESSAGE_MAX];        /* message of the failure that was agreed on */
    char broken_message[SAGOI_MESSAGE_MAX]; /* why the team is broken */
    _Alignas(64)
        sagoi_slot slots[]; /* local_size slots, then the place where sagoi_describe_nodes() leaves its copy */
} sagoi_control;

/* Waits until all ranks of the node have come.  Then one rank runs `meeting`, the leader where there are several
 * nodes, and all ranks go on.  Only the rank that ran `meeting` gets its status. */
typedef sago_status (*sagoi_meeting_fn)(sagoi_team *team, void *arg);
sago_status sagoi_meet_as_agreed(sagoi_team *team, sagoi_meeting_fn meeting, void *arg) SAGOI_CHECKED;

/* Adds sums and takes maxima. */
void sagoi_agreement_combine(sagoi_agreement *into, const sagoi_agreement *from);

/* Sleeps until *word is no longer `old` (true) or a peer has died (false). */
bool sagoi_wait_word(sagoi_team *team, sagoi_futex *word, uint32_t old);

#endif
