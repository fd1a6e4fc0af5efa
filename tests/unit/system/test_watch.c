/* Calls that do not come back: they are forgotten after the patience, their directory is left alone until they
 * have come back after all, and what they look at stays. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/watch.h"
#include "support/unit.h"

/* Ends when there is something to be read from a pipe. */
typedef struct pipe_errand {
    sagoi_errand errand;
    char path[64];
    int from;
    int answer;
    int tell_forgotten; /* a descriptor that is written to */
} pipe_errand;

static sago_status read_pipe(sagoi_errand *errand) {
    pipe_errand *at = (pipe_errand *)errand;
    char byte = 0;
    at->answer = read(at->from, &byte, 1) == 1 ? byte : -1;
    return byte == 'x' ? sagoi_fail(SAGO_ERR_IO, "x was read") : SAGO_OK;
}

static void tell(sagoi_errand *errand) {
    const pipe_errand *at = (const pipe_errand *)errand;
    assert_int_equal(write(at->tell_forgotten, "f", 1), 1);
}

static pipe_errand *prepare(sagoi_runner *runner, const char *path, int from) {
    pipe_errand *at = sagoi_runner_room(runner);
    *at = (pipe_errand){.errand = {.run = read_pipe, .forgotten = tell, .what = "asking"}, .from = from};
    snprintf(at->path, sizeof at->path, "%s", path);
    at->errand.path = at->path;
    return at;
}

/* Until the directory may be used again. */
static void await_return(const char *path) {
    sagoi_runner *runner = NULL;
    while (sagoi_runner_take(path, &runner) == SAGO_ERR_TIMEOUT)
        usleep(1000);
    assert_non_null(runner);
    sagoi_runner_give(runner);
}

static void paths_are_found(void **state) {
    sagoi_watch *outer = NULL, *inner = NULL, *again = NULL;
    sagoi_runner *runner = NULL, *second = NULL;
    assert_int_equal(sagoi_runner_take("a/b", &runner), SAGO_OK);
    assert_null(runner);
    assert_int_equal(sagoi_watch_begin("a", 5, &outer), SAGO_OK);
    assert_int_equal(sagoi_watch_begin("a/b", 5, &inner), SAGO_OK);
    assert_int_equal(sagoi_watch_begin("a", 7, &again), SAGO_OK);
    assert_ptr_equal(outer, again);
    assert_int_equal(sagoi_runner_take("ab", &runner), SAGO_OK);
    assert_null(runner);
    assert_int_equal(sagoi_runner_take("a", &runner), SAGO_OK);
    assert_int_equal(sagoi_runner_take("a/c", &second), SAGO_OK); /* another call at the same time */
    assert_non_null(runner);
    assert_true(second && second != runner);
    sagoi_runner_give(runner);
    sagoi_runner_give(second);
    sagoi_watch_end(&again);
    assert_int_equal(sagoi_runner_take("a/x", &runner), SAGO_OK);
    assert_non_null(runner);
    sagoi_runner_give(runner);
    sagoi_watch_end(&outer);
    sagoi_watch_end(&inner);
    assert_null(inner);
    assert_int_equal(sagoi_runner_take("a/b", &runner), SAGO_OK);
    assert_null(runner);
}

static void results_come_back(void **state) {
    sagoi_watch *watch = NULL;
    sagoi_runner *runner = NULL;
    int ends[2];
    bool gone = true;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(sagoi_watch_begin("d", 60, &watch), SAGO_OK);
    assert_int_equal(sagoi_runner_take("d/f", &runner), SAGO_OK);
    pipe_errand *at = prepare(runner, "d/f", ends[0]);
    assert_int_equal(write(ends[1], "yx", 2), 2);
    assert_int_equal(sagoi_runner_go(runner, &gone), SAGO_OK);
    assert_false(gone);
    assert_int_equal(at->answer, 'y');
    assert_int_equal(sagoi_runner_go(runner, &gone), SAGO_ERR_IO);
    assert_false(gone);
    assert_string_equal(sagoi_message(), "x was read");
    sagoi_runner_give(runner);
    sagoi_watch_end(&watch);
    close(ends[0]);
    close(ends[1]);
}

/* `ended`: the directory is given up before the call comes back. */
static void hang(bool ended) {
    static char lent[100];
    sagoi_watch *watch = NULL;
    sagoi_runner *runner = NULL;
    int ends[2], told[2], left = open("/dev/null", O_RDONLY);
    bool gone = false;
    char byte;
    assert_true(pipe(ends) == 0 && pipe(told) == 0);
    assert_int_equal(sagoi_watch_begin("d", 1, &watch), SAGO_OK);
    assert_false(sagoi_watch_close_later("d/f", left));
    assert_int_equal(sagoi_runner_take("d/f", &runner), SAGO_OK);
    pipe_errand *at = prepare(runner, "d/f", ends[0]);
    at->tell_forgotten = told[1];
    at->errand.lent = lent;
    at->errand.lent_bytes = sizeof lent;
    assert_non_null(sagoi_runner_buffer(runner, 1000));
    assert_int_equal(sagoi_runner_go(runner, &gone), SAGO_ERR_TIMEOUT);
    assert_true(gone);
    assert_non_null(strstr(sagoi_message(), "asking d/f has not come back for 1 s"));
    assert_int_equal(sagoi_runner_take("d/other", &runner), SAGO_ERR_TIMEOUT);
    assert_non_null(strstr(sagoi_message(), "asking d/f"));
    assert_true(sagoi_memory_is_lent(lent + 99, 10));
    assert_false(sagoi_memory_is_lent(lent + 100, 10));
    sagoi_watch_counts counts = sagoi_watch_count(watch);
    assert_int_equal(counts.calls, 1);
    assert_true(counts.bytes >= 1100);
    assert_true(sagoi_watch_close_later("d/f", left));
    assert_true(fcntl(left, F_GETFD) >= 0);
    if (ended)
        sagoi_watch_end(&watch);
    assert_int_equal(write(ends[1], "y", 1), 1);
    assert_int_equal(read(told[0], &byte, 1), 1);
    if (!ended)
        await_return("d/f");
    while (fcntl(left, F_GETFD) >= 0 || sagoi_memory_is_lent(lent, 1))
        usleep(1000);
    counts = sagoi_watch_count(watch);
    assert_int_equal(counts.calls, 0);
    sagoi_watch_end(&watch);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(told[i]);
    }
}

static void hangs_and_comes_back(void **state) { hang(false); }

static void comes_back_after_the_end(void **state) { hang(true); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_found),
        cmocka_unit_test(results_come_back),
        cmocka_unit_test(hangs_and_comes_back),
        cmocka_unit_test(comes_back_after_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
