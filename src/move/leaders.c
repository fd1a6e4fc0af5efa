#include "move/leaders.h"

#include <limits.h>
#include <string.h>

#include "base/checked.h"
#include "move/calls.h"
#include "move/control.h"
#include "move/mail.h"

/* The members of an operation, numbered from 0. */
typedef struct ring {
    sagoi_team *team;
    bool everybody; /* the members are all ranks; else they are the leaders of the nodes */
    int size, mine;
} ring;

static ring leaders_of(sagoi_team *team) { return (ring){team, false, team->nodes, team->node}; }

static int rank_of(const ring *r, int number) {
    return r->everybody ? number : sagoi_team_rank_of(r->team, number, 0);
}

/* At most one message in each direction; a number below 0: no message.  If the team breaks meanwhile, MPI may
 * touch the buffers later: they belong to the team, which is then kept. */
typedef struct swap {
    int to, from;
    const void *out;
    void *in;
    int64_t out_bytes, in_bytes;
} swap;

static sago_status exchange(const ring *r, const swap *s) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int tag = sagoi_team_tag(r->team, SAGOI_TAG_TOLD);
    bool started = s->from < 0 || SAGOI_DONE(MPI_Irecv(s->in, (int)s->in_bytes, MPI_BYTE, rank_of(r, s->from), tag,
                                                       r->team->all, &requests[0]));
    started = started && (s->to < 0 || SAGOI_DONE(MPI_Isend(s->out, (int)s->out_bytes, MPI_BYTE, rank_of(r, s->to),
                                                            tag, r->team->all, &requests[1])));
    static const char what[] = "agreeing with the other nodes";
    if (!started)
        return sagoi_break(r->team, sagoi_fail(SAGO_ERR_MPI, "%s: a message could not be begun", what));
    return sagoi_wait_all(r->team, 2, requests, what);
}

static sago_status send_to(const ring *r, int to, const void *data, int64_t bytes) {
    return exchange(r, &(swap){.to = to, .from = -1, .out = data, .out_bytes = bytes});
}

static sago_status receive_from(const ring *r, int from, void *data, int64_t bytes) {
    return exchange(r, &(swap){.to = -1, .from = from, .in = data, .in_bytes = bytes});
}

/* Recursive doubling.  A member beyond the largest power of two is represented by the member that many places
 * lower.  Sums and maxima of integers do not depend on the order. */
static sago_status reduce(const ring *r, sagoi_agreement *agreement) {
    sagoi_agreement *theirs = &r->team->control->theirs;
    const int64_t bytes = sizeof *agreement;
    int even = 1;
    while (even <= r->size / 2)
        even *= 2;
    if (r->mine >= even) {
        sago_status status = send_to(r, r->mine - even, agreement, bytes);
        return status ? status : receive_from(r, r->mine - even, agreement, bytes);
    }
    bool stands_for_another = r->mine + even < r->size;
    sago_status status = SAGO_OK;
    if (stands_for_another) {
        status = receive_from(r, r->mine + even, theirs, bytes);
        if (!status)
            sagoi_agreement_combine(agreement, theirs);
    }
    for (int bit = 1; bit < even && !status; bit *= 2) {
        int other = r->mine ^ bit;
        status = exchange(r, &(swap){other, other, agreement, theirs, bytes, bytes});
        if (!status)
            sagoi_agreement_combine(agreement, theirs);
    }
    return !status && stands_for_another ? send_to(r, r->mine + even, agreement, bytes) : status;
}

/* Tells along a binomial tree with its root at `from`. */
static sago_status tell(const ring *r, int from, void *data, int64_t bytes) {
    int place = (r->mine - from + r->size) % r->size, bit = 1;
    sago_status status = SAGO_OK;
    while (bit < r->size && !(place & bit))
        bit *= 2;
    if (place != 0)
        status = receive_from(r, (place - bit + from) % r->size, data, bytes);
    for (bit /= 2; bit > 0 && !status; bit /= 2)
        if (place + bit < r->size)
            status = send_to(r, (place + bit + from) % r->size, data, bytes);
    return status;
}

/* Gathers along a tree at member 0: each member brings what lies between its own number and that of the next
 * branch. */
static sago_status gather(const ring *r, char *all, int64_t bytes) {
    for (int bit = 1; bit < r->size; bit *= 2) {
        if (r->mine & bit)
            return send_to(r, r->mine - bit, all + r->mine * bytes, sagoi_min(bit, r->size - r->mine) * bytes);
        int other = r->mine + bit;
        if (other >= r->size)
            continue;
        sago_status status = receive_from(r, other, all + other * bytes, sagoi_min(bit, r->size - other) * bytes);
        if (status)
            return status;
    }
    return SAGO_OK;
}

sago_status sagoi_leaders_reduce(sagoi_team *team, sagoi_agreement *agreement) {
    ring r = leaders_of(team);
    return reduce(&r, agreement);
}

sago_status sagoi_leaders_collect(sagoi_team *team, const void *mine, int64_t bytes, void *all) {
    ring r = leaders_of(team);
    if (bytes * r.size > INT_MAX)
        return sagoi_fail(SAGO_ERR_UNSUPPORTED, "%d nodes with %lld bytes each", r.size, (long long)bytes);
    memcpy((char *)all + r.mine * bytes, mine, (size_t)bytes);
    return gather(&r, all, bytes);
}

/* Gathers a power of two of members: in each step a member swaps all that it has with the member that differs in
 * one bit. */
static sago_status swap_halves(const ring *r, char *all, int64_t bytes) {
    sago_status status = SAGO_OK;
    for (int bit = 1; bit < r->size && !status; bit *= 2) {
        int other = r->mine ^ bit;
        char *ours = all + (r->mine & -bit) * bytes, *theirs = all + (other & -bit) * bytes;
        status = exchange(r, &(swap){other, other, ours, theirs, bit * bytes, bit * bytes});
    }
    return status;
}

sago_status sagoi_leaders_gather(sagoi_team *team, const void *mine, int64_t bytes, void *all) {
    ring r = leaders_of(team);
    bool even = (r.size & (r.size - 1)) == 0;
    if (even && bytes * r.size <= INT_MAX) {
        memcpy((char *)all + r.mine * bytes, mine, (size_t)bytes);
        return swap_halves(&r, all, bytes);
    }
    sago_status status = sagoi_leaders_collect(team, mine, bytes, all);
    return status ? status : tell(&r, 0, all, bytes * r.size);
}

sago_status sagoi_leaders_tell(sagoi_team *team, int from, void *data, int64_t bytes) {
    ring r = leaders_of(team);
    return tell(&r, from, data, bytes);
}

sago_status sagoi_team_tell(sagoi_team *team, void *data, int64_t bytes) {
    ring r = {team, true, team->size, team->rank};
    return tell(&r, 0, data, bytes);
}
