/* From an access that the caller wants to the routes that serve it.  plan/route.c decides; here its inputs are
 * collected, the questions are asked that only other ranks or the file system can answer, and the route is carried
 * out. */
#include "engine/dispatch.h"

#include <sched.h>

#include "base/checked.h"
#include "move/convene.h"

/* ---- Inputs ---- */

void sagoi_dispatch_init(sago_file *file) {
    const sagoi_layout *layout = sagoi_store_layout(file->store);
    const sagoi_route_storage storage = {.nodes = file->team->nodes,
                                         .ranks = file->team->size,
                                         .local = layout->local,
                                         .in_memory = layout->in_memory,
                                         .unmappable = file->unmappable,
                                         .with_targets = layout->stripe_unit > 0 || layout->lock_unit > 0,
                                         .subfiles = sagoi_store_subfile_count(file->store) > 0};
    file->common = sagoi_route_file_of(&file->hints, &storage);
    file->common.defer = file->deferred != NULL;
    file->own = (sagoi_route_own){.local = layout->local,
                                  .in_memory = layout->in_memory,
                                  .neighbours = file->team->local_size > 1,
                                  .patience = SAGOI_FIRST_PATIENCE};
}

void sagoi_dispatch_view(sago_file *file, bool gaps) {
    file->common.gaps = gaps;
    file->own.last = SAGOI_LAST_NONE;
}

/* ---- Composing ---- */

static sago_status compose_view(const sago_file *file, const sagoi_access *access, sagoi_composed *composed) {
    sagoi_view_place place = {.view = &file->view, .disp = file->view.disp};
    if (sagoi_mul(access->offset, file->view.etype_size, &place.begin))
        return sagoi_fail(SAGO_ERR_OVERFLOW, "offset %lld etypes of %lld bytes", (long long)access->offset,
                          (long long)file->view.etype_size);
    sago_status status = sagoi_compose_view(composed, &place, &access->buffer);
    composed->origin = (sagoi_origin){.view = &file->view, .begin = place.begin, .bytes = composed->bytes};
    return status;
}

/* Lists the runs of a block.  A stage keeps the origin of a call for later, and knows origins as lists of runs
 * only. */
static sago_status list_runs(sagoi_composed *composed) {
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t n = 0, runs = composed->runs;
    if (runs == 0)
        return SAGO_OK;
    sago_extent *list = sagoi_budget_alloc(composed->budget, runs * (int64_t)sizeof *list);
    if (!list)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld runs", (long long)runs);
    composed->listed = list;
    composed->origin = (sagoi_origin){.n = runs, .extents = list};
    for (int64_t i = 0; i < composed->request.nstreams; i++) {
        sagoi_cursor_init(&cursor, &composed->request.streams[i].file);
        while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span))
            for (sagoi_walk run = sagoi_walk_span(&span); sagoi_walk_run(&run);)
                list[n++] = (sago_extent){run.off, run.len};
    }
    return SAGO_OK;
}

static sago_status compose_list(const sago_file *file, const sagoi_list *list, sagoi_composed *composed) {
    if (!list->block)
        return sagoi_compose_extents(composed, list->n, list->extents, &list->memory);
    sago_status status = sagoi_compose_block(composed, list->block);
    return status || !file->common.tier ? status : list_runs(composed);
}

static sago_status compose(sago_file *file, const sagoi_access *access, sago_status wrong,
                           sagoi_composed *composed) {
    composed->type = access->type;
    const sagoi_list *list = access->list;
    composed->origin =
        list ? (sagoi_origin){.n = list->n, .extents = list->extents} : (sagoi_origin){.view = &file->view};
    if (wrong)
        return wrong;
    double start = sagoi_phase_begin(file);
    sago_status status = list ? compose_list(file, list, composed) : compose_view(file, access, composed);
    (void)sagoi_phase_next(file, SAGO_PHASE_FLATTEN, start);
    return status;
}

/* The access is one run of the file, as in most calls of most programs, in memory whose form is known, so that one
 * system call moves it and nothing has to be composed.  Wrong arguments are found by composing the access after
 * all. */
