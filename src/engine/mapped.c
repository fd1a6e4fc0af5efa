/* The mapped strategy: each rank copies its runs straight between its memory and a mapping of the file, without
 * a window, a second copy, or any gate but those at the start and the end of the call.
 *
 * Ranks start at different places of the range, so that neighbours that share cache lines do not write them at
 * the same time. */
#include <unistd.h>

#include "base/checked.h"
#include "engine/collective.h"

/* One rank makes the file long enough before any rank touches it. */
static void extend_file(void *arg, sagoi_agreement *agreed) {
    sagoi_call *call = arg;
    int64_t size = 0;
    sago_status status = sagoi_store_size(call->file->store, &size);
    if (!status && size < call->high)
        status = sagoi_store_resize(call->file->store, call->high);
    agreed->max[0] = sagoi_max(agreed->max[0], sagoi_verdict_code(call->file->team, status));
}

static sago_status ensure_length(sagoi_call *call, double *clock) {
    if (call->composed->request.direction == SAGOI_FROM_FILE || call->high <= call->size)
        return SAGO_OK;
    sagoi_agreement agreement = {0};
    sago_status status = sagoi_agree(call->file->team, &agreement, NULL, extend_file, call);
    *clock = sagoi_phase_next(call->file, SAGO_PHASE_WAIT, *clock);
    return status ? status : sagoi_verdict(call->file->team, agreement.max[0]);
}

/* Writes the first byte through write(2), so that time stamps and set-id bits change as with any write: the kernel
 * does not see stores to a page that is mapped already. */
static sago_status touch_file(sagoi_call *call) {
    const sagoi_request *request = &call->composed->request;
    if (request->direction == SAGOI_FROM_FILE || request->low != call->low)
        return SAGO_OK;
    char first = 0;
    (void)sagoi_request_copy(request, request->low, request->low + 1, &first, NULL);
    sagoi_io_run run = {.off = request->low, .len = 1, .buf = &first};
    return sagoi_store_write(call->file->store, &run, 1);
}

/* Has the range a hole?  Reading a hole through a mapping would fill it. */
static bool has_hole(const sagoi_call *call, int64_t start, int64_t end) {
    return call->sparse && call->composed->request.direction == SAGOI_FROM_FILE &&
           lseek(sagoi_store_fd(call->file->store), start, SEEK_HOLE) < sagoi_min(end, call->size);
}

sago_status sagoi_read_through(sago_file *file, const sagoi_request *request, int64_t start, int64_t end,
                               int64_t *moved) {
    enum { FEW_BYTES = 2048 }; /* a thread may have little stack */
    int64_t got = 0;
    char few[FEW_BYTES], *more = NULL, *copy = few;
    if (end - start > FEW_BYTES)
        copy = more = sagoi_budget_realloc(&file->budget, NULL, end - start); /* not cleared */
    if (!copy)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a buffer of %lld bytes", (long long)(end - start));
    sagoi_io_run run = {.off = start, .len = end - start, .buf = copy};
    sago_status status = sagoi_move_runs(file, SAGOI_FROM_FILE, &run, 1, &got);
    if (!status)
        *moved += sagoi_request_copy(request, start, start + got, copy, NULL);
    sagoi_budget_free(&file->budget, more);
    return status;
}

static sago_status copy_mapped(sagoi_call *call, int64_t start, int64_t end, int64_t *moved) {
    sago_file *file = call->file;
    sago_status status = sagoi_mapping_populate(&file->mapping, file->store, start, end);
    if (!status)
        *moved += sagoi_request_copy(&call->composed->request, start, end, sagoi_mapping_at(&file->mapping, start),
                                     NULL);
    return status;
}

/* Copies [start, end), with several streams block by block, so that a block stays in the cache for all of them.
 * Blocks in which this rank has no bytes are not brought in, since they may be holes. */
