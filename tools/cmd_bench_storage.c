/* `sago bench storage`: the command line; bench/storage_times.c does the work. */
#include <stdlib.h>

#include "bench/storage_times.h"
#include "bench/patterns.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"

#define FIELD(name) offsetof(bench_storage_config, name)
static const tool_option table[] = {
    {"dir", OPTION_TEXT, FIELD(dir), 0, 0, "DIR", "the directory that all ranks see (.)", NULL},
    {"local", OPTION_TEXT, FIELD(local), 0, 0, "DIR", "local storage; who shares it is discovered (/tmp)", NULL},
    {"bytes", OPTION_SIZE, FIELD(bytes), 0, INT64_C(1) << 40, "SIZE", "that each rank writes; 0: none (8M)", NULL},
    {"repeat", OPTION_COUNT, FIELD(repeat), 1, 1000, "N", "repetitions (5)", NULL},
    {"json", OPTION_TEXT, FIELD(json), 0, 0, "FILE", "results for programs", NULL},
};

static const tool_options options = {table, sizeof table / sizeof table[0], NULL, NULL};

static void print_help(void) {
    fold_help(stdout, "usage: mpiexec -n RANKS sago bench storage [options]\n"
                      "\n"
                      "How long it takes to find who shares a directory, in each of the three ways, for the "
                      "one that all see and for local storage; then the time to write to each: one file of "
                      "all ranks, and one of each group that shares local storage, from opening to closing, "
                      "synced.  Exit status: 0, 1 for an error, 2 for wrong options.\n"
                      "\n"
                      "Options:\n");
    options_help(&options, stdout);
}

int cmd_bench_storage(int argc, char **argv) {
    char why[OPTION_WHY_MAX];
    bench_storage_config config = {.dir = ".", .local = "/tmp", .bytes = 8 << 20, .repeat = 5};
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    if (!options_parse(&options, 2, argc, argv, &config, why))
        return usage_error("bench storage", "%s", why);
    return bench_storage_execute(&config);
}
