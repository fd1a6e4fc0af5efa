/* Made by entry_points.py; change that and run it. */
#include "entry_points.h"

#include "mpi_access.h"
#include "entries.h"
#include "staged.h"
#include "waits.h"

/* clang-format off */

/* A call by its name MPI_File_x, where tools stand behind that name.  The calls that a tool makes meanwhile are let
 * straight through. */
DROPIN_CALLS_ANY static dropin_word enter_before_tools(dropin_entry *entry, DROPIN_WORDS) {
    if (dropin_stage == DROPIN_WITHIN)
        return entry(a, b, c, d, e, f);
    dropin_stage = DROPIN_ENTERING;
    dropin_word code = entry(a, b, c, d, e, f);
    dropin_stage = DROPIN_OUTSIDE;
    return code;
}
#define BEFORE_TOOLS(entry) enter_before_tools(DROPIN_AS_ENTRY(entry), a, b, c, d, e, f)

static int enter_MPI_File_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *file) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->open(comm, path, amode, info, file);
    return dropin_open(next, comm, path, amode, info, file);
}
static dropin_word tools_MPI_File_open(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_open); }

static int enter_MPI_File_close(MPI_File *file) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->close(file);
    return dropin_close(next, file);
}
static dropin_word tools_MPI_File_close(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_close); }

static int enter_MPI_File_delete(const char *path, MPI_Info info) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->delete(path, info);
    return dropin_delete(next, path, info);
}
static dropin_word tools_MPI_File_delete(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_delete); }

static int enter_MPI_File_set_view(MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                                   const char *datarep, MPI_Info info) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->set_view(file, disp, etype, filetype, datarep, info);
    return dropin_set_view(next, file, disp, etype, filetype, datarep, info);
}
static dropin_word tools_MPI_File_set_view(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_set_view); }

static int enter_MPI_File_get_view(MPI_File file, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                                   char *datarep) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->get_view(file, disp, etype, filetype, datarep);
    return dropin_get_view(next, file, disp, etype, filetype, datarep);
}
static dropin_word tools_MPI_File_get_view(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_get_view); }

static int enter_MPI_File_get_position(MPI_File file, MPI_Offset *offset) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->get_position(file, offset);
    return dropin_get_position(next, file, offset);
}
static dropin_word tools_MPI_File_get_position(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_get_position); }

static int enter_MPI_File_seek(MPI_File file, MPI_Offset offset, int whence) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->seek(file, offset, whence);
    return dropin_seek(next, file, offset, whence);
}
static dropin_word tools_MPI_File_seek(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_seek); }

static int enter_MPI_File_seek_shared(MPI_File file, MPI_Offset offset, int whence) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->seek_shared(file, offset, whence);
    return dropin_seek_shared(next, file, offset, whence);
}
static dropin_word tools_MPI_File_seek_shared(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_seek_shared); }

static int enter_MPI_File_set_atomicity(MPI_File file, int flag) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->set_atomicity(file, flag);
    return dropin_set_atomicity(next, file, flag);
}
static dropin_word tools_MPI_File_set_atomicity(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_set_atomicity); }

static int enter_MPI_File_set_size(MPI_File file, MPI_Offset size) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->set_size(file, size);
    return dropin_set_size(next, file, size);
}
static dropin_word tools_MPI_File_set_size(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_set_size); }

static int enter_MPI_File_get_size(MPI_File file, MPI_Offset *size) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->get_size(file, size);
    return dropin_get_size(next, file, size);
}
static dropin_word tools_MPI_File_get_size(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_get_size); }

static int enter_MPI_File_preallocate(MPI_File file, MPI_Offset size) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->preallocate(file, size);
    return dropin_preallocate(next, file, size);
}
static dropin_word tools_MPI_File_preallocate(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_preallocate); }

static int enter_MPI_File_sync(MPI_File file) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->sync(file);
    return dropin_sync(next, file);
}
static dropin_word tools_MPI_File_sync(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_sync); }

static int enter_MPI_File_get_info(MPI_File file, MPI_Info *info) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->get_info(file, info);
    return dropin_get_info(next, file, info);
}
static dropin_word tools_MPI_File_get_info(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_get_info); }

static int enter_MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void *buf, int count,
                                       MPI_Datatype type, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_at_all(file, offset, buf, count, type, status);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve(file, &wanted, status, &code))
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, true);
    return dropin_passed(&passing, (passing.alone ? next->write_at : next->write_at_all)(file, offset,
            passing.staged.use, passing.failed ? 0 : count, type, status));
}
static dropin_word tools_MPI_File_write_at_all(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_at_all); }

static int enter_MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type,
                                      MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_at_all(file, offset, buf, count, type, status);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve(file, &wanted, status, &code))
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, true);
    return dropin_passed(&passing, (passing.alone ? next->read_at : next->read_at_all)(file, offset,
            passing.staged.use, passing.failed ? 0 : count, type, status));
}
static dropin_word tools_MPI_File_read_at_all(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_at_all); }

static int enter_MPI_File_write_all(MPI_File file, const void *buf, int count, MPI_Datatype type,
                                    MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_all(file, buf, count, type, status);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve(file, &wanted, status, &code))
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, true);
    return dropin_passed(&passing, (passing.alone ? next->write : next->write_all)(file, passing.staged.use,
            passing.failed ? 0 : count, type, status));
}
static dropin_word tools_MPI_File_write_all(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_all); }

static int enter_MPI_File_read_all(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_all(file, buf, count, type, status);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve(file, &wanted, status, &code))
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, true);
    return dropin_passed(&passing, (passing.alone ? next->read : next->read_all)(file, passing.staged.use,
            passing.failed ? 0 : count, type, status));
}
static dropin_word tools_MPI_File_read_all(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_all); }

static int enter_MPI_File_write_at_all_begin(MPI_File file, MPI_Offset offset, const void *buf, int count,
                                             MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_at_all_begin(file, offset, buf, count, type);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_begin(file, &wanted, &code))
        return code;
    sago_write_elsewhere();
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, dropin_begun_by_mpi(file, next->write_at_all_begin(file, offset,
            passing.staged.use, passing.failed ? 0 : count, type)));
}
static dropin_word tools_MPI_File_write_at_all_begin(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_at_all_begin); }

static int enter_MPI_File_read_at_all_begin(MPI_File file, MPI_Offset offset, void *buf, int count,
                                            MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_at_all_begin(file, offset, buf, count, type);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_begin(file, &wanted, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, dropin_begun_by_mpi(file, next->read_at_all_begin(file, offset,
            passing.staged.use, passing.failed ? 0 : count, type)));
}
static dropin_word tools_MPI_File_read_at_all_begin(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_at_all_begin); }

static int enter_MPI_File_write_all_begin(MPI_File file, const void *buf, int count, MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_all_begin(file, buf, count, type);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_begin(file, &wanted, &code))
        return code;
    sago_write_elsewhere();
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, dropin_begun_by_mpi(file, next->write_all_begin(file, passing.staged.use,
            passing.failed ? 0 : count, type)));
}
static dropin_word tools_MPI_File_write_all_begin(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_all_begin); }

