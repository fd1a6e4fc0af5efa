/* Collective calls of MPI in their nonblocking form, for which a team waits.
 *
 * If a team breaks meanwhile, MPI may write to the buffers of such a call at any time later.  So the buffers
 * are Sago's own, and are then kept.  Only where there is no memory for them, the caller's buffers are used. */
#include "move/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "move/calls.h"
#include "mpi/quiet.h"

typedef struct buffers {
    char *own; /* NULL: there is no memory, and the caller's buffers are used */
    char *in, *out;
    void *wanted;
    int64_t out_bytes;
} buffers;

/* Makes one block with a copy of the input and with room for the result.  The caller's `to`, which gets the result
 * at the end, may hold the input, too. */
static buffers borrow(const void *from, int64_t in_bytes, void *to, int64_t out_bytes) {
    int64_t behind = sagoi_round_up(in_bytes, 16);
    buffers b = {.own = malloc((size_t)(behind + out_bytes) + 1), .wanted = to, .out_bytes = out_bytes};
    b.in = b.own ? b.own : (char *)(uintptr_t)from;
    b.out = b.own ? b.own + behind : to;
    if (b.own && in_bytes > 0)
        memcpy(b.in, from, (size_t)in_bytes);
    if (b.own && out_bytes > 0)
        memcpy(b.out, to, (size_t)out_bytes);
    return b;
}

static sago_status hand_back(buffers *b, sagoi_team *team, sago_status status) {
    if (!status && b->own && b->out_bytes > 0)
        memcpy(b->wanted, b->out, (size_t)b->out_bytes);
    sagoi_free_received(team, b->own);
    return status;
}

static int ranks_of(MPI_Comm comm) {
    int size = 1;
    (void)SAGOI_DONE(MPI_Comm_size(comm, &size));
    return size;
}

static int rank_in(MPI_Comm comm) {
    int rank = 0;
    (void)SAGOI_DONE(MPI_Comm_rank(comm, &rank));
    return rank;
}

static int64_t size_of(MPI_Datatype type) {
    int bytes = 1;
    sagoi_quiet_begin(MPI_COMM_NULL);
    (void)SAGOI_DONE(MPI_Type_size(type, &bytes));
    sagoi_quiet_end(MPI_COMM_NULL);
    return bytes;
}

sago_status sagoi_allreduce(sagoi_team *team, MPI_Comm comm, void *values, int64_t n, MPI_Datatype type,
                            MPI_Op op) {
    MPI_Request request;
    buffers b = borrow(NULL, 0, values, n * size_of(type));
    bool started = SAGOI_DONE(MPI_Iallreduce(MPI_IN_PLACE, b.out, (int)n, type, op, comm, &request));
    return hand_back(&b, team, sagoi_collective(team, started, &request, "MPI_Allreduce"));
}

sago_status sagoi_sums_before(sagoi_team *team, MPI_Comm comm, const int64_t mine[], int64_t n, int64_t before[]) {
    MPI_Request request;
    for (int64_t i = 0; i < n; i++)
        before[i] = 0;
    buffers b = borrow(mine, n * (int64_t)sizeof *mine, before, n * (int64_t)sizeof *before);
    bool started = SAGOI_DONE(MPI_Iexscan(b.in, b.out, (int)n, MPI_INT64_T, MPI_SUM, comm, &request));
    return hand_back(&b, team, sagoi_collective(team, started, &request, "MPI_Exscan"));
}

sago_status sagoi_bcast(sagoi_team *team, MPI_Comm comm, void *bytes, int64_t n) {
    MPI_Request request;
    buffers b = borrow(NULL, 0, bytes, n);
    bool started = SAGOI_DONE(MPI_Ibcast(b.out, (int)n, MPI_BYTE, 0, comm, &request));
    return hand_back(&b, team, sagoi_collective(team, started, &request, "MPI_Bcast"));
}

sago_status sagoi_gather(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) {
    MPI_Request request;
    buffers b = borrow(mine, n, all, rank_in(comm) == 0 ? n * ranks_of(comm) : 0);
    bool started = SAGOI_DONE(MPI_Igather(b.in, (int)n, MPI_BYTE, b.out, (int)n, MPI_BYTE, 0, comm, &request));
    return hand_back(&b, team, sagoi_collective(team, started, &request, "MPI_Gather"));
}

sago_status sagoi_allgather(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) {
    MPI_Request request;
    buffers b = borrow(mine, n, all, n * ranks_of(comm));
    bool started = SAGOI_DONE(MPI_Iallgather(b.in, (int)n, MPI_BYTE, b.out, (int)n, MPI_BYTE, comm, &request));
    return hand_back(&b, team, sagoi_collective(team, started, &request, "MPI_Allgather"));
}

static int64_t bytes_of(const sagoi_parts *parts, int ranks) {
    int64_t end = 0;
    for (int i = 0; i < ranks; i++)
        end = sagoi_max(end, (int64_t)parts->places[i] + parts->sizes[i]);
    return end;
}

