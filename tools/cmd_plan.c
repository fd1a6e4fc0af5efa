/* `sago plan`: the plan that the library would make for a pattern, on this machine or on a described one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"
#include "tools/plan_input.h"
#include "tools/plan_output.h"
#include "tools/plan_route.h"

/* ---- Options ---- */

static bool set_subfiles(void *target, const char *value, char *why) {
    plan_config *config = target;
    return sagoi_hints_set(&config->hints, "sago_subfiles", value) == SAGO_OK ||
           bench_refuse(why, "%s", sago_error_message());
}

static bool set_kind(void *target, const char *value, char *why) {
    static const char *const kinds[] = {"collective", "nonblocking", "declared", "independent"};
    plan_config *config = target;
    for (int i = 0; i < 4; i++)
        if (!strcmp(value, kinds[i])) {
            config->kind = (plan_kind)i;
            return true;
        }
    return bench_refuse(why, "--kind %s: collective, nonblocking, declared or independent", value);
}

#define FIELD(name) offsetof(plan_config, name)
static const tool_option table[] = {
    {"machine", OPTION_TEXT, FIELD(machine), 0, 0, "FILE", "plan for the machine described there", NULL},
    {"nodes", OPTION_COUNT, FIELD(nodes), 1, 1 << 20, "N", "nodes of a described machine (this machine)", NULL},
    {"ranks-per-node", OPTION_COUNT, FIELD(ranks), 1, 1 << 16, "N", "ranks on each (one a core)", NULL},
    {"cores", OPTION_COUNT, FIELD(cores), 1, 1 << 16, "N", "cores of each (as many as ranks)", NULL},
    {"memory", OPTION_SIZE, FIELD(memory), 1 << 20, INT64_C(1) << 50, "SIZE", "for the library on each node",
     NULL},
    {"stripe-unit", OPTION_SIZE, FIELD(stripe_unit), 512, INT64_C(1) << 32, "SIZE", "of a striped file", NULL},
    {"stripe-count", OPTION_COUNT, FIELD(stripe_count), 1, 1 << 16, "N", "storage targets of a striped file",
     NULL},
    {"pace", OPTION_SIZE, FIELD(pace), 1, INT64_C(1) << 50, "SIZE",
     "a second: what earlier calls of the job told of an undescribed network", NULL},
    {"subfiles", OPTION_CALL, 0, 0, 0, "N|node|gateway",
     "as --hint sago_subfiles=...: the file is kept in several", set_subfiles},
    {"dir", OPTION_TEXT, FIELD(dir), 0, 0, "DIR", "one node, or this job: where the file would be (.)", NULL},
    {"hint", OPTION_CALL, 0, 0, 0, "KEY=VALUE", "as in an MPI_Info; may be repeated", plan_set_hint},
    {"declared", OPTION_CALL, 0, 0, 0, "on|off", "all variables together (on: s3d, hacc-*, flash)",
     plan_set_declared},
    {"kind", OPTION_CALL, 0, 0, 0, "KIND", "of the calls: collective, nonblocking, declared, independent",
     set_kind},
    {"calls", OPTION_FLAG, FIELD(calls), 0, 0, NULL, "the route of each call of a step, instead of a plan", NULL},
    {"extents", OPTION_FLAG, FIELD(extents), 0, 0, NULL, "the calls list their runs, and use no view", NULL},
    {"accessed", OPTION_COUNT, FIELD(accessed), 0, INT64_MAX, "N",
     "times that each rank accessed its part before (0)", NULL},
    {"sparse", OPTION_FLAG, FIELD(sparse), 0, 0, NULL, "the file has holes", NULL},
    {"read", OPTION_FLAG, FIELD(read), 0, 0, NULL, "plan a read", NULL},
    {"seed", OPTION_COUNT, FIELD(params.seed), 0, INT64_MAX, "N", "of irregular patterns (1)", NULL},
    {"explain", OPTION_FLAG, FIELD(explain), 0, 0, NULL, "what other decisions would have cost", NULL},
    {"svg", OPTION_TEXT, FIELD(svg), 0, 0, "FILE", "draw the plan, too", NULL},
    {"scale", OPTION_FLAG, FIELD(scale), 0, 0, NULL,
     "instead: time and memory of planning for up to 1,000,000 ranks", NULL},
    {"json", OPTION_FLAG, FIELD(json), 0, 0, NULL, "for programs", NULL},
};
static const tool_options options = {table, sizeof table / sizeof table[0], plan_set_param, NULL};