static int enter_MPI_File_read_all_begin(MPI_File file, void *buf, int count, MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_all_begin(file, buf, count, type);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_begin(file, &wanted, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, dropin_begun_by_mpi(file, next->read_all_begin(file, passing.staged.use,
            passing.failed ? 0 : count, type)));
}
static dropin_word tools_MPI_File_read_all_begin(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_all_begin); }

static int enter_MPI_File_iwrite_at_all(MPI_File file, MPI_Offset offset, const void *buf, int count,
                                        MPI_Datatype type, MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite_at_all(file, offset, buf, count, type, request);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_start(file, &wanted, request, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite_at_all(file, offset, passing.staged.use, count, type,
                                                               request), request);
}
static dropin_word tools_MPI_File_iwrite_at_all(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite_at_all); }

static int enter_MPI_File_iread_at_all(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type,
                                       MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread_at_all(file, offset, buf, count, type, request);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_start(file, &wanted, request, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread_at_all(file, offset, passing.staged.use, count, type,
                                                              request), request);
}
static dropin_word tools_MPI_File_iread_at_all(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread_at_all); }

static int enter_MPI_File_iwrite_all(MPI_File file, const void *buf, int count, MPI_Datatype type,
                                     MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite_all(file, buf, count, type, request);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_start(file, &wanted, request, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite_all(file, passing.staged.use, count, type, request),
                                                            request);
}
static dropin_word tools_MPI_File_iwrite_all(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite_all); }

static int enter_MPI_File_iread_all(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread_all(file, buf, count, type, request);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_start(file, &wanted, request, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread_all(file, passing.staged.use, count, type, request),
                                                           request);
}
static dropin_word tools_MPI_File_iread_all(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread_all); }

static int enter_MPI_File_write(MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write(file, buf, count, type, status);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_pointer(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed(&passing, next->write(file, passing.staged.use, count, type, status));
}
static dropin_word tools_MPI_File_write(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write); }

static int enter_MPI_File_read(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read(file, buf, count, type, status);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_pointer(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed(&passing, next->read(file, passing.staged.use, count, type, status));
}
static dropin_word tools_MPI_File_read(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read); }

static int enter_MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *buf, int count, MPI_Datatype type,
                                   MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_at(file, offset, buf, count, type, status);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed(&passing, next->write_at(file, offset, passing.staged.use, count, type, status));
}
static dropin_word tools_MPI_File_write_at(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_at); }

static int enter_MPI_File_read_at(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type,
                                  MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_at(file, offset, buf, count, type, status);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed(&passing, next->read_at(file, offset, passing.staged.use, count, type, status));
}
static dropin_word tools_MPI_File_read_at(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_at); }

static int enter_MPI_File_write_shared(MPI_File file, const void *buf, int count, MPI_Datatype type,
                                       MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_shared(file, buf, count, type, status);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    return dropin_passed(&passing, next->write_shared(file, passing.staged.use, passing.failed ? 0 : count, type,
                                                      status));
}
static dropin_word tools_MPI_File_write_shared(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_shared); }

static int enter_MPI_File_read_shared(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_shared(file, buf, count, type, status);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    return dropin_passed(&passing, next->read_shared(file, passing.staged.use, passing.failed ? 0 : count, type,
                                                     status));
}
static dropin_word tools_MPI_File_read_shared(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_shared); }

static int enter_MPI_File_iwrite(MPI_File file, const void *buf, int count, MPI_Datatype type,
                                 MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite(file, buf, count, type, request);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_pointer(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite(file, passing.staged.use, count, type, request), request);
}
static dropin_word tools_MPI_File_iwrite(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite); }

static int enter_MPI_File_iread(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread(file, buf, count, type, request);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_pointer(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread(file, passing.staged.use, count, type, request), request);
}
static dropin_word tools_MPI_File_iread(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread); }

static int enter_MPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void *buf, int count,
                                    MPI_Datatype type, MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite_at(file, offset, buf, count, type, request);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite_at(file, offset, passing.staged.use, count, type, request),
                                                           request);
}
static dropin_word tools_MPI_File_iwrite_at(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite_at); }

static int enter_MPI_File_iread_at(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type,
                                   MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread_at(file, offset, buf, count, type, request);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread_at(file, offset, passing.staged.use, count, type, request),
                                                          request);
}
static dropin_word tools_MPI_File_iread_at(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread_at); }

static int enter_MPI_File_iwrite_shared(MPI_File file, const void *buf, int count, MPI_Datatype type,
                                        MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite_shared(file, buf, count, type, request);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite_shared(file, passing.staged.use, count, type, request),
                                                               request);
}
static dropin_word tools_MPI_File_iwrite_shared(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite_shared); }

static int enter_MPI_File_iread_shared(MPI_File file, void *buf, int count, MPI_Datatype type,
                                       MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread_shared(file, buf, count, type, request);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread_shared(file, passing.staged.use, count, type, request),
                                                              request);
}
static dropin_word tools_MPI_File_iread_shared(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread_shared); }

static int enter_MPI_File_write_ordered(MPI_File file, const void *buf, int count, MPI_Datatype type,
                                        MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_ordered(file, buf, count, type, status);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_ordered(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed(&passing, next->write_ordered(file, passing.staged.use, passing.failed ? 0 : count, type,
                                                       status));
}
static dropin_word tools_MPI_File_write_ordered(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_ordered); }

static int enter_MPI_File_read_ordered(MPI_File file, void *buf, int count, MPI_Datatype type,
                                       MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_ordered(file, buf, count, type, status);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_ordered(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed(&passing, next->read_ordered(file, passing.staged.use, passing.failed ? 0 : count, type,
                                                      status));
}
static dropin_word tools_MPI_File_read_ordered(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_ordered); }

static int enter_MPI_File_write_ordered_begin(MPI_File file, const void *buf, int count, MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_ordered_begin(file, buf, count, type);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_ordered(file);
    if (code)
        return code;
    sago_write_elsewhere();
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, next->write_ordered_begin(file, passing.staged.use,
            passing.failed ? 0 : count, type));
}
static dropin_word tools_MPI_File_write_ordered_begin(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_ordered_begin); }

static int enter_MPI_File_read_ordered_begin(MPI_File file, void *buf, int count, MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_ordered_begin(file, buf, count, type);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_ordered(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, next->read_ordered_begin(file, passing.staged.use,
            passing.failed ? 0 : count, type));
}
static dropin_word tools_MPI_File_read_ordered_begin(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_ordered_begin); }

