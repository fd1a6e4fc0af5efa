/* Opening and closing, and what decides how a file is accessed.  The MPI library opens every file as well,
 * since its handle must be able to serve whatever Sago does not.
 *
 * The ranks agree in sago_open() whether Sago takes a file, even if a rank knows beforehand that it will not;
 * otherwise some ranks would wait for others.  An existing file is opened by Sago first: if all ranks could
 * open it, the MPI library will leave none waiting, so no further question is needed.  A new file is made by
 * the MPI library, and then opened by Sago. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "atomic.h"
#include "mpi_calls.h"
#include "descriptors.h"
#include "mpi_files.h"
#include "foresee.h"
#include "late.h"
#include "own_calls.h"
#include "pointer.h"
#include "raise.h"
#include "flush_deferred.h"
#include "requests.h"

/* ---- Open ---- */

/* Sago opens what is there by now, and leaves deleting to the MPI library. */
static int mode_for_sago(int amode) {
    return amode & ~(MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_APPEND);
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

/* When ranks meet in collective calls: as in the MPI library's own calls, since programs have come to rely on
 * that. ROMIO's ranks wait for each other before they access the file, so an access sees what other ranks did in
 * the call before.  OMPIO's ranks do so if one gathers for the others, which takes three ranks; two ranks see each
 * other's data soon enough most of the time, and with Sago always. */
static const char *agree_hint(MPI_Comm comm) {
    int ranks = 0;
    (void)DROPIN_DONE_ON(comm, MPI_Comm_size(comm, &ranks));
    return dropin_by_romio() || ranks > 2 ? "enter" : "turn";
}

static void describe(dropin_file *file, MPI_Comm comm, int amode) {
    int rank = 0;
    (void)DROPIN_DONE_ON(comm, MPI_Comm_rank(comm, &rank));
    file->amode = amode;
    file->first = rank == 0;
    file->etype_size = 1;
    file->pointer_known = !(amode & MPI_MODE_APPEND);
}

/* Checked by its length, since MPICH ends the program if a value is longer than the room for it. */
static bool is_given(MPI_Info info, const char *key, const char *variable) {
    int length, found = 0;
    (void)DROPIN_DONE(MPI_Info_get_valuelen(info, key, &length, &found));
    return found || getenv(variable);
}

/* The program's hints, without local storage before the file and without subfiles, whose data the MPI library's
 * own calls would not see.  The caller frees them. */
static MPI_Info hints_for_sago(MPI_Comm comm, MPI_Info info) {
    MPI_Info own = MPI_INFO_NULL;
    if (!DROPIN_DONE(info == MPI_INFO_NULL ? MPI_Info_create(&own) : MPI_Info_dup(info, &own)))
        return MPI_INFO_NULL;
    (void)DROPIN_DONE(MPI_Info_set(own, "sago_tier", "global"));
    (void)DROPIN_DONE(MPI_Info_set(own, "sago_subfiles", "auto"));
    (void)DROPIN_DONE(
        MPI_Info_set(own, "sago_nonblocking", "apart")); /* a program may rely on it, whatever else it wants */
    if (!is_given(own, "sago_agree", "SAGO_AGREE"))
        (void)DROPIN_DONE(MPI_Info_set(own, "sago_agree", agree_hint(comm)));
    if (!dropin_reports() && !is_given(own, "sago_timing", "SAGO_TIMING"))
        (void)DROPIN_DONE(MPI_Info_set(own, "sago_timing", "off"));
    return own;
}

/* A directory that Sago could open, and the MPI library for reading as well, whose own calls would take the
 * directory for the file.  The same on all ranks, since they agreed on what they opened. */
static bool in_subfiles(const dropin_file *file) {
    return file && file->sago && file->found && S_ISDIR(file->kind);
}

/* Says why Sago does not serve a file: mostly a variable of the environment, whose user should know.  The library
 * has said what is wrong with the value. */
static void tell_refused(const dropin_file *file, const char *path) {
    static bool told;
    const char *why = sago_error_message();
    bool said = strstr(why, "environment variable ") != NULL;
    if (file->first && !told)
        fprintf(stderr, "sago: %s is left to the MPI library%s%s\n", path, said ? "" : ": ", said ? "" : why);
    told = true;
}

/* What a file is opened with, and the result. */
typedef struct opening {
    MPI_Comm comm;
    const char *path;
    int amode;
    MPI_Info info;
    bool wanted; /* this rank asked Sago for the file */
    sago_status status;
    sago_file *sago;
} opening;

/* Collective.  `possible`: false if this rank knows that Sago cannot have the file. */
static void open_sago(opening *with, bool possible) {
    with->wanted = possible && dropin_descriptor_take();
    MPI_Info hints = hints_for_sago(with->comm, with->info);
    sago_report_layer_opens(1);
    with->status =
        sago_open(with->comm, with->wanted ? with->path : NULL, mode_for_sago(with->amode), hints, &with->sago);
    sago_report_layer_opens(0);
    if (with->wanted && with->status)
        dropin_descriptor_give_back();
    if (hints != MPI_INFO_NULL)
        (void)DROPIN_DONE(MPI_Info_free(&hints));
}

/* Collective.  A file that must not exist, as all ranks say in their modes: only the MPI library may make it. */
static void leave_existing(opening *with) {
    if (!with->sago || !(with->amode & MPI_MODE_EXCL))
        return;
    (void)sago_close(&with->sago);
    dropin_descriptor_give_back();
    with->status = SAGO_ERR_NO_FILE;
}

/* Closes Sago's file: the MPI library has none, perhaps on this rank alone. */
static void close_unused(opening *with) {
    if (!with->sago)
        return;
    (void)sago_close_alone(&with->sago);
    dropin_descriptor_give_back();
}

static void take(dropin_file *file, const opening *with) {
    bool others_do_not =
        with->status == SAGO_ERR_ARG; /* such ranks gave no path, since they have no descriptor to spare */
    file->sago = with->sago;
    file->closed = reason_of(with->status);
    if (with->wanted && !others_do_not && (file->closed == DROPIN_HINTS || file->closed == DROPIN_NOT_OPENED))
        tell_refused(file, with->path);
}

static void note_name(dropin_file *file, const char *path) {
    struct stat info;
    file->path = strdup(path);
    file->found = file->path && stat(path, &info) == 0;
    if (!file->found)
        return;
    file->kind = info.st_mode;
    file->device = info.st_dev;
    file->inode = info.st_ino;
}

/* "ufs:/scratch/x": to the MPI libraries the prefix is a kind of file system. */
static bool is_prefixed(const char *path) { return strchr(path, ':') != NULL; }

/* The MPI library has opened the file.  `file`: NULL if there was no memory. */
static void adopt(dropin_file *file, MPI_File handle, opening *with, bool several) {
    if (!several)
        dropin_join_report(with->comm);
    if (file) {
        dropin_files_add(file, handle);
        describe(file, with->comm, with->amode);
        note_name(file, with->path);
    }
    bool now = several ? with->status == SAGO_ERR_NO_FILE
                       : !file || is_prefixed(with->path) || !dropin_put_off(file, with->comm, with->info);
    if (now)
        open_sago(with, file && !is_prefixed(with->path));
    if (file && (several || now))
        take(file, with);
    if (file && is_prefixed(with->path))
        file->closed = DROPIN_PREFIX;
    dropin_count_open(file);
}

static void take_now(dropin_file *file) {
    char path[DROPIN_PATH];
    const char *found = dropin_files_path(file, path);
    opening with = {.comm = MPI_COMM_SELF, .path = found, .amode = file->amode, .info = file->late->info};
    open_sago(&with, found != NULL);
    take(file, &with);
    if (!file->sago)
        dropin_count_refused(file);
    dropin_late_free(file);
}

/* Two threads may be here with one file, since MPI_File_get_info is not collective. */
dropin_file *dropin_files_find_taken(MPI_File handle) {
    static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
    dropin_file *file = dropin_files_find(handle);
    if (!file || !file->late)
        return file;
    (void)pthread_mutex_lock(&taking);
    if (file->late)
        take_now(file);
    (void)pthread_mutex_unlock(&taking);
    return file;
}

/* Opens a file on a rank that has no Sago. */
static void leave(MPI_File handle, MPI_Comm comm, int amode) {
    dropin_file *file = dropin_files_create();
    if (file) {
        dropin_files_add(file, handle);
        describe(file, comm, amode);
        file->closed = DROPIN_ABSENT;
    }
    dropin_count_open(file);
}

static bool mpi_runs(void) {
    int begun = 0, ended = 0;
    return MPI_Initialized(&begun) == MPI_SUCCESS && begun && MPI_Finalized(&ended) == MPI_SUCCESS && !ended;
}

/* Opens the file by Sago, if it exists, and then by the MPI library, unless that would fail on some ranks only. */
static int open_both(const dropin_calls *next, opening *with, dropin_file *file, MPI_File *handle) {
    bool several = dropin_is_for_several(with->comm);
    int code;
    if (several) {
        dropin_join_report(with->comm);
        open_sago(with, file && with->path && !is_prefixed(with->path) && !dropin_mode_is_wrong(with->amode));
        leave_existing(with);
    }
    bool modes_right = with->status == SAGO_ERR_NO_FILE;
    if (with->status && dropin_foresee(with->comm, with->path, with->amode, modes_right, &code))
        return code;
    code = next->open(with->comm, with->path, with->amode, with->info, handle);
    if (code)
        close_unused(with);
    else
        adopt(file, *handle, with, several);
    return code;
}

static int open_file(const dropin_calls *next, MPI_Comm comm, const char *path, int amode, MPI_Info info,
                     MPI_File *file) {
    if (!dropin_present(comm)) {
        int code = next->open(comm, path, amode, info, file);
        if (!code)
            leave(*file, comm, amode);
        return code;
    }
    opening with = {.comm = comm, .path = path, .amode = amode, .info = info};
    dropin_file *taken = dropin_files_create();
    int code = open_both(next, &with, taken, file);
    if (taken && code)
        dropin_files_remove(taken);
    if (code || !in_subfiles(taken))
        return code;
    (void)sago_close(&taken->sago);
    dropin_descriptor_give_back();
    dropin_files_remove(taken);
    (void)next->close(file);
    /* A directory is refused in the MPI library's own words. */
    return next->open(comm, path, MPI_MODE_RDWR, info, file);
}

int dropin_open(const dropin_calls *next, MPI_Comm comm, const char *path, int amode, MPI_Info info,
                MPI_File *file) {
    if (!mpi_runs()) /* the MPI library reports it, in its own words */
        return next->open(comm, path, amode, info, file);
    double began = dropin_clock();
    return dropin_count_around(SAGO_REPORT_OPEN, began, open_file(next, comm, path, amode, info, file));
}

/* ---- Close ---- */

/* Reports deferred data that is lost, since programs seldom look at what close returns. */
static void tell_lost(const dropin_file *file) {
    static bool told;
    if (file->first && !told)
        fprintf(stderr, "sago: written data was lost: %s\n", sago_error_message());
    told = true;
}

/* Collective. */
static sago_status close_sago(dropin_file *file) {
    sago_status flushed = sago_flush_all(file->sago); /* here, so that it is counted */
    if (flushed)
        tell_lost(file);
    dropin_count_close(file);
    sago_status closed = sago_close(&file->sago);
    return flushed ? flushed : closed;
}

int dropin_close(const dropin_calls *next, MPI_File *handle) {
    dropin_file *file = handle ? dropin_files_find(*handle) : NULL;
    if (!file)
        return next->close(handle);
    double began = dropin_clock();
    int failed = MPI_SUCCESS;
    if (file->sago) {
        failed = dropin_raise(*handle, close_sago(file));
        dropin_descriptor_give_back();
        dropin_requests_finish(file); /* the program should have waited for them */
    }
    dropin_files_remove(file);
    int code = dropin_count_around(SAGO_REPORT_CLOSE, began, next->close(handle));
    return code ? code : failed;
}

/* The file may have other names, and what this rank wrote must be found under them. */
int dropin_delete(const dropin_calls *next, const char *path, MPI_Info info) {
    dropin_files_flush_named(path);
    return next->delete (path, info);
}

/* ---- View, pointer, atomicity, size, info ---- */

#ifdef SAGO_MPI_MPICH
enum { NULL_TYPE = MPI_ERR_ARG, LIBRARY_TELLS = true }; /* its own words for mistakes say more than the classes */
#else
enum { NULL_TYPE = MPI_ERR_TYPE, LIBRARY_TELLS = false }; /* its own words say no more, or nothing */
#endif

typedef struct view {
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    const char *datarep;
} view;

static bool is_one_of(const char *word, const char *const *list) {
    while (*list && strcasecmp(word, *list) != 0)
        list++;
    return *list != NULL;
}

static bool is_native(const view *wanted) {
    static const char *const names[] = {"native", "internal", NULL};
    return is_one_of(wanted->datarep, names);
}

/* Mistakes that the MPI libraries may find on one rank before it waits for the other ranks, which would wait for
 * ever. */
static int mistake_in(const view *wanted) {
    static const char *const names[] = {"native", "internal", "external32", NULL};
    if (wanted->disp < 0)
        return MPI_ERR_ARG;
    if (wanted->etype == MPI_DATATYPE_NULL || wanted->filetype == MPI_DATATYPE_NULL)
        return NULL_TYPE;
    return wanted->datarep && is_one_of(wanted->datarep, names) ? MPI_SUCCESS : MPI_ERR_UNSUPPORTED_DATAREP;
}

/* All ranks learn the worst of their views.  SAGO_ERR_ARG: a mistake; SAGO_OK: Sago serves the view, which is now
 * in force; anything else: it does not. */
static sago_status view_agree(dropin_file *file, const view *wanted) {
    if (mistake_in(wanted))
        return sago_set_view(file->sago, -1, MPI_BYTE, MPI_BYTE);
    if (!is_native(wanted))
        return sago_set_view(file->sago, 0, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL);
    return dropin_by_romio()
               ? sago_set_view_beside_romio(file->sago, wanted->disp, wanted->etype, wanted->filetype)
               : sago_set_view(file->sago, wanted->disp, wanted->etype, wanted->filetype);
}

static void view_note(dropin_file *file, const view *wanted, dropin_reason unseen) {
    file->unseen = unseen;
    if (unseen)
        return;
    (void)DROPIN_DONE(MPI_Type_size_x(wanted->etype, &file->etype_size));
}

/* Sets the view in the MPI library.  ROMIO takes types apart level by level, so it gets a list of runs if reading
 * the type would take it longer than everything that Sago does with it.  `served`: Sago has read the type. */
static int view_set(const dropin_calls *next, dropin_file *file, const view *wanted, MPI_Info info, bool served) {
    MPI_Datatype runs = MPI_DATATYPE_NULL, own = MPI_DATATYPE_NULL;
    if (served && dropin_by_romio())
        (void)sago_view_run_list(file->sago, wanted->filetype, &runs);
    if (runs != MPI_DATATYPE_NULL && !DROPIN_DONE(MPI_Type_contiguous(1, wanted->filetype, &own)))
        (void)DROPIN_DONE(MPI_Type_free(&runs));
    bool listed = runs != MPI_DATATYPE_NULL;
    int code = next->set_view(file->handle, wanted->disp, wanted->etype, listed ? runs : wanted->filetype,
                              wanted->datarep, info);
    if (listed)
        (void)DROPIN_DONE(MPI_Type_free(&runs));
    MPI_Datatype *over = code ? &own : &file->filetype; /* the view stays as it was, or not */
    if (*over != MPI_DATATYPE_NULL)
        (void)DROPIN_DONE(MPI_Type_free(over));
    if (!code)
        file->filetype = own;
    return code;
}

int dropin_set_view(const dropin_calls *next, MPI_File handle, MPI_Offset disp, MPI_Datatype etype,
                    MPI_Datatype filetype, const char *datarep, MPI_Info info) {
    dropin_file *file = dropin_files_find_taken(handle);
    const view wanted = {disp, etype, filetype, datarep};
    if (!file || !file->sago)
        return next->set_view(handle, disp, etype, filetype, datarep, info);
    sago_status status = view_agree(file, &wanted);
    int mistake = mistake_in(&wanted);
    /* Which it reports on all ranks, or on none. */
    if (LIBRARY_TELLS && mistake && mistake != MPI_ERR_UNSUPPORTED_DATAREP)
        return next->set_view(handle, disp, etype, filetype, datarep, info);
    if (status == SAGO_ERR_ARG) /* here or on another rank: the view stays as it was */
        return dropin_raise_code(handle, mistake ? mistake : MPI_ERR_ARG);
    int flushed = status ? dropin_flush(file) : MPI_SUCCESS;
    int code = view_set(next, file, &wanted, info, status == SAGO_OK);
    if (!code)
        dropin_pointer_reset(file);
    view_note(file, &wanted,
              !is_native(&wanted) ? DROPIN_REPRESENTATION
              : status || code    ? DROPIN_VIEW
                                  : DROPIN_SERVED);
    return code ? code : flushed;
}

/* The program's own filetype, in the form that the MPI library would give. */
int dropin_get_view(const dropin_calls *next, MPI_File handle, MPI_Offset *disp, MPI_Datatype *etype,
                    MPI_Datatype *filetype, char *datarep) {
    dropin_file *file = dropin_files_find(handle);
    int code = next->get_view(handle, disp, etype, filetype, datarep);
    MPI_Datatype own;
    if (code || !file || file->filetype == MPI_DATATYPE_NULL ||
        !DROPIN_DONE(MPI_Type_contiguous(1, file->filetype, &own)))
        return code;
    (void)DROPIN_DONE(MPI_Type_commit(&own));
    (void)DROPIN_DONE(MPI_Type_free(filetype));
    *filetype = own;
    return code;
}

int dropin_get_position(const dropin_calls *next, MPI_File handle, MPI_Offset *offset) {
    dropin_file *file = dropin_files_find(handle);
    return file && file->sago && offset ? dropin_pointer_get(file, offset) : next->get_position(handle, offset);
}

/* Where a seek leads, unless only the MPI library can tell: from the end of the file, or an error. */
static bool target_of(dropin_file *file, MPI_Offset offset, int whence, MPI_Offset *target) {
    MPI_Offset from = 0;
    if (!file || !file->sago || (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR))
        return false;
    if (whence == MPI_SEEK_CUR && dropin_pointer_get(file, &from))
        return false;
    return !__builtin_add_overflow(from, offset, target) && *target >= 0;
}

int dropin_seek(const dropin_calls *next, MPI_File handle, MPI_Offset offset, int whence) {
    dropin_file *file = dropin_files_find(handle);
    MPI_Offset target;
    if (target_of(file, offset, whence, &target)) {
        dropin_pointer_set(file, target);
        return MPI_SUCCESS;
    }
    int code = whence == MPI_SEEK_END ? dropin_flush_own(file) : MPI_SUCCESS;
    dropin_pointer_leave(file);
    return code ? code : next->seek(handle, offset, whence);
}

int dropin_seek_shared(const dropin_calls *next, MPI_File handle, MPI_Offset offset, int whence) {
    int code = whence == MPI_SEEK_END ? dropin_flush(dropin_files_find(handle)) : MPI_SUCCESS;
    return code ? code : next->seek_shared(handle, offset, whence);
}

int dropin_set_atomicity(const dropin_calls *next, MPI_File handle, int flag) {
    dropin_file *file = dropin_files_find_taken(handle);
    int flushed = dropin_flush(file), code = flushed ? flushed : next->set_atomicity(handle, flag);
    if (code == MPI_SUCCESS && file)
        dropin_atomic_switch(file, flag);
    return code;
}

/* Sago sets the size, since it may have the file mapped and must see it shrink. */
int dropin_set_size(const dropin_calls *next, MPI_File handle, MPI_Offset size) {
    dropin_file *file = dropin_files_find_taken(handle);
    if (!file || !file->sago || (file->amode & MPI_MODE_RDONLY))
        return next->set_size(handle, size);
    return dropin_raise(handle, sago_set_size(file->sago, size));
}

int dropin_get_size(const dropin_calls *next, MPI_File handle, MPI_Offset *size) {
    int code = dropin_flush_own(dropin_files_find(handle));
    return code ? code : next->get_size(handle, size);
}

/* Sago preallocates, too: the MPI libraries' own functions read and write the file through the present view, or
 * fail on some ranks. */
int dropin_preallocate(const dropin_calls *next, MPI_File handle, MPI_Offset size) {
    dropin_file *file = dropin_files_find_taken(handle);
    if (!file || !file->sago || (file->amode & MPI_MODE_RDONLY))
        return next->preallocate(handle, size);
    sago_status status = sago_preallocate(file->sago, size);
    return status == SAGO_ERR_UNSUPPORTED ? next->preallocate(handle, size) : dropin_raise(handle, status);
}

int dropin_sync(const dropin_calls *next, MPI_File handle) {
    double began = dropin_clock();
    dropin_file *file = dropin_files_find(handle);
    int code = dropin_flush(file);
    if (!code)
        code = dropin_count_around(SAGO_REPORT_SYNC, began, next->sync(handle));
    if (!code && file && file->sago)
        (void)sago_synced_elsewhere(file->sago); /* it fails only for handles of no file */
    return code;
}

int dropin_get_info(const dropin_calls *next, MPI_File handle, MPI_Info *info) {
    dropin_file *file = dropin_files_find_taken(handle);
    int code = next->get_info(handle, info);
    if (code == MPI_SUCCESS && file && file->sago)
        (void)sago_get_hints(file->sago, *info); /* without it the answer is the MPI library's */
    return code;
}
