/* Results as a table and as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/counters.h"
#include "base/json.h"
#include "bench/quantiles.h"

/* Times as fast as mpiio, or the fraction of the limit: seconds of the others over Sago's, turns two by two. */
static bench_estimate ratio_to(const bench_outcome *outcome, int other, int direction) {
    const bench_config *config = outcome->config;
    bench_estimate none = {NAN, NAN, NAN};
    if (!config->use[BENCH_SAGO] || !config->use[other])
        return none;
    return bench_turn_ratio(outcome->repeat, outcome->results[other].seconds[direction],
                            outcome->results[BENCH_SAGO].seconds[direction]);
}

/* How many times as fast as plain mpiio is: the effect of a preloaded drop-in. */
static bool has_dropin(const bench_outcome *outcome) {
    return outcome->config->use[BENCH_MPIIO] && outcome->config->use[BENCH_PLAIN];
}

static bench_estimate dropin_ratio(const bench_outcome *outcome, int direction) {
    const bench_result *results = outcome->results;
    return bench_turn_ratio(outcome->repeat, results[BENCH_PLAIN].seconds[direction],
                            results[BENCH_MPIIO].seconds[direction]);
}

/* ---- Text ---- */

/* Columns of a terminal that nobody has made wider. */
enum { LINE = 80, INDENT = 4 };

/* Prints words after those that stand in the line already, or in a new line; returns the length of the line. */
static int print_words(int length, const char *words, FILE *out) {
    int more = (int)strlen(words);
    if (length + more <= LINE)
        return length + fprintf(out, "%s", words);
    const int comma = *words == ','; /* stays in the line before */
    words += comma + (words[comma] == ' ');
    return fprintf(out, "%s\n%*s%s", comma ? "," : "", INDENT, "", words) - 1 - comma;
}

static void print_params(const bench_config *config, FILE *out) {
    char name[32], value[64], words[128];
    int length = fprintf(out, "%s:", config->pattern->name);
    for (int64_t i = 0; bench_params_name(config->pattern, i, name); i++) {
        bench_params_format(&config->params, name, value, sizeof value);
        (void)snprintf(words, sizeof words, " %s=%s", name, value);
        length = print_words(length, words, out);
    }
    (void)snprintf(words, sizeof words, "%s%s%s", config->declared && config->use[BENCH_SAGO] ? ", declared" : "",
                   config->nonblocking ? ", nonblocking" : "",
                   config->one_file ? ", views set before each call" : "");
    (void)print_words(length, words, out);
    fputc('\n', out);
}

static void print_header(const bench_outcome *outcome, FILE *out) {
    const bench_config *config = outcome->config;
    const bench_world *world = outcome->world;
    print_params(config, out);
    int unit = outcome->bytes < 1 << 10 ? 0 : outcome->bytes < 1 << 20 ? 1 : 2;
    fprintf(out, "%d rank%s on %lld node%s, %.*f %s, %lld run%s\n%s", world->ranks, world->ranks == 1 ? "" : "s",
            (long long)world->nodes, world->nodes == 1 ? "" : "s", unit > 0,
            (double)outcome->bytes / (double)(1 << 10 * unit), (const char *const[]){"B", "KiB", "MiB"}[unit],
            (long long)outcome->runs, outcome->runs == 1 ? "" : "s", world->mpi);
    if (outcome->implementation[0])
        fprintf(out, " (MPI-IO by %s)", outcome->implementation);
    fprintf(out, ", %lld repetition%s, %s\n\n", (long long)outcome->repeat, outcome->repeat == 1 ? "" : "s",
            config->verify_first ? "those before them verified" : "all verified");
}

/* Two repetitions make a ratio.  A single ratio has no interval; for fewer than six the interval is the whole
 * range. */
enum { RATIOS_OF_RANGE = 2, RATIOS_OF_INTERVAL = 6 };

static void print_interval(const bench_outcome *outcome, const bench_estimate *ratio, double scale, FILE *out) {
    int digits = scale > 1 ? 0 : 2;
    if (outcome->repeat / 2 >= RATIOS_OF_RANGE)
        fprintf(out, " [%.*f, %.*f]", digits, scale * ratio->low, digits, scale * ratio->high);
}

