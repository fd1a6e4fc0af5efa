/* Checkpoints against a naive model: random arrays, decompositions with ghost cells, modes, files and budgets;
 * saved by some ranks and restored by others, in other blocks. test_ckpt [--seeds N] [--first S] [--node R: so
 * many ranks have a node; then groups may be of several nodes, whose ranks send what they have] */
/* RUN: n=1,2,4 */
/* RUN: n=4,5 --node 1 --seeds 12 --first 100 */
/* RUN: n=4,6 --node 2 --seeds 12 --first 200 */
/* RUN-LONG: n=3,6 --seeds 400 --first 5000 */
/* RUN-LONG: n=6 --node 1 --seeds 400 --first 6000 */
/* RUN-LONG: n=8 --node 2 --seeds 400 --first 7000 */
#include "mpi/ckpt_model.h"
#include "mpi/fake_nodes.h"

static const char *const modes[] = {"threaded", "rbio", "coio"};

typedef struct setting {
    uint64_t seed;
    model m;
    int savers, restorers;
    char hints[256], files[64];
    char dir[CHECK_PATH_MAX];
} setting;

static setting draw_setting(uint64_t seed) {
    setting s = {.seed = seed};
    uint64_t state = seed * 77;
    bool large = draw_range(&state, 0, 7) == 0;
    model_make(&s.m, seed, large);
    s.savers = (int)draw_range(&state, 1, ranks);
    s.restorers = (int)draw_range(&state, 1, ranks);
    int at = snprintf(s.hints, sizeof s.hints, "sago_ckpt_mode=%s", modes[draw_range(&state, 0, 2)]);
    if (draw_range(&state, 0, 1))
        snprintf(s.files, sizeof s.files, "sago_ckpt_files=%d", (int)draw_range(&state, 1, s.savers));
    if (draw_range(&state, 0, 1))
        at += snprintf(s.hints + at, sizeof s.hints - (size_t)at, " sago_ckpt_group=%d",
                       (int)draw_range(&state, 1, ranks));
    if (large)
        at += snprintf(s.hints + at, sizeof s.hints - (size_t)at, " sago_memory=1M");
    if (draw_range(&state, 0, 2) == 0)
        snprintf(s.hints + at, sizeof s.hints - (size_t)at, " sago_local_dirs=%s", scratch("local"));
    snprintf(s.dir, sizeof s.dir, "%s", scratch("ckpt"));
    return s;
}

static sago_ckpt *open_ckpt(const setting *s, MPI_Comm comm, const char *more) {
    char text[512];
    sago_ckpt *ckpt = NULL;
    snprintf(text, sizeof text, "%s %s", s->hints, more);
    CHECK_OK(ckpt_open_hinted(comm, s->dir, text, &ckpt));
    return ckpt;
}

/* The first n ranks; MPI_COMM_NULL for the others. */
static MPI_Comm first_ranks(int n) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &comm);
    return comm;
}

static void save_steps(const setting *s, MPI_Comm comm) {
    static decomposition d;
    static extras e;
    sago_ckpt *ckpt = open_ckpt(s, comm, s->files);
    if (!ckpt)
        return;
    decompose(&s->m, &d, s->seed * 3 + 1, s->savers, rank);
    extras_fill(&e, &s->m, 0, rank);
    protect_arrays(&s->m, &d, ckpt);
    CHECK_OK(sago_ckpt_protect_local(ckpt, "own", e.local, e.local_bytes));
    CHECK_OK(sago_ckpt_protect_shared(ckpt, "all", e.shared, MODEL_SHARED));
    for (int64_t step = 1; step <= 3; step++) {
        visit_all(&s->m, &d, step, fill_byte);
        extras_fill(&e, &s->m, step, rank);
        CHECK_OK(sago_ckpt_save(ckpt, step * 10));
    }
    visit_all(&s->m, &d, 999, fill_byte); /* what was saved is no longer the application's */
    CHECK_OK(sago_ckpt_wait(ckpt, 20, SAGO_LEVEL_LOCAL));
    if (s->seed % 2)
        CHECK_OK(sago_ckpt_restore(ckpt, 20));
    if (s->seed % 2)
        CHECK_INT(visit_all(&s->m, &d, 2, compare_byte) + extras_wrong(&e, &s->m, 2, rank), 0);
    CHECK_OK(sago_ckpt_close(&ckpt));
    decomposition_free(&s->m, &d);
}

