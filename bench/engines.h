/* Engines: ways to move one access between a rank's buffer and a file.
 *
 *   sago    the library; by views, or declared
 *   mpiio   the running MPI library's own MPI_File_*, or the drop-in's where that is preloaded
 *   plain   the MPI library's own, whatever is preloaded
 *   gio     GIO (wkliao/gio), where it was given at configure time
 *   limit   the same number of bytes already in order, by large pwrite and pread of one process a core
 *   shuffle as limit, but the bytes first change nodes, by one large message from each process to each node */
#ifndef BENCH_ENGINES_H
#define BENCH_ENGINES_H

#include <sago/sago.h>

#include "bench/region_mpi.h"
#include "bench/world.h"

typedef struct bench_engine bench_engine;

typedef struct bench_engine_ops {
    const char *name;
    /* Collective; does everything that is not to be timed.  false: `why` is set on the ranks that failed.  NULL:
     * this engine is not built in. */
    bool (*open)(bench_engine *engine, char *why);
    void (*close)(bench_engine *engine);
    /* Collective and timed: one repetition. */
    bool (*transfer)(bench_engine *engine, bool write, char *why);
    /* Collective: a call that moves nothing; NULL: there is none. */
    bool (*empty)(bench_engine *engine, char *why);
    /* Collective: brings to the file what a write has left elsewhere; NULL: nothing is. */
    bool (*flush)(bench_engine *engine, char *why);
    /* Statistics of this rank since open; NULL: none. */
    bool (*stats)(bench_engine *engine, sago_stats *stats);
} bench_engine_ops;

extern const bench_engine_ops bench_engine_sago, bench_engine_mpiio, bench_engine_limit, bench_engine_plain,
    bench_engine_gio, bench_engine_shuffle;

enum { BENCH_PATH_MAX = 1024 };

struct bench_engine {
    const bench_engine_ops *ops;
    const bench_world *world;    /* not owned, as are all of these */
    const bench_access *access;  /* bytes that this rank moves */
    const bench_mpi_call *calls; /* the access for MPI; NULL for limit and shuffle */
    char *buffer;                /* memory of the access */
    MPI_Info hints;
    bool declared;    /* the engine sago declares the variables */
    bool nonblocking; /* calls on files with views */
    bool one_file;    /* the view is set before each call */
    int64_t size;     /* bytes of the file */
    char path[BENCH_PATH_MAX];
    char implementation[16]; /* ROMIO or OMPIO, which the engine mpiio knows after open */
    void *state;             /* belongs to the engine while it is open */
};

/* For limit and shuffle: which part of `bytes` this rank writes; collective. */
bool bench_limit_access(const bench_world *world, int64_t bytes, bench_access *access, char *why);

#endif
