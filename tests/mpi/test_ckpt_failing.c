/* Whatever the library asks of others fails on one rank, also in its threads, in the middle of every call of
 * checkpoints: one allocation, MPI call or system call after another.
 *
 *   test_ckpt_failing memory|mpi|system once|ever [all [WAY]]
 *
 * once: it fails once, without effect.  All ranks learn the same, no step is lost, nothing is leaked, and the next
 * call works.  ever: it fails from then on.  Where that is MPI, the rank gets an error, so do the others, in this
 * call or at the latest in the next, and the directory can only be closed; else all ranks learn the same.  Nobody
 * hangs in either case.  all: on every rank, every call; else some of them. */
/* RUN: n=4 memory once */
/* RUN: n=4 mpi once */
/* RUN: n=4 system once */
/* RUN: n=4 mpi ever */
/* RUN: n=4 memory ever */
/* RUN: n=4 system ever */
/* RUN-LONG: n=4 memory once all directory timeout=3600 */
/* RUN-LONG: n=4 memory once all levels timeout=3600 */
/* RUN-LONG: n=4 memory once all nodes timeout=3600 */
/* RUN-LONG: n=4 memory once all rbio timeout=3600 */
/* RUN-LONG: n=4 memory once all coio timeout=3600 */
/* RUN-LONG: n=4 memory once all lone-nodes timeout=3600 */
/* RUN-LONG: n=4 mpi once all directory timeout=3600 */
/* RUN-LONG: n=4 mpi once all levels timeout=3600 */
/* RUN-LONG: n=4 mpi once all nodes timeout=3600 */
/* RUN-LONG: n=4 mpi once all rbio timeout=3600 */
/* RUN-LONG: n=4 mpi once all coio timeout=3600 */
/* RUN-LONG: n=4 mpi once all lone-nodes timeout=3600 */
/* RUN-LONG: n=4 system once all directory timeout=3600 */
/* RUN-LONG: n=4 system once all levels timeout=3600 */
/* RUN-LONG: n=4 system once all nodes timeout=3600 */
/* RUN-LONG: n=4 system once all rbio timeout=3600 */
/* RUN-LONG: n=4 system once all coio timeout=3600 */
/* RUN-LONG: n=4 system once all lone-nodes timeout=3600 */
/* RUN-LONG: n=4 memory ever all timeout=3600 */
/* RUN-LONG: n=4 mpi ever all timeout=3600 */
/* RUN-LONG: n=4 system ever all timeout=3600 */
#include "mpi/ckpt_model.h"
#include "mpi/failing.h"
#include "mpi/fake_nodes.h"

/* Nobody is to run out of patience but where a rank is silent for good: a busy machine is silent for seconds. */
enum { KEPT = 1, MOST = 1200, PATIENCE = 2, LONG_PATIENCE = 30, LIMIT = 60 };

static model m;
static decomposition d;
static extras extra;
static sago_ckpt *ckpt;
static MPI_Comm comm;
static MPI_Info hints;
static int64_t next_step = 100;

/* ---- Ways to save ---- */

typedef struct way {
    const char *name, *hints;
    int node_ranks; /* 0: all are on one node */
} way;

