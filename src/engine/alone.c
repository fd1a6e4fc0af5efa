/* A rank on its own: independent calls, and the rank's part of a collective call in which the ranks go alone.
 * plan/route.c chooses the method; this file collects the inputs of that choice and carries the method out. */
#include "base/checked.h"
#include "engine/collective.h"

/* ---- Inputs of the route ---- */

/* Is the request one run of the file?  Runs that are read may overlap, so their sum alone does not tell. */
static bool is_one_run(const sagoi_composed *composed) {
    const sagoi_request *request = &composed->request;
    sagoi_cursor cursor;
    sagoi_span span;
    if (request->nstreams != 1 || request->high - request->low != composed->bytes)
        return false;
    sagoi_cursor_init(&cursor, &request->streams[0].file);
    if (!sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span))
        return false;
    sagoi_walk run = sagoi_walk_span(&span);
    return sagoi_walk_run(&run) && run.len == composed->bytes;
}

sagoi_route_wanted sagoi_engine_wanted(const sagoi_composed *composed) {
    const sagoi_request *request = &composed->request;
    return (sagoi_route_wanted){.memory = request->nstreams ? sagoi_memory_form_of(&request->streams[0].memory)
                                                            : SAGOI_MEMORY_WHOLE,
                                .one_run = is_one_run(composed),
                                .bytes = composed->bytes,
                                .runs = composed->runs,
                                .low = request->low,
                                .high = request->high};
}

static void choose_method(const sago_file *file, const sagoi_composed *composed, sagoi_lone_part *part) {
    sagoi_route_part(&part->route, sagoi_composed_call(composed), &file->common, &file->own, &part->wanted);
}

/* Decides again, knowing what the file system says of holes. */
static void choose_looked(const sago_file *file, const sagoi_composed *composed, const sagoi_look *look,
                          sagoi_lone_part *part) {
    part->wanted.looked = true;
    part->wanted.sparse = look->sparse;
    choose_method(file, composed, part);
}

void sagoi_engine_choose(const sago_file *file, const sagoi_composed *composed, sagoi_lone_part *part) {
    sagoi_look look = {0};
    part->wanted = sagoi_engine_wanted(composed);
    choose_method(file, composed, part);
    if (sagoi_route_asks_for_holes(&part->route, &file->common) &&
        sagoi_store_look(file->store, 0, 1, &look) == SAGO_OK)
        choose_looked(file, composed, &look, part);
}

double sagoi_engine_worth_waiting(const sago_file *file, const sagoi_composed *composed) {
    const sagoi_route_wanted wanted = {.bytes = composed->bytes, .runs = composed->runs};
    return sagoi_route_worth(&file->common, &file->own, composed->request.direction == SAGOI_TO_FILE, &wanted);
}

/* ---- Methods ---- */

static sago_status run_direct(sago_file *file, const sagoi_composed *composed) {
    const sagoi_request *request = &composed->request;
    if (request->low < request->high)
        sagoi_route_note(&file->own, request->low, request->high);
    return sagoi_run_direct(file, composed);
}

/* Makes the file long enough by writing the last byte, which belongs to this rank.  Setting the length might cut
 * off what another rank has written beyond that byte meanwhile. */
static sago_status reach(sago_file *file, int64_t end) {
    char zero = 0;
    sagoi_io_run last = {.off = end - 1, .len = 1, .buf = &zero};
    return sagoi_store_write(file->store, &last, 1);
}

static sago_status run_mapped(sago_file *file, sagoi_composed *composed, const sagoi_look *look) {
    const sagoi_request *request = &composed->request;
    bool write = request->direction == SAGOI_TO_FILE;
    sagoi_call call = {.file = file, .composed = composed, .low = request->low, .high = request->high};
    call.sparse = look->sparse;
    call.size = look->size;
    if (write && call.high > call.size) {
        sago_status status = reach(file, call.high);
        if (status)
            return status;
        call.size = call.high;
    }
    double clock = sagoi_phase_begin(file);
    sago_status status = sagoi_run_mapped(&call, &clock);
    sagoi_mapping_remember(&file->mapping, file->store);
    (void)sagoi_phase_next(file, SAGO_PHASE_GATHER, clock);
    return status;
}

