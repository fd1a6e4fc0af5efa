/* GIO (wkliao/gio), a peer that is no MPI-IO: files without views, calls with lists of offsets and lengths for the
 * file and for memory.  The lists are made when the file is opened, as views are for the others.  Built only if a
 * GIO was given at configure time; this repository has none of its code. */
#include <errno.h>
#include <fcntl.h>
#include <gio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/engines.h"

typedef struct gio_list {
    int64_t count, bytes;
    MPI_Offset *offsets, *lengths; /* owned */
} gio_list;

typedef struct gio_state {
    GIO_File file;
    gio_list *places;  /* of each step's calls, in the file */
    gio_list *sources; /* of each call, in the buffer */
} gio_state;

/* ---- Lists ---- */

static bool list_make(gio_list *list, const bench_region *region, int64_t start, char *why) {
    size_t room = (size_t)bench_region_runs(region) + 1;
    bench_cursor cursor = bench_cursor_at(region);
    bench_run run;
    list->offsets = calloc(room, sizeof *list->offsets);
    list->lengths = calloc(room, sizeof *list->lengths);
    if (!list->offsets || !list->lengths)
        return bench_refuse(why, "out of memory: use smaller sizes");
    while (bench_cursor_next(&cursor, &run)) {
        list->offsets[list->count] = start + run.offset;
        list->lengths[list->count++] = run.length;
        list->bytes += run.length;
    }
    return true;
}

static void lists_free(gio_list *lists, int64_t count) {
    for (int64_t i = 0; lists && i < count; i++) {
        free(lists[i].offsets);
        free(lists[i].lengths);
    }
    free(lists);
}

static bool make_lists(gio_state *state, const bench_access *access, char *why) {
    state->places = calloc((size_t)(access->ncalls * access->steps) + 1, sizeof *state->places);
    state->sources = calloc((size_t)access->ncalls + 1, sizeof *state->sources);
    bool ok = (state->places && state->sources) || bench_refuse(why, "out of memory");
    for (int64_t i = 0; ok && i < access->ncalls; i++)
        ok = list_make(&state->sources[i], &access->calls[i].memory, 0, why);
    for (int64_t i = 0; ok && i < access->ncalls * access->steps; i++) {
        const bench_call *call = &access->calls[i % access->ncalls];
        int64_t step = i / access->ncalls;
        ok = list_make(&state->places[i], &call->file, call->disp + step * access->step_bytes, why);
    }
    return ok;
}

/* ---- The engine ---- */

/* GIO 1.0 crashes if it cannot open a file, so this is tried before. */
static bool can_open(const bench_engine *engine, char *why) {
    int fd = open(engine->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return bench_refuse(why, "%s: %s", engine->path, strerror(errno));
    close(fd);
    return true;
}

static bool gio_engine_open(bench_engine *engine, char *why) {
    gio_state *state = calloc(1, sizeof *state);
    engine->state = state;
    bool ok = state || bench_refuse(why, "out of memory");
    if (ok && engine->nonblocking)
        ok = bench_refuse(why, "GIO has no nonblocking calls");
    ok = ok && make_lists(state, engine->access, why) && can_open(engine, why);
    if (!bench_agree(engine->world, ok, why))
        return false;
    int code = GIO_open(engine->world->comm, engine->path, O_RDWR | O_CREAT, engine->hints, &state->file);
    return code == GIO_NOERR || bench_refuse(why, "GIO_open: %s", GIO_strerror(code));
}

static void gio_engine_close(bench_engine *engine) {
    gio_state *state = engine->state;
    if (!state)
        return;
    if (state->file != GIO_FILE_NULL)
        (void)GIO_close(&state->file);
    lists_free(state->places, engine->access->ncalls * engine->access->steps);
    lists_free(state->sources, engine->access->ncalls);
    free(state);
    engine->state = NULL;
}

static bool move(GIO_File file, bool write, char *buffer, const gio_list *place, const gio_list *source,
                 char *why) {
    const char *name = write ? "GIO_write_all" : "GIO_read_all";
    MPI_Offset moved = (write ? GIO_write_all(file, buffer, place->count, place->offsets, place->lengths,
                                              source->count, source->offsets, source->lengths)
                              : GIO_read_all(file, buffer, place->count, place->offsets, place->lengths,
                                             source->count, source->offsets, source->lengths));
    if (moved < 0)
        return bench_refuse(why, "%s: %s", name, GIO_strerror((int)moved));
    return moved == place->bytes ||
           bench_refuse(why, "%s moved %lld of %lld bytes", name, (long long)moved, (long long)place->bytes);
}

static bool gio_engine_transfer(bench_engine *engine, bool write, char *why) {
    gio_state *state = engine->state;
    const bench_access *access = engine->access;
    for (int64_t step = 0; step < access->steps; step++)
        for (int64_t i = 0; i < access->ncalls; i++) {
            char *buffer = engine->buffer + step * access->memory + access->calls[i].at;
            if (!move(state->file, write, buffer, &state->places[step * access->ncalls + i], &state->sources[i],
                      why))
                return false;
        }
    bool synced = engine->one_file || access->synced;
    int code = synced && write ? GIO_sync(state->file) : GIO_NOERR;
    return code == GIO_NOERR || bench_refuse(why, "GIO_sync: %s", GIO_strerror(code));
}

static bool gio_engine_empty(bench_engine *engine, char *why) {
    gio_state *state = engine->state;
    gio_list nothing = {0};
    return move(state->file, true, engine->buffer, &nothing, &nothing, why);
}

const bench_engine_ops bench_engine_gio = {
    .name = "gio",
    .open = gio_engine_open,
    .close = gio_engine_close,
    .transfer = gio_engine_transfer,
    .empty = gio_engine_empty,
};
