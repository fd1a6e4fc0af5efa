/* A circle: the ranks of a communicator as Sago knows them, shared by the teams of all files on the same ranks.
 *
 * Communicators are scarce: MPICH has context ids for about 2,000.  So files of the same ranks in the same
 * order share one communicator of Sago's, whatever communicators the program opened them on.  Their messages
 * differ by tags: every team has a *channel*, a range of tags.  All communicators of one rank have the same
 * circle, which is made once.
 *
 * No collective call is made on a circle's communicator, since teams use it in any order and in any thread.
 * MPI_Comm_create_group() is allowed, since it is not collective over the whole communicator. */
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
    SAGOI_CHANNEL_TAGS = 32768, /* tags of one channel, where MPI has so many */
    SAGOI_NOTICES = 64          /* notices on the board */
};

struct sagoi_team;

/* Tells the other ranks of a node where the leader has made a team's control segment. */
typedef struct sagoi_notice {
    int64_t channel;
    sagoi_shared_name name;
} sagoi_notice;

/* Shared by the ranks of a node. */
typedef struct sagoi_board {
    sagoi_notice notices[SAGOI_NOTICES]; /* notices of the channels, numbered modulo SAGOI_NOTICES */
    int32_t tables[];                    /* node_first[nodes + 1], then members[size] */
} sagoi_board;

/* Begins whatever other folders keep with a circle; the memory must be such that free() takes it. */
typedef struct sagoi_circle_note {
    struct sagoi_circle_note *next;
} sagoi_circle_note;

typedef struct sagoi_circle {
    MPI_Comm all; /* Sago's communicator, whose errors are returned */
    MPI_Group group;
    uint64_t serial; /* random, equal on all ranks; never 0 */
    int rank, size;
    int local_rank, local_size; /* place on this node, ranks of this node */
    int node, nodes;
    bool by_name; /* the ranks of a node find shared memory by a name (segment.h) */
    sagoi_board *board;
    int64_t board_bytes;
    uint64_t pid_namespace; /* namespace of all ranks of the node; 0: the ranks are in different ones */
    cpu_set_t rank_cores;   /* cores that the ranks of the node may use, all together */
    sagoi_process process;  /* this one */
    bool whole_job; /* as far as MPI tells, these are all ranks of the job, each with one thread that calls MPI */
    bool threads;   /* some rank may open and close files in several threads at once */
    int channels, tags;                 /* number of channels; tags of each */
    _Atomic(sagoi_circle_note *) notes; /* the latest first; notes stay until the circle is destroyed */
    /* Number of calls that measured the pace of gathering between nodes; the fastest pace, as in plan/route.h. */
    _Atomic int64_t gatherings, pace;

    /* What follows belongs to team.c, and is guarded by its lock. */
    struct sagoi_circle *next;
    struct sagoi_team *teams;
    int64_t users; /* communicators that know the circle, teams in use, and functions that look at the circle */
    int64_t idle_since; /* when `users` became 0, in a count of such events */
    /* Teams 0 to 63 that are in use here; on rank 0 also those promised to an open that is under way. */
    uint64_t taken;
    int next_channel; /* the channel to try next for teams from 64 on */
    bool spoiled;     /* a team broke here, perhaps not on all ranks, so the next file needs a new circle */
} sagoi_circle;

/* Collective over comm, whose errors are returned; local for one rank.  The serial is equal on all ranks, and so
 * is the outcome. */
sago_status sagoi_circle_create(MPI_Comm comm, uint64_t serial, sagoi_circle **created) SAGOI_CHECKED;
void sagoi_circle_destroy(sagoi_circle *circle);

/* Gives the note to the circle.  Other threads may read the notes meanwhile. */
void sagoi_circle_keep(sagoi_circle *circle, sagoi_circle_note *note);

/* Data was gathered between the nodes at this pace (plan/route.h).  The second function returns the fastest pace
 * so far; 0: fewer than `least` calls have told.  Different ranks may have learned different paces, so a caller
 * agrees on the pace before relying on it. */
void sagoi_circle_learn_pace(sagoi_circle *circle, int64_t pace);
int64_t sagoi_circle_pace(const sagoi_circle *circle, int64_t least);

/* Before there is a team that could agree: does every rank have what it needs? */
bool sagoi_all_have(MPI_Comm comm, bool have);

/* May Sago take another communicator?  Sago leaves a quarter of MPI's communicators to the program and its MPI
 * library. */
bool sagoi_communicators_left(void);

#endif
