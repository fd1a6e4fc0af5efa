/* The third layer (001, VI: its future work): the nodes of a switch or router have one leader, which sends on what
 * all of them have for aggregators elsewhere.  Then an aggregator gets one message from each switch instead of
 * each node, and a node sends one message to its leader instead of one to each aggregator; but bytes cross the
 * leader's link twice.  This is decided last, when everything is known that the messages depend on. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "plan/draft.h"

/* Pairs of a node and a domain that are weighed; more take too long for what is decided. */
static const int64_t most_pairs = 1 << 18;

/* ---- What it costs ------------------------------------------------------------------------------------ */

/* What one node sends and receives, in seconds unless said otherwise. */
typedef struct ends {
    double sends_two, sends_three; /* as a node */
    double collects, forwards;     /* as a leader */
    double to_leader;              /* bytes and messages for the node's leader */
    double rounds;
    double led_bytes, led_windows; /* as a leader: of the current domain */
} ends;

typedef struct weighing {
    const sagoi_plan *plan;
    const sagoi_machine *machine;
    const sagoi_shape *shape;
    const sagoi_topology *topology;
    ends *node;
    bool data;                           /* data, or only messages */
    double scale;                        /* domains that each domain in the sample stands for */
    double receives_two, receives_three; /* of the busiest aggregator */
    sagoi_layers_cost total;
} weighing;

static double larger(double a, double b) { return a > b ? a : b; }

static int64_t place_of(const weighing *w, int64_t node) {
    return w->machine->topology ? w->machine->node[node].place : node;
}

/* Seconds of so many messages with so many bytes in all, from node to node. */
static double path_cost(const weighing *w, int64_t from, int64_t to, double messages, double bytes) {
    int64_t a = place_of(w, from), b = place_of(w, to);
    return from == to ? 0
                      : messages * sagoi_topology_latency(w->topology, a, b) +
                            bytes / sagoi_topology_bandwidth(w->topology, a, b);
}

/* In how many rounds, roughly, the node has something for the domain. */
static double windows_of(const sagoi_plan *plan, int64_t node, int64_t domain) {
    const sagoi_domain *d = &plan->domains[domain];
    int64_t both = sagoi_min(plan->node_high[node], d->end) - sagoi_max(plan->node_low[node], d->first);
    if (both <= 0 || d->node == node)
        return 0;
    return larger(1, (double)d->windows * (double)both / (double)(d->end - d->first));
}

/* One node's part of a domain. */
static void weigh_pair(weighing *w, int64_t n, int64_t d, double *two, double *three) {
    const sagoi_plan *plan = w->plan;
    int64_t host = plan->domains[d].node, leader = plan->node_leader[n];
    double windows = windows_of(plan, n, d),
           c = (double)sagoi_min(plan->local_aggregators, w->machine->node[n].ranks);
    if (windows == 0)
        return;
    double bytes = w->data ? sagoi_domain_bytes(plan, w->shape, d, n) : 0;
    double straight = path_cost(w, n, host, windows * c, bytes);
    *two += straight;
    w->node[n].sends_two += straight * w->scale;
    w->total.messages_two += windows * c * w->scale;
    if (!sagoi_plan_relayed(plan, n, d)) {
        *three += straight;
        w->node[n].sends_three += straight * w->scale;
        w->total.messages_three += windows * c * w->scale;
        return;
    }
    w->node[n].to_leader += bytes * w->scale;
    w->node[n].rounds = larger(w->node[n].rounds, windows);
    w->node[leader].led_bytes += bytes;
    w->node[leader].led_windows = larger(w->node[leader].led_windows, windows);
}

static void weigh_domain(weighing *w, int64_t d) {
    double two = 0, three = 0;
    for (int64_t n = 0; n < w->plan->nodes; n++)
        weigh_pair(w, n, d, &two, &three);
    for (int64_t n = 0; n < w->plan->nodes; n++) {
        ends *leader = &w->node[n];
        double sent_on = path_cost(w, n, w->plan->domains[d].node, leader->led_windows, leader->led_bytes);
        three += sent_on;
        leader->forwards += sent_on * w->scale;
        w->total.messages_three += leader->led_windows * w->scale;
        leader->led_bytes = leader->led_windows = 0;
    }
    w->receives_two = larger(w->receives_two, two);
    w->receives_three = larger(w->receives_three, three);
}

