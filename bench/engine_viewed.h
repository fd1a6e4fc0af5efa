/* Access by views: one collective call after another, for any library that has files with views. */
#ifndef BENCH_ENGINE_VIEWED_H
#define BENCH_ENGINE_VIEWED_H

#include "bench/engines.h"

/* A library, reduced to what is needed here.  A file is whatever `open` makes it. */
typedef struct bench_file_api {
    bool (*open)(bench_engine *engine, void **file, char *why);
    void (*close)(void *file);
    bool (*view)(void *file, int64_t disp, const bench_mpi_call *call, char *why);
    /* `offset` in etypes of the view; `count` of call->memory, of which `bytes` bytes are to move. */
    bool (*move)(void *file, bool write, int64_t offset, char *buffer, const bench_mpi_call *call, char *why);
    /* The same by a nonblocking call, which is waited for. */
    bool (*start)(void *file, bool write, int64_t offset, char *buffer, const bench_mpi_call *call, char *why);
    bool (*sync)(void *file, char *why);
} bench_file_api;

/* Lives in engine->state. */
typedef struct bench_viewed {
    const bench_file_api *api;
    void **files; /* one for each view, and one for all calls that go by offset alone; or one for all */
    int64_t nfiles;
    int64_t *file_of; /* call -> index of its file */
} bench_viewed;

bool bench_viewed_open(bench_engine *engine, const bench_file_api *api, char *why);
void bench_viewed_close(bench_engine *engine);
bool bench_viewed_transfer(bench_engine *engine, bool write, char *why);
bool bench_viewed_empty(bench_engine *engine, char *why);

#endif
