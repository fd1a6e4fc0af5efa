/* Memory runs out in the middle of every call of checkpoints: one allocation after another fails, on one rank,
 * also in its threads.  All ranks learn the same, nobody hangs, nothing is lost, and the next call works.
 *     test_ckpt_memory [all]: on every rank, every allocation; else some of them */
/* RUN: n=3 */
/* RUN-LONG: n=4 all */
#include "mpi/ckpt_model.h"
#include "mpi/failing.h"

enum { KEPT = 1, MOST = 400 };

static model m;
static decomposition d;
static extras extra;
static sago_ckpt *ckpt;
static int64_t next_step = 100;
static int64_t tried; /* allocations that failed */

static void run(const char *command) {
    meet();
    if (rank == 0)
        CHECK(system(command) == 0);
    meet();
}

static sago_status open_dir(void) {
    char text[256];
    snprintf(text, sizeof text,
             "sago_local_dirs=local sago_ckpt_files=%d sago_ckpt_redundancy=xor sago_memory=2M "
             "sago_ckpt_keep_local=2 sago_ckpt_keep_global=3",
             ranks);
    MPI_Info info = hints_of(text);
    ckpt = NULL;
    sago_status status = sago_ckpt_open(MPI_COMM_WORLD, scratch("ckpt"), info, &ckpt);
    MPI_Info_free(&info);
    return status;
}

static void protect_all(void) {
    protect_arrays(&m, &d, ckpt);
    CHECK_OK(sago_ckpt_protect_local(ckpt, "own", extra.local, extra.local_bytes));
    CHECK_OK(sago_ckpt_protect_shared(ckpt, "all", extra.shared, MODEL_SHARED));
}

static void unprotect_all(void) {
    for (int i = 0; i < m.narrays; i++)
        CHECK_OK(sago_ckpt_unprotect(ckpt, m.arrays[i].name));
    CHECK_OK(sago_ckpt_unprotect(ckpt, "own"));
    CHECK_OK(sago_ckpt_unprotect(ckpt, "all"));
}

static void fill(int64_t step) {
    extras_fill(&extra, &m, step, rank);
    visit_all(&m, &d, step, fill_byte);
}

static void check_restored(int64_t step) {
    visit_all(&m, &d, 0, fill_byte);
    extras_clear(&extra);
    CHECK_OK(sago_ckpt_restore(ckpt, step));
    CHECK_INT(visit_all(&m, &d, step, compare_byte) + extras_wrong(&extra, &m, step, rank), 0);
}

/* ---- Calls, each with what is to be done before and after it ---- */

typedef struct call {
    const char *name;
    void (*before)(void);
    sago_status (*run)(void);
    void (*after)(sago_status status);
} call;

/* It may tell of a step that did not get to all levels behind our back. */
static void close_before(void) {
    if (ckpt)
        CHECK(same_everywhere(sago_ckpt_close(&ckpt)));
}

static void open_after(sago_status status) {
    if (status) {
        CHECK(ckpt == NULL);
        CHECK_OK(open_dir());
    }
    protect_all();
    check_restored(KEPT);
}

/* Something else is protected than before, so that all is worked out anew. */
static void save_before(void) {
    unprotect_all();
    protect_all();
    fill(++next_step);
}

static sago_status save(void) {
    sago_status status = sago_ckpt_save(ckpt, next_step);
    return status ? status : sago_ckpt_wait(ckpt, next_step, SAGO_LEVEL_REDUNDANT);
}

static void save_after(sago_status status) {
    int64_t saved = next_step;
    if (!status)
        check_restored(saved);
    /* What did not get to one level may be at another, and make the kept one too old in the end. */
    sago_status removed = sago_ckpt_remove(ckpt, saved);
    CHECK(removed == SAGO_OK || removed == SAGO_ERR_NO_FILE);
    fill(++next_step);
    CHECK_OK(sago_ckpt_save(ckpt, next_step));
    CHECK_OK(sago_ckpt_wait(ckpt, next_step, SAGO_LEVEL_GLOBAL));
    check_restored(next_step);
    CHECK_OK(sago_ckpt_remove(ckpt, next_step));
}

/* The same save as before: nothing is worked out anew. */
static void again_before(void) { fill(++next_step); }

static sago_status drain(void) {
    sago_status status = sago_ckpt_save(ckpt, next_step);
    return status ? status : sago_ckpt_wait(ckpt, next_step, SAGO_LEVEL_GLOBAL);
}

