/* `sago plan`: the shape of a pattern, worked out rank by rank without MPI, and the plan the library would make
 * of it, on this machine or on a described one. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/params.h"
#include "machine/memory.h"
#include "plan/plan.h"
#include "store/layout.h"
#include "tools/command.h"
#include "tools/options.h"

typedef struct plan_config {
    const bench_pattern *pattern;
    bench_params params;
    int64_t nodes; /* 0: this machine */
    int64_t ranks, cores, memory;
    int64_t stripe_unit, stripe_count;
    const char *dir;
    bool read, json;
    bool declared;
    sagoi_hints hints;
} plan_config;

/* ---- Options ---- */

static bool set_hint(void *target, const char *value, char *why) {
    plan_config *config = target;
    char key[128];
    const char *equals = strchr(value, '=');
    if (!equals)
        return bench_refuse(why, "--hint %s: must be KEY=VALUE", value);
    snprintf(key, sizeof key, "%.*s", (int)(equals - value), value);
    return sagoi_hints_set(&config->hints, key, equals + 1) == SAGO_OK ||
           bench_refuse(why, "%s", sago_error_message());
}

static bool set_declared(void *target, const char *value, char *why) {
    plan_config *config = target;
    config->declared = !strcmp(value, "on");
    return config->declared || !strcmp(value, "off") || bench_refuse(why, "--declared %s: on or off", value);
}

static bool set_param(void *target, const char *name, const char *value, char *why) {
    plan_config *config = target;
    return bench_params_set(&config->params, config->pattern, name, value, why);
}

#define FIELD(name) offsetof(plan_config, name)
static const tool_option table[] = {
    {"nodes", OPTION_COUNT, FIELD(nodes), 1, 1 << 20, "N", "nodes of a described machine (this machine)", NULL},
    {"ranks-per-node", OPTION_COUNT, FIELD(ranks), 1, 1 << 16, "N", "ranks on each (one a core)", NULL},
    {"cores", OPTION_COUNT, FIELD(cores), 1, 1 << 16, "N", "cores of each (as many as ranks)", NULL},
    {"memory", OPTION_SIZE, FIELD(memory), 1 << 20, INT64_C(1) << 50, "SIZE", "for the library on each node",
     NULL},
    {"stripe-unit", OPTION_SIZE, FIELD(stripe_unit), 512, INT64_C(1) << 32, "SIZE", "of a striped file", NULL},
    {"stripe-count", OPTION_COUNT, FIELD(stripe_count), 1, 1 << 16, "N", "storage targets of a striped file",
     NULL},
    {"dir", OPTION_TEXT, FIELD(dir), 0, 0, "DIR", "this machine: where the file would be (.)", NULL},
    {"hint", OPTION_CALL, 0, 0, 0, "KEY=VALUE", "as in an MPI_Info; may be repeated", set_hint},
    {"declared", OPTION_CALL, 0, 0, 0, "on|off", "all variables together (on: s3d, hacc-*, flash)", set_declared},
    {"read", OPTION_FLAG, FIELD(read), 0, 0, NULL, "plan a read", NULL},
    {"seed", OPTION_COUNT, FIELD(params.seed), 0, INT64_MAX, "N", "of irregular patterns (1)", NULL},
    {"json", OPTION_FLAG, FIELD(json), 0, 0, NULL, "for programs", NULL},
};
static const tool_options options = {table, sizeof table / sizeof table[0], set_param};

static void print_help(FILE *out) {
    fprintf(out, "usage: sago plan PATTERN [options] [sizes of the pattern]\n\n"
                 "Prints how Sago would move an access pattern: strategy, aggregators, windows, rounds, and why.\n"
                 "'sago bench --help' lists the patterns and their sizes.\n\nOptions:\n");
    options_help(&options, out);
    fprintf(
        out,
        "\nExample: sago plan e3sm-f --c 1 --nodes 64 --ranks-per-node 32 --stripe-unit 1M --stripe-count 8\n");
}

/* ---- Machine and file ---- */

static int64_t own_cores(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
}

/* What the library would take by itself (src/engine). */
static int64_t default_memory(int64_t ranks) {
    int64_t share = sagoi_memory_available("") / 8, most = (ranks + 1) << 26;
    return share < most ? share : most;
}

static void complete_machine(plan_config *config) {
    bool own = config->nodes == 0;
    if (own)
        config->nodes = 1;
    if (config->ranks == 0)
        config->ranks = own_cores();
    if (config->cores == 0)
        config->cores = own ? own_cores() : config->ranks;
    if (config->memory == 0)
        config->memory = config->hints.memory ? config->hints.memory : default_memory(config->ranks);
    if (!own)
        config->dir = NULL; /* this machine's file systems say nothing of that one's */
}

