/* Owners of a directory, as programs.  Without arguments: a directory of the format from before there were
 * generations is opened, and is one of today's afterwards.  scripts/test_ckpt_stop.sh lets one owner stop itself
 * before an operation, another take over, and the first go on:
 *     test_ckpt_owner stop DIR OPERATION HINTS    saves, stops before that operation of a save or removal, goes on
 *     test_ckpt_owner next DIR                    takes over and saves twice
 *     test_ckpt_owner check DIR                   everything is the first one's up to there, the second one's then
 */
/* RUN: n=1,2 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <xxhash.h>

#include "ckpt/clock.h"
#include "system/files.h"
#include "ckpt/record.h"
#include "mpi/ckpt_model.h"
#include "support/inject.h"

enum { FIRST = 1000, SECOND = 2000, ROOM = 16 };

static double value;

static sago_status open_dir(const char *dir, const char *hints, sago_ckpt **ckpt) {
    MPI_Info info = hints_of(hints);
    sago_status status = sago_ckpt_open(MPI_COMM_WORLD, dir, info, ckpt);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (!status)
        CHECK_OK(sago_ckpt_protect_local(*ckpt, "value", &value, sizeof value));
    return status;
}

static sago_status save(sago_ckpt *ckpt, int64_t step, int owner) {
    value = owner + (double)step;
    sago_status status = sago_ckpt_save(ckpt, step);
    return status ? status : sago_ckpt_wait(ckpt, step, SAGO_LEVEL_GLOBAL);
}

static int64_t latest_of(sago_ckpt *ckpt) {
    int64_t step = -1;
    CHECK_OK(sago_ckpt_latest(ckpt, SAGO_LEVEL_GLOBAL, &step));
    return step;
}

static void check_step(sago_ckpt *ckpt, int64_t step, int owner) {
    value = 0;
    CHECK_OK(sago_ckpt_restore(ckpt, step));
    CHECK_INT((int64_t)value, owner + step);
}

/* What the owners tell each other, and the script: numbers in files beside the directory. */
static void write_number(const char *dir, const char *what, int64_t number) {
    char path[CHECK_PATH_MAX];
    snprintf(path, sizeof path, "%s.%s", dir, what);
    FILE *file = fopen(path, "w");
    CHECK(file && fprintf(file, "%lld\n", (long long)number) > 0 && fclose(file) == 0);
}

static int64_t read_number(const char *dir, const char *what) {
    char path[CHECK_PATH_MAX];
    long long number = -1;
    snprintf(path, sizeof path, "%s.%s", dir, what);
    FILE *file = fopen(path, "r");
    CHECK(file && fscanf(file, "%lld", &number) == 1 && fclose(file) == 0);
    return number;
}

/* ---- The first owner ---- */

static atomic_int operations;

static int stop_before(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)op, (void)len;
    if (atomic_fetch_sub(&operations, 1) == 1)
        (void)kill(getpid(), SIGSTOP);
    return 0;
}

/* What happens after it was replaced is an error that says so, or nothing that counts. */
static void go_on(sago_ckpt *ckpt, const char *dir, int64_t step) {
    sago_status status = save(ckpt, step, FIRST);
    if (!status)
        write_number(dir, "told", step);
    if (!status || status == SAGO_ERR_BUSY || status == SAGO_ERR_NO_FILE)
        return;
    printf("failed: step %lld: %s: %s\n", (long long)step, sago_status_string(status), sago_error_message());
    failures++;
}

