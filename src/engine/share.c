/* How a node's memory is shared.  All ranks of the node get equal parts, whatever communicators they open files
 * on, and all files of a rank get equal parts of the rank's part.  So a rank needs to know nothing about the
 * others.  A file that was planned for while fewer files were open gives back what is too much at its next
 * collective call. */
#include "engine/share.h"

#include "base/checked.h"
#include "engine/engine.h"
#include "machine/memory.h"
#include "plan/memory_share.h"

int64_t sagoi_share_part(void) { return SAGOI_MEMORY_PART / sagoi_max(1, sagoi_teams_in_use()); }

/* The answer is used for a while, which matters to programs with many shapes. */
static int64_t memory_free(sago_file *file) {
    double now = sagoi_now();
    if (file->memory_looked == 0 || now - file->memory_looked > SAGOI_MEMORY_LASTS) {
        file->memory_free = sagoi_memory_available("");
        file->memory_looked = now;
    }
    return file->memory_free;
}

/* Is half of the memory that the user allows for deferred data?  The planner gets the other half. */
static bool holds_deferred(const sago_file *file) { return file->deferred && file->hints.memory > 0; }

int64_t sagoi_share_of_node(sago_file *file, int64_t parts) {
    int64_t ranks = file->team->host_ranks, hint = file->hints.memory;
    if (hint == 0)
        return sagoi_memory_of_file(sagoi_memory_share(sagoi_memory_usable(memory_free(file)), parts, ranks),
                                    file->team->local_size);
    int64_t share = sagoi_max(sagoi_memory_share(hint, parts, ranks), sagoi_min(hint, SAGOI_SHARE_LEAST));
    return share - (holds_deferred(file) ? share / 2 : 0);
}

void sagoi_share_apply(sago_file *file, int64_t memory) {
    file->node_memory = memory + (holds_deferred(file) ? memory : 0);
    file->planned_among = sagoi_teams_in_use();
    if (file->hints.memory > 0)
        file->budget.limit = file->node_memory / file->team->local_size;
}

bool sagoi_share_exceeded(const sago_file *file) {
    int64_t files = sagoi_teams_in_use();
    if (file->windows_share == 0 || files <= file->planned_among)
        return false;
    int64_t now = file->node_memory / files * file->planned_among;
    if (file->hints.memory > 0)
        now = sagoi_max(now, sagoi_min(file->hints.memory, SAGOI_SHARE_LEAST));
    return file->windows_share > now / file->team->local_size;
}

void sagoi_share_give_back(sago_file *file) {
    sagoi_drop_exchanges(file);
    sagoi_cache_keep_only(&file->cache, NULL);
    sagoi_segment_release(&file->team->windows);
    sagoi_budget_count(&file->budget, -file->windows_share);
    file->windows_share = 0;
}
