/* One life of a program that checkpoints: it restores the latest step, compares it with what must be in it, goes
 * on saving, and may be killed by itself at some time (the rank and the time follow from the seed; 0: never).
 * scripts/test_ckpt_kill.sh lets it live many times.
 *     test_ckpt_kill DIR SEED [HINTS] */
/* RUN: n=2 */
#include <signal.h>
#include <sys/time.h>

#include "mpi/ckpt_model.h"

enum { STEPS = 40 };

/* A call that succeeds, unless the other rank was killed: then this one's life is over, too. */
#define ALIVE(call) alive((call), #call, __LINE__)

static void alive(sago_status status, const char *call, int line) {
    if (status == SAGO_ERR_PEER)
        _exit(3);
    check_ok(status, call, line);
}

static void die(int number) {
    (void)number;
    kill(getpid(), SIGKILL);
}

/* From the middle of opening to far into the saves. */
static void arm(uint64_t seed) {
    uint64_t state = seed;
    struct itimerval timer = {{0, 0}, {0, (suseconds_t)draw_range(&state, 1000, 250000)}};
    if (seed == 0 || draw_range(&state, 0, ranks - 1) != rank)
        return;
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* What was reported is written down, where a killed process leaves it. */
static int64_t last_reported(const char *path) {
    FILE *file = fopen(path, "r");
    long long step = -1;
    while (file && fscanf(file, "%lld", &step) == 1)
        ;
    if (file)
        fclose(file);
    return step;
}

static void report(const char *path, int64_t step) {
    char line[32];
    int length = snprintf(line, sizeof line, "%lld\n", (long long)step);
    int fd = rank == 0 ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd < 0)
        return;
    CHECK(write(fd, line, (size_t)length) == length);
    close(fd);
}

static void live(sago_ckpt *ckpt, const model *m, decomposition *d, const char *reports) {
    int64_t step = -1;
    ALIVE(sago_ckpt_restore_latest(ckpt, &step));
    CHECK(step >= last_reported(reports));
    if (step >= 0)
        CHECK_INT(visit_all(m, d, step, compare_byte), 0);
    for (int64_t end = step + STEPS; ++step < end && failures == 0;) {
        visit_all(m, d, step, fill_byte);
        ALIVE(sago_ckpt_save(ckpt, step));
        if (step % 3 == 0) {
            ALIVE(sago_ckpt_wait(ckpt, step, SAGO_LEVEL_LOCAL));
            report(reports, step);
        }
    }
    ALIVE(sago_ckpt_close(&ckpt));
}

int main(int argc, char **argv) {
    static decomposition d;
    model m;
    sago_ckpt *ckpt = NULL;
    char dir[CHECK_PATH_MAX], reports[CHECK_PATH_MAX + 16];
    check_start(&argc, &argv);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    MPI_Info info = hints_of(argc > 3 ? argv[3] : "sago_ckpt_keep_global=3");
    snprintf(dir, sizeof dir, "%s", argc > 1 ? argv[1] : scratch("ckpt"));
    snprintf(reports, sizeof reports, "%s.reported", dir);
    model_make(&m, 42, false);
    decompose(&m, &d, 7, ranks, rank);
    arm(seed);
    ALIVE(sago_ckpt_open(MPI_COMM_WORLD, dir, info, &ckpt));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (ckpt) {
        protect_arrays(&m, &d, ckpt);
        live(ckpt, &m, &d, reports);
    }
    decomposition_free(&m, &d);
    return check_end();
}