static void count_bytes(sago_file *file, sagoi_direction direction, int64_t end, int64_t bytes) {
    bool write = direction == SAGOI_TO_FILE;
    if (write)
        file->written_end = sagoi_max(file->written_end, end);
    *(write ? &file->stats.bytes_written : &file->stats.bytes_read) += bytes;
}

/* Bytes that were not read lie past the end of the file. */
static sago_status run_read_through(sago_file *file, const sagoi_request *request, int64_t *bytes) {
    double start = sagoi_phase_begin(file);
    sagoi_route_note(&file->own, request->low, request->high);
    sago_status status = sagoi_read_through(file, request, request->low, request->high, bytes);
    (void)sagoi_phase_next(file, SAGO_PHASE_STORE, start);
    file->stats.routes[SAGO_ROUTE_ALONE_READ_THROUGH] += status == SAGO_OK;
    return status;
}

/* Serves the access by a mapping or by system calls.  The size of the file matters only to reads and to a mapping.
 *
 * A mapping is decided on again here, whatever the file system said before: since then other ranks may have met
 * this one, written into holes, or cut the file, and a mapping must not reach past the end of the file. */
static sago_status run_by_size(sago_file *file, sagoi_composed *composed, sagoi_lone_part *part, int64_t *bytes) {
    sagoi_request *request = &composed->request;
    bool write = request->direction == SAGOI_TO_FILE, mapped = part->route.method == SAGOI_METHOD_MAPPED;
    sagoi_look look = {0};
    sago_status status = SAGO_OK;
    if (!write || mapped)
        status = sagoi_store_look(file->store, 0, 1, &look);
    request->limit = write ? SAGOI_NO_LIMIT : look.size;
    if (mapped) {
        choose_looked(file, composed, &look, part);
        mapped = part->route.method == SAGOI_METHOD_MAPPED;
    }
    if (!status)
        status = mapped ? run_mapped(file, composed, &look) : run_direct(file, composed);
    if (!status)
        file->stats.routes[mapped ? SAGO_ROUTE_ALONE_MAPPED : SAGO_ROUTE_ALONE_DIRECT]++;
    if (!status)
        *bytes = write || request->high <= look.size ? composed->bytes : sagoi_bytes_below(request, look.size);
    return status;
}

static sago_status move_run(sago_file *file, sagoi_direction direction, const sagoi_io_run *run, int64_t *bytes) {
    if (direction == SAGOI_FROM_FILE)
        return sagoi_store_read(file->store, run, 1, bytes);
    sago_status status = sagoi_store_write(file->store, run, 1);
    *bytes = status ? 0 : run->len;
    return status;
}

/* Moves a part of the piece by way of the part's buffer. */
static sago_status move_part(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                             const sagoi_io_run *part, int64_t *bytes) {
    if (direction == SAGOI_TO_FILE)
        sagoi_copy_stream(part->buf, part->off - piece->off, part->len, &piece->memory, direction);
    sago_status status = move_run(file, direction, part, bytes);
    if (!status && direction == SAGOI_FROM_FILE)
        sagoi_copy_stream(part->buf, part->off - piece->off, *bytes, &piece->memory, direction);
    return status;
}

/* Without memory for all of it, a long piece goes in parts. */
static sago_status move_packed(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                               int64_t *bytes) {
    enum { FEW_BYTES = 2048 }; /* a thread may have little stack */
    char few[FEW_BYTES];
    char *all = piece->len > FEW_BYTES ? sagoi_budget_realloc(&file->budget, NULL, piece->len) : NULL;
    int64_t room = all ? piece->len : FEW_BYTES, moved = room;
    sago_status status = SAGO_OK;
    *bytes = 0;
    for (int64_t done = 0; done < piece->len && moved == room && !status; done += room) {
        sagoi_io_run part = {piece->off + done, sagoi_min(piece->len - done, room), all ? all : few};
        status = move_part(file, direction, piece, &part, &moved); /* less than that: the file ends there */
        *bytes += status ? 0 : moved;
    }
    sagoi_budget_free(&file->budget, all);
    return status;
}

