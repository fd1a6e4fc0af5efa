/* Memory shared by processes: seen by others while it is open, by nobody afterwards, and never another's. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "move/segment.h"
#include "support/unit.h"

enum { BYTES = 100000 };

/* In another process: 0 if `at` of the segment holds `value` there, and after writing the next value. */
static int as_another(const sagoi_shared_name *name, int64_t at, char value) {
    pid_t child = fork();
    if (child == 0) {
        char *base = NULL;
        if (sagoi_shared_open(name, BYTES, &base) != 0 || base[at] != value)
            _exit(1);
        base[at]++;
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void is_shared(bool by_name) {
    sagoi_shared_name name = {0};
    char *base = NULL;
    assert_int_equal(sagoi_shared_create(by_name, BYTES, &name, &base), 0);
    assert_int_equal(by_name, name.file[0] != '\0');
    for (int64_t i = 0; i < BYTES; i++)
        assert_int_equal(base[i], 0);
    base[BYTES - 1] = 5;
    assert_int_equal(as_another(&name, BYTES - 1, 5), 0);
    assert_int_equal(base[BYTES - 1], 6);
    sagoi_shared_name closed = name;
    sagoi_shared_close(&name);
    char *again = NULL;
    assert_int_not_equal(sagoi_shared_open(&closed, BYTES, &again), 0);
    base[0] = 1; /* what is mapped stays */
    (void)munmap(base, BYTES);
}

static void test_without_a_name(void **state) { is_shared(false); }

static void test_by_name(void **state) { is_shared(true); }

/* The token tells a segment from another one that happens to be found under the same name. */
static void test_another_is_refused(void **state) {
    sagoi_shared_name name = {0};
    char *base = NULL, *other = NULL;
    assert_int_equal(sagoi_shared_create(false, BYTES, &name, &base), 0);
    sagoi_shared_name wrong = name;
    wrong.token++;
    assert_int_not_equal(sagoi_shared_open(&wrong, BYTES, &other), 0);
    wrong = name;
    wrong.inode++;
    assert_int_not_equal(sagoi_shared_open(&wrong, BYTES, &other), 0);
    sagoi_shared_close(&name);
    (void)munmap(base, BYTES);
}

static void test_closing_nothing(void **state) {
    sagoi_shared_name name = {0};
    sagoi_shared_close(&name);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_a_name), cmocka_unit_test(test_by_name),
                                       cmocka_unit_test(test_another_is_refused),
                                       cmocka_unit_test(test_closing_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
