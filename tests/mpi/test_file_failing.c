/* Whatever the library asks of others fails on one rank, in the middle of every kind of call on files: one
 * allocation, MPI call or system call after another.
 *
 *   test_file_failing memory|mpi|system once|ever [all [WAY]]
 *
 * once: it fails once, without effect.  All ranks learn the same, nothing but the call's own bytes changes,
 * nothing is leaked, and the next call works.  ever: it fails from then on.  Where that is MPI, the rank gets an
 * error, so do the others, in this call or at the latest in the next, and the file can still be closed; memory and
 * system calls fail until the call is over, and all ranks learn the same.  Nobody hangs in either case.
 * all: on every rank, every call; else some of them. */
/* RUN: n=4 memory once */
/* RUN: n=4 mpi once */
/* RUN: n=4 system once */
/* RUN: n=4 mpi ever */
/* RUN: n=4 memory ever */
/* RUN: n=4 system ever */
/* RUN-LONG: n=4 memory once all */
/* RUN-LONG: n=4 mpi once all */
/* RUN-LONG: n=4 system once all */
/* RUN-LONG: n=4 memory ever all */
/* RUN-LONG: n=4 system ever all */
/* RUN-LONG: n=4 mpi ever all packed */
/* RUN-LONG: n=4 mpi ever all merged */
/* RUN-LONG: n=4 mpi ever all three-layers */
/* RUN-LONG: n=4 mpi ever all deferred */
/* RUN-LONG: n=4 mpi ever all tiered */
#include "mpi/check.h"
#include "mpi/failing.h"
#include "mpi/fake_nodes.h"

enum { RUNS = 64, RUN_BYTES = 96, GUARD = 4096, MINE = RUNS * RUN_BYTES, MOST = 600, PATIENCE = 2, LIMIT = 40 };

static sago_file *file;
static sago_series *series;
static MPI_Datatype view;  /* the ranks' runs take turns */
static MPI_Datatype whole; /* all of a rank's data, a type of which MPI has to be asked */
static unsigned char data[MINE], back[MINE];
static unsigned char wanted[4 * MINE + 2 * GUARD]; /* what nobody writes, the runs, what nobody writes */
static MPI_Comm comm;

/* ---- Ways to serve calls ---- */

typedef struct way {
    const char *name, *hints;
    int node_ranks;    /* 0: all are on one node */
    bool waits_in_mpi; /* as a call below */
} way;

static const way ways[] = {
    {"one node", "", 0, false},
    {"one node, aggregated", "sago_strategy=aggregated", 0, false},
    {"packed", "sago_strategy=aggregated", 2, false},
    {"one-sided", "sago_strategy=aggregated sago_move=rma", 2, true},
    {"merged", "sago_strategy=aggregated sago_merge=on sago_local_aggregators=1", 2, false},
    {"three-layers", "sago_strategy=aggregated sago_layers=3 sago_placement=rank sago_aggregators=2", 1, false},
    {"direct", "sago_strategy=direct", 2, false},
    {"deferred", "sago_strategy=aggregated sago_defer=on", 2, false},
    {"tiered", "sago_strategy=aggregated sago_tier=local", 2, false},
};
enum { WAYS = sizeof ways / sizeof *ways };

static const way *now;

static sago_status open_it(void) {
    char text[1024];
    (void)snprintf(text, sizeof text, "%s sago_patience=%d sago_machine=%s sago_local_dirs=%s", now->hints,
                   PATIENCE, scratch("switches.sago"), scratch(""));
    MPI_Info info = hints_of(text);
    file = NULL;
    sago_status status = sago_open(comm, scratch("file"), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file);
    MPI_Info_free(&info);
    return status;
}

static void close_it(void) {
    series = NULL; /* goes with its file */
    if (file)
        CHECK_OK(sago_close(&file));
}

/* The library remembers the nodes of the same ranks in the same order: another order for each kind of nodes. */
static int rank_in_comm(int world) { return (world + now->node_ranks) % ranks; }

/* What hangs on the communicator is made anew, too. */
static void new_comm(void) {
    close_it();
    MPI_Comm_free(&comm);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, 0, rank_in_comm(rank), &comm) == MPI_SUCCESS);
}

static sago_status open_and_view(void) {
    sago_status status = open_it();
    return status ? status : sago_set_view(file, GUARD + rank * RUN_BYTES, MPI_BYTE, view);
}

static void make_file(void) {
    close_it();
    plain_write(scratch("file"), wanted, (int64_t)(2 * GUARD + ranks * MINE));
}

static void make_file_and_comm(void) {
    make_file();
    new_comm();
}

