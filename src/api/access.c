/* Views, and reading and writing by views or by extents: the arguments are checked here, and engine/dispatch.c
 * does the rest. */
#include "api/array_blocks.h"
#include "api/handle.h"
#include "tier/tier.h"
#include "engine/dispatch.h"
#include "view/run_list.h"

/* ---- Views ---- */

typedef struct new_view {
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    bool beside_romio;
} new_view;

static sago_status make_view(sago_file *file, const new_view *wanted, sagoi_view *view) {
    double start = sagoi_now();
    sago_status status = sagoi_view_make(wanted->disp, wanted->etype, wanted->filetype, &file->budget, view);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_FLATTEN, start);
    sagoi_record_no_call(&file->stats);
    if (!status && wanted->beside_romio && view->filetype->flat.strange_to_romio)
        status = sagoi_fail(SAGO_ERR_UNSUPPORTED,
                            "ROMIO takes the filetype for other bytes, because of a lower bound or "
                            "a pair with a gap");
    return status;
}

static sago_status set_view(sago_file *file, const char *call, const new_view *wanted) {
    sago_status status = sagoi_check_unmerged(file);
    if (status)
        return sagoi_done(call, NULL, status);
    sagoi_view view = {0};
    status = make_view(file, wanted, &view);
    bool gaps;
    status = sagoi_engine_agree_any(file, status, SAGOI_MEETING_VIEW, !view.solid, &gaps);
    if (status) {
        sagoi_view_cleanup(&view);
    } else {
        if (!sagoi_tier_keep_view(file))
            sagoi_view_cleanup(&file->view);
        file->view = view;
        sagoi_dispatch_view(file, gaps);
    }
    return sagoi_done(call, file->path, status);
}

sago_status sago_set_view(sago_file *file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype) {
    const new_view wanted = {disp, etype, filetype, false};
    return set_view(file, "sago_set_view", &wanted);
}

sago_status sago_set_view_beside_romio(sago_file *file, MPI_Offset disp, MPI_Datatype etype,
                                       MPI_Datatype filetype) {
    const new_view wanted = {disp, etype, filetype, true};
    return set_view(file, "sago_set_view_beside_romio", &wanted);
}

sago_status sago_view_run_list(sago_file *file, MPI_Datatype filetype, MPI_Datatype *list) {
    sago_status status = sagoi_check_unmerged(file);
    if (!status && !list)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the type");
    if (list)
        *list = MPI_DATATYPE_NULL;
    if (!status && file->view.filetype)
        *list = sagoi_run_list(&file->view.filetype->flat, filetype, &file->budget);
    return sagoi_done("sago_view_run_list", NULL, status);
}

/* ---- Checking ---- */

static sago_status check_list(const char *what, int64_t n, const sago_extent *list) {
    if (n >= 0 && (n == 0 || list))
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_ARG, "%lld %s%s", (long long)n, what, n > 0 ? ", but the list is NULL" : "");
}

static sago_status check_lists(const sagoi_list *list) {
    sago_status status = check_list("extents", list->n, list->extents);
    if (!status && !list->memory.whole)
        status = check_list("pieces of memory", list->memory.n, list->memory.pieces);
    return status;
}

__attribute__((always_inline)) static inline sago_status check(const sago_file *file, const sagoi_access *access) {
    sago_status status = sagoi_check_access(file, access->direction);
    if (status)
        return status;
    if (access->list)
        return check_lists(access->list);
    if (access->offset >= 0 && access->buffer.count >= 0)
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_ARG, "the %s %lld is negative", access->offset < 0 ? "offset" : "count",
                      (long long)(access->offset < 0 ? access->offset : access->buffer.count));
}

/* Checks the arguments and has the call served.  `wrong` is what the caller knows to be wrong with the arguments.
 */
static sago_status run_checked(sago_file *file, const sagoi_access *access, sago_status wrong, MPI_Count *bytes) {
    int64_t moved = 0;
    sago_status status = sagoi_check_file(file);
    if (status)
        return sagoi_done(access->call, NULL, status);
    status = check(file, access);
    status = sagoi_dispatch(file, access, status ? status : wrong, &moved);
    if (bytes)
        *bytes = (MPI_Count)moved;
    return sagoi_done(access->call, file->path, status);
}

static sago_status run(sago_file *file, const sagoi_access *access, MPI_Count *bytes) {
    return run_checked(file, access, SAGO_OK, bytes);
}

/* Starts a nonblocking call.  Wrong arguments are reported to all ranks when the call is waited for, since the
 * other ranks have started their part.  A caller without a place for the request cannot wait, and gets the error
 * at once. */
