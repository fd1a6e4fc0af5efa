/* Shapes are worked out rank by rank, without MPI: bounds, bytes and runs by rule, the histogram by walking the
 * runs, or a sample of them if there are many. */
#include "tools/plan_input.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/size_text.h"
#include "bench/progress.h"
#include "machine/memory.h"
#include "plan/memory_share.h"
#include "store/layout.h"

/* The histogram needs no more runs than these: of a call with more, a sample of so many is looked at. */
static const int64_t runs_walked = 4096;
static const int64_t most_job_nodes = 1 << 20;

/* ---- Options ---- */

bool plan_set_hint(void *target, const char *value, char *why) {
    plan_config *config = target;
    char key[128];
    const char *equals = strchr(value, '=');
    if (!equals)
        return bench_refuse(why, "--hint %s: must be KEY=VALUE", value);
    snprintf(key, sizeof key, "%.*s", (int)(equals - value), value);
    return sagoi_hints_set(&config->hints, key, equals + 1) == SAGO_OK ||
           bench_refuse(why, "%s", sago_error_message());
}

bool plan_set_declared(void *target, const char *value, char *why) {
    plan_config *config = target;
    config->kind = strcmp(value, "on") ? PLAN_COLLECTIVE : PLAN_DECLARED;
    return !strcmp(value, "on") || !strcmp(value, "off") || bench_refuse(why, "--declared %s: on or off", value);
}

bool plan_set_param(void *target, const char *name, const char *value, char *why) {
    plan_config *config = target;
    return bench_params_set(&config->params, config->pattern, name, value, why);
}

/* ---- The machine ---- */

static int64_t own_cores(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
}

/* The memory that the library takes on a node by default (engine/share.c): an eighth of what is available, but no
 * more than 64 MiB for each rank and for the node. */
static int64_t default_memory(int64_t available, int64_t ranks) {
    return sagoi_memory_of_file(sagoi_memory_usable(available), ranks);
}

static void set_default(int64_t *value, int64_t otherwise) {
    if (*value == 0)
        *value = otherwise;
}

static bool describe_machine(plan_config *config, sagoi_description *description, char *why) {
    if (!config->machine)
        return true;
    if (sagoi_machine_load(config->machine, description) != SAGO_OK)
        return bench_refuse(why, "%s", sago_error_message());
    if (config->nodes > description->nodes)
        return bench_refuse(why, "--nodes %lld: %s has %lld", (long long)config->nodes, description->name,
                            (long long)description->nodes);
    set_default(&config->nodes, description->nodes);
    set_default(&config->ranks, description->ranks_per_node);
    set_default(&config->cores, description->cores);
    if (description->memory > 0 && config->hints.memory == 0)
        set_default(&config->memory, default_memory(description->memory, config->ranks));
    return true;
}

/* ---- A batch job's nodes ---- */

static sago_status place_job(const plan_config *config, const sagoi_hostlist *hosts, plan_input *input) {
    int64_t nodes = hosts->hosts, *place = calloc((size_t)nodes, sizeof *place);
    sagoi_node_name *name = calloc((size_t)nodes, sizeof *name);
    sago_status status = SAGO_ERR_MEMORY;
    if (place && name && input->nodes) {
        for (int64_t n = 0; n < nodes; n++)
            (void)sagoi_hostlist_name(hosts, n, name[n].host, sizeof name[n].host);
        sagoi_discover_options asked = {.machine = config->hints.machine,
                                        .site = config->hints.site,
                                        .slurm_conf = sagoi_environment("SLURM_CONF")};
        status = sagoi_discover(&asked, nodes, name, &input->found, place);
    }
    for (int64_t n = 0; status == SAGO_OK && n < nodes; n++)
        input->nodes[n].place = place[n];
    free(place);
    free(name);
    return status;
}

/* In a job of Slurm's the machine is that of the job, unless options say something else.  What cannot be
 * understood is left out. */
static void use_job(plan_config *config, plan_input *input) {
    const char *nodes = sagoi_environment("SLURM_JOB_NODELIST");
    sagoi_slurm_job job = {.tasks = 0};
    if (config->machine || config->nodes > 0 || !nodes ||
        sagoi_slurm_job_parse(nodes, sagoi_environment("SLURM_TASKS_PER_NODE"), &job) != SAGO_OK)
        return;
    if (job.hosts.hosts <= most_job_nodes) {
        input->nodes = calloc((size_t)job.hosts.hosts, sizeof *input->nodes);
        if (place_job(config, &job.hosts, input) == SAGO_OK) {
            config->nodes = job.hosts.hosts;
            set_default(&config->cores, own_cores());
            set_default(&config->ranks, job.tasks);
            input->machine.topology = &input->found.topology;
            input->machine.tuned = input->found.tuned;
        }
    }
    sagoi_slurm_job_cleanup(&job);
}

