/* What other decisions would have cost.  Alternatives are plans, too: they are made with other hints, and the same
 * model tells their costs. */
#include "tools/plan_output.h"

#include <inttypes.h>

#include "base/size_text.h"
#include "machine/sums.h"
#include "plan/draft.h"
#include "plan/thresholds.h"

enum { DOMAINS_SHOWN = 16 };

static const char *const placements[] = {"auto", "cost", "memory", "rank", "spread"};

/* ---- Each domain's election ---- */

typedef struct election {
    /* C1 + C2 of the elected node, and of the cheapest and the dearest node of its group. */
    double elected, least, most;
    int64_t cheapest, holders;
    double bandwidth; /* bytes a second of the slowest level */
} election;

static election elect_again(const plan_input *input, const sagoi_plan *plan, int64_t d,
                            const sagoi_topology *topology, sagoi_sums *sums) {
    election e = {.least = 1e300, .cheapest = -1, .bandwidth = sagoi_slowest_level(topology).bandwidth};
    sagoi_sums_clear(sums);
    for (int64_t n = 0; n < plan->nodes; n++) {
        double bytes = sagoi_domain_bytes(plan, &input->shape, d, n);
        if (bytes >= 0.5)
            sagoi_sums_add(sums, sagoi_machine_place(&input->machine, n), (int64_t)(bytes + 0.5));
    }
    e.holders = sagoi_sums_members(sums);
    for (int64_t n = 0; n < plan->nodes; n++) {
        if (plan->node_group[n] != plan->domains[d].group)
            continue;
        int64_t place = sagoi_machine_place(&input->machine, n);
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

typedef struct sentence {
    char text[200];
} sentence;

/* Memory of a node that is left when it has an aggregator. */
static int64_t memory_left(const plan_input *input, const sagoi_plan *plan, int64_t n) {
    const sagoi_node *node = &input->machine.node[n];
    return node->memory - sagoi_plan_segment_bytes(plan, node->ranks, 1) -
           sagoi_plan_private_bytes(plan, node->ranks, 1);
}

/* Why the cheapest node was not elected for domain d: one of the reasons for which plan/hosts.c passes a node
 * over. */
static sentence why_dearer(const plan_input *input, const sagoi_plan *plan, int64_t d, const election *e) {
    sentence why = {""};
    int64_t before = 0;
    if (e->cheapest < 0 || e->elected <= e->least * (1 + 1e-9))
        return why;
    const double page = SAGOI_EQUAL_BYTES / e->bandwidth, less = e->elected - e->least;
    for (int64_t i = 0; i < d; i++)
        before += plan->domains[i].node == e->cheapest;
    if (plan->placement != SAGOI_PLACEMENT_COST)
        (void)snprintf(why.text, sizeof why.text, ", not taken: with sago_placement=%s costs do not count",
                       placements[plan->placement]);
    else if (less <= page)
        (void)snprintf(why.text, sizeof why.text,
                       ", not taken: %.3g ms less counts as equal, since moving a page takes %.3g ms", less * 1e3,
                       page * 1e3);
    else if (before > 0)
        (void)snprintf(why.text, sizeof why.text, ", not taken: it has %" PRId64 " of the domains before this one",
                       before);
    else if (memory_left(input, plan, e->cheapest) < 0)
        (void)snprintf(why.text, sizeof why.text, ", not taken: its %s of memory are too little",
                       sagoi_size_to_text(input->machine.node[e->cheapest].memory).text);
    else
        (void)snprintf(why.text, sizeof why.text,
                       ", not taken: the planner weighs shared links, too, and neighbouring domains together");
    return why;
}

static bool print_elections(const plan_input *input, const sagoi_plan *plan, char *why) {
    sagoi_topology flat;
    const sagoi_topology *topology = sagoi_topology_or_flat(input->machine.topology, plan->nodes, &flat);
    sagoi_sums *sums;
    if (sagoi_sums_create(topology, &sums) != SAGO_OK)
        return bench_refuse(why, "%s", sago_error_message());
    printf("elections: C1 + C2 in ms, of the node elected, and of the cheapest and the\n"
           "    dearest node of its group\n");
    for (int64_t d = 0; d < plan->ndomains && d < DOMAINS_SHOWN; d++) {
        election e = elect_again(input, plan, d, topology, sums);
        printf("    domain %" PRId64 ": node %" PRId64 " %.3f, of %" PRId64 " with data; cheapest %" PRId64
               " %.3f, dearest %.3f%s\n",
               d, plan->domains[d].node, e.elected * 1e3, e.holders, e.cheapest, e.least * 1e3, e.most * 1e3,
               why_dearer(input, plan, d, &e).text);
    }
    if (plan->ndomains > DOMAINS_SHOWN)
        printf("    ... and %" PRId64 " more\n", plan->ndomains - DOMAINS_SHOWN);
    sagoi_sums_destroy(sums);
    return true;
}

/* ---- Other numbers of aggregators ---- */

/* Prints the numbers that were compared when the number was decided: the plan's own, and no others. */
static void print_compared(const sagoi_plan *plan) {
    printf("aggregators compared (* %s)     ms\n", plan->aggregators == plan->ndomains ? "as planned" : "wanted");
    for (int64_t i = 0; i < plan->ncompared; i++)
        printf("  %c %10" PRId64 " %26.3f\n", plan->compared[i].aggregators == plan->aggregators ? '*' : ' ',
               plan->compared[i].aggregators, plan->compared[i].seconds * 1e3);
}

/* A number from a hint is compared with none, so this prints what would have been decided without the hint. */
static void print_counts(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan) {
    if (plan->ncompared > 0) {
        print_compared(plan);
        return;
    }
    sagoi_hints free_of = *hints;
    sagoi_plan other = {0};
    free_of.aggregators = free_of.per_target = free_of.domain_write = free_of.domain_read = 0;
    bool made = sagoi_plan_make(&input->machine, &input->shape, &input->target, &free_of, &other) == SAGO_OK;
    if (made && other.strategy != SAGOI_STRATEGY_AGGREGATED) {
        printf("a hint decides: %" PRId64 " aggregators; without it each rank would go by itself\n",
               plan->ndomains);
    } else if (made && other.ncompared > 0) {
        printf("a hint decides: %" PRId64 " aggregators; without it there would be %" PRId64 "\n", plan->ndomains,
               other.ndomains);
        print_compared(&other);
    }
    sagoi_plan_cleanup(&other);
}

/* ---- Other plans ---- */

static bool make_alternative(const plan_input *input, const sagoi_hints *hints, sagoi_plan *plan,
                             sagoi_cost *cost) {
    return sagoi_plan_make(&input->machine, &input->shape, &input->target, hints, plan) == SAGO_OK &&
           plan->strategy == SAGOI_STRATEGY_AGGREGATED &&
           sagoi_plan_cost(plan, &input->machine, &input->shape, cost) == SAGO_OK;
}

/* C1 + C2 of all domains, which elections minimise; a very large number if there is no such plan. */
static double print_alternative(const plan_input *input, const char *name, const sagoi_hints *hints, bool chosen) {
    sagoi_plan plan = {0};
    sagoi_cost cost = {0};
    int64_t hosts = 0;
    bool made = make_alternative(input, hints, &plan, &cost);
    for (int64_t n = 0; made && n < plan.nodes; n++)
        hosts += plan.node_slots[n] > 0;
    if (made)
        printf("  %c %-21s %5" PRId64 " %5" PRId64 " %8.2f %4" PRId64 " %8.3f %8.3f %8.1f\n", chosen ? '*' : ' ',
               name, plan.ndomains, hosts, (double)plan.window / (1 << 20), plan.rounds, cost.gather * 1e3,
               cost.store * 1e3, cost.wire / (1 << 20));
    else
        printf("  %c %-21s no such plan: %s\n", chosen ? '*' : ' ', name, sago_error_message());
    sagoi_plan_cleanup(&plan);
    return made ? cost.gather + cost.store : 1e300;
}

static void print_placements(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan) {
    double own = 0, least = 1e300;
    for (int64_t p = SAGOI_PLACEMENT_COST; p <= SAGOI_PLACEMENT_SPREAD; p++) {
        sagoi_hints other = *hints;
        char name[64];
        bool chosen = p == (int64_t)plan->placement;
        other.placement = p;
        (void)snprintf(name, sizeof name, "sago_placement=%s", placements[p]);
        double cost = print_alternative(input, name, &other, chosen);
        own = chosen ? cost : own;
        least = cost < least ? cost : least;
    }
    if (own <= least * (1 + 1e-9))
        return;
    printf("    %s\n",
           hints->placement != SAGOI_PLACEMENT_AUTO
               ? "a hint decides, though another placement costs less"
               : "another placement costs less in all: aggregators are placed one by one, a node takes its "
                 "share of them, and what differs by less than a page counts as equal");
}

/* Compares two layers with three, where nodes share switches. */
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
        if (hints->layers != SAGOI_LAYERS_AUTO && (cost.three < cost.two) == (plan->layers == 2))
            printf("    a hint decides, though the other number of layers costs less\n");
    }
    sagoi_plan_cleanup(&three);
}

