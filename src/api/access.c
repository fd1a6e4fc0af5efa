/* Views, and reading and writing through them or by extents. */
#include <string.h>

#include "api/array.h"
#include "api/handle.h"
#include "api/tier.h"
#include "base/checked.h"
#include "defer/defer.h"
#include "engine/started.h"

/* ---- Going alone ----
 *
 * On one node, with a file system of its own, collective calls gain little over each rank's own work, and the
 * smallest ones lose: agreeing costs more than they do.  Whoever does without agreement on how calls went (the
 * hint sago_agree) lets the ranks go alone where that is better. */

static bool may_separate(const sago_file *file) {
    return file->hints.agree != SAGOI_AGREE_ALWAYS && file->team->nodes == 1 &&
           sagoi_store_layout(file->store)->local && file->hints.strategy == SAGOI_STRATEGY_AUTO &&
           !file->deferred && file->hints.tier == SAGOI_TIER_GLOBAL;
}

/* A program whose ranks do not come is waited for a quarter as long the next time: little more than this in all.
 */
static const double longest_patience = 1.0, least_patience = 1e-3;

static void lose_patience(sago_file *file) {
    if (file->patience > least_patience)
        file->patience /= 4;
}

/* Where no rank's view has gaps, or any can be served by a mapping, each rank can go alone whatever the others do.
 */
void sagoi_decide_separate(sago_file *file, bool gaps) {
    file->separate = may_separate(file);
    file->unmet = file->separate && (!gaps || file->may_map) &&
                  (file->hints.agree == SAGOI_AGREE_TURN || file->team->local_size == 1);
    file->last_access = SAGOI_LAST_NONE;
    file->apart = file->hints.nonblocking == SAGOI_NONBLOCKING_APART;
    file->patience = file->patience > 0 ? file->patience : longest_patience;
}

/* Will a file that others wrote to become one that is read, or the other way round? */
static bool would_turn(const sago_file *file, sagoi_direction direction) {
    return file->last_access == (direction == SAGOI_TO_FILE ? SAGOI_LAST_READ : SAGOI_LAST_WRITE) &&
           file->team->local_size > 1;
}

static bool turns(sago_file *file, sagoi_direction direction) {
    bool turned = would_turn(file, direction);
    file->last_access = direction == SAGOI_TO_FILE ? SAGOI_LAST_WRITE : SAGOI_LAST_READ;
    return turned;
}

/* Waits until the others have finished as many calls as this rank, whose turn it is to read what they wrote, or
 * the other way round.  MPI asks programs to synchronise by themselves, so a nonblocking call that needs nobody
 * waits for that only so long. */
static sago_status await_turn(sago_file *file, bool apart) {
    bool late = false;
    sago_status status = sagoi_await_done(file->team, apart ? file->patience : 0, &late);
    if (late)
        lose_patience(file);
    return status;
}

/* Does each rank go alone in this call?  The same answer on all ranks.  `composed`: what this one wants, NULL if
 * it can be served alone in any case. */
SAGOI_OFTEN static sago_status choose_alone(sago_file *file, sagoi_direction direction,
                                            const sagoi_composed *composed, sago_status wrong, bool *alone) {
    bool any_unwilling = true;
    *alone = file->unmet;
    if (file->unmet)
        return turns(file, direction) ? await_turn(file, file->apart && composed && composed->nonblocking)
                                      : SAGO_OK;
    if (!file->separate)
        return SAGO_OK;
    bool unwilling = wrong || (composed && !sagoi_engine_serves_alone(file, composed));
    int64_t kind = composed && composed->nonblocking ? SAGOI_KIND_START_SEPARATE : SAGOI_KIND_SEPARATE;
    sago_status status = sagoi_engine_agree_any(file, SAGO_OK, kind, unwilling, &any_unwilling);
    *alone = !status && !any_unwilling;
    file->last_access = !*alone                      ? SAGOI_LAST_NONE
                        : direction == SAGOI_TO_FILE ? SAGOI_LAST_WRITE
                                                     : SAGOI_LAST_READ;
    return status;
}

/* Of a rank that went alone.  Where all ranks get one of these two, they can go on by other means together: not
 * here, so it is counted. */
