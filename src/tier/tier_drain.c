/* Draining: with the hint sago_tier_drain=background, calls go to the global file in the background after
 * sago_sync_local().
 *
 * Each rank's I/O thread writes what the rank itself wrote, without asking anybody.  So a call is drained only
 * if its place in the order cannot matter: no other call since the last merge, drained or not, wrote anywhere
 * in its range, and no rank has written by independent calls.  A call that is not drained, or whose draining
 * failed, stays in the log, and the next merge writes it, after the threads of all ranks are done.  A call that
 * comes later than a drained one and writes to the same bytes is therefore written after it.  Before the first
 * byte goes the claim is changed to say that a merge is under way. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/fiber.h"
#include "extent/codec.h"
#include "tier/tier_state.h"

/* This rank's part of a call, on its way to the global file. */
struct sagoi_drain {
    sagoi_work work;
    sagoi_store *from, *to;
    /* A buffer of `room` bytes, which all drains of the file share, since one is under way at a time. */
    char *data;
    int64_t room;
    sagoi_wire_out code; /* its runs */
    int64_t high;        /* end of the last run */
    sagoi_logged *call;
    sago_status status;
    struct sagoi_drain *next;
};

/* ---- In the thread ---- */

static sago_status move_run(const sagoi_drain *drain, int64_t off, int64_t len) {
    sago_status status = SAGO_OK;
    for (int64_t done = 0, got = 0; done < len && !status; done += got) {
        sagoi_io_run run = {off + done, sagoi_min(len - done, drain->room), drain->data};
        status = sagoi_store_read(drain->from, &run, 1, &got);
        if (!status && got < run.len)
            status = sagoi_fail(SAGO_ERR_IO, "the file in local storage has become shorter");
        if (!status)
            status = sagoi_store_write(drain->to, &run, 1);
    }
    return status;
}

static void move_call(sagoi_work *work) {
    sagoi_drain *drain = (sagoi_drain *)work;
    const uint8_t *at = (const uint8_t *)drain->code.bytes, *stop = at + drain->code.len;
    int64_t end = 0;
    while (at && at < stop && !drain->status) {
        sagoi_span train = {0};
        at = sagoi_code_get(at, stop, &train, &end);
        for (int64_t i = 0; at && i < train.count && !drain->status; i++)
            drain->status = move_run(drain, train.off + i * train.stride, train.len);
    }
}

/* ---- Which calls ---- */

static bool is_apart(const sagoi_local_tier *t, const sagoi_logged *call) {
    for (const sagoi_logged *other = t->first; other; other = other->next)
        if (other != call && other->all.low < call->all.high && call->all.low < other->all.high)
            return false;
    return true;
}

/* Codes this rank's runs of a call, if they are to be drained. */
static sago_status code_part(sago_file *file, const sagoi_logged *call, sagoi_wire_out *code, int64_t *high) {
    sagoi_composed composed;
    sagoi_composed_init(&composed, SAGOI_TO_FILE, &file->budget);
    sago_status status = sagoi_tier_compose_place(&composed, &call->call);
    *high = composed.request.high;
    if (!status && sagoi_route_drains(composed.request.nstreams, composed.bytes, composed.runs))
        status = sagoi_tier_code_stream(&composed.request.streams[0].file, code);
    sagoi_composed_cleanup(&composed);
    return status;
}

bool sagoi_tier_may_drain(const sago_file *file) {
    const sagoi_waiting waiting = {.calls = file->tier->calls, .own = file->tier->own, .unruled = file->unruled};
    return sagoi_route_may_drain(&file->hints, &waiting);
}

static sagoi_drain *drain_create(sago_file *file, sagoi_logged *call, sagoi_wire_out code, int64_t high) {
    sagoi_local_tier *t = file->tier;
    if (!t->room)
        t->room = sagoi_budget_alloc(&file->budget, t->chunk);
    sagoi_drain *drain = t->room ? calloc(1, sizeof *drain) : NULL;
    if (drain)
        *drain = (sagoi_drain){.work.run = move_call,
                               .from = t->local->store,
                               .to = file->store,
                               .data = t->room,
                               .room = t->chunk,
                               .code = code,
                               .high = high,
                               .call = call};
    return drain;
}

static void drain_destroy(sagoi_drain *drain) {
    free(drain->code.bytes);
    free(drain);
}

/* A call that cannot be drained, for whatever reason, is merged later. */
bool sagoi_tier_prepare_drains(sago_file *file) {
    sagoi_drain **last = &file->tier->prepared;
    for (sagoi_logged *call = file->tier->first; call; call = call->next) {
        sagoi_wire_out code = {0};
        int64_t high = 0;
        if (call->looked || !is_apart(file->tier, call))
            continue;
        sago_status status = code_part(file, call, &code, &high);
        sagoi_drain *drain = !status && code.len > 0 ? drain_create(file, call, code, high) : NULL;
        if (!drain) {
            free(code.bytes);
            continue;
        }
        *last = drain;
        last = &drain->next;
    }
    return file->tier->prepared != NULL;
}

void sagoi_tier_drain(sago_file *file, bool all_agree) {
    sagoi_local_tier *t = file->tier;
    for (sagoi_logged *call = t->first; all_agree && call; call = call->next)
        call->looked = true;
    while (t->prepared) {
        sagoi_drain *drain = t->prepared;
        t->prepared = drain->next;
        if (all_agree && sagoi_workqueue_submit(file->thread, 0, &drain->work)) {
            drain->next = t->drains;
            t->drains = drain;
        } else {
            drain_destroy(drain);
        }
    }
}

/* ---- Waiting ---- */

static void await(sago_file *file, const sagoi_work *work) {
    const sagoi_team *team = file->team;
    while (sagoi_on_fiber() && !sagoi_work_done(file->thread, work))
        sagoi_fiber_yield(team->idle && team->idle(team->idle_arg), NULL, 0);
    while (!sagoi_work_wait(file->thread, work, 1))
        if (!sagoi_give_way(false) && !(team->idle && team->idle(team->idle_arg)))
            sagoi_poke(file->team);
}

/* `team`: the ranks are still a team, so MPI makes progress during the wait. */
void sagoi_tier_end_drains(sago_file *file, bool team) {
    sagoi_local_tier *t = file->tier;
    for (sagoi_drain *drain = t->drains, *next; drain; drain = next) {
        next = drain->next;
        if (team)
            await(file, &drain->work);
        else
            (void)sagoi_work_wait(file->thread, &drain->work, 0);
        drain->call->drained = drain->status == SAGO_OK;
        /* A drain that failed may have written a part. */
        file->written_end = sagoi_max(file->written_end, drain->high);
        drain_destroy(drain);
    }
    t->drains = NULL;
    if (t->room)
        sagoi_budget_free(&file->budget, t->room);
    t->room = NULL;
}
