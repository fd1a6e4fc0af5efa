/* Collective access: Sago serves blocking, split and nonblocking calls; other calls are counted and handed on.
 * The functions of entry_points.c, one for each call of MPI, lead here.
 *
 * The MPI library checks the arguments as well, in a call of no length, so that mistakes are reported in its
 * own words and through the user's handler.  After a mistake Sago gets a wrong count, so that all ranks learn
 * of it. */
#include "mpi_access.h"

#include <limits.h>

#include "mpi_calls.h"
#include "mpi_files.h"
#include "own_calls.h"
#include "packed.h"
#include "pointer.h"
#include "raise.h"
#include "requests.h"
#include "flush_deferred.h"
#include "staged.h"

static dropin_reason refusal(const dropin_file *file) {
    if (!file)
        return DROPIN_UNKNOWN;
    if (file->closed)
        return file->closed;
    if (file->unseen)
        return file->unseen;
    return file->atomic ? DROPIN_ATOMIC : DROPIN_SERVED;
}

/* ---- Before and after ---- */

#ifdef SAGO_MPI_MPICH
enum { WHOLE_ETYPES = true }; /* ROMIO refuses accesses that end inside of an etype */
#else
enum { WHOLE_ETYPES = false }; /* OMPIO does not */
#endif

/* Bytes of one, of the types that every program uses, and that nothing can be wrong with; else 0. */
static MPI_Count plain_size(MPI_Datatype type) {
    if (type == MPI_BYTE || type == MPI_CHAR)
        return 1;
    if (type == MPI_DOUBLE)
        return sizeof(double);
    if (type == MPI_INT)
        return sizeof(int);
    return type == MPI_FLOAT ? sizeof(float) : 0;
}

static bool is_plain(MPI_Datatype type) { return plain_size(type) > 0; }

/* Bytes of the call; of a count that no file can hold too, for then nobody will use them. */
static MPI_Count length_of(const dropin_access *wanted) {
    MPI_Count size = plain_size(wanted->type), length = 0;
    if (size == 0)
        (void)DROPIN_DONE(MPI_Type_size_x(wanted->type, &size));
    return __builtin_mul_overflow(wanted->count, size, &length) ? 0 : length;
}

static int check_by_mpi(const dropin_file *file, const dropin_access *wanted) {
    return wanted->write ? dropin_mpi->write(file->handle, wanted->buf, 0, wanted->type, MPI_STATUS_IGNORE)
                         : dropin_mpi->read(file->handle, wanted->buf, 0, wanted->type, MPI_STATUS_IGNORE);
}

/* The count is checked here, since an MPI library may be built without checks of arguments. */
static int check(const dropin_file *file, const dropin_access *wanted) {
    if (wanted->count < 0)
        return dropin_raise_code(file->handle, MPI_ERR_COUNT);
    if (wanted->at && wanted->offset < 0)
        return dropin_raise_code(file->handle, MPI_ERR_ARG);
    if (wanted->write && (file->amode & MPI_MODE_RDONLY))
        return dropin_raise_code(file->handle, MPI_ERR_READ_ONLY);
    if (!wanted->write && (file->amode & MPI_MODE_WRONLY))
        return dropin_raise_code(file->handle, MPI_ERR_ACCESS);
    bool fine = wanted->count > 0 && wanted->buf && is_plain(wanted->type);
    int code = fine ? MPI_SUCCESS : check_by_mpi(file, wanted);
    if (!code && WHOLE_ETYPES && file->etype_size > 1 && length_of(wanted) % file->etype_size != 0)
        code = dropin_raise_code(file->handle, MPI_ERR_IO);
    return code;
}

/* ---- Blocking calls ---- */

static sago_status move(const dropin_file *file, const dropin_access *wanted, MPI_Count count, MPI_Offset from,
                        MPI_Count *bytes) {
    return wanted->write ? sago_write_at_all(file->sago, from, wanted->buf, count, wanted->type, bytes)
                         : sago_read_at_all(file->sago, from, wanted->buf, count, wanted->type, bytes);
}

