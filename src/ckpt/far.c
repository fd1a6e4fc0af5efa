/* Groups of several nodes (002, section 3): a rank on another node than its writer sends its bytes of a window,
 * and the writer receives them in their places.  Both happen inside the call: the writer's thread never calls MPI,
 * and a rank that went on computing would not help MPI to move its messages.  A rank goes on when its own bytes
 * were received. */
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "ckpt/state.h"
#include "move/calls.h"
#include "move/collect.h"

enum { TAG_BYTES = 1, TAG_END = 2 };
/* Pieces of a message, so that few messages are under way and their memory is limited. */
enum { PIECES_A_MESSAGE = 4 };

/* The last message of a rank for a window. */
typedef struct sagoi_far_end {
    int32_t failed; /* 1 + the rank that has failed */
    char why[SAGOI_POOL_WHY];
} sagoi_far_end;

/* Bytes of a message, equal on both sides. */
static int64_t message_bytes(const sago_ckpt *ckpt) { return PIECES_A_MESSAGE * ckpt->layout.intent.piece; }

/* The bytes of [from, to) that a rank of the group has. */
typedef struct own_range {
    int64_t from, to;
} own_range;

static own_range range_of(const sago_ckpt *ckpt, int rank, int64_t from, int64_t to) {
    const int64_t *before = ckpt->layout.before;
    own_range range = {sagoi_max(from, before[rank]), sagoi_min(to, before[rank + 1])};
    return range;
}

void sagoi_far_cleanup(sago_ckpt *ckpt) {
    sagoi_far *far = &ckpt->far;
    for (int i = 0; i < 2; i++)
        sagoi_free_received(ckpt->team, far->packed[i]);
    sagoi_free_received(ckpt->team, far->ends);
    sagoi_free_received(ckpt->team, far->requests);
    *far = (sagoi_far){0};
}

sago_status sagoi_far_prepare(sago_ckpt *ckpt) {
    const sagoi_groups *groups = &ckpt->groups;
    sagoi_far *far = &ckpt->far;
    int64_t others = groups->size - groups->near;
    bool enough = true;
    sagoi_far_cleanup(ckpt);
    if (groups->away) {
        for (int i = 0; i < 2; i++)
            far->packed[i] = malloc((size_t)message_bytes(ckpt));
        far->ends = calloc(1, sizeof *far->ends);
        enough = far->packed[0] && far->packed[1] && far->ends;
    } else if (groups->rank == 0 && others > 0) {
        /* each rank has one message more than whole messages fit into the window, and an end */
        far->requests =
            calloc((size_t)(ckpt->pool.window / message_bytes(ckpt) + 2 * others + 1), sizeof *far->requests);
        far->ends = calloc((size_t)others, sizeof *far->ends);
        enough = far->requests && far->ends;
    }
    return enough ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the messages of a group of nodes");
}

/* ---- Who sends ---- */

static void note_end(const sago_ckpt *ckpt, sago_status status) {
    sagoi_far_end *end = ckpt->far.ends;
    if (!status || end->failed)
        return;
    end->failed = 1 + ckpt->team->rank;
    (void)snprintf(end->why, sizeof end->why, "%s", sagoi_message());
    sagoi_message_clear();
}

/* A request that was never started is no failure. */
static sago_status finish_one(sago_ckpt *ckpt, MPI_Request *request) {
    return *request == MPI_REQUEST_NULL ? SAGO_OK : sagoi_finish_messages(ckpt->team, 1, request);
}

/* At most two messages are under way: one is packed while the other travels. */
sago_status sagoi_far_send(sago_ckpt *ckpt, int64_t from, int64_t to) {
    own_range mine = range_of(ckpt, ckpt->groups.rank, from, to);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    sago_status status = SAGO_OK;
    if (mine.from >= mine.to)
        return SAGO_OK;
    *ckpt->far.ends = (sagoi_far_end){0};
    int turn = 0;
    for (int64_t at = mine.from, next; at < mine.to && !status; at = next, turn = 1 - turn) {
        next = sagoi_min(at + message_bytes(ckpt), mine.to);
        status = finish_one(ckpt, &requests[turn]);
        if (status)
            return status;
        note_end(ckpt, sagoi_slices_copy(ckpt, ckpt->far.packed[turn], at, next));
        sagoi_message_to message = {ckpt->groups.mine, 0, TAG_BYTES, ckpt->far.packed[turn], next - at};
        status = sagoi_start_send(ckpt->team, &message, &requests[turn]);
    }
    for (int i = 0; i < 2 && !status; i++)
        status = finish_one(ckpt, &requests[i]);
    sagoi_message_to end = {ckpt->groups.mine, 0, TAG_END, ckpt->far.ends, sizeof *ckpt->far.ends};
    if (!status)
        status = sagoi_start_send(ckpt->team, &end, &requests[0]);
    return status ? status : sagoi_finish_messages(ckpt->team, 1, requests);
}

/* ---- Who receives ---- */

static sago_status expect_rank(sago_ckpt *ckpt, int rank, own_range theirs, char *to_memory, int64_t *n) {
    sago_status status = SAGO_OK;
    for (int64_t at = theirs.from, next; at < theirs.to && !status; at = next) {
        next = sagoi_min(at + message_bytes(ckpt), theirs.to);
        sagoi_message_to message = {ckpt->groups.mine, rank, TAG_BYTES, to_memory + (at - theirs.from), next - at};
        status = sagoi_start_receive(ckpt->team, &message, &ckpt->far.requests[(*n)++]);
    }
    sagoi_message_to end = {ckpt->groups.mine, rank, TAG_END, &ckpt->far.ends[rank - ckpt->groups.near],
                            sizeof *ckpt->far.ends};
    return status ? status : sagoi_start_receive(ckpt->team, &end, &ckpt->far.requests[(*n)++]);
}

/* Ranks without bytes in this window have sent nothing, and so have succeeded. */
static void look_at_ends(sago_ckpt *ckpt, int64_t from, int64_t to) {
    const sagoi_groups *groups = &ckpt->groups;
    for (int rank = groups->near; rank < groups->size; rank++) {
        const sagoi_far_end *end = &ckpt->far.ends[rank - groups->near];
        own_range theirs = range_of(ckpt, rank, from, to);
        if (theirs.from >= theirs.to || !end->failed)
            continue;
        (void)sagoi_fail(SAGO_ERR_IO, "%.*s", SAGOI_POOL_WHY - 1, end->why);
        sagoi_pool_spoil(&ckpt->pool, end->failed - 1);
        sagoi_message_clear();
    }
}

sago_status sagoi_far_receive(sago_ckpt *ckpt, char *window, int64_t from, int64_t to) {
    const sagoi_groups *groups = &ckpt->groups;
    int64_t n = 0;
    sago_status status = SAGO_OK;
    for (int rank = groups->near; rank < groups->size && !status; rank++) {
        own_range theirs = range_of(ckpt, rank, from, to);
        if (theirs.from < theirs.to)
            status = expect_rank(ckpt, rank, theirs, window + (theirs.from - from), &n);
    }
    if (!status)
        status = sagoi_finish_messages(ckpt->team, n, ckpt->far.requests);
    if (status)
        return status;
    look_at_ends(ckpt, from, to);
    sagoi_pool_fill_for(&ckpt->pool, (uint32_t)(groups->size - groups->near));
    return SAGO_OK;
}