/* One device of the kept step is lost, another damaged. */
static void damage_before(void) {
    close_before();
    run("cd $SAGO_TEST_DIR && rm -rf ckpt node-*/local && cp -a kept/ckpt . && for n in node-*; do cp -a "
        "kept/$n/local $n/; done; rm -rf node-1/local/*/step-*");
    CHECK_OK(open_dir());
    protect_all();
    visit_all(&m, &d, 0, fill_byte);
    extras_clear(&extra);
}

static sago_status restore(void) { return sago_ckpt_restore(ckpt, KEPT); }

static void restore_after(sago_status status) {
    if (!status)
        CHECK_INT(visit_all(&m, &d, KEPT, compare_byte) + extras_wrong(&extra, &m, KEPT, rank), 0);
    check_restored(KEPT);
}

static void nothing_before(void) {}

static sago_status look(void) {
    int64_t count = 8, latest = -1;
    sago_ckpt_step steps[8];
    sago_ckpt_info info = SAGO_CKPT_INFO_INIT;
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    int due, leave;
    sago_status status = sago_ckpt_list(ckpt, &count, steps);
    if (!status)
        status = sago_ckpt_latest(ckpt, SAGO_LEVEL_LOCAL, &latest);
    if (!status) {
        status = sago_ckpt_inquire(ckpt, KEPT, "own", &info);
        CHECK(status || info.bytes == extra.local_bytes);
    }
    if (!status)
        status = sago_ckpt_due(ckpt, &due, &leave);
    return status ? status : sago_ckpt_get_stats(ckpt, &stats);
}

static void look_after(sago_status status) {
    int64_t count = 0;
    (void)status;
    CHECK_OK(sago_ckpt_list(ckpt, &count, NULL));
    CHECK(count >= 1);
}

static sago_status verify(void) { return sago_ckpt_verify(ckpt, KEPT); }

static sago_status repair(void) { return sago_ckpt_repair(ckpt, KEPT); }

static void verify_after(sago_status status) {
    (void)status;
    CHECK_OK(sago_ckpt_repair(ckpt, KEPT));
    CHECK_OK(sago_ckpt_verify(ckpt, KEPT));
}

static const call calls[] = {
    {"open", close_before, open_dir, open_after},
    {"save", save_before, save, save_after},
    {"save again, to all levels", again_before, drain, save_after},
    {"list", nothing_before, look, look_after},
    {"restore", damage_before, restore, restore_after},
    {"verify", nothing_before, verify, verify_after},
    {"repair", damage_before, repair, verify_after},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* ---- One allocation after another ---- */

/* false: the call makes fewer. */
static bool one(const call *what, int n, int victim) {
    char name[96];
    snprintf(name, sizeof name, "%s, allocation %d of rank %d fails", what->name, n, victim);
    what->before();
    meet();
    scene = name;
    if (rank == victim)
        fail_at(FAIL_MEMORY, n, false);
    sago_status status = what->run();
    bool hit = rank == victim && fail_no_more();
    CHECK(same_everywhere(status));
    if (status)
        CHECK(*sago_error_message());
    hit = sum_everywhere(hit) > 0;
    tried += hit;
    if (!hit)
        CHECK_INT(status, SAGO_OK);
    what->after(status);
    scene = "";
    return hit;
}

/* All of them, or fewer and fewer. */
static void every_allocation(const call *what, int victim, bool all) {
    for (int n = 1; n < MOST && sum_everywhere(failures) == 0; n += all ? 1 : 1 + n / 4)
        if (!one(what, n, victim))
            break;
}

static void prepare(void) {
    CHECK_OK(open_dir());
    fill(KEPT);
    protect_all();
    CHECK_OK(sago_ckpt_save(ckpt, KEPT));
    CHECK_OK(sago_ckpt_wait(ckpt, KEPT, SAGO_LEVEL_REDUNDANT));
    CHECK_OK(sago_ckpt_close(&ckpt));
    run("cd $SAGO_TEST_DIR && mkdir kept && cp -a ckpt node-* kept/");
    CHECK_OK(open_dir());
    protect_all();
}

int main(int argc, char **argv) {
    char folder[64];
    check_start(&argc, &argv);
    bool all = argc > 1;
    snprintf(folder, sizeof folder, "node-%d", rank);
    CHECK(mkdir(folder, 0700) == 0 && chdir(folder) == 0 && mkdir("local", 0700) == 0);
    model_make(&m, 17, false);
    decompose(&m, &d, 3, ranks, rank);
    prepare();
    for (int i = 0; i < CALLS; i++)
        for (int victim = 0; victim < ranks; victim++)
            if (all || victim == i % ranks)
                every_allocation(&calls[i], victim, all);
    close_before();
    CHECK(tried > 20);
    if (rank == 0)
        printf("%lld allocations failed\n", (long long)tried);
    decomposition_free(&m, &d);
    return check_end();
}
