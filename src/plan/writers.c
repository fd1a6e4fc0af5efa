#include "plan/writers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "machine/sums.h"
#include "plan/draft.h"

static int64_t all_ranks(const sagoi_machine *machine) {
    int64_t ranks = 0;
    for (int64_t i = 0; i < machine->nodes; i++)
        ranks += machine->node[i].ranks;
    return ranks;
}

static int64_t fewest_ranks(const sagoi_machine *machine) {
    int64_t fewest = machine->node[0].ranks;
    for (int64_t i = 1; i < machine->nodes; i++)
        fewest = sagoi_min(fewest, machine->node[i].ranks);
    return fewest;
}

/* ---- How many ---- */

/* The bandwidth of all gateways of a rule that serve every node, or the job's share of those that serve their
 * neighbours. */
static double storage_rate(const sagoi_machine *machine) {
    const sagoi_topology *topology = machine->topology;
    double part = (double)machine->nodes / (double)topology->places, gateways = 0;
    for (int64_t i = 0; i < topology->gateway_rules; i++) {
        const sagoi_gateway_rule *rule = &topology->gateway_rule[i];
        gateways += (double)rule->count * (rule->serves > 0 && part < 1 ? part : 1);
    }
    return (gateways > 1 ? gateways : 1) * topology->io.bandwidth;
}

double sagoi_writers_cost(const sagoi_machine *machine, int64_t count) {
    const sagoi_topology *topology = machine->topology;
    double bytes = (double)all_ranks(machine) * (double)SAGOI_SAVED_ASSUMED,
           link = sagoi_slowest_level(topology).bandwidth;
    double sharing = count > machine->nodes ? (double)count / (double)machine->nodes : 1; /* a node's link */
    double rate = topology->writer > 0 && topology->writer < link / sharing ? topology->writer : link / sharing;
    double each = bytes / (double)count / rate, all = bytes / storage_rate(machine);
    double sent = count < machine->nodes ? bytes / (double)count - bytes / (double)machine->nodes : 0;
    return sent / link + (each > all ? each : all) + (double)count * SAGOI_WRITER_CALLS * topology->io.latency;
}

/* Doubles and halves from one writer a node on, as long as that pays. */
static int64_t cheapest(const sagoi_machine *machine, const sagoi_writers_wish *wish) {
    int64_t best = machine->nodes, most = machine->nodes * fewest_ranks(machine);
    double limit = SAGOI_WRITERS_WORTH * sagoi_writers_cost(machine, best), least = limit;
    for (int64_t count = 2 * machine->nodes; count <= most; count *= 2) {
        double cost = sagoi_writers_cost(machine, count);
        if (cost < least) {
            least = cost;
            best = count;
        }
    }
    for (int64_t count = machine->nodes / 2; count >= 1 && !wish->stays && !wish->even; count /= 2) {
        double cost = sagoi_writers_cost(machine, count);
        if (cost < least) {
            least = cost;
            best = count;
        }
    }
    return best;
}

static bool model_applies(const sagoi_machine *machine) {
    return machine->topology && sagoi_topology_gateways(machine->topology) > 0;
}

static int64_t wanted(const sagoi_machine *machine, const sagoi_writers_wish *wish, sagoi_writers *writers) {
    int64_t ranks = all_ranks(machine), count = machine->nodes;
    const char *why = "one a node: nothing is known of the storage";
    if (wish->group > 0) {
        count = sagoi_div_up(ranks, wish->group);
        why = "by sago_ckpt_group";
    } else if (wish->files > 0) {
        count = sagoi_max(wish->files, machine->nodes); /* writers of several nodes share a file */
        why = "by sago_ckpt_files";
    } else if (model_applies(machine)) {
        count = cheapest(machine, wish);
        why = count == machine->nodes ? "one a node: no other number gains a tenth" : "by the model";
    }
    (void)snprintf(writers->reason, sizeof writers->reason, "%s%s", why,
                   count < machine->nodes && (wish->stays || wish->even) ? ", but at least one a node" : "");
    return wish->stays || wish->even ? sagoi_max(count, machine->nodes) : count;
}

/* ---- Parts of nodes ---- */

