/* The access patterns: for any rank of any number of ranks, what it writes and reads.  No MPI here.
 *
 * Glossary
 *   access   what one rank does in one repetition: `steps` times its calls, each step `step_bytes` further on
 *            in the file and with the next part of the rank's buffer
 *   call     one variable: one collective call of MPI-IO, one variable of a declaration
 *   nobody   the rank numbered `ranks`: what it "writes" are the holes that must stay untouched
 *
 * Invariants: the calls of all ranks and of nobody tile [0, file size) exactly; a call's file region ascends
 * and has as many bytes as its memory region. */
#ifndef BENCH_PATTERNS_H
#define BENCH_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/region.h"

typedef struct bench_call {
    int64_t disp; /* where the file region begins */
    bench_region file;
    int64_t at; /* where the memory region begins in the step's part of the buffer */
    bench_region memory;
} bench_call;

typedef struct bench_access {
    int64_t ncalls;
    bench_call *calls; /* owned */
    int64_t steps;
    int64_t step_bytes; /* distance of steps in the file */
    int64_t memory;     /* bytes of the buffer for one step, gaps included */
    bool synced;        /* each write has a view, and a repetition of writes ends with a timed sync */
} bench_access;

void bench_access_cleanup(bench_access *access);
/* Totals over all steps. */
int64_t bench_access_bytes(const bench_access *access);
int64_t bench_access_runs(const bench_access *access);
int64_t bench_access_end(const bench_access *access); /* one past the last byte in the file */

/* Sizes; each pattern uses those that its `defaults` have. */
typedef struct bench_params {
    int64_t bytes, block, transfer, segments, blocks;
    int64_t dims[3], grid[3], steps;
    int64_t particles;
    int64_t side, variables, file; /* flash; file: 0 checkpoint, 1 plotfile, 2 corners */
    int64_t c, runs, length;
    int64_t cells, levels;
    int64_t seed;
} bench_params;

enum { BENCH_MESSAGE_MAX = 400 };

typedef struct bench_pattern {
    const char *name;
    const char *help;     /* which rank writes what, in one line */
    const char *defaults; /* "c=6 runs=100000" */
    bool declared;        /* the sago engine declares the variables unless told otherwise */
    bool holes;           /* the holes, as "nobody", have an access */
    /* false: the sizes do not fit the number of ranks; `why` says what to do */
    bool (*make)(const bench_params *params, int64_t rank, int64_t ranks, bench_access *access, char *why);
} bench_pattern;

/* The table. */
const bench_pattern *bench_patterns(int64_t *count);
/* Finds a pattern; NULL: there is none, and `why` says which one may have been meant. */
const bench_pattern *bench_pattern_find(const char *name, char *why);

/* Clears *access, then calls make(). */
bool bench_pattern_make(const bench_pattern *pattern, const bench_params *params, int64_t rank, int64_t ranks,
                        bench_access *access, char *why);

/* ---- For the generators ---- */

/* Writes the reason; returns false. */
bool bench_refuse(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Is a size possible?  It is a product, computed in floating point so that it cannot overflow. */
bool bench_fits(double bytes, char *why);

/* Makes room for `ncalls` calls of one step; false: there is no memory. */
bool bench_access_init(bench_access *access, int64_t ncalls, char *why);
/* The i-th call takes over `file`; its memory is contiguous, behind that of the calls before. */
void bench_access_set(bench_access *access, int64_t i, int64_t disp, bench_region file);

/* Makes an access of one call with the collected runs, which it takes over. */
bool bench_access_of_list(bench_access *access, bench_run_list *list, int64_t elem, char *why);

#define BENCH_GENERATOR(name)                                                                                     \
    bool name(const bench_params *params, int64_t rank, int64_t ranks, bench_access *access, char *why)

BENCH_GENERATOR(bench_make_contiguous);
BENCH_GENERATOR(bench_make_interleaved);
BENCH_GENERATOR(bench_make_mpi_io_test);
BENCH_GENERATOR(bench_make_ior_hard);
BENCH_GENERATOR(bench_make_checkerboard);
BENCH_GENERATOR(bench_make_random);
BENCH_GENERATOR(bench_make_block3d);
BENCH_GENERATOR(bench_make_s3d);
BENCH_GENERATOR(bench_make_btio);
BENCH_GENERATOR(bench_make_hacc_aos);
BENCH_GENERATOR(bench_make_hacc_soa);
BENCH_GENERATOR(bench_make_hacc_records);
BENCH_GENERATOR(bench_make_flash);
BENCH_GENERATOR(bench_make_e3sm_f);
BENCH_GENERATOR(bench_make_e3sm_g);

/* Splitmix64, which gives the same numbers everywhere. */
static inline uint64_t bench_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