static void print_ratio(const bench_outcome *outcome, int engine, int direction, FILE *out) {
    const bench_estimate ratio = ratio_to(outcome, engine, direction);
    const bool limit = bench_engine_is_limit(engine);
    if (engine == BENCH_SAGO || engine == BENCH_PLAIN || isnan(ratio.median))
        return;
    fprintf(out, "%-6s %-6s ", direction == BENCH_WRITE ? "write" : "read", bench_engine_name(engine));
    if (limit)
        fprintf(out, "sago reaches %.0f%% of it", 100 * ratio.median);
    else
        fprintf(out, "sago is %.2f times as fast", ratio.median);
    print_interval(outcome, &ratio, limit ? 100 : 1, out);
    fputc('\n', out);
}

static void print_dropin_ratio(const bench_outcome *outcome, int direction, FILE *out) {
    const bench_estimate ratio = dropin_ratio(outcome, direction);
    fprintf(out, "%-6s %-6s mpiio is %.2f times as fast", direction == BENCH_WRITE ? "write" : "read",
            bench_engine_name(BENCH_PLAIN), ratio.median);
    print_interval(outcome, &ratio, 1, out);
    fputc('\n', out);
}

/* In lines of their own, since the table is as wide as a terminal. */
static void print_ratios(const bench_outcome *outcome, FILE *out) {
    const int64_t ratios = outcome->repeat / 2;
    int others = 0;
    for (int e = 0; e < BENCH_ENGINES; e++)
        others += outcome->config->use[e];
    if (others < 2)
        return;
    fprintf(out, "\nratio of pairs%s\n",
            ratios >= RATIOS_OF_INTERVAL ? " [95% interval]"
            : ratios >= RATIOS_OF_RANGE  ? " [range]"
                                         : "");
    for (int direction = BENCH_WRITE; direction >= BENCH_READ; direction--)
        for (int e = 0; e < BENCH_ENGINES; e++) {
            if (outcome->config->use[e])
                print_ratio(outcome, e, direction, out);
            if (e == BENCH_PLAIN && has_dropin(outcome))
                print_dropin_ratio(outcome, direction, out);
        }
    fputc('\n', out);
}

/* The median of the first calls of a kind; seconds NULL: there is no such kind. */
static void print_cold(int64_t count, const double *seconds, FILE *out) {
    if (seconds && count > 0)
        fprintf(out, " %10.3f", 1e3 * bench_median(count, seconds));
    else
        fprintf(out, " %10s", "-");
}

static void print_row(const bench_outcome *outcome, int engine, int direction, FILE *out) {
    const bench_result *result = &outcome->results[engine];
    int64_t repeat = outcome->repeat;
    double median = bench_median(repeat, result->seconds[direction]);
    bool write = direction == BENCH_WRITE;
    int first = write ? BENCH_FIRST_WRITE : BENCH_FIRST_READ;
    double speed = median > 0 ? (double)outcome->bytes / (1 << 20) / median : 0;
    fprintf(out, "%-6s %-6s %10.3f %10.3f %8.*f", write ? "write" : "read", bench_engine_name(engine),
            1e3 * bench_best(repeat, result->seconds[direction]), 1e3 * median, speed < 10 ? 2 : 0, speed);
    print_cold(outcome->cold, result->cold[first], out);
    print_cold(outcome->cold, write ? result->cold[BENCH_FRESH_WRITE] : NULL, out);
    print_cold(outcome->cold, result->opened[first], out);
    fputc('\n', out);
}

/* Counts of rank 0: how its calls were served, including first calls and warm-up. */
static void print_routes(const sago_stats *stats, FILE *out) {
    int length = 0;
    for (int r = 0; r < SAGO_ROUTE_COUNT; r++) {
        char words[64];
        if (!stats->routes[r])
            continue;
        const char *before = length == 0 ? "routes sago   " : ", ";
        (void)snprintf(words, sizeof words, "%s%s %lld", before, sago_route_string((sago_route)r),
                       (long long)stats->routes[r]);
        length = print_words(length, words, out);
    }
    if (length > 0)
        fputc('\n', out);
}