/* As even as possible, and no more than a node has ranks. */
static int64_t share_of(const sagoi_machine *machine, const sagoi_writers_wish *wish, int64_t count,
                        int64_t node) {
    if (wish->even)
        return sagoi_max(1, sagoi_min(count / machine->nodes, fewest_ranks(machine)));
    int64_t share = count / machine->nodes + (node < count % machine->nodes);
    return sagoi_min(sagoi_max(1, share), machine->node[node].ranks);
}

static void number_parts(const sagoi_machine *machine, const sagoi_writers_wish *wish, int64_t count,
                         sagoi_writers *writers) {
    for (int64_t i = 0; i < machine->nodes; i++) {
        writers->first[i] = writers->count;
        writers->count += share_of(machine, wish, count, i);
    }
}

static void host_parts(const sagoi_machine *machine, sagoi_writers *writers) {
    for (int64_t i = 0; i < machine->nodes; i++)
        for (int64_t w = writers->first[i]; w < (i + 1 < machine->nodes ? writers->first[i + 1] : writers->count);
             w++)
            writers->host[w] = i;
}

/* ---- Whole nodes ---- */

/* The node of [from, to) where gathering their data and storing it costs least; the first of equal ones. */
static int64_t elect(const sagoi_machine *machine, sagoi_sums *sums, int64_t from, int64_t to) {
    double least = 0;
    int64_t best = from;
    sagoi_sums_clear(sums);
    for (int64_t i = from; i < to; i++)
        sagoi_sums_add(sums, machine->node[i].place, machine->node[i].ranks * SAGOI_SAVED_ASSUMED);
    for (int64_t i = from; i < to; i++) {
        int64_t place = machine->node[i].place;
        double cost = sagoi_sums_cost(sums, place) +
                      sagoi_topology_store_cost(machine->topology, place, (double)sagoi_sums_bytes(sums));
        if (i == from || cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

/* Node i is in group i * count / nodes: the groups have equal numbers of nodes, or one more. */
static sago_status form_whole(const sagoi_machine *machine, sagoi_writers *writers) {
    sagoi_sums *sums = NULL;
    sago_status status = machine->topology ? sagoi_sums_create(machine->topology, &sums) : SAGO_OK;
    for (int64_t i = 0; i < machine->nodes; i++)
        writers->first[i] = i * writers->count / machine->nodes;
    for (int64_t w = 0, from = 0; w < writers->count && !status; w++) {
        int64_t to = from;
        while (to < machine->nodes && writers->first[to] == w)
            to++;
        writers->host[w] = sums ? elect(machine, sums, from, to) : from;
        from = to;
    }
    sagoi_sums_destroy(sums);
    return status;
}

/* ---- All together ---- */

sago_status sagoi_writers_plan(const sagoi_machine *machine, const sagoi_writers_wish *wish,
                               sagoi_writers *writers) {
    *writers = (sagoi_writers){0};
    int64_t count = wanted(machine, wish, writers);
    writers->first = calloc((size_t)machine->nodes, sizeof *writers->first);
    writers->spans = count < machine->nodes;
    if (writers->first && !writers->spans)
        number_parts(machine, wish, count, writers);
    else
        writers->count = count;
    writers->host = calloc((size_t)sagoi_max(writers->count, 1), sizeof *writers->host);
    if (!writers->first || !writers->host) {
        sagoi_writers_cleanup(writers);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to choose the writers of %lld nodes",
                          (long long)machine->nodes);
    }
    writers->files = wish->files > 0 ? sagoi_min(wish->files, writers->count) : writers->count;
    sago_status status = SAGO_OK;
    if (writers->spans)
        status = form_whole(machine, writers);
    else
        host_parts(machine, writers);
    if (status)
        sagoi_writers_cleanup(writers);
    return status;
}

void sagoi_writers_cleanup(sagoi_writers *writers) {
    free(writers->first);
    free(writers->host);
    *writers = (sagoi_writers){0};
}

int64_t sagoi_writers_groups(const sagoi_writers *writers, const sagoi_machine *machine, int64_t node) {
    if (writers->spans)
        return 1;
    return (node + 1 < machine->nodes ? writers->first[node + 1] : writers->count) - writers->first[node];
}
