/* Copies, in both directions, between memory and windows of a file: against copies byte by byte.  Windows and
 * memory are allocated with exactly their size, so that a sanitizer sees a byte too many. */
#include "model.h"

#include "extent/codec.h"
#include "extent/copy.h"

/* A request of both sides: byte i of the stream is at file.off[i] in the file and memory.off[i] in memory. */
typedef struct transfer {
    sagoi_pattern file_pattern, memory_pattern;
    sagoi_extents file_extents;
    sagoi_memory side; /* the caller's */
    model tile, file, memory;
    int64_t file_low, file_high, memory_low, memory_high;
    char *file_data, *memory_data;         /* what is copied from and to */
    char *file_expected, *memory_expected; /* after a copy to the file, after one from the file */
} transfer;

static char *random_data(random_state *r, int64_t bytes) {
    char *data = malloc(bytes ? (size_t)bytes : 1);
    for (int64_t i = 0; i < bytes; i++)
        data[i] = (char)random_bits(r);
    return data;
}

static char *copy_of(const char *data, int64_t bytes) {
    char *copy = malloc(bytes ? (size_t)bytes : 1);
    memcpy(copy, data, (size_t)bytes);
    return copy;
}

/* Memory of any shape: tiles, cut at the start, that have as many bytes as the file's side; or contiguous. */
static void transfer_memory(random_state *r, transfer *t) {
    int64_t n = t->file.n;
    sagoi_pattern_init(&t->memory_pattern, NULL);
    random_pattern(r, &t->memory_pattern, &t->tile, SHAPE_NEAR | (int)random_in(r, 0, 1), 2);
    if (t->memory_pattern.bytes > 0 && !one_in(r, 4)) {
        t->side.extents = (sagoi_extents){.pattern = &t->memory_pattern, .base = random_in(r, -50, 50)};
        t->side.extents.extent = random_in(r, -60, 300);
        t->side.extents.begin = one_in(r, 2) ? 0 : random_in(r, 0, 2 * t->memory_pattern.bytes);
        t->side.extents.end = t->side.extents.begin + n;
        model_cut(&t->memory, &t->tile, &t->side.extents);
    } else {
        t->memory.n = 0;
        model_add(&t->memory, 0, n);
    }
}

static transfer *transfer_create(random_state *r) {
    transfer *t = calloc(1, sizeof *t);
    int s = SHAPE_NEAR | SHAPE_ASCENDING;
    sagoi_pattern_init(&t->file_pattern, NULL);
    random_pattern(r, &t->file_pattern, &t->tile, s, 2);
    t->file_extents = random_extents(r, &t->file_pattern, s, MODEL_MAX);
    model_cut(&t->file, &t->tile, &t->file_extents);
    transfer_memory(r, t);
    model_bounds(&t->file, &t->file_low, &t->file_high);
    model_bounds(&t->memory, &t->memory_low, &t->memory_high);
    t->file_data = random_data(r, t->file_high - t->file_low);
    t->memory_data = random_data(r, t->memory_high - t->memory_low);
    t->side.base = t->memory_data - t->memory_low;
    t->file_expected = copy_of(t->file_data, t->file_high - t->file_low);
    t->memory_expected = copy_of(t->memory_data, t->memory_high - t->memory_low);
    for (int64_t i = 0; i < t->file.n; i++) {
        int64_t in_file = t->file.off[i] - t->file_low, in_memory = t->memory.off[i] - t->memory_low;
        t->file_expected[in_file] = t->memory_data[in_memory];
        t->memory_expected[in_memory] = t->file_data[in_file];
    }
    return t;
}

static void transfer_destroy(transfer *t) {
    sagoi_pattern_cleanup(&t->file_pattern);
    sagoi_pattern_cleanup(&t->memory_pattern);
    free(t->file_data);
    free(t->memory_data);
    free(t->file_expected);
    free(t->memory_expected);
    free(t);
}

/* One of the two: through the caller's memory, or packed as a message. */
typedef enum { BY_SPAN, BY_PACKING } way;