static void print_help(void) {
    fold_help(stdout, "usage: sago plan PATTERN [options] [sizes of the pattern]\n"
                      "\n"
                      "Prints how Sago would move an access pattern: the route of its calls, strategy, "
                      "aggregators, windows, rounds, and why.  'sago bench --help' lists the patterns and "
                      "their sizes.\n"
                      "\n"
                      "Options:\n");
    options_help(&options, stdout);
    printf("\nExamples: sago plan e3sm-f --nodes 64 --stripe-unit 1M --stripe-count 8\n"
           "          sago plan hacc-aos --machine theta --nodes 1024 --svg plan.svg\n");
}

/* ---- Plan ---- */

typedef struct outcome {
    plan_input input;
    sagoi_plan plan;
    plan_route route;
} outcome;

static void print_job(const plan_config *config, const plan_input *input) {
    const sagoi_topology *topology = input->machine.topology;
    char numa[48] = "";
    if (topology && topology->numa > 0)
        (void)snprintf(numa, sizeof numa, " in %lld NUMA domain%s", (long long)topology->numa,
                       topology->numa == 1 ? "" : "s");
    printf("%s: %lld node%s with %lld rank%s and %lld core%s%s%s\n", config->pattern->name,
           (long long)config->nodes, config->nodes == 1 ? "" : "s", (long long)config->ranks,
           config->ranks == 1 ? "" : "s", (long long)config->cores, config->cores == 1 ? "" : "s", numa,
           config->nodes == 1 ? "" : " each");
    if (input->found.source[0])
        printf("the nodes of this job (SLURM_JOB_NODELIST); network: %s\n", input->found.source);
}

static void print_route_and_plan(const void *what, FILE *out) {
    const outcome *o = what;
    plan_route_print(&o->route, out);
    if (plan_route_follows_plan(&o->route))
        sagoi_plan_print_text(&o->plan, out);
}

/* With the other routes, and the plan that would be followed together. */
static void print_explained(const void *what, FILE *out) {
    const outcome *o = what;
    plan_route_print(&o->route, out);
    plan_route_print_others(&o->route, out);
    if (!plan_route_follows_plan(&o->route))
        fprintf(out, "together instead it would be\n");
    sagoi_plan_print_text(&o->plan, out);
}

static bool print_text(const plan_config *config, const outcome *o, char *why) {
    print_job(config, &o->input);
    fold_printed(config->explain ? print_explained : print_route_and_plan, o);
    return !config->explain || plan_explain(&o->input, &config->hints, &o->plan, why);
}

static void print_json(const outcome *o) {
    sagoi_json json = {.out = stdout, .lines = 2};
    sagoi_json_open(&json, NULL, '{');
    plan_route_print_json(&o->route, &json);
    sagoi_plan_print_json(&o->plan, &json);
    sagoi_json_close(&json, '}');
}

static bool draw(const plan_config *config, const plan_input *input, const sagoi_plan *plan, char *why) {
    char title[160];
    FILE *out = fopen(config->svg, "w");
    if (!out)
        return bench_refuse(why, "--svg %s: %s", config->svg, strerror(errno));
    (void)snprintf(title, sizeof title, "%s on %lld node%s%s%s, %lld rank%s%s", config->pattern->name,
                   (long long)config->nodes, config->nodes == 1 ? "" : "s", config->machine ? " of " : "",
                   input->description.name, (long long)config->ranks, config->ranks == 1 ? "" : "s",
                   config->nodes == 1 ? "" : " each");
    plan_svg(config, input, plan, title, out);
    bool failed = ferror(out);
    failed = fclose(out) != 0 || failed;
    return !failed || bench_refuse(why, "--svg %s: %s", config->svg, strerror(errno));
}

static bool show(const plan_config *config, const outcome *o, char *why) {
    if (config->svg && !draw(config, &o->input, &o->plan, why))
        return false;
    if (config->json)
        print_json(o);
    return config->json || print_text(config, o, why);
}

static bool outcome_make(plan_config *config, outcome *o, char *why) {
    if (!plan_input_make(config, &o->input, why))
        return false;
    const plan_input *input = &o->input;
    if (sagoi_plan_make(&input->machine, &input->shape, &input->target, &config->hints, &o->plan) != SAGO_OK ||
        sagoi_plan_check(&o->plan, &input->machine) != SAGO_OK)
        return bench_refuse(why, "%s", sago_error_message());
    return plan_route_make(config, input, &o->plan, &o->route, why);
}