static sago_status own_failure(sago_file *file, sago_status status) {
    if (status == SAGO_ERR_MEMORY || status == SAGO_ERR_UNSUPPORTED)
        file->stats.separate_failures++;
    return status;
}

/* ---- By view ---- */

sago_status sago_set_view(sago_file *file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype) {
    sago_status status = sagoi_check_beside(file);
    if (status)
        return sagoi_done("sago_set_view", NULL, status);
    sagoi_view view = {0};
    double start = sagoi_now();
    status = sagoi_view_make(disp, etype, filetype, &file->budget, &view);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_FLATTEN, start);
    bool gaps;
    status = sagoi_engine_agree_any(file, status, SAGOI_CALL_VIEW, !view.solid, &gaps);
    if (status) {
        sagoi_view_cleanup(&view);
    } else {
        if (!sagoi_tier_keep_view(file))
            sagoi_view_cleanup(&file->view);
        file->view = view;
        sagoi_decide_separate(file, gaps);
    }
    return sagoi_done("sago_set_view", file->path, status);
}

/* An access by view, as the caller gave it. */
typedef struct view_access {
    const char *call;
    sagoi_direction direction;
    MPI_Offset offset;
    sagoi_buffer buffer;
} view_access;

SAGOI_OFTEN static sago_status compose(sago_file *file, const view_access *wanted, sagoi_composed *composed) {
    sagoi_place place = {.view = &file->view, .disp = file->view.disp};
    sago_status status = sagoi_check_access(file, wanted->direction);
    if (status)
        return status;
    if (wanted->offset < 0)
        return sagoi_fail(SAGO_ERR_ARG, "the offset %lld is negative", (long long)wanted->offset);
    if (wanted->buffer.count < 0)
        return sagoi_fail(SAGO_ERR_ARG, "the count %lld is negative", (long long)wanted->buffer.count);
    if (sagoi_mul(wanted->offset, file->view.etype_size, &place.begin))
        return sagoi_fail(SAGO_ERR_OVERFLOW, "offset %lld etypes of %lld bytes", (long long)wanted->offset,
                          (long long)file->view.etype_size);
    double start = sagoi_phase_begin(file);
    status = sagoi_compose_view(composed, &place, &wanted->buffer);
    (void)sagoi_phase_next(file, SAGO_PHASE_FLATTEN, start);
    return status;
}

/* Writes may stay in local storage; everything else sees what is there. */
static sago_status check_direction(sago_file *file, sagoi_direction direction) {
    return direction == SAGOI_TO_FILE ? sagoi_check_beside(file) : sagoi_check_collective(file);
}

/* Writes may be put off; whatever else a call does, it comes after what was. */
static sago_status run_composed(sago_file *file, sagoi_composed *composed, const sagoi_tier_call *what,
                                sago_status status, int64_t *moved) {
    bool write = composed->request.direction == SAGOI_TO_FILE;
    if (file->tier && write)
        return sagoi_tier_write(file, composed, what, status, moved);
    if (file->deferred && write)
        return sagoi_defer_write(file, composed, status, moved);
    sago_status flushed = sagoi_flush(file, SAGO_FLUSH_READ);
    return flushed ? flushed : sagoi_engine_run(file, composed, status, moved);
}

/* One piece of the file, as in most calls of most programs, and memory that is known: nothing to describe.
 * Whatever may be wrong with it is found out the long way. */
SAGOI_OFTEN static bool is_piece(const sago_file *file, const view_access *wanted, sagoi_lone_run *piece) {
    int64_t end;
    sagoi_place place = {.view = &file->view, .disp = file->view.disp};
    if (wanted->offset < 0 || wanted->buffer.count <= 0 || !wanted->buffer.base)
        return false;
    if (sagoi_check_access(file, wanted->direction) ||
        !sagoi_compose_known_memory(&wanted->buffer, &piece->memory, &piece->len) || piece->len == 0 ||
        sagoi_mul(wanted->offset, file->view.etype_size, &place.begin))
        return false;
    bool one = file->view.solid
                   ? !sagoi_add(place.begin, place.disp, &piece->off) && !sagoi_add(piece->off, piece->len, &end)
                   : sagoi_compose_one_run(&place, piece->len, &piece->off);
    return one && sagoi_engine_takes_piece(file, piece);
}