void bench_report_text(const bench_outcome *outcome, FILE *out) {
    const bench_config *config = outcome->config;
    print_header(outcome, out);
    fprintf(out, "%-6s %-6s %10s %10s %8s %10s %10s %10s\n", "", "engine", "best ms", "median ms", "MiB/s",
            "first ms", "fresh ms", "opened ms");
    for (int direction = BENCH_WRITE; direction >= BENCH_READ; direction--)
        for (int e = 0; e < BENCH_ENGINES; e++)
            if (config->use[e])
                print_row(outcome, e, direction, out);
    print_ratios(outcome, out);
    for (int e = 0; e < BENCH_ENGINES; e++) {
        const bench_result *result = &outcome->results[e];
        if (config->use[e] && !bench_engine_is_limit(e) && bench_wire_known())
            fprintf(out, "wire   %-6s %10.3f MiB first write, %.3f MiB repeated, %.3f MiB read\n",
                    bench_engine_name(e), (double)result->wire_first / (1 << 20),
                    (double)result->wire_repeat[BENCH_WRITE] / (1 << 20),
                    (double)result->wire_repeat[BENCH_READ] / (1 << 20));
        if (config->use[e] && result->has_stats)
            print_routes(&result->stats, out);
        if (config->use[e] && result->pss_rise >= 0)
            fprintf(out, "memory %-6s %10.1f MiB above an empty call (PSS of a node)\n", bench_engine_name(e),
                    (double)result->pss_rise / 1048576);
    }
    fflush(out);
}

/* ---- JSON ---- */

static void put_list(sagoi_json *json, const char *name, int64_t count, const double values[]) {
    sagoi_json_open(json, name, '[');
    for (int64_t i = 0; i < count; i++)
        sagoi_json_real(json, NULL, values[i]);
    sagoi_json_close(json, ']');
}

static void put_options(sagoi_json *json, const bench_config *config) {
    char name[32], value[64];
    int64_t number;
    sagoi_json_open(json, "options", '{');
    for (int64_t i = 0; bench_params_name(config->pattern, i, name); i++) {
        bench_params_format(&config->params, name, value, sizeof value);
        if (bench_parse_count(value, &number))
            sagoi_json_int(json, name, number);
        else
            sagoi_json_text(json, name, value);
    }
    sagoi_json_int(json, "seed", config->params.seed);
    sagoi_json_int(json, "repeat", config->repeat);
    sagoi_json_int(json, "warmup", config->warmup);
    sagoi_json_int(json, "cold", config->cold);
    sagoi_json_int(json, "seconds", config->seconds);
    sagoi_json_bool(json, "declared", config->declared);
    sagoi_json_bool(json, "nonblocking", config->nonblocking);
    sagoi_json_bool(json, "one_file", config->one_file);
    sagoi_json_text(json, "dir", config->dir);
    sagoi_json_open(json, "hints", '[');
    for (int64_t i = 0; i < config->nhints; i++)
        sagoi_json_text(json, NULL, config->hints[i]);
    sagoi_json_close(json, ']');
    sagoi_json_close(json, '}');
}

/* Settings of the MPI library that affect the comparison. */
static void put_environment(sagoi_json *json) {
    static const char *const names[] = {"OMPI_MCA_io", "OMPI_MCA_mpi_yield_when_idle", "ROMIO_HINTS",
                                        "LD_PRELOAD"};
    sagoi_json_open(json, "environment", '{');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            sagoi_json_text(json, names[i], getenv(names[i]));
    sagoi_json_close(json, '}');
}

static void put_phases(sagoi_json *json, const char *name, const bench_result *result, int direction) {
    sagoi_json_open(json, name, '{');
    for (int p = 0; p < SAGO_PHASE_COUNT; p++) {
        const sago_phase_stats *phase = &result->phase[direction][p];
        sagoi_json_open(json, sago_phase_string((sago_phase)p), '{');
        sagoi_json_real(json, "seconds", phase->seconds);
        sagoi_json_real(json, "seconds_max", result->phase_max[direction][p]);
        sagoi_json_int(json, "bytes", phase->bytes);
        sagoi_json_int(json, "runs", phase->runs);
        sagoi_json_int(json, "messages", phase->messages);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, '}');
}

static void put_stats(sagoi_json *json, const sago_stats *stats) {
    sagoi_json_open(json, "stats", '{');
    sagoi_json_int(json, "plan_hits", stats->plan_hits);
    sagoi_json_int(json, "plan_misses", stats->plan_misses);
    sagoi_json_int(json, "metadata_bytes", stats->metadata_bytes);
    sagoi_json_int(json, "wire_bytes", stats->wire_bytes);
    sagoi_json_int(json, "direct_calls", stats->direct_calls);
    sagoi_json_int(json, "separate_calls", stats->separate_calls);
    sagoi_json_int(json, "mapped_calls", stats->mapped_calls);
    sagoi_json_int(json, "aggregated_calls", stats->aggregated_calls);
    sagoi_json_open(json, "routes", '{');
    for (int r = 0; r < SAGO_ROUTE_COUNT; r++)
        sagoi_json_int(json, sago_route_string((sago_route)r), stats->routes[r]);
    sagoi_json_close(json, '}');
    sagoi_json_int(json, "rounds", stats->rounds);
    sagoi_json_int(json, "memory_peak", stats->memory_peak);
    sagoi_json_int(json, "memory_budget", stats->memory_budget);
    sagoi_json_text(json, "decision", stats->decision);
    sagoi_json_close(json, '}');
}

