/* Plans kept for shapes that come again: what is found, by how much it has moved, and which one goes. */
#include <stdlib.h>

#include "engine/cache.h"
#include "support/unit.h"

enum { RANKS = 3 };

/* Of ranks whose requests have this shape and begin at these offsets. */
static sagoi_cache_key key_of(int64_t shape, const int64_t first[RANKS]) {
    static const uint64_t weights[RANKS] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u};
    sagoi_cache_key key = {.shape = sagoi_hash_int(shape, (sagoi_hash){1, 2}), .low = first[0]};
    for (int i = 0; i < RANKS; i++) {
        key.weighted += weights[i] * (uint64_t)first[i];
        key.weights += weights[i];
        key.low = first[i] < key.low ? first[i] : key.low;
    }
    return key;
}

static sagoi_cache_key at(int64_t shape, int64_t base) {
    const int64_t first[RANKS] = {base, base + 100, base + 200};
    return key_of(shape, first);
}

static sagoi_cache_entry *found(sagoi_cache *cache, sagoi_cache_key key, int64_t alignment, int64_t *shift) {
    return sagoi_cache_find(cache, &key, alignment, shift);
}

static sagoi_cache_entry *inserted(sagoi_cache *cache, sagoi_cache_key key) {
    return sagoi_cache_insert(cache, &key);
}

static sagoi_budget budget;

static sagoi_cache cache_of(int64_t capacity) {
    sagoi_cache cache;
    sagoi_cache_init(&cache, capacity, &budget);
    assert_int_equal(sagoi_cache_reserve(&cache), SAGO_OK);
    return cache;
}

static void end(sagoi_cache *cache) {
    sagoi_cache_cleanup(cache);
    sagoi_cache_cleanup(cache);
    assert_int_equal(budget.used, 0);
}

static void test_found_where_it_was(void **state) {
    sagoi_cache cache = cache_of(4);
    int64_t shift = -1;
    assert_null(found(&cache, at(1, 0), 1, &shift));
    sagoi_cache_entry *entry = inserted(&cache, at(1, 0));
    assert_ptr_equal(found(&cache, at(1, 0), 1, &shift), entry);
    assert_int_equal(shift, 0);
    assert_null(found(&cache, at(2, 0), 1, &shift));
    end(&cache);
}

static void test_found_where_all_have_moved(void **state) {
    sagoi_cache cache = cache_of(4);
    int64_t shift = -1;
    sagoi_cache_entry *entry = inserted(&cache, at(1, 4096));
    assert_ptr_equal(found(&cache, at(1, 8192), 4096, &shift), entry);
    assert_int_equal(shift, 4096);
    assert_ptr_equal(found(&cache, at(1, 0), 4096, &shift), entry);
    assert_int_equal(shift, -4096);
    assert_null(found(&cache, at(1, 5000), 4096, &shift)); /* not aligned */
    end(&cache);
}

/* The lowest offset has moved by as much as the entry's, another rank's has not. */
static void test_not_found_where_one_stays(void **state) {
    sagoi_cache cache = cache_of(4);
    int64_t shift = -1;
    const int64_t moved[RANKS] = {50, 150, 200};
    (void)inserted(&cache, at(1, 0));
    assert_null(found(&cache, key_of(1, moved), 1, &shift));
    end(&cache);
}

static void test_the_one_unused_longest_goes(void **state) {
    sagoi_cache cache = cache_of(2);
    int64_t shift;
    (void)inserted(&cache, at(1, 0));
    (void)inserted(&cache, at(2, 0));
    assert_non_null(found(&cache, at(1, 0), 1, &shift));
    (void)inserted(&cache, at(3, 0));
    assert_non_null(found(&cache, at(1, 0), 1, &shift));
    assert_null(found(&cache, at(2, 0), 1, &shift));
    assert_non_null(found(&cache, at(3, 0), 1, &shift));
    end(&cache);
}

/* The call that runs needs a plan, even if none is to be kept. */
static void test_one_entry_at_least(void **state) {
    sagoi_cache cache = cache_of(0);
    int64_t shift;
    (void)inserted(&cache, at(1, 0));
    (void)inserted(&cache, at(2, 0));
    assert_null(found(&cache, at(1, 0), 1, &shift));
    assert_non_null(found(&cache, at(2, 0), 1, &shift));
    end(&cache);
}

static void test_dropping(void **state) {
    sagoi_cache cache = cache_of(3);
    int64_t shift;
    sagoi_cache_drop(&cache, inserted(&cache, at(1, 0)));
    assert_null(found(&cache, at(1, 0), 1, &shift));
    (void)inserted(&cache, at(1, 0));
    sagoi_cache_entry *kept = inserted(&cache, at(2, 0));
    sagoi_cache_keep_only(&cache, kept);
    assert_null(found(&cache, at(1, 0), 1, &shift));
    assert_ptr_equal(found(&cache, at(2, 0), 1, &shift), kept);
    end(&cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_where_it_was),        cmocka_unit_test(test_found_where_all_have_moved),
        cmocka_unit_test(test_not_found_where_one_stays), cmocka_unit_test(test_the_one_unused_longest_goes),
        cmocka_unit_test(test_one_entry_at_least),        cmocka_unit_test(test_dropping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