#if MPI_VERSION >= 4
static int enter_MPI_File_write_at_all_c(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count,
                                         MPI_Datatype type, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_at_all_c(file, offset, buf, count, type, status);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve(file, &wanted, status, &code))
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, true);
    return dropin_passed(&passing, (passing.alone ? next->write_at_c : next->write_at_all_c)(file, offset,
            passing.staged.use, passing.failed ? 0 : count, type, status));
}
static dropin_word tools_MPI_File_write_at_all_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_at_all_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_read_at_all_c(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count,
                                        MPI_Datatype type, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_at_all_c(file, offset, buf, count, type, status);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve(file, &wanted, status, &code))
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, true);
    return dropin_passed(&passing, (passing.alone ? next->read_at_c : next->read_at_all_c)(file, offset,
            passing.staged.use, passing.failed ? 0 : count, type, status));
}
static dropin_word tools_MPI_File_read_at_all_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_at_all_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_write_all_c(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type,
                                      MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_all_c(file, buf, count, type, status);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve(file, &wanted, status, &code))
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, true);
    return dropin_passed(&passing, (passing.alone ? next->write_c : next->write_all_c)(file, passing.staged.use,
            passing.failed ? 0 : count, type, status));
}
static dropin_word tools_MPI_File_write_all_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_all_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_read_all_c(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type,
                                     MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_all_c(file, buf, count, type, status);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve(file, &wanted, status, &code))
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, true);
    return dropin_passed(&passing, (passing.alone ? next->read_c : next->read_all_c)(file, passing.staged.use,
            passing.failed ? 0 : count, type, status));
}
static dropin_word tools_MPI_File_read_all_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_all_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_write_at_all_begin_c(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count,
                                               MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_at_all_begin_c(file, offset, buf, count, type);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_begin(file, &wanted, &code))
        return code;
    sago_write_elsewhere();
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, dropin_begun_by_mpi(file, next->write_at_all_begin_c(file, offset,
            passing.staged.use, passing.failed ? 0 : count, type)));
}
static dropin_word tools_MPI_File_write_at_all_begin_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_at_all_begin_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_read_at_all_begin_c(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count,
                                              MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_at_all_begin_c(file, offset, buf, count, type);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_begin(file, &wanted, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, dropin_begun_by_mpi(file, next->read_at_all_begin_c(file, offset,
            passing.staged.use, passing.failed ? 0 : count, type)));
}
static dropin_word tools_MPI_File_read_at_all_begin_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_at_all_begin_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_write_all_begin_c(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_all_begin_c(file, buf, count, type);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_begin(file, &wanted, &code))
        return code;
    sago_write_elsewhere();
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, dropin_begun_by_mpi(file, next->write_all_begin_c(file,
            passing.staged.use, passing.failed ? 0 : count, type)));
}
static dropin_word tools_MPI_File_write_all_begin_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_all_begin_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_read_all_begin_c(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_all_begin_c(file, buf, count, type);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_begin(file, &wanted, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, dropin_begun_by_mpi(file, next->read_all_begin_c(file, passing.staged.use,
            passing.failed ? 0 : count, type)));
}
static dropin_word tools_MPI_File_read_all_begin_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_all_begin_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iwrite_at_all_c(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count,
                                          MPI_Datatype type, MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite_at_all_c(file, offset, buf, count, type, request);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_start(file, &wanted, request, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite_at_all_c(file, offset, passing.staged.use, count, type,
            request), request);
}
static dropin_word tools_MPI_File_iwrite_at_all_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite_at_all_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iread_at_all_c(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count,
                                         MPI_Datatype type, MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread_at_all_c(file, offset, buf, count, type, request);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_start(file, &wanted, request, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread_at_all_c(file, offset, passing.staged.use, count, type,
            request), request);
}
static dropin_word tools_MPI_File_iread_at_all_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread_at_all_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iwrite_all_c(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type,
                                       MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite_all_c(file, buf, count, type, request);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_start(file, &wanted, request, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite_all_c(file, passing.staged.use, count, type, request),
                                                              request);
}
static dropin_word tools_MPI_File_iwrite_all_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite_all_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iread_all_c(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type,
                                      MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread_all_c(file, buf, count, type, request);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code;
    if (dropin_serve_start(file, &wanted, request, &code))
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread_all_c(file, passing.staged.use, count, type, request),
                                                             request);
}
static dropin_word tools_MPI_File_iread_all_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread_all_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_write_c(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type,
                                  MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_c(file, buf, count, type, status);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_pointer(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed(&passing, next->write_c(file, passing.staged.use, count, type, status));
}
static dropin_word tools_MPI_File_write_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_read_c(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type,
                                 MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_c(file, buf, count, type, status);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_pointer(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed(&passing, next->read_c(file, passing.staged.use, count, type, status));
}
static dropin_word tools_MPI_File_read_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_write_at_c(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count,
                                     MPI_Datatype type, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_at_c(file, offset, buf, count, type, status);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed(&passing, next->write_at_c(file, offset, passing.staged.use, count, type, status));
}
static dropin_word tools_MPI_File_write_at_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_at_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_read_at_c(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count,
                                    MPI_Datatype type, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_at_c(file, offset, buf, count, type, status);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass_locked(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed(&passing, next->read_at_c(file, offset, passing.staged.use, count, type, status));
}
static dropin_word tools_MPI_File_read_at_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_at_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_write_shared_c(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type,
                                         MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_shared_c(file, buf, count, type, status);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    return dropin_passed(&passing, next->write_shared_c(file, passing.staged.use, passing.failed ? 0 : count, type,
                                                        status));
}
static dropin_word tools_MPI_File_write_shared_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_shared_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_read_shared_c(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type,
                                        MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_shared_c(file, buf, count, type, status);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    return dropin_passed(&passing, next->read_shared_c(file, passing.staged.use, passing.failed ? 0 : count, type,
                                                       status));
}
static dropin_word tools_MPI_File_read_shared_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_shared_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iwrite_c(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type,
                                   MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite_c(file, buf, count, type, request);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_pointer(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite_c(file, passing.staged.use, count, type, request),
                                                          request);
}
static dropin_word tools_MPI_File_iwrite_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iread_c(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type,
                                  MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread_c(file, buf, count, type, request);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_pointer(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread_c(file, passing.staged.use, count, type, request), request);
}
static dropin_word tools_MPI_File_iread_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iwrite_at_c(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count,
                                      MPI_Datatype type, MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite_at_c(file, offset, buf, count, type, request);
    dropin_access wanted = {true, true, offset, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite_at_c(file, offset, passing.staged.use, count, type,
                                                             request), request);
}
static dropin_word tools_MPI_File_iwrite_at_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite_at_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iread_at_c(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count,
                                     MPI_Datatype type, MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread_at_c(file, offset, buf, count, type, request);
    dropin_access wanted = {false, true, offset, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread_at_c(file, offset, passing.staged.use, count, type,
                                                            request), request);
}
static dropin_word tools_MPI_File_iread_at_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread_at_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iwrite_shared_c(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type,
                                          MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iwrite_shared_c(file, buf, count, type, request);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    sago_write_elsewhere();
    return dropin_passed_started(&passing, next->iwrite_shared_c(file, passing.staged.use, count, type, request),
            request);
}
static dropin_word tools_MPI_File_iwrite_shared_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iwrite_shared_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_iread_shared_c(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type,
                                         MPI_Request *request) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->iread_shared_c(file, buf, count, type, request);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_file(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, false);
    if (passing.failed)
        return passing.failed;
    return dropin_passed_started(&passing, next->iread_shared_c(file, passing.staged.use, count, type, request),
            request);
}
static dropin_word tools_MPI_File_iread_shared_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_iread_shared_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_write_ordered_c(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type,
                                          MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_ordered_c(file, buf, count, type, status);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_ordered(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed(&passing, next->write_ordered_c(file, passing.staged.use, passing.failed ? 0 : count,
                                                         type, status));
}
static dropin_word tools_MPI_File_write_ordered_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_ordered_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_read_ordered_c(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type,
                                         MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_ordered_c(file, buf, count, type, status);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_ordered(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed(&passing, next->read_ordered_c(file, passing.staged.use, passing.failed ? 0 : count, type,
                                                        status));
}
static dropin_word tools_MPI_File_read_ordered_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_ordered_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_write_ordered_begin_c(MPI_File file, const void *buf, MPI_Count count,
                                                MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_ordered_begin_c(file, buf, count, type);
    dropin_access wanted = {true, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_ordered(file);
    if (code)
        return code;
    sago_write_elsewhere();
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, next->write_ordered_begin_c(file, passing.staged.use,
            passing.failed ? 0 : count, type));
}
static dropin_word tools_MPI_File_write_ordered_begin_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_ordered_begin_c); }
#endif

#if MPI_VERSION >= 4
static int enter_MPI_File_read_ordered_begin_c(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_ordered_begin_c(file, buf, count, type);
    dropin_access wanted = {false, false, 0, dropin_buffer(buf), count, type};
    int code = dropin_leave_ordered(file);
    if (code)
        return code;
    dropin_passing passing = dropin_pass(file, &wanted, true);
    return dropin_passed_begun(&passing, next->read_ordered_begin_c(file, passing.staged.use,
            passing.failed ? 0 : count, type));
}
static dropin_word tools_MPI_File_read_ordered_begin_c(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_ordered_begin_c); }
#endif

static int enter_MPI_File_write_at_all_end(MPI_File file, const void *buf, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_at_all_end(file, buf, status);
    int code;
    if (dropin_serve_end(file, status, &code))
        return code;
    code = next->write_at_all_end(file, buf, status);
    return dropin_passed_end(file, code, true);
}
static dropin_word tools_MPI_File_write_at_all_end(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_at_all_end); }