static void put_engine(sagoi_json *json, const bench_outcome *outcome, int engine) {
    const bench_result *result = &outcome->results[engine];
    int64_t repeat = outcome->repeat, cold = outcome->cold;
    sagoi_json_open(json, NULL, '{');
    sagoi_json_text(json, "name", bench_engine_name(engine));
    for (int direction = BENCH_WRITE; direction >= BENCH_READ; direction--) {
        sagoi_json_open(json, direction == BENCH_WRITE ? "write_s" : "read_s", '{');
        sagoi_json_real(json, "best", bench_best(repeat, result->seconds[direction]));
        sagoi_json_real(json, "median", bench_median(repeat, result->seconds[direction]));
        if (cold > 0) {
            int first = direction == BENCH_WRITE ? BENCH_FIRST_WRITE : BENCH_FIRST_READ;
            sagoi_json_real(json, "first", bench_median(cold, result->cold[first]));
            sagoi_json_real(json, "opened", bench_median(cold, result->opened[first]));
        }
        if (cold > 0 && direction == BENCH_WRITE)
            sagoi_json_real(json, "fresh", bench_median(cold, result->cold[BENCH_FRESH_WRITE]));
        sagoi_json_close(json, '}');
    }
    sagoi_json_bool(json, "verified", true); /* else there would be no report */
    if (result->has_stats) {
        put_phases(json, "phases", result, BENCH_WRITE);
        put_phases(json, "phases_read", result, BENCH_READ);
        put_stats(json, &result->stats);
    }
    sagoi_json_close(json, '}');
}

/* The engines that Sago is compared with. */
static const int rivals[] = {BENCH_MPIIO, BENCH_LIMIT, BENCH_GIO, BENCH_SHUFFLE};
enum { RIVALS = sizeof rivals / sizeof rivals[0] };

/* One of ratios, ratios_low, ratios_high; `field` is its place in bench_estimate. */
static void put_ratios(sagoi_json *json, const char *name, const bench_outcome *outcome, size_t field) {
    sagoi_json_open(json, name, '{');
    for (int direction = BENCH_WRITE; direction >= BENCH_READ; direction--) {
        sagoi_json_open(json, direction == BENCH_WRITE ? "write" : "read", '{');
        for (int k = 0; k < RIVALS; k++) {
            bench_estimate ratio = ratio_to(outcome, rivals[k], direction);
            double value;
            memcpy(&value, (const char *)&ratio + field, sizeof value);
            sagoi_json_real(json, bench_engine_name(rivals[k]), value);
        }
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, '}');
}

/* Times of both engines, call by call, and the estimates. */
typedef struct dropin_pairs {
    const char *name;
    int64_t count;
    const double *plain, *mpiio;
} dropin_pairs;

static void put_pairs(sagoi_json *json, const dropin_pairs *pairs) {
    double *ratios = malloc((size_t)(pairs->count + 1) * sizeof *ratios);
    int64_t count = ratios ? bench_turn_ratios(pairs->count, pairs->plain, pairs->mpiio, ratios) : 0;
    bench_estimate ratio = bench_estimate_of(count, ratios);
    sagoi_json_open(json, pairs->name, '{');
    sagoi_json_real(json, "ratio", ratio.median);
    sagoi_json_real(json, "low", ratio.low);
    sagoi_json_real(json, "high", ratio.high);
    sagoi_json_int(json, "pairs", count);
    put_list(json, "each", count, ratios);
    sagoi_json_close(json, '}');
    free(ratios);
}

static void put_dropin(sagoi_json *json, const bench_outcome *outcome) {
    static const char *const cold[] = {"first_read", "first_write", "fresh_write"};
    const bench_result *plain = &outcome->results[BENCH_PLAIN], *mpiio = &outcome->results[BENCH_MPIIO];
    if (!has_dropin(outcome))
        return;
    sagoi_json_open(json, "mpiio_over_plain", '{');
    for (int direction = BENCH_WRITE; direction >= BENCH_READ; direction--)
        put_pairs(json, &(dropin_pairs){direction == BENCH_WRITE ? "write" : "read", outcome->repeat,
                                        plain->seconds[direction], mpiio->seconds[direction]});
    for (int kind = 0; kind < BENCH_COLD_KINDS && outcome->cold > 0; kind++)
        put_pairs(json, &(dropin_pairs){cold[kind], outcome->cold, plain->cold[kind], mpiio->cold[kind]});
    sagoi_json_close(json, '}');
}