/* Moves data from or to a copy without gaps, if the buffer's type is one to be packed. */
static sago_status move_packed(const dropin_file *file, const dropin_access *wanted, MPI_Offset from,
                               MPI_Count *bytes) {
    dropin_packed packed = {NULL, 0};
    if (!is_plain(wanted->type))
        packed = dropin_pack(wanted->buf, wanted->count, wanted->type);
    if (!packed.copy)
        return move(file, wanted, wanted->count, from, bytes);
    const dropin_access instead = {.write = wanted->write, .buf = packed.copy, .type = MPI_BYTE};
    sago_status status = move(file, &instead, packed.bytes, from, bytes);
    if (!status && !wanted->write && !dropin_unpack(&packed, wanted->buf, wanted->count, wanted->type))
        status = SAGO_ERR_MPI;
    dropin_packed_free(&packed);
    return status;
}

/* This rank's part of a collective call that Sago serves on the other ranks. */
static int move_by_mpi(const dropin_file *file, const dropin_access *wanted, MPI_Offset from, MPI_Count *bytes) {
    MPI_Status status;
    if (wanted->count > INT_MAX)
        return dropin_raise(file->handle, SAGO_ERR_MEMORY);
    int count = (int)wanted->count;
    int code = wanted->write ? dropin_mpi->write_at(file->handle, from, wanted->buf, count, wanted->type, &status)
                             : dropin_mpi->read_at(file->handle, from, wanted->buf, count, wanted->type, &status);
    if (!code)
        (void)MPI_Get_elements_x(&status, MPI_BYTE, bytes);
    return code;
}

/* Called when Sago could not serve the call: the MPI library does, alone or, in `over`, with the other ranks. */
static int fall_back(dropin_file *file, const dropin_access *wanted, MPI_Offset from, MPI_Count *bytes,
                     bool *over) {
    *over = !dropin_failed_alone(file);
    if (!*over)
        return move_by_mpi(file, wanted, from, bytes);
    int failed = dropin_flush(file);
    *over = !failed;
    return failed;
}

static bool hand_over(dropin_file *file, const dropin_access *wanted, dropin_reason reason) {
    dropin_count_handed(file, reason);
    if (!wanted->at)
        dropin_pointer_leave(file);
    return false;
}

/* true: Sago has served the call, and *code is its result.  false: the MPI library has to serve it, on all ranks.
 * The file pointer moves by what was asked for, wherever the file ends. */
static bool serve(dropin_file *file, const dropin_access *wanted, MPI_Count *bytes, int *code) {
    dropin_reason reason = refusal(file);
    if (reason)
        return hand_over(file, wanted, reason);
    double start = dropin_clock();
    MPI_Offset from = wanted->offset;
    *code = check(file, wanted);
    if (!*code && !wanted->at)
        *code = dropin_pointer_get(file, &from);
    sago_status status = *code ? move(file, wanted, -1, from, bytes) : move_packed(file, wanted, from, bytes);
    bool beyond = status == SAGO_ERR_MEMORY || status == SAGO_ERR_UNSUPPORTED, over = false;
    int failed = beyond ? fall_back(file, wanted, from, bytes, &over)
                        : dropin_raise(file->handle, *code ? SAGO_OK : status);
    if (over)
        return hand_over(file, wanted, DROPIN_TOO_MUCH);
    *code = *code ? *code : failed;
    dropin_count_served(file, wanted->write, *bytes, start);
    if (!*code && !wanted->at)
        dropin_pointer_set(file, from + (MPI_Offset)(length_of(wanted) / file->etype_size));
    return true;
}

static void fill_status(MPI_Status *status, MPI_Count bytes) {
    if (status == MPI_STATUS_IGNORE)
        return;
    (void)MPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    (void)MPI_Status_set_cancelled(status, 0);
}

