/* MPI calls among the ranks of a team: calls that fail, and calls that never end because they failed on another
 * rank.
 *
 * A call that fails is made again (base/again.h).  If it fails for good on one rank, other ranks would wait for
 * that rank for ever: the team is broken, and every rank has to learn that.
 *   - The ranks of the node learn it at once, from the control segment.
 *   - Other nodes get a message from any rank of this node that can still send; their leaders look for such news
 *     while they wait.
 *   - Where no rank of a node can send, other nodes hear nothing.  A rank that has waited longer than the hint
 *     sago_patience allows asks all nodes.  Nodes whose leader does not answer are silent, and the team is broken.
 * No rank waits in a broken team, and its file can only be closed.  Memory that MPI may still write to is kept. */
#ifndef SAGOI_CALLS_H
#define SAGOI_CALLS_H

#include "base/again.h"
#include "move/team.h"

/* ---- Completing requests; false: failed for good ---- */

bool sagoi_test(MPI_Request *request, int *done);
bool sagoi_test_all(int64_t n, MPI_Request requests[], int *done);
/* `statuses` has room for n, and is set when all are done. */
bool sagoi_test_all_into(int64_t n, MPI_Request requests[], int *done, MPI_Status statuses[]);
/* `statuses` has room for n. */
bool sagoi_test_some(int64_t n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]);

/* The size of a message that was received. */
int64_t sagoi_bytes_received(const MPI_Status *status);

/* Gives a request up: its result does not matter any more. */
void sagoi_request_forget(MPI_Request *request, bool cancelled);

/* ---- Waiting ---- */

/* Waits for a collective call of the team that was made in its nonblocking form; `started`: the call could be
 * started.  Used like this:
 * sagoi_collective(team, SAGOI_DONE(MPI_Ibcast(..., &request)), &request, "telling all what was found") */
sago_status sagoi_collective(sagoi_team *team, bool started, MPI_Request *request, const char *what) SAGOI_CHECKED;
/* Waits for many requests in the same way. */
sago_status sagoi_wait_all(sagoi_team *team, int64_t n, MPI_Request requests[], const char *what) SAGOI_CHECKED;

/* The state of a wait for other nodes; all zero at first.  To be looked at in every turn of the wait. */
typedef struct sagoi_vigil {
    int64_t turns;
    double looked; /* time of the last look */
    double waited; /* seconds waited, without the time in which the program did something else */
    /* The value of `waited` when the other nodes were asked whether they are there; 0: not asked yet. */
    double asked;
} sagoi_vigil;
/* `moved`: something happened in this turn.  false: the team is broken, and the wait ends. */
bool sagoi_vigil_keep(sagoi_team *team, sagoi_vigil *vigil, bool moved);

/* ---- Broken teams ---- */

/* Breaks the team because an MPI call failed for good on this rank, as the thread's message says; returns
 * `status`. */
sago_status sagoi_break(sagoi_team *team, sago_status status) SAGOI_COLD;
/* Breaks the team for the reason `why`.  From here on no rank of this node waits any more. */
void sagoi_break_node(sagoi_team *team, const char *why) SAGOI_COLD;
bool sagoi_is_broken(const sagoi_team *team);
/* This rank takes no further part, for the reason `why`, although its MPI calls succeed.  The team is broken, but
 * other teams of the same ranks are not. */
void sagoi_leave(sagoi_team *team, const char *why) SAGOI_COLD;
bool sagoi_is_left(const sagoi_team *team);
/* Fails with the reason why the team is broken. */
sago_status sagoi_broken(sagoi_team *team) SAGOI_COLD;
/* Receives what other ranks have sent about broken teams. */
void sagoi_hear_news(sagoi_team *team);
/* Frees memory that messages were received in, unless the team is broken and MPI may still write to that
 * memory. */
void sagoi_free_received(const sagoi_team *team, void *memory);
/* Frees a communicator made from the team's, unless the team is broken: then some rank may never come to free
 * it. */
void sagoi_free_comm(const sagoi_team *team, MPI_Comm *comm);

#endif
