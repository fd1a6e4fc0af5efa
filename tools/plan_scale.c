/* `sago plan --scale`: the planner's own cost.  Each plan is made in a process of its own, whose peak memory
 * counts; that includes the inputs, which are a few numbers for each node. */
#include "tools/plan_output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/params.h"

enum { RANKS_PER_NODE = 61 }; /* 1,000,000 ranks are 16,394 nodes */

typedef enum { SERIAL, INTERLEAVED, SCATTERED, ACCESSES } access_kind;
static const char *const access_names[] = {"contiguous", "interleaved", "scattered"};
typedef enum { FLAT, TORUS, NETWORKS } network;
static const char *const network_names[] = {"flat", "torus"};

typedef struct scale_case {
    int64_t ranks, nodes;
    access_kind access;
    network network;
    const sagoi_hints *hints;
} scale_case;

typedef struct inputs {
    sagoi_node *node;
    sagoi_node_shape *access;
    int64_t *histogram;
    sagoi_topology topology;
    sagoi_machine machine;
    sagoi_shape shape;
} inputs;

/* ---- Inputs ---- */

/* 1 MiB a rank, in runs of 64 bytes. */
static void access_make(const scale_case *c, inputs *in) {
    static const int64_t run = 64;
    int64_t share = RANKS_PER_NODE * (INT64_C(1) << 20), all = share * c->nodes;
    for (int64_t n = 0; n < c->nodes; n++) {
        int64_t low = n * share, high = low + share;
        if (c->access == INTERLEAVED) {
            low = n * run;
            high = all - (c->nodes - 1 - n) * run;
        } else if (c->access == SCATTERED) { /* anywhere up to half the file further on */
            low = (n * INT64_C(7919)) % c->nodes * (share / 2);
            high = low + all / 2;
        }
        in->access[n] = (sagoi_node_shape){low, high, share, share / run};
    }
    sagoi_shape_regions(0, all, &in->shape.origin, &in->shape.region);
    in->shape = (sagoi_shape){.write = true,
                              .dense = true,
                              .nodes = c->nodes,
                              .node = in->access,
                              .origin = in->shape.origin,
                              .region = in->shape.region};
    for (int64_t n = 0; n < c->nodes; n++) /* as even as the range, so the histogram tells the same */
        for (int64_t r = 0; r < SAGOI_REGIONS; r++)
            in->histogram[n * SAGOI_REGIONS + r] =
                (int64_t)sagoi_shape_bytes(&in->shape, n, r * in->shape.region, (r + 1) * in->shape.region);
    in->shape.histogram = in->histogram;
}

/* Five dimensions, as Mira's. */
static sago_status topology_make(const scale_case *c, sagoi_topology *topology) {
    sagoi_topology_flat(topology, c->nodes);
    if (c->network == FLAT)
        return SAGO_OK;
    topology->kind = SAGOI_TORUS;
    topology->dimensions = 5;
    int64_t places = 1;
    for (int64_t i = 0; i < 5; i++)
        topology->extent[i] = 1;
    for (int64_t i = 4; places < c->nodes; i = i == 0 ? 4 : i - 1) {
        topology->extent[i]++;
        places = 1;
        for (int64_t k = 0; k < 5; k++)
            places *= topology->extent[k];
    }
    for (int64_t i = 0; i < 5; i++)
        topology->level[i] = (sagoi_level){.latency = 5e-7, .bandwidth = 1.8e9};
    topology->gateway_rules = 1;
    topology->gateway_rule[0] =
        (sagoi_gateway_rule){.first = 0, .every = 128, .count = places / 128 + 1, .serves = 128};
    if (places % 128 == 0 || places < 128)
        topology->gateway_rule[0].count = places < 128 ? 1 : places / 128;
    return sagoi_topology_complete(topology);
}

static bool inputs_make(const scale_case *c, inputs *in) {
    size_t nodes = (size_t)c->nodes;
    *in = (inputs){.node = calloc(nodes, sizeof *in->node),
                   .access = calloc(nodes, sizeof *in->access),
                   .histogram = calloc(nodes * SAGOI_REGIONS, sizeof *in->histogram)};
    if (!in->node || !in->access || !in->histogram || topology_make(c, &in->topology) != SAGO_OK)
        return false;
    for (int64_t n = 0; n < c->nodes; n++)
        in->node[n] = (sagoi_node){.ranks = RANKS_PER_NODE, .cores = 64, .memory = INT64_C(4) << 30, .place = n};
    in->machine = (sagoi_machine){.nodes = c->nodes, .node = in->node, .topology = &in->topology};
    access_make(c, in);
    return true;
}

/* ---- One plan ---- */

typedef struct outcome {
    double seconds;
    int64_t domains, groups;
    bool ok;
} outcome;

static outcome plan_once(const scale_case *c) {
    inputs in;
    outcome result = {0};
    sagoi_plan plan = {0};
    sagoi_target target = {.block = 4096};
    struct timespec before, after;
    if (!inputs_make(c, &in))
        return result;
    (void)clock_gettime(CLOCK_MONOTONIC, &before);
    sago_status status = sagoi_plan_make(&in.machine, &in.shape, &target, c->hints, &plan);
    (void)clock_gettime(CLOCK_MONOTONIC, &after);
    result.seconds = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    result.ok = status == SAGO_OK && sagoi_plan_check(&plan, &in.machine) == SAGO_OK;
    result.domains = plan.ndomains;
    result.groups = plan.groups;
    sagoi_plan_cleanup(&plan);
    free(in.node);
    free(in.access);
    free(in.histogram);
    return result;
}

/* Runs in a process of its own, which ends here. */
static void child(const scale_case *c, int to_parent) {
    outcome result = plan_once(c);
    if (!result.ok)
        fprintf(stderr, "sago: %s\n", sago_error_message());
    ssize_t written = write(to_parent, &result, sizeof result);
    _exit(written == (ssize_t)sizeof result && result.ok ? 0 : 1);
}

static bool measure(const scale_case *c, char *why) {
    int ends[2], status = 0;
    outcome result;
    struct rusage usage;
    fflush(stdout);
    if (pipe(ends) != 0)
        return bench_refuse(why, "no pipe");
    pid_t pid = fork();
    if (pid == 0)
        child(c, ends[1]);
    close(ends[1]);
    bool told = pid > 0 && read(ends[0], &result, sizeof result) == (ssize_t)sizeof result;
    close(ends[0]);
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0 || !told)
        return bench_refuse(why, "no plan for %lld ranks", (long long)c->ranks);
    printf("%9" PRId64 " %7" PRId64 "  %-11s  %-5s %8" PRId64 " %7" PRId64 " %9.3f s %8.1f MiB\n", c->ranks,
           c->nodes, access_names[c->access], network_names[c->network], result.domains, result.groups,
           result.seconds, (double)usage.ru_maxrss / 1024);
    return true;
}

bool plan_scale(const sagoi_hints *hints, char *why) {
    printf("    ranks   nodes  access       net    domains  groups        time   peak memory\n");
    for (int64_t ranks = 1000; ranks <= 1000000; ranks *= 10)
        for (int access = 0; access < ACCESSES; access++)
            for (int net = 0; net < NETWORKS; net++) {
                scale_case c = {.ranks = ranks,
                                .nodes = (ranks + RANKS_PER_NODE - 1) / RANKS_PER_NODE,
                                .access = (access_kind)access,
                                .network = (network)net,
                                .hints = hints};
                if (!measure(&c, why))
                    return false;
            }
    return true;
}
