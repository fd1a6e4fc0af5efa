/* One rank by itself: independent calls, and its part of a collective call where the ranks go alone.
 *
 * By system calls at first; through a mapping once a part of the file has been accessed twice, since setting up
 * pages costs more than a few calls save.  Many short runs take the mapping at once: there it is the calls that
 * cost. */
#include "base/checked.h"
#include "engine/engine.h"

enum {
    PAGE = 4096,
    LEAST_MAPPED = 256 * 1024,     /* bytes; below this the system call is the smaller cost */
    MOST_PACKED = 16 * 1024,       /* bytes that pass through the stack */
    MOST_READ_THROUGH = 64 * 1024, /* bytes that one call reads for several runs */
    CALL_IN_MEMORY = 4096,         /* bytes that are read while a system call does nothing else, */
    CALL_ELSEWHERE = 16 * 1024,    /* and where that may be slow */
    FEW_RUNS = 16,                 /* so many system calls cost less than a mapping, */
    FEW_UNMAPPED = 64,             /* and so many less than gathering with the other ranks */
    LONG_UNMAPPED = 64 * 1024,     /* bytes of a run: gathering would only be another copy */
    /* One part in so many of a range must be accessed for all of it to be brought in: */
    SPARSELY = 8,
    HALF = 2 /* where it has holes, which that fills */
};

static bool lies_in(const sagoi_range *range, int64_t low, int64_t high) {
    return range->low <= low && high <= range->high;
}

static void extend(sagoi_range *range, int64_t low, int64_t high) {
    bool first = range->low == range->high;
    range->low = first ? low : sagoi_min(range->low, low);
    range->high = first ? high : sagoi_max(range->high, high);
}

SAGOI_OFTEN void sagoi_note_accessed(sago_file *file, int64_t low, int64_t high) {
    if (lies_in(&file->accessed, low, high))
        extend(&file->accessed_again, low, high);
    extend(&file->accessed, low, high);
}

SAGOI_OFTEN bool sagoi_engine_takes_piece(const sago_file *file, const sagoi_lone_run *piece) {
    if (piece->memory.staging)
        return false;
    if (piece->memory.extents.pattern)
        return piece->len <= MOST_PACKED;
    return piece->len < LEAST_MAPPED || !file->may_map ||
           !lies_in(&file->accessed_again, piece->off, piece->off + piece->len);
}

static bool are_many_short(const sagoi_composed *composed) {
    int64_t span = composed->request.high - composed->request.low;
    return composed->runs > FEW_RUNS && composed->runs >= span / PAGE;
}

/* Runs close together are read by one call, and copied from there: what is read in vain, and the copy (half as
 * much work as reading), must cost less than the calls it takes the place of. */
static bool is_read_through(const sago_file *file, const sagoi_composed *composed) {
    const sagoi_request *request = &composed->request;
    int64_t span = request->high - request->low;
    if (request->direction == SAGOI_TO_FILE || composed->runs == 0 || span > MOST_READ_THROUGH)
        return false;
    int64_t call = sagoi_store_layout(file->store)->in_memory ? CALL_IN_MEMORY : CALL_ELSEWHERE;
    return span - composed->bytes / 2 <= (composed->runs - 1) * call;
}

/* Is a mapping worth while, if the file has no holes? */
SAGOI_OFTEN static bool may_be_mapped(const sago_file *file, const sagoi_composed *composed) {
    int64_t span = composed->request.high - composed->request.low;
    if (span == 0 || !file->may_map)
        return false;
    return are_many_short(composed) ||
           (lies_in(&file->accessed_again, composed->request.low, composed->request.high) &&
            (composed->bytes >= LEAST_MAPPED || composed->runs > FEW_RUNS) && composed->bytes >= span / SPARSELY);
}

static bool is_mapped(const sago_file *file, const sagoi_composed *composed, const sagoi_look *look) {
    int64_t span = composed->request.high - composed->request.low;
    return may_be_mapped(file, composed) &&
           (!look->sparse || are_many_short(composed) || composed->bytes >= span / HALF);
}

