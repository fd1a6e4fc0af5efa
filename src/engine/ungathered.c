/* Collective calls between nodes in which no rank has more than one run, so that nothing is gathered and no plan
 * is needed: each rank moves its run by itself, once the ranks have met, or before that. */
#include <string.h>

#include "engine/collective.h"

/* Where no rank has more than one run, the opening agreement says enough to do without a plan.  Most calls have
 * more runs or one node: they are spared the collecting of what sagoi_route_gathers_nothing() looks at. */
bool sagoi_call_gathers_nothing(const sagoi_call *call) {
    if (call->most_runs != 1 || call->file->team->nodes == 1)
        return false;
    const sagoi_totals all = {.nodes = call->file->team->nodes,
                              .span = call->high - call->low,
                              .bytes = call->all_bytes,
                              .runs = call->all_runs,
                              .most_runs = call->most_runs,
                              .write = call->composed->request.direction == SAGOI_TO_FILE,
                              .topology = &call->file->network->found.topology,
                              .gathered = sagoi_pace_rate(call->pace_log2),
                              .assumed = call->file->network->found.assumed};
    const sagoi_target target = sagoi_call_target(call);
    return sagoi_route_gathers_nothing(&all, &target, &call->file->hints);
}

/* Lists the streams of one run of the file, which lie there one after another.  false: the run has to pass through
 * a buffer. */
static bool list_streams(const sagoi_request *request, sagoi_io_run runs[SAGOI_SINGLE_STREAMS]) {
    int64_t off = request->low;
    if (request->nonblocking || request->nstreams > SAGOI_SINGLE_STREAMS)
        return false;
    for (int64_t i = 0; i < request->nstreams; i++) {
        const sagoi_stream *stream = &request->streams[i];
        if (stream->memory.extents.pattern || stream->memory.staging)
            return false;
        runs[i] = (sagoi_io_run){off, sagoi_extents_bytes(&stream->file), stream->memory.base};
        off += runs[i].len;
    }
    return true;
}

/* Reads one run without asking for the file's size first: how much the read brings tells where the file ends. */
static sago_status read_run(sagoi_call *call) {
    sago_file *file = call->file;
    sagoi_request *request = &call->composed->request;
    sagoi_io_run runs[SAGOI_SINGLE_STREAMS];
    call->size = request->high;
    if (request->nstreams == 0)
        return SAGO_OK;
    if (!list_streams(request, runs)) {
        sagoi_look look;
        sago_status status = sagoi_store_look(file->store, 0, 1, &look);
        call->size = request->limit = look.size;
        return status ? status : sagoi_run_direct(file, call->composed);
    }
    int64_t bytes = 0;
    double start = sagoi_phase_begin(file);
    sago_status status = sagoi_read_runs(file, runs, request->nstreams, &bytes);
    (void)sagoi_phase_next(file, SAGO_PHASE_STORE, start);
    call->size = request->low + bytes;
    return status;
}

/* Moves this rank's part of a call in which no rank has more than one run. */
static sago_status move_run(sagoi_call *call) {
    bool by_size = call->sized || call->composed->request.direction == SAGOI_TO_FILE;
    sago_status status = by_size ? sagoi_run_direct(call->file, call->composed) : read_run(call);
    return status ? status : sagoi_request_finish_staging(&call->composed->request);
}

/* Moves this rank's part before the ranks meet, where nothing else is likely to be left to do. */
sago_status sagoi_call_go_first(sagoi_call *call) {
    const sago_file *file = call->file;
    const sagoi_composed *composed = call->composed;
    const sagoi_route_call kind = sagoi_composed_call(composed);
    if (composed->flush || composed->follows || file->unruled || !sagoi_route_may_go_first(kind, &file->common))
        return SAGO_OK;
    const sagoi_route_wanted wanted = sagoi_engine_wanted(composed);
    call->first = sagoi_route_goes_first(kind, &file->common, &file->own, &wanted);
    return call->first && wanted.bytes > 0 ? move_run(call) : SAGO_OK;
}

sago_status sagoi_call_run_ungathered(sagoi_call *call) {
    const char *why = sagoi_route_ungathered();
    sago_file *file = call->file;
    call->composed->all_dense = sagoi_call_is_tiled(call, call->single_cover);
    file->stats.direct_calls++;
    sagoi_call_count_route(call,
                           sagoi_call_ends_alone(call) ? SAGO_ROUTE_ALONE_DIRECT : SAGO_ROUTE_TOGETHER_DIRECT);
    memcpy(file->stats.decision, why, strlen(why) + 1);
    if (call->all_first)
        return SAGO_OK;
    sago_status status = move_run(call);
    if (sagoi_call_ends_alone(call))
        return sagoi_call_end_alone(call, status);
    double start = sagoi_now();
    status = sagoi_agree_status(file->team, status);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_WAIT, start);
    return status;
}