static void complete_machine(plan_config *config) {
    bool own = config->nodes == 0;
    set_default(&config->nodes, 1);
    set_default(&config->ranks, own_cores());
    set_default(&config->cores, own ? own_cores() : config->ranks);
    set_default(&config->memory, config->hints.memory);
    set_default(&config->memory, default_memory(sagoi_memory_available(""), config->ranks));
}

static bool make_machine(plan_config *config, plan_input *input, char *why) {
    if (!describe_machine(config, &input->description, why))
        return false;
    use_job(config, input);
    bool of_job = input->machine.topology != NULL;
    complete_machine(config);
    if (!of_job) {
        free(input->nodes);
        input->nodes = calloc((size_t)config->nodes, sizeof *input->nodes);
    }
    if (!input->nodes)
        return bench_refuse(why, "out of memory");
    for (int64_t n = 0; n < config->nodes; n++) {
        int64_t place = config->machine ? sagoi_description_place(&input->description, n) : n;
        input->nodes[n] = (sagoi_node){.ranks = config->ranks,
                                       .cores = config->cores,
                                       .memory = config->memory,
                                       .place = of_job ? input->nodes[n].place : place};
    }
    input->machine.nodes = config->nodes;
    input->machine.node = input->nodes;
    if (config->machine)
        input->machine.topology = &input->description.topology;
    else
        input->machine.gathered = (double)config->pace; /* a described network is taken as described */
    return true;
}

/* ---- The file ---- */

/* The first storage that all nodes of the described machine share; all 0: it has none. */
static sagoi_tier described_storage(const sagoi_description *described) {
    for (int64_t i = 0; i < described->tiers; i++)
        if (described->tier[i].sharing == SAGOI_SHARED_ALL)
            return described->tier[i];
    return (sagoi_tier){.path = ""};
}

/* Takes the file as it is when it is created. */
static bool make_subfiles(const plan_config *config, plan_input *input, char *why) {
    sagoi_target *target = &input->target;
    if (sagoi_subfiles_choose(&config->hints, &input->machine, &target->subfiles, input->subfiles_why) != SAGO_OK)
        return bench_refuse(why, "%s", sago_error_message());
    const sagoi_route_storage storage = {.nodes = config->nodes,
                                         .ranks = config->nodes * config->ranks,
                                         .local = input->local,
                                         .in_memory = input->in_memory,
                                         .with_targets = target->stripe_unit > 0 || target->lock_unit > 0,
                                         .subfiles = target->subfiles.count > 0};
    input->file = sagoi_route_file_of(&config->hints, &storage);
    target->mappable = input->file.mappable;
    return true;
}

/* false: errno says why. */
static bool look_at_directory(const char *path, sagoi_layout *layout) {
    struct stat directory;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool seen = fstat(fd, &directory) == 0;
    int failed = errno;
    if (seen)
        sagoi_layout_of(fd, &directory, layout);
    close(fd);
    errno = failed;
    return seen;
}

static bool make_target(const plan_config *config, plan_input *input, char *why) {
    const sagoi_tier storage = described_storage(&input->description);
    int64_t locks = config->dir ? 0 : storage.locks;
    int64_t count = config->stripe_unit > 0 && config->stripe_count == 0 ? storage.targets : config->stripe_count;
    sagoi_layout layout = {.block = locks > 0 ? locks : 4096, .lock_unit = locks};
    if ((config->stripe_unit > 0) != (count > 0))
        return bench_refuse(why, "a striped file needs both --stripe-unit and --stripe-count");
    if (config->dir && !look_at_directory(config->dir, &layout))
        return bench_refuse(why, "--dir %s: %s", config->dir, strerror(errno));
    input->local = layout.local;
    input->in_memory = layout.in_memory;
    input->target = (sagoi_target){
        .block = layout.block,
        .lock_unit = layout.lock_unit,
        .stripe_unit = config->stripe_unit ? config->stripe_unit : layout.stripe_unit,
        .stripe_count = count ? count : layout.stripe_count,
        /* Targets of a described machine are used from the first one on. */
        .stripe_first = config->machine ? 1 : 0,
        .sparse = config->read && config->sparse,
    };
    return make_subfiles(config, input, why);
}

