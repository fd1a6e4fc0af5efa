/* Error paths: short transfers, EINTR, EIO, a full disk, a refused O_DIRECT, a ring that breaks or is taken. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "store/transfer.h"
#include "store_fixture.h"
#include "support/inject.h"

/* How the injected calls behave; counted down or up by them. */
static struct {
    int calls;
    int fail_at, error; /* the call with this number fails with error */
    int syncs;
} faults;

static void faults_set(int fail_at, int error) {
    memset(&faults, 0, sizeof faults);
    faults.fail_at = fail_at;
    faults.error = error;
}

static bool moves(const sagoi_file_op *op) { return op->kind == SAGOI_OP_WRITE || op->kind == SAGOI_OP_READ; }

/* Every third call is interrupted, the others move at most seven bytes. */
static int move_a_little(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg;
    if (!moves(op))
        return 0;
    *len = *len < 7 ? *len : 7;
    return faults.calls++ % 3 == 0 ? EINTR : 0;
}

static int move_or_fail(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return moves(op) && faults.calls++ == faults.fail_at ? faults.error : 0;
}

static int write_nothing(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg;
    *len = op->kind == SAGOI_OP_WRITE ? 0 : *len;
    return 0;
}

static int sync_fails_once(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)len;
    return op->kind == SAGOI_OP_SYNC && faults.syncs++ == 0 ? *(const int *)arg : 0;
}

static int faults_teardown(void **state) {
    inject_file_hooks(NULL);
    return 0;
}

static void little_by_little(void **state) {
    fixture *f = *state;
    file_hooks hooks = {.before = move_a_little};
    for (int w = 0; w < WAYS; w++) {
        faults_set(-1, 0);
        inject_file_hooks(&hooks);
        sagoi_store *store = fixture_open(f, 0, &ways[w]);
        char buf[300], model[1000] = {0};
        for (int i = 0; i < 300; i++)
            buf[i] = (char)(i + 1);
        sagoi_io_run runs[] = {{0, 100, buf}, {100, 50, buf + 120}, {300, 100, buf + 200}};
        assert_int_equal(sagoi_store_write(store, runs, 3), SAGO_OK);
        assert_true(faults.calls > 40); /* io_uring does not get round them */
        for (int i = 0; i < 3; i++)
            memcpy(model + runs[i].off, runs[i].buf, (size_t)runs[i].len);
        assert_file_is(f->path, model, 400);
        sagoi_io_run whole = {100, 400, NULL};
        char *memory = whole.buf = calloc(1, 400);
        int64_t bytes = 0;
        assert_int_equal(sagoi_store_read(store, &whole, 1, &bytes), SAGO_OK);
        assert_int_equal(bytes, 300);
        assert_memory_equal(memory, model + 100, 400);
        free(memory);
        assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    }
}

