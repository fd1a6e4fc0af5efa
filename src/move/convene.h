/* Coming together for a nonblocking call, without needing anybody.
 *
 * Ranks that run a call together wait for each other, so they may do so only while all of them are inside of Sago
 * and stay there until it is done.  A process says that it stays (sagoi_stay_begin()) where it waits anyway; its
 * rank then arrives at the call that is next.  When all ranks of the file have arrived they are bound: none leaves
 * before the call is done, and they run it together.  Until then each may leave, and come back; and whoever has
 * waited as long as it is worth decides that all go alone, those too that have not come yet.  Nobody who is not
 * bound ever needs anybody.
 *
 *   on a node     one atomic word of the control segment holds the number of the call, how many have arrived, and
 *                 what was decided.  Numbers only grow: a rank that finds a greater one than its own was too late
 *                 for its call, on which the others went alone.
 *   between them  assembly.c: leaders in two phases, with messages.
 *
 * Convenings and who stays are guarded by the lock of the fibers (base/fiber.h). */
#ifndef SAGOI_CONVENE_H
#define SAGOI_CONVENE_H

#include "base/futex.h"
#include "move/calls.h"

typedef enum { SAGOI_UNDECIDED, SAGOI_GO_TOGETHER, SAGOI_GO_ALONE } sagoi_convened;

/* One rank's part in one call; on the stack of the fiber that runs it. */
typedef struct sagoi_convening {
    sagoi_team *team;
    int64_t call;   /* its number on this file, from 1 */
    bool unwilling; /* together it gains; if no rank does, all go alone at once */
    double limit;   /* seconds that waiting is worth; 0: it does not come at all */
    bool arrived;
    bool all_arrived;      /* all ranks had arrived: what they did before is done */
    double waited, looked; /* seconds; when */
    sagoi_vigil vigil;     /* while it is bound, and others are to decide */
    struct sagoi_convening *next;
} sagoi_convening;

/* ---- With the lock of the fibers ---- */

/* The caller has set what comes before `arrived`, the rest is 0. */
void sagoi_convene_begin(sagoi_convening *convening);
/* Never waits.  Other words are to be looked at again when sagoi_convene_word() has changed. */
sagoi_convened sagoi_convene_look(sagoi_convening *convening);
sagoi_futex *sagoi_convene_word(const sagoi_convening *convening);
/* The call is done. */
void sagoi_convene_end(sagoi_convening *convening);

/* ---- Without it ---- */

/* This process waits for something, and lets fibers go on meanwhile.  Leaving, it stays for those calls that it is
 * bound to.  May be nested, and used by several threads. */
void sagoi_stay_begin(void);
void sagoi_stay_end(void);
/* Has it arrived where the others have not yet, and will it leave again at the next end? */
bool sagoi_stay_is_brief(void);

/* ---- Life, with that of the file ---- */

/* Local, before all ranks meet; nobody uses the team yet. */
sago_status sagoi_convene_open(sagoi_team *team) SAGOI_CHECKED;
/* Collective: no message is left on its way. */
sago_status sagoi_convene_close(sagoi_team *team) SAGOI_CHECKED;
/* The same without communication, for a file that is given up. */
void sagoi_convene_drop(sagoi_team *team);

#endif
