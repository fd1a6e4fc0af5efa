/* Alternatives are plans too: they are made with other hints and costed by the same model. */
#include "tools/plan_explain.h"

#include <inttypes.h>
#include <string.h>

#include "machine/sums.h"

enum { DOMAINS_SHOWN = 16 };

static const char *const placements[] = {"auto", "cost", "memory", "rank", "spread"};

/* ---- Each domain's election ---- */

typedef struct election {
    double elected, least, most; /* C1 + C2: of the node elected, of the cheapest and dearest node of its group */
    int64_t cheapest, holders;
} election;

static int64_t place_of(const plan_input *input, int64_t node) {
    return input->machine.topology ? input->machine.node[node].place : node;
}

static election elect_again(const plan_input *input, const sagoi_plan *plan, int64_t d,
                            const sagoi_topology *topology, sagoi_sums *sums) {
    election e = {.least = 1e300, .cheapest = -1};
    sagoi_sums_clear(sums);
    for (int64_t n = 0; n < plan->nodes; n++) {
        double bytes = sagoi_domain_bytes(plan, &input->shape, d, n);
        if (bytes >= 0.5)
            sagoi_sums_add(sums, place_of(input, n), (int64_t)(bytes + 0.5));
    }
    e.holders = sagoi_sums_members(sums);
    for (int64_t n = 0; n < plan->nodes; n++) {
        if (plan->node_group[n] != plan->domains[d].group)
            continue;
        int64_t place = place_of(input, n);
        double cost = sagoi_sums_cost(sums, place) +
                      sagoi_topology_store_cost(topology, place, (double)sagoi_sums_bytes(sums));
        if (cost < e.least) {
            e.least = cost;
            e.cheapest = n;
        }
        e.most = cost > e.most ? cost : e.most;
        if (n == plan->domains[d].node)
            e.elected = cost;
    }
    return e;
}

static bool print_elections(const plan_input *input, const sagoi_plan *plan, char *why) {
    sagoi_topology flat;
    const sagoi_topology *topology = input->machine.topology;
    sagoi_sums *sums;
    sagoi_topology_flat(&flat, plan->nodes);
    topology = topology ? topology : &flat;
    if (sagoi_sums_create(topology, &sums) != SAGO_OK)
        return bench_refuse(why, "%s", sago_error_message());
    printf(
        "elections: C1 + C2 in ms, of the node elected, of the cheapest of its group by itself, of the dearest\n");
    for (int64_t d = 0; d < plan->ndomains && d < DOMAINS_SHOWN; d++) {
        election e = elect_again(input, plan, d, topology, sums);
        printf("    domain %" PRId64 ": node %" PRId64 " %.3f, of %" PRId64 " with data; cheapest %" PRId64
               " %.3f, dearest %.3f\n",
               d, plan->domains[d].node, e.elected * 1e3, e.holders, e.cheapest, e.least * 1e3, e.most * 1e3);
    }
    if (plan->ndomains > DOMAINS_SHOWN)
        printf("    ... and %" PRId64 " more\n", plan->ndomains - DOMAINS_SHOWN);
    sagoi_sums_destroy(sums);
    return true;
}

/* ---- Other plans ---- */

static void print_alternative(const plan_input *input, const char *name, const sagoi_hints *hints, bool chosen) {
    sagoi_plan plan = {0};
    sagoi_cost cost = {0};
    int64_t hosts = 0;
    if (sagoi_plan_make(&input->machine, &input->shape, &input->target, hints, &plan) != SAGO_OK ||
        plan.strategy != SAGOI_STRATEGY_AGGREGATED ||
        sagoi_plan_cost(&plan, &input->machine, &input->shape, &cost) != SAGO_OK) {
        printf("  %c %-26s no such plan: %s\n", chosen ? '*' : ' ', name, sago_error_message());
        sagoi_plan_cleanup(&plan);
        return;
    }
    for (int64_t n = 0; n < plan.nodes; n++)
        hosts += plan.node_slots[n] > 0;
    printf("  %c %-26s %6" PRId64 " on %5" PRId64 " nodes %9.1f KiB %6" PRId64
           " %12.3f %12.3f %12.3f %10.1f MiB\n",
           chosen ? '*' : ' ', name, plan.ndomains, hosts, (double)plan.window / 1024, plan.rounds,
           cost.gather * 1e3, cost.store * 1e3, cost.slowest * 1e3, cost.wire / (1 << 20));
    sagoi_plan_cleanup(&plan);
}

