/* `sago-sim`, which `sago sim` runs: a pattern on a machine that is not there, by several engines.  SimGrid can
 * run once in a process, so each call of each engine has one of its own. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/checked.h"
#include "bench/progress.h"
#include "sim/neighbours.h"
#include "sim/sim_report.h"
#include "tools/fold.h"
#include "tools/options.h"

enum { EXIT_WRONG = 2, CALLS_SIMULATED = 9, MEMORY_LEAST = 8 << 20 };

typedef struct sim_config {
    plan_config plan; /* first: its options are read by the same functions */
    sim_options options;
    const char *engines, *costs_of, *svg;
    int64_t memory_sd, memory_draws, draw;
    bool json, costs_table, neighbours, unseen;
    int64_t ncosts, nlevels;
    const char *cost[32], *level[8];
} sim_config;

/* ---- Options ---- */

static bool set_cost(void *target, const char *value, char *why) {
    sim_config *config = target;
    if (config->ncosts == (int64_t)(sizeof config->cost / sizeof config->cost[0]))
        return bench_refuse(why, "--cost: too many");
    config->cost[config->ncosts++] = value;
    return true;
}

static bool set_level(void *target, const char *value, char *why) {
    sim_config *config = target;
    if (config->nlevels == (int64_t)(sizeof config->level / sizeof config->level[0]))
        return bench_refuse(why, "--level: too many");
    config->level[config->nlevels++] = value;
    return true;
}

static bool set_model(void *target, const char *value, char *why) {
    sim_config *config = target;
    bool flows = !strcmp(value, "flows");
    config->options.model = flows ? SIM_MODEL_FLOWS : SIM_MODEL_LINKS;
    return flows || !strcmp(value, "links") || bench_refuse(why, "--model %s: flows or links", value);
}

