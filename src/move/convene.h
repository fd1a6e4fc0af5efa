/* How ranks come together for a nonblocking call, without any rank depending on another one.
 *
 * Ranks that run a call together wait for each other.  So they may do so only while all of them are inside of
 * Sago, and stay there until the call is done.  A process says that it stays (sagoi_stay_begin()) in places
 * where it waits anyway; its rank then *arrives* at the next call.  When all ranks of the file have arrived
 * they are *bound*: no rank leaves before the call is done, and they run the call together.  Until then each
 * rank may leave and come back.  A rank that has waited as long as waiting is worth decides that all ranks go
 * alone, also those that have not come yet.  A rank that is not bound never depends on another one.
 *
 * On a node one atomic word of the control segment holds the number of the call, how many ranks have arrived, and
 * the decision.  Numbers only grow: a rank that finds a larger number than its own call's has come too late for
 * its call, on which the other ranks went alone.  Between nodes the leaders vote in two phases, by messages
 * (assembly.c).
 *
 * The lock of the fibers (base/fiber.h) guards the list of convenings, and how many callers stay. */
#ifndef SAGOI_CONVENE_H
#define SAGOI_CONVENE_H

#include "base/futex.h"
#include "move/calls.h"

typedef enum { SAGOI_UNDECIDED, SAGOI_GO_TOGETHER, SAGOI_GO_ALONE } sagoi_convened;

/* One rank's part in one call; it lies on the stack of the fiber that runs the call. */
typedef struct sagoi_convening {
    sagoi_team *team;
    int64_t call; /* number of the call on its file, from 1 */
    /* This rank would rather not go alone, since going together gains.  If no rank is unwilling, all ranks go
     * alone at once. */
    bool unwilling;
    double limit; /* seconds that waiting is worth; 0: the rank does not arrive at all */
    bool arrived;
    bool all_arrived;      /* all ranks had arrived, so the calls that they started before are done */
    double waited, looked; /* seconds; time of the last look */
    sagoi_vigil vigil;     /* what a bound rank watches while other ranks decide */
    struct sagoi_convening *next;
} sagoi_convening;

/* ---- With the lock of the fibers ---- */

/* The caller has set the fields before `arrived`; the other fields are 0. */
void sagoi_convene_begin(sagoi_convening *convening);
/* Looks how far the call has come, and never waits.  The caller looks again when sagoi_convene_word() has
 * changed. */
sagoi_convened sagoi_convene_look(sagoi_convening *convening);
sagoi_futex *sagoi_convene_word(const sagoi_convening *convening);
/* Called when the call is done. */
void sagoi_convene_end(sagoi_convening *convening);

/* ---- Without it ---- */

/* This process waits for something and lets fibers go on meanwhile.  sagoi_stay_end() stays until calls are done
 * that the process is bound to.  The pair may be nested, and used in several threads. */
void sagoi_stay_begin(void);
void sagoi_stay_end(void);
/* Has this process arrived at a call at which other ranks have not, and will it leave at the next
 * sagoi_stay_end()? */
bool sagoi_stay_is_brief(void);

/* ---- Life, with that of the file ---- */

/* Local, called before all ranks meet; no other rank uses the team yet. */
sago_status sagoi_convene_open(sagoi_team *team) SAGOI_CHECKED;
/* Has this rank sent messages to come together with other nodes? */
bool sagoi_convene_spoke(const sagoi_team *team);
/* Collective: afterwards no message is under way.  `spoke`: some rank has sent any. */
sago_status sagoi_convene_close(sagoi_team *team, bool spoke) SAGOI_CHECKED;
/* Does the same without communication, for a file that is given up. */
void sagoi_convene_drop(sagoi_team *team);

#endif