static bool is_piece(const sago_file *file, const sagoi_access *access, sagoi_lone_run *piece) {
    int64_t end;
    sagoi_view_place place = {.view = &file->view, .disp = file->view.disp};
    if (access->list || access->buffer.count <= 0 || !access->buffer.base ||
        !sagoi_compose_cached_memory(&access->buffer, &piece->memory, &piece->len) || piece->len == 0 ||
        sagoi_mul(access->offset, file->view.etype_size, &place.begin))
        return false;
    bool one = file->view.solid
                   ? !sagoi_add(place.begin, place.disp, &piece->off) && !sagoi_add(piece->off, piece->len, &end)
                   : sagoi_compose_one_run(&place, piece->len, &piece->off);
    return one && sagoi_route_is_piece(&file->common, &file->own, sagoi_memory_form_of(&piece->memory), piece->off,
                                       piece->len);
}

/* ---- Company ---- */

/* Waits until the other ranks have finished as many calls as this one, which turns from writing to reading, or
 * back.  MPI asks programs to synchronise such accesses by themselves, so a nonblocking call that needs nobody
 * waits only for a limited time. */
static sago_status await_turn(sago_file *file, bool briefly) {
    bool late = false;
    double start = sagoi_phase_begin(file);
    sago_status status = sagoi_await_done(file->team, briefly ? file->own.patience : 0, &late);
    (void)sagoi_phase_next(file, SAGO_PHASE_WAIT, start);
    if (late)
        sagoi_route_lose_patience(&file->own);
    return status;
}

static sagoi_last_access last_of(bool write) { return write ? SAGOI_LAST_WRITE : SAGOI_LAST_READ; }

/* Returns when a rank that goes alone, without having asked the other ranks, may access the file. */
static sago_status take_turn(sago_file *file, sagoi_route_call call) {
    bool turned = sagoi_route_turns(&file->own, call.write);
    file->own.last = last_of(call.write);
    return turned ? await_turn(file, file->common.apart && call.nonblocking) : SAGO_OK;
}

/* All ranks say whether they can go alone. */
static sago_status ask(sago_file *file, sagoi_route_call call, bool unwilling, sagoi_route_choice *choice) {
    bool any_unwilling = true;
    sagoi_meeting meeting = call.nonblocking ? SAGOI_MEETING_START_ASK : SAGOI_MEETING_ASK;
    double start = sagoi_phase_begin(file);
    sago_status status = sagoi_engine_agree_any(file, SAGO_OK, meeting, unwilling, &any_unwilling);
    (void)sagoi_phase_next(file, SAGO_PHASE_WAIT, start);
    *choice = sagoi_route_answer(status || any_unwilling);
    file->own.last = choice->company == SAGOI_ALONE ? last_of(call.write) : SAGOI_LAST_NONE;
    return status;
}

/* ---- Alone ---- */

static sago_status finish_alone(sago_file *file, sagoi_direction direction, sago_status status) {
    *(direction == SAGOI_TO_FILE ? &file->stats.collective_writes : &file->stats.collective_reads) += 1;
    return sagoi_engine_end_alone(file, status);
}

static sago_status serve_alone(sago_file *file, sagoi_composed *composed, sagoi_lone_part *part,
                               sago_status status, int64_t *bytes) {
    if (!status)
        status = sagoi_engine_alone(file, composed, part, bytes);
    return finish_alone(file, composed->request.direction, status);
}

/* ---- Together ---- */

static sago_flush reason_to_drain(const sagoi_composed *composed) {
    if (composed->type == SAGOI_DECLARED)
        return SAGO_FLUSH_STEP;
    return composed->request.nonblocking                  ? SAGO_FLUSH_STARTED
           : composed->request.direction == SAGOI_TO_FILE ? SAGO_FLUSH_MEMORY
                                                          : SAGO_FLUSH_READ;
}

/* Serves a call together with the other ranks.  The data of earlier calls that a stage holds goes to the file
 * first. */
static sago_status serve_together(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes) {
    sago_status drained =
        file->stage ? file->stage->drain(file, reason_to_drain(composed), composed->request.nonblocking) : SAGO_OK;
    return drained ? drained : sagoi_engine_run(file, composed, status, bytes);
}