static sagoi_tier_call as_call(const sago_file *file, const view_access *wanted, int64_t bytes) {
    return (sagoi_tier_call){.view = &file->view, .begin = wanted->offset * file->view.etype_size, .bytes = bytes};
}

/* Of this rank alone. */
static sago_status run_part(sago_file *file, const sagoi_tier_call *what, sagoi_composed *composed,
                            int64_t *moved) {
    if (!file->tier)
        return sagoi_engine_independent(file, composed, moved);
    return composed->request.direction == SAGOI_TO_FILE ? sagoi_tier_write_alone(file, composed, what, moved)
                                                        : sagoi_tier_read_alone(file, composed, moved);
}

static sago_status run_alone(sago_file *file, const view_access *wanted, sagoi_composed *composed,
                             int64_t *moved) {
    const sagoi_tier_call what = as_call(file, wanted, composed->bytes);
    return run_part(file, &what, composed, moved);
}

static sago_status run_described(sago_file *file, const view_access *wanted, int64_t *moved) {
    sagoi_composed composed;
    sagoi_composed_init(&composed, wanted->direction, &file->budget);
    sago_status status = compose(file, wanted, &composed);
    if (!status)
        status = run_alone(file, wanted, &composed, moved);
    sagoi_composed_cleanup(&composed);
    return status;
}

static void count_independent(sago_file *file, sagoi_direction direction, sago_status status) {
    *(direction == SAGOI_TO_FILE ? &file->stats.independent_writes : &file->stats.independent_reads) +=
        status == SAGO_OK;
}

static sago_status run_independent(sago_file *file, const view_access *wanted, MPI_Count *bytes) {
    sago_status status = sagoi_check_file(file);
    if (status)
        return sagoi_done(wanted->call, NULL, status);
    sagoi_lone_run piece;
    int64_t moved = 0;
    bool held;
    sagoi_started_hold(file, &held);
    status = sagoi_flush_own(file);
    if (!status)
        status = !file->tier && is_piece(file, wanted, &piece)
                     ? sagoi_engine_piece(file, wanted->direction, &piece, &moved)
                     : run_described(file, wanted, &moved);
    count_independent(file, wanted->direction, status);
    sagoi_started_release(held);
    if (bytes)
        *bytes = (MPI_Count)moved;
    return sagoi_done(wanted->call, file->path, status);
}

SAGOI_OFTEN static void finish_separate(sago_file *file, sagoi_direction direction) {
    sagoi_tell_done(file->team);
    *(direction == SAGOI_TO_FILE ? &file->stats.collective_writes : &file->stats.collective_reads) += 1;
    file->stats.separate_calls++;
}

/* Alone if that is better for all ranks.  `status`: what is wrong with the arguments. */
SAGOI_OFTEN static sago_status serve_separate(sago_file *file, sagoi_composed *composed, sago_status status,
                                              int64_t *moved) {
    bool alone = false;
    sago_status met = choose_alone(file, composed->request.direction, composed, status, &alone);
    status = met ? met : status;
    if (!alone)
        return met ? met : sagoi_engine_run(file, composed, status, moved);
    if (!status)
        status = sagoi_engine_independent(file, composed, moved);
    finish_separate(file, composed->request.direction);
    return own_failure(file, status);
}

static sago_status run_together(sago_file *file, const view_access *wanted, sagoi_composed *composed,
                                sago_status status, int64_t *moved) {
    const sagoi_tier_call what = status ? (sagoi_tier_call){0} : as_call(file, wanted, composed->bytes);
    return run_composed(file, composed, &what, status, moved);
}

/* What takes a description: of one piece, only where the ranks do not go alone. */
SAGOI_OFTEN static sago_status run_collective_described(sago_file *file, const view_access *wanted, bool is_piece,
                                                        int64_t *moved) {
    sagoi_composed composed;
    sagoi_composed_init(&composed, wanted->direction, &file->budget);
    sago_status status = compose(file, wanted, &composed);
    status = file->separate && !is_piece ? serve_separate(file, &composed, status, moved)
                                         : run_together(file, wanted, &composed, status, moved);
    sagoi_composed_cleanup(&composed);
    return status;
}