static int enter_MPI_File_read_at_all_end(MPI_File file, void *buf, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_at_all_end(file, buf, status);
    int code;
    if (dropin_serve_end(file, status, &code))
        return code;
    code = next->read_at_all_end(file, buf, status);
    return dropin_passed_end(file, code, false);
}
static dropin_word tools_MPI_File_read_at_all_end(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_at_all_end); }

static int enter_MPI_File_write_all_end(MPI_File file, const void *buf, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_all_end(file, buf, status);
    int code;
    if (dropin_serve_end(file, status, &code))
        return code;
    code = next->write_all_end(file, buf, status);
    return dropin_passed_end(file, code, true);
}
static dropin_word tools_MPI_File_write_all_end(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_all_end); }

static int enter_MPI_File_read_all_end(MPI_File file, void *buf, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_all_end(file, buf, status);
    int code;
    if (dropin_serve_end(file, status, &code))
        return code;
    code = next->read_all_end(file, buf, status);
    return dropin_passed_end(file, code, false);
}
static dropin_word tools_MPI_File_read_all_end(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_all_end); }

static int enter_MPI_File_write_ordered_end(MPI_File file, const void *buf, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->write_ordered_end(file, buf, status);
    int code = next->write_ordered_end(file, buf, status);
    return dropin_passed_end(file, code, true);
}
static dropin_word tools_MPI_File_write_ordered_end(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_write_ordered_end); }

static int enter_MPI_File_read_ordered_end(MPI_File file, void *buf, MPI_Status *status) {
    const dropin_calls *next = dropin_next_calls();
    if (!next)
        return dropin_mpi->read_ordered_end(file, buf, status);
    int code = next->read_ordered_end(file, buf, status);
    return dropin_passed_end(file, code, false);
}
static dropin_word tools_MPI_File_read_ordered_end(DROPIN_WORDS) { return BEFORE_TOOLS(enter_MPI_File_read_ordered_end); }

/* ---- MPI_Wait ---- */

static int enter_MPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_mpi.Wait(request, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Wait(request, status));
}
static int enter_PMPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_pmpi.Wait(request, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Wait(request, status));
}

/* ---- MPI_Waitall ---- */

static int enter_MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    if (!dropin_waits_matter())
        return dropin_waits_after_mpi.Waitall(n, requests, statuses);
    dropin_waiting = true;
    return dropin_waited(dropin_Waitall(n, requests, statuses));
}
static int enter_PMPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    if (!dropin_waits_matter())
        return dropin_waits_after_pmpi.Waitall(n, requests, statuses);
    dropin_waiting = true;
    return dropin_waited(dropin_Waitall(n, requests, statuses));
}

/* ---- MPI_Waitany ---- */

static int enter_MPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_mpi.Waitany(n, requests, index, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Waitany(n, requests, index, status));
}
static int enter_PMPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_pmpi.Waitany(n, requests, index, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Waitany(n, requests, index, status));
}

/* ---- MPI_Waitsome ---- */

static int enter_MPI_Waitsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    if (!dropin_waits_matter())
        return dropin_waits_after_mpi.Waitsome(n, requests, done, indices, statuses);
    dropin_waiting = true;
    return dropin_waited(dropin_Waitsome(n, requests, done, indices, statuses));
}
static int enter_PMPI_Waitsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    if (!dropin_waits_matter())
        return dropin_waits_after_pmpi.Waitsome(n, requests, done, indices, statuses);
    dropin_waiting = true;
    return dropin_waited(dropin_Waitsome(n, requests, done, indices, statuses));
}

/* ---- MPI_Test ---- */

static int enter_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_mpi.Test(request, flag, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Test(request, flag, status));
}
static int enter_PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_pmpi.Test(request, flag, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Test(request, flag, status));
}

/* ---- MPI_Testall ---- */

static int enter_MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    if (!dropin_waits_matter())
        return dropin_waits_after_mpi.Testall(n, requests, flag, statuses);
    dropin_waiting = true;
    return dropin_waited(dropin_Testall(n, requests, flag, statuses));
}
static int enter_PMPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    if (!dropin_waits_matter())
        return dropin_waits_after_pmpi.Testall(n, requests, flag, statuses);
    dropin_waiting = true;
    return dropin_waited(dropin_Testall(n, requests, flag, statuses));
}

/* ---- MPI_Testany ---- */

static int enter_MPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_mpi.Testany(n, requests, index, flag, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Testany(n, requests, index, flag, status));
}
static int enter_PMPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_pmpi.Testany(n, requests, index, flag, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Testany(n, requests, index, flag, status));
}

/* ---- MPI_Testsome ---- */

static int enter_MPI_Testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    if (!dropin_waits_matter())
        return dropin_waits_after_mpi.Testsome(n, requests, done, indices, statuses);
    dropin_waiting = true;
    return dropin_waited(dropin_Testsome(n, requests, done, indices, statuses));
}
static int enter_PMPI_Testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    if (!dropin_waits_matter())
        return dropin_waits_after_pmpi.Testsome(n, requests, done, indices, statuses);
    dropin_waiting = true;
    return dropin_waited(dropin_Testsome(n, requests, done, indices, statuses));
}

