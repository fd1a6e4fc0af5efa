/* The memory budget of one process.
 *
 * All memory of the library is drawn from a budget and given back to it, so that "how much does Sago use" has
 * one answer.  The limit is advice to the planner, which shrinks windows until they fit, and a bound for memory
 * that can be left out (remembered extents, caches): sagoi_budget_fits() tells whether memory fits,
 * sagoi_budget_alloc() counts it.  A budget belongs to one file; it counts the process's own memory, and its
 * share of node segments. */
#ifndef SAGOI_BUDGET_H
#define SAGOI_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sagoi_budget {
    int64_t limit; /* bytes this process may use; 0: no limit */
    int64_t used;
    int64_t peak;
} sagoi_budget;

/* Zeroed memory, which is counted whatever the limit; NULL: the system has none, or bytes < 0.  `budget` may be
 * NULL: then nothing is counted.  bytes = 0 gives a valid pointer. */
void *sagoi_budget_alloc(sagoi_budget *budget, int64_t bytes);
/* Frees what the two functions beside this one allocated, and nothing else; `memory` may be NULL. */
void sagoi_budget_free(sagoi_budget *budget, void *memory);
/* Like realloc(): old contents are kept, the new part is NOT zeroed, and after NULL the old memory is
 * unchanged. */
void *sagoi_budget_realloc(sagoi_budget *budget, void *memory, int64_t bytes);

/* Makes an array of `*capacity` elements larger, so that it has room for `needed`; false: there is no memory, and
 * the array is as it was. */
bool sagoi_budget_enlarge(sagoi_budget *budget, void **array, int64_t needed, int64_t *capacity, int64_t element);
static inline bool sagoi_budget_grow(sagoi_budget *budget, void **array, int64_t needed, int64_t *capacity,
                                     int64_t element) {
    return needed <= *capacity || sagoi_budget_enlarge(budget, array, needed, capacity, element);
}

/* Would so many bytes more still fit the limit? */
bool sagoi_budget_fits(const sagoi_budget *budget, int64_t bytes);
/* Counts memory that was allocated elsewhere (a share of a node segment); a negative number gives it back. */
void sagoi_budget_count(sagoi_budget *budget, int64_t bytes);

#endif
