/* One file kept in several (000: one file per Pset): in how many, and in which blocks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plan/draft.h"

/* ---- How many ---- */

static int compare_numbers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t count_different(int64_t *numbers, int64_t n) {
    int64_t different = 0;
    qsort(numbers, (size_t)n, sizeof *numbers, compare_numbers);
    for (int64_t i = 0; i < n; i++)
        different += i == 0 || numbers[i] != numbers[i - 1];
    return different;
}

/* Nodes that a rule's gateways serve in blocks (the two bridge nodes of a Pset serve the same one): counts the
 * blocks with nodes of this machine.  Gateways that serve all nodes, or whose places are not known, count each. */
static sago_status count_gateways(const sagoi_machine *machine, int64_t *count) {
    const sagoi_topology *topology = machine->topology;
    int64_t *blocks = calloc((size_t)machine->nodes, sizeof *blocks);
    if (!blocks)
        return sagoi_fail(SAGO_ERR_MEMORY, "subfiles: no memory to look at %" PRId64 " nodes", machine->nodes);
    *count = 0;
    for (int64_t i = 0; topology && i < topology->gateway_rules; i++) {
        const sagoi_gateway_rule *rule = &topology->gateway_rule[i];
        if (rule->first < 0 || rule->serves == 0) {
            *count += rule->count;
            continue;
        }
        int64_t n = 0;
        for (int64_t node = 0; node < machine->nodes; node++)
            if (sagoi_topology_gateway_nearest(topology, machine->node[node].place) >= 0)
                blocks[n++] = machine->node[node].place / rule->serves;
        *count += count_different(blocks, n);
    }
    free(blocks);
    return *count > 0 ? SAGO_OK
                      : sagoi_fail(SAGO_ERR_HINT, "hint sago_subfiles: one a gateway, but no gateways are known");
}

static sago_status count_subfiles(const char *hint, const sagoi_machine *machine, int64_t *count,
                                  const char **each) {
    char *end;
    *each = "hint";
    *count = 1;
    if (!*hint)
        return SAGO_OK;
    if (strcasecmp(hint, "node") == 0) {
        *each = "one a node";
        *count = machine->nodes;
        return SAGO_OK;
    }
    if (strcasecmp(hint, "gateway") == 0) {
        *each = "one for each set of nodes that shares gateways";
        return count_gateways(machine, count);
    }
    *count = strtoll(hint, &end, 10);
    if (*end || *count < 1 || *count > SAGOI_SUBFILES_MAX)
        return sagoi_fail(SAGO_ERR_HINT,
                          "hint sago_subfiles: \"%.32s\" is not a number from 1 to %d, node or gateway", hint,
                          SAGOI_SUBFILES_MAX);
    return SAGO_OK;
}

/* ---- In which blocks ---- */

static int64_t decide_block(const sagoi_hints *hints, const char **why) {
    int64_t block = hints->subfile_block, unit = SAGOI_SUBFILE_UNIT;
    *why = "hint";
    if (block == 0 && hints->window > 0) {
        *why = "as large as windows, hint";
        block = hints->window;
    } else if (block == 0) {
        *why = "as large as windows";
        block = SAGOI_SUBFILE_BLOCK_USUAL;
    }
    if (hints->striping_unit > 0 && hints->striping_unit % unit == 0)
        unit = hints->striping_unit;
    return sagoi_min(sagoi_round_up(block, unit), SAGOI_SUBFILE_BLOCK_MAX);
}

bool sagoi_subfiles_are_ruled_later(const sagoi_hints *hints) {
    return hints->subfile_block == 0 &&
           (strcasecmp(hints->subfiles, "node") == 0 || strcasecmp(hints->subfiles, "gateway") == 0);
}

sago_status sagoi_subfiles_choose(const sagoi_hints *hints, const sagoi_machine *machine, sagoi_subfiles *chosen,
                                  char why[SAGOI_SUBFILES_WHY_MAX]) {
    const char *each, *how_large;
    int64_t count;
    sago_status status = count_subfiles(hints->subfiles, machine, &count, &each);
    if (status != SAGO_OK)
        return status;
    count = sagoi_min(count, SAGOI_SUBFILES_MAX);
    *chosen = (sagoi_subfiles){0, 0};
    (void)snprintf(why, SAGOI_SUBFILES_WHY_MAX, "subfiles: none, %s", *hints->subfiles ? each : "not asked for");
    if (count < 2)
        return SAGO_OK;
    *chosen = (sagoi_subfiles){count, decide_block(hints, &how_large)};
    if (sagoi_subfiles_are_ruled_later(hints))
        how_large = "if the first write fills no better ones";
    (void)snprintf(why, SAGOI_SUBFILES_WHY_MAX, "subfiles: %" PRId64 ", %s; blocks of %s in turn, %s", count, each,
                   sagoi_size_to_text(chosen->block).text, how_large);
    return SAGO_OK;
}

int64_t sagoi_subfiles_whole_block(int64_t end, int64_t count, int64_t unit) {
    return sagoi_round_up(sagoi_max(1, sagoi_div_up(end, count)),
                          sagoi_round_up(sagoi_max(1, unit), SAGOI_SUBFILE_UNIT));
}

/* ---- By the first write ---- */

/* Nodes with the same number share gateways; if gateways are not known, each node has its own number. */
static int64_t set_of(const sagoi_machine *machine, int64_t node, bool by_gateway) {
    const sagoi_topology *topology = machine->topology;
    int64_t place = machine->node[node].place, gateway = -1;
    if (by_gateway)
        gateway = sagoi_topology_gateway_nearest(topology, place);
    for (int64_t i = 0; gateway >= 0 && i < topology->gateway_rules; i++) {
        const sagoi_gateway_rule *rule = &topology->gateway_rule[i];
        if (rule->first >= 0 && rule->serves > 0 && sagoi_topology_gateway_serves(topology, gateway, place))
            return place / rule->serves;
    }
    return gateway >= 0 ? gateway : node;
}

/* Has some node of every set data? */
static bool is_data_everywhere(const sagoi_machine *machine, const int64_t *bytes, bool by_gateway) {
    int64_t *sets = calloc(2 * (size_t)machine->nodes, sizeof *sets), *with = sets + machine->nodes, n = 0;
    if (!sets)
        return false;
    for (int64_t node = 0; node < machine->nodes; node++) {
        sets[node] = set_of(machine, node, by_gateway);
        if (bytes[node] > 0)
            with[n++] = sets[node];
    }
    bool all = count_different(sets, machine->nodes) == count_different(with, n);
    free(sets);
    return all;
}

/* Each of several variables that lie one after another is spread over all subfiles, as the next ones will be; an
 * interleaved access, or a single piece, is cut as a whole.  A short beginning belongs to the first block. */
int64_t sagoi_subfiles_first_block(const sagoi_machine *machine, const sagoi_first_access *access, int64_t count,
                                   int64_t unit) {
    bool in_turn = access->next_low != INT64_MAX && access->first_high <= access->next_low;
    int64_t low = in_turn ? access->first_low : access->low, high = in_turn ? access->first_high : access->high;
    if (low >= high || !is_data_everywhere(machine, access->bytes, count != machine->nodes))
        return 0;
    int64_t end = low < high - low ? high : high - low;
    return sagoi_min(sagoi_subfiles_whole_block(end, count, unit), SAGOI_SUBFILE_BLOCK_MAX);
}
