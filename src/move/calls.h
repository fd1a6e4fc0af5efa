/* MPI calls among the ranks of a team that fail, or that never end because another rank's failed.
 *
 * What fails once is made again (base/again.h).  What fails for good on one rank leaves the others waiting for it:
 * the team is broken, and every rank is to learn it.
 *   - On the node through the control segment, at once.
 *   - On other nodes from whichever rank of this one can still send: their leaders look for such news while they
 * wait.
 *   - Where nobody of a node can send, others only hear nothing.  Whoever has waited for longer than the hint
 *     sago_patience allows asks all nodes; those whose leader does not answer are silent, and the team is broken.
 * Nobody waits for anybody in a broken team, whose file can only be closed.  What MPI may still write to is kept.
 */
#ifndef SAGOI_CALLS_H
#define SAGOI_CALLS_H

#include "base/again.h"
#include "move/team.h"

/* ---- Completing requests; false: failed for good ---- */

bool sagoi_test(MPI_Request *request, int *done);
bool sagoi_test_all(int64_t n, MPI_Request requests[], int *done);
/* `statuses` has room for n. */
bool sagoi_test_some(int64_t n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]);

/* Of a message that has come. */
int64_t sagoi_bytes_received(const MPI_Status *status);

/* Nobody asks for it any more. */
void sagoi_request_forget(MPI_Request *request, bool cancelled);

/* ---- Waiting ---- */

/* Ends a collective call of the team in its nonblocking form, of which `started` tells whether it could be
 * started: sagoi_collective(team, SAGOI_DONE(MPI_Ibcast(..., &request)), &request, "telling all what was found")
 */
sago_status sagoi_collective(sagoi_team *team, bool started, MPI_Request *request, const char *what) SAGOI_CHECKED;
/* The same for many requests. */
sago_status sagoi_wait_all(sagoi_team *team, int64_t n, MPI_Request requests[], const char *what) SAGOI_CHECKED;

/* A wait for other nodes, all zero at first; to be looked at in every turn in which nothing `moved`. */
typedef struct sagoi_vigil {
    int64_t turns;
    double looked; /* when, last */
    double waited; /* seconds, without those in which the program did something else */
    double asked;  /* how many of them had passed when the others were asked whether they are there; 0: not yet */
} sagoi_vigil;
/* False: the team is broken, and the wait ends. */
bool sagoi_vigil_keep(sagoi_team *team, sagoi_vigil *vigil, bool moved);

/* ---- Broken teams ---- */

/* An MPI call failed for good on this rank, as the thread's message says; returns `status`. */
sago_status sagoi_break(sagoi_team *team, sago_status status) SAGOI_COLD;
/* Somebody is gone, as `why` says: from here on nobody of this node waits any more. */
void sagoi_break_node(sagoi_team *team, const char *why) SAGOI_COLD;
bool sagoi_is_broken(const sagoi_team *team);
/* This rank takes no further part, as `why` says, though MPI serves it well: the team is broken, but not what
 * other teams of the same ranks need. */
void sagoi_leave(sagoi_team *team, const char *why) SAGOI_COLD;
bool sagoi_is_left(const sagoi_team *team);
/* Says why the team is broken. */
sago_status sagoi_broken(sagoi_team *team) SAGOI_COLD;
/* What other ranks sent about that. */
void sagoi_hear_news(sagoi_team *team);
/* Frees memory that messages came into, unless the team is broken and MPI may still write to it. */
void sagoi_free_received(const sagoi_team *team, void *memory);
/* Frees a communicator made from the team's, unless somebody may never come to do so. */
void sagoi_free_comm(const sagoi_team *team, MPI_Comm *comm);

#endif
