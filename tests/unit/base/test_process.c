/* Whether a process still lives: numbers stay taken by the dead, and are given to others. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "support/unit.h"

static void self_lives(void **state) {
    sagoi_process self = sagoi_process_self();
    assert_int_equal(self.pid, getpid());
    assert_true(self.started > 0);
    assert_false(sagoi_process_gone(&self));
    self.started = 0; /* unknown */
    assert_false(sagoi_process_gone(&self));
}

static void child_dies(void **state) {
    int gate[2];
    char byte;
    assert_int_equal(pipe(gate), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(gate[1]);
        _exit(read(gate[0], &byte, 1) != 0);
    }
    sagoi_process child = {.pid = pid};
    assert_false(sagoi_process_gone(&child));
    siginfo_t info;
    (void)close(gate[1]);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(sagoi_process_gone(&child)); /* nobody has asked how it ended */
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(sagoi_process_gone(&child));
    (void)close(gate[0]);
}

/* The number belongs to a process that started at another time. */
static void number_is_given_again(void **state) {
    sagoi_process other = sagoi_process_self();
    other.started--;
    assert_true(sagoi_process_gone(&other));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(self_lives), cmocka_unit_test(child_dies),
                                       cmocka_unit_test(number_is_given_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