#define FIELD(name) offsetof(sim_config, name)
static const tool_option table[] = {
    {"engines", OPTION_TEXT, FIELD(engines), 0, 0, "LIST", "which, with commas between (sago,two-phase)", NULL},
    {"machine", OPTION_TEXT, FIELD(plan.machine), 0, 0, "FILE", "the machine described there", NULL},
    {"nodes", OPTION_COUNT, FIELD(plan.nodes), 1, 1 << 20, "N", "so many nodes of it", NULL},
    {"ranks-per-node", OPTION_COUNT, FIELD(plan.ranks), 1, 1 << 16, "N", "ranks on each", NULL},
    {"cores", OPTION_COUNT, FIELD(plan.cores), 1, 1 << 16, "N", "cores of each", NULL},
    {"memory", OPTION_SIZE, FIELD(plan.memory), 1 << 16, INT64_C(1) << 50, "SIZE", "for the library on each node",
     NULL},
    {"memory-sd", OPTION_SIZE, FIELD(memory_sd), 1, INT64_C(1) << 50, "SIZE",
     "draw each node's memory from a normal distribution around --memory (paper 004)", NULL},
    {"memory-draws", OPTION_COUNT, FIELD(memory_draws), 1, 1 << 10, "N",
     "so many draws a node, one for each process that may aggregate (1)", NULL},
    {"memory-beside", OPTION_SIZE, FIELD(options.beside), 1, INT64_C(1) << 50, "SIZE",
     "--memory is for aggregators' buffers, this for all else; Sago's reserve of a quarter comes on top", NULL},
    {"draw", OPTION_COUNT, FIELD(draw), 0, 1 << 30, "N", "another draw (1)", NULL},
    {"stripe-unit", OPTION_SIZE, FIELD(plan.stripe_unit), 512, INT64_C(1) << 32, "SIZE", "of a striped file",
     NULL},
    {"stripe-count", OPTION_COUNT, FIELD(plan.stripe_count), 1, 1 << 16, "N", "storage targets of a striped file",
     NULL},
    {"pace", OPTION_SIZE, FIELD(plan.pace), 1, INT64_C(1) << 50, "SIZE",
     "a second: what earlier calls of the job told Sago of the network", NULL},
    {"hint", OPTION_CALL, 0, 0, 0, "KEY=VALUE", "for Sago, as in an MPI_Info; may be repeated", plan_set_hint},
    {"declared", OPTION_CALL, 0, 0, 0, "on|off", "all variables together, where the engine can",
     plan_set_declared},
    {"read", OPTION_FLAG, FIELD(plan.read), 0, 0, NULL, "read instead of write", NULL},
    {"per-target", OPTION_COUNT, FIELD(options.per_target), 1, 1 << 16, "N",
     "the peers' aggregators a storage target (1)", NULL},
    {"cb-nodes", OPTION_COUNT, FIELD(options.cb_nodes), 1, 1 << 20, "N",
     "the peers' aggregators without stripes (one a node)", NULL},
    {"buffer", OPTION_SIZE, FIELD(options.buffer), 4096, INT64_C(1) << 32, "SIZE",
     "of the peers' aggregators (theirs)", NULL},
    {"always", OPTION_FLAG, FIELD(options.always), 0, 0, NULL,
     "the peers gather even where ranges do not interleave (romio_cb_write=enable)", NULL},
    {"no-sieving", OPTION_FLAG, FIELD(options.sieve_off), 0, 0, NULL,
     "the peers write runs instead of filling holes", NULL},
    {"times", OPTION_COUNT, FIELD(options.times), 1, 1 << 20, "N", "the file goes on like this so many times (1)",
     NULL},
    {"repeated", OPTION_FLAG, FIELD(options.repeated), 0, 0, NULL,
     "a call of the same shape came before: Sago's lists are known", NULL},
    {"shared-cores", OPTION_COUNT, FIELD(options.shared_cores), 1, 1 << 16, "N",
     "all nodes share so many cores: namespaces of one machine", NULL},
    {"send-only", OPTION_FLAG, FIELD(options.send_only), 0, 0, NULL,
     "links limit what nodes send, not what they receive", NULL},
    {"burst", OPTION_SIZE, FIELD(options.burst), 1, INT64_C(1) << 32, "SIZE",
     "so much passes a link at once after a pause, as through a token bucket", NULL},
    {"plain-peers", OPTION_FLAG, FIELD(options.plain_peers), 0, 0, NULL,
     "the peers do not see stripes, as ROMIO on a file system that it does not know", NULL},
    {"bridges-first", OPTION_FLAG, FIELD(options.bridges_first), 0, 0, NULL,
     "the peers' aggregators are on the gateways' nodes and those after them, as in MPICH on BG/Q (spread)", NULL},
    {"unseen-stripes", OPTION_FLAG, FIELD(unseen), 0, 0, NULL,
     "the file has stripes that no engine knows of; where a window's begin is drawn", NULL},
    {"rounds", OPTION_COUNT, FIELD(options.rounds), 1, 1024, "N",
     "rounds to simulate (as many as are cheap, at least 2)", NULL},
    {"model", OPTION_CALL, 0, 0, 0, "flows|links", "every flow on SimGrid, or sums link by link (by their number)",
     set_model},
    {"costs", OPTION_TEXT, FIELD(costs_of), 0, 0, "NAME",
     "a machine's costs (those of --machine); alone: the table", NULL},
    {"level", OPTION_CALL, 0, 0, 0, "NAME=RATE[/LATENCY]",
     "bytes a second (and seconds) of the links of a level: node, row, column, global, or a number from 0",
     set_level},
    {"cost", OPTION_CALL, 0, 0, 0, "NAME=VALUE", "one cost, otherwise; may be repeated", set_cost},
    {"seed", OPTION_COUNT, FIELD(plan.params.seed), 0, INT64_MAX, "N", "of irregular patterns (1)", NULL},
    {"neighbours", OPTION_FLAG, FIELD(neighbours), 0, 0, NULL,
     "Sago's plan beside those that differ from it in one decision", NULL},
    {"svg", OPTION_TEXT, FIELD(svg), 0, 0, "FILE", "draw a timeline, too", NULL},
    {"json", OPTION_FLAG, FIELD(json), 0, 0, NULL, "for programs", NULL},
};
static const tool_options options = {table, sizeof table / sizeof table[0], plan_set_param, NULL};

