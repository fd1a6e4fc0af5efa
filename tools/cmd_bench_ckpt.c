/* `sago bench ckpt`: the command line; bench/checkpoint.c does the work. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "bench/checkpoint.h"
#include "bench/params.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"

static bool set_hint(void *target, const char *value, char *why) {
    ckpt_bench_config *config = target;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || equals - value >= MPI_MAX_INFO_KEY)
        return bench_refuse(why, "--hint %s: must be KEY=VALUE", value);
    if (config->nhints == CKPT_BENCH_HINTS)
        return bench_refuse(why, "more than %d hints", CKPT_BENCH_HINTS);
    config->hints[config->nhints++] = value;
    return true;
}

#define FIELD(name) offsetof(ckpt_bench_config, name)
static const tool_option table[] = {
    {"dir", OPTION_TEXT, FIELD(dir), 0, 0, "DIR", "where the checkpoints go (.)", NULL},
    {"size", OPTION_SIZE, FIELD(size), 4096, INT64_C(1) << 40, "SIZE", "of a rank's array (64M)", NULL},
    {"repeat", OPTION_COUNT, FIELD(repeat), 1, CKPT_BENCH_MAX, "N", "repetitions (7)", NULL},
    {"saves", OPTION_COUNT, FIELD(saves), 1, 1000, "N", "saves in a stretch of computing (3)", NULL},
    {"rate", OPTION_SIZE, FIELD(rate), 1 << 16, INT64_C(1) << 50, "SIZE",
     "a second that the slow store takes (200M)", NULL},
    {"hint", OPTION_CALL, 0, 0, 0, "KEY=VALUE", "as in an MPI_Info; may be repeated", set_hint},
    {"json", OPTION_TEXT, FIELD(json), 0, 0, "FILE", "results for programs", NULL},
};
static const tool_options options = {table, sizeof table / sizeof table[0], NULL, NULL};

static void print_help(void) {
    fold_help(stdout, "usage: mpiexec -n RANKS sago bench ckpt [options]\n"
                      "\n"
                      "Measures what checkpoints cost: how long a save holds the application, beside a "
                      "memcpy; perceived and raw bandwidth and the slowdown of computing with a store that "
                      "is limited in speed, in threaded, rbio and coio mode; encoding of parity; and "
                      "restoring, beside read(2).  Contents are verified.\n"
                      "\n"
                      "Options:\n");
    options_help(&options, stdout);
    printf("\nExample: mpiexec -n 1 sago bench ckpt --dir /dev/shm\n");
}

int cmd_bench_ckpt(int argc, char **argv) {
    char why[OPTION_WHY_MAX];
    ckpt_bench_config config = {.dir = ".", .size = 64 << 20, .repeat = 7, .saves = 3, .rate = 200000000};
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    if (!options_parse(&options, 2, argc, argv, &config, why))
        return usage_error("bench ckpt", "%s", why);
    return ckpt_bench_execute(&config);
}