static void copy_window(transfer *t, sagoi_cursor *cursor, int64_t low, int64_t high, sagoi_direction direction,
                        way w) {
    char *window = copy_of(t->file_data + (low - t->file_low), high - low);
    sagoi_span span;
    while (sagoi_cursor_next(cursor, high, &span)) {
        if (w == BY_SPAN) {
            sagoi_copy_span(&span, window, low, &t->side, direction);
            continue;
        }
        int64_t bytes = sagoi_span_bytes(&span);
        char *packed = malloc((size_t)bytes);
        if (direction == SAGOI_TO_FILE) {
            sagoi_copy_stream(packed, span.pos, bytes, &t->side, direction);
            sagoi_copy_packed(&span, window, low, packed, SAGOI_SCATTER);
        } else {
            sagoi_copy_packed(&span, window, low, packed, SAGOI_GATHER);
            sagoi_copy_stream(packed, span.pos, bytes, &t->side, direction);
        }
        free(packed);
    }
    const char *expected = direction == SAGOI_TO_FILE ? t->file_expected : t->file_data;
    CHECK(memcmp(window, expected + (low - t->file_low), (size_t)(high - low)) == 0);
    free(window);
}

static void copy_round(random_state *r) {
    transfer *t = transfer_create(r);
    way w = one_in(r, 2) ? BY_SPAN : BY_PACKING;
    for (int pass = 0; pass < 2; pass++) {
        sagoi_direction direction = pass == 0 ? SAGOI_TO_FILE : SAGOI_FROM_FILE;
        sagoi_cursor cursor;
        sagoi_cursor_init(&cursor, &t->file_extents);
        int64_t step = one_in(r, 2) ? 1 << 20 : random_in(r, 1, 500), next;
        for (int64_t low = t->file_low; low < t->file_high; low = next) {
            next = low + random_in(r, 1, step);
            next = next < t->file_high ? next : t->file_high;
            copy_window(t, &cursor, low, next, direction, w);
        }
        if (direction == SAGOI_TO_FILE) /* nothing of the caller's is written to */
            continue;
        CHECK(memcmp(t->memory_data, t->memory_expected, (size_t)(t->memory_high - t->memory_low)) == 0);
    }
    transfer_destroy(t);
}

static void test_copy(void **state) { run_rounds(8000, copy_round); }

/* Parts of the stream, from anywhere, the empty one included. */
static void stream_round(random_state *r) {
    transfer *t = transfer_create(r);
    int64_t bytes = t->memory_high - t->memory_low;
    char *expected = copy_of(t->memory_data, bytes);
    for (int i = 0; i < 5; i++) {
        int64_t pos = random_in(r, 0, t->file.n), n = random_in(r, 0, t->file.n - pos);
        char *place = random_data(r, n);
        bool to_file = one_in(r, 2);
        sagoi_copy_stream(place, pos, n, &t->side, to_file ? SAGOI_TO_FILE : SAGOI_FROM_FILE);
        for (int64_t k = 0; k < n; k++) {
            char *in_memory = &expected[t->memory.off[pos + k] - t->memory_low];
            if (to_file)
                CHECK(place[k] == *in_memory);
            else
                *in_memory = place[k];
        }
        CHECK(memcmp(t->memory_data, expected, (size_t)bytes) == 0);
        free(place);
    }
    free(expected);
    transfer_destroy(t);
}

static void test_stream(void **state) { run_rounds(4000, stream_round); }

/* Layers of a request that does not ascend: every byte of memory gets what the file has there. */
static void layers_round(random_state *r) {
    transfer *t = transfer_create(r);
    sagoi_extents *memory = &t->side.extents; /* taken as the file's side; the stream is then contiguous */
    sagoi_pattern *layers;
    int64_t n;
    if (memory->pattern) {
        CHECK(sagoi_extents_sort(memory, NULL, &layers, &n) == SAGO_OK);
        char *stream = malloc(t->memory.n ? (size_t)t->memory.n : 1);
        sagoi_memory plain = {.base = stream};
        for (int64_t i = 0; i < n; i++) {
            sagoi_extents layer = {.pattern = &layers[i], .end = t->memory.n};
            sagoi_cursor cursor;
            sagoi_span span;
            sagoi_cursor_init(&cursor, &layer);
            while (sagoi_cursor_next(&cursor, SAGOI_OFFSET_MAX, &span))
                sagoi_copy_span(&span, t->memory_data, t->memory_low, &plain, SAGOI_FROM_FILE);
        }
        for (int64_t i = 0; i < t->memory.n; i++)
            CHECK(stream[i] == t->memory_data[t->memory.off[i] - t->memory_low]);
        free(stream);
        sagoi_layers_free(NULL, layers, n);
    }
    transfer_destroy(t);
}

static void test_layers(void **state) { run_rounds(2000, layers_round); }

