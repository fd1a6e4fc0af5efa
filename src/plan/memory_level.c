/* Which of a node's memories the windows are in (000, VI: movement between levels of memory).  Every byte of a
 * window is copied into it and out of it, so the fastest memory suits; but that is small, and the application
 * wants it, too. */
#include <inttypes.h>

#include "base/checked.h"
#include "plan/draft.h"

/* The fastest memory; NULL: only one memory is known. */
static const sagoi_memory_level *fastest_level(const sagoi_topology *topology) {
    const sagoi_memory_level *fastest = NULL;
    for (int64_t i = 0; topology && i < topology->memory_levels; i++)
        if (!fastest || topology->memory_level[i].bandwidth > fastest->bandwidth)
            fastest = &topology->memory_level[i];
    return fastest;
}

void sagoi_draft_memory_level(sagoi_draft *draft) {
    const sagoi_memory_level *level = fastest_level(draft->machine->topology);
    sagoi_plan *plan = draft->plan;
    int64_t most = 0;
    if (!level || draft->hints->memory_kind[0])
        return;
    for (int64_t n = 0; n < plan->nodes; n++)
        most = sagoi_max(most, sagoi_plan_node_segment_bytes(plan, n, draft->machine->node[n].ranks));
    plan->fast_memory = most <= level->size / SAGOI_MEMORY_LEVEL_PART;
    sagoi_draft_reason(draft, "memory level: %s%s, windows and staging take at most %s of its %s on a node",
                       plan->fast_memory ? "" : "not ", level->name, sagoi_size_to_text(most).text,
                       sagoi_size_to_text(level->size).text);
}
