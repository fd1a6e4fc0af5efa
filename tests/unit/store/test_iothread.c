/* The background thread: order, results, waiting with and without a limit, signals, and fork(). */
#include "store/io_task.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "store_fixture.h"
#include "support/inject.h"

enum { TASKS = 50 };

/* The offsets of writes in the order they were done, and a door that holds them up. */
static struct {
    int64_t order[TASKS * 2];
    atomic_int n;
    sem_t door;
    int error; /* every write fails with it; 0: none */
} seen;

static int write_noting(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    if (op->kind != SAGOI_OP_WRITE)
        return 0;
    seen.order[atomic_fetch_add(&seen.n, 1)] = op->off;
    return seen.error;
}

static int write_behind_the_door(void *arg, const sagoi_file_op *op, int64_t *len) {
    while (op->kind == SAGOI_OP_WRITE && sem_wait(&seen.door) != 0)
        ;
    return write_noting(arg, op, len);
}

static void calls_set(int (*write)(void *, const sagoi_file_op *, int64_t *), int error) {
    static file_hooks hooks;
    hooks.before = write;
    atomic_store(&seen.n, 0);
    seen.error = error;
    (void)sem_init(&seen.door, 0, 0);
    inject_file_hooks(&hooks);
}

static int calls_teardown(void **state) {
    inject_file_hooks(NULL);
    return 0;
}

static sagoi_workqueue *thread_create(void) {
    sagoi_workqueue *thread = NULL;
    assert_int_equal(sagoi_workqueue_create(1, "sago-io", &thread), SAGO_OK);
    return thread;
}

static int threads_of_process(void) {
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    int n = 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        n += entry->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

static double now_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* No address space for a stack; the first test, as glibc keeps the stacks of earlier threads. */
static void without_a_thread_the_caller_does_it(void **state) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they need memory of their own */
#else
    fixture *f = *state;
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    sagoi_workqueue *thread = thread_create();
    char byte = 'x';
    sagoi_task task = {.kind = SAGOI_TASK_WRITE, .store = store, .buf = &byte, .len = 1};
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    sagoi_task_submit(thread, &task);
    bool done = sagoi_work_done(thread, &task.work); /* at once */
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_true(done);
    assert_true(sagoi_work_wait(thread, &task.work, 0));
    assert_int_equal(task.status, SAGO_OK);
    assert_file_is(f->path, "x", 1);
    sagoi_workqueue_destroy(&thread);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
#endif
}

static void tasks_are_done_in_order(void **state) {
    sagoi_store *store = fixture_open(*state, 0, &ways[0]);
    calls_set(write_noting, 0);
    sagoi_workqueue *thread = thread_create();
    static sagoi_task tasks[TASKS];
    char byte = 'x';
    for (int i = 0; i < TASKS; i++) {
        tasks[i] = (sagoi_task){.kind = SAGOI_TASK_WRITE, .store = store, .buf = &byte, .len = 1};
        tasks[i].off = (i * 37) % TASKS;
        sagoi_task_submit(thread, &tasks[i]);
    }
    assert_true(sagoi_work_wait(thread, &tasks[TASKS - 1].work, 0));
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(seen.order[i], (i * 37) % TASKS);
        assert_true(sagoi_work_done(thread, &tasks[i].work));
        assert_int_equal(tasks[i].status, SAGO_OK);
        assert_string_equal(tasks[i].message, "");
        assert_true(tasks[i].seconds >= 0);
    }
    sagoi_workqueue_destroy(&thread);
    assert_null(thread);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

