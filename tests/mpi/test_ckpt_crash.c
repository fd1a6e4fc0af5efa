/* Crashes of whole jobs, replayed: three ranks with storage of their own save on all levels (XOR between them),
 * each records its file operations, from opening on; a crash is a prefix of each rank's, of which everything
 * unsynced is kept, dropped or torn for itself (unit/ckpt/crash.h).  Then a storage device may be lost, too.  The
 * directories are opened and restored from: what was reported comes back, and whatever counts as complete is
 * right. What is left has the names of what was, since beside that it would be a copy, which has no storage on the
 * nodes. test_ckpt_crash VECTORS */
/* RUN: n=3 12 */
/* RUN-LONG: n=3 2000 */
#include <pthread.h>

#include "mpi/ckpt_model.h"
#include "support/inject.h"
#include "unit/ckpt/crash.h"

enum { STEPS = 3, INODES = CRASH_FILES / CRASH_WRITERS };
#define HINTS "sago_local_dirs=local sago_ckpt_files=3 sago_ckpt_redundancy=xor sago_ckpt_keep_local=0"

static model m;
static decomposition d;
static crash_log *records; /* this rank's; on rank 0 everybody's in the end */
static pthread_mutex_t records_lock = PTHREAD_MUTEX_INITIALIZER;
static char home[CHECK_PATH_MAX]; /* this rank's, while recording */

/* ---- Recording ---- */

static const char *whole_path(const char *path, char room[2 * CHECK_PATH_MAX]) {
    if (!path || path[0] == '/')
        return path;
    snprintf(room, 2 * CHECK_PATH_MAX, "%s/%s", home, path);
    return room;
}

/* The rank and its thread come here.  The lock is the living job's, and goes with it. */
static void record(void *arg, const sagoi_file_op *done) {
    char path[2 * CHECK_PATH_MAX], to[2 * CHECK_PATH_MAX];
    sagoi_file_op op = *done;
    if (strstr(done->path, "/lock"))
        return;
    op.path = whole_path(done->path, path);
    op.to = whole_path(done->to, to);
    pthread_mutex_lock(&records_lock);
    crash_record(arg, &op);
    pthread_mutex_unlock(&records_lock);
}

static void mark(int kind, int64_t number) {
    pthread_mutex_lock(&records_lock);
    crash_mark(records, rank, kind, number);
    pthread_mutex_unlock(&records_lock);
}

/* After a collective call: nobody is past it who has not seen all others come to it. */
static void passed(void) {
    static int64_t calls;
    mark(CRASH_BARRIER, ++calls);
}

static sago_ckpt *open_dir(const char *root) {
    sago_ckpt *ckpt = NULL;
    char dir[2 * CHECK_PATH_MAX];
    snprintf(dir, sizeof dir, "%s/ckpt", root);
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, dir, HINTS, &ckpt));
    return ckpt;
}

static void save_step(sago_ckpt *ckpt, int64_t step) {
    visit_all(&m, &d, step, fill_byte);
    CHECK_OK(sago_ckpt_save(ckpt, step));
    passed();
    for (int level = SAGO_LEVEL_LOCAL; level < SAGO_LEVEL_COUNT; level++) {
        CHECK_OK(sago_ckpt_wait(ckpt, step, (sago_level)level));
        passed();
        mark(CRASH_REPORTED, step * SAGO_LEVEL_COUNT + level);
    }
    if (step == 1)
        return;
    CHECK_OK(sago_ckpt_remove(ckpt, step - 1));
    passed();
}

static void go_home(const char *root) {
    char folder[2 * CHECK_PATH_MAX];
    meet();
    snprintf(folder, sizeof folder, "%s/node-%d", root, rank);
    CHECK(chdir(folder) == 0);
    meet();
}

/* Nobody is in the folder any more. */
static void leave_and_remove(const char *root) {
    CHECK(chdir("/") == 0);
    meet();
    if (rank == 0)
        remove_tree(root);
    meet();
}