/* Seconds of every repetition, for putting several runs together. */
static void put_turns(sagoi_json *json, const bench_outcome *outcome) {
    sagoi_json_open(json, "turns", '{');
    for (int e = 0; e < BENCH_ENGINES; e++) {
        if (!outcome->config->use[e])
            continue;
        sagoi_json_open(json, bench_engine_name(e), '{');
        for (int direction = BENCH_WRITE; direction >= BENCH_READ; direction--) {
            bool write = direction == BENCH_WRITE;
            int kind = write ? BENCH_FIRST_WRITE : BENCH_FIRST_READ;
            put_list(json, write ? "write" : "read", outcome->repeat, outcome->results[e].seconds[direction]);
            put_list(json, write ? "opened_write" : "opened_read", outcome->cold,
                     outcome->results[e].opened[kind]);
        }
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, '}');
}

static bool is_counted(const bench_config *config, int engine) {
    return config->use[engine] && !bench_engine_is_limit(engine);
}

static void put_counters(sagoi_json *json, const bench_outcome *outcome) {
    const bench_config *config = outcome->config;
    if (bench_wire_known()) {
        sagoi_json_open(json, "wire", '{');
        for (int e = 0; e < BENCH_ENGINES; e++)
            if (is_counted(config, e)) {
                sagoi_json_open(json, bench_engine_name(e), '{');
                sagoi_json_int(json, "first", outcome->results[e].wire_first);
                sagoi_json_int(json, "repeat", outcome->results[e].wire_repeat[BENCH_WRITE]);
                sagoi_json_int(json, "read", outcome->results[e].wire_repeat[BENCH_READ]);
                sagoi_json_close(json, '}');
            }
        sagoi_json_close(json, '}');
    }
    if (config->memory_check) {
        sagoi_json_open(json, "pss_rise", '{');
        for (int e = 0; e < BENCH_ENGINES; e++)
            if (is_counted(config, e))
                sagoi_json_int(json, bench_engine_name(e), outcome->results[e].pss_rise);
        sagoi_json_close(json, '}');
    }
}

void bench_report_json(const bench_outcome *outcome, FILE *out) {
    const bench_config *config = outcome->config;
    sagoi_json json = {.out = out, .lines = SAGOI_JSON_INDENTED};
    sagoi_json_open(&json, NULL, '{');
    sagoi_json_text(&json, "pattern", config->pattern->name);
    sagoi_json_int(&json, "ranks", outcome->world->ranks);
    sagoi_json_int(&json, "nodes", outcome->world->nodes);
    sagoi_json_text(&json, "mpi", outcome->world->mpi);
    sagoi_json_text(&json, "mpiio", outcome->implementation[0] ? outcome->implementation : NULL);
    put_environment(&json);
    sagoi_json_int(&json, "bytes", outcome->bytes);
    sagoi_json_int(&json, "runs", outcome->runs);
    put_options(&json, config);
    sagoi_json_open(&json, "engines", '[');
    for (int e = 0; e < BENCH_ENGINES; e++)
        if (config->use[e])
            put_engine(&json, outcome, e);
    sagoi_json_close(&json, ']');
    put_ratios(&json, "ratios", outcome, offsetof(bench_estimate, median));
    put_ratios(&json, "ratios_low", outcome, offsetof(bench_estimate, low));
    put_ratios(&json, "ratios_high", outcome, offsetof(bench_estimate, high));
    put_dropin(&json, outcome);
    put_turns(&json, outcome);
    put_counters(&json, outcome);
    sagoi_json_close(&json, '}');
}

void bench_report_failure(const bench_config *config, const bench_world *world, const char *why, FILE *out) {
    sagoi_json json = {.out = out, .lines = SAGOI_JSON_INDENTED};
    sagoi_json_open(&json, NULL, '{');
    sagoi_json_text(&json, "pattern", config->pattern->name);
    sagoi_json_int(&json, "ranks", world->ranks);
    sagoi_json_text(&json, "mpi", world->mpi);
    sagoi_json_bool(&json, "verified", false);
    sagoi_json_text(&json, "error", why);
    sagoi_json_close(&json, '}');
}