static void be_stopped(const char *dir, int at, const char *hints) {
    const file_hooks hooks = {.before = stop_before};
    sago_ckpt *ckpt = NULL;
    CHECK_OK(open_dir(dir, hints, &ckpt));
    for (int64_t step = 1; step <= 2; step++)
        CHECK_OK(save(ckpt, step, FIRST));
    write_number(dir, "told", 2);
    write_number(dir, "pid", getpid());
    atomic_store(&operations, at);
    inject_file_hooks(&hooks);
    for (int64_t step = 3; step <= 5; step++)
        go_on(ckpt, dir, step);
    sago_status status = sago_ckpt_close(&ckpt);
    CHECK(status == SAGO_OK || status == SAGO_ERR_BUSY || status == SAGO_ERR_NO_FILE);
    inject_file_hooks(NULL);
    printf("%d operations\n", at - atomic_load(&operations));
}

/* ---- The second owner ---- */

static atomic_bool opened;

/* Who watches a lock that looks old need not wait long here. */
static void *pass_time(void *arg) {
    while (!atomic_load(&opened)) {
        inject_clock_shift(3600);
        usleep(100000);
    }
    return arg;
}

static void take_over(const char *dir) {
    sago_ckpt *ckpt = NULL;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, pass_time, NULL) == 0);
    CHECK_OK(open_dir(dir, "sago_ckpt_keep_global=0", &ckpt));
    atomic_store(&opened, true);
    pthread_join(thread, NULL);
    int64_t step = ckpt ? latest_of(ckpt) : -1;
    write_number(dir, "start", step);
    CHECK(step >= 2);
    CHECK_OK(save(ckpt, step + 1, SECOND));
    CHECK_OK(save(ckpt, step + 2, SECOND));
    CHECK_OK(sago_ckpt_close(&ckpt));
}

/* ---- What is left ---- */

static void check_all(const char *dir, const char *hints, int64_t start) {
    sago_ckpt *ckpt = NULL;
    sago_ckpt_step steps[ROOM];
    int64_t n = ROOM;
    CHECK_OK(open_dir(dir, hints, &ckpt));
    CHECK_INT(latest_of(ckpt), start + 2);
    CHECK_OK(sago_ckpt_list(ckpt, &n, steps));
    for (int64_t i = 0; i < n && i < ROOM; i++)
        if (steps[i].complete[SAGO_LEVEL_GLOBAL])
            check_step(ckpt, steps[i].step, steps[i].step > start ? SECOND : FIRST);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static void check_left(const char *dir) {
    int64_t start = read_number(dir, "start");
    CHECK(read_number(dir, "told") <= start); /* what was told to be complete is where the second one began */
    check_all(dir, "sago_ckpt_read_only=on", start);
    check_all(dir, "sago_ckpt_keep_global=0", start); /* a third owner */
    check_all(dir, "sago_ckpt_read_only=on", start);
}

/* ---- Replaced at the last moment ---- */

/* Another job takes the directory while this one's last call, which it was allowed to make, is under way. */
static int replace_owner(void *arg, const sagoi_file_op *op, int64_t *len) {
    char path[2 * CHECK_PATH_MAX];
    (void)len;
    size_t end = op->kind == SAGOI_OP_RENAME ? strlen(op->to) : 0;
    if (end < 5 || strcmp(op->to + end - 5, ".part") != 0)
        return 0;
    snprintf(path, sizeof path, "%s/lock.00000002", (const char *)arg);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    return 0;
}

static void replaced_late(void) {
    sago_ckpt *ckpt = NULL;
    char dir[CHECK_PATH_MAX];
    snprintf(dir, sizeof dir, "%s", scratch("late"));
    const file_hooks hooks = {.before = replace_owner, .arg = dir};
    CHECK_OK(open_dir(dir, "", &ckpt));
    inject_file_hooks(&hooks);
    EXPECT(save(ckpt, 1, FIRST), SAGO_ERR_BUSY, "another job owns the directory now", 0);
    CHECK_OK(sago_ckpt_close(&ckpt));
    inject_file_hooks(NULL);
}

/* ---- An old directory ---- */

/* The directory record with the version of today, or with version 1. */
static void set_version(const char *dir, uint32_t version) {
    char path[CHECK_PATH_MAX], *bytes = NULL;
    int64_t len = 0;
    snprintf(path, sizeof path, "%s/sago-ckpt", dir);
    CHECK(sagoi_cfile_load(path, 4096, &bytes, &len) == SAGO_OK);
    memcpy(bytes + 12, &version, sizeof version);
    XXH128_hash_t sum = XXH3_128bits(bytes, (size_t)len - 16);
    memcpy(bytes + len - 16, &sum.low64, 8);
    memcpy(bytes + len - 8, &sum.high64, 8);
    CHECK(sagoi_cfile_publish(dir, "sago-ckpt", bytes, len) == SAGO_OK);
    free(bytes);
}

static uint32_t version_of(const char *dir) {
    char path[CHECK_PATH_MAX], *bytes = NULL;
    int64_t len = 0;
    uint32_t version = 0;
    snprintf(path, sizeof path, "%s/sago-ckpt", dir);
    CHECK(sagoi_cfile_load(path, 4096, &bytes, &len) == SAGO_OK);
    memcpy(&version, bytes + 12, sizeof version);
    free(bytes);
    return version;
}

static void touch(const char *path, int64_t age) {
    struct timeval now, times[2];
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, "?", 1) == 1 && close(fd) == 0);
    gettimeofday(&now, NULL);
    times[0] = times[1] = (struct timeval){now.tv_sec - age, 0};
    CHECK(utimes(path, times) == 0);
}

