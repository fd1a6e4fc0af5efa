/* Counting of allocations.  There is no lock: one thread at a time uses a file, and the library's own threads do
 * not allocate. */
#include "base/budget.h"

#include <stdlib.h>

void sagoi_budget_count(sagoi_budget *budget, int64_t bytes) {
    if (!budget)
        return;
    budget->used += bytes;
    if (budget->used > budget->peak)
        budget->peak = budget->used;
}

bool sagoi_budget_fits(const sagoi_budget *budget, int64_t bytes) {
    return !budget || budget->limit == 0 || bytes <= budget->limit - budget->used;
}

void *sagoi_budget_alloc(sagoi_budget *budget, int64_t bytes) {
    if (bytes < 0)
        return NULL;
    void *memory = calloc(1, bytes ? (size_t)bytes : 1);
    if (memory)
        sagoi_budget_count(budget, bytes);
    return memory;
}

void sagoi_budget_free(sagoi_budget *budget, void *memory, int64_t bytes) {
    if (!memory)
        return;
    free(memory);
    sagoi_budget_count(budget, -bytes);
}

void *sagoi_budget_realloc(sagoi_budget *budget, void *memory, int64_t old_bytes, int64_t new_bytes) {
    if (new_bytes < 0)
        return NULL;
    void *moved = realloc(memory, new_bytes ? (size_t)new_bytes : 1);
    if (moved)
        sagoi_budget_count(budget, new_bytes - old_bytes);
    return moved;
}
