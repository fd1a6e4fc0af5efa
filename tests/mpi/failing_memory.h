/* Memory that runs out: the n-th allocation that the library makes on this rank fails.  Only what is linked into
 * the program asks here (-Wl,--wrap), not MPI and what it brings along.  For programs that CMakeLists.txt links
 * so. */
#ifndef SAGO_TESTS_FAILING_MEMORY_H
#define SAGO_TESTS_FAILING_MEMORY_H

#include <stdatomic.h>
#include <stdlib.h>

static atomic_int allocations_left; /* the one that makes it 0 fails */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
char *__wrap_strdup(const char *text);

static bool memory_fails(void) { return atomic_fetch_sub(&allocations_left, 1) == 1; }

void *__wrap_malloc(size_t bytes) { return memory_fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t n, size_t bytes) { return memory_fails() ? NULL : __real_calloc(n, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) { return memory_fails() ? NULL : __real_realloc(memory, bytes); }
char *__wrap_strdup(const char *text) { return memory_fails() ? NULL : __real_strdup(text); }

/* The n-th allocation from now on fails. */
static inline void memory_fail_at(int n) { atomic_store(&allocations_left, n); }

/* No more; has it failed? */
static inline bool memory_failed(void) { return atomic_exchange(&allocations_left, 0) <= 0; }

#endif
