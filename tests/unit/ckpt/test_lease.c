/* The lock of a directory: two live jobs, dead ones, ones of another machine whose clock is wrong, renewal while
 * nobody writes, loss. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ckpt/clock.h"
#include "ckpt/lease.h"

enum { LEASE = 30, THIRD = 10 }; /* seconds */

static char root[64], lock_path[96];

static int make_root(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/sago-lease-XXXXXX");
    bool made = mkdtemp(root) != NULL;
    snprintf(lock_path, sizeof lock_path, "%s/" SAGOI_LEASE_NAME, root);
    return made ? 0 : -1;
}

static int remove_root(void **state) {
    (void)state;
    sagoi_file_set_hooks(NULL);
    (void)unlink(lock_path);
    return rmdir(root); /* nothing else may be left in it */
}

static void refused(void) {
    sagoi_lease lease;
    assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_ERR_BUSY);
    assert_non_null(strstr(sagoi_message(), "another job uses the directory"));
    sagoi_message_clear();
}

static void granted(void) {
    sagoi_lease lease;
    assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_OK);
    assert_string_equal(sagoi_message(), "");
    sagoi_lease_give_back(&lease);
    assert_int_equal(access(lock_path, F_OK), -1);
}

static void two_live_jobs(void **state) {
    (void)state;
    sagoi_lease first;
    assert_int_equal(sagoi_lease_take(&first, root, LEASE), SAGO_OK);
    refused();
    assert_int_equal(sagoi_lease_check(&first), SAGO_OK);
    sagoi_lease_give_back(&first);
    granted();
}

/* A job that dies with the lock, on this machine. */
static void dead_job(void **state) {
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        sagoi_lease lease;
        _exit(sagoi_lease_take(&lease, root, LEASE) != SAGO_OK);
    }
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(info.si_status, 0);
    assert_int_equal(access(lock_path, F_OK), 0);
    granted();
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* ---- A job of another machine: nothing is known of it but the lock's time stamp ---- */

static void leave_lock(int64_t age) {
    struct timespec times[2] = {{0, UTIME_OMIT}, {0, 0}};
    struct stat now = {0};
    int fd = open(lock_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && write(fd, "?", 1) == 1 && fstat(fd, &now) == 0);
    times[1].tv_sec = now.st_mtim.tv_sec - age;
    assert_int_equal(futimens(fd, times), 0);
    (void)close(fd);
}

typedef struct passing {
    bool renews;
    pthread_t thread;
} passing;

/* While somebody watches, hours pass, or the owner renews its lock. */
static void *pass(void *arg) {
    const passing *p = arg;
    (void)usleep(200000);
    if (p->renews)
        leave_lock(p->renews);
    (void)usleep(p->renews ? 300000 : 0);
    sagoi_clock_shift(3600);
    return NULL;
}

static void after_time(bool renews, void (*then)(void)) {
    passing p = {.renews = renews};
    assert_int_equal(pthread_create(&p.thread, NULL, pass, &p), 0);
    then();
    assert_int_equal(pthread_join(p.thread, NULL), 0);
}

static void job_elsewhere(void **state) {
    (void)state;
    leave_lock(0);
    refused(); /* at once */
    leave_lock(LEASE - 5);
    refused();
    leave_lock(LEASE + 5); /* expired */
    after_time(false, granted);
}

static void clocks_differ(void **state) {
    (void)state;
    leave_lock(LEASE + 5); /* the owner's clock is slow; it lives */
    after_time(true, refused);
    leave_lock(-1000); /* fast, and it lives */
    after_time(true, refused);
    leave_lock(-1000); /* fast, and it is dead */
    after_time(false, granted);
}

/* ---- Keeping it ---- */

static ino_t lock_inode(void) {
    struct stat info;
    assert_int_equal(stat(lock_path, &info), 0);
    return info.st_ino;
}

/* Whatever the writers wait for: nobody calls anything here. */
static void renewed_meanwhile(void **state) {
    (void)state;
    sagoi_lease lease;
    assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_OK);
    ino_t before = lock_inode();
    (void)usleep(1200000);
    assert_int_equal(lock_inode(), before); /* not yet */
    sagoi_clock_shift(THIRD + 1);
    for (int i = 0; i < 100 && lock_inode() == before; i++)
        (void)usleep(50000);
    assert_true(lock_inode() != before);
    sagoi_lease_give_back(&lease);
}

static void lost(void **state) {
    (void)state;
    sagoi_lease first, second;
    assert_int_equal(sagoi_lease_take(&first, root, LEASE), SAGO_OK);
    assert_int_equal(unlink(lock_path), 0);
    assert_int_equal(sagoi_lease_take(&second, root, LEASE), SAGO_OK);
    sagoi_clock_shift(THIRD + 1);
    assert_int_equal(sagoi_lease_check(&first), SAGO_ERR_BUSY);
    assert_int_equal(sagoi_lease_check(&first), SAGO_ERR_BUSY);
    assert_int_equal(sagoi_lease_check(&second), SAGO_OK);
    sagoi_lease_give_back(&first);
    refused(); /* the second one's lock is still there */
    sagoi_lease_give_back(&second);
}

static int refuse_lock(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return strstr(op->path, "/" SAGOI_LEASE_NAME) ? EIO : 0;
}

/* The directory is out of reach for a while: no harm until the time of the lease is over. */
static void out_of_reach(void **state) {
    (void)state;
    static const sagoi_file_hooks hooks = {.before = refuse_lock};
    sagoi_lease lease;
    assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_OK);
    sagoi_file_set_hooks(&hooks);
    sagoi_clock_shift(THIRD + 1);
    assert_int_equal(sagoi_lease_check(&lease), SAGO_OK);
    assert_string_equal(sagoi_message(), "");
    sagoi_clock_shift(LEASE);
    assert_int_equal(sagoi_lease_check(&lease), SAGO_ERR_IO);
    sagoi_file_set_hooks(NULL);
    assert_int_equal(sagoi_lease_check(&lease), SAGO_OK); /* nobody has taken it */
    sagoi_lease_give_back(&lease);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_live_jobs, make_root, remove_root),
        cmocka_unit_test_setup_teardown(dead_job, make_root, remove_root),
        cmocka_unit_test_setup_teardown(job_elsewhere, make_root, remove_root),
        cmocka_unit_test_setup_teardown(clocks_differ, make_root, remove_root),
        cmocka_unit_test_setup_teardown(renewed_meanwhile, make_root, remove_root),
        cmocka_unit_test_setup_teardown(lost, make_root, remove_root),
        cmocka_unit_test_setup_teardown(out_of_reach, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