static bool target_of(const plan_config *config, sagoi_target *target, char *why) {
    sagoi_layout layout = {.block = 4096};
    if (config->dir) {
        int fd = open(config->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return bench_refuse(why, "--dir %s: %s", config->dir, strerror(errno));
        sago_status status = sagoi_layout_of(fd, &layout);
        close(fd);
        if (status)
            return bench_refuse(why, "%s", sago_error_message());
    }
    bool may_map = layout.in_memory || (config->hints.map == SAGOI_CHOICE_ON && layout.local);
    *target = (sagoi_target){
        .block = layout.block,
        .stripe_unit = config->stripe_unit ? config->stripe_unit : layout.stripe_unit,
        .stripe_count = config->stripe_count ? config->stripe_count : layout.stripe_count,
        .mappable = config->nodes == 1 && may_map && config->hints.map != SAGOI_CHOICE_OFF,
    };
    if ((target->stripe_unit > 0) != (target->stripe_count > 0))
        return bench_refuse(why, "a striped file needs both --stripe-unit and --stripe-count");
    return true;
}

/* ---- Shape ---- */

/* Adds what one call does to a node's shape. */
static void add_call(sagoi_node_shape *shape, const bench_call *call) {
    int64_t low, high;
    bench_region_bounds(&call->file, &low, &high);
    if (low == high)
        return;
    low += call->disp;
    high += call->disp;
    if (shape->bytes == 0 || low < shape->low)
        shape->low = low;
    if (high > shape->high)
        shape->high = high;
    shape->bytes += bench_region_bytes(&call->file);
    shape->runs += bench_region_runs(&call->file);
}

/* Of one step: all variables, or the first call. */
static bool shape_of_node(const plan_config *config, int64_t node, sagoi_node_shape *shape, char *why) {
    int64_t ranks = config->nodes * config->ranks;
    *shape = (sagoi_node_shape){0};
    for (int64_t r = node * config->ranks; r < (node + 1) * config->ranks; r++) {
        bench_access access;
        if (!bench_pattern_make(config->pattern, &config->params, r, ranks, &access, why))
            return false;
        for (int64_t i = 0; i < (config->declared ? access.ncalls : access.ncalls > 0); i++)
            add_call(shape, &access.calls[i]);
        bench_access_cleanup(&access);
    }
    return true;
}

/* The runs of patterns never overlap: as many bytes as the range has means no hole. */
static bool is_dense(int64_t nodes, const sagoi_node_shape *shapes) {
    int64_t low = INT64_MAX, high = 0, bytes = 0;
    for (int64_t n = 0; n < nodes; n++) {
        if (shapes[n].bytes == 0)
            continue;
        low = shapes[n].low < low ? shapes[n].low : low;
        high = shapes[n].high > high ? shapes[n].high : high;
        bytes += shapes[n].bytes;
    }
    return bytes > 0 && bytes == high - low;
}

/* ---- Plan ---- */

static void print_text(const plan_config *config, const sagoi_plan *plan) {
    printf("%s: %lld node%s with %lld ranks and %lld cores each\n", config->pattern->name,
           (long long)config->nodes, config->nodes == 1 ? "" : "s", (long long)config->ranks,
           (long long)config->cores);
    sagoi_plan_print_text(plan, stdout);
}

static bool print_plan(const plan_config *config, const sagoi_node_shape *shapes, char *why) {
    sagoi_node *nodes = calloc((size_t)config->nodes, sizeof *nodes);
    sagoi_target target;
    sagoi_plan plan = {0};
    if (!nodes)
        return bench_refuse(why, "out of memory");
    for (int64_t n = 0; n < config->nodes; n++)
        nodes[n] =
            (sagoi_node){.ranks = config->ranks, .cores = config->cores, .memory = config->memory, .place = n};
    sagoi_machine machine = {.nodes = config->nodes, .node = nodes};
    sagoi_shape shape = {
        .write = !config->read, .dense = is_dense(config->nodes, shapes), .nodes = config->nodes, .node = shapes};
    bool ok = target_of(config, &target, why);
    if (ok && (sagoi_plan_make(&machine, &shape, &target, &config->hints, &plan) != SAGO_OK ||
               sagoi_plan_check(&plan, &machine) != SAGO_OK))
        ok = bench_refuse(why, "%s", sago_error_message());
    if (ok && config->json)
        sagoi_plan_print_json(&plan, stdout);
    else if (ok)
        print_text(config, &plan);
    sagoi_plan_cleanup(&plan);
    free(nodes);
    return ok;
}

static bool plan_run(const plan_config *config, char *why) {
    sagoi_node_shape *shapes = calloc((size_t)config->nodes, sizeof *shapes);
    if (!shapes)
        return bench_refuse(why, "out of memory");
    bool ok = true;
    for (int64_t n = 0; ok && n < config->nodes; n++)
        ok = shape_of_node(config, n, &shapes[n], why);
    ok = ok && print_plan(config, shapes, why);
    free(shapes);
    return ok;
}

int cmd_plan(int argc, char **argv) {
    char why[OPTION_WHY_MAX];
    plan_config config = {.dir = "."};
    if (options_ask_help(argc, argv)) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    if (argc < 2)
        return usage_error("plan", "no pattern given; 'sago bench list' shows them");
    config.pattern = bench_pattern_find(argv[1]);
    if (!config.pattern)
        return usage_error("plan", "no pattern '%s'; 'sago bench list' shows them", argv[1]);
    bench_params_init(&config.params, config.pattern);
    config.declared = config.pattern->declared;
    if (sagoi_hints_init(&config.hints) != SAGO_OK)
        return usage_error("plan", "%s", sago_error_message());
    if (!options_parse(&options, 2, argc, argv, &config, why))
        return usage_error("plan", "%s", why);
    complete_machine(&config);
    return plan_run(&config, why) ? EXIT_SUCCESS : usage_error("plan", "%s", why);
}
