/* Side-by-side runs: what to run, and what came out. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "bench/engines.h"
#include "bench/params.h"

enum { BENCH_SAGO, BENCH_MPIIO, BENCH_LIMIT, BENCH_PLAIN, BENCH_GIO, BENCH_SHUFFLE, BENCH_ENGINES };
enum { BENCH_HINTS_MAX = 32, BENCH_REPEAT_MAX = 1000, BENCH_COLD_MAX = 100 };
enum { BENCH_READ, BENCH_WRITE, BENCH_DIRECTIONS }; /* the directions, so that `bool write` is an index */
/* first calls: on a file that was just opened; on one that was just created */
enum { BENCH_FIRST_READ, BENCH_FIRST_WRITE, BENCH_FRESH_WRITE, BENCH_COLD_KINDS };

typedef struct bench_config {
    const bench_pattern *pattern;
    bench_params params;
    const char *dir;
    const char *json; /* NULL: none */
    int64_t repeat, warmup, cold;
    int64_t seconds; /* limits on the first calls, and on the repetitions; 0: no limit */
    bool use[BENCH_ENGINES];
    bool declared, nonblocking, one_file;
    bool keep, memory_check;
    bool verify_first; /* verify the first calls and the warm-up, but not every repetition */
    int64_t nhints;
    const char *hints[BENCH_HINTS_MAX]; /* "key=value" */
} bench_config;

/* Results of one engine.  Times are in seconds and equal on all ranks. */
typedef struct bench_result {
    double *seconds[BENCH_DIRECTIONS]; /* time of each repetition */
    double cold[BENCH_COLD_KINDS][BENCH_COLD_MAX];
    double opened[BENCH_COLD_KINDS][BENCH_COLD_MAX]; /* time of the first call and of opening the file */
    int64_t wire_first;                              /* bytes that all nodes sent for one write */
    int64_t wire_repeat[BENCH_DIRECTIONS];           /* the same, when the write is repeated */
    int64_t pss_rise;                                /* -1: not measured */
    bool has_stats;
    sago_stats stats; /* sums over the ranks; results.c says more of memory and decision */
    /* Figures of one call: the mean of seconds, the sum of other numbers. */
    sago_phase_stats phase[BENCH_DIRECTIONS][SAGO_PHASE_COUNT];
    double phase_max[BENCH_DIRECTIONS][SAGO_PHASE_COUNT]; /* seconds on the slowest rank */
} bench_result;

typedef struct bench_outcome {
    const bench_config *config;
    const bench_world *world;
    int64_t bytes, runs;         /* sums over all ranks in one repetition */
    int64_t repeat, cold;        /* repetitions that there was time for */
    const char *implementation;  /* name of the implementation of MPI-IO; "" if MPI-IO was not run */
    const bench_result *results; /* BENCH_ENGINES */
} bench_outcome;

/* Starts and ends MPI.  Exit status: 0; 1 for a wrong byte or an error; 2 for sizes that cannot be. */
int bench_execute(const bench_config *config);

/* Called on rank 0: results for people, and for programs. */
void bench_report_text(const bench_outcome *outcome, FILE *out);
void bench_report_json(const bench_outcome *outcome, FILE *out);
void bench_report_failure(const bench_config *config, const bench_world *world, const char *why, FILE *out);

const char *bench_engine_name(int engine);
/* Shows what the machine can do, and moves nobody's pattern. */
bool bench_engine_is_limit(int engine);
bool bench_engine_built(int engine);

#endif