/* ---- MPI_Request_get_status ---- */

static int enter_MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_mpi.Request_get_status(request, flag, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Request_get_status(request, flag, status));
}
static int enter_PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    if (!dropin_waits_matter())
        return dropin_waits_after_pmpi.Request_get_status(request, flag, status);
    dropin_waiting = true;
    return dropin_waited(dropin_Request_get_status(request, flag, status));
}

/* ---- All of them ---- */

void dropin_find_file_calls(dropin_next *next, dropin_finder *find) {
    find(next, "PMPI_File_open", &dropin_after_mpi.open, &dropin_after_pmpi.open);
    find(next, "PMPI_File_close", &dropin_after_mpi.close, &dropin_after_pmpi.close);
    find(next, "PMPI_File_delete", &dropin_after_mpi.delete, &dropin_after_pmpi.delete);
    find(next, "PMPI_File_set_view", &dropin_after_mpi.set_view, &dropin_after_pmpi.set_view);
    find(next, "PMPI_File_get_view", &dropin_after_mpi.get_view, &dropin_after_pmpi.get_view);
    find(next, "PMPI_File_get_position", &dropin_after_mpi.get_position, &dropin_after_pmpi.get_position);
    find(next, "PMPI_File_seek", &dropin_after_mpi.seek, &dropin_after_pmpi.seek);
    find(next, "PMPI_File_seek_shared", &dropin_after_mpi.seek_shared, &dropin_after_pmpi.seek_shared);
    find(next, "PMPI_File_set_atomicity", &dropin_after_mpi.set_atomicity, &dropin_after_pmpi.set_atomicity);
    find(next, "PMPI_File_set_size", &dropin_after_mpi.set_size, &dropin_after_pmpi.set_size);
    find(next, "PMPI_File_get_size", &dropin_after_mpi.get_size, &dropin_after_pmpi.get_size);
    find(next, "PMPI_File_preallocate", &dropin_after_mpi.preallocate, &dropin_after_pmpi.preallocate);
    find(next, "PMPI_File_sync", &dropin_after_mpi.sync, &dropin_after_pmpi.sync);
    find(next, "PMPI_File_get_info", &dropin_after_mpi.get_info, &dropin_after_pmpi.get_info);
    find(next, "PMPI_File_write_at_all", &dropin_after_mpi.write_at_all, &dropin_after_pmpi.write_at_all);
    find(next, "PMPI_File_read_at_all", &dropin_after_mpi.read_at_all, &dropin_after_pmpi.read_at_all);
    find(next, "PMPI_File_write_all", &dropin_after_mpi.write_all, &dropin_after_pmpi.write_all);
    find(next, "PMPI_File_read_all", &dropin_after_mpi.read_all, &dropin_after_pmpi.read_all);
    find(next, "PMPI_File_write_at_all_begin", &dropin_after_mpi.write_at_all_begin,
         &dropin_after_pmpi.write_at_all_begin);
    find(next, "PMPI_File_read_at_all_begin", &dropin_after_mpi.read_at_all_begin,
         &dropin_after_pmpi.read_at_all_begin);
    find(next, "PMPI_File_write_all_begin", &dropin_after_mpi.write_all_begin, &dropin_after_pmpi.write_all_begin);
    find(next, "PMPI_File_read_all_begin", &dropin_after_mpi.read_all_begin, &dropin_after_pmpi.read_all_begin);
    find(next, "PMPI_File_iwrite_at_all", &dropin_after_mpi.iwrite_at_all, &dropin_after_pmpi.iwrite_at_all);
    find(next, "PMPI_File_iread_at_all", &dropin_after_mpi.iread_at_all, &dropin_after_pmpi.iread_at_all);
    find(next, "PMPI_File_iwrite_all", &dropin_after_mpi.iwrite_all, &dropin_after_pmpi.iwrite_all);
    find(next, "PMPI_File_iread_all", &dropin_after_mpi.iread_all, &dropin_after_pmpi.iread_all);
    find(next, "PMPI_File_write", &dropin_after_mpi.write, &dropin_after_pmpi.write);
    find(next, "PMPI_File_read", &dropin_after_mpi.read, &dropin_after_pmpi.read);
    find(next, "PMPI_File_write_at", &dropin_after_mpi.write_at, &dropin_after_pmpi.write_at);
    find(next, "PMPI_File_read_at", &dropin_after_mpi.read_at, &dropin_after_pmpi.read_at);
    find(next, "PMPI_File_write_shared", &dropin_after_mpi.write_shared, &dropin_after_pmpi.write_shared);
    find(next, "PMPI_File_read_shared", &dropin_after_mpi.read_shared, &dropin_after_pmpi.read_shared);
    find(next, "PMPI_File_iwrite", &dropin_after_mpi.iwrite, &dropin_after_pmpi.iwrite);
    find(next, "PMPI_File_iread", &dropin_after_mpi.iread, &dropin_after_pmpi.iread);
    find(next, "PMPI_File_iwrite_at", &dropin_after_mpi.iwrite_at, &dropin_after_pmpi.iwrite_at);
    find(next, "PMPI_File_iread_at", &dropin_after_mpi.iread_at, &dropin_after_pmpi.iread_at);
    find(next, "PMPI_File_iwrite_shared", &dropin_after_mpi.iwrite_shared, &dropin_after_pmpi.iwrite_shared);
    find(next, "PMPI_File_iread_shared", &dropin_after_mpi.iread_shared, &dropin_after_pmpi.iread_shared);
    find(next, "PMPI_File_write_ordered", &dropin_after_mpi.write_ordered, &dropin_after_pmpi.write_ordered);
    find(next, "PMPI_File_read_ordered", &dropin_after_mpi.read_ordered, &dropin_after_pmpi.read_ordered);
    find(next, "PMPI_File_write_ordered_begin", &dropin_after_mpi.write_ordered_begin,
         &dropin_after_pmpi.write_ordered_begin);
    find(next, "PMPI_File_read_ordered_begin", &dropin_after_mpi.read_ordered_begin,
         &dropin_after_pmpi.read_ordered_begin);
    find(next, "PMPI_File_write_at_all_end", &dropin_after_mpi.write_at_all_end,
         &dropin_after_pmpi.write_at_all_end);
    find(next, "PMPI_File_read_at_all_end", &dropin_after_mpi.read_at_all_end, &dropin_after_pmpi.read_at_all_end);
    find(next, "PMPI_File_write_all_end", &dropin_after_mpi.write_all_end, &dropin_after_pmpi.write_all_end);
    find(next, "PMPI_File_read_all_end", &dropin_after_mpi.read_all_end, &dropin_after_pmpi.read_all_end);
    find(next, "PMPI_File_write_ordered_end", &dropin_after_mpi.write_ordered_end,
         &dropin_after_pmpi.write_ordered_end);
    find(next, "PMPI_File_read_ordered_end", &dropin_after_mpi.read_ordered_end,
         &dropin_after_pmpi.read_ordered_end);
    find(next, "PMPI_File_call_errhandler", &dropin_after_mpi.call_errhandler, &dropin_after_pmpi.call_errhandler);
#if MPI_VERSION >= 4
    find(next, "PMPI_File_write_at_all_c", &dropin_after_mpi.write_at_all_c, &dropin_after_pmpi.write_at_all_c);
    find(next, "PMPI_File_read_at_all_c", &dropin_after_mpi.read_at_all_c, &dropin_after_pmpi.read_at_all_c);
    find(next, "PMPI_File_write_all_c", &dropin_after_mpi.write_all_c, &dropin_after_pmpi.write_all_c);
    find(next, "PMPI_File_read_all_c", &dropin_after_mpi.read_all_c, &dropin_after_pmpi.read_all_c);
    find(next, "PMPI_File_write_at_all_begin_c", &dropin_after_mpi.write_at_all_begin_c,
         &dropin_after_pmpi.write_at_all_begin_c);
    find(next, "PMPI_File_read_at_all_begin_c", &dropin_after_mpi.read_at_all_begin_c,
         &dropin_after_pmpi.read_at_all_begin_c);
    find(next, "PMPI_File_write_all_begin_c", &dropin_after_mpi.write_all_begin_c,
         &dropin_after_pmpi.write_all_begin_c);
    find(next, "PMPI_File_read_all_begin_c", &dropin_after_mpi.read_all_begin_c,
         &dropin_after_pmpi.read_all_begin_c);
    find(next, "PMPI_File_iwrite_at_all_c", &dropin_after_mpi.iwrite_at_all_c, &dropin_after_pmpi.iwrite_at_all_c);
    find(next, "PMPI_File_iread_at_all_c", &dropin_after_mpi.iread_at_all_c, &dropin_after_pmpi.iread_at_all_c);
    find(next, "PMPI_File_iwrite_all_c", &dropin_after_mpi.iwrite_all_c, &dropin_after_pmpi.iwrite_all_c);
    find(next, "PMPI_File_iread_all_c", &dropin_after_mpi.iread_all_c, &dropin_after_pmpi.iread_all_c);
    find(next, "PMPI_File_write_c", &dropin_after_mpi.write_c, &dropin_after_pmpi.write_c);
    find(next, "PMPI_File_read_c", &dropin_after_mpi.read_c, &dropin_after_pmpi.read_c);
    find(next, "PMPI_File_write_at_c", &dropin_after_mpi.write_at_c, &dropin_after_pmpi.write_at_c);
    find(next, "PMPI_File_read_at_c", &dropin_after_mpi.read_at_c, &dropin_after_pmpi.read_at_c);
    find(next, "PMPI_File_write_shared_c", &dropin_after_mpi.write_shared_c, &dropin_after_pmpi.write_shared_c);
    find(next, "PMPI_File_read_shared_c", &dropin_after_mpi.read_shared_c, &dropin_after_pmpi.read_shared_c);
    find(next, "PMPI_File_iwrite_c", &dropin_after_mpi.iwrite_c, &dropin_after_pmpi.iwrite_c);
    find(next, "PMPI_File_iread_c", &dropin_after_mpi.iread_c, &dropin_after_pmpi.iread_c);
    find(next, "PMPI_File_iwrite_at_c", &dropin_after_mpi.iwrite_at_c, &dropin_after_pmpi.iwrite_at_c);
    find(next, "PMPI_File_iread_at_c", &dropin_after_mpi.iread_at_c, &dropin_after_pmpi.iread_at_c);
    find(next, "PMPI_File_iwrite_shared_c", &dropin_after_mpi.iwrite_shared_c, &dropin_after_pmpi.iwrite_shared_c);
    find(next, "PMPI_File_iread_shared_c", &dropin_after_mpi.iread_shared_c, &dropin_after_pmpi.iread_shared_c);
    find(next, "PMPI_File_write_ordered_c", &dropin_after_mpi.write_ordered_c, &dropin_after_pmpi.write_ordered_c);
    find(next, "PMPI_File_read_ordered_c", &dropin_after_mpi.read_ordered_c, &dropin_after_pmpi.read_ordered_c);
    find(next, "PMPI_File_write_ordered_begin_c", &dropin_after_mpi.write_ordered_begin_c,
         &dropin_after_pmpi.write_ordered_begin_c);
    find(next, "PMPI_File_read_ordered_begin_c", &dropin_after_mpi.read_ordered_begin_c,
         &dropin_after_pmpi.read_ordered_begin_c);
#endif
}

