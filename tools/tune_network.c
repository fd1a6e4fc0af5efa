/* Latency and bandwidth between two ranks of a node and between nodes; nodes whose own links are slow.
 *
 * Nodes are measured in a ring, each with its two neighbours: a node is as fast as the faster of its two pairs, so
 * that a slow neighbour does not make it look slow.  Pairs that share no node run at the same time. */
#include <stdlib.h>
#include <string.h>

#include "machine/discover.h"
#include "machine/text.h"
#include "tools/tune.h"

enum { TAG = 1, SMALL = 8 };

typedef struct tune_pair {
    double latency, bandwidth;
} tune_pair;

static void swap_message(MPI_Comm comm, int peer, bool first, char *buffer, int bytes) {
    if (first)
        MPI_Send(buffer, bytes, MPI_BYTE, peer, TAG, comm);
    MPI_Recv(buffer, bytes, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
    if (!first)
        MPI_Send(buffer, bytes, MPI_BYTE, peer, TAG, comm);
}

/* Half of the fastest of `count` round trips: others use the machine too, and can only make it look slower. */
static double one_way(MPI_Comm comm, int peer, bool first, char *buffer, int bytes, int count) {
    double best = 1e9;
    for (int i = 0; i < count; i++) {
        double begin = bench_now();
        swap_message(comm, peer, first, buffer, bytes);
        double seconds = (bench_now() - begin) / 2;
        best = seconds < best ? seconds : best;
    }
    return best > 0 ? best : 1e-9;
}

static tune_pair measure_pair(const tune_plan *plan, MPI_Comm comm, int peer, bool first, char *buffer) {
    int bytes = plan->quick ? 1 << 18 : 1 << 20;
    double latency = one_way(comm, peer, first, buffer, SMALL, plan->quick ? 40 : 1000);
    double large = one_way(comm, peer, first, buffer, bytes, plan->quick ? 8 : 50);
    double rest = large > 2 * latency ? large - latency : large;
    return (tune_pair){latency, bytes / rest};
}

static int compare_real(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(const double *values, int64_t count) {
    double *sorted = malloc((size_t)count * sizeof *sorted), middle;
    if (!sorted)
        return values[0];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_real);
    middle = sorted[count / 2];
    free(sorted);
    return middle;
}

static void found_level(const tune_plan *plan, const char *where, sagoi_level level) {
    tune_found(plan, "%-26s  %9s, latency %s", where, tune_rate(level.bandwidth).text,
               sagoi_show_time(level.latency).text);
}

/* The two lowest ranks of rank 0's node. */
static void inside_node(tune_plan *plan, char *buffer, sagoi_site *site) {
    double values[2] = {0, 0};
    tune_progress(plan, "between ranks of a node");
    if (plan->node == 0 && plan->world.node_ranks > 1 && plan->world.node_rank < 2) {
        tune_pair pair =
            measure_pair(plan, plan->world.node, !plan->world.node_rank, plan->world.node_rank == 0, buffer);
        values[0] = pair.latency;
        values[1] = pair.bandwidth;
    }
    bench_max(&plan->world, values, 2);
    if (values[1] <= 0)
        return;
    site->inside = (sagoi_level){tune_round(values[0]), tune_round(values[1])};
    found_level(plan, "between ranks of a node", site->inside);
}

/* Leader n with leader n + 1, round the ring; of a phase only pairs that share no node. */
static tune_pair ring(const tune_plan *plan, char *buffer) {
    int node = (int)plan->node, nodes = (int)plan->world.nodes, phases = nodes % 2 ? 3 : 2;
    tune_pair best = {0, 0};
    if (plan->leaders == MPI_COMM_NULL || nodes < 2)
        return best;
    for (int phase = 0; phase < phases; phase++) {
        int peer = -1;
        for (int low = 0; low < (nodes == 2 ? 1 : nodes); low++) {
            int of_phase = nodes % 2 && low == nodes - 1 ? 2 : low % 2;
            int high = (low + 1) % nodes;
            if (of_phase == phase && (low == node || high == node))
                peer = low == node ? high : low;
        }
        MPI_Barrier(plan->leaders);
        if (peer < 0)
            continue;
        tune_pair pair = measure_pair(plan, plan->leaders, peer, node < peer, buffer);
        best.latency = best.latency == 0 || pair.latency < best.latency ? pair.latency : best.latency;
        best.bandwidth = pair.bandwidth > best.bandwidth ? pair.bandwidth : best.bandwidth;
    }
    return best;
}

/* What every leader tells rank 0. */
typedef struct tune_told {
    tune_pair pair;
    sagoi_node_name name;
} tune_told;

/* Nodes well below the others get a line of their own, with their names. */
static bool find_slow(tune_plan *plan, const tune_told *told, sagoi_site *site) {
    for (int64_t n = 0; n < plan->world.nodes && site->links < SAGOI_LINK_RULES_MAX; n++) {
        if (plan->world.nodes < 3 || told[n].pair.bandwidth > 0.5 * site->network.bandwidth)
            continue;
        sagoi_site_link *link = &site->link[site->links++];
        *link = (sagoi_site_link){.bandwidth = tune_round(told[n].pair.bandwidth)};
        found_level(plan, told[n].name.host, (sagoi_level){tune_round(told[n].pair.latency), link->bandwidth});
        if (sagoi_hostlist_add(&link->hosts, told[n].name.host) != SAGO_OK) {
            snprintf(plan->why, sizeof plan->why, "%s", sago_error_message());
            return false;
        }
    }
    return true;
}

static bool judge(tune_plan *plan, const tune_told *told, sagoi_site *site) {
    int64_t nodes = plan->world.nodes;
    double *latency = malloc((size_t)(2 * nodes) * sizeof *latency), *bandwidth = latency + nodes;
    snprintf(plan->why, sizeof plan->why, "no memory");
    if (!latency)
        return false;
    for (int64_t n = 0; n < nodes; n++) {
        latency[n] = told[n].pair.latency;
        bandwidth[n] = told[n].pair.bandwidth;
    }
    site->network = (sagoi_level){tune_round(median(latency, nodes)), tune_round(median(bandwidth, nodes))};
    free(latency);
    found_level(plan, "between nodes", site->network);
    return find_slow(plan, told, site);
}

static bool between_nodes(tune_plan *plan, char *buffer, sagoi_site *site) {
    int64_t nodes = plan->world.nodes;
    if (nodes < 2)
        return true;
    tune_progress(plan, "between %lld nodes", (long long)nodes);
    tune_told mine, *told = calloc((size_t)nodes, sizeof *told);
    snprintf(plan->why, sizeof plan->why, "no memory");
    bool good = bench_agree(&plan->world, told, plan->why);
    if (good && plan->leaders != MPI_COMM_NULL) {
        memset(&mine, 0, sizeof mine);
        mine.pair = ring(plan, buffer);
        sagoi_node_name_ask(&mine.name);
        MPI_Gather(&mine, sizeof mine, MPI_BYTE, told, sizeof mine, MPI_BYTE, 0, plan->leaders);
        if (plan->world.rank == 0)
            good = judge(plan, told, site);
    }
    free(told);
    return bench_agree(&plan->world, good, plan->why);
}

bool tune_network(tune_plan *plan, sagoi_site *site) {
    char *buffer = calloc(1, 1 << 20);
    snprintf(plan->why, sizeof plan->why, "no memory");
    if (!bench_agree(&plan->world, buffer, plan->why)) {
        free(buffer);
        return false;
    }
    sagoi_site_cleanup(site); /* links are found anew */
    inside_node(plan, buffer, site);
    bool good = between_nodes(plan, buffer, site);
    free(buffer);
    return good;
}