static void make_old(const char *dir) {
    char command[4 * CHECK_PATH_MAX];
    snprintf(command, sizeof command, "rm '%s'/lock.* '%s'/found.*", dir, dir);
    CHECK(system(command) == 0);
    set_version(dir, 1);
}

static void old_directory(void) {
    sago_ckpt *ckpt = NULL;
    char dir[CHECK_PATH_MAX], lock[2 * CHECK_PATH_MAX];
    snprintf(dir, sizeof dir, "%s", scratch("ckpt"));
    snprintf(lock, sizeof lock, "%s/lock", dir);
    CHECK_OK(open_dir(dir, "", &ckpt));
    CHECK_OK(save(ckpt, 1, FIRST));
    CHECK_OK(sago_ckpt_close(&ckpt));
    if (rank == 0) {
        CHECK_INT(version_of(dir), 2);
        make_old(dir);
        touch(lock, 0);
    }
    meet();
    CHECK_OK(open_dir(dir, "sago_ckpt_read_only=on", &ckpt));
    check_step(ckpt, 1, FIRST);
    CHECK_OK(sago_ckpt_close(&ckpt));
    EXPECT(open_dir(dir, "", &ckpt), SAGO_ERR_BUSY, "which job uses the directory", 0);
    meet();
    if (rank == 0) {
        CHECK_INT(version_of(dir), 1);
        CHECK(unlink(lock) == 0);
    }
    meet();
    CHECK_OK(open_dir(dir, "", &ckpt));
    check_step(ckpt, 1, FIRST);
    CHECK_OK(save(ckpt, 2, FIRST));
    CHECK_OK(sago_ckpt_close(&ckpt));
    if (rank == 0) {
        CHECK_INT(version_of(dir), 2);
        set_version(dir, 3);
    }
    meet();
    EXPECT(open_dir(dir, "", &ckpt), SAGO_ERR_UNSUPPORTED, "format version 3", 0);
    EXPECT(open_dir(dir, "sago_ckpt_read_only=on", &ckpt), SAGO_ERR_UNSUPPORTED, "format version 3", 0);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const char *role = argc > 1 ? argv[1] : "";
    if (strcmp(role, "stop") == 0 && argc > 4)
        be_stopped(argv[2], atoi(argv[3]), argv[4]);
    else if (strcmp(role, "next") == 0 && argc > 2)
        take_over(argv[2]);
    else if (strcmp(role, "check") == 0 && argc > 2)
        check_left(argv[2]);
    else {
        old_directory();
        replaced_late();
    }
    return check_end();
}
