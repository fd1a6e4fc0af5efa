/* The third layer (001, VI: its future work): the nodes of a switch or router have one relay, which sends on what
 * all of them have for aggregators elsewhere.  Then an aggregator gets one message from each switch instead of
 * each node, and a node sends one message to its relay instead of one to each aggregator; but bytes cross the
 * relay's link twice.  This is decided last, when everything is known that the messages depend on. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "plan/draft.h"

/* ---- What it costs ------------------------------------------------------------------------------------ */

/* What one node sends and receives, in seconds unless said otherwise. */
typedef struct ends {
    double sends_two, sends_three; /* as a node */
    double collects, forwards;     /* as a relay */
    double to_relay;               /* bytes and messages for the node's relay */
    double rounds;
    double relayed_bytes, relayed_windows; /* as a relay: of the current domain */
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

/* Seconds of so many messages with so many bytes in all, from node to node. */
static double path_cost(const weighing *w, int64_t from, int64_t to, double messages, double bytes) {
    int64_t a = sagoi_machine_place(w->machine, from), b = sagoi_machine_place(w->machine, to);
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
    return sagoi_larger(1, (double)d->windows * (double)both / (double)(d->end - d->first));
}

/* One node's part of a domain. */
static void weigh_pair(weighing *w, int64_t n, int64_t d, double *two, double *three) {
    const sagoi_plan *plan = w->plan;
    int64_t host = plan->domains[d].node, relay = plan->node_relay[n];
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
    w->node[n].to_relay += bytes * w->scale;
    w->node[n].rounds = sagoi_larger(w->node[n].rounds, windows);
    w->node[relay].relayed_bytes += bytes;
    w->node[relay].relayed_windows = sagoi_larger(w->node[relay].relayed_windows, windows);
}

static void weigh_domain(weighing *w, int64_t d) {
    double two = 0, three = 0;
    for (int64_t n = 0; n < w->plan->nodes; n++)
        weigh_pair(w, n, d, &two, &three);
    for (int64_t n = 0; n < w->plan->nodes; n++) {
        ends *relay = &w->node[n];
        double sent_on = path_cost(w, n, w->plan->domains[d].node, relay->relayed_windows, relay->relayed_bytes);
        three += sent_on;
        relay->forwards += sent_on * w->scale;
        w->total.messages_three += relay->relayed_windows * w->scale;
        relay->relayed_bytes = relay->relayed_windows = 0;
    }
    w->receives_two = sagoi_larger(w->receives_two, two);
    w->receives_three = sagoi_larger(w->receives_three, three);
}

/* Seconds of the stages one after another, each as long as its busiest node takes. */
static void add_stages(weighing *w) {
    double sends_two = 0, sends_three = 0, collects = 0, forwards = 0;
    for (int64_t n = 0; n < w->plan->nodes; n++) {
        ends *node = &w->node[n];
        int64_t relay = w->plan->node_relay[n];
        double c = (double)sagoi_min(w->plan->local_aggregators, w->machine->node[n].ranks);
        if (relay >= 0 && relay != n) {
            double cost = path_cost(w, n, relay, node->rounds * c, node->to_relay);
            node->sends_three += cost;
            w->node[relay].collects += cost;
            w->total.messages_three += node->rounds * c;
        }
    }
    for (int64_t n = 0; n < w->plan->nodes; n++) {
        sends_two = sagoi_larger(sends_two, w->node[n].sends_two);
        sends_three = sagoi_larger(sends_three, w->node[n].sends_three);
        collects = sagoi_larger(collects, w->node[n].collects);
        forwards = sagoi_larger(forwards, w->node[n].forwards);
    }
    w->total.two = sends_two + w->receives_two;
    w->total.three = sends_three + collects + forwards + w->receives_three;
}

static sago_status weigh(weighing *w) {
    const sagoi_plan *plan = w->plan;
    w->node = calloc((size_t)plan->nodes, sizeof *w->node);
    if (!w->node)
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory to weigh layers on %" PRId64 " nodes", plan->nodes);
    int64_t looked_at = sagoi_min(plan->ndomains, sagoi_max(1, SAGOI_MOST_PAIRS / plan->nodes));
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
    weighing w = {.plan = plan,
                  .machine = machine,
                  .shape = shape,
                  .topology = sagoi_topology_or_flat(machine->topology, machine->nodes, &flat),
                  .data = true};
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

/* ---- Relays ------------------------------------------------------------------------------------------ */

static int64_t memory_left(const sagoi_draft *draft, int64_t n) {
    const sagoi_plan *plan = draft->plan;
    int64_t ranks = draft->machine->node[n].ranks, slots = plan->node_slots[n];
    return draft->machine->node[n].memory - sagoi_plan_segment_bytes(plan, ranks, slots) -
           sagoi_plan_private_bytes(plan, ranks, slots);
}

/* Gives the nodes of every switch or router, if they are two or more, the one with most memory left as their
 * relay; returns the number of relays. */
static int64_t find_relays(const sagoi_draft *draft, int64_t *of_switch) {
    sagoi_plan *plan = draft->plan;
    const sagoi_node *node = draft->machine->node;
    int64_t neighbours = sagoi_topology_neighbours(draft->machine->topology), relays = 0;
    for (int64_t n = 0; n < plan->nodes; n++) {
        int64_t *relay = &of_switch[node[n].place / neighbours];
        if (*relay == 0 || memory_left(draft, n) > memory_left(draft, *relay - 1))
            *relay = n + 1;
    }
    for (int64_t n = 0; n < plan->nodes; n++) {
        int64_t relay = of_switch[node[n].place / neighbours] - 1;
        if (relay != n) { /* a relay that serves no other node needs no relay either */
            relays += plan->node_relay[relay] < 0;
            plan->node_relay[n] = plan->node_relay[relay] = relay;
        }
    }
    return relays;
}

static void drop_relays(sagoi_plan *plan) {
    for (int64_t n = 0; n < plan->nodes; n++)
        plan->node_relay[n] = -1;
    plan->relay_slots = 0;
}

/* Slots for as many messages as a relay's neighbours send at a time; when writing twice as many, so that it
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

/* What relays would do to a call with two layers.  Times that are printed alike are not called different. */
static const char *verdict_on_three(const sagoi_layers_cost *cost) {
    const double printed = 1e-4; /* reasons have four digits */
    return cost->three > cost->two * (1 + printed) ? " would make it slower" : " would make it no faster";
}

static sago_status weigh_layers(sagoi_draft *draft, int64_t relays) {
    sagoi_plan *plan = draft->plan;
    sagoi_layers_cost cost = {0};
    sago_status status = sagoi_plan_layers_cost(plan, draft->machine, draft->shape, &cost);
    if (status != SAGO_OK)
        return status;
    bool hinted = draft->hints->layers == SAGOI_LAYERS_THREE;
    plan->layers = hinted || cost.three < cost.two ? 3 : 2;
    /* Replies that go straight need not be asked for: aggregators remember what to send to which node, relays do
     * not. */
    plan->relay_repeats = plan->layers == 3 && !plan->write && (hinted || cost.three + cost.asking < cost.two);
    if (plan->layers == 2)
        drop_relays(plan);
    sagoi_draft_reason(draft, "layers: %" PRId64 "%s, %" PRId64 " relays of switches%s: %.4g ms, two layers %.4g",
                       plan->layers, hinted ? ", as hinted" : "", relays,
                       plan->layers == 3 ? "" : verdict_on_three(&cost), cost.three * 1e3, cost.two * 1e3);
    return SAGO_OK;
}

static sago_status try_three(sagoi_draft *draft) {
    const sagoi_topology *topology = draft->machine->topology;
    int64_t switches = topology ? topology->places / sagoi_topology_neighbours(topology) : 0;
    bool grouped = switches > 1 && switches < topology->places;
    int64_t *of_switch = grouped ? calloc((size_t)switches, sizeof *of_switch) : NULL;
    if (grouped && !of_switch)
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory for %" PRId64 " switches", switches);
    int64_t relays = grouped ? find_relays(draft, of_switch) : 0;
    free(of_switch);
    if (relays > 0 && size_relays(draft))
        return weigh_layers(draft, relays);
    drop_relays(draft->plan);
    if (draft->hints->layers == SAGOI_LAYERS_THREE)
        sagoi_draft_reason(draft, "layers: 2, three were hinted, but %s",
                           relays > 0 ? "relays have no memory left" : "no nodes are known to share a switch");
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