void dropin_find_waits(dropin_next *next, dropin_finder *find) {
    find(next, "PMPI_Wait", &dropin_waits_after_mpi.Wait, &dropin_waits_after_pmpi.Wait);
    find(next, "PMPI_Waitall", &dropin_waits_after_mpi.Waitall, &dropin_waits_after_pmpi.Waitall);
    find(next, "PMPI_Waitany", &dropin_waits_after_mpi.Waitany, &dropin_waits_after_pmpi.Waitany);
    find(next, "PMPI_Waitsome", &dropin_waits_after_mpi.Waitsome, &dropin_waits_after_pmpi.Waitsome);
    find(next, "PMPI_Test", &dropin_waits_after_mpi.Test, &dropin_waits_after_pmpi.Test);
    find(next, "PMPI_Testall", &dropin_waits_after_mpi.Testall, &dropin_waits_after_pmpi.Testall);
    find(next, "PMPI_Testany", &dropin_waits_after_mpi.Testany, &dropin_waits_after_pmpi.Testany);
    find(next, "PMPI_Testsome", &dropin_waits_after_mpi.Testsome, &dropin_waits_after_pmpi.Testsome);
    find(next, "PMPI_Request_get_status", &dropin_waits_after_mpi.Request_get_status,
         &dropin_waits_after_pmpi.Request_get_status);
}

