#include "move/merge.h"

#include <string.h>

#include "base/checked.h"
#include "extent/codec.h"

enum { PART_HEAD = sizeof(uint32_t) };

/* One part of an input: an ascending list of runs, decoded as the merge needs them. */
typedef struct source {
    const uint8_t *code, *stop;
    sagoi_span train; /* the runs of the current train that are not taken yet */
    int64_t end;      /* end of the run that was decoded last */
    char *data;       /* data of the first of those runs */
} source;

/* Decodes the next train if need be; false: no run is left.  (A broken code would end the list, too, but the code
 * was written on this node.) */
static bool load(source *from) {
    if (from->train.count > 0)
        return true;
    if (from->code >= from->stop)
        return false;
    from->code = sagoi_code_get(from->code, from->stop, &from->train, &from->end);
    return from->code != NULL;
}

static void take_run(source *from) {
    from->data += from->train.len;
    from->train.off += from->train.stride;
    from->train.count--;
}

/* ---- A heap of sources by the offset of their next run ---- */

typedef struct heap {
    source *sources; /* all; owned */
    source **order;  /* the sources that have runs left, the smallest offset first; owned */
    int64_t n;
} heap;

static bool before(const source *a, const source *b) { return a->train.off < b->train.off; }

static void sink(heap *h, int64_t at) {
    for (;;) {
        int64_t least = at, left = 2 * at + 1;
        for (int64_t child = left; child < left + 2 && child < h->n; child++)
            if (before(h->order[child], h->order[least]))
                least = child;
        if (least == at)
            return;
        source *swapped = h->order[at];
        h->order[at] = h->order[least];
        h->order[least] = swapped;
        at = least;
    }
}

static int64_t count_parts(const sagoi_merge_input *inputs, int64_t n) {
    int64_t parts = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t at = 0; at + PART_HEAD <= inputs[i].code_bytes; parts++) {
            uint32_t length;
            memcpy(&length, inputs[i].code + at, PART_HEAD);
            at += PART_HEAD + (int64_t)length;
        }
    return parts;
}

/* Bytes of data that the code of a part stands for. */
static int64_t part_bytes(const uint8_t *code, const uint8_t *stop, int64_t start) {
    sagoi_span train;
    int64_t end = start, bytes = 0;
    while (code && code < stop) {
        code = sagoi_code_get(code, stop, &train, &end);
        bytes += code ? train.count * train.len : 0;
    }
    return bytes;
}

static void add_input(heap *h, const sagoi_merge_input *input, int64_t start) {
    const uint8_t *at = input->code, *stop = input->code + input->code_bytes;
    char *data = input->data;
    while (stop - at >= PART_HEAD) {
        uint32_t length;
        memcpy(&length, at, PART_HEAD);
        at += PART_HEAD;
        source *from = &h->sources[h->n];
        *from = (source){.code = at, .stop = at + length, .end = start, .data = data};
        data += part_bytes(at, at + length, start);
        at += length;
        if (load(from))
            h->order[h->n++] = from;
    }
}

static void heap_cleanup(heap *h, sagoi_budget *budget) {
    sagoi_budget_free(budget, h->sources);
    sagoi_budget_free(budget, h->order);
}

static bool heap_init(heap *h, const sagoi_merge_input *inputs, int64_t n, int64_t start, sagoi_budget *budget) {
    const int64_t parts = count_parts(inputs, n);
    *h = (heap){.sources = sagoi_budget_alloc(budget, parts * (int64_t)sizeof *h->sources),
                .order = sagoi_budget_alloc(budget, parts * (int64_t)sizeof *h->order)};
    if (!h->sources || !h->order) {
        heap_cleanup(h, budget);
        return false;
    }
    for (int64_t i = 0; i < n; i++)
        add_input(h, &inputs[i], start);
    for (int64_t i = h->n / 2; i-- > 0;)
        sink(h, i);
    return true;
}

/* ---- Walking all runs in order ---- */

