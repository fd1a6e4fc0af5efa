/* `sago bench`: the command line; bench/ does the work. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "base/json.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"

/* ---- Options ---- */

#define ENGINES "sago, mpiio, plain, gio, limit and shuffle"

static bool set_engines(void *target, const char *value, char *why) {
    bench_config *config = target;
    char copy[64], *rest = copy;
    snprintf(copy, sizeof copy, "%s", value);
    memset(config->use, 0, sizeof config->use);
    for (char *word; (word = strsep(&rest, ","));) {
        int e = 0;
        while (e < BENCH_ENGINES && strcmp(word, bench_engine_name(e)) != 0)
            e++;
        if (e == BENCH_ENGINES)
            return bench_refuse(why, "--engines: no engine '%s'; there are " ENGINES, word);
        if (!bench_engine_built(e))
            return bench_refuse(why, "--engines: this sago was built without %s (make GIO=PREFIX)", word);
        config->use[e] = true;
    }
    return true;
}

static bool set_declared(void *target, const char *value, char *why) {
    bench_config *config = target;
    config->declared = !strcmp(value, "on");
    return config->declared || !strcmp(value, "off") || bench_refuse(why, "--declared %s: on or off", value);
}

static bool set_calls(void *target, const char *value, char *why) {
    bench_config *config = target;
    config->nonblocking = !strcmp(value, "nonblocking");
    return config->nonblocking || !strcmp(value, "blocking") ||
           bench_refuse(why, "--calls %s: blocking or nonblocking", value);
}

static bool set_views(void *target, const char *value, char *why) {
    bench_config *config = target;
    config->one_file = !strcmp(value, "each");
    return config->one_file || !strcmp(value, "once") || bench_refuse(why, "--views %s: once or each", value);
}

static bool set_verify(void *target, const char *value, char *why) {
    bench_config *config = target;
    config->verify_first = !strcmp(value, "first");
    return config->verify_first || !strcmp(value, "all") || bench_refuse(why, "--verify %s: all or first", value);
}

static bool set_hint(void *target, const char *value, char *why) {
    bench_config *config = target;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1] || equals - value > MPI_MAX_INFO_KEY)
        return bench_refuse(why, "--hint %s: must be KEY=VALUE", value);
    if (config->nhints == BENCH_HINTS_MAX)
        return bench_refuse(why, "more than %d hints", BENCH_HINTS_MAX);
    config->hints[config->nhints++] = value;
    return true;
}

static bool set_param(void *target, const char *name, const char *value, char *why) {
    bench_config *config = target;
    return bench_params_set(&config->params, config->pattern, name, value, why);
}

#define FIELD(name) offsetof(bench_config, name)
static const tool_option table[] = {
    {"engines", OPTION_CALL, 0, 0, 0, "LIST", "what to measure, of " ENGINES " (sago,mpiio,limit)", set_engines},
    {"dir", OPTION_TEXT, FIELD(dir), 0, 0, "DIR", "where the files go (.)", NULL},
    {"repeat", OPTION_COUNT, FIELD(repeat), 1, BENCH_REPEAT_MAX, "N", "timed repetitions, engines in turn (20)",
     NULL},
    {"warmup", OPTION_COUNT, FIELD(warmup), 0, 1000, "N", "repetitions before (2)", NULL},
    {"cold", OPTION_COUNT, FIELD(cold), 0, BENCH_COLD_MAX, "N",
     "first calls on an opened file, and on a new one (3)", NULL},
    {"seconds", OPTION_COUNT, FIELD(seconds), 0, 86400, "N",
     "most for the first calls, and for the repetitions; 0: no limit (0)", NULL},
    {"verify", OPTION_CALL, 0, 0, 0, "all|first", "every call, or only those before the repetitions (all)",
     set_verify},
    {"declared", OPTION_CALL, 0, 0, 0, "on|off", "declare the variables to sago (on: s3d, hacc-*, flash)",
     set_declared},
    {"calls", OPTION_CALL, 0, 0, 0, "KIND", "blocking or nonblocking, each waited for at once (blocking)",
     set_calls},
    {"views", OPTION_CALL, 0, 0, 0, "once|each",
     "set when files are opened, one for each; or of one file before each call, and a sync (once)", set_views},
    {"hint", OPTION_CALL, 0, 0, 0, "KEY=VALUE", "into the MPI_Info of sago and mpiio; may be repeated", set_hint},
    {"json", OPTION_TEXT, FIELD(json), 0, 0, "FILE", "results for programs", NULL},
    {"memory-check", OPTION_FLAG, FIELD(memory_check), 0, 0, NULL,
     "also measure how far a node's memory rises over an empty call", NULL},
    {"seed", OPTION_COUNT, FIELD(params.seed), 0, INT64_MAX, "N",
     "of contents, irregular patterns and whose file is made first (1)", NULL},
    {"keep", OPTION_FLAG, FIELD(keep), 0, 0, NULL, "do not remove the files", NULL},
};
static const tool_options options = {table, sizeof table / sizeof table[0], set_param, NULL};