SAGOI_OFTEN bool sagoi_engine_is_soon(const sago_file *file, const sagoi_composed *composed) {
    return sagoi_io_is_soon(file, composed->bytes) || may_be_mapped(file, composed);
}

/* Of a system call for each run, and of moving the bytes. */
double sagoi_engine_alone_seconds(const sago_file *file, const sagoi_composed *composed) {
    const double call = 1e-6, remote_call = 50e-6, byte = 1e-9;
    bool local = sagoi_store_layout(file->store)->local;
    return (double)composed->runs * (local ? call : remote_call) + (double)composed->bytes * byte;
}

static sago_status run_unmapped(sago_file *file, const sagoi_request *request) {
    if (request->low < request->high)
        sagoi_note_accessed(file, request->low, request->high);
    return sagoi_run_direct(file, request);
}

/* Runs in holes that others may be filling are read with them: alone it takes a copy more. */
SAGOI_OFTEN bool sagoi_engine_serves_alone(const sago_file *file, const sagoi_composed *composed) {
    sagoi_look look = {.sparse = true};
    if (!file->may_map)
        return composed->runs <= FEW_UNMAPPED || composed->bytes / composed->runs >= LONG_UNMAPPED;
    return composed->request.direction == SAGOI_TO_FILE || !are_many_short(composed) ||
           (sagoi_store_look(file->store, 0, 1, &look) == SAGO_OK && !look.sparse);
}

/* By writing the last byte, which is this rank's: cutting the file to a length could take away what another rank
 * has written beyond it meanwhile. */
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
    sago_status status = sagoi_run_mapped(&call);
    sagoi_mapping_settle(&file->mapping, file->store);
    return status;
}

static void count_bytes(sago_file *file, sagoi_direction direction, int64_t end, int64_t bytes) {
    bool write = direction == SAGOI_TO_FILE;
    if (write)
        file->written_end = sagoi_max(file->written_end, end);
    *(write ? &file->stats.bytes_written : &file->stats.bytes_read) += bytes;
}

/* What was not read lay past the end of the file. */
SAGOI_OFTEN static sago_status run_read_through(sago_file *file, const sagoi_request *request, int64_t *bytes) {
    double start = sagoi_phase_begin(file);
    sagoi_note_accessed(file, request->low, request->high);
    sago_status status = sagoi_read_through(file, request, request->low, request->high, bytes);
    (void)sagoi_phase_next(file, SAGO_PHASE_STORE, start);
    file->stats.routes[SAGO_ROUTE_ALONE_READ_THROUGH] += status == SAGO_OK;
    return status;
}

/* The size of the file matters only to reads, and to a mapping. */
SAGOI_OFTEN static sago_status run_by_size(sago_file *file, sagoi_composed *composed, int64_t *bytes) {
    sagoi_request *request = &composed->request;
    bool write = request->direction == SAGOI_TO_FILE;
    sagoi_look look = {0};
    sago_status status = SAGO_OK;
    if (!write || may_be_mapped(file, composed))
        status = sagoi_store_look(file->store, 0, 1, &look);
    request->limit = write ? SAGOI_NO_LIMIT : look.size;
    bool mapped = is_mapped(file, composed, &look);
    if (!status)
        status = mapped ? run_mapped(file, composed, &look) : run_unmapped(file, request);
    if (!status)
        file->stats.routes[mapped ? SAGO_ROUTE_ALONE_MAPPED : SAGO_ROUTE_ALONE_DIRECT]++;
    if (!status)
        *bytes = write || request->high <= look.size ? composed->bytes : sagoi_bytes_below(request, look.size);
    return status;
}

SAGOI_OFTEN static sago_status move_run(sago_file *file, sagoi_direction direction, const sagoi_io_run *run,
                                        int64_t *bytes) {
    if (direction == SAGOI_FROM_FILE)
        return sagoi_store_read(file->store, run, 1, bytes);
    sago_status status = sagoi_store_write(file->store, run, 1);
    *bytes = status ? 0 : run->len;
    return status;
}

