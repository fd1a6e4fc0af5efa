/* The failure of one rank becomes the failure of all ranks: the same status, and the failing rank's message. */
#include <stdio.h>
#include <string.h>

#include "move/control.h"
#include "move/leaders.h"

enum { LOCAL_BITS = 20, NODE_BITS = 24 };

/* Does the message end with the rank that it comes from?  Then it was agreed on before, in this same call. */
static bool is_signed(const char *message) {
    const char *sign = strrchr(message, '(');
    int number, length = 0;
    return sign && sscanf(sign, "(rank %d)%n", &number, &length) == 1 && length > 0 && !sign[length];
}

static void sign(const char *message, int rank, char signed_message[SAGOI_MESSAGE_MAX]) {
    if (is_signed(message))
        (void)snprintf(signed_message, SAGOI_MESSAGE_MAX, "%s", message);
    else
        (void)snprintf(signed_message, SAGOI_MESSAGE_MAX, "%.480s (rank %d)", message, rank);
}

/* Orders failures: the worst status first, then the lowest node, then the node's lowest rank. */
int64_t sagoi_verdict_code(sagoi_team *team, sago_status status) {
    if (!status)
        return 0;
    sign(sagoi_message(), team->rank, team->control->slots[team->local_rank].message);
    int64_t node = (1 << NODE_BITS) - 1 - team->node, local = (1 << LOCAL_BITS) - 1 - team->local_rank;
    return (int64_t)status << (NODE_BITS + LOCAL_BITS) | node << LOCAL_BITS | local;
}

typedef struct spread_work {
    int node, local;
} spread_work;

/* Brings the message to this node; called by the rank that runs the meeting. */
static sago_status spread_message(sagoi_team *team, void *arg) {
    const spread_work *work = arg;
    sagoi_control *control = team->control;
    if (team->node == work->node)
        memcpy(control->message, control->slots[work->local].message, SAGOI_MESSAGE_MAX);
    return team->nodes == 1 ? SAGO_OK : sagoi_leaders_tell(team, work->node, control->message, SAGOI_MESSAGE_MAX);
}

sago_status sagoi_verdict(sagoi_team *team, int64_t code) {
    if (code == 0)
        return SAGO_OK;
    if (code == INT64_MAX)
        return sagoi_fail(SAGO_ERR_MPI, "the nodes could not agree: an MPI call failed");
    int64_t node = code >> LOCAL_BITS & ((1 << NODE_BITS) - 1), local = code & ((1 << LOCAL_BITS) - 1);
    spread_work work = {(int)((1 << NODE_BITS) - 1 - node), (int)((1 << LOCAL_BITS) - 1 - local)};
    sago_status met = sagoi_meet_as_agreed(team, spread_message, &work);
    if (met)
        return met;
    char text[SAGOI_MESSAGE_MAX];
    memcpy(text, team->control->message, sizeof text);
    /* No rank may write a new message while others still read this one. */
    met = sagoi_gate(team);
    sagoi_message_set(text);
    return met ? met : (sago_status)(code >> (NODE_BITS + LOCAL_BITS));
}

sago_status sagoi_verdict_of_all(sago_status status) {
    char text[SAGOI_MESSAGE_MAX];
    sign(sagoi_message(), 0, text);
    sagoi_message_set(text);
    return status;
}

sago_status sagoi_agree_with(sagoi_team *team, sago_status status, sagoi_agreement *agreement) {
    agreement->max[0] = sagoi_verdict_code(team, status);
    sago_status met = sagoi_agree(team, agreement, NULL, NULL, NULL);
    return met ? met : sagoi_verdict(team, agreement->max[0]);
}

sago_status sagoi_agree_status(sagoi_team *team, sago_status status) {
    sagoi_agreement agreement = {0};
    return sagoi_agree_with(team, status, &agreement);
}

sago_status sagoi_agree_equal(sagoi_team *team, sago_status status, int64_t value, const char *mismatch) {
    enum { MAX_VERDICT, MAX_VALUE };
    sagoi_agreement agreed = {0};
    sagoi_agreement_claim(&agreed, MAX_VALUE, value);
    status = sagoi_agree_with(team, status, &agreed);
    if (status || sagoi_agreement_is_equal(&agreed, MAX_VALUE))
        return status;
    return sagoi_fail(SAGO_ERR_MISMATCH, "%s", mismatch);
}

/* Brings the code of rank 0, the first rank of the first node, to this node. */
static sago_status spread_code(sagoi_team *team, void *arg) {
    (void)arg;
    int64_t *code = &team->control->of_all.max[0];
    *code = team->control->slots[0].agreement.max[0];
    sago_status status = team->nodes == 1 ? SAGO_OK : sagoi_leaders_tell(team, 0, code, sizeof *code);
    if (status)
        *code = INT64_MAX;
    return status;
}

sago_status sagoi_hear_first(sagoi_team *team, sago_status status) {
    if (team->rank == 0)
        team->control->slots[0].agreement.max[0] = sagoi_verdict_code(team, status);
    sago_status met = sagoi_meet_as_agreed(team, spread_code, NULL);
    return met ? met : sagoi_verdict(team, team->control->of_all.max[0]);
}
