/* Saves or restores one step of random arrays; cluster/test_ckpt_nodes.sh takes nodes' storage away between the
 * two. test_ckpt_nodes save|die|restore|lost|open|copy DIR HINTS
 * `die`: saves, and is killed. `lost`: restoring must fail with a message that names what is
 * missing. `open`: no more than that; `copy`: the same, and the directory must be found to be a copy. */
/* RUN: n=2 */
#include <signal.h>

#include "mpi/ckpt_model.h"

enum { STEP = 5 };

static bool is_redundant(const char *hints) {
    return strstr(hints, "redundancy") && !strstr(hints, "redundancy=none");
}

static void run(const char *what, const char *dir, const char *hints) {
    static decomposition d;
    static extras e;
    model m;
    sago_ckpt *ckpt = NULL;
    bool dies = strcmp(what, "die") == 0, save = dies || strcmp(what, "save") == 0;
    model_make(&m, 17, true);
    decompose(&m, &d, save ? 3 : 4, ranks, rank);
    extras_fill(&e, &m, STEP, rank);
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, dir, hints, &ckpt));
    if (!ckpt)
        return;
    visit_all(&m, &d, save ? STEP : 0, fill_byte);
    protect_arrays(&m, &d, ckpt);
    CHECK_OK(sago_ckpt_protect_local(ckpt, "own", e.local, e.local_bytes));
    CHECK_OK(sago_ckpt_protect_shared(ckpt, "all", e.shared, MODEL_SHARED));
    if (save) {
        CHECK_OK(sago_ckpt_save(ckpt, STEP));
        CHECK_OK(sago_ckpt_wait(ckpt, STEP, is_redundant(hints) ? SAGO_LEVEL_REDUNDANT : SAGO_LEVEL_LOCAL));
        if (dies)
            kill(getpid(), SIGKILL);
        CHECK_OK(sago_ckpt_verify(ckpt, STEP));
    } else if (strcmp(what, "lost") == 0) {
        sago_status status = sago_ckpt_restore(ckpt, STEP);
        CHECK_INT(status, SAGO_ERR_IO);
        CHECK(strstr(sago_error_message(), "the parts of 2 of 4 writers"));
        if (rank == 0)
            printf("%s\n", sago_error_message());
    } else {
        sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
        extras_clear(&e);
        CHECK_OK(sago_ckpt_restore(ckpt, STEP));
        CHECK_INT(visit_all(&m, &d, STEP, compare_byte) + extras_wrong(&e, &m, STEP, rank), 0);
        CHECK_OK(sago_ckpt_get_report(ckpt, &report));
        CHECK(!strstr(hints, "global_every=0") || report.bytes_from[SAGO_LEVEL_GLOBAL] == 0);
        if (rank == 0)
            printf("%s", report.text);
    }
    CHECK_OK(sago_ckpt_close(&ckpt));
    decomposition_free(&m, &d);
}

static void look(const char *dir, const char *hints, bool copy) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    sago_ckpt *ckpt = NULL;
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, dir, hints, &ckpt));
    if (!ckpt)
        return;
    CHECK_OK(sago_ckpt_get_report(ckpt, &report));
    CHECK((strstr(report.text, "the directory is a copy") != NULL) == copy);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

int main(int argc, char **argv) {
    int all = 0;
    MPI_Init(&argc, &argv); /* not check_start(): the ranks may be on several nodes */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 3 && (strcmp(argv[1], "open") == 0 || strcmp(argv[1], "copy") == 0)) {
        look(argv[2], argv[3], argv[1][0] == 'c');
    } else if (argc > 3) {
        run(argv[1], argv[2], argv[3]);
    } else {
        run("save", scratch("ckpt"), "");
        run("restore", scratch("ckpt"), "");
    }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    fflush(stdout);
    MPI_Finalize();
    return all > 0;
}
