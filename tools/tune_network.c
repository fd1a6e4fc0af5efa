/* Latency and bandwidth between two ranks of a node and between nodes; nodes whose own links are slow; racks.
 *
 * Each node is measured with the nodes 1, 2, 4, ... further on.  A node counts as fast as the fastest of its
 * pairs, so that a slow neighbour does not make it look slow.  Pairs without a common node run at the same
 * time.  Where the times have a gap, the nodes are in racks (machine/racks.h); then the first nodes of the
 * racks are measured with each other, too, since the sample may have missed that two racks are one. */
#include <stdlib.h>
#include <string.h>

#include "machine/discover.h"
#include "machine/racks.h"
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

/* Half of the fastest of `count` round trips: other users of the machine can only make it look slower. */
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
    double beyond_latency = large > 2 * latency ? large - latency : large;
    return (tune_pair){latency, bytes / beyond_latency};
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
    tune_found(plan, "%-26s  %11s, latency %s", where, tune_rate(level.bandwidth).text,
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

/* ---- Pairs of nodes ---- */

/* The pairs that are measured, equal on all leaders; the first node of a pair keeps the figures. */
typedef struct tune_pairs {
    int64_t count, measured;
    sagoi_pair_time *pair;      /* the pairs, whose field `seconds` is not used */
    double *latency, *slowness; /* seconds; seconds for each byte */
    tune_pair best;             /* best pair of this leader's node */
} tune_pairs;

static bool pairs_grow(tune_pairs *p, int64_t count) {
    sagoi_pair_time *pair = realloc(p->pair, (size_t)count * sizeof *pair);
    p->pair = pair ? pair : p->pair;
    double *latency = realloc(p->latency, (size_t)count * sizeof *latency);
    p->latency = latency ? latency : p->latency;
    double *slowness = realloc(p->slowness, (size_t)count * sizeof *slowness);
    p->slowness = slowness ? slowness : p->slowness;
    return pair && latency && slowness;
}

static void pairs_cleanup(tune_pairs *p) {
    free(p->pair);
    free(p->latency);
    free(p->slowness);
}

static void measure_one(const tune_plan *plan, tune_pairs *p, int64_t i, char *buffer) {
    bool first = p->pair[i].a == plan->node;
    if (!first && p->pair[i].b != plan->node)
        return;
    tune_pair now = measure_pair(plan, plan->leaders, (int)(first ? p->pair[i].b : p->pair[i].a), first, buffer);
    p->best.latency = p->best.latency == 0 || now.latency < p->best.latency ? now.latency : p->best.latency;
    p->best.bandwidth = now.bandwidth > p->best.bandwidth ? now.bandwidth : p->best.bandwidth;
    p->latency[i] = first ? now.latency : 0;
    p->slowness[i] = first ? 1 / now.bandwidth : 0;
}

/* Measures pairs that were not measured yet, in turns of pairs without a common node.  Rank 0 learns all figures.
 * false: there is no memory. */
static bool measure_pairs(const tune_plan *plan, tune_pairs *p, char *buffer) {
    int64_t nodes = plan->world.nodes, left = p->count - p->measured, turn = 0;
    int64_t *busy = calloc((size_t)nodes, sizeof *busy); /* for each node: the last turn in which it has a pair */
    bool *done = calloc((size_t)p->count, sizeof *done);
    int good = busy && done;
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, plan->leaders);
    for (int64_t i = p->measured; i < p->count; i++)
        p->latency[i] = p->slowness[i] = 0;
    while (good && left > 0) {
        turn++;
        for (int64_t i = p->measured; i < p->count; i++) {
            sagoi_pair_time *pair = &p->pair[i];
            if (done[i] || busy[pair->a] == turn || busy[pair->b] == turn)
                continue;
            busy[pair->a] = busy[pair->b] = turn;
            done[i] = true;
            left--;
            measure_one(plan, p, i, buffer);
        }
    }
    free(busy);
    free(done);
    bool root = plan->node == 0;
    int fresh = (int)(p->count - p->measured);
    for (int k = 0; good && k < 2; k++) {
        double *values = (k ? p->slowness : p->latency) + p->measured;
        MPI_Reduce(root ? MPI_IN_PLACE : values, values, fresh, MPI_DOUBLE, MPI_MAX, 0, plan->leaders);
    }
    p->measured = p->count;
    return good;
}

/* What every leader tells rank 0. */
typedef struct tune_told {
    tune_pair pair;
    sagoi_node_name name;
} tune_told;

/* Gives nodes that are well below the others a line of their own, with their names. */
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

/* ---- Racks ---- */

static double gap_of(const sagoi_racks *found) {
    return found->racks > 1 ? found->least_far / found->greatest_near : 0;
}

static sago_status find_by(const tune_plan *plan, tune_pairs *p, const double *figure, int64_t *rack,
                           sagoi_racks *found) {
    for (int64_t i = 0; i < p->count; i++)
        p->pair[i].seconds = figure[i];
    return sagoi_racks_find(plan->world.nodes, p->count, p->pair, rack, found);
}