static sago_status sweep(sagoi_call *call, int64_t start, int64_t end, int64_t *moved) {
    const sagoi_request *request = &call->composed->request;
    int64_t step = request->nstreams > 1 ? SAGOI_MAPPED_BLOCK : SAGOI_MAPPED_LONE_BLOCK;
    while (start < end) {
        int64_t stop = sagoi_min(end, sagoi_add_limited(sagoi_round_down(start, step), step));
        sago_status status = SAGO_OK;
        if (sagoi_request_touches(request, start, stop))
            status = has_hole(call, start, stop) ? sagoi_read_through(call->file, request, start, stop, moved)
                                                 : copy_mapped(call, start, stop, moved);
        if (status)
            return status;
        start = stop;
    }
    return SAGO_OK;
}

static sago_status map(sago_file *file, int64_t low, int64_t high) {
    bool write = !(file->amode & MPI_MODE_RDONLY);
    return sagoi_mapping_cover(&file->mapping, file->store, low, high, write, &file->budget);
}

/* Maps everything that this rank has used of the file so far, if possible, so that later calls need no new
 * mapping. */
static sago_status cover(sago_file *file, int64_t low, int64_t high) {
    const sagoi_range *used = &file->own.once;
    sagoi_route_note(&file->own, low, high);
    if (used->high - used->low <= SAGOI_MAPPED_KEPT_MOST && map(file, used->low, used->high) == SAGO_OK)
        return SAGO_OK;
    return map(file, low, high);
}

/* Copies [start, end) through several mappings of at most *most bytes each; *most shrinks where the address space
 * is too small. */
static sago_status copy_by_parts(sagoi_call *call, int64_t start, int64_t end, int64_t *most, int64_t *moved) {
    while (start < end) {
        int64_t stop = end - start > *most ? start + *most : end;
        sago_status status = map(call->file, start, stop);
        if (status && *most > SAGOI_MAPPED_PART_LEAST) {
            *most = sagoi_max(SAGOI_MAPPED_PART_LEAST, sagoi_min(*most, end - start) / 2);
            continue;
        }
        if (!status)
            status = sweep(call, start, stop, moved);
        if (status)
            return status;
        start = stop;
    }
    return SAGO_OK;
}

/* Copies from this rank's place in the range to the end, and then what lies before that place.  *clock: when this
 * began; then when the copying began. */
static sago_status copy_range(sagoi_call *call, int64_t low, int64_t high, int64_t *moved, double *clock) {
    sago_file *file = call->file;
    int64_t part = (high - low) / file->team->local_size, middle = low + part * file->team->local_rank;
    bool covered = cover(file, low, high) == SAGO_OK;
    *clock = sagoi_phase_next(file, SAGO_PHASE_STORE, *clock);
    if (covered) {
        sago_status status = sweep(call, middle, high, moved);
        return status ? status : sweep(call, low, middle, moved);
    }
    int64_t most = (high - low) / 2;
    sago_status status = copy_by_parts(call, middle, high, &most, moved);
    return status ? status : copy_by_parts(call, low, middle, &most, moved);
}

/* Where no mapping can be made, this rank serves the whole call by system calls, and no other rank needs to
 * know. */
static sago_status copy_all(sagoi_call *call, double *clock) {
    sago_file *file = call->file;
    const sagoi_request *request = &call->composed->request;
    bool write = request->direction == SAGOI_TO_FILE;
    int64_t low = request->low, high = write ? request->high : sagoi_min(request->high, request->limit);
    int64_t moved = 0;
    if (low >= high)
        return SAGO_OK;
    sago_status status = copy_range(call, low, high, &moved, clock);
    if (status == SAGO_ERR_MEMORY)
        status = sagoi_move_alone(file, call->composed);
    else if (!status)
        status = touch_file(call);
    sagoi_phase_count(&file->stats, SAGO_PHASE_GATHER, moved, call->composed->runs, 0);
    return status;
}

sago_status sagoi_run_mapped(sagoi_call *call, double *clock) {
    sago_status status = ensure_length(call, clock);
    return status ? status : copy_all(call, clock);
}
