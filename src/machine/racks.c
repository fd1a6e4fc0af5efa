#include "machine/racks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/checked.h"

/* Pairs of nodes are near (in one rack) or far (in two).  Sorted times have a gap between the two kinds where a
 * time is at least so many times the one before; smaller steps are noise within a kind. */
static const double least_gap = 1.5;
/* Other jobs may disturb a measurement, so that a near pair looks far: one pair in so many may. */
enum { DISTURBED = 16 };

int64_t sagoi_racks_sample(int64_t nodes, sagoi_pair_time *pair) {
    int64_t pairs = 0;
    for (int64_t step = 1; step <= nodes / 2; step *= 2)
        for (int64_t n = 0; n < (2 * step == nodes ? step : nodes); n++, pairs++)
            if (pair)
                pair[pairs] = (sagoi_pair_time){n, (n + step) % nodes, 0};
    return pairs;
}

/* ---- The gap ---- */

static int compare_seconds(const void *a, const void *b) {
    double x = ((const sagoi_pair_time *)a)->seconds, y = ((const sagoi_pair_time *)b)->seconds;
    return (x > y) - (x < y);
}

/* The widest gap between neighbouring times: the index of the first far pair; `pairs`: there is no gap. */
static int64_t find_gap(const sagoi_pair_time *sorted, int64_t pairs) {
    int64_t far = pairs;
    double widest = least_gap;
    for (int64_t i = 1; i < pairs; i++)
        if (sorted[i].seconds >= widest * sorted[i - 1].seconds) {
            widest = sorted[i].seconds / sorted[i - 1].seconds;
            far = i;
        }
    return far;
}

/* ---- What near pairs connect ---- */

static int64_t root_of(int64_t *parent, int64_t n) {
    while (parent[n] != n)
        n = parent[n] = parent[parent[n]];
    return n;
}

/* Connects two nodes.  The lower root wins, so that a rack is known by its first node. */
static void connect(int64_t *parent, int64_t a, int64_t b) {
    int64_t x = root_of(parent, a), y = root_of(parent, b);
    parent[sagoi_max(x, y)] = sagoi_min(x, y);
}

/* Numbers the racks; 0: one of them has a single node. */
static int64_t number_racks(int64_t *parent, int64_t nodes, int64_t *rack, int64_t *members) {
    int64_t racks = 0;
    for (int64_t n = 0; n < nodes; n++) {
        int64_t root = root_of(parent, n);
        rack[n] = root == n ? racks++ : rack[root];
        members[rack[n]] += 1;
    }
    for (int64_t i = 0; i < racks; i++)
        if (members[i] < 2)
            return 0;
    return racks;
}

/* Are there so few far pairs inside of racks that they may have been disturbed? */
static bool consistent(const sagoi_pair_time *sorted, int64_t far, int64_t pairs, const int64_t *rack) {
    int64_t inside = 0, wrong = 0;
    for (int64_t i = 0; i < pairs; i++)
        if (rack[sorted[i].a] == rack[sorted[i].b]) {
            inside++;
            wrong += i >= far;
        }
    return wrong * DISTURBED <= inside;
}

static int64_t divide(int64_t nodes, const sagoi_pair_time *sorted, int64_t far, int64_t pairs, int64_t *rack,
                      int64_t *room) {
    int64_t *parent = room, *members = room + nodes;
    for (int64_t n = 0; n < nodes; n++) {
        parent[n] = n;
        members[n] = 0;
    }
    for (int64_t i = 0; i < far; i++)
        connect(parent, sorted[i].a, sorted[i].b);
    int64_t racks = number_racks(parent, nodes, rack, members);
    return racks > 1 && racks <= SAGOI_RACKS_MAX && consistent(sorted, far, pairs, rack) ? racks : 1;
}

sago_status sagoi_racks_find(int64_t nodes, int64_t pairs, const sagoi_pair_time *pair, int64_t *rack,
                             sagoi_racks *found) {
    *found = (sagoi_racks){.racks = 1};
    sagoi_pair_time *sorted = calloc((size_t)sagoi_max(1, pairs), sizeof *sorted);
    int64_t *room = calloc((size_t)(2 * nodes), sizeof *room);
    if (!sorted || !room) {
        free(sorted);
        free(room);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to compare %lld pairs of nodes", (long long)pairs);
    }
    for (int64_t i = 0; i < pairs; i++)
        sorted[i] = pair[i];
    qsort(sorted, (size_t)pairs, sizeof *sorted, compare_seconds);
    int64_t far = find_gap(sorted, pairs);
    if (far < pairs)
        found->racks = divide(nodes, sorted, far, pairs, rack, room);
    if (found->racks > 1) {
        found->greatest_near = sorted[far - 1].seconds;
        found->least_far = sorted[far].seconds;
    }
    for (int64_t n = 0; found->racks == 1 && n < nodes; n++)
        rack[n] = 0;
    free(sorted);
    free(room);
    return SAGO_OK;
}