static sago_status start_checked(sago_file *file, const sagoi_access *access, sago_status wrong,
                                 sago_request **started) {
    sago_request *request = NULL;
    sago_status status = sagoi_check_file(file);
    if (status)
        return sagoi_done(access->call, NULL, status);
    status = check(file, access);
    wrong = status ? status : wrong;
    status = sagoi_dispatch_prepare(file, access, &wrong, &request);
    if (status)
        return sagoi_done(access->call, file->path, status);
    if (!started)
        wrong = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the request: the last argument is NULL");
    request->dropped = !started;
    if (started) {
        sagoi_live_add(&request->live);
        *started = request;
    }
    sagoi_dispatch_start(request, wrong);
    return sagoi_done(access->call, file->path, started ? SAGO_OK : wrong);
}

static sago_status start(sago_file *file, const sagoi_access *access, sago_request **started) {
    return start_checked(file, access, SAGO_OK, started);
}

/* ---- By view ---- */

static sagoi_access by_view(const char *call, sagoi_call_type type, sagoi_direction direction, int64_t offset,
                            sagoi_buffer buffer) {
    return (sagoi_access){.call = call, .type = type, .direction = direction, .offset = offset, .buffer = buffer};
}

static sagoi_buffer buffer_to_write(const void *buf, MPI_Count count, MPI_Datatype type) {
    return (sagoi_buffer){(char *)(uintptr_t)buf, count, type};
}

static sagoi_buffer buffer_to_read(void *buf, MPI_Count count, MPI_Datatype type) {
    return (sagoi_buffer){buf, count, type};
}

sago_status sago_write_at_all(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype type, MPI_Count *bytes) {
    const sagoi_access access =
        by_view("sago_write_at_all", SAGOI_COLLECTIVE, SAGOI_TO_FILE, offset, buffer_to_write(buf, count, type));
    return run(file, &access, bytes);
}

sago_status sago_read_at_all(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                             MPI_Count *bytes) {
    const sagoi_access access =
        by_view("sago_read_at_all", SAGOI_COLLECTIVE, SAGOI_FROM_FILE, offset, buffer_to_read(buf, count, type));
    return run(file, &access, bytes);
}

sago_status sago_write_at(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype type,
                          MPI_Count *bytes) {
    const sagoi_access access =
        by_view("sago_write_at", SAGOI_INDEPENDENT, SAGOI_TO_FILE, offset, buffer_to_write(buf, count, type));
    return run(file, &access, bytes);
}

sago_status sago_read_at(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                         MPI_Count *bytes) {
    const sagoi_access access =
        by_view("sago_read_at", SAGOI_INDEPENDENT, SAGOI_FROM_FILE, offset, buffer_to_read(buf, count, type));
    return run(file, &access, bytes);
}

sago_status sago_iwrite_at_all(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count,
                               MPI_Datatype type, sago_request **request) {
    const sagoi_access access =
        by_view("sago_iwrite_at_all", SAGOI_COLLECTIVE, SAGOI_TO_FILE, offset, buffer_to_write(buf, count, type));
    return start(file, &access, request);
}

sago_status sago_iread_at_all(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                              sago_request **request) {
    const sagoi_access access =
        by_view("sago_iread_at_all", SAGOI_COLLECTIVE, SAGOI_FROM_FILE, offset, buffer_to_read(buf, count, type));
    return start(file, &access, request);
}

/* ---- By extents ---- */

static sagoi_access by_extents(const char *call, sagoi_call_type type, sagoi_direction direction,
                               const sagoi_list *list) {
    return (sagoi_access){.call = call, .type = type, .direction = direction, .list = list};
}

static sagoi_scatter in_one(const void *buf) {
    return (sagoi_scatter){.base = (char *)(uintptr_t)buf, .whole = true};
}

static sagoi_scatter in_pieces(const void *buf, int64_t n, const sago_extent pieces[]) {
    return (sagoi_scatter){.base = (char *)(uintptr_t)buf, .n = n, .pieces = pieces};
}

sago_status sago_write_extents_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf) {
    const sagoi_list list = {n, extents, in_one(buf), NULL};
    const sagoi_access access = by_extents("sago_write_extents_all", SAGOI_COLLECTIVE, SAGOI_TO_FILE, &list);
    return run(file, &access, NULL);
}

sago_status sago_read_extents_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                  MPI_Count *bytes) {
    const sagoi_list list = {n, extents, in_one(buf), NULL};
    const sagoi_access access = by_extents("sago_read_extents_all", SAGOI_COLLECTIVE, SAGOI_FROM_FILE, &list);
    return run(file, &access, bytes);
}

sago_status sago_write_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                                  int64_t npieces, const sago_extent pieces[]) {
    const sagoi_list list = {n, extents, in_pieces(buf, npieces, pieces), NULL};
    const sagoi_access access = by_extents("sago_write_pieces_all", SAGOI_COLLECTIVE, SAGOI_TO_FILE, &list);
    return run(file, &access, NULL);
}

sago_status sago_read_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                 int64_t npieces, const sago_extent pieces[], MPI_Count *bytes) {
    const sagoi_list list = {n, extents, in_pieces(buf, npieces, pieces), NULL};
    const sagoi_access access = by_extents("sago_read_pieces_all", SAGOI_COLLECTIVE, SAGOI_FROM_FILE, &list);
    return run(file, &access, bytes);
}