/* Seconds of the stages one after another, each as long as its busiest node takes. */
static void add_stages(weighing *w) {
    double sends_two = 0, sends_three = 0, collects = 0, forwards = 0;
    for (int64_t n = 0; n < w->plan->nodes; n++) {
        ends *node = &w->node[n];
        int64_t leader = w->plan->node_leader[n];
        double c = (double)sagoi_min(w->plan->local_aggregators, w->machine->node[n].ranks);
        if (leader >= 0 && leader != n) {
            double cost = path_cost(w, n, leader, node->rounds * c, node->to_leader);
            node->sends_three += cost;
            w->node[leader].collects += cost;
            w->total.messages_three += node->rounds * c;
        }
    }
    for (int64_t n = 0; n < w->plan->nodes; n++) {
        sends_two = larger(sends_two, w->node[n].sends_two);
        sends_three = larger(sends_three, w->node[n].sends_three);
        collects = larger(collects, w->node[n].collects);
        forwards = larger(forwards, w->node[n].forwards);
    }
    w->total.two = sends_two + w->receives_two;
    w->total.three = sends_three + collects + forwards + w->receives_three;
}

static sago_status weigh(weighing *w) {
    const sagoi_plan *plan = w->plan;
    w->node = calloc((size_t)plan->nodes, sizeof *w->node);
    if (!w->node)
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory to weigh layers on %" PRId64 " nodes", plan->nodes);
    int64_t looked_at = sagoi_min(plan->ndomains, sagoi_max(1, most_pairs / plan->nodes));
    w->scale = looked_at > 0 ? (double)plan->ndomains / (double)looked_at : 1;
    for (int64_t i = 0; i < looked_at; i++)
        weigh_domain(w, (int64_t)((double)i * w->scale));
    add_stages(w);
    free(w->node);
    return SAGO_OK;
}

sago_status sagoi_plan_layers_cost(const sagoi_plan *plan, const sagoi_machine *machine, const sagoi_shape *shape,
                                   sagoi_layers_cost *cost) {
    sagoi_topology flat;
    weighing w = {.plan = plan, .machine = machine, .shape = shape, .topology = machine->topology, .data = true};
    if (!w.topology) {
        sagoi_topology_flat(&flat, machine->nodes);
        w.topology = &flat;
    }
    weighing requests = w;
    requests.data = false;
    sago_status status = weigh(&w);
    if (!status && !plan->write)
        status = weigh(&requests);
    if (status)
        return status;
    *cost = w.total;
    cost->asking = requests.total.three;
    return SAGO_OK;
}

/* ---- Leaders ------------------------------------------------------------------------------------------ */

static int64_t memory_left(const sagoi_draft *draft, int64_t n) {
    const sagoi_plan *plan = draft->plan;
    int64_t ranks = draft->machine->node[n].ranks, slots = plan->node_slots[n];
    return draft->machine->node[n].memory - sagoi_plan_segment_bytes(plan, ranks, slots) -
           sagoi_plan_private_bytes(plan, ranks, slots);
}

/* Gives the nodes of every switch or router, if they are two or more, the one with most memory left as their
 * leader; returns the number of leaders. */
static int64_t find_leaders(const sagoi_draft *draft, int64_t *of_switch) {
    sagoi_plan *plan = draft->plan;
    const sagoi_node *node = draft->machine->node;
    int64_t neighbours = sagoi_topology_neighbours(draft->machine->topology), leaders = 0;
    for (int64_t n = 0; n < plan->nodes; n++) {
        int64_t *leader = &of_switch[node[n].place / neighbours];
        if (*leader == 0 || memory_left(draft, n) > memory_left(draft, *leader - 1))
            *leader = n + 1;
    }
    for (int64_t n = 0; n < plan->nodes; n++) {
        int64_t leader = of_switch[node[n].place / neighbours] - 1;
        if (leader != n) { /* a leader that leads no other node needs no leader either */
            leaders += plan->node_leader[leader] < 0;
            plan->node_leader[n] = plan->node_leader[leader] = leader;
        }
    }
    return leaders;
}