static void print_placements(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan) {
    for (int64_t p = SAGOI_PLACEMENT_COST; p <= SAGOI_PLACEMENT_SPREAD; p++) {
        sagoi_hints other = *hints;
        char name[64];
        other.placement = p;
        (void)snprintf(name, sizeof name, "sago_placement=%s", placements[p]);
        print_alternative(input, name, &other, p == (int64_t)plan->placement);
    }
}

static void print_counts(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan) {
    for (int64_t half = 1; half <= 4; half *= 2) {
        sagoi_hints other = *hints;
        char name[64];
        other.aggregators = plan->ndomains * half / 2;
        if (other.aggregators < 1)
            continue;
        (void)snprintf(name, sizeof name, "sago_aggregators=%" PRId64, other.aggregators);
        print_alternative(input, name, &other, half == 2);
    }
}

/* Two layers and three, where nodes share switches. */
static void print_layers(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan) {
    sagoi_hints other = *hints;
    sagoi_plan three = {0};
    sagoi_layers_cost cost = {0};
    other.layers = SAGOI_LAYERS_THREE;
    if (sagoi_plan_make(&input->machine, &input->shape, &input->target, &other, &three) == SAGO_OK &&
        three.layers == 3 && sagoi_plan_layers_cost(&three, &input->machine, &input->shape, &cost) == SAGO_OK) {
        printf("layers (* as planned)               ms    messages between nodes\n");
        printf("  %c sago_layers=2         %12.3f %12.0f\n", plan->layers == 2 ? '*' : ' ', cost.two * 1e3,
               cost.messages_two);
        printf("  %c sago_layers=3         %12.3f %12.0f\n", plan->layers == 3 ? '*' : ' ', cost.three * 1e3,
               cost.messages_three);
    }
    sagoi_plan_cleanup(&three);
}

/* k: of a striped file or one in subfiles, and where no number of aggregators was asked for. */
static void print_per_target(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan) {
    int64_t subfiles = input->target.subfiles.count, targets = subfiles ? subfiles : input->target.stripe_count;
    bool striped = subfiles > 0 || input->target.stripe_unit > 0;
    if (!striped || targets == 0 || hints->aggregators > 0)
        return;
    for (int64_t k = 1; k <= 16 && k * targets <= 2 * plan->ndomains; k *= 2) {
        sagoi_hints other = *hints;
        char name[64];
        other.per_target = k;
        (void)snprintf(name, sizeof name, "..._per_target=%" PRId64, k);
        print_alternative(input, name, &other, k * targets == plan->ndomains);
    }
}

/* Why so many subfiles, and how to have the ranges of the nodes lie together in them. */
static void print_subfiles(const plan_input *input, const sagoi_plan *plan) {
    const sagoi_target *target = &input->target;
    int64_t unit = target->stripe_unit > target->block ? target->stripe_unit : target->block;
    printf("%s\n", input->subfiles_why);
    if (target->subfiles.count > 0)
        printf("    with sago_subfile_block=%" PRId64 " each would hold one range of this access\n",
               sagoi_subfiles_whole_block(plan->high, target->subfiles.count, unit));
}

bool plan_explain(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan, char *why) {
    print_subfiles(input, plan);
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED) {
        printf("aggregated instead it would be\n");
    } else if (plan->nodes > 1 && !print_elections(input, plan, why)) {
        return false;
    }
    printf("alternatives (* as planned)   aggregators             window  rounds    sum C1 ms    sum C2 ms   "
           "slowest ms "
           "   between nodes\n");
    sagoi_hints aggregated = *hints;
    aggregated.strategy = SAGOI_STRATEGY_AGGREGATED;
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED) {
        print_alternative(input, "sago_strategy=aggregated", &aggregated, false);
        return true;
    }
    print_placements(input, &aggregated, plan);
    print_counts(input, &aggregated, plan);
    print_per_target(input, &aggregated, plan);
    print_layers(input, &aggregated, plan);
    return true;
}