static inline sago_status move_piece(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                                     int64_t *bytes) {
    const sagoi_io_run run = {.off = piece->off, .len = piece->len, .buf = piece->memory.base};
    return piece->memory.extents.pattern ? move_packed(file, direction, piece, bytes)
                                         : move_run(file, direction, &run, bytes);
}

static inline void count_piece(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                               int64_t bytes) {
    file->stats.routes[SAGO_ROUTE_ALONE_PIECE]++;
    sagoi_route_note_piece(&file->own, piece->off, piece->len);
    count_bytes(file, direction, piece->off + piece->len, bytes);
}

/* Moves a piece, and times and records the call where statistics or a report want that.  Calls that are not timed
 * are not recorded either. */
__attribute__((noinline)) static sago_status run_timed_piece(sago_file *file, sagoi_direction direction,
                                                             const sagoi_lone_run *piece, int64_t *bytes) {
    double start = sagoi_now();
    sago_status status = move_piece(file, direction, piece, bytes);
    double end = sagoi_phase_end(&file->stats, SAGO_PHASE_STORE, start);
    if (status)
        return status;
    const sagoi_io_run run = {.off = piece->off, .len = piece->len};
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_record_request(file, &run, 1, end - start);
    count_piece(file, direction, piece, *bytes);
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_record_done(file, direction == SAGOI_TO_FILE, piece->off, piece->off + piece->len, *bytes);
    return SAGO_OK;
}

sago_status sagoi_engine_piece(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                               int64_t *bytes) {
    if (file->timed)
        return run_timed_piece(file, direction, piece, bytes);
    sago_status status = move_piece(file, direction, piece, bytes);
    if (!status)
        count_piece(file, direction, piece, *bytes);
    return status;
}

/* Without the memory to read the gaps, too, each run is read by itself. */
static sago_status run_described(sago_file *file, sagoi_composed *composed, sagoi_lone_part *part,
                                 int64_t *bytes) {
    bool through = part->route.method == SAGOI_METHOD_READ_THROUGH;
    sago_status status = through ? run_read_through(file, &composed->request, bytes) : SAGO_OK;
    if (!through || status == SAGO_ERR_MEMORY)
        status = run_by_size(file, composed, part, bytes);
    if (!status)
        status = sagoi_request_finish_staging(&composed->request);
    if (status)
        return status;
    count_bytes(file, composed->request.direction, composed->request.high, *bytes);
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_record_done(file, composed->request.direction == SAGOI_TO_FILE, composed->request.low,
                          composed->request.high, *bytes);
    return SAGO_OK;
}

/* A method that was chosen some time ago, before a question to the other ranks or in an earlier place of the
 * queue, is still a correct one, and seldom a slower one: it depends on the request, and on which parts of the
 * file this rank has accessed before.  What depends on the file's contents is looked at in run_by_size(). */
sago_status sagoi_engine_alone(sago_file *file, sagoi_composed *composed, sagoi_lone_part *part, int64_t *bytes) {
    const sagoi_request *request = &composed->request;
    *bytes = 0;
    if (part->route.method == SAGOI_METHOD_NONE)
        sagoi_engine_choose(file, composed, part);
    if (part->route.method != SAGOI_METHOD_PIECE)
        return run_described(file, composed, part, bytes);
    const sagoi_lone_run piece = {
        .off = request->low, .len = composed->bytes, .memory = request->streams[0].memory};
    return sagoi_engine_piece(file, request->direction, &piece, bytes);
}