static void outcome_cleanup(outcome *o) {
    sagoi_plan_cleanup(&o->plan);
    plan_input_cleanup(&o->input);
}

static bool plan_run(plan_config *config, char *why) {
    outcome o = {0};
    bool ok = outcome_make(config, &o, why) && show(config, &o, why);
    outcome_cleanup(&o);
    return ok;
}

/* ---- Call by call ---- */

static void print_calls(int64_t first, int64_t last, const char *line) {
    if (first < last)
        printf("call %lld to %lld  %s\n", (long long)first + 1, (long long)last + 1, line);
    else
        printf("call %lld  %s\n", (long long)first + 1, line);
}

/* The number of calls that rank 0 makes in a step. */
static bool count_calls(const plan_config *config, int64_t *calls, char *why) {
    bench_access access;
    bool ok = bench_pattern_make(config->pattern, &config->params, 0, config->nodes * config->ranks, &access, why);
    *calls = config->kind == PLAN_DECLARED ? 1 : access.ncalls;
    bench_access_cleanup(&access);
    return ok;
}

/* Neighbouring calls that take the same route share a line. */
static bool calls_run(const plan_config *config, char *why) {
    char line[ROUTE_LINE_MAX], before[ROUTE_LINE_MAX] = "";
    int64_t calls = 1, first = 0;
    for (int64_t i = 0; i < calls; i++) {
        plan_config one = *config; /* a copy, which is completed by defaults */
        outcome o = {0};
        one.call = i;
        bool ok = outcome_make(&one, &o, why) && count_calls(&one, &calls, why);
        if (ok && i == 0)
            print_job(&one, &o.input);
        plan_route_line(&o.route, line);
        outcome_cleanup(&o);
        if (!ok)
            return false;
        if (i > 0 && strcmp(line, before) != 0) {
            print_calls(first, i - 1, before);
            first = i;
        }
        memcpy(before, line, sizeof before);
    }
    print_calls(first, calls - 1, before);
    return true;
}

/* --scale takes no pattern. */
static bool scale_run(int argc, char **argv, plan_config *config, char *why) {
    return options_parse(&options, 1, argc, argv, config, why) && plan_scale(&config->hints, why);
}

/* A plan for this machine looks at the file system of a directory: the current one, unless --dir names another.  A
 * described machine, or several nodes, may have other file systems than this machine, so there --dir is refused.
 */
static bool choose_dir(plan_config *config, char *why) {
    bool elsewhere = config->machine || config->nodes > 1;
    if (config->dir && elsewhere)
        return bench_refuse(why, "--dir %s: a directory of this machine says nothing of %s", config->dir,
                            config->machine ? "a described machine" : "several nodes");
    if (!config->dir && !elsewhere && config->nodes == 0)
        config->dir = ".";
    return true;
}

int cmd_plan(int argc, char **argv) {
    char why[OPTION_WHY_MAX];
    plan_config config = {0};
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    if (sagoi_hints_init(&config.hints) != SAGO_OK)
        return usage_error("plan", "%s", sago_error_message());
    if (argc >= 2 && !strcmp(argv[1], "--scale"))
        return scale_run(argc, argv, &config, why) ? EXIT_SUCCESS : usage_error("plan", "%s", why);
    if (argc < 2)
        return usage_error("plan", "no pattern given; 'sago bench list' shows them");
    config.pattern = bench_pattern_find(argv[1], why);
    if (!config.pattern)
        return usage_error("plan", "%s", why);
    bench_params_init(&config.params, config.pattern);
    config.kind = config.pattern->declared ? PLAN_DECLARED : PLAN_COLLECTIVE;
    if (!options_parse(&options, 2, argc, argv, &config, why))
        return usage_error("plan", "%s", why);
    if (config.scale)
        return usage_error("plan", "--scale stands for itself: 'sago plan --scale', without a pattern");
    if (config.calls && (config.json || config.svg || config.explain))
        return usage_error("plan", "--calls prints the routes alone: without --json, --svg and --explain");
    if (!choose_dir(&config, why))
        return usage_error("plan", "%s", why);
    bool ok = config.calls ? calls_run(&config, why) : plan_run(&config, why);
    return ok ? EXIT_SUCCESS : usage_error("plan", "%s", why);
}
