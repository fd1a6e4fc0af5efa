#include "move/rma.h"

#include "base/checked.h"
#include "move/calls.h"
#include "move/mail.h"
#include "mpi/quiet.h"

struct sagoi_rma {
    sagoi_rma_setup setup; /* of the call that runs */
    sagoi_team *team;
    struct sagoi_rma *next; /* the next one that was put aside */
    MPI_Win win;            /* shows the two windows of every aggregator */
    int32_t *aggregators;   /* for each domain: the rank of its aggregator */
    int *lengths;           /* scratch: the pieces of one transfer */
    MPI_Aint *places, *offsets;
    int64_t capacity;
};

/* An aggregator shows its windows; other ranks show nothing. */
static sago_status show_windows(sagoi_rma *rma) {
    const sagoi_exchange_setup *common = &rma->setup.common;
    void *base = NULL;
    MPI_Aint bytes = 0;
    if (common->domain >= 0) {
        int64_t slot = common->plan->domains[common->domain].slot;
        base = rma->setup.windows + slot * 2 * rma->setup.window_bytes;
        bytes = 2 * rma->setup.window_bytes;
    }
    if (SAGOI_DONE(MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, common->team->own, &rma->win)) &&
        SAGOI_DONE(MPI_Win_set_errhandler(rma->win, MPI_ERRORS_RETURN)))
        return SAGO_OK;
    return sagoi_break(common->team, sagoi_fail(SAGO_ERR_MPI, "memory cannot be shown to other nodes"));
}

static void destroy(sagoi_rma *gone) {
    sagoi_budget *budget = gone->setup.common.budget;
    if (sagoi_is_broken(gone->team))
        return; /* Other ranks may still put data into the windows, or never come to free them. */
    if (gone->win != MPI_WIN_NULL)
        (void)SAGOI_DONE(MPI_Win_free(&gone->win));
    sagoi_budget_free(budget, gone->aggregators);
    sagoi_budget_free(budget, gone->lengths);
    sagoi_budget_free(budget, gone->places);
    sagoi_budget_free(budget, gone->offsets);
    sagoi_budget_free(budget, gone);
}

void sagoi_rma_put_aside(sagoi_rma **rma, sagoi_rma **aside) {
    if (!*rma)
        return;
    (*rma)->next = *aside;
    *aside = *rma;
    *rma = NULL;
}

void sagoi_rma_hide(sagoi_rma **aside) {
    while (*aside) {
        sagoi_rma *gone = *aside;
        *aside = gone->next;
        destroy(gone);
    }
}

static sagoi_rma *allocate(const sagoi_rma_setup *setup) {
    enum { PIECES = 8192 };
    sagoi_budget *budget = setup->common.budget;
    sagoi_rma *rma = sagoi_budget_alloc(budget, sizeof *rma);
    if (!rma)
        return NULL;
    rma->team = setup->common.team;
    rma->setup = *setup;
    rma->win = MPI_WIN_NULL;
    rma->capacity = PIECES;
    rma->aggregators = sagoi_budget_alloc(budget, setup->common.plan->ndomains * (int64_t)sizeof(int32_t));
    rma->lengths = sagoi_budget_alloc(budget, rma->capacity * (int64_t)sizeof *rma->lengths);
    rma->places = sagoi_budget_alloc(budget, rma->capacity * (int64_t)sizeof *rma->places);
    rma->offsets = sagoi_budget_alloc(budget, rma->capacity * (int64_t)sizeof *rma->offsets);
    if (rma->aggregators && rma->lengths && rma->places && rma->offsets)
        return rma;
    destroy(rma);
    return NULL;
}

/* Showing memory waits inside MPI for all ranks, so all ranks must have what they need before any of them
 * begins. */
sago_status sagoi_rma_create(const sagoi_rma_setup *setup, sago_status before, sagoi_rma **aside,
                             sagoi_rma **created) {
    sagoi_rma *rma = before ? NULL : allocate(setup);
    if (!before && !rma)
        before = sagoi_fail(SAGO_ERR_MEMORY, "no memory for one-sided movement");
    sago_status status = sagoi_agree_status(setup->common.team, before);
    if (!status) {
        sagoi_rma_hide(aside);
        status = show_windows(rma);
    }
    if (status) {
        if (rma)
            destroy(rma);
        return status;
    }
    sagoi_find_aggregators(setup->common.team, setup->common.plan, rma->aggregators);
    *created = rma;
    return SAGO_OK;
}

void sagoi_rma_begin(sagoi_rma *rma, const sagoi_rma_setup *setup) { rma->setup = *setup; }

/* A put or get that is being put together: pieces of equal length here and in the aggregator's window. */
typedef struct transfer {
    sagoi_rma *rma;
    int target;
    int64_t start; /* offset of the window in the file */
    MPI_Aint base; /* place of the window in the aggregator's memory */
    int pieces;
    int64_t bytes;
    sago_status status;
} transfer;

/* Makes a datatype that lists the pieces on one of the two sides. */
static bool make_type(const transfer *t, const MPI_Aint places[], MPI_Datatype *type) {
    sagoi_quiet_begin(MPI_COMM_NULL);
    bool made = SAGOI_DONE(MPI_Type_create_hindexed(t->pieces, t->rma->lengths, places, MPI_BYTE, type)) &&
                SAGOI_DONE(MPI_Type_commit(type));
    sagoi_quiet_end(MPI_COMM_NULL);
    return made;
}

