/* Where bytes lie, in a file or in memory: a rule or a list, never MPI.
 *
 * Glossary
 *   region  a set of bytes in a fixed order (ascending on the file side), described the way an application
 *           would describe it: region_mpi.h turns each kind into the MPI constructor of the same name
 *   run     a contiguous piece of it
 *
 * Everything a benchmark must know of an access (bytes, runs, content, a planner's shape) comes from walking
 * regions, so it holds for any rank of any machine, without MPI. */
#ifndef BENCH_REGION_H
#define BENCH_REGION_H

#include <stdbool.h>
#include <stdint.h>

enum { BENCH_DIMS_MAX = 5 };

typedef enum {
    BENCH_CONTIGUOUS, /* `length` bytes */
    BENCH_VECTOR,     /* `count` runs of `length` bytes, every `stride` bytes */
    BENCH_SUBARRAY,   /* a block of a row-major array */
    BENCH_LIST,       /* `count` runs, ascending */
    BENCH_PARTS       /* `count` regions with one origin, one after another */
} bench_kind;

typedef struct bench_run {
    int64_t offset, length; /* bytes, > 0 */
} bench_run;

typedef struct bench_region {
    bench_kind kind;
    int64_t elem;   /* bytes of one element: 1, 2, 4 or 8; divides every length */
    int64_t count;  /* runs; of PARTS: parts */
    int64_t length; /* bytes of a run; of LIST: unused */
    int64_t stride;
    bench_run *runs;            /* LIST: owned */
    struct bench_region *parts; /* PARTS: owned, none of them PARTS */
    /* SUBARRAY, in elements; dimensions from `outer` on make up one run */
    int dims, outer;
    int64_t size[BENCH_DIMS_MAX], sub[BENCH_DIMS_MAX], start[BENCH_DIMS_MAX];
    int64_t step[BENCH_DIMS_MAX]; /* bytes from one index to the next */
} bench_region;

/* Runs that are being collected; `failed`: there is no memory. */
typedef struct bench_run_list {
    int64_t count, capacity;
    bench_run *runs; /* owned */
    bool failed;
} bench_run_list;

void bench_run_list_add(bench_run_list *list, int64_t offset, int64_t length);

bench_region bench_region_contiguous(int64_t length, int64_t elem);
bench_region bench_region_vector(int64_t count, int64_t length, int64_t stride, int64_t elem);
bench_region bench_region_subarray(int dims, const int64_t size[], const int64_t sub[], const int64_t start[],
                                   int64_t elem);
/* These functions take over what was allocated. */
bench_region bench_region_list(const bench_run_list *list, int64_t elem);
bench_region bench_region_parts(int64_t count, bench_region *parts);
void bench_region_cleanup(bench_region *region);

int64_t bench_region_bytes(const bench_region *region);
int64_t bench_region_runs(const bench_region *region);
/* The same, if runs that lie one after another count as one, as they do in Sago. */
int64_t bench_region_joined_runs(const bench_region *region);
/* First byte and one past the last; 0 and 0 if there are none. */
void bench_region_bounds(const bench_region *region, int64_t *low, int64_t *high);

/* Walks the runs in order. */
typedef struct bench_cursor {
    const bench_region *region;
    int64_t part, index;
} bench_cursor;

static inline bench_cursor bench_cursor_at(const bench_region *region) {
    bench_cursor cursor = {region, 0, 0};
    return cursor;
}
bool bench_cursor_next(bench_cursor *cursor, bench_run *run);

#endif
