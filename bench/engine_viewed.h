/* Access by views: one collective call after another, for any library whose files have views. */
#ifndef BENCH_ENGINE_VIEWED_H
#define BENCH_ENGINE_VIEWED_H

#include "bench/engines.h"

/* The functions of a library that are needed here.  A file is whatever `open` makes. */
typedef struct bench_file_api {
    bool (*open)(bench_engine *engine, void **file, char *why);
    void (*close)(void *file);
    bool (*view)(void *file, int64_t disp, const bench_mpi_call *call, char *why);
    /* `offset` is in etypes of the view; `count` elements of call->memory have `bytes` bytes to move. */
    bool (*move)(void *file, bool write, int64_t offset, char *buffer, const bench_mpi_call *call, char *why);
    /* Does the same by a nonblocking call, and waits for it. */
    bool (*start)(void *file, bool write, int64_t offset, char *buffer, const bench_mpi_call *call, char *why);
    bool (*sync)(void *file, char *why);
} bench_file_api;

/* Kept in engine->state. */
typedef struct bench_viewed {
    const bench_file_api *api;
    /* One file for each view, and one for all calls that go by offset alone; or one file for all calls. */
    void **files;
    int64_t nfiles;
    int64_t *file_of; /* index of each call's file */
} bench_viewed;

bool bench_viewed_open(bench_engine *engine, const bench_file_api *api, char *why);
void bench_viewed_close(bench_engine *engine);
bool bench_viewed_transfer(bench_engine *engine, bool write, char *why);
bool bench_viewed_empty(bench_engine *engine, char *why);

#endif