/* Every length up to the ones that go through memcpy, as a train and as a list. */
static void test_lengths(void **state) {
    random_state r = {1};
    for (int64_t len = 1; len <= 80; len++) {
        const int64_t count = 9, stride = len + 3, size = (count - 1) * stride + len;
        sagoi_run runs[9];
        for (int i = 0; i < count; i++)
            runs[i] = (sagoi_run){.gap = i ? 3 : 0, .len = (uint32_t)len};
        const sagoi_span spans[] = {{.off = 100, .count = count, .len = len, .stride = stride},
                                    {.off = 100, .count = count, .runs = runs}};
        for (int i = 0; i < 2; i++) {
            char *place = random_data(&r, size), *packed = random_data(&r, count * len);
            char *before = copy_of(place, size), *back = random_data(&r, count * len);
            sagoi_copy_packed(&spans[i], place, 100, packed, SAGOI_SCATTER);
            for (int64_t k = 0; k < size; k++) {
                bool gap = k % stride >= len;
                assert_int_equal(place[k], gap ? before[k] : packed[k / stride * len + k % stride]);
            }
            sagoi_copy_packed(&spans[i], place, 100, back, SAGOI_GATHER);
            assert_memory_equal(back, packed, (size_t)(count * len));
            free(place);
            free(packed);
            free(before);
            free(back);
        }
    }
}

/* Coded runs, some of them with codes that are not short, up to a limit: those that are copied are the ones that a
 * copy run by run copies, and a limit or too few bytes only end the copy earlier. */
static void coded_round(random_state *r) {
    enum { RUNS = 40 };
    sagoi_run runs[RUNS];
    uint8_t code[RUNS * SAGOI_CODE_MAX];
    int64_t n = random_in(r, 1, RUNS), bytes = 0, size = 0, end = 0;
    for (int64_t i = 0; i < n; i++) {
        runs[i].gap = (int32_t)random_in(r, 0, one_in(r, 10) ? 20000 : 300);
        runs[i].len = (uint32_t)random_in(r, 1, one_in(r, 10) ? 300 : 30);
        bytes += runs[i].len;
        size += runs[i].gap + (int64_t)runs[i].len;
    }
    sagoi_span list = {.off = runs[0].gap, .count = n, .runs = runs};
    const uint8_t *stop = sagoi_code_put(code, &list, &end);
    char *packed = random_data(r, bytes), *place = random_data(r, size), *expected = copy_of(place, size);
    bool scatter = one_in(r, 2);
    sagoi_coded coded = {.next = code, .stop = stop, .packed = packed};
    coded.bytes = one_in(r, 3) ? random_in(r, 0, bytes) : bytes;
    int64_t limit = one_in(r, 3) ? random_in(r, 0, size) : size, off = 0, pos = 0, i = 0;
    char *packed_expected = copy_of(packed, bytes);
    sagoi_copy_coded(&coded, place, 0, limit, scatter ? SAGOI_SCATTER : SAGOI_GATHER);
    while (i < n && off + runs[i].gap + (int64_t)runs[i].len <= coded.end) {
        off += runs[i].gap;
        if (scatter)
            memcpy(expected + off, packed + pos, runs[i].len);
        else
            memcpy(packed_expected + pos, place + off, runs[i].len);
        off += runs[i].len;
        pos += runs[i++].len;
    }
    CHECK(off == coded.end && off <= limit && coded.packed == packed + pos && coded.next <= stop);
    CHECK(memcmp(place, expected, (size_t)size) == 0 && memcmp(packed, packed_expected, (size_t)bytes) == 0);
    bool fits = i < n && off + runs[i].gap + (int64_t)runs[i].len <= limit && runs[i].len <= coded.bytes;
    CHECK(!fits || runs[i].gap >= 1 << 14 || stop - coded.next < SAGOI_CODE_SHORT);
    CHECK((i == n) == (coded.next == stop));
    free(packed_expected);
    free(packed);
    free(place);
    free(expected);
}

static void test_coded(void **state) { run_rounds(8000, coded_round); }

/* A rank without data may have no buffers at all. */
static void test_nothing(void **state) {
    sagoi_pattern empty;
    sagoi_pattern_init(&empty, NULL);
    assert_int_equal(sagoi_pattern_finish(&empty), SAGO_OK);
    sagoi_memory contiguous = {0}, pieces = {.extents = {.pattern = &empty}};
    sagoi_copy_stream(NULL, 0, 0, &contiguous, SAGOI_TO_FILE);
    sagoi_copy_stream(NULL, 0, 0, &contiguous, SAGOI_FROM_FILE);
    sagoi_copy_stream(NULL, 0, 0, &pieces, SAGOI_TO_FILE);
    sagoi_copy_stream(NULL, 0, 0, &pieces, SAGOI_FROM_FILE);
    sagoi_pattern_cleanup(&empty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),    cmocka_unit_test(test_stream),  cmocka_unit_test(test_layers),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_nothing), cmocka_unit_test(test_coded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
