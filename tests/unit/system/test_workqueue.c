/* Queues of work with several threads: order, work that may not begin, what is dropped, what is waited for in the
 * end.  One queue with its alarm and fork() is tests/unit/store/test_iothread.c. */
#include "system/workqueue.h"
#include "support/unit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKS = 20 };

typedef struct numbered {
    sagoi_work work;
    sagoi_workqueue **all; /* whose queue 1 the number goes on to; the variable that is destroyed */
    int number;
} numbered;

static int order[2 * WORKS];
static atomic_int done;
static atomic_bool held;

static void note(sagoi_work *work) {
    const numbered *one = (const numbered *)work;
    order[atomic_fetch_add(&done, 1)] = one->number;
}

/* Slow, so that the end comes while it works. */
static void go_on(sagoi_work *work) {
    const numbered *one = (const numbered *)work;
    numbered *next = malloc(sizeof *next);
    (void)usleep(1000);
    assert_non_null(next);
    *next = (numbered){.work = {.run = note, .owned = true}, .number = one->number};
    assert_true(sagoi_workqueue_submit(*one->all, 1, &next->work));
}

static bool begin(sagoi_work *work) {
    const numbered *one = (const numbered *)work;
    return one->number != 3 || !atomic_load(&held);
}

static bool is_odd(const sagoi_work *work, const void *arg) {
    return ((const numbered *)work)->number % *(const int *)arg == 1;
}

static sagoi_workqueue *create(int queues) {
    sagoi_workqueue *all = NULL;
    atomic_store(&done, 0);
    assert_int_equal(sagoi_workqueue_create(queues, "test", &all), SAGO_OK);
    return all;
}

static void submit(sagoi_workqueue **all, int number, void (*run)(sagoi_work *)) {
    numbered *one = malloc(sizeof *one);
    assert_non_null(one);
    *one = (numbered){.work = {.run = run, .begin = begin, .owned = true}, .all = all, .number = number};
    assert_true(sagoi_workqueue_submit(*all, 0, &one->work));
}

static void queue_0_ends_first(void **state) {
    sagoi_workqueue *all = create(2);
    for (int i = 0; i < WORKS; i++)
        submit(&all, i, go_on);
    sagoi_workqueue_destroy(&all);
    assert_null(all);
    assert_int_equal(atomic_load(&done), WORKS);
    for (int i = 0; i < WORKS; i++)
        assert_int_equal(order[i], i);
}

static void await_done(sagoi_workqueue *all, int wanted) {
    sagoi_workqueue_lock(all);
    for (int i = 0; i < 5000 && atomic_load(&done) < wanted; i++)
        sagoi_workqueue_await_news(all, 1);
    sagoi_workqueue_unlock(all);
    assert_int_equal(atomic_load(&done), wanted);
}

/* The first three are done; the rest waits for the fourth, in order, and half of it is dropped. */
static void what_may_not_begin_holds_up_the_rest(void **state) {
    static const int two = 2;
    sagoi_workqueue *all = create(1);
    atomic_store(&held, true);
    for (int i = 0; i < WORKS; i++)
        submit(&all, i, note);
    await_done(all, 3);
    (void)usleep(20000);
    assert_int_equal(atomic_load(&done), 3);
    sagoi_workqueue_lock(all);
    assert_true(sagoi_workqueue_busy(all, 0));
    sagoi_workqueue_recheck(all, 0, is_odd, &two);
    sagoi_workqueue_unlock(all);
    await_done(all, 3 + 8); /* 4, 6, ..., 18: the one that was held is gone */
    atomic_store(&held, false);
    for (int i = 3; i < 11; i++)
        assert_int_equal(order[i], 4 + 2 * (i - 3));
    submit(&all, 3, note);
    sagoi_workqueue_destroy(&all);
    assert_int_equal(order[11], 3);
}

static void what_was_held_goes_on(void **state) {
    sagoi_workqueue *all = create(1);
    atomic_store(&held, true);
    for (int i = 0; i < WORKS; i++)
        submit(&all, i, note);
    await_done(all, 3);
    sagoi_workqueue_lock(all);
    atomic_store(&held, false);
    sagoi_workqueue_recheck(all, 0, NULL, NULL);
    sagoi_workqueue_unlock(all);
    sagoi_workqueue_destroy(&all);
    assert_int_equal(atomic_load(&done), WORKS);
    for (int i = 0; i < WORKS; i++)
        assert_int_equal(order[i], i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_0_ends_first),
        cmocka_unit_test(what_may_not_begin_holds_up_the_rest),
        cmocka_unit_test(what_was_held_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