/* Of MPI_File_x, by the number of that name; the number of PMPI_File_x comes next. */
static const struct {
    dropin_entry *entry, *before_tools;
} files[DROPIN_ENTRY_COUNT] = {
    [DROPIN_MPI_File_open] = {DROPIN_AS_ENTRY(enter_MPI_File_open), tools_MPI_File_open},
    [DROPIN_MPI_File_close] = {DROPIN_AS_ENTRY(enter_MPI_File_close), tools_MPI_File_close},
    [DROPIN_MPI_File_delete] = {DROPIN_AS_ENTRY(enter_MPI_File_delete), tools_MPI_File_delete},
    [DROPIN_MPI_File_set_view] = {DROPIN_AS_ENTRY(enter_MPI_File_set_view), tools_MPI_File_set_view},
    [DROPIN_MPI_File_get_view] = {DROPIN_AS_ENTRY(enter_MPI_File_get_view), tools_MPI_File_get_view},
    [DROPIN_MPI_File_get_position] = {DROPIN_AS_ENTRY(enter_MPI_File_get_position), tools_MPI_File_get_position},
    [DROPIN_MPI_File_seek] = {DROPIN_AS_ENTRY(enter_MPI_File_seek), tools_MPI_File_seek},
    [DROPIN_MPI_File_seek_shared] = {DROPIN_AS_ENTRY(enter_MPI_File_seek_shared), tools_MPI_File_seek_shared},
    [DROPIN_MPI_File_set_atomicity] = {DROPIN_AS_ENTRY(enter_MPI_File_set_atomicity),
                                                       tools_MPI_File_set_atomicity},
    [DROPIN_MPI_File_set_size] = {DROPIN_AS_ENTRY(enter_MPI_File_set_size), tools_MPI_File_set_size},
    [DROPIN_MPI_File_get_size] = {DROPIN_AS_ENTRY(enter_MPI_File_get_size), tools_MPI_File_get_size},
    [DROPIN_MPI_File_preallocate] = {DROPIN_AS_ENTRY(enter_MPI_File_preallocate), tools_MPI_File_preallocate},
    [DROPIN_MPI_File_sync] = {DROPIN_AS_ENTRY(enter_MPI_File_sync), tools_MPI_File_sync},
    [DROPIN_MPI_File_get_info] = {DROPIN_AS_ENTRY(enter_MPI_File_get_info), tools_MPI_File_get_info},
    [DROPIN_MPI_File_write_at_all] = {DROPIN_AS_ENTRY(enter_MPI_File_write_at_all), tools_MPI_File_write_at_all},
    [DROPIN_MPI_File_read_at_all] = {DROPIN_AS_ENTRY(enter_MPI_File_read_at_all), tools_MPI_File_read_at_all},
    [DROPIN_MPI_File_write_all] = {DROPIN_AS_ENTRY(enter_MPI_File_write_all), tools_MPI_File_write_all},
    [DROPIN_MPI_File_read_all] = {DROPIN_AS_ENTRY(enter_MPI_File_read_all), tools_MPI_File_read_all},
    [DROPIN_MPI_File_write_at_all_begin] = {DROPIN_AS_ENTRY(enter_MPI_File_write_at_all_begin),
                                                            tools_MPI_File_write_at_all_begin},
    [DROPIN_MPI_File_read_at_all_begin] = {DROPIN_AS_ENTRY(enter_MPI_File_read_at_all_begin),
                                                           tools_MPI_File_read_at_all_begin},
    [DROPIN_MPI_File_write_all_begin] = {DROPIN_AS_ENTRY(enter_MPI_File_write_all_begin),
                                                         tools_MPI_File_write_all_begin},
    [DROPIN_MPI_File_read_all_begin] = {DROPIN_AS_ENTRY(enter_MPI_File_read_all_begin),
                                                        tools_MPI_File_read_all_begin},
    [DROPIN_MPI_File_iwrite_at_all] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite_at_all),
                                                       tools_MPI_File_iwrite_at_all},
    [DROPIN_MPI_File_iread_at_all] = {DROPIN_AS_ENTRY(enter_MPI_File_iread_at_all), tools_MPI_File_iread_at_all},
    [DROPIN_MPI_File_iwrite_all] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite_all), tools_MPI_File_iwrite_all},
    [DROPIN_MPI_File_iread_all] = {DROPIN_AS_ENTRY(enter_MPI_File_iread_all), tools_MPI_File_iread_all},
    [DROPIN_MPI_File_write] = {DROPIN_AS_ENTRY(enter_MPI_File_write), tools_MPI_File_write},
    [DROPIN_MPI_File_read] = {DROPIN_AS_ENTRY(enter_MPI_File_read), tools_MPI_File_read},
    [DROPIN_MPI_File_write_at] = {DROPIN_AS_ENTRY(enter_MPI_File_write_at), tools_MPI_File_write_at},
    [DROPIN_MPI_File_read_at] = {DROPIN_AS_ENTRY(enter_MPI_File_read_at), tools_MPI_File_read_at},
    [DROPIN_MPI_File_write_shared] = {DROPIN_AS_ENTRY(enter_MPI_File_write_shared), tools_MPI_File_write_shared},
    [DROPIN_MPI_File_read_shared] = {DROPIN_AS_ENTRY(enter_MPI_File_read_shared), tools_MPI_File_read_shared},
    [DROPIN_MPI_File_iwrite] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite), tools_MPI_File_iwrite},
    [DROPIN_MPI_File_iread] = {DROPIN_AS_ENTRY(enter_MPI_File_iread), tools_MPI_File_iread},
    [DROPIN_MPI_File_iwrite_at] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite_at), tools_MPI_File_iwrite_at},
    [DROPIN_MPI_File_iread_at] = {DROPIN_AS_ENTRY(enter_MPI_File_iread_at), tools_MPI_File_iread_at},
    [DROPIN_MPI_File_iwrite_shared] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite_shared),
                                                       tools_MPI_File_iwrite_shared},
    [DROPIN_MPI_File_iread_shared] = {DROPIN_AS_ENTRY(enter_MPI_File_iread_shared), tools_MPI_File_iread_shared},
    [DROPIN_MPI_File_write_ordered] = {DROPIN_AS_ENTRY(enter_MPI_File_write_ordered),
                                                       tools_MPI_File_write_ordered},
    [DROPIN_MPI_File_read_ordered] = {DROPIN_AS_ENTRY(enter_MPI_File_read_ordered), tools_MPI_File_read_ordered},
    [DROPIN_MPI_File_write_ordered_begin] = {DROPIN_AS_ENTRY(enter_MPI_File_write_ordered_begin),
                                                             tools_MPI_File_write_ordered_begin},
    [DROPIN_MPI_File_read_ordered_begin] = {DROPIN_AS_ENTRY(enter_MPI_File_read_ordered_begin),
                                                            tools_MPI_File_read_ordered_begin},
    [DROPIN_MPI_File_write_at_all_end] = {DROPIN_AS_ENTRY(enter_MPI_File_write_at_all_end),
                                                          tools_MPI_File_write_at_all_end},
    [DROPIN_MPI_File_read_at_all_end] = {DROPIN_AS_ENTRY(enter_MPI_File_read_at_all_end),
                                                         tools_MPI_File_read_at_all_end},
    [DROPIN_MPI_File_write_all_end] = {DROPIN_AS_ENTRY(enter_MPI_File_write_all_end),
                                                       tools_MPI_File_write_all_end},
    [DROPIN_MPI_File_read_all_end] = {DROPIN_AS_ENTRY(enter_MPI_File_read_all_end), tools_MPI_File_read_all_end},
    [DROPIN_MPI_File_write_ordered_end] = {DROPIN_AS_ENTRY(enter_MPI_File_write_ordered_end),
                                                           tools_MPI_File_write_ordered_end},
    [DROPIN_MPI_File_read_ordered_end] = {DROPIN_AS_ENTRY(enter_MPI_File_read_ordered_end),
                                                          tools_MPI_File_read_ordered_end},