/* Says why there are so many subfiles, and how the ranges of the nodes can lie together in them. */
static void print_subfiles(const plan_input *input, const sagoi_plan *plan) {
    const sagoi_target *target = &input->target;
    int64_t unit = target->stripe_unit > target->block ? target->stripe_unit : target->block;
    printf("%s\n", input->subfiles_why);
    if (target->subfiles.count == 0)
        return;
    int64_t whole = sagoi_subfiles_whole_block(plan->high, target->subfiles.count, unit);
    if (target->subfiles.block == whole)
        printf("    as with sago_subfile_block=%" PRId64 ": each holds one range of this access\n", whole);
    else
        printf("    with sago_subfile_block=%" PRId64 " each would hold one range of this access\n", whole);
}

bool plan_explain(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan, char *why) {
    print_subfiles(input, plan);
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED) {
        printf("aggregated instead it would be\n");
    } else if (plan->nodes > 1 && !print_elections(input, plan, why)) {
        return false;
    }
    if (plan->strategy == SAGOI_STRATEGY_AGGREGATED && plan->nodes > 1)
        print_counts(input, hints, plan);
    printf("aggregators, the nodes they are on, MiB of a window, rounds, sums of C1 and C2\n"
           "in ms, MiB between nodes\n"
           "alternatives (* as planned) aggr nodes   window  rds       C1       C2 between\n");
    sagoi_hints aggregated = *hints;
    aggregated.strategy = SAGOI_STRATEGY_AGGREGATED;
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED) {
        (void)print_alternative(input, "sago_strategy=aggregated", &aggregated, false);
        return true;
    }
    print_placements(input, &aggregated, plan);
    print_layers(input, &aggregated, plan);
    return true;
}