bool dropin_serve(MPI_File handle, const dropin_access *wanted, MPI_Status *status, int *code) {
    MPI_Count bytes = 0;
    bool served = serve(dropin_files_find_taken(handle), wanted, &bytes, code);
    if (served)
        fill_status(status, bytes);
    return served;
}

/* ---- Split calls: all the work is done when they begin ---- */

bool dropin_serve_begin(MPI_File handle, const dropin_access *wanted, int *code) {
    dropin_file *file = dropin_files_find_taken(handle);
    if (file && file->split == DROPIN_SPLIT_SAGO) {
        *code = dropin_raise_code(handle, MPI_ERR_IO);
        return true;
    }
    if (!serve(file, wanted, file ? &file->split_bytes : NULL, code))
        return false;
    if (!*code)
        file->split = DROPIN_SPLIT_SAGO;
    return true;
}

/* The MPI library has begun the call, so it ends it. */
int dropin_begun_by_mpi(MPI_File handle, int code) {
    dropin_file *file = dropin_files_find(handle);
    if (file && code == MPI_SUCCESS)
        file->split = DROPIN_SPLIT_MPI;
    return code;
}

bool dropin_serve_end(MPI_File handle, MPI_Status *status, int *code) {
    dropin_file *file = dropin_files_find(handle);
    if (!file)
        return false;
    dropin_split split = file->split;
    file->split = DROPIN_SPLIT_NONE;
    if (split == DROPIN_SPLIT_MPI)
        return false;
    *code = split == DROPIN_SPLIT_NONE ? dropin_raise_code(handle, MPI_ERR_IO) : MPI_SUCCESS;
    if (!*code)
        fill_status(status, file->split_bytes);
    return true;
}

/* ---- Nonblocking calls.  Those of one rank, too: the MPI libraries' own know no end of the file, and some never
 * say that they are complete. ---- */

/* `wrong`: what is wrong with the arguments.  The other ranks have started their parts, and will learn of it. */
static int start(dropin_file *file, const dropin_access *wanted, MPI_Offset from, int wrong,
                 MPI_Request *request) {
    double began = dropin_clock();
    MPI_Count count = wrong ? -1 : wanted->count;
    dropin_started started = {.write = wanted->write};
    sago_status status =
        wanted->write ? sago_iwrite_at_all(file->sago, from, wanted->buf, count, wanted->type, &started.sago)
                      : sago_iread_at_all(file->sago, from, wanted->buf, count, wanted->type, &started.sago);
    if (status)
        return wrong ? wrong : dropin_raise(file->handle, status);
    started.seconds = dropin_clock() - began;
    int code = dropin_request_start(file, &started, wrong ? NULL : request);
    return wrong ? wrong : code;
}

bool dropin_serve_start(MPI_File handle, const dropin_access *wanted, MPI_Request *request, int *code) {
    dropin_file *file = dropin_files_find_taken(handle);
    dropin_reason reason = refusal(file);
    if (reason)
        return hand_over(file, wanted, reason);
    MPI_Offset from = wanted->offset;
    *code = check(file, wanted);
    if (!*code && !wanted->at)
        *code = dropin_pointer_get(file, &from);
    *code = start(file, wanted, from, *code, request);
    if (!*code && !wanted->at)
        dropin_pointer_set(file, from + (MPI_Offset)(length_of(wanted) / file->etype_size));
    return true;
}

/* ---- Calls that are handed on: what has to be done before ---- */

int dropin_leave_file(MPI_File handle) { return dropin_flush_own(dropin_files_find(handle)); }

int dropin_leave_pointer(MPI_File handle) {
    dropin_file *file = dropin_files_find(handle);
    dropin_pointer_leave(file);
    return dropin_flush_own(file);
}

/* For a collective call: all ranks go on with it, and a write that fails now will fail again in sync or close. */
int dropin_leave_ordered(MPI_File handle) {
    dropin_file *file = dropin_files_find(handle);
    dropin_count_handed(file, DROPIN_SHARED_POINTER);
    if (file && file->sago)
        (void)sago_flush_own(file->sago);
    return MPI_SUCCESS;
}