/* ---- The shape ---- */

typedef void (*call_fn)(plan_input *input, int64_t node, const bench_call *call);

int64_t plan_first_call(const plan_config *config) { return config->kind == PLAN_DECLARED ? 0 : config->call; }

int64_t plan_last_call(const plan_config *config, const bench_access *access) {
    int64_t last = config->kind == PLAN_DECLARED ? access->ncalls : config->call + 1;
    return last < access->ncalls ? last : access->ncalls;
}

/* Shows progress for a pattern that takes long to draw; most are drawn before anybody would look. */
static void tell_progress(time_t start, int64_t rank, int64_t ranks) {
    if (time(NULL) > start)
        progress_set("what rank %lld of %lld accesses", (long long)rank, (long long)ranks);
}

/* The calls that are looked at, of all ranks. */
static bool each_call(const plan_config *config, plan_input *input, call_fn visit, char *why) {
    int64_t ranks = config->nodes * config->ranks, r = 0;
    for (const time_t start = time(NULL); r < ranks; r++) {
        bench_access access;
        tell_progress(start, r, ranks);
        if (!bench_pattern_make(config->pattern, &config->params, r, ranks, &access, why))
            break;
        input->rank_runs = input->rank_calls = 0;
        input->rank_end = -1;
        for (int64_t i = plan_first_call(config); i < plan_last_call(config, &access); i++)
            visit(input, r / config->ranks, &access.calls[i]);
        bench_access_cleanup(&access);
    }
    progress_end();
    return r == ranks;
}

/* The part of each period that the ranks of the node fill together, if all have the same period; `bytes` is an
 * offset until the beginning of the node's data is known. */
static void add_period(plan_input *input, int64_t node, const bench_call *call, int64_t low) {
    sagoi_node_period *own = &input->periods[node];
    bool first = input->shapes[node].bytes == 0;
    bool repeats = call->file.kind == BENCH_VECTOR && call->file.count > 1 && input->rank_calls++ == 0;
    if (!repeats || (!first && own->period != call->file.stride))
        *own = (sagoi_node_period){0, 0};
    else if (first || low + call->file.length > own->bytes)
        *own = (sagoi_node_period){call->file.stride, low + call->file.length};
}

static void end_periods(plan_input *input, int64_t nodes) {
    for (int64_t n = 0; n < nodes; n++) {
        sagoi_node_period *own = &input->periods[n];
        own->bytes -= input->shapes[n].low;
        if (own->period == 0 || own->bytes > own->period)
            *own = (sagoi_node_period){0, 0};
    }
}

static void add_bounds(plan_input *input, int64_t node, const bench_call *call) {
    sagoi_node_shape *shape = &input->shapes[node];
    int64_t low, high;
    bench_region_bounds(&call->file, &low, &high);
    if (low == high)
        return;
    low += call->disp;
    high += call->disp;
    add_period(input, node, call, low);
    if (shape->bytes == 0 || low < shape->low)
        shape->low = low;
    if (high > shape->high)
        shape->high = high;
    shape->bytes += bench_region_bytes(&call->file);
    /* Declared variables that lie one after another are one run, as in the library. */
    int64_t runs = bench_region_joined_runs(&call->file) - (low == input->rank_end);
    input->rank_end = high;
    shape->runs += runs;
    input->rank_runs += runs;
    input->most_runs = input->rank_runs > input->most_runs ? input->rank_runs : input->most_runs;
}

/* Adds [start, end) to the node's regions; each byte counts `weight` times. */
static void add_run(plan_input *input, int64_t node, int64_t start, int64_t end, double weight) {
    int64_t *counts = input->histogram + node * SAGOI_REGIONS;
    while (start < end) {
        int64_t r = (start - input->shape.origin) / input->shape.region;
        int64_t stop = input->shape.origin + (r + 1) * input->shape.region;
        stop = stop < end ? stop : end;
        counts[r] += (int64_t)((double)(stop - start) * weight);
        start = stop;
    }
}

static void add_histogram(plan_input *input, int64_t node, const bench_call *call) {
    int64_t runs = bench_region_runs(&call->file),
            step = call->file.kind == BENCH_PARTS ? 1 : runs / runs_walked + 1;
    bench_cursor cursor = bench_cursor_at(&call->file);
    bench_run run;
    for (int64_t i = 0; i < runs && bench_cursor_next(&cursor, &run); i += step) {
        add_run(input, node, call->disp + run.offset, call->disp + run.offset + run.length, (double)step);
        cursor.index = step > 1 ? i + step : cursor.index;
        if (i + step >= runs)
            break;
    }
}

