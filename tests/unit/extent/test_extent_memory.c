/* Memory that runs out while patterns are built or sorted: every allocation in turn fails once, after which
 * nothing may be left and the failure must be reported.
 *
 * This file has all functions of base/budget.h itself: linked with the static library, they are taken instead. */
#include "model.h"

static int64_t allocations_left; /* until one fails; -1: never */
static int64_t blocks;           /* held */

static bool allocation_fails(void) {
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

void *sagoi_budget_alloc(sagoi_budget *budget, int64_t bytes) {
    (void)budget;
    if (allocation_fails())
        return NULL;
    blocks++;
    return calloc(1, bytes ? (size_t)bytes : 1);
}

void sagoi_budget_free(sagoi_budget *budget, void *memory) {
    (void)budget;
    blocks -= memory != NULL;
    free(memory);
}

void *sagoi_budget_realloc(sagoi_budget *budget, void *memory, int64_t new_bytes) {
    (void)budget;
    if (allocation_fails())
        return NULL;
    blocks += memory == NULL;
    return realloc(memory, new_bytes ? (size_t)new_bytes : 1);
}

bool sagoi_budget_enlarge(sagoi_budget *budget, void **array, int64_t needed, int64_t *capacity, int64_t element) {
    int64_t more = needed > 2 * *capacity ? needed : 2 * *capacity; /* one by one takes minutes with a sanitizer */
    void *moved = sagoi_budget_realloc(budget, *array, more * element);
    if (!moved)
        return false;
    *array = moved;
    *capacity = more;
    return true;
}

void sagoi_budget_count(sagoi_budget *budget, int64_t bytes) { (void)budget, (void)bytes; }

bool sagoi_budget_fits(const sagoi_budget *budget, int64_t bytes) {
    (void)budget, (void)bytes;
    return true;
}

/* Some of everything: lists of two pieces, trains, parts. */
static sago_status build(random_state r, const sagoi_pattern *part, sagoi_pattern *pattern) {
    int64_t at = 0;
    sagoi_pattern_init(pattern, NULL);
    for (int64_t i = random_in(&r, 1, SAGOI_LIST_MAX + 100); i > 0; i--, at += random_in(&r, 5, 20))
        sagoi_pattern_add(pattern, at, random_in(&r, 1, 5));
    for (int64_t i = random_in(&r, 1, 20); i > 0; i--, at += 1000)
        sagoi_pattern_add_train(pattern, at, 4, random_in(&r, 1, 10), random_in(&r, -30, 30));
    sagoi_pattern_add_repeated(pattern, part, at, random_in(&r, 1, 10), random_in(&r, 0, 100));
    return sagoi_pattern_finish(pattern);
}

static void build_round(random_state *r) {
    static model m;
    sagoi_pattern part, pattern;
    allocations_left = -1;
    blocks = 0;
    sagoi_pattern_init(&part, NULL);
    random_pattern(r, &part, &m, SHAPE_ANY, 1);
    int64_t held = blocks;
    for (int64_t turn = 0;; turn++) {
        allocations_left = turn;
        sago_status status = build(*r, &part, &pattern);
        bool failed = allocations_left < 0;
        allocations_left = -1;
        if (status == SAGO_OK) { /* what finish could not give back does no harm */
            sagoi_pattern_cleanup(&pattern);
            CHECK(blocks == held);
            if (!failed)
                break;
            continue;
        }
        CHECK(failed && pattern.npieces == 0 && pattern.bytes == 0 && blocks == held);
        sagoi_pattern_cleanup(&pattern);
    }
    sagoi_pattern_cleanup(&part);
    CHECK(blocks == 0);
}

static void test_build(void **state) { run_rounds(50, build_round); }

static void sort_round(random_state *r) {
    static model m;
    sagoi_pattern pattern, *const untouched = &pattern;
    allocations_left = -1;
    blocks = 0;
    sagoi_pattern_init(&pattern, NULL);
    random_pattern(r, &pattern, &m, SHAPE_ANY, 1);
    int64_t held = blocks;
    sagoi_extents extents = {.pattern = &pattern, .end = pattern.bytes < 300 ? pattern.bytes : 300};
    for (int64_t turn = 0;; turn++) {
        sagoi_pattern *layers = untouched;
        int64_t n = -1;
        allocations_left = turn;
        sago_status status = sagoi_extents_sort(&extents, NULL, &layers, &n);
        allocations_left = -1;
        if (status == SAGO_OK) {
            sagoi_layers_free(NULL, layers, n);
            break;
        }
        CHECK(status == SAGO_ERR_MEMORY && layers == untouched && n == -1 && blocks == held);
    }
    sagoi_pattern_cleanup(&pattern);
    CHECK(blocks == 0);
}

static void test_sort(void **state) { run_rounds(100, sort_round); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_build), cmocka_unit_test(test_sort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