#if MPI_VERSION >= 4
    [DROPIN_MPI_File_write_at_all_c] = {DROPIN_AS_ENTRY(enter_MPI_File_write_at_all_c),
                                                        tools_MPI_File_write_at_all_c},
    [DROPIN_MPI_File_read_at_all_c] = {DROPIN_AS_ENTRY(enter_MPI_File_read_at_all_c),
                                                       tools_MPI_File_read_at_all_c},
    [DROPIN_MPI_File_write_all_c] = {DROPIN_AS_ENTRY(enter_MPI_File_write_all_c), tools_MPI_File_write_all_c},
    [DROPIN_MPI_File_read_all_c] = {DROPIN_AS_ENTRY(enter_MPI_File_read_all_c), tools_MPI_File_read_all_c},
    [DROPIN_MPI_File_write_at_all_begin_c] = {DROPIN_AS_ENTRY(enter_MPI_File_write_at_all_begin_c),
                                                              tools_MPI_File_write_at_all_begin_c},
    [DROPIN_MPI_File_read_at_all_begin_c] = {DROPIN_AS_ENTRY(enter_MPI_File_read_at_all_begin_c),
                                                             tools_MPI_File_read_at_all_begin_c},
    [DROPIN_MPI_File_write_all_begin_c] = {DROPIN_AS_ENTRY(enter_MPI_File_write_all_begin_c),
                                                           tools_MPI_File_write_all_begin_c},
    [DROPIN_MPI_File_read_all_begin_c] = {DROPIN_AS_ENTRY(enter_MPI_File_read_all_begin_c),
                                                          tools_MPI_File_read_all_begin_c},
    [DROPIN_MPI_File_iwrite_at_all_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite_at_all_c),
                                                         tools_MPI_File_iwrite_at_all_c},
    [DROPIN_MPI_File_iread_at_all_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iread_at_all_c),
                                                        tools_MPI_File_iread_at_all_c},
    [DROPIN_MPI_File_iwrite_all_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite_all_c), tools_MPI_File_iwrite_all_c},
    [DROPIN_MPI_File_iread_all_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iread_all_c), tools_MPI_File_iread_all_c},
    [DROPIN_MPI_File_write_c] = {DROPIN_AS_ENTRY(enter_MPI_File_write_c), tools_MPI_File_write_c},
    [DROPIN_MPI_File_read_c] = {DROPIN_AS_ENTRY(enter_MPI_File_read_c), tools_MPI_File_read_c},
    [DROPIN_MPI_File_write_at_c] = {DROPIN_AS_ENTRY(enter_MPI_File_write_at_c), tools_MPI_File_write_at_c},
    [DROPIN_MPI_File_read_at_c] = {DROPIN_AS_ENTRY(enter_MPI_File_read_at_c), tools_MPI_File_read_at_c},
    [DROPIN_MPI_File_write_shared_c] = {DROPIN_AS_ENTRY(enter_MPI_File_write_shared_c),
                                                        tools_MPI_File_write_shared_c},
    [DROPIN_MPI_File_read_shared_c] = {DROPIN_AS_ENTRY(enter_MPI_File_read_shared_c),
                                                       tools_MPI_File_read_shared_c},
    [DROPIN_MPI_File_iwrite_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite_c), tools_MPI_File_iwrite_c},
    [DROPIN_MPI_File_iread_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iread_c), tools_MPI_File_iread_c},
    [DROPIN_MPI_File_iwrite_at_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite_at_c), tools_MPI_File_iwrite_at_c},
    [DROPIN_MPI_File_iread_at_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iread_at_c), tools_MPI_File_iread_at_c},
    [DROPIN_MPI_File_iwrite_shared_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iwrite_shared_c),
                                                         tools_MPI_File_iwrite_shared_c},
    [DROPIN_MPI_File_iread_shared_c] = {DROPIN_AS_ENTRY(enter_MPI_File_iread_shared_c),
                                                        tools_MPI_File_iread_shared_c},
    [DROPIN_MPI_File_write_ordered_c] = {DROPIN_AS_ENTRY(enter_MPI_File_write_ordered_c),
                                                         tools_MPI_File_write_ordered_c},
    [DROPIN_MPI_File_read_ordered_c] = {DROPIN_AS_ENTRY(enter_MPI_File_read_ordered_c),
                                                        tools_MPI_File_read_ordered_c},
    [DROPIN_MPI_File_write_ordered_begin_c] = {DROPIN_AS_ENTRY(enter_MPI_File_write_ordered_begin_c),
                                                               tools_MPI_File_write_ordered_begin_c},
    [DROPIN_MPI_File_read_ordered_begin_c] = {DROPIN_AS_ENTRY(enter_MPI_File_read_ordered_begin_c),
                                                              tools_MPI_File_read_ordered_begin_c},
#endif
};

static dropin_entry *const waits[DROPIN_ENTRY_COUNT] = {
    [DROPIN_MPI_Wait] = DROPIN_AS_ENTRY(enter_MPI_Wait),
    [DROPIN_PMPI_Wait] = DROPIN_AS_ENTRY(enter_PMPI_Wait),
    [DROPIN_MPI_Waitall] = DROPIN_AS_ENTRY(enter_MPI_Waitall),
    [DROPIN_PMPI_Waitall] = DROPIN_AS_ENTRY(enter_PMPI_Waitall),
    [DROPIN_MPI_Waitany] = DROPIN_AS_ENTRY(enter_MPI_Waitany),
    [DROPIN_PMPI_Waitany] = DROPIN_AS_ENTRY(enter_PMPI_Waitany),
    [DROPIN_MPI_Waitsome] = DROPIN_AS_ENTRY(enter_MPI_Waitsome),
    [DROPIN_PMPI_Waitsome] = DROPIN_AS_ENTRY(enter_PMPI_Waitsome),
    [DROPIN_MPI_Test] = DROPIN_AS_ENTRY(enter_MPI_Test),
    [DROPIN_PMPI_Test] = DROPIN_AS_ENTRY(enter_PMPI_Test),
    [DROPIN_MPI_Testall] = DROPIN_AS_ENTRY(enter_MPI_Testall),
    [DROPIN_PMPI_Testall] = DROPIN_AS_ENTRY(enter_PMPI_Testall),
    [DROPIN_MPI_Testany] = DROPIN_AS_ENTRY(enter_MPI_Testany),
    [DROPIN_PMPI_Testany] = DROPIN_AS_ENTRY(enter_PMPI_Testany),
    [DROPIN_MPI_Testsome] = DROPIN_AS_ENTRY(enter_MPI_Testsome),
    [DROPIN_PMPI_Testsome] = DROPIN_AS_ENTRY(enter_PMPI_Testsome),
    [DROPIN_MPI_Request_get_status] = DROPIN_AS_ENTRY(enter_MPI_Request_get_status),
    [DROPIN_PMPI_Request_get_status] = DROPIN_AS_ENTRY(enter_PMPI_Request_get_status),
};

void dropin_fill_entries(dropin_entry *entries[]) {
    for (int i = 0; i < DROPIN_ENTRY_COUNT; i++) {
        if (waits[i])
            entries[i] = waits[i];
        if (!files[i].entry)
            continue;
        entries[i] = dropin_tools ? files[i].before_tools : files[i].entry;
        entries[i + 1] = files[i].entry;
    }
}