sago_status sago_write_pieces(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                              int64_t npieces, const sago_extent pieces[]) {
    const sagoi_list list = {n, extents, in_pieces(buf, npieces, pieces), NULL};
    const sagoi_access access = by_extents("sago_write_pieces", SAGOI_INDEPENDENT, SAGOI_TO_FILE, &list);
    return run(file, &access, NULL);
}

sago_status sago_read_pieces(sago_file *file, int64_t n, const sago_extent extents[], void *buf, int64_t npieces,
                             const sago_extent pieces[], MPI_Count *bytes) {
    const sagoi_list list = {n, extents, in_pieces(buf, npieces, pieces), NULL};
    const sagoi_access access = by_extents("sago_read_pieces", SAGOI_INDEPENDENT, SAGOI_FROM_FILE, &list);
    return run(file, &access, bytes);
}

sago_status sago_iwrite_extents_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                                    sago_request **request) {
    const sagoi_list list = {n, extents, in_one(buf), NULL};
    const sagoi_access access = by_extents("sago_iwrite_extents_all", SAGOI_COLLECTIVE, SAGOI_TO_FILE, &list);
    return start(file, &access, request);
}

sago_status sago_iread_extents_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                   sago_request **request) {
    const sagoi_list list = {n, extents, in_one(buf), NULL};
    const sagoi_access access = by_extents("sago_iread_extents_all", SAGOI_COLLECTIVE, SAGOI_FROM_FILE, &list);
    return start(file, &access, request);
}

sago_status sago_iwrite_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                                   int64_t npieces, const sago_extent pieces[], sago_request **request) {
    const sagoi_list list = {n, extents, in_pieces(buf, npieces, pieces), NULL};
    const sagoi_access access = by_extents("sago_iwrite_pieces_all", SAGOI_COLLECTIVE, SAGOI_TO_FILE, &list);
    return start(file, &access, request);
}

sago_status sago_iread_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                  int64_t npieces, const sago_extent pieces[], sago_request **request) {
    const sagoi_list list = {n, extents, in_pieces(buf, npieces, pieces), NULL};
    const sagoi_access access = by_extents("sago_iread_pieces_all", SAGOI_COLLECTIVE, SAGOI_FROM_FILE, &list);
    return start(file, &access, request);
}

/* ---- By blocks of arrays ---- */

/* A block of an array in the form of a list, which points into the caller's arguments. */
typedef struct block_access {
    sagoi_block_place place;
    sagoi_list list;
    sago_status wrong;
} block_access;

static void take_block(block_access *access, const sago_array *array) {
    bool any = false;
    access->wrong = sagoi_array_place(array, array->block ? array->block->data : NULL, &access->place, &any);
    access->list = (sagoi_list){.memory = {.whole = true}};
    if (any && !access->wrong)
        access->list.block = &access->place;
}

static sago_array array_of(MPI_Offset offset, MPI_Datatype element, int ndims, const int64_t global[],
                           const sago_block *block) {
    return (sago_array){sizeof(sago_array), offset, element, ndims, global, block};
}

sago_status sago_write_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                 const int64_t global[], const sago_block *block) {
    const sago_array array = array_of(offset, element, ndims, global, block);
    block_access mine;
    take_block(&mine, &array);
    const sagoi_access access = by_extents("sago_write_block_all", SAGOI_COLLECTIVE, SAGOI_TO_FILE, &mine.list);
    return run_checked(file, &access, mine.wrong, NULL);
}

sago_status sago_read_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                const int64_t global[], const sago_block *block, MPI_Count *bytes) {
    const sago_array array = array_of(offset, element, ndims, global, block);
    block_access mine;
    take_block(&mine, &array);
    const sagoi_access access = by_extents("sago_read_block_all", SAGOI_COLLECTIVE, SAGOI_FROM_FILE, &mine.list);
    return run_checked(file, &access, mine.wrong, bytes);
}

sago_status sago_iwrite_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                  const int64_t global[], const sago_block *block, sago_request **request) {
    const sago_array array = array_of(offset, element, ndims, global, block);
    block_access mine;
    take_block(&mine, &array);
    const sagoi_access access = by_extents("sago_iwrite_block_all", SAGOI_COLLECTIVE, SAGOI_TO_FILE, &mine.list);
    return start_checked(file, &access, mine.wrong, request);
}

sago_status sago_iread_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                 const int64_t global[], const sago_block *block, sago_request **request) {
    const sago_array array = array_of(offset, element, ndims, global, block);
    block_access mine;
    take_block(&mine, &array);
    const sagoi_access access = by_extents("sago_iread_block_all", SAGOI_COLLECTIVE, SAGOI_FROM_FILE, &mine.list);
    return start_checked(file, &access, mine.wrong, request);
}