static void failures_say_where(void **state) {
    fixture *f = *state;
    file_hooks hooks = {.before = move_or_fail};
    inject_file_hooks(&hooks);
    sagoi_store *store = fixture_open(f, 0, &ways[1]);
    static char buf[4096 * 4];
    memset(buf, 1, sizeof buf);
    sagoi_io_run runs[] = {{0, 4096, buf}, {8192, 4096, buf + 4096}, {16384, 4096, buf + 8192}};
    char expected[600];
    faults_set(1, ENOSPC);
    assert_int_equal(sagoi_store_write(store, runs, 3), SAGO_ERR_NO_SPACE);
    (void)snprintf(expected, sizeof expected, "write of 4096 bytes at offset 8192 of %s: No space left on device",
                   f->path);
    assert_string_equal(sagoi_message(), expected);
    assert_int_equal(faults.calls, 2); /* nothing is begun after the failure */
    assert_file_is(f->path, buf, 4096);
    faults_set(0, EDQUOT);
    assert_int_equal(sagoi_store_write(store, runs, 3), SAGO_ERR_QUOTA);
    faults_set(2, EIO);
    assert_int_equal(sagoi_store_write(store, runs, 3), SAGO_ERR_IO);
    faults_set(1, EIO);
    int64_t bytes = -5;
    assert_int_equal(sagoi_store_read(store, runs, 2, &bytes), SAGO_ERR_IO);
    (void)snprintf(expected, sizeof expected, "read of 4096 bytes at offset 8192 of %s: Input/output error",
                   f->path);
    assert_string_equal(sagoi_message(), expected);
    assert_int_equal(bytes, -5); /* set on success only */
    file_hooks nothing = {.before = write_nothing};
    inject_file_hooks(&nothing);
    assert_int_equal(sagoi_store_write(store, runs, 3), SAGO_ERR_NO_SPACE); /* and does not hang */
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

static void failing_marks_stop(void **state) {
    fixture *f = *state;
    file_hooks hooks = {.before = move_or_fail};
    inject_file_hooks(&hooks);
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    static char buf[64000];
    static uint64_t marks[1000];
    for (int i = 0; i < 1000; i++)
        marks[i] = 1;
    faults_set(300, EIO); /* in the second batch */
    assert_int_equal(sagoi_store_write_marked(store, buf, 0, sizeof buf, marks, (sagoi_sieve){0, 0}), SAGO_ERR_IO);
    assert_non_null(strstr(sagoi_message(), "write of 1 bytes at offset 19200 of"));
    assert_int_equal(faults.calls, 301);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

static void a_failed_sync_stays_failed(void **state) {
    fixture *f = *state;
    int error = EIO;
    file_hooks hooks = {.before = sync_fails_once, .arg = &error};
    inject_file_hooks(&hooks);
    faults_set(-1, 0);
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    assert_int_equal(sagoi_store_sync(store), SAGO_ERR_IO);
    assert_non_null(strstr(sagoi_message(), f->path));
    assert_int_equal(sagoi_store_sync(store), SAGO_ERR_IO);
    assert_int_equal(faults.syncs, 1);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    error = EINTR;
    inject_file_hooks(&hooks);
    faults_set(-1, 0);
    store = fixture_open(f, 0, &ways[0]);
    assert_int_equal(sagoi_store_sync(store), SAGO_OK);
    assert_int_equal(faults.syncs, 2);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

/* ---- A disk that is really full ---- */

/* Runs that fit and runs that do not: what is in the file is either untouched or what was to be written. */
static void fill_disk(fixture *f, const way *how) {
    enum { RUNS = 64, LEN = 6000, STEP = 12000 };
    static char buf[RUNS * LEN], old[RUNS * STEP];
    static sagoi_io_run runs[RUNS];
    memset(buf, 'n', sizeof buf);
    memset(old, 'o', sizeof old);
    sagoi_store *store = fixture_open(f, 0, how);
    sagoi_io_run before = {0, 100000, old};
    assert_int_equal(sagoi_store_write(store, &before, 1), SAGO_OK);
    for (int i = 0; i < RUNS; i++)
        runs[i] = (sagoi_io_run){3000 + (int64_t)i * STEP, LEN, buf + i * LEN};
    assert_int_equal(sagoi_store_write(store, runs, RUNS), SAGO_ERR_NO_SPACE);
    assert_non_null(strstr(sagoi_message(), "No space left on device"));
    int64_t size;
    char *now = file_contents(f->path, &size);
    for (int64_t i = 0; i < size; i++) {
        bool ours = i >= 3000 && (i - 3000) % STEP < LEN;
        char was = i < 100000 ? 'o' : 0;
        if (now[i] != was && !(ours && now[i] == 'n'))
            fail_msg("%s: byte %lld is %d", how->name, (long long)i, now[i]);
    }
    free(now);
    assert_int_equal(sagoi_store_resize(store, 1000), SAGO_OK);
    assert_int_equal(sagoi_store_allocate(store, 1 << 20), SAGO_ERR_NO_SPACE);
    assert_int_equal(sagoi_store_size(store, &size), SAGO_OK);
    assert_int_equal(size, 1000);
    assert_int_equal(sagoi_store_resize(store, 0), SAGO_OK);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

static void a_full_tmpfs(void **state) {
    fixture *f = *state;
    if (!place_mount(f, "tmpfs", "size=256k"))
        skip();
    for (int w = 0; w < WAYS; w++)
        fill_disk(f, &ways[w]);
}

/* A small disk in a file: O_DIRECT is real there, and so is the space a failed allocation leaves behind. */
static void a_full_ext4(void **state) {
    fixture *f = *state;
    char command[700];
    (void)snprintf(command, sizeof command,
                   "{ cd %s && truncate -s 400K image && PATH=$PATH:/sbin mkfs.ext4 -q -F -b 1024 -m 0 -N 16 "
                   "-O ^has_journal image && mount -o loop image %s; } 2>/dev/null",
                   f->place[1], f->place[0]);
    if (!place_mount(f, "tmpfs", NULL) || system(command) != 0)
        skip();
    for (int w = 0; w < WAYS; w++)
        fill_disk(f, &ways[w]);
    assert_int_equal(umount(f->place[0]), 0);
}

/* The limit cuts a write short, then fails it: short completions of io_uring, without root. */
static void a_limited_file_size(void **state) {
    fixture *f = *state;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    static char buf[40000];
    memset(buf, 'x', sizeof buf);
    for (int w = 0; w < WAYS; w++) {
        sagoi_store *store = fixture_open(f, 1, &ways[w]);
        limit = before;
        limit.rlim_cur = 25001;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        sagoi_io_run runs[] = {{0, 10000, buf}, {20000, 10000, buf + 20000}};
        sago_status status = sagoi_store_write(store, runs, 2);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, SAGO_ERR_IO);
        assert_non_null(strstr(sagoi_message(), "write of 4999 bytes at offset 25001 of"));
        assert_int_equal(sagoi_store_counters(store).bytes_written, 15001);
        memset(buf + 10000, 0, 10000);
        assert_file_is(f->path, buf, 25001);
        memset(buf, 'x', sizeof buf);
        assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    }
}

/* ---- O_DIRECT ---- */

static int direct_calls;

static bool writes_direct(const sagoi_file_op *op) {
    return op->kind == SAGOI_OP_WRITE && fcntl(op->fd, F_GETFL) & O_DIRECT;
}

static int refuse_direct(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    direct_calls += writes_direct(op);
    return writes_direct(op) ? EINVAL : 0;
}

static int watch_direct(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg;
    if (!writes_direct(op))
        return 0;
    direct_calls++;
    assert_int_equal(op->off % 4096, 0);
    assert_int_equal(*len % 4096, 0);
    *len = *len > 8192 ? 8192 : *len;
    return 0;
}

static void direct_round(fixture *f, sagoi_store *store) {
    char *buf = NULL;
    assert_int_equal(posix_memalign((void **)&buf, 4096, 65536), 0);
    uint64_t seed = 99;
    random_fill(&seed, buf, 65536);
    sagoi_io_run runs[] = {{0, 1000, buf}, {1000, 30000, buf + 1000}, {31000, 34536, buf + 31000}};
    assert_int_equal(sagoi_store_write(store, runs, 3), SAGO_OK);
    runs[0] = (sagoi_io_run){100, 64000, buf + 100};
    assert_int_equal(sagoi_store_write(store, runs, 1), SAGO_OK);
    assert_file_is(f->path, buf, 65536);
    free(buf);
}

static void direct_takes_the_aligned_part(void **state) {
    fixture *f = *state;
    sagoi_store *store = fixture_open(f, 1, &ways[2]);
    if (store->direct.fd < 0) {
        assert_int_equal(sagoi_store_close(&store), SAGO_OK);
        skip();
    }
    file_hooks hooks = {.before = watch_direct};
    inject_file_hooks(&hooks);
    direct_calls = 0;
    direct_round(f, store);
    assert_int_equal(direct_calls, 8 + 7); /* 16 and 14 units, two a call; the runs are one in file and memory */
    hooks.before = refuse_direct;
    inject_file_hooks(&hooks);
    direct_calls = 0;
    direct_round(f, store);
    assert_int_equal(direct_calls, 1); /* once, and then never again */
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

/* ---- The ring ---- */

static void write_many(fixture *f, sagoi_store *store) {
    enum { RUNS = 1000 };
    static sagoi_io_run runs[RUNS];
    static char buf[RUNS * 10], model[RUNS * 20];
    uint64_t seed = 5;
    random_fill(&seed, buf, sizeof buf);
    memset(model, 0, sizeof model);
    for (int i = 0; i < RUNS; i++) {
        runs[i] = (sagoi_io_run){(int64_t)i * 20, 10, buf + i * 10};
        memcpy(model + i * 20, runs[i].buf, 10);
    }
    assert_int_equal(sagoi_store_write(store, runs, RUNS), SAGO_OK);
    assert_file_is(f->path, model, (RUNS - 1) * 20 + 10);
}

/* Somebody closes all descriptors, ours too, and gets the number for another file. */
static void a_broken_ring_is_replaced_by_calls(void **state) {
    fixture *f = *state;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), low = dup(null);
    (void)close(low);
    sagoi_store *store = fixture_open(f, 0, &ways[1]); /* the file is `low`, the ring the next */
    if (!sagoi_uring_usable(store->uring)) {
        assert_int_equal(sagoi_store_close(&store), SAGO_OK);
        skip();
    }
    assert_int_equal(sagoi_store_fd(store), low);
    assert_true(dup2(null, low + 1) == low + 1);
    write_many(f, store);
    assert_false(sagoi_uring_usable(store->uring));
    assert_int_equal(sagoi_store_resize(store, 0), SAGO_OK);
    write_many(f, store);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    (void)close(null);
}

/* Room for one descriptor: neither a ring nor O_DIRECT can be had, and both do without. */
static void a_refused_ring_is_replaced_by_calls(void **state) {
    fixture *f = *state;
    int next = dup(0);
    (void)close(next);
    struct rlimit before, one;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    one = before;
    one.rlim_cur = (rlim_t)next + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &one), 0);
    sagoi_store *store = fixture_open(f, 1, &ways[3]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(sagoi_uring_usable(store->uring));
    assert_int_equal(store->direct.fd, -1);
    write_many(f, store);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

typedef struct side {
    sagoi_store *store;
    int64_t base;
    char *buf;
    sago_status status;
} side;

static void *side_main(void *argument) {
    enum { RUNS = 300 };
    side *s = argument;
    sagoi_io_run runs[RUNS];
    for (int round = 0; round < 20 && s->status == SAGO_OK; round++) {
        for (int i = 0; i < RUNS; i++)
            runs[i] = (sagoi_io_run){s->base + i * 20, 10, s->buf + i * 10};
        s->status = sagoi_store_write(s->store, runs, RUNS);
        (void)sagoi_store_counters(s->store);
    }
    return NULL;
}

static void two_threads_share_a_store(void **state) {
    fixture *f = *state;
    sagoi_store *store = fixture_open(f, 0, &ways[1]);
    static char buf[2][3000], model[2 * 6000];
    side sides[2];
    pthread_t threads[2];
    memset(model, 0, sizeof model);
    for (int t = 0; t < 2; t++) {
        memset(buf[t], 'a' + t, sizeof buf[t]);
        sides[t] = (side){store, t * 6000, buf[t], SAGO_OK};
        for (int i = 0; i < 300; i++)
            memset(model + t * 6000 + i * 20, 'a' + t, 10);
        assert_int_equal(pthread_create(&threads[t], NULL, side_main, &sides[t]), 0);
    }
    for (int t = 0; t < 2; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(sides[t].status, SAGO_OK);
    }
    assert_file_is(f->path, model, 2 * 6000 - 10);
    assert_int_equal(sagoi_store_counters(store).bytes_written, 2 * 20 * 3000);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(little_by_little, faults_teardown),
        cmocka_unit_test_teardown(failures_say_where, faults_teardown),
        cmocka_unit_test_teardown(failing_marks_stop, faults_teardown),
        cmocka_unit_test_teardown(a_failed_sync_stays_failed, faults_teardown),
        cmocka_unit_test_teardown(direct_takes_the_aligned_part, faults_teardown),
        cmocka_unit_test(a_limited_file_size),
        cmocka_unit_test(a_broken_ring_is_replaced_by_calls),
        cmocka_unit_test(a_refused_ring_is_replaced_by_calls),
        cmocka_unit_test(two_threads_share_a_store),
        cmocka_unit_test_teardown(a_full_tmpfs, place_unmount),
        cmocka_unit_test_teardown(a_full_ext4, place_unmount),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