/* A run, when the merge comes to it. */
typedef struct visited {
    char *data;
    int64_t off, len;
    int64_t pos;   /* position of its first byte in the merged data */
    int64_t fresh; /* bytes at its end that no run before it had */
} visited;

typedef void (*visit_fn)(void *arg, const visited *run);

/* Calls `visit` for all runs by ascending offset; no run starts before `start`. */
static void walk(heap *h, int64_t start, visit_fn visit, void *arg) {
    int64_t end = start, bytes = 0;
    while (h->n > 0) {
        source *from = h->order[0];
        visited run = {.data = from->data, .off = from->train.off, .len = from->train.len};
        int64_t stop = run.off + run.len;
        run.fresh = sagoi_min(run.len, sagoi_max(0, stop - end));
        run.pos = run.off >= end ? bytes : bytes - (end - run.off);
        visit(arg, &run);
        bytes += run.fresh;
        end = sagoi_max(end, stop);
        take_run(from);
        if (!load(from))
            h->order[0] = h->order[--h->n];
        sink(h, 0);
    }
}

typedef struct collector {
    sagoi_pattern pattern;
    char *data; /* NULL: only the runs matter */
} collector;

static void collect(void *arg, const visited *run) {
    collector *into = arg;
    int64_t taken = run->len - run->fresh;
    sagoi_pattern_add(&into->pattern, run->off + taken, run->fresh);
    if (into->data)
        memcpy(into->data + run->pos + taken, run->data + taken, (size_t)run->fresh);
}

/* Codes the collected runs as one part. */
static sago_status code_all(const sagoi_pattern *pattern, int64_t start, sagoi_budget *budget,
                            sagoi_merged *merged) {
    merged->code = sagoi_budget_alloc(budget, PART_HEAD + pattern->npieces * SAGOI_CODE_MAX +
                                                  pattern->nruns * SAGOI_CODE_MAX / 2);
    if (!merged->code)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to merge %lld runs", (long long)pattern->run_count);
    sagoi_extents all = {.pattern = pattern, .end = pattern->bytes};
    sagoi_cursor cursor;
    sagoi_span span;
    uint8_t *out = merged->code + PART_HEAD;
    sagoi_cursor_init(&cursor, &all);
    while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span))
        out = sagoi_code_put(out, &span, &start);
    uint32_t length = (uint32_t)(out - merged->code - PART_HEAD);
    memcpy(merged->code, &length, PART_HEAD);
    merged->code_bytes = out - merged->code;
    merged->data_bytes = pattern->bytes;
    return SAGO_OK;
}

sago_status sagoi_merge(const sagoi_merge_input *inputs, int64_t n, int64_t start, sagoi_direction direction,
                        char *data, sagoi_budget *budget, sagoi_merged *merged) {
    heap h;
    *merged = (sagoi_merged){0};
    if (!heap_init(&h, inputs, n, start, budget))
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to merge the lists of %lld ranks", (long long)n);
    collector into = {.data = direction == SAGOI_TO_FILE ? data : NULL};
    sagoi_pattern_init(&into.pattern, budget);
    walk(&h, start, collect, &into);
    heap_cleanup(&h, budget);
    sago_status status = sagoi_pattern_finish(&into.pattern);
    if (!status && into.pattern.bytes > 0)
        status = code_all(&into.pattern, start, budget, merged);
    sagoi_pattern_cleanup(&into.pattern);
    return status;
}

static void deal(void *arg, const visited *run) {
    memcpy(run->data, (const char *)arg + run->pos, (size_t)run->len);
}

sago_status sagoi_merge_deal(const sagoi_merge_input *inputs, int64_t n, int64_t start, const char *data,
                             sagoi_budget *budget) {
    heap h;
    if (!heap_init(&h, inputs, n, start, budget))
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to deal out data to %lld ranks", (long long)n);
    walk(&h, start, deal, (char *)(uintptr_t)data);
    heap_cleanup(&h, budget);
    return SAGO_OK;
}

void sagoi_merged_cleanup(sagoi_merged *merged, sagoi_budget *budget) {
    sagoi_budget_free(budget, merged->code);
    *merged = (sagoi_merged){0};
}