SAGOI_OFTEN static sago_status run_collective(sago_file *file, const view_access *wanted, MPI_Count *bytes) {
    sagoi_lone_run piece;
    int64_t moved = 0;
    bool alone = false;
    sago_status status = check_direction(file, wanted->direction);
    if (status)
        return sagoi_done(wanted->call, NULL, status);
    bool simple = file->separate && is_piece(file, wanted, &piece);
    if (simple)
        status = choose_alone(file, wanted->direction, NULL, SAGO_OK, &alone);
    if (alone && !status) {
        status = own_failure(file, sagoi_engine_piece(file, wanted->direction, &piece, &moved));
        finish_separate(file, wanted->direction);
    } else if (!status) {
        status = run_collective_described(file, wanted, simple, &moved);
    }
    if (bytes)
        *bytes = (MPI_Count)moved;
    return sagoi_done(wanted->call, file->path, status);
}

SAGOI_OFTEN sago_status sago_write_at_all(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count,
                                          MPI_Datatype type, MPI_Count *bytes) {
    view_access wanted = {"sago_write_at_all", SAGOI_TO_FILE, offset, {(char *)(uintptr_t)buf, count, type}};
    return run_collective(file, &wanted, bytes);
}

SAGOI_OFTEN sago_status sago_read_at_all(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count,
                                         MPI_Datatype type, MPI_Count *bytes) {
    view_access wanted = {"sago_read_at_all", SAGOI_FROM_FILE, offset, {buf, count, type}};
    return run_collective(file, &wanted, bytes);
}

sago_status sago_write_at(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype type,
                          MPI_Count *bytes) {
    view_access wanted = {"sago_write_at", SAGOI_TO_FILE, offset, {(char *)(uintptr_t)buf, count, type}};
    return run_independent(file, &wanted, bytes);
}

sago_status sago_read_at(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                         MPI_Count *bytes) {
    view_access wanted = {"sago_read_at", SAGOI_FROM_FILE, offset, {buf, count, type}};
    return run_independent(file, &wanted, bytes);
}

/* ---- By extents ---- */

typedef struct list_access {
    const char *call;
    sagoi_direction direction;
    int64_t n;
    const sago_extent *extents;
    sagoi_scatter memory;
    const sago_array *array; /* a block of it instead of all these; NULL: none */
} list_access;

static sago_status check_list(const char *what, int64_t n, const sago_extent *list) {
    if (n >= 0 && (n == 0 || list))
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_ARG, "%lld %s%s", (long long)n, what, n > 0 ? ", but the list is NULL" : "");
}

static sago_status compose_array(sago_file *file, const sago_array *array, sagoi_composed *composed) {
    double start = sagoi_phase_begin(file);
    char *data = array->block ? array->block->data : NULL;
    sago_status status = sagoi_compose_array(composed, array, data);
    (void)sagoi_phase_next(file, SAGO_PHASE_FLATTEN, start);
    return status;
}

/* What the local tier remembers of a block: its runs.  To be freed with the same count. */
static sago_status list_runs(sago_file *file, const sagoi_composed *composed, sagoi_tier_call *what) {
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t n = 0;
    what->n = composed->runs;
    sago_extent *list = sagoi_budget_alloc(&file->budget, sagoi_max(1, what->n) * (int64_t)sizeof *list);
    what->extents = list;
    if (!list)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld runs", (long long)what->n);
    for (int64_t i = 0; i < composed->request.nstreams; i++) {
        sagoi_cursor_init(&cursor, &composed->request.streams[i].file);
        while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span))
            for (sagoi_walk run = sagoi_walk_span(&span); sagoi_walk_run(&run);)
                list[n++] = (sago_extent){run.off, run.len};
    }
    return SAGO_OK;
}

static sago_status compose_list(sago_file *file, const list_access *wanted, sagoi_composed *composed) {
    sago_status status = sagoi_check_access(file, wanted->direction);
    if (status)
        return status;
    if (wanted->array)
        return compose_array(file, wanted->array, composed);
    status = check_list("extents", wanted->n, wanted->extents);
    if (!status && !wanted->memory.whole)
        status = check_list("pieces of memory", wanted->memory.n, wanted->memory.pieces);
    if (status)
        return status;
    double start = sagoi_phase_begin(file);
    status = sagoi_compose_extents(composed, wanted->n, wanted->extents, &wanted->memory);
    (void)sagoi_phase_next(file, SAGO_PHASE_FLATTEN, start);
    return status;
}