static void print_help(FILE *out) {
    int64_t count;
    const sim_engine *const *engine = sim_engines(&count);
    fold_help(out,
              "usage: sago sim PATTERN --machine FILE [options] [sizes of the pattern]\n"
              "       sago sim --costs\n\n"
              "Simulates how long engines take for an access pattern on a described machine, with contention.  "
              "'sago bench --help' lists the patterns and their sizes.\n\nOptions:\n");
    options_help(&options, out);
    fprintf(out, "\nEngines:\n");
    for (int64_t i = 0; i < count; i++)
        fprintf(out, "  %-12s %s\n", engine[i]->name, engine[i]->help);
    fprintf(out, "\nExample: sago sim s3d --dims 800 --machine theta --nodes 256 --stripe-unit 1M \\\n"
                 "             --stripe-count 56 --engines sago,tam:1,two-phase --svg timeline.svg\n");
}

static int fail(const char *why) {
    fprintf(stderr, "sago sim: %s\nTry 'sago sim --help'.\n", why);
    return EXIT_WRONG;
}

/* ---- The case ---- */

/* Twelve uniform numbers make a normal one; no draw is below `least`. */
static int64_t draw_once(const sim_config *config, int64_t mean, int64_t least, uint64_t *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(bench_random(random) >> 11) * 0x1p-53;
    double memory = (double)mean + sum * (double)config->memory_sd;
    return memory < (double)least ? least : (int64_t)memory;
}

/* None has less than what the library needs at the least on any node. */
static void draw_memory(const sim_config *config, sim_case *c) {
    int64_t least = c->options.beside > 0 ? 0 : c->config.memory < MEMORY_LEAST ? c->config.memory : MEMORY_LEAST;
    uint64_t random = (uint64_t)(config->draw > 0 ? config->draw : 1);
    for (int64_t n = 0; config->memory_sd > 0 && n < c->config.nodes; n++) {
        c->input.nodes[n].memory = 0;
        for (int64_t i = 0; i < sagoi_max(1, config->memory_draws); i++)
            c->input.nodes[n].memory += draw_once(config, c->config.memory, least, &random);
    }
    for (int64_t n = 0; c->options.beside > 0 && n < c->config.nodes; n++)
        c->input.nodes[n].memory += c->input.nodes[n].memory / 3 + c->options.beside;
}

static int64_t targets_of(const sim_case *c) {
    if (c->input.target.stripe_count > 0)
        return c->input.target.stripe_count;
    for (int64_t t = 0; t < c->input.description.tiers; t++)
        if (c->input.description.tier[t].sharing == SAGOI_SHARED_ALL && c->input.description.tier[t].targets > 0)
            return c->input.description.tier[t].targets;
    return sagoi_topology_gateways(&c->topology) > 0 ? 1 : 0;
}

/* "global=1.5e9": links of another speed than the description's. */
static bool change_level(sagoi_topology *topology, const char *text, char *why) {
    static const char *const names[] = {"node", "row", "column", "global"};
    size_t length = strcspn(text, "=");
    int64_t level = -1;
    char *end = NULL;
    for (int64_t i = 0; i < 4; i++)
        if (topology->kind == SAGOI_DRAGONFLY && strlen(names[i]) == length && !strncmp(names[i], text, length))
            level = i;
    if (length == 1 && *text >= '0' && *text <= '9')
        level = *text - '0';
    double rate = text[length] ? strtod(text + length + 1, &end) : 0, latency = 0;
    bool timed = end && *end == '/';
    if (timed)
        latency = strtod(end + 1, &end);
    if (level < 0 || level >= topology->levels)
        return bench_refuse(why, "--level %s: the network has no such level", text);
    if (!end || *end || !isfinite(rate) || rate <= 0 || !isfinite(latency) || latency < 0)
        return bench_refuse(why, "--level %s: must be NAME=RATE in bytes a second, or NAME=RATE/SECONDS", text);
    topology->level[level].bandwidth = rate;
    if (timed)
        topology->level[level].latency = latency;
    return true;
}

