/* The order of a run: memory, first calls, warm-up, then repetitions in which the engines take turns. */
#include "bench/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/counters.h"
#include "bench/progress.h"
#include "bench/quantiles.h"
#include "bench/session.h"

typedef struct run {
    bench_session session;
    bench_result results[BENCH_ENGINES];
    double *wire[BENCH_ENGINES][BENCH_DIRECTIONS]; /* bytes of each repetition */
    int64_t repeat, cold;                          /* done */
} run;

static void show_progress(const run *r, const char *what, int64_t done, int64_t all) {
    if (r->session.world.rank == 0)
        progress_set("%s: %s %lld of %lld", r->session.config->pattern->name, what, (long long)done + 1,
                     (long long)all);
}

/* ---- Memory ---- */

/* Measures how far the node's memory rises above that of an empty call, on a file that was just opened. */
static bool memory_of(run *r, int engine) {
    enum { CALLS = 8 };
    bench_session *session = &r->session;
    bench_engine *e = &session->engines[engine];
    bench_timing timing;
    if (!bench_session_open(session, engine, false))
        return false;
    bool ok = e->ops->empty(e, session->why);
    bench_watch *watch = bench_watch_create(&session->world, e->path);
    if (!bench_agree(&session->world, ok && watch, session->why))
        return false;
    bench_watch_start(watch);
    bench_barrier(&session->world);
    for (int i = 0; ok && i < CALLS; i++)
        ok = bench_session_transfer(session, engine, i % 2 == 0, false, &timing);
    r->results[engine].pss_rise = bench_watch_destroy(&session->world, watch);
    bench_session_close(session, engine);
    return ok;
}

/* ---- Taking turns, for a limited time ---- */

/* Has this taken longer than it may?  Collective; nothing is given up before the first turn is done. */
static bool out_of_time(const run *r, double start, int64_t done) {
    double seconds = bench_now() - start;
    if (r->session.config->seconds == 0 || done == 0)
        return false;
    bench_max(&r->session.world, &seconds, 1);
    return seconds > (double)r->session.config->seconds;
}

/* Runs every engine once, in an order that changes every time, so that no engine always comes first. */
static bool take_turns(run *r, int64_t i, bool (*turn)(run *r, int engine, int64_t i)) {
    for (int k = 0; k < BENCH_ENGINES; k++) {
        int engine = i % 2 ? BENCH_ENGINES - 1 - k : k;
        if (r->session.config->use[engine] && !turn(r, engine, i))
            return false;
    }
    return true;
}

/* ---- Cold calls ---- */

static bool cold_call(run *r, int engine, int kind, int64_t i) {
    bool fresh = kind == BENCH_FRESH_WRITE, write = kind != BENCH_FIRST_READ;
    bench_timing timing;
    if (!bench_session_open(&r->session, engine, fresh) ||
        !bench_session_transfer(&r->session, engine, write, fresh, &timing))
        return false;
    r->results[engine].cold[kind][i] = timing.seconds;
    r->results[engine].opened[kind][i] = r->session.open_seconds + timing.seconds;
    if (kind == BENCH_FIRST_WRITE)
        r->wire[engine][BENCH_WRITE][i] = (double)timing.wire;
    bench_session_close(&r->session, engine);
    return true;
}

static bool first_calls(run *r, int engine, int64_t i) {
    return cold_call(r, engine, BENCH_FIRST_WRITE, i) && cold_call(r, engine, BENCH_FIRST_READ, i);
}

static bool fresh_call(run *r, int engine, int64_t i) { return cold_call(r, engine, BENCH_FRESH_WRITE, i); }

/* The first calls of all engines come before calls on fresh files, since those leave other holes in the files. */
static bool cold_calls(run *r) {
    const bench_config *config = r->session.config;
    double start = bench_now();
    for (r->cold = 0; r->cold < config->cold && !out_of_time(r, start, r->cold); r->cold++) {
        show_progress(r, "first call", r->cold, config->cold);
        if (!take_turns(r, r->cold, first_calls))
            return false;
    }
    for (int e = 0; e < BENCH_ENGINES; e++)
        r->results[e].wire_first = (int64_t)bench_median(r->cold, r->wire[e][BENCH_WRITE]);
    for (int64_t i = 0; i < r->cold; i++)
        if (!take_turns(r, i, fresh_call))
            return false;
    return true;
}