static void drop_leaders(sagoi_plan *plan) {
    for (int64_t n = 0; n < plan->nodes; n++)
        plan->node_leader[n] = -1;
    plan->relay_slots = 0;
}

/* Slots for as many messages as a leader's neighbours send at a time; when writing twice as many, so that it
 * receives the next while it sends on the last; or as many as its memory holds.  false: not even one. */
static bool size_relays(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    int64_t neighbours = sagoi_topology_neighbours(draft->machine->topology);
    plan->relay_slots = sagoi_min(SAGOI_RELAY_SLOTS_MOST,
                                  sagoi_max(1, neighbours * plan->local_aggregators * (plan->write ? 2 : 1)));
    for (int64_t n = 0; n < plan->nodes; n++)
        while (plan->relay_slots > 0 && sagoi_plan_relay_bytes(plan, n) > memory_left(draft, n))
            plan->relay_slots--;
    return plan->relay_slots > 0;
}

/* ---- Deciding ----------------------------------------------------------------------------------------- */

static sago_status weigh_layers(sagoi_draft *draft, int64_t leaders) {
    sagoi_plan *plan = draft->plan;
    sagoi_layers_cost cost = {0};
    sago_status status = sagoi_plan_layers_cost(plan, draft->machine, draft->shape, &cost);
    if (status != SAGO_OK)
        return status;
    bool hinted = draft->hints->layers == SAGOI_LAYERS_THREE;
    plan->layers = hinted || cost.three < cost.two ? 3 : 2;
    /* Replies that go straight need not be asked for: aggregators remember what to send to which node, leaders do
     * not. */
    plan->relay_repeats = plan->layers == 3 && !plan->write && (hinted || cost.three + cost.asking < cost.two);
    if (plan->layers == 2)
        drop_leaders(plan);
    sagoi_draft_reason(draft, "layers: %" PRId64 "%s, %" PRId64 " leaders of switches%s: %.4g ms, two layers %.4g",
                       plan->layers, hinted ? ", as hinted" : "", leaders,
                       plan->layers == 3 ? "" : " would make it slower", cost.three * 1e3, cost.two * 1e3);
    return SAGO_OK;
}

static sago_status try_three(sagoi_draft *draft) {
    const sagoi_topology *topology = draft->machine->topology;
    int64_t switches = topology ? topology->places / sagoi_topology_neighbours(topology) : 0;
    bool grouped = switches > 1 && switches < topology->places;
    int64_t *of_switch = grouped ? calloc((size_t)switches, sizeof *of_switch) : NULL;
    if (grouped && !of_switch)
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory for %" PRId64 " switches", switches);
    int64_t leaders = grouped ? find_leaders(draft, of_switch) : 0;
    free(of_switch);
    if (leaders > 0 && size_relays(draft))
        return weigh_layers(draft, leaders);
    drop_leaders(draft->plan);
    if (draft->hints->layers == SAGOI_LAYERS_THREE)
        sagoi_draft_reason(draft, "layers: 2, three were hinted, but %s",
                           leaders > 0 ? "leaders have no memory left" : "no nodes are known to share a switch");
    return SAGO_OK;
}

sago_status sagoi_draft_layers(sagoi_draft *draft) {
    if (draft->machine->nodes == 1 || draft->hints->layers == SAGOI_LAYERS_TWO)
        return SAGO_OK;
    if (draft->plan->move == SAGOI_MOVE_PACKED)
        return try_three(draft);
    if (draft->hints->layers == SAGOI_LAYERS_THREE)
        sagoi_draft_reason(draft, "layers: 2, puts go straight to the aggregators");
    return SAGO_OK;
}