static void record_job(const char *root) {
    char folder[2 * CHECK_PATH_MAX];
    file_hooks hooks = {.after = record, .arg = records};
    for (int i = 0; i < ranks && rank == 0; i++) {
        snprintf(folder, sizeof folder, "mkdir -p '%s/node-%d/local'", root, i);
        CHECK(system(folder) == 0);
    }
    go_home(root);
    CHECK(getcwd(home, sizeof home) != NULL);
    records->writer = rank;
    inject_file_hooks(&hooks);
    sago_ckpt *ckpt = open_dir(root);
    passed();
    protect_arrays(&m, &d, ckpt);
    for (int64_t step = 1; step <= STEPS && failures == 0; step++)
        save_step(ckpt, step);
    inject_file_hooks(NULL); /* closing writes nothing: all is on all levels */
    CHECK_OK(sago_ckpt_close(&ckpt));
}

/* ---- Everybody's operations to rank 0 ---- */

static void send_text(const char *text) {
    int len = text ? (int)strlen(text) + 1 : 0;
    MPI_Send(&len, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Send(text, len, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
}

static char *receive_bytes(int from, int len) {
    char *bytes = len > 0 ? malloc((size_t)len) : NULL;
    MPI_Recv(bytes, len, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return bytes;
}

static char *receive_text(int from) {
    int len;
    MPI_Recv(&len, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return receive_bytes(from, len);
}

static void send_records(void) {
    MPI_Send(&records->n[rank], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    for (int i = 0; i < records->n[rank]; i++) {
        const crash_op *op = &records->ops[rank][i];
        MPI_Send(op, sizeof *op, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        send_text(op->path);
        send_text(op->to);
        MPI_Send(op->data, op->data ? (int)op->len : 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

/* Files of different ranks are different ones, though each has counted them from 0. */
static void receive_records(int from) {
    MPI_Recv(&records->n[from], 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < records->n[from]; i++) {
        crash_op *op = &records->ops[from][i];
        MPI_Recv(op, sizeof *op, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        op->path = receive_text(from);
        op->to = receive_text(from);
        op->data = receive_bytes(from, op->data ? (int)op->len : 0);
        op->inode += op->inode >= 0 ? from * INODES : 0;
    }
}

static void collect(void) {
    CHECK(records->ninodes < INODES);
    for (int from = 1; rank == 0 && from < ranks; from++)
        receive_records(from);
    if (rank != 0)
        send_records();
}

/* ---- A crash ---- */

/* The newest number of any rank: it was told only after all had agreed. */
static int64_t newest_report(const int *end, int64_t at_least) {
    int64_t newest = 0;
    for (int w = 0; w < ranks; w++)
        for (int i = 0; i < end[w]; i++) {
            const crash_op *op = &records->ops[w][i];
            if (op->kind == CRASH_REPORTED && op->number % SAGO_LEVEL_COUNT >= at_least && op->number > newest)
                newest = op->number;
        }
    return newest / SAGO_LEVEL_COUNT;
}

static void draw_prefixes(int *end, uint64_t *state) {
    int64_t share = draw_range(state, 0, 1000);
    for (int w = 0; w < ranks; w++) { /* about the same time: otherwise barriers cut most of it */
        int64_t at = records->n[w] * share / 1000 + draw_range(state, -12, 12);
        end[w] = (int)(at < 0 ? 0 : at > records->n[w] ? records->n[w] : at);
    }
    crash_make_possible(records, ranks, end);
}

/* Rank 0: what is left after a crash, under `root`; the step that must come back. */
static int64_t crash(const char *root, uint64_t seed) {
    char path[3 * CHECK_PATH_MAX];
    uint64_t state = seed;
    int end[CRASH_WRITERS] = {0}, lost = (int)draw_range(&state, -ranks, ranks - 1);
    crash_state *after = calloc(1, sizeof *after);
    draw_prefixes(end, &state);
    for (int w = 0; w < ranks; w++) {
        snprintf(path, sizeof path, "%s/node-%d", root, w);
        name_set(after->dirs, &after->ndirs, path, 0);
        snprintf(path, sizeof path, "%s/node-%d/local", root, w);
        name_set(after->dirs, &after->ndirs, path, 0);
    }
    crash_apply(records, ranks, end,
                seed % 5 == 0   ? FATE_DROPPED
                : seed % 5 == 1 ? FATE_KEPT
                                : FATE_RANDOM,
                seed, after);
    crash_materialize(after, root, root);
    crash_state_free(after);
    free(after);
    if (lost < 0)
        return newest_report(end, SAGO_LEVEL_LOCAL);
    snprintf(path, sizeof path, "rm -rf '%s/node-%d/local'/*", root, lost);
    CHECK(system(path) == 0);
    return newest_report(end, SAGO_LEVEL_REDUNDANT);
}

/* ---- After it ---- */

static int64_t set_aside; /* in all crashes: what could not be told from damage */

static void check_steps(sago_ckpt *ckpt, int64_t wanted) {
    sago_ckpt_step steps[2 * STEPS];
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    int64_t n = 2 * STEPS, latest = -1, restored = -1;
    CHECK_OK(sago_ckpt_latest(ckpt, SAGO_LEVEL_LOCAL, &latest));
    CHECK(wanted == 0 || latest >= wanted); /* 0: nothing */
    if (wanted > 0) {
        CHECK_OK(sago_ckpt_restore_latest(ckpt, &restored));
        CHECK(restored >= latest); /* or its parts are spread over the levels */
        CHECK_INT(visit_all(&m, &d, restored, compare_byte), 0);
    }
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    set_aside += stats.damaged;
    CHECK_OK(sago_ckpt_list(ckpt, &n, steps));
    for (int64_t i = 0; i < n; i++) {
        if (!steps[i].complete[SAGO_LEVEL_LOCAL] && !steps[i].complete[SAGO_LEVEL_REDUNDANT] &&
            !steps[i].complete[SAGO_LEVEL_GLOBAL])
            continue;
        visit_all(&m, &d, 0, fill_byte);
        CHECK_OK(sago_ckpt_restore(ckpt, steps[i].step));
        CHECK_INT(visit_all(&m, &d, steps[i].step, compare_byte), 0);
    }
}

static void one_crash(const char *root, uint64_t seed) {
    char name[64];
    int64_t wanted = rank == 0 ? crash(root, seed) : 0;
    MPI_Bcast(&wanted, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "crash %llu, step %lld was reported", (unsigned long long)seed, (long long)wanted);
    scene = name;
    go_home(root);
    sago_ckpt *ckpt = open_dir(root);
    if (ckpt) {
        sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
        CHECK_OK(sago_ckpt_get_report(ckpt, &report));
        CHECK(!strstr(report.text, "copy"));
        protect_arrays(&m, &d, ckpt);
        check_steps(ckpt, wanted);
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    leave_and_remove(root);
    scene = "";
}

int main(int argc, char **argv) {
    char root[CHECK_PATH_MAX];
    check_start(&argc, &argv);
    uint64_t vectors = argc > 1 ? strtoull(argv[1], NULL, 10) : 12;
    records = calloc(1, sizeof *records);
    snprintf(root, sizeof root, "%s", scratch("run"));
    model_make(&m, 3, false);
    decompose(&m, &d, 5, ranks, rank);
    record_job(root);
    collect();
    leave_and_remove(root);
    for (uint64_t i = 0; i < vectors && sum_everywhere(failures) == 0; i++)
        one_crash(root, i);
    if (rank == 0)
        printf("%lld crashes, %lld saves set aside\n", (long long)vectors, (long long)set_aside);
    crash_free(records);
    free(records);
    decomposition_free(&m, &d);
    return check_end();
}
