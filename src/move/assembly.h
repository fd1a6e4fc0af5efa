/* What convene.c and assembly.c share. */
#ifndef SAGOI_ASSEMBLY_H
#define SAGOI_ASSEMBLY_H

#include "move/control.h"
#include "move/convene.h"

/* Phases of the call that the word in the control segment is about. */
typedef enum {
    SAGOI_ASSEMBLY_OPEN,     /* some ranks of the node have arrived */
    SAGOI_ASSEMBLY_READY,    /* all ranks of the node have arrived; other nodes may not be ready */
    SAGOI_ASSEMBLY_PREPARED, /* all ranks of the node are bound until the decision */
    SAGOI_ASSEMBLY_TOGETHER, /* decided; all ranks are bound until the call is done */
    SAGOI_ASSEMBLY_APART     /* decided */
} sagoi_assembly_phase;

typedef struct sagoi_assembly_state {
    int64_t call, arrived;
    bool unwilling;
    sagoi_assembly_phase phase;
} sagoi_assembly_state;

/* The state of a call.  A call with a larger number than the word's is open; one with a smaller number was left by
 * the other ranks, so it is apart. */
sagoi_assembly_state sagoi_assembly_state_of(const sagoi_team *team, int64_t call);
/* Moves the call to the phase `to`; false: its phase is none of `from`, a set of bits. */
bool sagoi_assembly_turn(const sagoi_team *team, int64_t call, unsigned from, sagoi_assembly_phase to);

/* Called whenever the leader looks, if there are several nodes.  false: some node does not know the decision
 * yet. */
bool sagoi_assembly_look(const sagoi_convening *convening);

sago_status sagoi_assembly_create(sagoi_team *team) SAGOI_CHECKED;
/* Has this leader sent a message? */
bool sagoi_assembly_spoke(const sagoi_team *team);
/* Collective among the leaders: takes leave, so that no message is under way afterwards. */
sago_status sagoi_assembly_end(sagoi_team *team) SAGOI_CHECKED;
void sagoi_assembly_destroy(sagoi_team *team);

#endif
