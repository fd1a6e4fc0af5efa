/* Side-by-side runs: what to run, and what came out. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "bench/engines.h"
#include "bench/params.h"

enum { BENCH_SAGO, BENCH_MPIIO, BENCH_LIMIT, BENCH_PLAIN, BENCH_GIO, BENCH_SHUFFLE, BENCH_ENGINES };
enum { BENCH_HINTS_MAX = 32, BENCH_REPEAT_MAX = 1000, BENCH_COLD_MAX = 100 };
enum { BENCH_READ, BENCH_WRITE, BENCH_DIRECTIONS }; /* so that `bool write` is an index */
/* Cold calls: the first on a file just opened; on one just created. */
enum { BENCH_FIRST_READ, BENCH_FIRST_WRITE, BENCH_FRESH_WRITE, BENCH_COLD_KINDS };

typedef struct bench_config {
    const bench_pattern *pattern;
    bench_params params;
    const char *dir;
    const char *json; /* NULL: none */
    int64_t repeat, warmup, cold;
    int64_t seconds; /* most for the cold calls, and for the repetitions; 0: no limit */
    bool use[BENCH_ENGINES];
    bool declared, nonblocking, one_file;
    bool keep, memory_check;
    bool verify_first; /* not every repetition: only the cold calls and the warm-up */
    int64_t nhints;
    const char *hints[BENCH_HINTS_MAX]; /* "key=value" */
} bench_config;

/* Of one engine.  Times in seconds, the same on all ranks. */
typedef struct bench_result {
    double *seconds[BENCH_DIRECTIONS]; /* of each repetition */
    double cold[BENCH_COLD_KINDS][BENCH_COLD_MAX];
    double opened[BENCH_COLD_KINDS][BENCH_COLD_MAX]; /* the same with opening the file before */
    int64_t wire_first;                              /* bytes sent by all nodes for one write */
    int64_t wire_repeat[BENCH_DIRECTIONS];           /* the same, when it is repeated */
    int64_t pss_rise;                                /* -1: not measured */
    bool has_stats;
    sago_stats stats; /* sums over ranks; memory and decision see results.c */
    sago_phase_stats phase[BENCH_DIRECTIONS][SAGO_PHASE_COUNT]; /* of one call: mean seconds, sums of the rest */
    double phase_max[BENCH_DIRECTIONS][SAGO_PHASE_COUNT];       /* seconds on the slowest rank */
} bench_result;

typedef struct bench_outcome {
    const bench_config *config;
    const bench_world *world;
    int64_t bytes, runs;         /* of all ranks, one repetition */
    int64_t repeat, cold;        /* how often that was, in the time there was */
    const char *implementation;  /* of MPI-IO; "" if it was not run */
    const bench_result *results; /* BENCH_ENGINES */
} bench_outcome;

/* Starts and ends MPI.  Exit status: 0; 1 a wrong byte or an error; 2 sizes that cannot be. */
int bench_execute(const bench_config *config);

/* Rank 0: to people, and to programs. */
void bench_report_text(const bench_outcome *outcome, FILE *out);
void bench_report_json(const bench_outcome *outcome, FILE *out);
void bench_report_failure(const bench_config *config, const bench_world *world, const char *why, FILE *out);

const char *bench_engine_name(int engine);
/* Shows what the machine can do, and moves nobody's pattern. */
bool bench_engine_is_limit(int engine);
bool bench_engine_built(int engine);

#endif
