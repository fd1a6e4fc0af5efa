/* What convene.c and assembly.c share. */
#ifndef SAGOI_ASSEMBLY_H
#define SAGOI_ASSEMBLY_H

#include "move/control.h"
#include "move/convene.h"

/* Of the call that the control segment's word is about. */
typedef enum {
    SAGOI_CALL_OPEN,     /* some ranks of the node have arrived */
    SAGOI_CALL_READY,    /* all have; there are other nodes */
    SAGOI_CALL_PREPARED, /* and are bound until it is decided */
    SAGOI_CALL_TOGETHER, /* decided; all are bound until it is done */
    SAGOI_CALL_APART     /* decided */
} sagoi_call_phase;

typedef struct sagoi_call_state {
    int64_t call, arrived;
    bool unwilling;
    sagoi_call_phase phase;
} sagoi_call_state;

/* The state as this call sees it: one that nobody has come to yet is open, one that others have left is apart. */
sagoi_call_state sagoi_call_state_of(const sagoi_team *team, int64_t call);
/* From one phase to another; false: it is in none of `from`, a set of bits. */
bool sagoi_call_turn(const sagoi_team *team, int64_t call, unsigned from, sagoi_call_phase to);

/* At a look of the leader's, where there are several nodes.  False: what was decided is not told to all yet. */
bool sagoi_assembly_look(const sagoi_convening *convening);

sago_status sagoi_assembly_create(sagoi_team *team) SAGOI_CHECKED;
sago_status sagoi_assembly_end(sagoi_team *team) SAGOI_CHECKED;
void sagoi_assembly_destroy(sagoi_team *team);

#endif
