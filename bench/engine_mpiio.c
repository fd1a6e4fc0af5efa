/* The MPI library's own MPI-IO. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engine_viewed.h"

static bool mpi_error(int code, const char *call, char *why) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    return bench_refuse(why, "%s: %s", call, text);
}

/* ROMIO names its own hints in the file's info; Open MPI's OMPIO does not. */
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

static bool mpiio_file_open(bench_engine *engine, void **out, char *why) {
    MPI_File *file = malloc(sizeof(MPI_File));
    if (!file)
        return bench_refuse(why, "out of memory");
    int code =
        MPI_File_open(engine->world->comm, engine->path, MPI_MODE_RDWR | MPI_MODE_CREATE, engine->hints, file);
    if (code != MPI_SUCCESS) {
        free(file);
        return mpi_error(code, "MPI_File_open", why);
    }
    find_implementation(engine, *file);
    *out = file;
    return true;
}

static void mpiio_file_close(void *file) {
    MPI_File_close(file);
    free(file);
}

static bool mpiio_file_view(void *file, int64_t disp, const bench_mpi_call *call, char *why) {
    int code = MPI_File_set_view(*(MPI_File *)file, disp, call->etype, call->filetype, "native", MPI_INFO_NULL);
    return code == MPI_SUCCESS || mpi_error(code, "MPI_File_set_view", why);
}

static bool mpiio_file_move(void *file, bool write, int64_t offset, char *buffer, const bench_mpi_call *call,
                            char *why) {
    MPI_File handle = *(MPI_File *)file;
    MPI_Status status;
    int code = write ? MPI_File_write_at_all(handle, offset, buffer, call->count, call->memory, &status)
                     : MPI_File_read_at_all(handle, offset, buffer, call->count, call->memory, &status);
    return code == MPI_SUCCESS || mpi_error(code, write ? "MPI_File_write_at_all" : "MPI_File_read_at_all", why);
}

static const bench_file_api mpiio_api = {mpiio_file_open, mpiio_file_close, mpiio_file_view, mpiio_file_move};

static bool mpiio_open(bench_engine *engine, char *why) { return bench_viewed_open(engine, &mpiio_api, why); }

const bench_engine_ops bench_engine_mpiio = {
    .name = "mpiio",
    .open = mpiio_open,
    .close = bench_viewed_close,
    .transfer = bench_viewed_transfer,
    .empty = bench_viewed_empty,
};