/* Marks are honoured, and a read of a window past the end finds zeros there. */
static void windows_there_and_back(void **state) {
    sagoi_store *store = fixture_open(*state, 0, &ways[1]);
    sagoi_workqueue *thread = thread_create();
    char out[130], back[300], model[300] = {0};
    uint64_t marks[3] = {0x00ff00ff00ff00ff, 0, 3};
    memset(out, 'w', sizeof out);
    for (int i = 0; i < 130; i++)
        if (marks[i / 64] >> (i % 64) & 1)
            model[i] = 'w';
    sagoi_task put = {.kind = SAGOI_TASK_WRITE, .store = store, .buf = out, .off = 40, .len = 130, .marks = marks};
    sagoi_task get = {.kind = SAGOI_TASK_READ, .store = store, .buf = back, .off = 40, .len = 300};
    memset(back, '?', sizeof back);
    sagoi_task_submit(thread, &put);
    sagoi_task_submit(thread, &get);
    assert_true(sagoi_work_wait(thread, &get.work, 0));
    assert_int_equal(get.status, SAGO_OK);
    assert_memory_equal(back, model, 300);
    assert_int_equal(sagoi_store_counters(store).runs, 5 + 1);
    sagoi_workqueue_destroy(&thread);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

static void failures_reach_the_waiter(void **state) {
    fixture *f = *state;
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    calls_set(write_noting, EDQUOT);
    sagoi_workqueue *thread = thread_create();
    char buf[100] = {0};
    sagoi_task bad = {.kind = SAGOI_TASK_WRITE, .store = store, .buf = buf, .off = 7, .len = 100};
    sagoi_task good = {.kind = SAGOI_TASK_READ, .store = store, .buf = buf, .len = 10};
    sagoi_task_submit(thread, &bad);
    sagoi_task_submit(thread, &good);
    assert_true(sagoi_work_wait(thread, &bad.work, 0));
    assert_int_equal(bad.status, SAGO_ERR_QUOTA);
    char expected[600];
    (void)snprintf(expected, sizeof expected, "write of 100 bytes at offset 7 of %s: Disk quota exceeded",
                   f->path);
    assert_string_equal(bad.message, expected);
    assert_true(sagoi_work_wait(thread, &good.work, 0)); /* one failure is not the next task's */
    assert_int_equal(good.status, SAGO_OK);
    sagoi_workqueue_destroy(&thread);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

static void waiting_has_a_limit(void **state) {
    sagoi_store *store = fixture_open(*state, 0, &ways[0]);
    calls_set(write_behind_the_door, 0);
    sagoi_workqueue *thread = thread_create();
    char byte = 'x';
    sagoi_task task = {.kind = SAGOI_TASK_WRITE, .store = store, .buf = &byte, .len = 1};
    sagoi_task_submit(thread, &task);
    assert_false(sagoi_work_done(thread, &task.work));
    double begin = now_seconds();
    assert_false(sagoi_work_wait(thread, &task.work, 30));
    assert_true(now_seconds() - begin > 0.029); /* and it has ended, although the door is still closed */
    (void)sem_post(&seen.door);
    assert_true(sagoi_work_wait(thread, &task.work, 60000));
    assert_true(sagoi_work_wait(thread, &task.work, 0)); /* a second time is no harm */
    sagoi_workqueue_destroy(&thread);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

static int asked; /* how often */

static int choose_core(const void *core) {
    asked++;
    return *(const int *)core;
}

static void the_thread_is_there_when_needed(void **state) {
    sagoi_store *store = fixture_open(*state, 0, &ways[0]);
    int before = threads_of_process();
    sagoi_workqueue *thread = thread_create();
    const int first = 0, absent = 100000;
    asked = 0;
    sagoi_workqueue_place(thread, choose_core, &first);
    assert_int_equal(threads_of_process(), before);
    sagoi_workqueue_destroy(&thread); /* never started */
    assert_int_equal(asked, 0);
    thread = thread_create();
    sagoi_workqueue_place(thread, choose_core, &absent); /* it runs wherever it may */
    static sagoi_task tasks[TASKS];
    char byte = 'x';
    for (int i = 0; i < TASKS; i++) {
        tasks[i] = (sagoi_task){.kind = SAGOI_TASK_WRITE, .store = store, .buf = &byte, .off = i, .len = 1};
        sagoi_task_submit(thread, &tasks[i]);
    }
    assert_int_equal(threads_of_process(), before + 1);
    assert_int_equal(asked, 1);
    sagoi_workqueue_destroy(&thread); /* waits for all */
    int64_t size = 0;
    assert_int_equal(sagoi_store_size(store, &size), SAGO_OK);
    assert_int_equal(size, TASKS);
    sagoi_workqueue_destroy(&thread);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

/* ---- Signals ---- */

static pthread_t main_thread;
static atomic_int caught_here, caught_elsewhere;

static void on_signal(int number) {
    (void)number;
    (void)atomic_fetch_add(pthread_equal(pthread_self(), main_thread) ? &caught_here : &caught_elsewhere, 1);
}

/* While the main thread blocks the signal and the other works, it must stay pending. */
static void signals_are_not_the_threads(void **state) {
    sagoi_store *store = fixture_open(*state, 0, &ways[0]);
    calls_set(write_behind_the_door, 0);
    main_thread = pthread_self();
    struct sigaction action = {.sa_handler = on_signal}, before;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    sagoi_workqueue *thread = thread_create();
    char byte = 'x';
    sagoi_task task = {.kind = SAGOI_TASK_WRITE, .store = store, .buf = &byte, .len = 1};
    sagoi_task_submit(thread, &task);
    sigset_t set, old, pending;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &set, &old);
    assert_false(sigismember(&old, SIGUSR1)); /* ours is as it was before the thread */
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    (void)sagoi_work_wait(thread, &task.work, 20);
    assert_int_equal(atomic_load(&caught_elsewhere), 0);
    assert_int_equal(sigpending(&pending), 0);
    assert_true(sigismember(&pending, SIGUSR1));
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    assert_int_equal(atomic_load(&caught_here), 1);
    (void)sem_post(&seen.door);
    assert_true(sagoi_work_wait(thread, &task.work, 0));
    assert_int_equal(task.status, SAGO_OK);
    sagoi_workqueue_destroy(&thread);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

/* ---- fork() ---- */

/* The alarm makes a hang a failure. */
static int child_main(sagoi_workqueue *thread, sagoi_store *store, sagoi_task *pending) {
    (void)alarm(20);
    inject_file_hooks(NULL);
    char byte = 'c';
    sagoi_task task = {.kind = SAGOI_TASK_WRITE, .store = store, .buf = &byte, .off = 9, .len = 1};
    if (sagoi_work_wait(thread, &pending->work, 0) || sagoi_work_done(thread, &pending->work))
        return 1;
    sagoi_task_submit(thread, &task);
    if (!sagoi_work_wait(thread, &task.work, 0) || task.status != SAGO_OK)
        return 2;
    sagoi_workqueue_destroy(&thread);
    return 0;
}

static void a_child_does_not_hang(void **state) {
    fixture *f = *state;
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    calls_set(write_behind_the_door, 0);
    sagoi_workqueue *thread = thread_create();
    char byte = 'p';
    sagoi_task task = {.kind = SAGOI_TASK_WRITE, .store = store, .buf = &byte, .len = 1};
    sagoi_task_submit(thread, &task);
    pid_t child = fork();
    if (child == 0)
        _exit(child_main(thread, store, &task));
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    (void)sem_post(&seen.door);
    assert_true(sagoi_work_wait(thread, &task.work, 0));
    sagoi_workqueue_destroy(&thread);
    assert_file_is(f->path, "p\0\0\0\0\0\0\0\0c", 10);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

/* ---- Alarms ---- */

typedef struct bell {
    _Atomic int rung;
    double again; /* seconds, for as long as it has rung less than three times */
} bell;

static double ring(void *arg) {
    bell *one = arg;
    return ++one->rung < 3 ? one->again : 0;
}

static void await_rung(bell *one, int times) {
    for (int i = 0; i < 5000 && one->rung < times; i++)
        (void)usleep(1000);
    assert_int_equal(one->rung, times);
}

static void an_alarm_rings_beside_tasks(void **state) {
    fixture *f = *state;
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    sagoi_workqueue *thread;
    bell one = {.again = 0.01}, late = {0};
    sagoi_alarm alarm = {ring, &one}, later = {ring, &late};
    char byte = 'p';
    assert_int_equal(sagoi_workqueue_create(1, "sago-io", &thread), SAGO_OK);
    assert_true(sagoi_workqueue_alarm(thread, 0, &alarm, 0.01));
    sagoi_task task = {.kind = SAGOI_TASK_WRITE, .store = store, .buf = &byte, .len = 1};
    sagoi_task_submit(thread, &task);
    assert_true(sagoi_work_wait(thread, &task.work, 0));
    await_rung(&one, 3);
    assert_true(sagoi_workqueue_alarm(thread, 0, &alarm, 1000)); /* one takes the other's place */
    assert_true(sagoi_workqueue_alarm(thread, 0, &alarm, 0.01));
    await_rung(&one, 4);
    assert_true(sagoi_workqueue_alarm(thread, 0, &later, 1000)); /* is not waited for */
    sagoi_workqueue_destroy(&thread);
    assert_int_equal(late.rung, 0);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_thread_the_caller_does_it),
        cmocka_unit_test_teardown(tasks_are_done_in_order, calls_teardown),
        cmocka_unit_test(windows_there_and_back),
        cmocka_unit_test_teardown(failures_reach_the_waiter, calls_teardown),
        cmocka_unit_test_teardown(waiting_has_a_limit, calls_teardown),
        cmocka_unit_test(the_thread_is_there_when_needed),
        cmocka_unit_test_teardown(signals_are_not_the_threads, calls_teardown),
        cmocka_unit_test_teardown(a_child_does_not_hang, calls_teardown),
        cmocka_unit_test(an_alarm_rings_beside_tasks),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