static bool prepare_engine(run *r, int engine, int64_t i) {
    (void)i;
    bench_session *session = &r->session;
    return bench_session_prefill(session, engine) &&
           (!session->config->memory_check || !session->engines[engine].ops->empty || memory_of(r, engine));
}

static bool reopen_engine(run *r, int engine, int64_t i) {
    (void)i;
    return bench_session_prefill(&r->session, engine) && bench_session_open(&r->session, engine, false);
}

/* The seed decides whose file is made first, since the places of its pages make a difference to all of its
 * calls. */
static bool prepare(run *r) {
    int64_t turn = r->session.config->params.seed;
    return take_turns(r, turn, prepare_engine) && cold_calls(r) && take_turns(r, turn, reopen_engine);
}

/* ---- Repetitions ---- */

static void add_phases(sago_phase_stats sum[], const sago_stats *before, const sago_stats *after) {
    for (int p = 0; p < SAGO_PHASE_COUNT; p++) {
        sum[p].seconds += after->phase[p].seconds - before->phase[p].seconds;
        sum[p].bytes += after->phase[p].bytes - before->phase[p].bytes;
        sum[p].runs += after->phase[p].runs - before->phase[p].runs;
        sum[p].messages += after->phase[p].messages - before->phase[p].messages;
    }
}

/* Repetition `i` of one engine; a negative number is a warm-up. */
static bool repeat_engine(run *r, int engine, int64_t i) {
    bench_session *session = &r->session;
    bench_engine *e = &session->engines[engine];
    bench_result *result = &r->results[engine];
    for (int write = BENCH_WRITE; write >= BENCH_READ; write--) {
        sago_stats before, after;
        bench_timing timing;
        bool counted = i >= 0 && e->ops->stats && e->ops->stats(e, &before);
        if (!bench_session_transfer(session, engine, write, false, &timing))
            return false;
        if (counted && e->ops->stats(e, &after))
            add_phases(result->phase[write], &before, &after);
        if (i < 0)
            continue;
        result->seconds[write][i] = timing.seconds;
        r->wire[engine][write][i] = (double)timing.wire;
    }
    return true;
}

static bool repeat_all(run *r) {
    const bench_config *config = r->session.config;
    for (int64_t i = -config->warmup; i < 0; i++) {
        show_progress(r, "warm-up", i + config->warmup, config->warmup);
        if (!take_turns(r, i, repeat_engine))
            return false;
    }
    r->session.unverified = config->verify_first;
    double start = bench_now();
    for (r->repeat = 0; r->repeat < config->repeat && !out_of_time(r, start, r->repeat); r->repeat++) {
        show_progress(r, "repetition", r->repeat, config->repeat);
        if (!take_turns(r, r->repeat, repeat_engine))
            return false;
    }
    return true;
}

/* ---- Results ---- */

static void finish_phases(const bench_world *world, int64_t calls, sago_phase_stats phase[], double longest[]) {
    for (int p = 0; p < SAGO_PHASE_COUNT; p++) {
        int64_t sums[4] = {phase[p].bytes, phase[p].runs, phase[p].messages, (int64_t)(phase[p].seconds * 1e9)};
        longest[p] = phase[p].seconds / (double)calls;
        bench_max(world, &longest[p], 1);
        bench_sum(world, sums, 4);
        phase[p].bytes = sums[0] / calls;
        phase[p].runs = sums[1] / calls;
        phase[p].messages = sums[2] / calls;
        phase[p].seconds = 1e-9 * (double)sums[3] / (double)calls / world->ranks;
    }
}

/* Bytes are sums over the ranks, memory is the largest of any rank, the rest is rank 0's (and equal on all
 * ranks). */