static const way ways[] = {
    {"directory", "sago_ckpt_files=2", 0},
    {"levels", "sago_ckpt_files=4 sago_local_dirs=local sago_ckpt_redundancy=xor", 0},
    {"nodes", "sago_ckpt_files=4 sago_local_dirs=local sago_ckpt_redundancy=rs:2", 2},
    {"rbio", "sago_ckpt_mode=rbio sago_ckpt_files=2 sago_local_dirs=local", 2},
    {"coio", "sago_ckpt_mode=coio sago_ckpt_files=3 sago_local_dirs=local", 0},
    {"lone-nodes", "sago_local_dirs=local sago_ckpt_redundancy=copy", 1},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static const way *now;

static void run(const char *command) {
    meet();
    if (rank == 0)
        CHECK(system(command) == 0);
    meet();
}

static MPI_Info hints_now(void) {
    char text[512];
    snprintf(text, sizeof text,
             "%s sago_memory=2M sago_ckpt_global_every=0 sago_ckpt_keep_local=2 sago_ckpt_keep_global=3 "
             "sago_ckpt_lease=2 sago_patience=%d",
             now->hints, breaks() ? PATIENCE : LONG_PATIENCE);
    return hints_of(text);
}

static sago_status open_dir(void) {
    ckpt = NULL;
    return sago_ckpt_open(comm, scratch("ckpt"), hints, &ckpt);
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

static void clear(void) {
    visit_all(&m, &d, 0, fill_byte);
    extras_clear(&extra);
}

static void check_contents(int64_t step) {
    CHECK_INT(visit_all(&m, &d, step, compare_byte) + extras_wrong(&extra, &m, step, rank), 0);
}

static void check_restored(int64_t step) {
    clear();
    CHECK_OK(sago_ckpt_restore(ckpt, step));
    check_contents(step);
}

/* It may tell of a step that did not get to all levels behind our back. */
static void close_if_open(void) {
    if (ckpt)
        CHECK(same_everywhere(sago_ckpt_close(&ckpt)));
}

static void open_if_closed(void) {
    if (ckpt)
        return;
    CHECK_OK(open_dir());
    protect_all();
}

/* The library remembers the nodes of the same ranks in the same order: another order for each kind of nodes. */
static int rank_in_comm(int world) { return (world + now->node_ranks) % ranks; }

static void new_comm(void) {
    MPI_Comm_free(&comm);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, 0, rank_in_comm(rank), &comm) == MPI_SUCCESS);
}

/* ---- Calls, each with what is to be done before and after it ---- */

typedef struct call {
    const char *name;
    void (*before)(void);
    sago_status (*run)(void);
    void (*after)(sago_status status);
    bool waits_in_mpi; /* where nobody can end a wait for a rank whose MPI calls fail for good */
} call;

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
    open_if_closed();
    unprotect_all();
    protect_all();
    fill(++next_step);
}

static sago_status save(void) {
    sago_status status = sago_ckpt_save(ckpt, next_step);
    return status ? status
                  : sago_ckpt_wait(ckpt, next_step,
                                   strstr(now->hints, "redundancy") ? SAGO_LEVEL_REDUNDANT : SAGO_LEVEL_LOCAL);
}

/* What did not get to one level may be at another, and make the kept one too old in the end. */
static void remove_if_there(int64_t step) {
    sago_status removed = sago_ckpt_remove(ckpt, step);
    CHECK(removed == SAGO_OK || removed == SAGO_ERR_NO_FILE);
}

static void save_after(sago_status status) {
    if (!status)
        check_restored(next_step);
    remove_if_there(next_step);
    fill(++next_step);
    CHECK_OK(sago_ckpt_save(ckpt, next_step));
    CHECK_OK(sago_ckpt_wait(ckpt, next_step, SAGO_LEVEL_GLOBAL));
    check_restored(next_step);
    CHECK_OK(sago_ckpt_remove(ckpt, next_step));
    check_restored(KEPT);
}

/* The same save as before: nothing is worked out anew. */
static void again_before(void) {
    open_if_closed();
    fill(++next_step);
}

static sago_status save_globally(void) {
    sago_status status = sago_ckpt_save(ckpt, next_step);
    return status ? status : sago_ckpt_wait(ckpt, next_step, SAGO_LEVEL_GLOBAL);
}

static void kept_before(void) {
    close_if_open();
    run("cd $SAGO_TEST_DIR && rm -rf ckpt node-*/local && cp -a kept/ckpt . && for n in node-*; do cp -a "
        "kept/$n/local $n/; done");
    open_if_closed();
    clear();
}

/* One device of the kept step is lost. */
static void lost_before(void) {
    kept_before();
    if (!strstr(now->hints, "redundancy"))
        return;
    close_if_open();
    run("rm -rf $SAGO_TEST_DIR/node-1/local/*/step-*");
    open_if_closed();
}

