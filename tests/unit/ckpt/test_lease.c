/* The lock of a directory: two live jobs, dead ones, ones of another machine whose clock is wrong, renewal while
 * nobody writes, loss, slow disks, lost answers, file systems without links, locks of an older format. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ckpt/clock.h"
#include "ckpt/lease.h"
#include "support/inject.h"
#include "support/unit.h"

enum { LEASE = 30, THIRD = 10 }; /* seconds */

static char root[64], lock_path[128]; /* lock_path: a first owner's */

static int64_t newest(void) {
    sagoi_generations seen;
    assert_int_equal(sagoi_generations_look(root, &seen), SAGO_OK);
    return seen.lock;
}

static int make_root(void **state) {
    snprintf(root, sizeof root, "/tmp/sago-lease-XXXXXX");
    bool made = mkdtemp(root) != NULL;
    snprintf(lock_path, sizeof lock_path, "%s/lock.00000001", root);
    return made ? 0 : -1;
}

/* Listings that lack a name: so many of them. */
static char hidden[32];
static int hide;

struct dirent *readdir(DIR *dir) {
    static struct dirent *(*next)(DIR *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "readdir");
    struct dirent *entry = next(dir);
    if (!entry || hide == 0 || strcmp(entry->d_name, hidden) != 0)
        return entry;
    hide--;
    return next(dir);
}

/* Only locks may be left in it. */
static int remove_root(void **state) {
    inject_file_hooks(NULL);
    DIR *dir = opendir(root);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (strlen(entry->d_name) == strlen("lock.00000001") && strncmp(entry->d_name, "lock.", 5) == 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    (void)closedir(dir);
    return rmdir(root);
}

static void refused(void) {
    sagoi_lease lease;
    assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_ERR_BUSY);
    assert_non_null(strstr(sagoi_message(), "job uses the directory")); /* a damaged lock does not tell which */
    sagoi_message_clear();
}

static void granted(void) {
    sagoi_lease lease;
    int64_t before = newest();
    assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_OK);
    assert_string_equal(sagoi_message(), "");
    assert_int_equal(lease.fence.generation, before + 1); /* never one that was had before */
    sagoi_lease_give_back(&lease);
    assert_int_equal(newest(), before + 1);
}

static void two_live_jobs(void **state) {
    sagoi_lease first;
    assert_int_equal(sagoi_lease_take(&first, root, LEASE), SAGO_OK);
    refused();
    assert_int_equal(sagoi_lease_check(&first), SAGO_OK);
    sagoi_lease_give_back(&first);
    granted();
}

/* A job that dies with the lock, on this machine. */
static void dead_job(void **state) {
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
    inject_clock_shift(3600);
    return NULL;
}

static void after_time(bool renews, void (*then)(void)) {
    passing p = {.renews = renews};
    assert_int_equal(pthread_create(&p.thread, NULL, pass, &p), 0);
    then();
    assert_int_equal(pthread_join(p.thread, NULL), 0);
}

static void job_elsewhere(void **state) {
    leave_lock(0);
    refused(); /* at once */
    leave_lock(LEASE - 5);
    refused();
    leave_lock(LEASE + 5); /* expired */
    after_time(false, granted);
}

static void clocks_differ(void **state) {
    leave_lock(LEASE + 5); /* the owner's clock is slow; it lives */
    after_time(true, refused);
    leave_lock(-1000); /* fast, and it lives */
    after_time(true, refused);
    leave_lock(-1000); /* fast, and it is dead */
    after_time(false, granted);
}

/* ---- Keeping it ---- */

static int64_t sum_of_lock(void) {
    char *bytes = NULL;
    int64_t len = 0, sum = 0;
    assert_int_equal(sagoi_cfile_load(lock_path, 4096, &bytes, &len), SAGO_OK);
    for (int64_t i = 0; i < len; i++)
        sum = 31 * sum % 1000003 + (unsigned char)bytes[i];
    free(bytes);
    return sum;
}

/* Whatever the writers wait for: nobody calls anything here. */
static void renewed_meanwhile(void **state) {
    sagoi_lease lease;
    assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_OK);
    int64_t before = sum_of_lock();
    (void)usleep(1200000);
    assert_int_equal(sum_of_lock(), before); /* not yet */
    inject_clock_shift(THIRD + 1);
    for (int i = 0; i < 100 && sum_of_lock() == before; i++)
        (void)usleep(50000);
    assert_true(sum_of_lock() != before);
    sagoi_lease_give_back(&lease);
}

static bool surely(void *arg, int64_t generation) {
    (void)arg, (void)generation;
    return true;
}