static void reopen(void) {
    make_file();
    CHECK_OK(open_and_view());
}

/* ---- Calls ---- */

static sago_status write_all(void) { return sago_write_at_all(file, 0, data, 1, whole, NULL); }

static sago_status write_and_sync(void) {
    sago_status status = write_all();
    return status ? status : sago_sync(file);
}

static sago_status came_back(sago_status status) {
    if (!status)
        CHECK(memcmp(back, data, sizeof data) == 0);
    return status;
}

static sago_status read_all(void) {
    memset(back, 0, sizeof back);
    return came_back(sago_read_at_all(file, 0, back, (MPI_Count)sizeof back, MPI_BYTE, NULL));
}

static sago_status wait_for(sago_status started, sago_request *request) {
    sago_status ended = request ? sago_wait(&request, NULL) : started;
    return started ? started : ended;
}

static sago_status write_behind(void) {
    sago_request *request = NULL;
    sago_status status = sago_iwrite_at_all(file, 0, data, (MPI_Count)sizeof data, MPI_BYTE, &request);
    return wait_for(status, request);
}

static sago_status read_behind(void) {
    sago_request *request = NULL;
    memset(back, 0, sizeof back);
    sago_status status = sago_iread_at_all(file, 0, back, (MPI_Count)sizeof back, MPI_BYTE, &request);
    return came_back(wait_for(status, request));
}

static sago_status declare(void) {
    sago_var var = SAGO_VAR_INIT;
    var.offset = GUARD + (MPI_Offset)rank * RUN_BYTES;
    var.count = MINE;
    var.filetype = view;
    return sago_declare(file, 1, &var, &series);
}

static sago_status write_step(void) {
    sago_status status = sago_series_write(series, 0, data);
    return status ? status : sago_series_complete(series);
}

static sago_status declare_and_write(void) {
    sago_status status = declare();
    return status ? status : write_step();
}

/* ---- Before them ---- */

static void written(void) {
    reopen();
    CHECK_OK(write_all());
}

static void written_and_read(void) {
    written();
    CHECK_OK(read_all());
}

static void declared(void) {
    reopen();
    CHECK_OK(declare());
    CHECK_OK(write_step());
}

typedef struct call {
    const char *name;
    void (*before)(void);
    sago_status (*run)(void);
    int first; /* allocation to fail; of a nonblocking call the first is the request, which only its rank learns */
    bool long_only;
    bool waits_in_mpi; /* where nobody can end a wait for a rank whose MPI calls fail for good */
} call;
static const call calls[] = {
    {"open", make_file_and_comm, open_and_view, 1, false, true},
    {"open again", make_file, open_and_view, 1, true, true},
    {"write", reopen, write_and_sync, 1, false, false},
    {"write again", written, write_all, 1, true, false},
    {"read", reopen, read_all, 1, false, false},
    {"read again", written_and_read, read_all, 1, true, false},
    {"write behind", reopen, write_behind, 2, false, false},
    {"read behind", written_and_read, read_behind, 2, true, false},
    {"declared", reopen, declare_and_write, 1, true, false},
    {"step", declared, write_step, 1, true, false},
    {"close", written, NULL, 1, false, false},
};
enum { CALLS = sizeof calls / sizeof *calls };

static sago_status close_now(void) {
    series = NULL;
    return sago_close(&file);
}

/* ---- One failure after another ---- */

static void check_contents(void) { CHECK_FILE(scratch("file"), wanted, (int64_t)(2 * GUARD + ranks * MINE)); }

/* A fresh communicator: teams and handles of failed calls are not used again by chance. */
static void after(sago_status status) {
    if (status && file)
        (void)sago_close(&file);
    if (!file)
        CHECK_OK(open_and_view());
    CHECK_OK(write_all());
    CHECK_OK(sago_sync(file));
    CHECK_OK(read_all());
    check_contents();
}

/* In between: the file can only be closed, and nobody waits for the rank that cannot. */
static void after_good(sago_status status, bool hit, int victim) {
    bool victim_failed = sum_everywhere(hit && status) > 0;
    char blamed[32];
    (void)snprintf(blamed, sizeof blamed, "rank %d", rank_in_comm(victim));
    if (status && !hit)
        CHECK(strstr(sago_error_message(), blamed));
    long long others = sum_everywhere(!hit && status);
    if (!victim_failed)
        CHECK_INT(others, 0);
    else if (file && others < ranks - 1)
        CHECK(write_and_sync() != SAGO_OK);
    if (file)
        (void)sago_close(&file);
    (void)fail_no_more();
    new_comm();
    CHECK_OK(open_and_view());
    after(SAGO_OK);
}

