/* MPI-IO by the names that programs use (mpiio), which a preloaded drop-in may serve, and by the MPI library's own
 * functions (plain), past whatever was preloaded.  So both run in one process, in turn. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engine_viewed.h"

typedef struct mpiio_calls {
    int (*open)(MPI_Comm, const char *, int, MPI_Info, MPI_File *);
    int (*close)(MPI_File *);
    int (*set_view)(MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype, const char *, MPI_Info);
    int (*write_at_all)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);
    int (*read_at_all)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *);
    int (*iwrite_at_all)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Request *);
    int (*iread_at_all)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Request *);
    int (*sync)(MPI_File);
} mpiio_calls;

typedef struct mpiio_file {
    MPI_File handle;
    mpiio_calls calls;
} mpiio_file;

static const mpiio_calls named = {MPI_File_open,         MPI_File_close,       MPI_File_set_view,
                                  MPI_File_write_at_all, MPI_File_read_at_all, MPI_File_iwrite_at_all,
                                  MPI_File_iread_at_all, MPI_File_sync};

/* Finds functions in the library that has MPI_Get_version, before which no drop-in stands. */
static bool find_plain(mpiio_calls *calls, char *why) {
    static const char *const names[] = {
        "PMPI_File_open",        "PMPI_File_close",         "PMPI_File_set_view",     "PMPI_File_write_at_all",
        "PMPI_File_read_at_all", "PMPI_File_iwrite_at_all", "PMPI_File_iread_at_all", "PMPI_File_sync"};
    void *found[sizeof names / sizeof names[0]];
    Dl_info where;
    void *known = dlsym(RTLD_DEFAULT, "PMPI_Get_version");
    void *library =
        known && dladdr(known, &where) ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_LOCAL) : NULL;
    bool all = library;
    for (size_t i = 0; all && i < sizeof names / sizeof names[0]; i++) {
        found[i] = dlsym(library, names[i]);
        all = found[i];
    }
    if (library)
        (void)dlclose(library); /* the library was loaded before, and stays loaded */
    if (!all)
        return bench_refuse(why, "the MPI library's own functions cannot be found");
    /* In the form that dlsym() wants: functions and data have pointers of one size. */
    memcpy(calls, found, sizeof found);
    return true;
}

static bool mpi_error(int code, const char *call, char *why) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    return bench_refuse(why, "%s: %s", call, text);
}

/* ROMIO lists its own hints in the file's info; Open MPI's OMPIO does not. */
static void find_implementation(bench_engine *engine, MPI_File file) {
    MPI_Info info;
    int keys = 0;
    bool romio = false;
    MPI_File_get_info(file, &info);
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        MPI_Info_get_nthkey(info, i, key);
        romio = romio || strncmp(key, "romio_", 6) == 0;
    }
    MPI_Info_free(&info);
    bool open_mpi = strncmp(engine->world->mpi, "Open MPI", 8) == 0;
    snprintf(engine->implementation, sizeof engine->implementation, "%s",
             romio      ? "ROMIO"
             : open_mpi ? "OMPIO"
                        : "unknown");
}

static bool file_open(bench_engine *engine, const mpiio_calls *calls, void **out, char *why) {
    mpiio_file *file = malloc(sizeof *file);
    if (!file)
        return bench_refuse(why, "out of memory");
    file->calls = *calls;
    int code = file->calls.open(engine->world->comm, engine->path, MPI_MODE_RDWR | MPI_MODE_CREATE, engine->hints,
                                &file->handle);
    if (code != MPI_SUCCESS) {
        free(file);
        return mpi_error(code, "MPI_File_open", why);
    }
    find_implementation(engine, file->handle);
    *out = file;
    return true;
}

static bool mpiio_file_open(bench_engine *engine, void **out, char *why) {
    return file_open(engine, &named, out, why);
}

static bool plain_file_open(bench_engine *engine, void **out, char *why) {
    mpiio_calls calls;
    return find_plain(&calls, why) && file_open(engine, &calls, out, why);
}

static void mpiio_file_close(void *opaque) {
    mpiio_file *file = opaque;
    (void)file->calls.close(&file->handle);
    free(file);
}

static bool mpiio_file_view(void *opaque, int64_t disp, const bench_mpi_call *call, char *why) {
    mpiio_file *file = opaque;
    int code = file->calls.set_view(file->handle, disp, call->etype, call->filetype, "native", MPI_INFO_NULL);
    return code == MPI_SUCCESS || mpi_error(code, "MPI_File_set_view", why);
}

static bool mpiio_file_move(void *opaque, bool write, int64_t offset, char *buffer, const bench_mpi_call *call,
                            char *why) {
    mpiio_file *file = opaque;
    MPI_Status status;
    int code = write ? file->calls.write_at_all(file->handle, offset, buffer, call->count, call->memory, &status)
                     : file->calls.read_at_all(file->handle, offset, buffer, call->count, call->memory, &status);
    return code == MPI_SUCCESS || mpi_error(code, write ? "MPI_File_write_at_all" : "MPI_File_read_at_all", why);
}

static bool mpiio_file_start(void *opaque, bool write, int64_t offset, char *buffer, const bench_mpi_call *call,
                             char *why) {
    mpiio_file *file = opaque;
    MPI_Request request;
    MPI_Status status;
    int code = write ? file->calls.iwrite_at_all(file->handle, offset, buffer, call->count, call->memory, &request)
                     : file->calls.iread_at_all(file->handle, offset, buffer, call->count, call->memory, &request);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, &status);
    return code == MPI_SUCCESS || mpi_error(code, write ? "MPI_File_iwrite_at_all" : "MPI_File_iread_at_all", why);
}

static bool mpiio_file_sync(void *opaque, char *why) {
    mpiio_file *file = opaque;
    int code = file->calls.sync(file->handle);
    return code == MPI_SUCCESS || mpi_error(code, "MPI_File_sync", why);
}

static const bench_file_api mpiio_api = {mpiio_file_open, mpiio_file_close, mpiio_file_view,
                                         mpiio_file_move, mpiio_file_start, mpiio_file_sync};
static const bench_file_api plain_api = {plain_file_open, mpiio_file_close, mpiio_file_view,
                                         mpiio_file_move, mpiio_file_start, mpiio_file_sync};

static bool mpiio_open(bench_engine *engine, char *why) { return bench_viewed_open(engine, &mpiio_api, why); }
static bool plain_open(bench_engine *engine, char *why) { return bench_viewed_open(engine, &plain_api, why); }

const bench_engine_ops bench_engine_mpiio = {
    .name = "mpiio",
    .open = mpiio_open,
    .close = bench_viewed_close,
    .transfer = bench_viewed_transfer,
    .empty = bench_viewed_empty,
};

const bench_engine_ops bench_engine_plain = {
    .name = "plain",
    .open = plain_open,
    .close = bench_viewed_close,
    .transfer = bench_viewed_transfer,
    .empty = bench_viewed_empty,
};
