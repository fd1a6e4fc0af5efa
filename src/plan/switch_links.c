/* The seconds that the links between switches need for a whole plan.
 *
 * Two domains whose bytes cross the same link between two switches wait for each other, which C1 + C2 of each
 * domain by itself does not show.  The shape tells how many bytes of each region of the file each node has, and
 * the plan tells who aggregates the region; both together tell about how many bytes cross from each switch to each
 * other one. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "plan/draft.h"

typedef struct link_loads {
    int64_t switches, neighbours;
    int64_t uplinks; /* of a switch of a tree; 0: each pair of switches has a link */
    double *bytes;   /* for each region and switch: the bytes of the switch's nodes */
    double *served;  /* for each region and switch: the share of the region that the switch's nodes aggregate */
} link_loads;

static int64_t switch_of(const sagoi_draft *draft, const link_loads *l, int64_t node) {
    return draft->machine->node[node].place / l->neighbours;
}

/* Adds the windows of a domain to the regions that its host aggregates; of many windows a sample is looked at. */
static void add_domain(const sagoi_draft *draft, const link_loads *l, int64_t d) {
    const sagoi_plan *plan = draft->plan;
    int64_t host = switch_of(draft, l, plan->domains[d].node), start, end;
    int64_t step = sagoi_max(1, plan->domains[d].windows / (2 * SAGOI_REGIONS));
    for (int64_t k = 0; k < plan->domains[d].windows; k += step)
        if (sagoi_plan_window(plan, d, k, &start, &end)) {
            int64_t region = (start - draft->shape->origin) / draft->shape->region;
            l->served[region * l->switches + host] += (double)(end - start) * (double)step;
        }
}

static void add_node(const sagoi_draft *draft, const link_loads *l, int64_t n) {
    const int64_t *histogram = &draft->shape->histogram[n * SAGOI_REGIONS];
    for (int64_t r = 0; r < SAGOI_REGIONS; r++)
        l->bytes[r * l->switches + switch_of(draft, l, n)] += (double)histogram[r];
}

/* Bytes of regions [first, end) that go from switch a to switch b. */
static double between(const link_loads *l, int64_t a, int64_t b, int64_t first, int64_t end) {
    double bytes = 0;
    for (int64_t r = first; r < end; r++)
        bytes += l->bytes[r * l->switches + a] * l->served[r * l->switches + b];
    return bytes;
}

/* The most bytes that any link between two switches carries of regions [first, end), which move at a time. */
static double busiest(const link_loads *l, int64_t first, int64_t end) {
    double most = 0;
    for (int64_t a = 0; a < l->switches; a++) {
        double up = 0, down = 0;
        for (int64_t b = 0; b < l->switches; b++)
            if (a != b && l->uplinks == 0) {
                most = sagoi_larger(most, between(l, a, b, first, end));
            } else if (a != b) {
                up += between(l, a, b, first, end);
                down += between(l, b, a, first, end);
            }
        if (l->uplinks > 0)
            most = sagoi_larger(most, sagoi_larger(up, down) / (double)l->uplinks);
    }
    return most;
}

/* Seconds of all rounds, which follow each other; in a round the bytes of all its regions move at the same time.
 */
static double sum_rounds(const sagoi_draft *draft, const link_loads *l) {
    int64_t rounds = sagoi_max(1, sagoi_min(draft->plan->rounds, SAGOI_REGIONS)), each = SAGOI_REGIONS / rounds;
    double seconds = 0;
    for (int64_t r = 0; r < SAGOI_REGIONS; r++) { /* bytes become shares of their region */
        double all = 0;
        for (int64_t s = 0; s < l->switches; s++)
            all += l->served[r * l->switches + s];
        for (int64_t s = 0; s < l->switches && all > 0; s++)
            l->served[r * l->switches + s] /= all;
    }
    if (draft->form != SAGOI_FORM_DEALT ||
        sagoi_plan_sectioned(draft->plan)) /* then every round reaches all regions */
        each = SAGOI_REGIONS;
    for (int64_t r = 0; r < SAGOI_REGIONS; r += sagoi_max(1, each))
        seconds += busiest(l, r, sagoi_min(r + sagoi_max(1, each), SAGOI_REGIONS));
    const sagoi_topology *topology = draft->machine->topology;
    double bandwidth = l->uplinks > 0 ? topology->level[1].bandwidth : sagoi_slowest_level(topology).bandwidth;
    return seconds / (bandwidth * SAGOI_LINK_PAYLOAD);
}

double sagoi_draft_switch_seconds(const sagoi_draft *draft) {
    const sagoi_topology *topology = draft->machine->topology;
    link_loads l = {.neighbours = topology ? sagoi_topology_neighbours(topology) : 1};
    if (l.neighbours <= 1 || !draft->shape->histogram)
        return 0;
    l.switches = sagoi_div_up(topology->places, l.neighbours);
    int64_t last = 0;
    for (int64_t n = 0; n < draft->machine->nodes; n++)
        last = sagoi_max(last, switch_of(draft, &l, n));
    l.switches = sagoi_min(l.switches, last + 1);
    l.uplinks = topology->kind == SAGOI_FAT_TREE && l.switches > 1 ? sagoi_topology_uplinks(topology, 1) : 0;
    if (l.switches < 2 || l.switches > SAGOI_MOST_PAIRED)
        return 0;
    double seconds = 0;
    l.bytes = calloc((size_t)(SAGOI_REGIONS * l.switches), sizeof *l.bytes);
    l.served = calloc((size_t)(SAGOI_REGIONS * l.switches), sizeof *l.served);
    if (l.bytes && l.served) {
        for (int64_t n = 0; n < draft->machine->nodes; n++)
            add_node(draft, &l, n);
        for (int64_t d = 0; d < draft->plan->ndomains; d++)
            add_domain(draft, &l, d);
        seconds = sum_rounds(draft, &l);
    }
    free(l.bytes);
    free(l.served);
    return seconds;
}
