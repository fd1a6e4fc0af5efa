/* Fibers: they yield and go on, in turns, in any thread; errors keep their own messages. */
#include "base/fiber.h"
#include "support/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { FIBERS = 5, STEPS = 40 };

/* Counts to its number of steps, keeping numbers on its stack. */
typedef struct counter {
    int steps, done, number;
    bool right;
} counter;

static void count(void *arg) {
    counter *mine = arg;
    volatile int kept[1000];
    for (int i = 0; i < 1000; i++)
        kept[i] = mine->number * 1000 + i;
    char text[32];
    (void)snprintf(text, sizeof text, "fiber %d", mine->number);
    (void)sagoi_fail(SAGO_ERR_IO, "%s", text);
    for (mine->done = 0; mine->done < mine->steps; mine->done++)
        (void)sagoi_give_way(true);
    mine->right = strcmp(sagoi_message(), text) == 0 && sagoi_on_fiber();
    for (int i = 0; i < 1000; i++)
        mine->right = mine->right && kept[i] == mine->number * 1000 + i;
}

static void start(counter *one, int number, int steps) {
    one->number = number;
    one->steps = steps;
    one->right = false;
    sagoi_fibers_lock();
    assert_int_equal(sagoi_fiber_start(count, one), SAGO_OK);
    sagoi_fibers_unlock();
}

static void test_turns(void **state) {
    counter all[FIBERS] = {0};
    sagoi_message_set("outside");
    assert_false(sagoi_fibers_pending());
    assert_false(sagoi_give_way(true));
    for (int round = 0; round < 3; round++) { /* stacks are used again */
        for (int i = 0; i < FIBERS; i++) {
            start(&all[i], i, STEPS + i);
            assert_int_equal(all[i].done, 0);
        }
        for (int step = 1; step < STEPS; step++) {
            assert_true(sagoi_fibers_advance());
            assert_int_equal(all[0].done, step);
        }
        while (sagoi_fibers_pending())
            assert_true(sagoi_fibers_advance());
        for (int i = 0; i < FIBERS; i++)
            assert_true(all[i].right);
    }
    assert_string_equal(sagoi_message(), "outside");
    assert_false(sagoi_on_fiber());
    assert_false(sagoi_fibers_advance());
}

static void nothing(void *arg) { *(int *)arg += 1; }

static void test_ends_at_once(void **state) {
    int runs = 0;
    for (int i = 1; i <= 3; i++) {
        sagoi_fibers_lock();
        assert_int_equal(sagoi_fiber_start(nothing, &runs), SAGO_OK);
        sagoi_fibers_unlock();
        assert_int_equal(runs, i);
        assert_false(sagoi_fibers_pending());
    }
}

/* Waits for a word, without getting any further. */
static sagoi_futex word;
static void wait_word(void *arg) {
    (void)arg;
    for (bool moved = true; atomic_load(&word.value) == 0; moved = false)
        sagoi_fiber_yield(moved, &word, 0);
}

static void test_says_whether_it_moved(void **state) {
    sagoi_fibers_lock();
    assert_int_equal(sagoi_fiber_start(wait_word, NULL), SAGO_OK);
    sagoi_fibers_unlock();
    for (int i = 0; i < 3; i++) {
        assert_false(sagoi_fibers_advance());
        sagoi_fibers_pause(i);
    }
    atomic_store(&word.value, 1);
    assert_true(sagoi_fibers_advance());
    assert_false(sagoi_fibers_pending());
}

static void *advance(void *arg) {
    (void)arg;
    for (int quiet = 0; sagoi_fibers_pending();)
        if (sagoi_fibers_advance())
            quiet = 0;
        else
            sagoi_fibers_pause(quiet++);
    return NULL;
}

/* Several threads advance the same fibers. */
static void test_threads(void **state) {
    counter all[FIBERS] = {0};
    pthread_t threads[4];
    for (int i = 0; i < FIBERS; i++)
        start(&all[i], i, 2000);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, advance, NULL), 0);
    for (int i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < FIBERS; i++) {
        assert_int_equal(all[i].done, 2000);
        assert_true(all[i].right);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns), cmocka_unit_test(test_ends_at_once),
                                       cmocka_unit_test(test_says_whether_it_moved),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
