/* One run of `sago bench`: what is set up once, and how one engine moves the pattern once. */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "bench/bench.h"
#include "bench/content.h"

typedef struct bench_session {
    const bench_config *config;
    bench_world world;
    bench_access access, limit_access, nobody; /* the accesses of this rank, and of nobody (the holes) */
    bench_mpi_call *calls;
    MPI_Info hints;
    char *buffer; /* large enough for either access */
    char *block;  /* memory for checking files */
    int64_t bytes, runs, size;
    int64_t iteration;
    bool unverified;   /* contents are not compared any more, and are whatever the buffers hold */
    int64_t wire_idle; /* bytes that a timing sends by itself */
    bench_engine engines[BENCH_ENGINES];
    bool opened[BENCH_ENGINES];
    double open_seconds;           /* time of opening the last file, on the slowest rank */
    bench_key keys[BENCH_ENGINES]; /* content that each file holds */
    char why[BENCH_MESSAGE_MAX];   /* the first failure, equal on all ranks */
} bench_session;

/* Figures of one transfer. */
typedef struct bench_timing {
    double seconds;
    int64_t wire; /* bytes sent by all nodes */
} bench_timing;

/* All functions are collective, and true on all ranks or on none; then session->why says why. */

/* false: the sizes or options do not fit. */
bool bench_session_init(bench_session *session, const bench_config *config);
void bench_session_cleanup(bench_session *session); /* removes the files, unless they are to stay */

/* Makes the engine's file as it is before a run: of full size, every byte the holes' content. */
bool bench_session_prefill(bench_session *session, int engine);
/* `fresh`: the file is removed first. */
bool bench_session_open(bench_session *session, int engine, bool fresh);
void bench_session_close(bench_session *session, int engine);

/* One transfer, with new content if it writes.  The whole file, or the buffers, are verified, unless
 * session->unverified.  `fresh`: holes hold zeros. */
bool bench_session_transfer(bench_session *session, int engine, bool write, bool fresh, bench_timing *timing);

#endif