/* Serves a collective call, whose company and moment are chosen.  `status` is what is wrong with the arguments. */
static sago_status serve(sago_file *file, sagoi_composed *composed, sagoi_lone_part *part, sago_status status,
                         int64_t *bytes) {
    const sagoi_route_call call = sagoi_composed_call(composed);
    sagoi_route_choice *choice = &part->route.choice;
    sago_status met = SAGO_OK;
    if (choice->moment != SAGOI_NOW)
        return file->stage->write(file, composed, status, bytes);
    if (choice->company == SAGOI_ALONE) {
        met = take_turn(file, call);
    } else if (choice->company == SAGOI_ASK) {
        if (!status)
            sagoi_engine_choose(file, composed, part);
        met = ask(file, call, part->route.unwilling || status, choice);
    }
    if (choice->company == SAGOI_ALONE)
        return serve_alone(file, composed, part, met ? met : status, bytes);
    return met ? met : serve_together(file, composed, status, bytes);
}

/* ---- Blocking calls ---- */

/* A stage that has not decided yet whether to take this call decides now, for which the ranks may have to agree.
 */
static sago_status choose_again(sago_file *file, const sagoi_composed *composed, sagoi_route_choice *choice) {
    const sagoi_route_call call = sagoi_composed_call(composed);
    sago_status status = SAGO_OK;
    if (call.write && file->stage->look)
        status = file->stage->look(file, composed);
    if (!status)
        *choice = sagoi_route_choose(call, &file->common);
    return status;
}

static sago_status serve_composed(sago_file *file, const sagoi_access *access, sagoi_route_choice choice,
                                  sago_status wrong, int64_t *bytes) {
    sagoi_composed composed;
    sagoi_composed_init(&composed, access->direction, &file->budget);
    sago_status status = compose(file, access, wrong, &composed);
    sagoi_lone_part part = {.route = {.choice = choice}};
    sago_status met = file->stage ? choose_again(file, &composed, &part.route.choice) : SAGO_OK;
    status = met ? met : serve(file, &composed, &part, status, bytes);
    sagoi_composed_cleanup(&composed);
    return status;
}

static sago_status serve_collective(sago_file *file, const sagoi_access *access, sago_status wrong,
                                    int64_t *bytes) {
    sagoi_lone_run piece;
    sago_status status = SAGO_OK;
    const sagoi_route_call call = {
        .type = SAGOI_COLLECTIVE, .write = access->direction == SAGOI_TO_FILE, .by_extents = access->list != NULL};
    sagoi_nonblocking_finish(file);
    sagoi_route_choice choice = sagoi_route_choose(call, &file->common);
    if (wrong || choice.company == SAGOI_TOGETHER || choice.moment != SAGOI_NOW || !is_piece(file, access, &piece))
        return serve_composed(file, access, choice, wrong, bytes);
    if (choice.company == SAGOI_ALONE)
        status = take_turn(file, call);
    else
        status = ask(file, call, false, &choice);
    if (status || choice.company == SAGOI_TOGETHER)
        return status ? status : serve_composed(file, access, choice, wrong, bytes);
    status = sagoi_engine_piece(file, access->direction, &piece, bytes);
    return finish_alone(file, access->direction, status);
}

static sago_status serve_own_composed(sago_file *file, const sagoi_access *access, sagoi_route_choice choice,
                                      int64_t *bytes) {
    sagoi_composed composed;
    sagoi_lone_part part = {.route = {.choice = choice}};
    sagoi_composed_init(&composed, access->direction, &file->budget);
    sago_status status = compose(file, access, SAGO_OK, &composed);
    if (!status)
        status = file->stage && file->stage->own ? file->stage->own(file, &composed, bytes)
                                                 : sagoi_engine_alone(file, &composed, &part, bytes);
    sagoi_composed_cleanup(&composed);
    return status;
}

