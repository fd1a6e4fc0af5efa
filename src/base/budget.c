/* Counting of allocations.  There is no lock: one thread at a time uses a file, and the library's own threads do
 * not allocate. */
#include "base/budget.h"

#include <stdlib.h>

#include "base/checked.h"

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

/* What lies before the memory that the caller gets. */
typedef union head {
    int64_t bytes; /* bytes of the caller's memory */
    max_align_t aligned;
} head;

static void *counted(sagoi_budget *budget, head *memory, int64_t bytes, int64_t more) {
    if (!memory)
        return NULL;
    memory->bytes = bytes;
    sagoi_budget_count(budget, more);
    return memory + 1;
}

/* The size of a block with its head; 0: there is no block of that size. */
static size_t with_head(int64_t bytes) {
    return bytes < 0 || bytes > INT64_MAX - (int64_t)sizeof(head) ? 0 : (size_t)bytes + sizeof(head);
}

void *sagoi_budget_alloc(sagoi_budget *budget, int64_t bytes) {
    size_t size = with_head(bytes);
    return counted(budget, size ? calloc(1, size) : NULL, bytes, bytes);
}

void *sagoi_budget_realloc(sagoi_budget *budget, void *memory, int64_t bytes) {
    size_t size = with_head(bytes);
    head *old = memory ? (head *)memory - 1 : NULL;
    int64_t before = old ? old->bytes : 0;
    return counted(budget, size ? realloc(old, size) : NULL, bytes, bytes - before);
}

bool sagoi_budget_enlarge(sagoi_budget *budget, void **array, int64_t needed, int64_t *capacity, int64_t element) {
    enum { FEWEST = 4 };
    int64_t larger = sagoi_max(sagoi_max(needed, FEWEST), *capacity + *capacity / 2);
    void *moved = sagoi_budget_realloc(budget, *array, larger * element);
    if (!moved)
        return false;
    *array = moved;
    *capacity = larger;
    return true;
}

void sagoi_budget_free(sagoi_budget *budget, void *memory) {
    if (!memory)
        return;
    head *block = (head *)memory - 1;
    sagoi_budget_count(budget, -block->bytes);
    free(block);
}