/* Runs of patterns never overlap, so as many bytes as the range has mean that there is no hole. */
static bool make_shape(const plan_config *config, plan_input *input, char *why) {
    size_t nodes = (size_t)config->nodes;
    int64_t low = INT64_MAX, high = 0, bytes = 0;
    input->shapes = calloc(nodes, sizeof *input->shapes);
    input->histogram = calloc(nodes * SAGOI_REGIONS, sizeof *input->histogram);
    input->periods = calloc(nodes, sizeof *input->periods);
    if (!input->shapes || !input->histogram || !input->periods)
        return bench_refuse(why, "out of memory");
    if (!each_call(config, input, add_bounds, why))
        return false;
    end_periods(input, config->nodes);
    for (size_t n = 0; n < nodes; n++) {
        const sagoi_node_shape *shape = &input->shapes[n];
        if (shape->bytes == 0)
            continue;
        low = shape->low < low ? shape->low : low;
        high = shape->high > high ? shape->high : high;
        bytes += shape->bytes;
    }
    input->shape = (sagoi_shape){.write = !config->read,
                                 .dense = bytes > 0 && bytes == high - low,
                                 .most_runs = input->most_runs,
                                 .nodes = config->nodes,
                                 .node = input->shapes,
                                 .periods = input->periods};
    if (nodes == 1 || bytes == 0)
        return true;
    sagoi_shape_regions(low, high, &input->shape.origin, &input->shape.region);
    input->shape.histogram = input->histogram;
    return each_call(config, input, add_histogram, why);
}

/* ---- The rule that the first write makes ---- */

static void add_first_write(plan_input *input, int64_t node, const bench_call *call) {
    sagoi_first_access *first = &input->first;
    int64_t low, high, variable = input->rank_calls++;
    bench_region_bounds(&call->file, &low, &high);
    if (low == high)
        return;
    low += call->disp;
    high += call->disp;
    first->low = low < first->low ? low : first->low;
    first->high = high > first->high ? high : first->high;
    if (variable == 0) {
        first->first_low = low < first->first_low ? low : first->first_low;
        first->first_high = high > first->first_high ? high : first->first_high;
    } else if (variable == 1) {
        first->next_low = low < first->next_low ? low : first->next_low;
    }
    input->first_bytes[node] += bench_region_bytes(&call->file);
}

/* As in a job (engine/rule.c): what the pattern's first collective write, or first declared step, makes. */
static bool make_rule(const plan_config *config, plan_input *input, char *why) {
    sagoi_target *target = &input->target;
    plan_config first = *config;
    if (target->subfiles.count == 0 || config->kind == PLAN_INDEPENDENT ||
        !sagoi_subfiles_are_ruled_later(&config->hints))
        return true;
    first.call = 0;
    input->first_bytes = calloc((size_t)config->nodes, sizeof *input->first_bytes);
    if (!input->first_bytes)
        return bench_refuse(why, "out of memory");
    input->first = (sagoi_first_access){
        .low = INT64_MAX, .first_low = INT64_MAX, .next_low = INT64_MAX, .bytes = input->first_bytes};
    if (!each_call(&first, input, add_first_write, why))
        return false;
    int64_t unit = target->block > target->lock_unit ? target->block : target->lock_unit;
    int64_t block = sagoi_subfiles_first_block(&input->machine, &input->first, target->subfiles.count,
                                               target->stripe_unit > unit ? target->stripe_unit : unit);
    char *rest = strstr(input->subfiles_why, "; blocks of ");
    if (block == 0 || !rest)
        return true;
    target->subfiles.block = block;
    (void)snprintf(rest, sizeof input->subfiles_why - (size_t)(rest - input->subfiles_why),
                   "; blocks of %s, as the first write makes them", sagoi_size_to_text(block).text);
    return true;
}

bool plan_input_make(plan_config *config, plan_input *input, char *why) {
    return make_machine(config, input, why) && make_target(config, input, why) && make_shape(config, input, why) &&
           make_rule(config, input, why);
}

void plan_input_cleanup(plan_input *input) {
    sagoi_description_cleanup(&input->description);
    free(input->nodes);
    free(input->shapes);
    free(input->histogram);
    free(input->periods);
    free(input->first_bytes);
    memset(input, 0, sizeof *input);
}