/* One target stands for what is behind gateways whose targets nobody has counted. */
static bool find_costs(const sim_config *config, sim_case *c, char *why) {
    bool counted = c->targets > 1 || c->input.target.stripe_count > 0;
    if (!config->costs_of)
        sim_costs_described(c->config.machine ? &c->input.description : NULL, counted, &c->costs, &c->costs_of);
    else if (!sim_costs_of(config->costs_of, &c->costs, &c->costs_of))
        return bench_refuse(why, "--costs %s: no such machine; 'sago sim --costs' shows them", config->costs_of);
    for (int64_t i = 0; i < config->ncosts; i++)
        if (!sim_costs_set(&c->costs, config->cost[i], why))
            return false;
    return true;
}

static bool make_case(sim_config *config, sim_case *c, char *why) {
    c->config = config->plan;
    c->config.dir = NULL;
    c->options = config->options;
    c->options.times = c->options.times > 0 ? c->options.times : 1;
    if (config->neighbours && c->options.model == SIM_MODEL_AUTO) /* all of them alike */
        c->options.model = SIM_MODEL_LINKS;
    progress_set("planning");
    bool made = plan_input_make(&c->config, &c->input, why);
    progress_end();
    if (!made)
        return false;
    draw_memory(config, c);
    if (c->input.machine.topology)
        c->topology = *c->input.machine.topology;
    else
        sagoi_topology_flat(&c->topology, c->config.nodes);
    for (int64_t i = 0; i < config->nlevels; i++) /* the planner sees the same */
        if (!change_level(c->input.machine.topology ? &c->input.description.topology : &c->topology,
                          config->level[i], why))
            return false;
    if (c->input.machine.topology)
        c->topology = *c->input.machine.topology;
    c->targets = targets_of(c);
    if (!find_costs(config, c, why))
        return false;
    c->unit = c->input.target.stripe_unit;
    if (config->unseen)
        c->input.target.stripe_unit = c->input.target.stripe_count = 0;
    progress_set("planning: what the ranks access");
    bool measured = sim_case_measure(c, why);
    progress_end();
    return measured;
}

/* ---- Running ---- */

/* What a child tells its parent. */
typedef struct shared {
    bool ok;
    double requests, joined;
    sim_course course;
    sim_outcome outcome;
    char why[OPTION_WHY_MAX];
} shared;

/* One of the calls that an engine makes. */
typedef struct part {
    const sim_engine *engine;
    int64_t call, number;
    double burst; /* bytes that pass a link for nothing after a pause, shared out among the calls */
} part;

/* Where one call after another fills a stripe, its target has had a pause when the next stripe of it comes. */
static double burst_of(const sim_case *c, const part *p) {
    const sim_extent *extent = sim_extent_of(c, p->call);
    int64_t unit = c->input.target.stripe_unit;
    if (p->call == SIM_ALL_CALLS || extent->high - extent->low > (c->targets - 1) * unit)
        return p->burst;
    double share = (double)extent->bytes / (double)unit, all = (double)c->options.burst;
    return share < 1 ? all * share : all;
}

static void run_call(const sim_case *c, const part *p, shared *told) {
    sim_load load = {0};
    sim_network network;
    if (!p->engine->load(c, p->call, p->number, &load, &told->course, told->why))
        return;
    sim_network_init(&network, &c->topology, &c->costs, load.write, c->targets);
    network.writer_bandwidth *= (double)load.clients;
    network.send_only = c->options.send_only;
    if (load.own_files)
        network.file_bandwidth = 0;
    for (int64_t r = 0; r < load.rounds; r++) {
        told->requests += load.round[r].runs * load.repeats;
        told->joined += load.round[r].listed * load.repeats;
    }
    told->ok = (p->burst == 0 || sim_load_burst(&load, burst_of(c, p) / load.repeats, c->targets) ||
                bench_refuse(told->why, "out of memory")) &&
               sim_replay(&load, &network, c->options.model, &told->outcome, told->why);
    sim_network_cleanup(&network);
    sim_load_cleanup(&load);
}