static void finish_stats(run *r, int engine) {
    bench_session *session = &r->session;
    bench_engine *e = &session->engines[engine];
    bench_result *result = &r->results[engine];
    if (!e->ops->stats || !e->ops->stats(e, &result->stats))
        return;
    result->has_stats = true;
    for (int d = 0; d < BENCH_DIRECTIONS; d++)
        finish_phases(&session->world, r->repeat, result->phase[d], result->phase_max[d]);
    int64_t sums[2] = {result->stats.metadata_bytes, result->stats.wire_bytes};
    double most = (double)result->stats.memory_peak;
    bench_sum(&session->world, sums, 2);
    bench_max(&session->world, &most, 1);
    result->stats.metadata_bytes = sums[0];
    result->stats.wire_bytes = sums[1];
    result->stats.memory_peak = (int64_t)most;
}

static void make_results(run *r) {
    const bench_config *config = r->session.config;
    size_t most = (size_t)(config->repeat > BENCH_COLD_MAX ? config->repeat : BENCH_COLD_MAX);
    for (int e = 0; e < BENCH_ENGINES; e++) {
        bench_result *result = &r->results[e];
        result->pss_rise = -1;
        for (int d = 0; d < BENCH_DIRECTIONS; d++) {
            result->seconds[d] = calloc(most, sizeof(double));
            r->wire[e][d] = calloc(most, sizeof(double));
            if (!result->seconds[d] || !r->wire[e][d])
                abort(); /* a few kilobytes */
        }
    }
}

static bool measure(run *r) {
    const bench_config *config = r->session.config;
    make_results(r);
    if (!prepare(r) || !repeat_all(r))
        return false;
    for (int e = 0; e < BENCH_ENGINES; e++) {
        if (config->use[e])
            finish_stats(r, e);
        for (int d = 0; d < BENCH_DIRECTIONS; d++)
            r->results[e].wire_repeat[d] = (int64_t)bench_median(r->repeat, r->wire[e][d]);
    }
    return true;
}

static void free_results(run *r) {
    for (int e = 0; e < BENCH_ENGINES; e++)
        for (int d = 0; d < BENCH_DIRECTIONS; d++) {
            free(r->wire[e][d]);
            free(r->results[e].seconds[d]);
        }
}

/* Rank 0 prints and writes; failures go to stderr. */
static void report(const run *r, bool measured, FILE *json) {
    const bench_session *session = &r->session;
    const bench_config *config = session->config;
    int mpiio = config->use[BENCH_MPIIO] ? BENCH_MPIIO : BENCH_PLAIN;
    bench_outcome outcome = {.config = config,
                             .world = &session->world,
                             .bytes = session->bytes,
                             .runs = session->runs,
                             .repeat = r->repeat,
                             .cold = r->cold,
                             .implementation = session->engines[mpiio].implementation,
                             .results = r->results};
    if (!measured) {
        fprintf(stderr, "sago bench %s: %s\n", config->pattern->name, session->why);
        if (json)
            bench_report_failure(config, &session->world, session->why, json);
        return;
    }
    bench_report_text(&outcome, stdout);
    for (int e = 0; config->keep && e < BENCH_ENGINES; e++)
        if (config->use[e])
            printf("kept   %s\n", session->engines[e].path);
    if (json)
        bench_report_json(&outcome, json);
}

/* Opens outputs before anything runs, so that a wrong name is found at once. */
static bool open_json(run *r, FILE **json) {
    const bench_config *config = r->session.config;
    bool ok = true;
    *json = NULL;
    if (config->json && r->session.world.rank == 0) {
        *json = fopen(config->json, "w");
        ok = *json ||
             bench_refuse(r->session.why, "--json %s cannot be written: %s", config->json, strerror(errno));
    }
    return bench_agree(&r->session.world, ok, r->session.why);
}

int bench_execute(const bench_config *config) {
    MPI_Init(NULL, NULL);
    run *r = calloc(1, sizeof *r);
    FILE *json = NULL;
    if (!r)
        MPI_Abort(MPI_COMM_WORLD, 1);
    bool possible = bench_session_init(&r->session, config) && open_json(r, &json);
    bool measured = possible && measure(r);
    progress_end();
    if (r->session.world.rank == 0)
        report(r, measured, json);
    if (json)
        fclose(json);
    bench_session_cleanup(&r->session);
    free_results(r);
    free(r);
    MPI_Finalize();
    return measured ? 0 : possible ? 1 : 2;
}
