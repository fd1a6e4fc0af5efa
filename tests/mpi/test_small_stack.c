/* RUN: n=4 */
/* Threads with little stack: what Sago's calls take of it, on many routes.  MPICH itself takes more than 128 KiB
 * where communicators are made. */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"
#include "stack.h"

enum { N = 3000, VARS = 3, MPICH_MEETS = 192 << 10 };

static int64_t data[N], back[N];
static const char *hints;
static char path[CHECK_PATH_MAX], dir[CHECK_PATH_MAX];
static sago_file *file;
static sago_ckpt *ckpt;
static int64_t step;

static void open_file(void) { CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file)); }
static void close_file(void) { CHECK_OK(sago_close(&file)); }
static void sync_file(void) { CHECK_OK(sago_sync(file)); }
static void view_flat(void) { CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE)); }
static void view_short(void) { view_turns(file, 24); }
static void view_long(void) { view_turns(file, 1600); }
static void write_all(void) { CHECK_OK(sago_write_at_all(file, 0, data, sizeof data, MPI_BYTE, NULL)); }
static void read_all(void) { CHECK_OK(sago_read_at_all(file, 0, back, sizeof back, MPI_BYTE, NULL)); }
static void write_alone(void) { CHECK_OK(sago_write_at(file, 0, data, sizeof data, MPI_BYTE, NULL)); }
static void read_alone(void) { CHECK_OK(sago_read_at(file, 0, back, sizeof back, MPI_BYTE, NULL)); }

static void behind(void) {
    sago_request *request = NULL;
    CHECK_OK(sago_iwrite_at_all(file, 0, data, sizeof data, MPI_BYTE, &request));
    CHECK_OK(sago_wait(&request, NULL));
    CHECK_OK(sago_iread_at_all(file, 0, back, sizeof back, MPI_BYTE, &request));
    CHECK_OK(sago_wait(&request, NULL));
}

static void declared(void) {
    sago_var vars[VARS];
    sago_series *series = NULL;
    for (int v = 0; v < VARS; v++) {
        vars[v] = (sago_var)SAGO_VAR_INIT;
        vars[v].offset = (v * (MPI_Offset)ranks + rank) * 1000;
        vars[v].count = 1000;
    }
    CHECK_OK(sago_declare(file, VARS, vars, &series));
    for (int v = 0; v < VARS; v++)
        CHECK_OK(sago_series_write(series, v, (char *)data + 1000 * v));
    CHECK_OK(sago_series_complete(series));
    CHECK_OK(sago_series_free(&series));
}

static void open_ckpt(void) {
    int64_t global = (int64_t)N * ranks, start = (int64_t)N * rank, count = N;
    sago_block block = {.start = &start, .count = &count, .data = data};
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, dir, hints, &ckpt));
    CHECK_OK(sago_ckpt_protect(ckpt, "field", MPI_INT64_T, 1, &global, 1, &block));
}
static void save(void) {
    CHECK_OK(sago_ckpt_save(ckpt, ++step));
    CHECK_OK(sago_ckpt_wait(ckpt, step, SAGO_LEVEL_GLOBAL));
}
static void verify(void) { CHECK_OK(sago_ckpt_verify(ckpt, step)); }
static void restore(void) {
    int64_t got = 0;
    CHECK_OK(sago_ckpt_restore_latest(ckpt, &got));
    CHECK_INT(got, step);
}
static void close_ckpt(void) { CHECK_OK(sago_ckpt_close(&ckpt)); }

static void check(const char *what, void (*run)(void), bool meets) {
    long used = stack_used(run);
    long allowed = STACK_FAIR;
#ifdef MPICH_VERSION
    allowed = meets ? MPICH_MEETS : STACK_FAIR;
#endif
    (void)meets;
    if (used > 0 && used <= allowed)
        return;
    check_failed(__FILE__, __LINE__);
    printf("%s takes %ld bytes of stack, not %ld at most\n", what, used, allowed);
}
#define CHECK_STACK(run, meets) check(#run, (run), (meets))

static void test_file(const char *with) {
    void (*const views[])(void) = {view_flat, view_short, view_long};
    scene = hints = with;
    (void)snprintf(path, sizeof path, "%s", fresh("small-stack"));
    CHECK_STACK(open_file, true);
    for (size_t v = 0; v < sizeof views / sizeof *views && file; v++) {
        check("sago_set_view", views[v], true);
        CHECK_STACK(write_all, true);
        CHECK_STACK(read_all, true);
        CHECK_STACK(write_alone, false);
        CHECK_STACK(read_alone, false);
        CHECK_STACK(behind, true);
        CHECK_STACK(declared, true);
    }
    CHECK_STACK(sync_file, true);
    CHECK_STACK(close_file, true);
    if (rank == 0)
        (void)unlink(path);
}

static void test_ckpt(const char *with) {
    static char text[256];
    (void)snprintf(text, sizeof text, "%s sago_local_dirs=local sago_ckpt_files=4", with);
    scene = hints = text;
    (void)snprintf(dir, sizeof dir, "%s", scratch(with));
    step = 0;
    for (int turn = 0; turn < 2; turn++) {
        CHECK_STACK(open_ckpt, true);
        if (turn > 0)
            CHECK_STACK(restore, true);
        CHECK_STACK(save, true);
        CHECK_STACK(save, true);
        CHECK_STACK(verify, true);
        CHECK_STACK(close_ckpt, true);
    }
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    check_ready();
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return check_skip("a sanitizer makes frames larger");
#endif
    if (level < MPI_THREAD_SERIALIZED)
        return check_skip("this MPI lets no other thread make calls");
    static const char *const files[] = {"",
                                        "sago_strategy=aggregated",
                                        "sago_strategy=aggregated sago_window=4K sago_sieve=on",
                                        "sago_strategy=direct",
                                        "sago_strategy=direct sago_io=uring",
                                        "sago_strategy=mapped sago_map=on",
                                        "sago_defer=on",
                                        "sago_subfiles=2 sago_subfile_block=4K",
                                        "sago_move=rma sago_strategy=aggregated"};
    for (fake_node_ranks = 0; fake_node_ranks < 3; fake_node_ranks += 2) {
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            test_file(files[i]);
        char tier[CHECK_PATH_MAX + 64];
        (void)mkdir(scratch("tier"), 0777);
        (void)snprintf(tier, sizeof tier, "sago_tier=local sago_local_dirs=%s", scratch("tier"));
        test_file(tier);
    }
    fake_node_ranks = 1;
    char own[CHECK_PATH_MAX]; /* a folder of each node's own, where the relative sago_local_dirs is */
    (void)snprintf(own, sizeof own, "%s.%d", scratch("node"), rank);
    CHECK(mkdir(own, 0777) == 0 && chdir(own) == 0 && mkdir("local", 0777) == 0);
    test_ckpt("sago_ckpt_mode=threaded");
    test_ckpt("sago_ckpt_mode=rbio");
    test_ckpt("sago_ckpt_mode=coio");
    test_ckpt("sago_ckpt_redundancy=copy");
    test_ckpt("sago_ckpt_redundancy=xor");
    test_ckpt("sago_ckpt_redundancy=rs:2 sago_ckpt_set=4");
    return check_end();
}