static sago_status restore(void) { return sago_ckpt_restore(ckpt, KEPT); }

static sago_status restore_latest(void) {
    int64_t step = -1;
    sago_status status = sago_ckpt_restore_latest(ckpt, &step);
    CHECK(status || step == KEPT);
    return status;
}

static void restore_after(sago_status status) {
    if (!status)
        check_contents(KEPT);
    check_restored(KEPT);
}

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

static sago_status drain(void) { return sago_ckpt_drain(ckpt, KEPT); }

static void drain_after(sago_status status) {
    (void)status;
    CHECK_OK(sago_ckpt_drain(ckpt, KEPT));
    check_restored(KEPT);
}

static sago_status verify(void) { return sago_ckpt_verify(ckpt, KEPT); }

static sago_status repair(void) { return sago_ckpt_repair(ckpt, KEPT); }

static void verify_after(sago_status status) {
    (void)status;
    CHECK_OK(sago_ckpt_repair(ckpt, KEPT));
    CHECK_OK(sago_ckpt_verify(ckpt, KEPT));
    check_restored(KEPT);
}

static void saved_before(void) {
    again_before();
    CHECK_OK(save());
}

static sago_status take_away(void) { return sago_ckpt_remove(ckpt, next_step); }

static void take_away_after(sago_status status) {
    sago_status again = sago_ckpt_remove(ckpt, next_step);
    CHECK(again == SAGO_OK || again == SAGO_ERR_NO_FILE);
    CHECK(status || again == SAGO_ERR_NO_FILE);
    check_restored(KEPT);
}

/* While a step is being written. */
static void close_before(void) {
    again_before();
    CHECK_OK(sago_ckpt_save(ckpt, next_step));
}

static sago_status close_now(void) { return sago_ckpt_close(&ckpt); }

static void close_after(sago_status status) {
    (void)status;
    CHECK(ckpt == NULL);
    open_if_closed();
    remove_if_there(next_step);
    check_restored(KEPT);
}