/* Alone, as by view, where that is better for all ranks. */
static sago_status run_list(sago_file *file, const list_access *wanted, MPI_Count *bytes) {
    sago_status status = check_direction(file, wanted->direction);
    if (status)
        return sagoi_done(wanted->call, NULL, status);
    sagoi_composed composed;
    int64_t moved = 0;
    sagoi_composed_init(&composed, wanted->direction, &file->budget);
    status = compose_list(file, wanted, &composed);
    sagoi_tier_call what = {.n = wanted->n, .extents = wanted->extents};
    bool listed = wanted->array && file->tier && wanted->direction == SAGOI_TO_FILE && !status;
    if (listed)
        status = list_runs(file, &composed, &what);
    status = file->separate ? serve_separate(file, &composed, status, &moved)
                            : run_composed(file, &composed, &what, status, &moved);
    if (listed)
        sagoi_budget_free(&file->budget, (void *)(uintptr_t)what.extents,
                          sagoi_max(1, what.n) * (int64_t)sizeof *what.extents);
    sagoi_composed_cleanup(&composed);
    if (bytes)
        *bytes = (MPI_Count)moved;
    return sagoi_done(wanted->call, file->path, status);
}

static sago_status run_list_composed(sago_file *file, const list_access *wanted, int64_t *moved) {
    sagoi_composed composed;
    const sagoi_tier_call what = {.n = wanted->n, .extents = wanted->extents};
    sagoi_composed_init(&composed, wanted->direction, &file->budget);
    sago_status status = compose_list(file, wanted, &composed);
    if (!status)
        status = run_part(file, &what, &composed, moved);
    sagoi_composed_cleanup(&composed);
    return status;
}

static sago_status run_list_alone(sago_file *file, const list_access *wanted, MPI_Count *bytes) {
    sago_status status = sagoi_check_file(file);
    if (status)
        return sagoi_done(wanted->call, NULL, status);
    int64_t moved = 0;
    bool held;
    sagoi_started_hold(file, &held);
    status = sagoi_flush_own(file);
    if (!status)
        status = run_list_composed(file, wanted, &moved);
    count_independent(file, wanted->direction, status);
    sagoi_started_release(held);
    if (bytes)
        *bytes = (MPI_Count)moved;
    return sagoi_done(wanted->call, file->path, status);
}

static sagoi_scatter in_one(const void *buf) {
    return (sagoi_scatter){.base = (char *)(uintptr_t)buf, .whole = true};
}

static sagoi_scatter in_pieces(const void *buf, int64_t n, const sago_extent pieces[]) {
    return (sagoi_scatter){.base = (char *)(uintptr_t)buf, .n = n, .pieces = pieces};
}

sago_status sago_write_extents_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf) {
    list_access wanted = {"sago_write_extents_all", SAGOI_TO_FILE, n, extents, in_one(buf), NULL};
    return run_list(file, &wanted, NULL);
}

sago_status sago_read_extents_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                  MPI_Count *bytes) {
    list_access wanted = {"sago_read_extents_all", SAGOI_FROM_FILE, n, extents, in_one(buf), NULL};
    return run_list(file, &wanted, bytes);
}

sago_status sago_write_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                                  int64_t npieces, const sago_extent pieces[]) {
    list_access wanted = {"sago_write_pieces_all",         SAGOI_TO_FILE, n, extents,
                          in_pieces(buf, npieces, pieces), NULL};
    return run_list(file, &wanted, NULL);
}

sago_status sago_read_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                 int64_t npieces, const sago_extent pieces[], MPI_Count *bytes) {
    list_access wanted = {
        "sago_read_pieces_all", SAGOI_FROM_FILE, n, extents, in_pieces(buf, npieces, pieces), NULL};
    return run_list(file, &wanted, bytes);
}

sago_status sago_write_pieces(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                              int64_t npieces, const sago_extent pieces[]) {
    list_access wanted = {"sago_write_pieces", SAGOI_TO_FILE, n, extents, in_pieces(buf, npieces, pieces), NULL};
    return run_list_alone(file, &wanted, NULL);
}