/* Somebody thinks that the owner is dead. */
static void replace_owner(sagoi_lease *second) {
    *second = (sagoi_lease){.owner = {1, 2}, .seconds = LEASE};
    snprintf(second->fence.dir, sizeof second->fence.dir, "%s", root);
    assert_int_equal(sagoi_lease_claim(second, surely, NULL), SAGO_OK);
}

static void lost(void **state) {
    sagoi_lease first, second;
    assert_int_equal(sagoi_lease_take(&first, root, LEASE), SAGO_OK);
    replace_owner(&second);
    assert_int_equal(sagoi_fence_check(&first.fence, 0), SAGO_ERR_BUSY);
    assert_int_equal(sagoi_fence_check(&second.fence, 0), SAGO_OK);
    assert_int_equal(sagoi_fence_tidy(&second.fence, root), SAGO_OK);
    assert_int_equal(sagoi_fence_check(&first.fence, 0), SAGO_ERR_BUSY); /* though its lock is gone */
    inject_clock_shift(THIRD + 1);
    assert_int_equal(sagoi_lease_check(&first), SAGO_ERR_BUSY);
    assert_int_equal(sagoi_lease_check(&first), SAGO_ERR_BUSY);
    sagoi_lease_give_back(&first);
    refused(); /* the second one's lock is still there, and not released */
    sagoi_lease_release(&second);
    granted();
}

/* Old locks go, and nobody takes that for its own being the newest. */
static void older_owners(void **state) {
    sagoi_lease owners[3];
    for (int i = 0; i < 3; i++)
        replace_owner(&owners[i]);
    assert_int_equal(owners[2].fence.generation, 3);
    assert_int_equal(sagoi_fence_tidy(&owners[2].fence, root), SAGO_OK);
    assert_int_equal(access(lock_path, F_OK), -1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(sagoi_fence_check(&owners[i].fence, 0), SAGO_ERR_BUSY);
    assert_int_equal(sagoi_fence_check(&owners[2].fence, sagoi_id_low_of(4, 1)), SAGO_ERR_BUSY);
    assert_int_equal(sagoi_fence_check(&owners[2].fence, sagoi_id_low_of(3, 1)), SAGO_OK);
}

/* A job that was stopped before it made the name of a lock goes on when others have made that lock, and removed
 * it. The owner who had it does not take the new one for its own, and looks at it no more. */
static void old_lock_anew(void **state) {
    sagoi_lease first, others[2];
    assert_int_equal(sagoi_lease_take(&first, root, LEASE), SAGO_OK);
    replace_owner(&others[0]);
    replace_owner(&others[1]);
    assert_int_equal(sagoi_fence_tidy(&others[1].fence, root), SAGO_OK);
    int fd = open(lock_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(close(fd), 0);
    assert_int_equal(sagoi_fence_check(&first.fence, 0), SAGO_ERR_BUSY);
    inject_clock_shift(THIRD + 1);
    assert_int_equal(sagoi_lease_check(&first), SAGO_ERR_BUSY);
    sagoi_lease_give_back(&first);
    refused();
}

/* An owner that was replaced does not get past those who have replaced it; one that was not gets any generation.
 */
static void raised_past_an_owner(void **state) {
    sagoi_lease first, second, third;
    assert_int_equal(sagoi_lease_take(&first, root, LEASE), SAGO_OK);
    replace_owner(&second);
    assert_int_equal(sagoi_lease_raise(&first, 5), SAGO_ERR_BUSY);
    replace_owner(&third);
    assert_int_equal(sagoi_lease_raise(&first, 7), SAGO_ERR_BUSY);
    assert_int_equal(sagoi_fence_check(&second.fence, 0), SAGO_ERR_BUSY);
    assert_int_equal(sagoi_fence_check(&third.fence, 0), SAGO_OK);
    sagoi_lease_give_back(&first);
    sagoi_lease_release(&third);
    sagoi_lease last;
    assert_int_equal(sagoi_lease_take(&last, root, LEASE), SAGO_OK);
    assert_int_equal(last.fence.generation, 4);
    third = last;
    assert_int_equal(sagoi_lease_raise(&last, 9), SAGO_OK);
    assert_int_equal(last.fence.generation, 9);
    assert_int_equal(sagoi_fence_check(&last.fence, 0), SAGO_OK);
    assert_int_equal(sagoi_fence_check(&third.fence, 0), SAGO_ERR_BUSY);
    sagoi_lease_give_back(&last);
}

/* A listing that lacks the own lock does not tell that the directory was lost. */
static void incomplete_listings(void **state) {
    sagoi_lease lease;
    snprintf(hidden, sizeof hidden, "lock.00000001");
    hide = 1;
    assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_OK);
    assert_int_equal(lease.fence.generation, 1);
    hide = 1;
    assert_int_equal(sagoi_fence_check(&lease.fence, 0), SAGO_OK);
    hide = 1000;
    assert_int_equal(sagoi_fence_check(&lease.fence, 0), SAGO_ERR_IO);
    inject_clock_shift(THIRD + 1);
    assert_int_equal(sagoi_lease_check(&lease), SAGO_OK); /* for now */
    hide = 0;
    assert_int_equal(sagoi_lease_check(&lease), SAGO_OK);
    assert_int_equal(unlink(lock_path), 0);
    assert_int_equal(sagoi_fence_check(&lease.fence, 0), SAGO_ERR_NO_FILE);
    sagoi_lease_give_back(&lease);
}

/* Why the lock of another job cannot be read. */
static int refuse_reading(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)len;
    return op->kind == SAGOI_OP_OPEN && strcmp(op->path, lock_path) == 0 ? *(int *)arg : 0;
}

