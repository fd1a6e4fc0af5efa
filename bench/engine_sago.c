/* Sago through its public interface: by views, or declared. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/engine_viewed.h"

/* The message begins with the name of the call. */
static bool sago_error(sago_status status, char *why) {
    return status == SAGO_OK || bench_refuse(why, "%s: %s", sago_status_string(status), sago_error_message());
}

static bool short_count(const char *call, MPI_Count moved, int64_t asked, char *why) {
    return moved == asked ||
           bench_refuse(why, "%s moved %lld of %lld bytes", call, (long long)moved, (long long)asked);
}

/* Plain reads compare every byte and know nothing of subfiles, so such a file is removed. */
static bool is_plain(const bench_engine *engine, sago_file **file, char *why) {
    struct stat is;
    if (stat(engine->path, &is) != 0 || !S_ISDIR(is.st_mode))
        return true;
    (void)sago_close(file);
    MPI_Barrier(engine->world->comm);
    if (engine->world->rank == 0)
        (void)sago_delete(engine->path, MPI_INFO_NULL);
    return bench_refuse(why, "sago_subfiles: what is measured must be one plain file");
}

static bool open_plain(bench_engine *engine, sago_file **file, char *why) {
    sago_status status =
        sago_open(engine->world->comm, engine->path, MPI_MODE_RDWR | MPI_MODE_CREATE, engine->hints, file);
    return sago_error(status, why) && is_plain(engine, file, why);
}

/* ---- By views ---- */

static bool sago_file_open(bench_engine *engine, void **out, char *why) {
    sago_file *file = NULL;
    bool ok = open_plain(engine, &file, why);
    *out = file;
    return ok;
}

static void sago_file_close(void *file) {
    sago_file *closing = file;
    (void)sago_close(&closing);
}

static bool sago_file_view(void *file, int64_t disp, const bench_mpi_call *call, char *why) {
    return sago_error(sago_set_view(file, disp, call->etype, call->filetype), why);
}

static bool sago_file_move(void *file, bool write, int64_t offset, char *buffer, const bench_mpi_call *call,
                           char *why) {
    const char *name = write ? "sago_write_at_all" : "sago_read_at_all";
    MPI_Count moved = 0;
    sago_status status = write ? sago_write_at_all(file, offset, buffer, call->count, call->memory, &moved)
                               : sago_read_at_all(file, offset, buffer, call->count, call->memory, &moved);
    return sago_error(status, why) && short_count(name, moved, call->bytes, why);
}

static bool sago_file_start(void *file, bool write, int64_t offset, char *buffer, const bench_mpi_call *call,
                            char *why) {
    const char *name = write ? "sago_iwrite_at_all" : "sago_iread_at_all";
    MPI_Count moved = 0;
    sago_request *request = NULL;
    sago_status status = write ? sago_iwrite_at_all(file, offset, buffer, call->count, call->memory, &request)
                               : sago_iread_at_all(file, offset, buffer, call->count, call->memory, &request);
    if (!status)
        status = sago_wait(&request, &moved);
    return sago_error(status, why) && short_count(name, moved, call->bytes, why);
}

static bool sago_file_sync(void *file, char *why) { return sago_error(sago_sync(file), why); }

static const bench_file_api sago_api = {sago_file_open, sago_file_close, sago_file_view,
                                        sago_file_move, sago_file_start, sago_file_sync};

/* ---- Declared ---- */

typedef struct declared {
    sago_file *file;
    sago_series *series;
    int64_t disp; /* the step of the series */
} declared;

static bool declare(bench_engine *engine, declared *d, char *why) {
    const bench_access *access = engine->access;
    sago_var *vars = calloc((size_t)access->ncalls + 1, sizeof *vars);
    if (!vars)
        return bench_refuse(why, "out of memory");
    for (int64_t i = 0; i < access->ncalls; i++) {
        sago_var var = SAGO_VAR_INIT;
        var.offset = access->calls[i].disp;
        var.count = engine->calls[i].count;
        var.type = engine->calls[i].memory;
        var.filetype = engine->calls[i].filetype;
        vars[i] = var;
    }
    sago_status status = sago_declare(d->file, access->ncalls, vars, &d->series);
    free(vars);
    return sago_error(status, why);
}

static bool declared_open(bench_engine *engine, char *why) {
    declared *d = calloc(1, sizeof *d);
    engine->state = d;
    if (!d)
        return bench_refuse(why, "out of memory");
    void *file;
    bool ok = sago_file_open(engine, &file, why);
    d->file = file;
    return ok && declare(engine, d, why);
}

static void declared_close(bench_engine *engine) {
    declared *d = engine->state;
    if (d && d->series)
        (void)sago_series_free(&d->series);
    if (d && d->file)
        (void)sago_close(&d->file);
    free(d);
    engine->state = NULL;
}

