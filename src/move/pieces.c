/* Pieces of memory that one MPI call sends or receives, listed by a datatype instead of being copied. */
#include "move/calls.h"
#include "move/mail.h"
#include "mpi/quiet.h"

bool sagoi_pieces_init(sagoi_pieces *pieces, int64_t capacity, sagoi_budget *budget) {
    *pieces = (sagoi_pieces){.capacity = (int)capacity};
    pieces->lengths = sagoi_budget_alloc(budget, capacity * (int64_t)sizeof *pieces->lengths);
    pieces->places = sagoi_budget_alloc(budget, capacity * (int64_t)sizeof *pieces->places);
    return pieces->lengths && pieces->places;
}

void sagoi_pieces_cleanup(sagoi_pieces *pieces, sagoi_budget *budget) {
    sagoi_budget_free(budget, pieces->lengths);
    sagoi_budget_free(budget, pieces->places);
    *pieces = (sagoi_pieces){0};
}

void sagoi_pieces_clear(sagoi_pieces *pieces) {
    pieces->n = 0;
    pieces->bytes = 0;
}

void sagoi_pieces_set(sagoi_pieces *pieces, int i, const void *place, int64_t bytes) {
    if (i == 0)
        pieces->first = place;
    pieces->lengths[i] = (int)bytes;
    pieces->places[i] = sagoi_address(place);
    pieces->bytes += bytes;
}

void sagoi_pieces_add(sagoi_pieces *pieces, const void *place, int64_t bytes) {
    if (bytes > 0)
        sagoi_pieces_set(pieces, pieces->n++, place, bytes);
}

/* Makes one MPI call for `count` elements of `type` at `place`. */
static bool call(const void *place, int count, MPI_Datatype type, sagoi_team *team, int peer, int tag, bool send,
                 MPI_Request *request) {
    return send ? SAGOI_DONE(MPI_Issend(place, count, type, peer, tag, team->all, request))
                : SAGOI_DONE(MPI_Irecv((void *)(uintptr_t)place, count, type, peer, tag, team->all, request));
}

static bool start_strung(const sagoi_pieces *pieces, sagoi_team *team, int peer, int tag, bool send,
                         MPI_Request *request) {
    MPI_Datatype type;
    bool started = false;
    sagoi_quiet_begin(MPI_COMM_NULL);
    if (SAGOI_DONE(MPI_Type_create_hindexed(pieces->n, pieces->lengths, pieces->places, MPI_BYTE, &type))) {
        started = SAGOI_DONE(MPI_Type_commit(&type)) && call(MPI_BOTTOM, 1, type, team, peer, tag, send, request);
        (void)SAGOI_DONE(MPI_Type_free(&type));
    }
    sagoi_quiet_end(MPI_COMM_NULL);
    return started;
}

/* One piece needs no datatype: MPI libraries move contiguous memory with fewer copies (measured). */
static sago_status start(const sagoi_pieces *pieces, sagoi_team *team, int peer, int tag, bool send,
                         MPI_Request *request) {
    if (pieces->n == 1 ? call(pieces->first, (int)pieces->bytes, MPI_BYTE, team, peer, tag, send, request)
                       : start_strung(pieces, team, peer, tag, send, request))
        return SAGO_OK;
    return sagoi_break(team, sagoi_fail(SAGO_ERR_MPI, "a message of %lld bytes to rank %d cannot be started",
                                        (long long)pieces->bytes, peer));
}

sago_status sagoi_pieces_send(const sagoi_pieces *pieces, sagoi_team *team, int peer, int tag,
                              MPI_Request *request) {
    return start(pieces, team, peer, tag, true, request);
}

sago_status sagoi_pieces_receive(const sagoi_pieces *pieces, sagoi_team *team, int peer, int tag,
                                 MPI_Request *request) {
    return start(pieces, team, peer, tag, false, request);
}