static const call calls[] = {
    {"open", close_if_open, open_dir, open_after, true},
    {"save", save_before, save, save_after, false},
    {"save again, to all levels", again_before, save_globally, save_after, false},
    {"restore", lost_before, restore, restore_after, false},
    {"list", open_if_closed, look, look_after, false},
    {"verify", open_if_closed, verify, verify_after, false},
    {"drain", kept_before, drain, drain_after, false},
    {"repair", lost_before, repair, verify_after, false},
    {"restore latest", lost_before, restore_latest, restore_after, false},
    {"remove", saved_before, take_away, take_away_after, false},
    {"close", close_before, close_now, close_after, false},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* ---- One failure after another ---- */

/* MPI fails for good on one rank: the directory can only be closed, and nobody waits for that rank. */
static void after_break(sago_status status, bool hit, int victim) {
    bool victim_failed = sum_everywhere(hit && status) > 0;
    int64_t count = 0;
    char blamed[32];
    (void)snprintf(blamed, sizeof blamed, "rank %d", rank_in_comm(victim));
    if (status && !hit)
        CHECK(strstr(sago_error_message(), blamed));
    long long others = sum_everywhere(!hit && status);
    if (!victim_failed)
        CHECK_INT(others, 0);
    else if (sum_everywhere(ckpt != NULL) == ranks && others < ranks - 1)
        CHECK(sago_ckpt_list(ckpt, &count, NULL) != SAGO_OK);
    if (ckpt)
        (void)sago_ckpt_close(&ckpt);
    (void)fail_no_more();
    new_comm();
    open_if_closed();
    remove_if_there(next_step);
    check_restored(KEPT);
    fill(++next_step);
    CHECK_OK(save());
    CHECK_OK(sago_ckpt_remove(ckpt, next_step));
}

static bool one(const call *what, int n, int victim) {
    const trial failure = {.call = what->name,
                           .way = now->name,
                           .before = what->before,
                           .run = what->run,
                           .after = what->after,
                           .after_break = after_break,
                           .n = n,
                           .victim = victim,
                           .limit = LIMIT};
    return try_failure(&failure);
}

/* All of them, or fewer and fewer; very few where the others have to run out of patience each time. */
static void every_failure(const call *what, int victim, bool all) {
    bool slow = breaks() && now->node_ranks == 1;
    for (int n = slow ? 3 : 1; n < MOST && sum_everywhere(failures) == 0; n += all && !for_good ? 1
                                                                               : all ? 1 + n / (slow ? 2 : 8)
                                                                                     : 1 + 3 * n)
        if (!one(what, n, victim) || (slow && !all))
            break;
    close_if_open();
    check_holdings(what->name, now->name, 0);
}

static void prepare(void) {
    fake_node_ranks = now->node_ranks;
    new_comm();
    hints = hints_now();
    run("cd $SAGO_TEST_DIR && rm -rf ckpt kept node-*/local && for n in node-*; do mkdir $n/local; done");
    CHECK_OK(open_dir());
    fill(KEPT);
    protect_all();
    CHECK_OK(sago_ckpt_save(ckpt, KEPT));
    CHECK_OK(
        sago_ckpt_wait(ckpt, KEPT, strstr(now->hints, "redundancy") ? SAGO_LEVEL_REDUNDANT : SAGO_LEVEL_LOCAL));
    CHECK_OK(sago_ckpt_close(&ckpt));
    run("cd $SAGO_TEST_DIR && mkdir kept && cp -a ckpt node-* kept/");
    open_if_closed();
    check_restored(KEPT);
    close_if_open();
    expected = count_holdings();
}

/* In the middle of a call, for so long that the others begin to doubt whether it is there: on one node they have
 * nobody to ask, and keep nothing for it. */
static void one_comes_late(void) {
    for (int n = 2; n < 20; n += 6) {
        save_before();
        meet();
        atomic_store(&calls_until_late, rank == ranks - 1 ? n : 0);
        CHECK_OK(save());
        atomic_store(&calls_until_late, 0);
        remove_if_there(next_step);
        close_if_open();
    }
    check_holdings("save, one rank late", now->name, 0);
}

/* Which calls and victims depends on the way, so that all come up. */
static void every_call(int number, bool all) {
    const char *only = getenv("SAGO_TEST_CALL"), *whose = getenv("SAGO_TEST_VICTIM");
    for (int i = 0; i < CALLS; i++)
        for (int victim = 0; victim < ranks; victim++)
            if (!(breaks() && calls[i].waits_in_mpi) &&
                (all || (victim == (i / 4 + number) % ranks && (i + number) % 4 == 0)) &&
                (!only || strcmp(only, calls[i].name) == 0) && (!whose || atoi(whose) == victim))
                every_failure(&calls[i], victim, all);
}

int main(int argc, char **argv) {
    char folder[64];
    check_start(&argc, &argv);
    const char *only = argc > 4 ? argv[4] : getenv("SAGO_TEST_WAY");
    read_failure(argc, argv);
    snprintf(folder, sizeof folder, "node-%d", rank);
    CHECK(mkdir(folder, 0700) == 0 && chdir(folder) == 0);
    model_make(&m, 17, false);
    decompose(&m, &d, 3, ranks, rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < WAYS && sum_everywhere(failures) == 0; i++) {
        now = &ways[i];
        if (only ? strcmp(only, now->name) != 0 : argc <= 3 && (i + (int)kind + for_good) % 2)
            continue;
        prepare();
        if (kind == FAIL_MPI && !for_good && now->node_ranks == 0)
            one_comes_late();
        every_call(i, argc > 3);
        MPI_Info_free(&hints);
    }
    close_if_open();
    CHECK(only || tried > 10);
    if (rank == 0)
        printf("%lld times something failed\n", (long long)tried);
    decomposition_free(&m, &d);
    MPI_Comm_free(&comm);
    return check_end();
}
