/* Constructors applied to patterns, without MPI: against displacements counted out one by one, and the short way
 * for trains against the long one. */
#include "unit/extent/model.h"

#include "view/combine.h"
#include "view/train.h"

enum { VALUES_MAX = 16 };

/* A part of a few runs, and its bytes one by one. */
typedef struct part_model {
    sagoi_flat flat;
    model bytes;
} part_model;

static void random_part(random_state *r, part_model *part) {
    sagoi_pattern_init(&part->flat.pattern, NULL);
    part->bytes.n = part->bytes.runs = 0;
    int64_t off = random_in(r, -10, 10), len = random_in(r, 1, 8), count = random_in(r, 1, 3), last = off;
    int64_t stride = len + random_in(r, 0, 5);
    for (int64_t i = 0; i < count; i++) {
        last = off + i * stride;
        sagoi_pattern_add(&part->flat.pattern, last, len);
        model_add(&part->bytes, last, len);
    }
    CHECK(sagoi_pattern_finish(&part->flat.pattern) == SAGO_OK);
    part->flat.size = part->bytes.n;
    part->flat.extent = one_in(r, 3) ? last + len - off : random_in(r, -40, 60);
}

/* `n` parts from `off` on, each the part's extent further. */
static void model_block(model *whole, const part_model *part, int64_t off, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < part->bytes.n; k++)
            whole->off[whole->n++] = off + i * part->flat.extent + part->bytes.off[k];
}

/* A constructor with random arguments; what it means goes to `whole`. */
static void random_constructor(random_state *r, const part_model *part, int64_t values[], int *combiner,
                               model *whole) {
    int64_t count = random_in(r, 0, 4), length = random_in(r, 0, 4), stride = random_in(r, -50, 50);
    int64_t unit = one_in(r, 2) ? 1 : part->flat.extent, *listed;
    whole->n = whole->runs = 0;
    values[0] = count;
    values[1] = length;
    switch (random_in(r, 0, 3)) {
    case 0:
        *combiner = MPI_COMBINER_CONTIGUOUS;
        model_block(whole, part, 0, count);
        return;
    case 1:
        *combiner = unit == 1 ? MPI_COMBINER_HVECTOR : MPI_COMBINER_VECTOR;
        values[2] = stride;
        for (int64_t i = 0; i < count; i++)
            model_block(whole, part, i * stride * unit, length);
        return;
    case 2:
        *combiner = unit == 1 ? MPI_COMBINER_HINDEXED : MPI_COMBINER_INDEXED;
        listed = values + 1 + count;
        for (int64_t i = 0; i < count; i++) {
            values[1 + i] = random_in(r, 0, 3);
            listed[i] = random_in(r, -50, 50);
            model_block(whole, part, listed[i] * unit, values[1 + i]);
        }
        return;
    default:
        *combiner = unit == 1 ? MPI_COMBINER_HINDEXED_BLOCK : MPI_COMBINER_INDEXED_BLOCK;
        listed = values + 2;
        for (int64_t i = 0; i < count; i++) {
            listed[i] = random_in(r, -50, 50);
            model_block(whole, part, listed[i] * unit, length);
        }
    }
}

/* Byte by byte, in the order of the stream. */
static void check_pattern(const sagoi_pattern *pattern, const model *expected) {
    sagoi_extents all = {.pattern = pattern, .end = pattern->bytes};
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t pos = 0;
    CHECK(pattern->bytes == expected->n);
    sagoi_cursor_init(&cursor, &all);
    while (pos < expected->n && sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span))
        for (sagoi_walk run = sagoi_walk_span(&span); sagoi_walk_run(&run);)
            for (int64_t i = 0; i < run.len; i++)
                CHECK(expected->off[pos++] == run.off + i);
    CHECK(pos == expected->n);
}

static void combines(random_state *r) {
    static part_model part;
    static model whole;
    int64_t values[VALUES_MAX] = {0};
    sagoi_contents contents = {.values = values, .nvalues = VALUES_MAX};
    sagoi_pattern pattern;
    random_part(r, &part);
    random_constructor(r, &part, values, &contents.combiner, &whole);
    sagoi_pattern_init(&pattern, NULL);
    CHECK(sagoi_combine(&contents, &part.flat, &pattern) == SAGO_OK);
    check_pattern(&pattern, &whole);
    sagoi_pattern_cleanup(&pattern);
    sagoi_flat_cleanup(&part.flat);
}

/* Wherever the short way gives an answer, it is the long one's. */
static void train_is_the_same(random_state *r) {
    static part_model part;
    static model whole;
    int64_t values[VALUES_MAX] = {0};
    sagoi_contents contents = {.values = values, .nvalues = VALUES_MAX};
    random_part(r, &part);
    random_constructor(r, &part, values, &contents.combiner, &whole);
    const sagoi_piece *first = &part.flat.pattern.pieces[0];
    if (part.flat.pattern.npieces == 1 && first->len > 0) {
        sagoi_train train = {first->off, first->len, first->count, first->stride};
        if (sagoi_combine_train(&contents, part.flat.extent, &train)) {
            sagoi_piece piece = {.off = train.off, .len = train.len, .count = train.count, .stride = train.stride};
            sagoi_pattern pattern;
            CHECK(sagoi_pattern_of_train(&pattern, &piece) == SAGO_OK);
            check_pattern(&pattern, &whole);
        }
    }
    sagoi_flat_cleanup(&part.flat);
}

/* Displacements that do not fit are an error, whichever way they come about. */
static void test_overflow(void **state) {
    part_model part;
    random_state r = {1};
    int64_t values[VALUES_MAX] = {2, 1, INT64_MAX / 2};
    sagoi_contents contents = {.combiner = MPI_COMBINER_VECTOR, .values = values, .nvalues = 3};
    sagoi_pattern pattern;
    random_part(&r, &part);
    part.flat.extent = 100;
    sagoi_pattern_init(&pattern, NULL);
    assert_int_equal(sagoi_combine(&contents, &part.flat, &pattern), SAGO_ERR_OVERFLOW);
    sagoi_pattern_cleanup(&pattern);
    sagoi_train train = {.off = INT64_MAX - 5, .len = 3, .count = 1, .stride = 3};
    assert_false(sagoi_train_move(&train, 10));
    train = (sagoi_train){.len = INT64_MAX / 2, .count = 1, .stride = 1};
    assert_false(sagoi_train_repeat(&train, 3, INT64_MAX / 2));
    sagoi_flat_cleanup(&part.flat);
}

static void test_combines(void **state) { run_rounds(5000, combines); }

static void test_trains(void **state) { run_rounds(20000, train_is_the_same); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_combines), cmocka_unit_test(test_trains),
                                       cmocka_unit_test(test_overflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
