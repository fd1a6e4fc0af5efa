/* Regions: counted and walked by rule.  The i-th run of any kind but PARTS is found in constant time, so a cursor
 * is two numbers. */
#include "bench/region.h"

#include <stdlib.h>

#include "base/grow.h"

bench_region bench_region_contiguous(int64_t length, int64_t elem) {
    bench_region region = {.kind = BENCH_CONTIGUOUS, .elem = elem, .count = length > 0, .length = length};
    return region;
}

bench_region bench_region_vector(int64_t count, int64_t length, int64_t stride, int64_t elem) {
    if (length == stride || count == 1)
        return bench_region_contiguous(count * length, elem);
    bench_region region = {.kind = BENCH_VECTOR, .elem = elem, .count = count, .length = length, .stride = stride};
    return region;
}

bench_region bench_region_subarray(int dims, const int64_t size[], const int64_t sub[], const int64_t start[],
                                   int64_t elem) {
    bench_region region = {.kind = BENCH_SUBARRAY, .elem = elem, .count = 1, .dims = dims, .outer = dims};
    int64_t step = elem;
    for (int d = dims - 1; d >= 0; d--) {
        region.size[d] = size[d];
        region.sub[d] = sub[d];
        region.start[d] = start[d];
        region.step[d] = step;
        step *= size[d];
    }
    /* Rows that are taken as a whole continue in the next row. */
    region.length = elem;
    while (region.outer > 0) {
        int d = --region.outer;
        region.length *= sub[d];
        if (sub[d] != size[d])
            break;
    }
    for (int d = 0; d < region.outer; d++)
        region.count *= sub[d];
    return region;
}

void bench_run_list_add(bench_run_list *list, int64_t offset, int64_t length) {
    if (!sagoi_grow((void **)&list->runs, list->count, &list->capacity, sizeof *list->runs)) {
        list->failed = true;
        return;
    }
    list->runs[list->count++] = (bench_run){offset, length};
}

bench_region bench_region_list(const bench_run_list *list, int64_t elem) {
    bench_region region = {.kind = BENCH_LIST, .elem = elem, .count = list->count, .runs = list->runs};
    return region;
}

bench_region bench_region_parts(int64_t count, bench_region *parts) {
    bench_region region = {.kind = BENCH_PARTS, .elem = parts[0].elem, .count = count, .parts = parts};
    return region;
}

void bench_region_cleanup(bench_region *region) {
    free(region->runs);
    free(region->parts); /* subarrays own nothing */
    region->runs = NULL;
    region->parts = NULL;
}

int64_t bench_region_runs(const bench_region *region) {
    if (region->kind != BENCH_PARTS)
        return region->count;
    int64_t runs = 0;
    for (int64_t p = 0; p < region->count; p++)
        runs += region->parts[p].count;
    return runs;
}

int64_t bench_region_bytes(const bench_region *region) {
    int64_t bytes = 0;
    if (region->kind == BENCH_LIST)
        for (int64_t i = 0; i < region->count; i++)
            bytes += region->runs[i].length;
    else if (region->kind == BENCH_PARTS)
        for (int64_t p = 0; p < region->count; p++)
            bytes += bench_region_bytes(&region->parts[p]);
    else
        bytes = region->count * region->length;
    return bytes;
}

/* The i-th run of a region that is not PARTS. */
static bench_run leaf_run(const bench_region *region, int64_t i) {
    bench_run run = {0, region->length};
    if (region->kind == BENCH_LIST)
        return region->runs[i];
    if (region->kind == BENCH_VECTOR)
        run.offset = i * region->stride;
    if (region->kind == BENCH_SUBARRAY) {
        for (int d = region->dims - 1; d >= region->outer; d--)
            run.offset += region->start[d] * region->step[d];
        for (int d = region->outer - 1; d >= 0; d--) {
            run.offset += (region->start[d] + i % region->sub[d]) * region->step[d];
            i /= region->sub[d];
        }
    }
    return run;
}

bool bench_cursor_next(bench_cursor *cursor, bench_run *run) {
    const bench_region *leaf = cursor->region;
    if (leaf->kind == BENCH_PARTS) {
        while (cursor->part < leaf->count && cursor->index == leaf->parts[cursor->part].count) {
            cursor->part++;
            cursor->index = 0;
        }
        if (cursor->part == leaf->count)
            return false;
        leaf = &leaf->parts[cursor->part];
    }
    if (cursor->index == leaf->count)
        return false;
    *run = leaf_run(leaf, cursor->index++);
    return true;
}

static int64_t joined_runs_of_list(const bench_region *list) {
    int64_t runs = 0, end = -1;
    for (int64_t i = 0; i < list->count; i++) {
        runs += list->runs[i].offset != end;
        end = list->runs[i].offset + list->runs[i].length;
    }
    return runs;
}

int64_t bench_region_joined_runs(const bench_region *region) {
    int64_t runs = 0, end = -1, low, high;
    if (region->kind == BENCH_LIST)
        return joined_runs_of_list(region);
    if (region->kind != BENCH_PARTS)
        return region->kind == BENCH_VECTOR && region->length == region->stride ? region->count > 0
                                                                                : region->count;
    for (int64_t p = 0; p < region->count; p++) {
        int64_t own = bench_region_joined_runs(&region->parts[p]);
        bench_region_bounds(&region->parts[p], &low, &high);
        runs += own - (own > 0 && low == end);
        end = own > 0 ? high : end;
    }
    return runs;
}

void bench_region_bounds(const bench_region *region, int64_t *low, int64_t *high) {
    *low = *high = 0;
    if (bench_region_runs(region) == 0)
        return;
    const bench_region *first = region, *last = region;
    if (region->kind == BENCH_PARTS) {
        first = &region->parts[0];
        last = &region->parts[region->count - 1];
    }
    *low = leaf_run(first, 0).offset;
    bench_run end = leaf_run(last, last->count - 1);
    *high = end.offset + end.length;
}
