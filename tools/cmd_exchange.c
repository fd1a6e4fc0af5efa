/* `sago bench exchange`: the command line; bench/file_exchange.c does the work. */
#include <stdlib.h>

#include "bench/file_exchange.h"
#include "bench/patterns.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"

#define FIELD(name) offsetof(bench_exchange_config, name)
static const tool_option table[] = {
    {"dir", OPTION_TEXT, FIELD(dir), 0, 0, "DIR", "the directory that all ranks see (.)", NULL},
    {"local", OPTION_TEXT, FIELD(local), 0, 0, "DIR", "local storage; who shares it is discovered (/tmp)", NULL},
    {"block", OPTION_SIZE, FIELD(block), 8, INT64_C(1) << 30, "SIZE", "of one block (1M)", NULL},
    {"blocks", OPTION_COUNT, FIELD(blocks), 1, 1000000, "N", "written by each rank in a repetition (8)", NULL},
    {"repeat", OPTION_COUNT, FIELD(repeat), 1, 1000, "N", "repetitions, both ways in turn (5)", NULL},
    {"seed", OPTION_COUNT, FIELD(seed), 0, INT64_C(1) << 40, "N", "of who reads whose block (1)", NULL},
    {"json", OPTION_TEXT, FIELD(json), 0, 0, "FILE", "results for programs", NULL},
};

static const tool_options options = {table, sizeof table / sizeof table[0], NULL, NULL};

static void print_help(void) {
    fold_help(stdout, "usage: mpiexec -n RANKS sago bench exchange [options]\n"
                      "\n"
                      "Ranks hand blocks to each other through files: once all in the directory that "
                      "everybody sees, once in local storage where both ends share it (found by discovery) "
                      "and in the global one elsewhere.  Every byte is verified.  Exit status: 0, 1 for a "
                      "wrong byte or an error, 2 for wrong options.\n"
                      "\n"
                      "Options:\n");
    options_help(&options, stdout);
}

int cmd_exchange(int argc, char **argv) {
    char why[OPTION_WHY_MAX];
    bench_exchange_config config = {
        .dir = ".", .local = "/tmp", .block = 1 << 20, .blocks = 8, .repeat = 5, .seed = 1};
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    if (!options_parse(&options, 2, argc, argv, &config, why))
        return usage_error("bench exchange", "%s", why);
    return bench_exchange_execute(&config);
}