sago_status sago_read_pieces(sago_file *file, int64_t n, const sago_extent extents[], void *buf, int64_t npieces,
                             const sago_extent pieces[], MPI_Count *bytes) {
    list_access wanted = {"sago_read_pieces", SAGOI_FROM_FILE, n, extents, in_pieces(buf, npieces, pieces), NULL};
    return run_list_alone(file, &wanted, bytes);
}

/* ---- By blocks of arrays ---- */

static sago_array array_of(MPI_Offset offset, MPI_Datatype element, int ndims, const int64_t global[],
                           const sago_block *block) {
    return (sago_array){sizeof(sago_array), offset, element, ndims, global, block};
}

sago_status sago_write_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                 const int64_t global[], const sago_block *block) {
    sago_array array = array_of(offset, element, ndims, global, block);
    list_access wanted = {.call = "sago_write_block_all", .direction = SAGOI_TO_FILE, .array = &array};
    return run_list(file, &wanted, NULL);
}

sago_status sago_read_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                const int64_t global[], const sago_block *block, MPI_Count *bytes) {
    sago_array array = array_of(offset, element, ndims, global, block);
    list_access wanted = {.call = "sago_read_block_all", .direction = SAGOI_FROM_FILE, .array = &array};
    return run_list(file, &wanted, bytes);
}

/* ---- Nonblocking ---- */

/* One of them. */
typedef struct any_access {
    const view_access *view;
    const list_access *list;
} any_access;

static sago_status compose_any(sago_file *file, const any_access *wanted, sagoi_composed *composed) {
    return wanted->view ? compose(file, wanted->view, composed) : compose_list(file, wanted->list, composed);
}

/* When a call's turn comes: what is in local storage or was deferred before it goes to the file, in the order of
 * the calls. */
static sago_status flush_before(sago_file *file) {
    sago_status status = sagoi_tier_merge(file);
    return status ? status : sagoi_flush(file, SAGO_FLUSH_STARTED);
}

/* This rank's part, after what it has deferred itself. */
static sago_status serve_part(sago_file *file, sagoi_composed *composed, sago_status status, bool met,
                              int64_t *moved) {
    bool turned = turns(file, composed->request.direction) && !met;
    if (turned && file->team->nodes > 1)
        lose_patience(file); /* worth_waiting() */
    if (turned && !status)
        status = await_turn(file, true);
    if (!status)
        status = sagoi_flush_own(file);
    if (!status)
        status = sagoi_engine_independent(file, composed, moved);
    finish_separate(file, composed->request.direction);
    return own_failure(file, status);
}

/* Half of what going alone would cost: so nobody loses much by waiting in vain.  Where only a message could tell
 * whether the others have done what they started before, one that turns waits for that here. */
static double worth_waiting(const sago_file *file, const sagoi_composed *composed) {
    const double least = 5e-3, most = 0.25;
    double half = sagoi_engine_alone_seconds(file, composed) / 2;
    double limit = half < least ? least : half > most ? most : half;
    bool asks = file->team->nodes > 1 && would_turn(file, composed->request.direction);
    return asks && file->patience > limit ? file->patience : limit;
}

/* Would it take longer to start it than to do it? */
static bool is_soon_done(const sago_request *request) {
    const sago_file *file = request->file;
    return request->serve == serve_separate && file->unmet && atomic_load(&file->pending) == 0 &&
           !would_turn(file, request->composed.request.direction) &&
           sagoi_engine_is_soon(file, &request->composed);
}

/* How it is served when its turn comes. */
static void choose_service(const sago_file *file, const any_access *wanted, sago_request *request) {
    const sagoi_composed *composed = &request->composed;
    bool separate = file->separate && wanted->view; /* nothing is in local storage, or deferred */
    if (separate && (file->unmet || !file->apart)) {
        request->serve = serve_separate;
        return;
    }
    request->before = flush_before;
    request->serve = sagoi_engine_run;
    if (!file->apart)
        return;
    request->alone = serve_part;
    request->unwilling = !separate || !sagoi_engine_serves_alone(file, composed);
    request->worth = worth_waiting;
}

