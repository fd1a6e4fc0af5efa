/* Access by views.  Views are set when the file is opened, and each view has a handle of its own, so that the
 * timed calls are reads and writes only, for all libraries alike.  Or, as in most programs, there is one handle
 * whose view is set before each call, with a sync at the end. */
#include "bench/engine_viewed.h"

#include <stdlib.h>

static bool open_files(bench_engine *engine, bench_viewed *viewed, char *why) {
    const bench_access *access = engine->access;
    if (engine->one_file) { /* of all calls */
        viewed->nfiles = 1;
        return viewed->api->open(engine, &viewed->files[0], why);
    }
    int64_t plain = -1; /* the file for all calls that need no view */
    for (int64_t i = 0; i < access->ncalls; i++) {
        const bench_mpi_call *call = &engine->calls[i];
        bool view = call->filetype != MPI_DATATYPE_NULL;
        if (!view && plain >= 0) {
            viewed->file_of[i] = plain;
            continue;
        }
        void **file = &viewed->files[viewed->nfiles];
        if (!viewed->api->open(engine, file, why))
            return false;
        viewed->file_of[i] = viewed->nfiles++;
        if (!view)
            plain = viewed->file_of[i];
        else if (!viewed->api->view(*file, access->calls[i].disp, call, why))
            return false;
    }
    return true;
}

bool bench_viewed_open(bench_engine *engine, const bench_file_api *api, char *why) {
    int64_t ncalls = engine->access->ncalls;
    bench_viewed *viewed = calloc(1, sizeof *viewed);
    engine->state = viewed;
    if (!viewed)
        return bench_refuse(why, "out of memory");
    viewed->api = api;
    viewed->files = calloc((size_t)ncalls + 1, sizeof *viewed->files);
    viewed->file_of = calloc((size_t)ncalls + 1, sizeof *viewed->file_of);
    if (!viewed->files || !viewed->file_of)
        return bench_refuse(why, "out of memory");
    return open_files(engine, viewed, why);
}

void bench_viewed_close(bench_engine *engine) {
    bench_viewed *viewed = engine->state;
    if (!viewed)
        return;
    for (int64_t i = 0; i < viewed->nfiles; i++)
        viewed->api->close(viewed->files[i]);
    free(viewed->files);
    free(viewed->file_of);
    free(viewed);
    engine->state = NULL;
}

static bool set_view(bench_engine *engine, int64_t number, char *why) {
    const bench_mpi_call bytes = {.etype = MPI_BYTE, .filetype = MPI_BYTE};
    bench_viewed *viewed = engine->state;
    const bench_mpi_call *call = &engine->calls[number];
    bool view = call->filetype != MPI_DATATYPE_NULL;
    return viewed->api->view(viewed->files[0], view ? engine->access->calls[number].disp : 0, view ? call : &bytes,
                             why);
}

static bool make_call(bench_engine *engine, int64_t step, int64_t number, bool write, char *why) {
    bench_viewed *viewed = engine->state;
    const bench_access *access = engine->access;
    const bench_mpi_call *call = &engine->calls[number];
    int64_t offset = call->filetype == MPI_DATATYPE_NULL ? access->calls[number].disp + step * access->step_bytes
                                                         : step * call->etypes;
    char *buffer = engine->buffer + step * access->memory + access->calls[number].at;
    void *file = viewed->files[viewed->file_of[number]];
    if (engine->one_file && !set_view(engine, number, why))
        return false;
    return (engine->nonblocking ? viewed->api->start : viewed->api->move)(file, write, offset, buffer, call, why);
}

bool bench_viewed_transfer(bench_engine *engine, bool write, char *why) {
    bench_viewed *viewed = engine->state;
    for (int64_t step = 0; step < engine->access->steps; step++)
        for (int64_t i = 0; i < engine->access->ncalls; i++)
            if (!make_call(engine, step, i, write, why))
                return false;
    bool synced = engine->one_file || engine->access->synced;
    return !synced || !write || viewed->api->sync(viewed->files[0], why);
}

bool bench_viewed_empty(bench_engine *engine, char *why) {
    bench_viewed *viewed = engine->state;
    bench_mpi_call nothing = {.etype = MPI_BYTE, .filetype = MPI_DATATYPE_NULL, .memory = MPI_BYTE};
    return viewed->api->move(viewed->files[0], true, 0, engine->buffer, &nothing, why);
}