static sago_status serve_own(sago_file *file, const sagoi_access *access, int64_t *bytes) {
    sagoi_lone_run piece;
    const sagoi_route_call call = {.type = SAGOI_INDEPENDENT, .write = access->direction == SAGOI_TO_FILE};
    sagoi_route_choice choice = sagoi_route_choose(call, &file->common);
    sago_status status = file->stage && file->stage->drain_own ? file->stage->drain_own(file) : SAGO_OK;
    if (!status)
        status = choice.moment == SAGOI_NOW && is_piece(file, access, &piece)
                     ? sagoi_engine_piece(file, access->direction, &piece, bytes)
                     : serve_own_composed(file, access, choice, bytes);
    if (!status)
        *(call.write ? &file->stats.independent_writes : &file->stats.independent_reads) += 1;
    file->own.strayed = file->own.strayed || call.write;
    return status;
}

sago_status sagoi_dispatch(sago_file *file, const sagoi_access *access, sago_status wrong, int64_t *bytes) {
    *bytes = 0;
    if (access->type != SAGOI_INDEPENDENT)
        return serve_collective(file, access, wrong, bytes);
    if (wrong)
        return wrong;
    bool held;
    sagoi_nonblocking_hold(file, &held);
    sago_status status = serve_own(file, access, bytes);
    sagoi_nonblocking_release(held);
    return status;
}

sago_status sagoi_dispatch_step(sago_file *file, sagoi_composed *step, sago_status wrong, int64_t *bytes) {
    step->type = SAGOI_DECLARED;
    const sagoi_route_call call = sagoi_composed_call(step);
    *bytes = 0;
    sagoi_nonblocking_finish(file);
    sagoi_lone_part part = {.route = {.choice = sagoi_route_choose(call, &file->common)}};
    return serve(file, step, &part, wrong, bytes);
}

/* ---- Nonblocking calls ---- */

static void choose_started(const sago_file *file, sago_request *request, sago_status wrong) {
    const sagoi_route_call call = sagoi_composed_call(&request->composed);
    sagoi_route_choice choice = sagoi_route_choose(call, &file->common);
    request->part = (sagoi_lone_part){.route = {.choice = choice, .unwilling = choice.helpless}};
    if ((choice.company == SAGOI_ALONE || choice.company == SAGOI_CONVENE) && !wrong)
        sagoi_engine_choose(file, &request->composed, &request->part);
}

/* One run of memory and of the file, which this rank moves alone and soon: as in a blocking call, nothing is
 * composed.  (Memory in pieces would need the datatype, which the caller may free before the call is done.) */
static bool take_piece(const sago_file *file, const sagoi_access *access, sago_request *request) {
    const sagoi_route_call call = {.type = access->type,
                                   .write = access->direction == SAGOI_TO_FILE,
                                   .nonblocking = true,
                                   .by_extents = access->list != NULL};
    sagoi_route_choice choice = sagoi_route_choose(call, &file->common);
    request->is_piece = choice.company == SAGOI_ALONE && is_piece(file, access, &request->piece) &&
                        !request->piece.memory.extents.pattern &&
                        sagoi_route_worker(&file->own, true, request->piece.len) == SAGOI_BY_CALLER;
    request->part.route = (sagoi_route){.choice = choice, .method = SAGOI_METHOD_PIECE};
    return request->is_piece;
}

sago_status sagoi_dispatch_prepare(sago_file *file, const sagoi_access *access, sago_status *wrong,
                                   sago_request **request) {
    bool held;
    sagoi_nonblocking_hold(file, &held);
    sago_status status = sagoi_nonblocking_create(file, access->call, access->direction, request);
    if (!status && (*wrong || !take_piece(file, access, *request))) {
        *wrong = compose(file, access, *wrong, &(*request)->composed);
        choose_started(file, *request, *wrong);
    } else if (status && file->common.apart) {
        sagoi_tell_done(file->team); /* Ranks that count calls count this one as done. */
    }
    sagoi_nonblocking_release(held);
    return status;
}

void sagoi_dispatch_start(sago_request *request, sago_status wrong) {
    sago_file *file = request->file;
    bool write = request->composed.request.direction == SAGOI_TO_FILE, next = atomic_load(&file->pending) == 0;
    if (!request->dropped && next && sagoi_route_is_soon_done(&request->part.route, &file->own, write))
        sagoi_nonblocking_run_at_once(request, wrong);
    else
        sagoi_nonblocking_run(request, wrong);
}