/* ---- Help ---- */

enum { INDENT = 17, LINE_WIDTH = 80 }; /* columns of the texts that describe patterns */

static void list_patterns(FILE *out) {
    int64_t count;
    const bench_pattern *patterns = bench_patterns(&count);
    for (int64_t i = 0; i < count; i++) {
        char name[32];
        fprintf(out, "  %-14s ", patterns[i].name);
        fold_print(out, patterns[i].help, INDENT, INDENT, fold_width(LINE_WIDTH));
        fprintf(out, "\n%*s", INDENT - 1, "");
        for (int64_t k = 0;; k++) {
            const char *at = bench_params_name(&patterns[i], k, name);
            if (!at)
                break;
            at += strlen(name) + 1;
            fprintf(out, " --%s %.*s", name, (int)strcspn(at, " "), at);
        }
        fputc('\n', out);
    }
}

static void list_patterns_json(FILE *out) {
    int64_t count;
    const bench_pattern *patterns = bench_patterns(&count);
    sagoi_json json = {.out = out, .lines = SAGOI_JSON_INDENTED};
    sagoi_json_open(&json, NULL, '[');
    for (int64_t i = 0; i < count; i++) {
        char name[32], value[64];
        sagoi_json_open(&json, NULL, '{');
        sagoi_json_text(&json, "name", patterns[i].name);
        sagoi_json_text(&json, "help", patterns[i].help);
        sagoi_json_open(&json, "sizes", '{');
        for (int64_t k = 0;; k++) {
            const char *at = bench_params_name(&patterns[i], k, name);
            if (!at)
                break;
            at += strlen(name) + 1;
            (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(at, " "), at);
            sagoi_json_text(&json, name, value);
        }
        sagoi_json_close(&json, '}');
        sagoi_json_close(&json, '}');
    }
    sagoi_json_close(&json, ']');
}

static void print_help(FILE *out) {
    fold_help(out, "usage: mpiexec -n RANKS sago bench PATTERN [options]\n"
                   "       mpiexec -n RANKS sago bench exchange [options]  blocks between ranks\n"
                   "       mpiexec -n RANKS sago bench storage [options]   how fast it is\n"
                   "       mpiexec -n RANKS sago bench ckpt [options]      checkpoints\n"
                   "       sago bench list [--json]\n"
                   "\n"
                   "Writes and reads an access pattern with Sago, with the MPI library's own MPI-IO and, "
                   "as the limit, the same bytes already in order by one process a core (shuffle: after "
                   "they have changed nodes in large messages).  Engines take turns; every byte is "
                   "verified.  Exit status: 0, 1 for a wrong byte or an error, 2 for wrong options.\n"
                   "\n"
                   "Options:\n");
    options_help(&options, out);
    fprintf(out, "\nPatterns, with their sizes by default:\n");
    list_patterns(out);
    fprintf(out, "\nSizes:\n");
    bench_params_help(out);
    fprintf(out, "\nExample: mpiexec -n 8 sago bench e3sm-f --dir /dev/shm --json out.json\n");
}

static int list_command(int argc, char **argv) {
    bool json = argc == 3 && !strcmp(argv[2], "--json");
    if (argc > 2 && !json)
        return usage_error("bench", "'sago bench list' takes no '%s'", argv[2 + (argc > 3)]);
    if (command_speaks())
        (json ? list_patterns_json : list_patterns)(stdout);
    return EXIT_SUCCESS;
}

int cmd_bench(int argc, char **argv) {
    char why[OPTION_WHY_MAX];
    bench_config config = {.dir = ".", .repeat = 20, .warmup = 2, .cold = 3, .use = {true, true, true}};
    bool list = argc > 1 && !strcmp(argv[1], "list");
    if (argc > 1 && !strcmp(argv[1], "exchange"))
        return cmd_exchange(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "storage"))
        return cmd_bench_storage(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "ckpt"))
        return cmd_bench_ckpt(argc, argv);
    if (list && !options_ask_help(argc, argv))
        return list_command(argc, argv);
    if (options_ask_help(argc, argv)) {
        if (command_speaks())
            (list ? list_patterns : print_help)(stdout);
        return EXIT_SUCCESS;
    }
    if (argc < 2)
        return usage_error("bench", "no pattern given; 'sago bench list' shows them");
    config.pattern = bench_pattern_find(argv[1], why);
    if (!config.pattern)
        return usage_error("bench", "%s", why);
    bench_params_init(&config.params, config.pattern);
    config.declared = config.pattern->declared;
    if (!options_parse(&options, 2, argc, argv, &config, why))
        return usage_error("bench", "%s", why);
    return bench_execute(&config);
}