static bool one(const call *what, int n, int victim) {
    const trial failure = {.call = what->name,
                           .way = now->name,
                           .before = what->before,
                           .run = what->run ? what->run : close_now,
                           .after = after,
                           .after_break = after_good,
                           .n = n,
                           .victim = victim,
                           .limit = LIMIT};
    return try_failure(&failure);
}

/* Where a look at local storage fails, its ranks are other neighbours than before: a circle, its team, and what it
 * knows of its surroundings stay for the next file, once, however often it fails. */
static long long kept_of_neighbours(void) { return strstr(now->hints, "tier") ? 3 : 0; }

/* What the library keeps from call to call it has afterwards. */
static void rehearse(const call *what) {
    what->before();
    CHECK_OK(what->run ? what->run() : close_now());
    after(SAGO_OK);
    close_it();
    expected = count_holdings();
}

/* All of them, or fewer and fewer; very few where the others have to run out of patience each time. */
static void every_failure(const call *what, int victim, bool all) {
    bool slow = for_good && now->node_ranks == 1 && !all;
    rehearse(what);
    for (int n = slow                  ? 3
                 : kind == FAIL_MEMORY ? what->first
                                       : 1;
         n < MOST && sum_everywhere(failures) == 0; n += all && !for_good ? 1
                                                         : all            ? 1 + n / 8
                                                                          : 1 + 2 * n)
        if (!one(what, n, victim) || slow)
            break;
    close_it();
    check_holdings(what->name, now->name, kept_of_neighbours());
}

/* No memory for the stack that a process's first nonblocking call needs and later ones use again: it is one of
 * these allocations, on some rank. */
static void first_stack(void) {
    reopen();
    meet();
    fail_at(FAIL_MEMORY, 2 + rank, false);
    sago_status status = write_behind();
    CHECK(sum_everywhere(fail_no_more() != NULL) > 0);
    CHECK(same_everywhere(status));
    after(status);
}

static void prepare(void) {
    memset(wanted, 0xa5, sizeof wanted);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < MINE; i++) {
            unsigned char byte = byte_of(i, r);
            wanted[GUARD + (i / RUN_BYTES * ranks + r) * RUN_BYTES + i % RUN_BYTES] = byte;
            if (r == rank)
                data[i] = byte;
        }
    MPI_Datatype one_run;
    MPI_Type_vector(1, RUN_BYTES, RUN_BYTES, MPI_BYTE, &one_run);
    MPI_Type_create_resized(one_run, 0, (MPI_Aint)ranks * RUN_BYTES, &view);
    MPI_Type_free(&one_run);
    MPI_Type_commit(&view);
    MPI_Type_vector(RUNS, RUN_BYTES, RUN_BYTES, MPI_BYTE, &whole);
    MPI_Type_commit(&whole);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(fake_switches(scratch("switches.sago"), 2));
}

/* Some way through every failure; which calls and victims depends on the way, so that all come up. */
static void every_call(int number, bool all) {
    const char *only = getenv("SAGO_TEST_CALL");
    for (int i = 0; i < CALLS; i++)
        for (int victim = 0; victim < ranks; victim++)
            if (!(for_good && calls[i].waits_in_mpi) &&
                (all || (victim == (i + number) % ranks && (i + number) % (calls[i].long_only ? 6 : 2) == 0)) &&
                (!only || strcmp(only, calls[i].name) == 0))
                every_failure(&calls[i], victim, all);
}

/* Does this way of serving calls send anything from node to node? */
static bool crosses_nodes(void) {
    reopen();
    CHECK_OK(write_and_sync());
    return sum_everywhere(stats_of(file).wire_bytes) > 0;
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const char *only = argc > 4 ? argv[4] : getenv("SAGO_TEST_WAY");
    read_failure(argc, argv);
    prepare();
    now = &ways[1];
    if (kind == FAIL_MEMORY)
        first_stack();
    for (int i = 0; i < WAYS; i++) {
        now = &ways[i];
        fake_node_ranks = now->node_ranks;
        new_comm();
        CHECK(crosses_nodes() == (now->node_ranks > 0 && !strstr(now->hints, "direct")));
        if (!(for_good && now->waits_in_mpi) && (!only || strcmp(only, now->name) == 0))
            every_call(i, argc > 3);
    }
    close_it();
    CHECK(only || tried > 30);
    if (rank == 0)
        printf("%lld times something failed\n", (long long)tried);
    MPI_Type_free(&view);
    MPI_Type_free(&whole);
    MPI_Comm_free(&comm);
    return check_end();
}
