/* One file kept in several (000: one file per Pset): how many, and where each begins. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/checked.h"
#include "plan/draft.h"

sago_status sagoi_subfiles_count(const char *hint, const sagoi_machine *machine, int64_t *count) {
    int64_t gateways = machine->topology ? sagoi_topology_gateways(machine->topology) : 0;
    char *end;
    if (!*hint || strcasecmp(hint, "auto") == 0) {
        *count = 1;
    } else if (strcasecmp(hint, "node") == 0) {
        *count = machine->nodes;
    } else if (strcasecmp(hint, "gateway") == 0) {
        if (gateways == 0)
            return sagoi_fail(SAGO_ERR_HINT, "subfiles: one a gateway, but no gateways are known");
        *count = sagoi_gateway_blocks(machine);
    } else {
        long long number = strtoll(hint, &end, 10);
        if (*end || number < 1 || number > SAGOI_SUBFILES_MAX)
            return sagoi_fail(SAGO_ERR_HINT, "subfiles: \"%.32s\" is not a number from 1 to %d, node or gateway",
                              hint, SAGOI_SUBFILES_MAX);
        *count = number;
    }
    *count = sagoi_min(*count, SAGOI_SUBFILES_MAX);
    return SAGO_OK;
}

/* Gateways that serve the same nodes (the two bridge nodes of a Pset) count once. */
int64_t sagoi_gateway_blocks(const sagoi_machine *machine) {
    const sagoi_topology *topology = machine->topology;
    int64_t blocks = 0;
    for (int64_t i = 0; i < topology->gateway_rules; i++) {
        const sagoi_gateway_rule *rule = &topology->gateway_rule[i];
        if (rule->first < 0 || rule->serves == 0) {
            blocks += rule->count;
            continue;
        }
        int64_t last = -1; /* gateways of a rule ascend */
        for (int64_t k = 0; k < rule->count; k++) {
            int64_t block = (rule->first + k * rule->every) / rule->serves;
            blocks += block != last;
            last = block;
        }
    }
    return sagoi_max(1, blocks);
}

int64_t sagoi_subfile_bytes(int64_t end, int64_t count, int64_t unit) {
    return sagoi_round_up(sagoi_max(1, sagoi_div_up(end, count)), sagoi_round_up(sagoi_max(1, unit), SAGOI_PAGE));
}