static void cannot_be_read(void **state) {
    sagoi_lease first, second;
    int error = EACCES;
    const file_hooks hooks = {.before = refuse_reading, .arg = &error};
    assert_int_equal(sagoi_lease_take(&first, root, LEASE), SAGO_OK);
    inject_file_hooks(&hooks);
    assert_int_equal(sagoi_lease_take(&second, root, LEASE), SAGO_ERR_BUSY);
    assert_non_null(strstr(sagoi_message(), "lock.00000001 cannot be read"));
    assert_non_null(strstr(sagoi_message(), "Permission denied"));
    error = ENOMEM;
    assert_int_equal(sagoi_lease_take(&second, root, LEASE), SAGO_ERR_MEMORY);
    inject_file_hooks(NULL);
    sagoi_lease_give_back(&first);
}

/* The owner is stopped before it makes a lock, replaced, goes on with that one call, and is killed. */
typedef struct late_raise {
    sagoi_lease *second;
    bool replaced;
} late_raise;

static int replaced_then_killed(void *arg, const sagoi_file_op *op, int64_t *len) {
    late_raise *late = arg;
    (void)len;
    if (op->kind == SAGOI_OP_LINK && !late->replaced) {
        late->replaced = true;
        replace_owner(late->second);
        return 0;
    }
    bool aside = strstr(op->path, SAGOI_ASIDE_SUFFIX) != NULL;
    return op->kind == SAGOI_OP_UNLINK && late->replaced && !aside ? EIO : 0;
}

static void raised_too_late(void **state) {
    sagoi_lease first, second;
    late_raise late = {.second = &second};
    const file_hooks hooks = {.before = replaced_then_killed, .arg = &late};
    assert_int_equal(sagoi_lease_take(&first, root, LEASE), SAGO_OK);
    inject_file_hooks(&hooks);
    assert_int_equal(sagoi_lease_raise(&first, 5), SAGO_ERR_BUSY);
    inject_file_hooks(NULL);
    assert_int_equal(sagoi_fence_check(&second.fence, 0), SAGO_OK);
    sagoi_lease_give_back(&first);
    sagoi_lease_release(&second);
    granted();
}

/* ---- Answers that are lost, links that are unknown ---- */

typedef enum { ANSWER_LOST, ANSWER_REPEATED, NO_LINKS, TAKEN_MEANWHILE } link_fate;

static int strange_link(void *arg, const sagoi_file_op *op, int64_t *len) {
    const link_fate *fate = arg;
    (void)len;
    if (op->kind != SAGOI_OP_LINK)
        return 0;
    if (*fate == NO_LINKS)
        return EPERM;
    if (*fate == TAKEN_MEANWHILE) {
        int fd = open(op->to, O_WRONLY | O_CREAT | O_EXCL, 0600);
        (void)close(fd);
        return EEXIST;
    }
    assert_int_equal(link(op->path, op->to), 0); /* it was done, and nobody says so */
    return *fate == ANSWER_LOST ? EIO : EEXIST;
}

static void strange_links(void **state) {
    link_fate fate;
    const file_hooks hooks = {.before = strange_link, .arg = &fate};
    inject_file_hooks(&hooks);
    for (fate = ANSWER_LOST; fate <= NO_LINKS; fate++) {
        sagoi_lease lease;
        assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_OK);
        assert_int_equal(sagoi_lease_check(&lease), SAGO_OK);
        refused();
        sagoi_lease_give_back(&lease);
    }
    refused(); /* TAKEN_MEANWHILE */
}