static void check_inquiry(const setting *s, sago_ckpt *ckpt) {
    sago_ckpt_info info = SAGO_CKPT_INFO_INIT;
    const model_array *a = &s->m.arrays[0];
    CHECK_OK(sago_ckpt_inquire(ckpt, 30, a->name, &info));
    CHECK(info.ndims == a->ndims && info.element_size == a->element && info.ranks == s->savers);
    for (int i = 0; i < a->ndims; i++)
        CHECK_INT(info.global[i], a->global[i]);
    CHECK_OK(sago_ckpt_inquire(ckpt, 30, "all", &info));
    CHECK(info.kind == SAGO_CKPT_SHARED && info.bytes == MODEL_SHARED);
}

static void restore_steps(const setting *s, MPI_Comm comm) {
    static decomposition d;
    static extras e;
    int64_t latest = 0;
    sago_ckpt *ckpt = open_ckpt(s, comm, s->seed % 3 ? "" : "sago_ckpt_read_only=on");
    if (!ckpt)
        return;
    CHECK_OK(sago_ckpt_latest(ckpt, SAGO_LEVEL_LOCAL, &latest));
    CHECK_INT(latest, 30);
    check_inquiry(s, ckpt);
    decompose(&s->m, &d, s->seed * 5 + 2, s->restorers, rank);
    extras_fill(&e, &s->m, 0, rank);
    protect_arrays(&s->m, &d, ckpt);
    CHECK_OK(sago_ckpt_protect_shared(ckpt, "all", e.shared, MODEL_SHARED));
    if (s->savers == s->restorers)
        CHECK_OK(sago_ckpt_protect_local(ckpt, "own", e.local, e.local_bytes));
    for (int64_t step = 3; step >= 2; step--) {
        extras_clear(&e);
        if (s->savers != s->restorers)
            extras_fill(&e, &s->m, step, rank);
        CHECK_OK(sago_ckpt_restore(ckpt, step * 10));
        CHECK_INT(visit_all(&s->m, &d, step, compare_byte), 0);
        CHECK_INT(extras_wrong(&e, &s->m, step, rank), 0);
        CHECK_OK(sago_ckpt_verify(ckpt, step * 10));
    }
    CHECK_OK(sago_ckpt_close(&ckpt));
    decomposition_free(&s->m, &d);
}

static void remove_all(const setting *s) {
    char command[2 * CHECK_PATH_MAX];
    meet();
    snprintf(command, sizeof command, "rm -rf '%s' '%s'; mkdir '%s'", s->dir, scratch("local"), scratch("local"));
    if (rank == 0)
        CHECK(system(command) == 0);
    meet();
}

static void run_seed(uint64_t seed) {
    char name[64];
    setting s = draw_setting(seed);
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    scene = name;
    remove_all(&s);
    MPI_Comm savers = first_ranks(s.savers), restorers = first_ranks(s.restorers);
    if (savers != MPI_COMM_NULL)
        save_steps(&s, savers);
    meet();
    if (restorers != MPI_COMM_NULL)
        restore_steps(&s, restorers);
    if (savers != MPI_COMM_NULL)
        MPI_Comm_free(&savers);
    if (restorers != MPI_COMM_NULL)
        MPI_Comm_free(&restorers);
    scene = "";
}

/* Writers share a file, and those after the first have nothing to write there. */
static void writers_without_data(const char *mode) {
    char value = 0, hints[128];
    int64_t step = -1;
    sago_ckpt *ckpt = NULL;
    setting s = {0};
    (void)snprintf(s.dir, sizeof s.dir, "%s", scratch("ckpt"));
    scene = mode;
    remove_all(&s);
    snprintf(hints, sizeof hints, "sago_ckpt_files=1 sago_ckpt_group=1 sago_ckpt_mode=%s", mode);
    for (int run = 0; run < 2; run++) {
        CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, s.dir, hints, &ckpt));
        CHECK_OK(sago_ckpt_protect_local(ckpt, "own", &value, rank == 0));
        if (run == 0) {
            value = 7;
            CHECK_OK(sago_ckpt_save(ckpt, 5));
            CHECK_OK(sago_ckpt_wait(ckpt, 5, SAGO_LEVEL_GLOBAL));
            value = 0;
        } else {
            CHECK_OK(sago_ckpt_restore_latest(ckpt, &step));
            CHECK_INT(step, 5);
            CHECK_INT(value, rank == 0 ? 7 : 0);
        }
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    scene = "";
}

int main(int argc, char **argv) {
    uint64_t seeds = 8, first = 1;
    check_start(&argc, &argv);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seeds") == 0)
            seeds = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--first") == 0)
            first = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--node") == 0)
            fake_node_ranks = (int)strtol(argv[i + 1], NULL, 10);
    }
    for (uint64_t seed = first; seed < first + seeds && sum_everywhere(failures) == 0; seed++)
        run_seed(seed);
    writers_without_data("threaded");
    writers_without_data("coio");
    return check_end();
}