static bool declared_step(bench_engine *engine, int64_t step, bool write, char *why) {
    declared *d = engine->state;
    const bench_access *access = engine->access;
    sago_status status = SAGO_OK;
    if (d->disp != step * access->step_bytes) {
        d->disp = step * access->step_bytes;
        status = sago_series_next(d->series, d->disp);
    }
    for (int64_t i = 0; status == SAGO_OK && i < access->ncalls; i++) {
        char *buffer = engine->buffer + step * access->memory + access->calls[i].at;
        status = write ? sago_series_write(d->series, i, buffer) : sago_series_read(d->series, i, buffer);
    }
    if (status == SAGO_OK)
        status = sago_series_complete(d->series);
    return sago_error(status, why);
}

static bool declared_transfer(bench_engine *engine, bool write, char *why) {
    declared *d = engine->state;
    int64_t asked = 0;
    MPI_Count moved = 0;
    for (int64_t step = 0; step < engine->access->steps; step++)
        if (!declared_step(engine, step, write, why))
            return false;
    for (int64_t i = 0; i < engine->access->ncalls; i++)
        asked += engine->calls[i].bytes;
    return sago_error(sago_series_bytes(d->series, &moved), why) &&
           short_count("sago_series_complete", moved, asked, why);
}

/* ---- Either ---- */

static bool engine_open(bench_engine *engine, char *why) {
    return engine->declared ? declared_open(engine, why) : bench_viewed_open(engine, &sago_api, why);
}

static void engine_close(bench_engine *engine) {
    if (engine->declared)
        declared_close(engine);
    else
        bench_viewed_close(engine);
}

static bool engine_transfer(bench_engine *engine, bool write, char *why) {
    return engine->declared ? declared_transfer(engine, write, why) : bench_viewed_transfer(engine, write, why);
}

static bool engine_empty(bench_engine *engine, char *why) {
    if (!engine->declared)
        return bench_viewed_empty(engine, why);
    declared *d = engine->state;
    return sago_error(sago_write_at_all(d->file, 0, engine->buffer, 0, MPI_BYTE, NULL), why);
}

static void stats_add(sago_stats *sum, const sago_stats *one) {
    for (int p = 0; p < SAGO_PHASE_COUNT; p++) {
        sum->phase[p].seconds += one->phase[p].seconds;
        sum->phase[p].bytes += one->phase[p].bytes;
        sum->phase[p].runs += one->phase[p].runs;
        sum->phase[p].messages += one->phase[p].messages;
    }
    sum->metadata_bytes += one->metadata_bytes;
    sum->wire_bytes += one->wire_bytes;
    sum->plan_hits += one->plan_hits;
    sum->plan_misses += one->plan_misses;
    sum->direct_calls += one->direct_calls;
    sum->separate_calls += one->separate_calls;
    sum->mapped_calls += one->mapped_calls;
    sum->aggregated_calls += one->aggregated_calls;
    for (int r = 0; r < SAGO_ROUTE_COUNT; r++)
        sum->routes[r] += one->routes[r];
    sum->memory_peak += one->memory_peak;
}

static bool engine_stats(bench_engine *engine, sago_stats *stats) {
    if (engine->declared) {
        declared *d = engine->state;
        *stats = (sago_stats){.size = sizeof *stats};
        return sago_get_stats(d->file, stats) == SAGO_OK;
    }
    bench_viewed *viewed = engine->state;
    for (int64_t i = 0; i < viewed->nfiles; i++) {
        sago_stats one = {.size = sizeof one};
        if (sago_get_stats(viewed->files[i], &one) != SAGO_OK)
            return false;
        if (i == 0)
            *stats = one;
        else
            stats_add(stats, &one);
    }
    return true;
}

/* Calls `visit` for every file of the engine. */
static bool each_file(bench_engine *engine, bool (*visit)(void *file, char *why), char *why) {
    if (engine->declared)
        return visit(((declared *)engine->state)->file, why);
    const bench_viewed *viewed = engine->state;
    for (int64_t i = 0; i < viewed->nfiles; i++)
        if (!visit(viewed->files[i], why))
            return false;
    return true;
}

static bool is_hinted(MPI_Info hints, const char *key, const char *otherwise) {
    char value[64];
    int found = 0;
    (void)MPI_Info_get(hints, key, (int)sizeof value - 1, value, &found);
    return found && strcmp(value, otherwise) != 0;
}

/* Deferred writes, and those to local storage, are in the file after a sync.  Other files are left as they are,
 * since a sync may change how the next calls are served. */
static bool sync_staged(void *file, char *why) {
    MPI_Info hints;
    MPI_Info_create(&hints);
    bool ok = sago_error(sago_get_hints(file, hints), why);
    bool staged = is_hinted(hints, "sago_defer", "off") || is_hinted(hints, "sago_tier", "global");
    MPI_Info_free(&hints);
    return ok && (!staged || sago_file_sync(file, why));
}

static bool engine_flush(bench_engine *engine, char *why) { return each_file(engine, sync_staged, why); }

const bench_engine_ops bench_engine_sago = {
    .name = "sago",
    .open = engine_open,
    .close = engine_close,
    .transfer = engine_transfer,
    .empty = engine_empty,
    .flush = engine_flush,
    .stats = engine_stats,
};