static int refuse_lock(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return strstr(op->path, "/lock.") ? EIO : 0;
}

/* The directory is out of reach for a while: no harm until the time of the lease is over. */
static void out_of_reach(void **state) {
    static const file_hooks hooks = {.before = refuse_lock};
    sagoi_lease lease;
    assert_int_equal(sagoi_lease_take(&lease, root, LEASE), SAGO_OK);
    inject_file_hooks(&hooks);
    inject_clock_shift(THIRD + 1);
    assert_int_equal(sagoi_lease_check(&lease), SAGO_OK);
    assert_string_equal(sagoi_message(), "");
    inject_clock_shift(LEASE);
    assert_int_equal(sagoi_lease_check(&lease), SAGO_ERR_IO);
    inject_file_hooks(NULL);
    assert_int_equal(sagoi_lease_check(&lease), SAGO_OK); /* nobody has taken it */
    sagoi_lease_give_back(&lease);
}

/* ---- From before there were generations ---- */

static void old_lock(void **state) {
    snprintf(lock_path, sizeof lock_path, "%s/" SAGOI_OLD_LOCK_NAME, root);
    leave_lock(0);
    refused();
    assert_int_equal(sagoi_lease_check_old(root, LEASE), SAGO_ERR_BUSY);
    leave_lock(LEASE + 5);
    after_time(false, granted);
    assert_int_equal(unlink(lock_path), 0);
    assert_int_equal(sagoi_lease_check_old(root, LEASE), SAGO_OK);
}

/* ---- A slow disk ---- */

typedef struct slow_job {
    pthread_t thread;
    sagoi_lease lease;
    sago_status status;
} slow_job;

static _Thread_local int slow_at = -1; /* the operation of this thread that takes long */

static int be_slow(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)op, (void)len;
    if (slow_at >= 0 && slow_at-- == 0)
        (void)usleep(400000);
    return 0;
}

static int slow_operation;

static void *take_slowly(void *arg) {
    slow_job *job = arg;
    slow_at = slow_operation;
    job->status = sagoi_lease_take(&job->lease, root, LEASE);
    slow_at = -1;
    return NULL;
}

/* Whatever operation of taking it takes 400 ms: another job that comes meanwhile gets it, or does not, but never
 * both. */
static void slow_disk(void **state) {
    static const file_hooks hooks = {.before = be_slow};
    inject_file_hooks(&hooks);
    for (slow_operation = 0; slow_operation < 16; slow_operation++) {
        slow_job job = {.status = SAGO_OK};
        sagoi_lease other;
        assert_int_equal(pthread_create(&job.thread, NULL, take_slowly, &job), 0);
        (void)usleep(50000);
        sago_status status = sagoi_lease_take(&other, root, LEASE);
        assert_int_equal(pthread_join(job.thread, NULL), 0);
        assert_true((status == SAGO_OK) != (job.status == SAGO_OK));
        assert_true((status == SAGO_ERR_BUSY) != (job.status == SAGO_ERR_BUSY));
        sagoi_lease *owner = status ? &job.lease : &other;
        assert_int_equal(sagoi_lease_check(owner), SAGO_OK);
        sagoi_lease_give_back(owner);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_live_jobs, make_root, remove_root),
        cmocka_unit_test_setup_teardown(dead_job, make_root, remove_root),
        cmocka_unit_test_setup_teardown(job_elsewhere, make_root, remove_root),
        cmocka_unit_test_setup_teardown(clocks_differ, make_root, remove_root),
        cmocka_unit_test_setup_teardown(renewed_meanwhile, make_root, remove_root),
        cmocka_unit_test_setup_teardown(lost, make_root, remove_root),
        cmocka_unit_test_setup_teardown(older_owners, make_root, remove_root),
        cmocka_unit_test_setup_teardown(old_lock_anew, make_root, remove_root),
        cmocka_unit_test_setup_teardown(raised_past_an_owner, make_root, remove_root),
        cmocka_unit_test_setup_teardown(incomplete_listings, make_root, remove_root),
        cmocka_unit_test_setup_teardown(cannot_be_read, make_root, remove_root),
        cmocka_unit_test_setup_teardown(raised_too_late, make_root, remove_root),
        cmocka_unit_test_setup_teardown(strange_links, make_root, remove_root),
        cmocka_unit_test_setup_teardown(old_lock, make_root, remove_root),
        cmocka_unit_test_setup_teardown(slow_disk, make_root, remove_root),
        cmocka_unit_test_setup_teardown(out_of_reach, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
