/* Whose memory is it?  Here without a runtime of any device: what the question costs. */
#include "base/device.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/unit.h"

static int questions;

/* In place of the C library's: UCX's makes a system call, too. */
void *sbrk(intptr_t more) {
    questions += more == 0;
    return (void *)syscall(SYS_brk, 0);
}

static void expect_questions(const void *memory, int most) {
    questions = 0;
    assert_null(sagoi_device_of(memory));
    assert_in_range(questions, 0, most);
}

static void test_heap_is_asked_for_seldom(void **state) {
    enum { LARGE = 4 << 20, SMALL = 1000, PIECES = 2000 };
    static char *pieces[PIECES];
    char *large = malloc(LARGE), on_stack = 0;
    for (int i = 0; i < PIECES; i++) { /* the heap grows meanwhile */
        pieces[i] = malloc(SMALL);
        expect_questions(pieces[i], 1);
        expect_questions(pieces[i], 0);
        expect_questions(large, 1);
        expect_questions(large, 0);
        expect_questions(large + LARGE / 2, 0);
    }
    expect_questions(&on_stack, 1);
    expect_questions(&on_stack, 0);
    for (int i = 0; i < PIECES; i++) {
        expect_questions(pieces[i], 0);
        free(pieces[i]);
    }
    free(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_heap_is_asked_for_seldom)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
