/* Opening and closing, and what decides how a file is accessed.  The MPI library does all of it, too: its handle
 * must be able to serve whatever Sago does not.
 *
 * Whether Sago takes a file is agreed on by all ranks in sago_open(), also when a rank knows beforehand that it
 * will not: else some would wait for the others. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "calls.h"
#include "files.h"
#include "pointer.h"
#include "raise.h"
#include "requests.h"

/* ---- Open ---- */

/* Sago opens what is there by now, and leaves deleting to the MPI library. */
static int mode_for_sago(int amode) {
    return amode & ~(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_APPEND);
}

static dropin_reason reason_of(sago_status status) {
    switch (status) {
    case SAGO_OK:
        return DROPIN_SERVED;
    case SAGO_ERR_MODE:
        return DROPIN_SEQUENTIAL;
    case SAGO_ERR_BAD_FILE:
        return DROPIN_SPECIAL_FILE;
    case SAGO_ERR_HINT:
    case SAGO_ERR_MISMATCH:
        return DROPIN_HINTS;
    default:
        return DROPIN_NOT_OPENED;
    }
}

/* As the MPI library's do: ROMIO's always, OMPIO's not where views have no gaps. */
static bool ranks_meet(void) {
#ifdef SAGO_MPI_MPICH
    return true;
#else
    const char *component = getenv("OMPI_MCA_io");
    return component && strstr(component, "romio");
#endif
}

static void describe(dropin_file *file, MPI_Comm comm, int amode) {
    int rank = 0;
    (void)MPI_Comm_rank(comm, &rank);
    file->amode = amode;
    file->first = rank == 0;
    file->meets = ranks_meet();
    file->etype_size = 1;
    file->pointer_known = !(amode & MPI_MODE_APPEND);
}

/* The program's hints, without local storage before the file: the MPI library's own calls would not see what is
 * there. To be freed. */
static MPI_Info hints_for_sago(MPI_Info info) {
    MPI_Info own = MPI_INFO_NULL;
    int code = info == MPI_INFO_NULL ? MPI_Info_create(&own) : MPI_Info_dup(info, &own);
    if (code == MPI_SUCCESS)
        (void)MPI_Info_set(own, "sago_tier", "global");
    return own;
}

static void adopt(MPI_File handle, MPI_Comm comm, const char *path, int amode, MPI_Info info) {
    sago_file *sago = NULL;
    dropin_file *file = dropin_files_add(handle);
    bool prefixed = strchr(path, ':'); /* "ufs:/scratch/x": to the MPI libraries a kind of file system */
    MPI_Info hints = hints_for_sago(info);
    sago_status status = sago_open(comm, file && !prefixed ? path : NULL, mode_for_sago(amode), hints, &sago);
    if (hints != MPI_INFO_NULL)
        (void)MPI_Info_free(&hints);
    if (file) {
        describe(file, comm, amode);
        file->sago = sago;
        file->closed = prefixed ? DROPIN_PREFIX : reason_of(status);
    }
    dropin_count_open(file);
}

int dropin_open(const dropin_calls *next, MPI_Comm comm, const char *path, int amode, MPI_Info info,
                MPI_File *file) {
    int code = next->open(comm, path, amode, info, file);
    if (code == MPI_SUCCESS)
        adopt(*file, comm, path, amode, info);
    return code;
}

/* ---- Close ---- */

int dropin_close(const dropin_calls *next, MPI_File *handle) {
    dropin_file *file = handle ? dropin_files_find(*handle) : NULL;
    if (!file)
        return next->close(handle);
    int failed = MPI_SUCCESS;
    if (file->sago) {
        dropin_count_close(file);
        failed = dropin_raise(*handle, sago_close(&file->sago));
        dropin_requests_finish(file); /* the program should have waited for them */
    }
    dropin_files_remove(file);
    int code = next->close(handle);
    return code ? code : failed;
}

/* ---- View, pointer, atomicity, size, info ---- */

static dropin_reason view_set(dropin_file *file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                              const char *datarep) {
    if (strcasecmp(datarep, "native") != 0 && strcasecmp(datarep, "internal") != 0)
        return DROPIN_REPRESENTATION;
    sago_status status = sago_set_view(file->sago, disp, etype, filetype);
    if (status || MPI_Type_size_x(etype, &file->etype_size) != MPI_SUCCESS || file->etype_size <= 0)
        return DROPIN_VIEW;
    return DROPIN_SERVED;
}

int dropin_set_view(const dropin_calls *next, MPI_File handle, MPI_Offset disp, MPI_Datatype etype,
                    MPI_Datatype filetype, const char *datarep, MPI_Info info) {
    dropin_file *file = dropin_files_find(handle);
    int code = next->set_view(handle, disp, etype, filetype, datarep, info);
    if (code != MPI_SUCCESS || !file || !file->sago)
        return code;
    dropin_pointer_reset(file);
    file->unseen = view_set(file, disp, etype, filetype, datarep);
    return code;
}

int dropin_get_position(const dropin_calls *next, MPI_File handle, MPI_Offset *offset) {
    dropin_file *file = dropin_files_find(handle);
    return file && file->sago && offset ? dropin_pointer_get(file, offset) : next->get_position(handle, offset);
}

int dropin_seek(const dropin_calls *next, MPI_File handle, MPI_Offset offset, int whence) {
    dropin_pointer_leave(dropin_files_find(handle));
    return next->seek(handle, offset, whence);
}

int dropin_set_atomicity(const dropin_calls *next, MPI_File handle, int flag) {
    dropin_file *file = dropin_files_find(handle);
    int code = next->set_atomicity(handle, flag);
    if (code == MPI_SUCCESS && file)
        file->atomic = flag;
    return code;
}

/* By Sago, which may have the file mapped and must see it shrink. */
int dropin_set_size(const dropin_calls *next, MPI_File handle, MPI_Offset size) {
    dropin_file *file = dropin_files_find(handle);
    if (!file || !file->sago || (file->amode & MPI_MODE_RDONLY))
        return next->set_size(handle, size);
    return dropin_raise(handle, sago_set_size(file->sago, size));
}

int dropin_get_info(const dropin_calls *next, MPI_File handle, MPI_Info *info) {
    dropin_file *file = dropin_files_find(handle);
    int code = next->get_info(handle, info);
    if (code == MPI_SUCCESS && file && file->sago)
        (void)sago_get_hints(file->sago, *info); /* without it the answer is still the MPI library's */
    return code;
}