static sago_status prepare(sago_file *file, const any_access *wanted, sago_request **request, sago_status *wrong) {
    const char *call = wanted->view ? wanted->view->call : wanted->list->call;
    sagoi_direction direction = wanted->view ? wanted->view->direction : wanted->list->direction;
    bool held;
    sagoi_started_hold(file, &held);
    sago_status status = sagoi_started_create(file, call, direction, request);
    if (!status) {
        *wrong = compose_any(file, wanted, &(*request)->composed);
        choose_service(file, wanted, *request);
    } else if (file->apart) {
        sagoi_tell_done(file->team); /* with that, in the place of doing it */
    }
    sagoi_started_release(held);
    return status;
}

/* Wrong arguments are told when the call is waited for, on all ranks, who have started theirs.  With nowhere to
 * put the request nobody can wait for it here: told at once, too. */
static sago_status start(sago_file *file, const any_access *wanted, sago_request **started) {
    const char *call = wanted->view ? wanted->view->call : wanted->list->call;
    sago_request *request = NULL;
    sago_status wrong = SAGO_OK, status = sagoi_check_file(file);
    if (status)
        return sagoi_done(call, NULL, status);
    status = prepare(file, wanted, &request, &wrong);
    if (status)
        return sagoi_done(call, file->path, status);
    if (!started)
        wrong = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the request: the last argument is NULL");
    request->dropped = !started;
    if (started) {
        sagoi_live_add(&request->live);
        *started = request;
    }
    if (started && is_soon_done(request))
        sagoi_started_run_at_once(request, wrong);
    else
        sagoi_started_run(request, wrong);
    return sagoi_done(call, file->path, started ? SAGO_OK : wrong);
}

sago_status sago_iwrite_at_all(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count,
                               MPI_Datatype type, sago_request **request) {
    view_access wanted = {"sago_iwrite_at_all", SAGOI_TO_FILE, offset, {(char *)(uintptr_t)buf, count, type}};
    return start(file, &(any_access){.view = &wanted}, request);
}

sago_status sago_iread_at_all(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                              sago_request **request) {
    view_access wanted = {"sago_iread_at_all", SAGOI_FROM_FILE, offset, {buf, count, type}};
    return start(file, &(any_access){.view = &wanted}, request);
}

sago_status sago_iwrite_extents_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                                    sago_request **request) {
    list_access wanted = {"sago_iwrite_extents_all", SAGOI_TO_FILE, n, extents, in_one(buf), NULL};
    return start(file, &(any_access){.list = &wanted}, request);
}

sago_status sago_iread_extents_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                   sago_request **request) {
    list_access wanted = {"sago_iread_extents_all", SAGOI_FROM_FILE, n, extents, in_one(buf), NULL};
    return start(file, &(any_access){.list = &wanted}, request);
}

sago_status sago_iwrite_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                                   int64_t npieces, const sago_extent pieces[], sago_request **request) {
    list_access wanted = {"sago_iwrite_pieces_all",        SAGOI_TO_FILE, n, extents,
                          in_pieces(buf, npieces, pieces), NULL};
    return start(file, &(any_access){.list = &wanted}, request);
}

sago_status sago_iread_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                  int64_t npieces, const sago_extent pieces[], sago_request **request) {
    list_access wanted = {
        "sago_iread_pieces_all", SAGOI_FROM_FILE, n, extents, in_pieces(buf, npieces, pieces), NULL};
    return start(file, &(any_access){.list = &wanted}, request);
}

sago_status sago_iwrite_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                  const int64_t global[], const sago_block *block, sago_request **request) {
    sago_array array = array_of(offset, element, ndims, global, block);
    list_access wanted = {.call = "sago_iwrite_block_all", .direction = SAGOI_TO_FILE, .array = &array};
    return start(file, &(any_access){.list = &wanted}, request);
}

sago_status sago_iread_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                 const int64_t global[], const sago_block *block, sago_request **request) {
    sago_array array = array_of(offset, element, ndims, global, block);
    list_access wanted = {.call = "sago_iread_block_all", .direction = SAGOI_FROM_FILE, .array = &array};
    return start(file, &(any_access){.list = &wanted}, request);
}