sago_status sagoi_gather_parts(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n,
                               const sagoi_parts *parts) {
    MPI_Request request;
    buffers b = borrow(mine, n, parts->all, rank_in(comm) == 0 ? bytes_of(parts, ranks_of(comm)) : 0);
    bool started = SAGOI_DONE(
        MPI_Igatherv(b.in, (int)n, MPI_BYTE, b.out, parts->sizes, parts->places, MPI_BYTE, 0, comm, &request));
    return hand_back(&b, team, sagoi_collective(team, started, &request, "MPI_Gatherv"));
}

sago_status sagoi_allgather_parts(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n,
                                  const sagoi_parts *parts) {
    MPI_Request request;
    buffers b = borrow(mine, n, parts->all, bytes_of(parts, ranks_of(comm)));
    bool started = SAGOI_DONE(
        MPI_Iallgatherv(b.in, (int)n, MPI_BYTE, b.out, parts->sizes, parts->places, MPI_BYTE, comm, &request));
    return hand_back(&b, team, sagoi_collective(team, started, &request, "MPI_Allgatherv"));
}

/* ---- Messages ---- */

static sago_status cannot_start(sagoi_team *team, const char *call) {
    return sagoi_break(team, sagoi_fail(SAGO_ERR_MPI, "%s failed, also when repeated", call));
}

sago_status sagoi_start_send(sagoi_team *team, const sagoi_message_to *message, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    if (sagoi_is_broken(team))
        return sagoi_broken(team);
    return SAGOI_DONE(MPI_Isend(message->data, (int)message->bytes, MPI_BYTE, message->peer, message->tag,
                                message->comm, request))
               ? SAGO_OK
               : cannot_start(team, "MPI_Isend");
}

sago_status sagoi_start_receive(sagoi_team *team, const sagoi_message_to *message, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    if (sagoi_is_broken(team))
        return sagoi_broken(team);
    return SAGOI_DONE(MPI_Irecv(message->data, (int)message->bytes, MPI_BYTE, message->peer, message->tag,
                                message->comm, request))
               ? SAGO_OK
               : cannot_start(team, "MPI_Irecv");
}

sago_status sagoi_finish_messages(sagoi_team *team, int64_t n, MPI_Request requests[]) {
    if (sagoi_is_broken(team))
        return sagoi_broken(team);
    return n > 0 ? sagoi_wait_all(team, n, requests, "MPI_Testall") : SAGO_OK;
}

/* ---- All to all, by messages of our own: under Open MPI 4.1 an MPI_Ialltoall was seen that did not end, with all
 * ranks in it after the same calls; why is not known ---- */

enum { TAG_ALL_TO_ALL = 31, AT_ONCE = 32 };

/* The parts of an exchange between all ranks. */
typedef struct all_parts {
    char *bytes;
    const sagoi_parts *parts; /* sizes and places of the parts; NULL: each part has `each` bytes */
    int64_t each;
} all_parts;

static char *place_of(const all_parts *side, int rank) {
    return side->bytes + (side->parts ? side->parts->places[rank] : rank * side->each);
}

static int size_at(const all_parts *side, int rank) {
    return side->parts ? side->parts->sizes[rank] : (int)side->each;
}

/* One step of the exchange: sends to the rank `s` further on, and receives from the rank `s` before. */
static sago_status exchange_sides(sagoi_team *team, MPI_Comm comm, const all_parts *out, const all_parts *in) {
    int ranks = ranks_of(comm), me = rank_in(comm);
    sago_status status = SAGO_OK;
    for (int first = 0; first < ranks && !status; first += AT_ONCE) {
        MPI_Request requests[2 * AT_ONCE];
        int n = 0;
        for (int step = first; step < ranks && step < first + AT_ONCE && !status; step++) {
            int to = (int)(((int64_t)me + step) % ranks), from = (int)(((int64_t)me - step + ranks) % ranks);
            sagoi_message_to came = {comm, from, TAG_ALL_TO_ALL, place_of(in, from), size_at(in, from)},
                             went = {comm, to, TAG_ALL_TO_ALL, place_of(out, to), size_at(out, to)};
            status = sagoi_start_receive(team, &came, &requests[n++]);
            if (!status)
                status = sagoi_start_send(team, &went, &requests[n++]);
        }
        if (!status)
            status = sagoi_finish_messages(team, n, requests);
    }
    return status;
}

sago_status sagoi_alltoall(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) {
    int64_t bytes = n * ranks_of(comm);
    buffers b = borrow(mine, bytes, all, bytes);
    all_parts out = {b.in, NULL, n}, in = {b.out, NULL, n};
    return hand_back(&b, team, exchange_sides(team, comm, &out, &in));
}

sago_status sagoi_alltoall_parts(sagoi_team *team, MPI_Comm comm, const sagoi_parts *to, const sagoi_parts *from) {
    int n = ranks_of(comm);
    buffers b = borrow(to->all, bytes_of(to, n), from->all, bytes_of(from, n));
    all_parts out = {b.in, to, 0}, in = {b.out, from, 0};
    return hand_back(&b, team, exchange_sides(team, comm, &out, &in));
}