/* Uses latency or bandwidth, whichever has the wider gap. */
static bool find_racks(tune_plan *plan, tune_pairs *p, int64_t *rack, sagoi_racks *found) {
    sagoi_racks by_latency, by_bandwidth;
    sago_status status = find_by(plan, p, p->latency, rack, &by_latency);
    if (status == SAGO_OK)
        status = find_by(plan, p, p->slowness, rack, &by_bandwidth);
    if (status == SAGO_OK && gap_of(&by_latency) > gap_of(&by_bandwidth))
        status = find_by(plan, p, p->latency, rack, &by_latency);
    if (status != SAGO_OK) {
        snprintf(plan->why, sizeof plan->why, "%s", sago_error_message());
        return false;
    }
    *found = gap_of(&by_latency) > gap_of(&by_bandwidth) ? by_latency : by_bandwidth;
    return true;
}

/* The medians of pairs inside of racks, or between them. */
static sagoi_level level_of(const tune_pairs *p, const int64_t *rack, bool inside) {
    double *values = malloc((size_t)(2 * p->count) * sizeof *values);
    int64_t count = 0;
    for (int64_t i = 0; values && i < p->count; i++)
        if ((rack[p->pair[i].a] == rack[p->pair[i].b]) == inside) {
            values[count] = p->latency[i];
            values[p->count + count++] = p->slowness[i];
        }
    sagoi_level level = {0, 0};
    if (count > 0)
        level = (sagoi_level){tune_round(median(values, count)), tune_round(1 / median(values + p->count, count))};
    free(values);
    return level;
}

/* Adds all pairs of the racks' first nodes; equal on all leaders. */
static bool add_first_nodes(const tune_plan *plan, tune_pairs *p, const int64_t *rack, int64_t racks) {
    int64_t first[SAGOI_RACKS_MAX], found = 0;
    if (!pairs_grow(p, p->count + racks * racks))
        return false;
    for (int64_t n = 0; n < plan->world.nodes; n++)
        if (found < racks && rack[n] == found)
            first[found++] = n;
    for (int64_t i = 0; i < found; i++)
        for (int64_t k = 0; k < i; k++)
            p->pair[p->count++] = (sagoi_pair_time){first[k], first[i], 0};
    return true;
}

static bool list_racks(tune_plan *plan, const tune_told *told, const int64_t *rack, int64_t racks,
                       sagoi_site *site) {
    for (int64_t n = 0; n < plan->world.nodes; n++)
        if (sagoi_hostlist_add(&site->rack[rack[n]], told[n].name.host) != SAGO_OK) {
            site->racks = racks;
            snprintf(plan->why, sizeof plan->why, "%s", sago_error_message());
            return false;
        }
    site->racks = racks;
    return true;
}

/* Called on the leaders; rank 0 fills in the site file's values. */
static bool look_for_racks(tune_plan *plan, tune_pairs *p, const tune_told *told, char *buffer, sagoi_site *site) {
    int64_t *rack = calloc((size_t)plan->world.nodes, sizeof *rack), racks = 1;
    sagoi_racks found = {.racks = 1};
    int good = rack && (plan->node != 0 || find_racks(plan, p, rack, &found));
    racks = good ? found.racks : 1;
    MPI_Bcast(&racks, 1, MPI_INT64_T, 0, plan->leaders);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, plan->leaders);
    if (good && racks > 1) {
        MPI_Bcast(rack, (int)plan->world.nodes, MPI_INT64_T, 0, plan->leaders);
        good = add_first_nodes(plan, p, rack, racks);
        MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, plan->leaders);
        good = good && measure_pairs(plan, p, buffer) && (plan->node != 0 || find_racks(plan, p, rack, &found));
    }
    if (good && plan->node == 0 && found.racks > 1) {
        site->network = level_of(p, rack, true);
        site->between = level_of(p, rack, false);
        found_level(plan, "between nodes of a rack", site->network);
        found_level(plan, "between racks", site->between);
        tune_found(plan, "%-26s  %lld", "racks", (long long)found.racks);
        good = list_racks(plan, told, rack, found.racks, site);
    }
    free(rack);
    return good;
}

static bool measure_leaders(tune_plan *plan, tune_pairs *p, tune_told *told, char *buffer, sagoi_site *site) {
    tune_told mine;
    int64_t count = sagoi_racks_sample(plan->world.nodes, NULL);
    int good = pairs_grow(p, count);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, plan->leaders);
    if (!good)
        return false;
    p->count = sagoi_racks_sample(plan->world.nodes, p->pair);
    if (!measure_pairs(plan, p, buffer))
        return false;
    memset(&mine, 0, sizeof mine);
    mine.pair = p->best;
    sagoi_node_name_ask(&mine.name);
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, told, sizeof mine, MPI_BYTE, 0, plan->leaders);
    good = plan->node != 0 || judge(plan, told, site);
    return look_for_racks(plan, p, told, buffer, site) && good;
}

static bool between_nodes(tune_plan *plan, char *buffer, sagoi_site *site) {
    int64_t nodes = plan->world.nodes;
    if (nodes < 2)
        return true;
    tune_progress(plan, "between %lld nodes", (long long)nodes);
    tune_told *told = calloc((size_t)nodes, sizeof *told);
    tune_pairs pairs = {.count = 0};
    snprintf(plan->why, sizeof plan->why, "no memory");
    bool good = bench_agree(&plan->world, told, plan->why);
    if (good && plan->leaders != MPI_COMM_NULL)
        good = measure_leaders(plan, &pairs, told, buffer, site);
    pairs_cleanup(&pairs);
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
    sagoi_site_cleanup(site); /* links and racks are found anew */
    site->between = (sagoi_level){0, 0};
    inside_node(plan, buffer, site);
    bool good = between_nodes(plan, buffer, site);
    free(buffer);
    return good;
}