void sagoi_dispatch_start_step(sago_request *request, sago_status wrong) {
    request->composed.type = SAGOI_DECLARED;
    choose_started(request->file, request, wrong);
    sagoi_nonblocking_run(request, wrong);
}

/* Serves this rank's part of a call for which the ranks did not come together.  `all_arrived`: all ranks have done
 * the calls that they started before. */
static sago_status serve_part(sago_file *file, sago_request *request, sago_status status, bool all_arrived) {
    sagoi_composed *composed = &request->composed;
    bool write = composed->request.direction == SAGOI_TO_FILE;
    bool turned = sagoi_route_turns(&file->own, write) && !all_arrived;
    file->own.last = last_of(write);
    if (turned && file->common.nodes > 1) /* the rank has waited for the others in vain (sagoi_route_worth()) */
        sagoi_route_lose_patience(&file->own);
    if (turned && !status)
        status = await_turn(file, true);
    if (!status && file->stage && file->stage->drain_own)
        status = file->stage->drain_own(file);
    return serve_alone(file, composed, &request->part, status, &request->bytes);
}

/* What is wrong with the arguments of a started call; the message was kept with the request. */
static sago_status wrong_with(const sago_request *request) {
    if (request->status)
        sagoi_message_set(request->message);
    return request->status;
}

/* A call on a fiber goes on when there is something new to see.  A call that is not on a fiber reaches no later
 * call of the queue: it goes alone as soon as the nodes that ask have got an answer. */
static sagoi_convened convene(sago_file *file, const sago_request *request, sagoi_convening *convening) {
    const sagoi_composed *composed = &request->composed;
    *convening = (sagoi_convening){.team = file->team,
                                   .call = request->number,
                                   .unwilling = request->part.route.unwilling || request->status,
                                   .limit = request->at_once ? 0 : sagoi_engine_worth_waiting(file, composed)};
    sagoi_convene_begin(convening);
    for (;;) {
        sagoi_futex *word = sagoi_convene_word(convening);
        uint32_t old = atomic_load(&word->value);
        sagoi_convened decision = sagoi_convene_look(convening);
        if (decision != SAGOI_UNDECIDED)
            return decision;
        if (request->at_once)
            (void)sched_yield();
        else
            sagoi_fiber_yield(false, word, old);
    }
}

static sago_status serve_convened(sago_file *file, sago_request *request) {
    sagoi_convening convening;
    sago_status status = SAGO_OK;
    sagoi_convened decision = convene(file, request, &convening);
    if (decision == SAGOI_GO_TOGETHER) {
        status = serve_together(file, &request->composed, wrong_with(request), &request->bytes);
        file->own.last = SAGOI_LAST_NONE; /* the ranks have met */
    }
    /* Where there is not enough memory for the ranks to serve the call together, and all of them know it, each
     * rank still tries alone. */
    if (decision == SAGOI_GO_ALONE || sagoi_is_beyond(status))
        status = serve_part(file, request, wrong_with(request), convening.all_arrived);
    sagoi_convene_end(&convening);
    return status;
}

static sago_status serve_piece(sago_file *file, sago_request *request) {
    sagoi_direction direction = request->composed.request.direction;
    sago_status wrong = wrong_with(request);
    sago_status status =
        take_turn(file, (sagoi_route_call){.write = direction == SAGOI_TO_FILE, .nonblocking = true});
    status = status ? status : wrong;
    if (!status)
        status = sagoi_engine_piece(file, direction, &request->piece, &request->bytes);
    return finish_alone(file, direction, status);
}

sago_status sagoi_dispatch_started(sago_file *file, sago_request *request) {
    if (request->is_piece)
        return serve_piece(file, request);
    if (request->part.route.choice.company == SAGOI_CONVENE)
        return serve_convened(file, request);
    return serve(file, &request->composed, &request->part, wrong_with(request), &request->bytes);
}