SAGOI_OFTEN static sago_status move_packed(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                                           int64_t *bytes) {
    char packed[MOST_PACKED];
    const sagoi_io_run run = {.off = piece->off, .len = piece->len, .buf = packed};
    if (direction == SAGOI_TO_FILE)
        sagoi_copy_stream(packed, 0, piece->len, &piece->memory, direction);
    sago_status status = move_run(file, direction, &run, bytes);
    if (!status && direction == SAGOI_FROM_FILE)
        sagoi_copy_stream(packed, 0, *bytes, &piece->memory, direction);
    return status;
}

SAGOI_OFTEN static inline sago_status move_piece(sago_file *file, sagoi_direction direction,
                                                 const sagoi_lone_run *piece, int64_t *bytes) {
    const sagoi_io_run run = {.off = piece->off, .len = piece->len, .buf = piece->memory.base};
    return piece->memory.extents.pattern ? move_packed(file, direction, piece, bytes)
                                         : move_run(file, direction, &run, bytes);
}

SAGOI_OFTEN static inline void count_piece(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                                           int64_t bytes) {
    file->stats.routes[SAGO_ROUTE_ALONE_PIECE]++;
    if (piece->len >= LEAST_MAPPED)
        sagoi_note_accessed(file, piece->off, piece->off + piece->len);
    count_bytes(file, direction, piece->off + piece->len, bytes);
}

/* The same with a look at the clock, where somebody wants to know; so what is not timed is not recorded either. */
__attribute__((noinline)) static sago_status run_timed_piece(sago_file *file, sagoi_direction direction,
                                                             const sagoi_lone_run *piece, int64_t *bytes) {
    double start = sagoi_now();
    sago_status status = move_piece(file, direction, piece, bytes);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_STORE, start);
    if (status)
        return status;
    count_piece(file, direction, piece, *bytes);
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_record_done(file, direction == SAGOI_TO_FILE, piece->off, piece->off + piece->len, *bytes);
    return SAGO_OK;
}

SAGOI_OFTEN sago_status sagoi_engine_piece(sago_file *file, sagoi_direction direction, const sagoi_lone_run *piece,
                                           int64_t *bytes) {
    if (file->timed)
        return run_timed_piece(file, direction, piece, bytes);
    sago_status status = move_piece(file, direction, piece, bytes);
    if (!status)
        count_piece(file, direction, piece, *bytes);
    return status;
}

/* Runs may overlap where they are only read, so that their sum tells nothing. */
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

/* How much of one run there was to read is seen by reading. */
static bool is_one_piece(const sago_file *file, const sagoi_composed *composed, sagoi_lone_run *piece) {
    if (!sagoi_io_is_soon(file, composed->bytes) || !is_one_run(composed))
        return false;
    *piece = (sagoi_lone_run){
        .off = composed->request.low, .len = composed->bytes, .memory = composed->request.streams[0].memory};
    return sagoi_engine_takes_piece(file, piece);
}

SAGOI_OFTEN sago_status sagoi_engine_independent(sago_file *file, sagoi_composed *composed, int64_t *bytes) {
    sagoi_lone_run piece;
    *bytes = 0;
    if (is_one_piece(file, composed, &piece))
        return sagoi_engine_piece(file, composed->request.direction, &piece, bytes);
    bool through = is_read_through(file, composed);
    sago_status status = through ? run_read_through(file, &composed->request, bytes) : SAGO_OK;
    if (!through || status == SAGO_ERR_MEMORY)
        status = run_by_size(file, composed, bytes);
    if (!status)
        status = sagoi_request_settle(&composed->request);
    if (status)
        return status;
    count_bytes(file, composed->request.direction, composed->request.high, *bytes);
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_record_done(file, composed->request.direction == SAGOI_TO_FILE, composed->request.low,
                          composed->request.high, *bytes);
    return SAGO_OK;
}
