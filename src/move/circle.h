/* The ranks of a communicator, as Sago knows them: what the teams of all files on the same ranks share.
 *
 * Communicators are scarce: MPICH has context ids for about 2,000.  So files of the same ranks in the same order,
 * on whatever communicators of the program's, share one of Sago's, and tell their messages apart by tags: every
 * team has a *channel*, a range of them.  All communicators of one rank have the same circle, which is made once.
 *
 * Nothing collective is called on a circle's communicator, since teams use it in whatever order, in whatever
 * thread (MPI_Comm_create_group() is not collective over all of it). */
#ifndef SAGOI_CIRCLE_H
#define SAGOI_CIRCLE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/types.h"
#include "base/process.h"
#include "base/status.h"
#include "move/segment.h"

enum {
    SAGOI_CHANNEL_TAGS = 32768, /* of one channel, where MPI has so many */
    SAGOI_NOTICES = 64          /* at the board */
};

struct sagoi_team;

/* Where a leader tells the others of its node of a team's control segment, while it is being made. */
typedef struct sagoi_notice {
    int64_t channel;
    sagoi_shared_name name;
} sagoi_notice;

/* Shared by the ranks of a node. */
typedef struct sagoi_board {
    sagoi_notice notices[SAGOI_NOTICES]; /* by channel, modulo */
    int32_t tables[];                    /* node_first[nodes + 1], then members[size] */
} sagoi_board;

/* At the beginning of what others keep with a circle, in memory that free() takes. */
typedef struct sagoi_circle_note {
    struct sagoi_circle_note *next;
} sagoi_circle_note;

typedef struct sagoi_circle {
    MPI_Comm all; /* Sago's own; its errors are returned */
    MPI_Group group;
    uint64_t serial; /* random, the same on all ranks; never 0 */
    int rank, size;
    int local_rank, local_size; /* on this node */
    int node, nodes;
    bool by_name; /* how the ranks of a node find shared memory */
    sagoi_board *board;
    int64_t board_bytes;
    uint64_t pid_namespace; /* of all ranks of the node; 0: not the same */
    cpu_set_t rank_cores;   /* that the node's ranks may use, all together */
    sagoi_process process;  /* this one */
    bool whole_job;     /* it has all ranks of the job, as far as MPI tells, each with one thread that calls MPI */
    bool threads;       /* a rank, perhaps another one, may open and close files in several at once */
    int channels, tags; /* how many; of each */
    _Atomic(sagoi_circle_note *) notes; /* the latest first; they stay until it is destroyed */
    _Atomic int64_t gatherings, pace;   /* calls that gathered between nodes and told how fast; the fastest */

    /* By team.c, under its lock. */
    struct sagoi_circle *next;
    struct sagoi_team *teams;
    int64_t users;      /* communicators that know it, teams in use, and whoever looks at it */
    int64_t idle_since; /* when `users` became 0, in a count of such events */
    uint64_t taken;     /* teams 0..63: in use here; at rank 0: promised to an open that is under way */
    int next_channel;   /* for teams from 64 on */
    bool spoiled;       /* a team of it broke here, perhaps not everywhere: found anew by the next file */
} sagoi_circle;

/* Collective over comm, whose errors are quiet; one rank: local.  The serial is the same on all ranks.  Same
 * outcome on all. */
sago_status sagoi_circle_create(MPI_Comm comm, uint64_t serial, sagoi_circle **created) SAGOI_CHECKED;
void sagoi_circle_destroy(sagoi_circle *circle);

/* The note is the circle's from here on.  Any thread may read the notes meanwhile. */
void sagoi_circle_keep(sagoi_circle *circle, sagoi_circle_note *note);

/* Data was gathered between the nodes at this pace (plan/route.h).  And the fastest so far; 0: fewer than `least`
 * calls have told.  Threads may have learned it on one rank and not yet on another: who relies on it agrees on it
 * first. */
void sagoi_circle_learn_pace(sagoi_circle *circle, int64_t pace);
int64_t sagoi_circle_pace(const sagoi_circle *circle, int64_t least);

/* Before there is a team to agree in: does every rank have what it needs? */
bool sagoi_all_have(MPI_Comm comm, bool have);

/* May Sago take another communicator?  A quarter of what MPI has is left to the program and its MPI library. */
bool sagoi_communicators_left(void);

#endif