static bool run_child(const sim_case *c, const part *p, shared *told, char *why) {
    const char *name = p->engine->name;
    int status = 0;
    *told = (shared){.ok = false};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_call(c, p, told);
        fflush(NULL);
        _exit(EXIT_SUCCESS);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return bench_refuse(why, "cannot start a process: %s", strerror(errno));
    if (WIFSIGNALED(status))
        return bench_refuse(why, "%s: the simulation ended by signal %d", name, WTERMSIG(status));
    return told->ok || bench_refuse(why, "%s: %s", name, told->why[0] ? told->why : "the simulation failed");
}

static void use_larger(sim_use *all, const sim_use *one) {
    if (one->share > all->share)
        *all = *one;
}

static void add_outcome(sim_outcome *all, const sim_outcome *one, double times) {
    all->seconds += times * one->seconds;
    all->ahead += times * one->ahead;
    all->held += times * one->held;
    all->bytes += times * one->bytes;
    all->wire += times * one->wire;
    all->messages += times * one->messages;
    all->stored += times * one->stored;
    for (int p = 0; p < SIM_PHASES; p++)
        all->phase[p] += times * one->phase[p];
    use_larger(&all->link, &one->link);
    use_larger(&all->target, &one->target);
    use_larger(&all->node, &one->node);
    all->rounds = one->rounds > all->rounds ? one->rounds : all->rounds;
    if (all->nspans == 0) {
        all->nspans = one->nspans;
        memcpy(all->span, one->span, sizeof one->span);
        memcpy(all->drawn, one->drawn, sizeof one->drawn);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell_progress(const char *engine, int64_t call, int64_t calls) {
    if (calls > 1)
        progress_set("simulating %s, call %lld of %lld", engine, (long long)call + 1, (long long)calls);
    else
        progress_set("simulating %s", engine);
}

/* How many calls there are, and the bytes of all of them over those of the first `simulated`. */
static bool count_calls(const sim_case *c, int64_t *calls, double *weight, int64_t most, char *why) {
    int64_t ranks = c->config.nodes * c->config.ranks;
    double all = 0, some = 0;
    bench_access access;
    if (!bench_pattern_make(c->config.pattern, &c->config.params, ranks / 2, ranks, &access, why))
        return false;
    for (int64_t i = 0; i < access.ncalls; i++) {
        double bytes = (double)bench_region_bytes(&access.calls[i].file);
        all += bytes;
        some += i < most ? bytes : 0;
    }
    *calls = access.ncalls < most ? access.ncalls : most;
    *weight = (some > 0 ? all / some : 1) * (double)access.steps;
    bench_access_cleanup(&access);
    return true;
}

static bool run_engine(const sim_case *c, const char *name, shared *told, sim_result *result, char *why) {
    int64_t number, calls = 1;
    double weight = 1, start = now();
    const sim_engine *engine = sim_engine_find(name, &number);
    if (!engine)
        return bench_refuse(why, "no engine '%s'", name);
    bool together = !engine->by_call && c->config.kind == PLAN_DECLARED;
    if (!count_calls(c, &calls, &weight, together ? INT64_MAX : CALLS_SIMULATED, why))
        return false;
    for (int64_t i = 0; i < (together ? 1 : calls); i++) {
        tell_progress(name, i, together ? 1 : calls);
        part one = {engine, together ? SIM_ALL_CALLS : i, number,
                    (double)c->options.burst / (weight * (double)calls)};
        if (!run_child(c, &one, told, why))
            return false;
        add_outcome(&result->outcome, &told->outcome, weight);
        result->requests += weight * told->requests;
        result->joined += weight * told->joined;
        result->calls++;
    }
    result->course = told->course;
    snprintf(result->course.name, sizeof result->course.name, "%s", name);
    result->wall = now() - start;
    return true;
}

static bool draw(const sim_config *config, const sim_case *c, const sim_result *result, int64_t count, char *why) {
    FILE *out = config->svg ? fopen(config->svg, "w") : NULL;
    if (!config->svg)
        return true;
    if (out)
        sim_report_svg(c, result, count, out);
    bool failed = !out || ferror(out);
    failed = (out && fclose(out) != 0) || failed;
    return !failed || bench_refuse(why, "--svg %s: %s", config->svg, strerror(errno));
}

/* The plan itself, then each neighbour that there is memory for. */
static bool run_neighbours(const sim_config *config, const sim_case *c, char *why) {
    shared *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sim_result *result = calloc(SIM_ENGINES_MAX, sizeof *result);
    sim_neighbour *list = calloc(SIM_NEIGHBOURS_MAX, sizeof *list);
    sim_case *other = calloc(1, sizeof *other);
    bool ok = (told != MAP_FAILED && result && list && other) || bench_refuse(why, "out of memory");
    ok = ok && run_engine(c, "sago", told, &result[0], why);
    int64_t count = ok ? sim_neighbours(c, &result->course, list) : 0, done = 1;
    for (int64_t i = 0; i < count && done < SIM_ENGINES_MAX; i++) {
        char ignored[OPTION_WHY_MAX];
        *other = *c;
        other->config.hints = list[i].hints;
        result[done] = (sim_result){.calls = 0};
        if (run_engine(other, "sago", told, &result[done], ignored))
            snprintf(result[done++].course.name, sizeof result->course.name, "%s", list[i].change + 5);
    }
    progress_end();
    if (ok && config->json)
        sim_report_json(c, result, done, stdout);
    else if (ok)
        sim_report_text(c, result, done, stdout);
    free(other);
    free(list);
    free(result);
    if (told != MAP_FAILED)
        munmap(told, sizeof *told);
    return ok;
}

static bool run_all(const sim_config *config, const sim_case *c, char *why) {
    char list[256];
    int64_t count = 0;
    shared *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sim_result *result = calloc(SIM_ENGINES_MAX, sizeof *result);
    bool ok = (told != MAP_FAILED && result) || bench_refuse(why, "out of memory");
    snprintf(list, sizeof list, "%s", config->engines);
    for (char *name = strtok(list, ","); ok && name; name = strtok(NULL, ","))
        ok = (count < SIM_ENGINES_MAX || bench_refuse(why, "--engines: too many")) &&
             run_engine(c, name, told, &result[count++], why);
    progress_end();
    ok = ok && draw(config, c, result, count, why);
    if (ok && config->json)
        sim_report_json(c, result, count, stdout);
    else if (ok)
        sim_report_text(c, result, count, stdout);
    free(result);
    if (told != MAP_FAILED)
        munmap(told, sizeof *told);
    return ok;
}

static bool parse(int argc, char **argv, sim_config *config, char *why) {
    config->plan.pattern = bench_pattern_find(argv[1], why);
    if (!config->plan.pattern)
        return false;
    if (sagoi_hints_init(&config->plan.hints) != SAGO_OK)
        return bench_refuse(why, "%s", sago_error_message());
    bench_params_init(&config->plan.params, config->plan.pattern);
    config->plan.kind = config->plan.pattern->declared ? PLAN_DECLARED : PLAN_COLLECTIVE;
    return options_parse(&options, 2, argc, argv, config, why);
}

int main(int argc, char **argv) {
    char why[OPTION_WHY_MAX];
    sim_config config = {.engines = "sago,two-phase"};
    sim_case *c = calloc(1, sizeof *c);
    if (options_ask_help(argc, argv)) {
        print_help(stdout);
        free(c);
        return EXIT_SUCCESS;
    }
    if (argc == 2 && !strcmp(argv[1], "--costs")) {
        sim_costs_print(stdout);
        free(c);
        return EXIT_SUCCESS;
    }
    bool ok = c && (argc >= 2 || bench_refuse(why, "no pattern given; 'sago bench list' shows them")) &&
              parse(argc, argv, &config, why) && make_case(&config, c, why) &&
              (config.neighbours ? run_neighbours(&config, c, why) : run_all(&config, c, why));
    if (c) {
        plan_input_cleanup(&c->input);
        free(c->extent);
    }
    free(c);
    return ok ? EXIT_SUCCESS : fail(why);
}
