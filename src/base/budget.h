/* The memory budget of one process.
 *
 * Everything the library allocates is drawn from it and given back to it, so that "how much does Sago use"
 * has one answer.  The limit is advice to the planner (windows shrink until they fit) and a bound for what
 * can be left out (kept metadata, caches): sagoi_budget_fits() tells, sagoi_budget_alloc() counts.
 * A budget belongs to one file; its process-private memory and its share of node segments count. */
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

/* Zeroed memory, counted whatever the limit; NULL only when the system has none (or bytes < 0).
 * `budget` may be NULL: then nothing is counted.  bytes = 0 gives a valid pointer. */
void *sagoi_budget_alloc(sagoi_budget *budget, int64_t bytes);
/* `bytes` is what it was allocated with; memory may be NULL. */
void sagoi_budget_free(sagoi_budget *budget, void *memory, int64_t bytes);
/* As realloc, old contents kept, the new part NOT zeroed; NULL leaves the old in place. */
void *sagoi_budget_realloc(sagoi_budget *budget, void *memory, int64_t old_bytes, int64_t new_bytes);

/* Would this much still fit the limit? */
bool sagoi_budget_fits(const sagoi_budget *budget, int64_t bytes);
/* Counts memory allocated elsewhere (a share of a node segment); negative gives it back. */
void sagoi_budget_count(sagoi_budget *budget, int64_t bytes);

#endif