static bool move_pieces(const transfer *t, MPI_Datatype here, MPI_Datatype there) {
    if (t->rma->setup.common.request->direction == SAGOI_TO_FILE)
        return SAGOI_DONE(MPI_Put(MPI_BOTTOM, 1, here, t->target, 0, 1, there, t->rma->win));
    return SAGOI_DONE(MPI_Get(MPI_BOTTOM, 1, here, t->target, 0, 1, there, t->rma->win));
}

static void free_type(MPI_Datatype *type) {
    sagoi_quiet_begin(MPI_COMM_NULL);
    if (*type != MPI_DATATYPE_NULL)
        (void)SAGOI_DONE(MPI_Type_free(type));
    sagoi_quiet_end(MPI_COMM_NULL);
}

/* Puts or gets the pieces that were collected.  Afterwards there is room for pieces again, even if that has
 * failed. */
static void fire(transfer *t) {
    sagoi_rma *rma = t->rma;
    MPI_Datatype here = MPI_DATATYPE_NULL, there = MPI_DATATYPE_NULL;
    if (t->pieces > 0 && !t->status) {
        if (make_type(t, rma->places, &here) && make_type(t, rma->offsets, &there) &&
            move_pieces(t, here, there)) {
            rma->setup.common.stats->wire_bytes += t->bytes;
            sagoi_phase_count(rma->setup.common.stats, SAGO_PHASE_EXCHANGE, t->bytes, t->pieces, 1);
        } else {
            t->status = sagoi_fail(SAGO_ERR_MPI, "a one-sided transfer of %lld bytes with rank %d failed",
                                   (long long)t->bytes, t->target);
        }
        free_type(&here);
        free_type(&there);
    }
    t->pieces = 0;
    t->bytes = 0;
}

static void add_piece(transfer *t, const char *memory, int64_t off, int64_t len) {
    sagoi_rma *rma = t->rma;
    if (t->pieces == rma->capacity || t->bytes + len > INT32_MAX)
        fire(t);
    rma->lengths[t->pieces] = (int)len;
    rma->places[t->pieces] = sagoi_address(memory);
    rma->offsets[t->pieces] = t->base + (MPI_Aint)(off - t->start);
    t->pieces++;
    t->bytes += len;
}

/* Adds one run of the file: one piece, or as many as the caller's memory has for the run. */
static void add_run(transfer *t, const sagoi_memory *memory, int64_t off, int64_t pos, int64_t len) {
    if (!memory->extents.pattern) {
        add_piece(t, memory->base + pos, off, len);
        return;
    }
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_cursor_init(&cursor, &memory->extents);
    sagoi_cursor_seek_pos(&cursor, pos);
    cursor.extents.end = memory->extents.begin + pos + len;
    while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span)) {
        for (sagoi_walk piece = sagoi_walk_span(&span); sagoi_walk_run(&piece);) {
            add_piece(t, memory->base + piece.off, off, piece.len);
            off += piece.len;
        }
    }
}

static void add_stream(transfer *t, const sagoi_stream *stream, int64_t end) {
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_cursor_init(&cursor, &stream->file);
    sagoi_cursor_seek(&cursor, t->start);
    while (sagoi_cursor_next(&cursor, end, &span))
        for (sagoi_walk run = sagoi_walk_span(&span); sagoi_walk_run(&run);)
            add_run(t, &stream->memory, run.off, run.pos, run.len);
}

static sago_status transfer_domain(sagoi_rma *rma, int64_t d, int64_t round) {
    const sagoi_exchange_setup *common = &rma->setup.common;
    const sagoi_request *request = common->request;
    int64_t start, end;
    if (common->plan->domains[d].node == common->team->node ||
        !sagoi_plan_window(common->plan, d, round, &start, &end))
        return SAGO_OK;
    if (request->direction == SAGOI_FROM_FILE)
        end = sagoi_min(end, request->limit);
    if (request->low >= end || request->high <= start)
        return SAGO_OK;
    transfer t = {.rma = rma,
                  .target = rma->aggregators[d],
                  .start = start,
                  .base = (MPI_Aint)((round & 1) * rma->setup.window_bytes)};
    for (int64_t i = 0; i < request->nstreams; i++)
        add_stream(&t, &request->streams[i], end);
    fire(&t);
    return t.status;
}

sago_status sagoi_rma_round(sagoi_rma *rma, int64_t round) {
    const sagoi_exchange_setup *common = &rma->setup.common;
    double start = sagoi_now();
    sago_status status = SAGO_OK;
    bool fenced = SAGOI_DONE(MPI_Win_fence(0, rma->win));
    for (int64_t i = 0; i < common->plan->ndomains && fenced && !status; i++)
        status = transfer_domain(rma, (i + common->team->rank) % common->plan->ndomains, round);
    if (!SAGOI_DONE(MPI_Win_fence(0, rma->win)) || !fenced)
        status = sagoi_break(common->team,
                             sagoi_fail(SAGO_ERR_MPI, "MPI_Win_fence failed in round %lld", (long long)round));
    (void)sagoi_phase_end(common->stats, SAGO_PHASE_EXCHANGE, start);
    return status;
}
