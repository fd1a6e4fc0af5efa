/* What a save took: the statistics of every save and their sums, and the same as lines of JSON in a file. */
/* RUN: n=2 */
#include <errno.h>
#include <stdatomic.h>

#include "system/files.h"
#include "mpi/ckpt_model.h"
#include "support/inject.h"

enum { BYTES = 300000 };

static unsigned char data[BYTES];

static sago_ckpt *open_ckpt(const char *hints) {
    char all[2 * CHECK_PATH_MAX];
    sago_ckpt *ckpt = NULL;
    snprintf(all, sizeof all, "sago_ckpt_stats=%s %s", scratch("lines"), hints);
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, scratch("ckpt"), all, &ckpt));
    CHECK_OK(sago_ckpt_protect_local(ckpt, "data", data, sizeof data));
    return ckpt;
}

static bool near(double a, double b) { return a >= 0.999999 * b && a <= 1.000001 * b; }

static void check_save(const sago_ckpt_save_stats *s, int64_t step, sago_level level) {
    CHECK_INT(s->step, step);
    CHECK_INT(s->bytes, (int64_t)BYTES * ranks);
    CHECK_INT(s->written, 1);
    CHECK_INT(s->level, level);
    CHECK(s->copy > 0 && s->held >= s->copy && s->queue >= 0 && s->write > 0);
    CHECK((s->drain > 0) == (level == SAGO_LEVEL_GLOBAL));
    CHECK(s->redundancy == 0);
    CHECK(near(s->perceived, (double)s->bytes / s->held) && near(s->raw, (double)s->bytes / s->write));
    CHECK(same_everywhere((long long)(1e9 * s->held)) && same_everywhere((long long)(1e9 * s->write)));
}

static void check_sums(const sago_ckpt_stats *stats) {
    double held = 0, write = 0, drain = 0;
    for (int64_t i = 0; i < stats->nrecent; i++) {
        held += stats->recent[i].held;
        write += stats->recent[i].write;
        drain += stats->recent[i].drain;
    }
    CHECK(stats->held > 0 &&
          stats->held <= 1.000001 * held); /* of one rank; those above are of the slowest each */
    CHECK(stats->write > 0 && stats->write <= 1.000001 * write);
    CHECK(stats->drain > 0 && stats->drain <= 1.000001 * drain);
    CHECK(stats->copy > 0 && stats->thread_cpu > 0 && stats->pool_bytes >= (int64_t)BYTES * ranks);
    CHECK_INT(stats->bytes_saved, stats->saves * (int64_t)BYTES * ranks);
}

/* Local steps first; the second is brought to the global directory when somebody asks. */
static void saves(const char *local) {
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    char hints[2 * CHECK_PATH_MAX];
    snprintf(hints, sizeof hints, "sago_local_dirs=%s sago_ckpt_global_every=0", local);
    sago_ckpt *ckpt = open_ckpt(hints);
    for (int64_t step = 1; step <= 2; step++) {
        CHECK_OK(sago_ckpt_save(ckpt, step));
        CHECK_OK(sago_ckpt_wait(ckpt, step, SAGO_LEVEL_LOCAL));
    }
    CHECK_OK(sago_ckpt_wait(ckpt, 2, SAGO_LEVEL_GLOBAL));
    CHECK_OK(sago_ckpt_restore(ckpt, 2));
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK_INT(stats.saves, 2);
    CHECK_INT(stats.nrecent, 2);
    CHECK_INT(stats.restores, 1);
    CHECK_INT(stats.failed + stats.skipped + stats.replaced, 0);
    CHECK(stats.restore > 0 && same_everywhere((long long)(1e9 * stats.restore)));
    check_save(&stats.recent[0], 2, SAGO_LEVEL_GLOBAL);
    check_save(&stats.recent[1], 1, SAGO_LEVEL_LOCAL);
    check_sums(&stats);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static int refuse_data(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_WRITE && strstr(op->path, ".data") ? EIO : 0;
}

static atomic_bool may_write;

/* At most twenty seconds: a save that waits for room instead of being skipped, or replacing one, fails the test,
 * and does not hang it. */
static int hold_data(void *arg, const sagoi_file_op *op, int64_t *len) {
    enum { TRIES = 2000, PAUSE = 10000 };
    (void)arg, (void)len;
    for (int i = 0; i < TRIES && !may_write && op->kind == SAGOI_OP_WRITE && strstr(op->path, ".data"); i++)
        usleep(PAUSE);
    return 0;
}

static void failed_and_skipped(void) {
    static const file_hooks refuse = {.before = refuse_data}, hold = {.before = hold_data};
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    sago_ckpt *ckpt = open_ckpt("sago_ckpt_early=skip");
    inject_file_hooks(&refuse);
    CHECK_OK(sago_ckpt_save(ckpt, 3));
    EXPECT(sago_ckpt_wait(ckpt, 3, SAGO_LEVEL_LOCAL), SAGO_ERR_IO, "step 3 is not at level global", -1);
    inject_file_hooks(&hold);
    CHECK_OK(sago_ckpt_save(ckpt, 4));
    CHECK_OK(sago_ckpt_save(ckpt, 5));
    EXPECT(sago_ckpt_save(ckpt, 6), SAGO_ERR_BUSY, "skipped", -1);
    may_write = true;
    CHECK_OK(sago_ckpt_wait(ckpt, 5, SAGO_LEVEL_GLOBAL));
    inject_file_hooks(NULL);
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK_INT(stats.saves, 3);
    CHECK_INT(stats.failed, 1);
    CHECK_INT(stats.skipped, 1);
    CHECK_INT(stats.recent[2].written, -1);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

/* The lines, by rank 0.  Of step 2 there are two: at the local level, at the global one. */
static void lines(void) {
    static const struct {
        int step;
        const char *state, *level; /* level NULL: no times */
    } wanted[] = {{1, "written", "local"}, {2, "written", "local"}, {2, "written", "global"},
                  {3, "failed", "memory"}, {6, "skipped", NULL},    {4, "written", "global"},
                  {5, "written", "global"}};
    static const char *const keys[] = {"held",  "copy",  "queue",     "write", "redundancy",
                                       "drain", "bytes", "perceived", "raw"};
    char line[2048], text[64];
    FILE *file = fopen(scratch("lines"), "r");
    CHECK(file != NULL);
    for (size_t i = 0; file && i < sizeof wanted / sizeof wanted[0]; i++) {
        CHECK(fgets(line, sizeof line, file) != NULL);
        scene = line;
        snprintf(text, sizeof text, "{\"step\": %d, ", wanted[i].step);
        CHECK(strncmp(line, text, strlen(text)) == 0 && strstr(line, "}\n"));
        snprintf(text, sizeof text, "\"state\": \"%s\"", wanted[i].state);
        CHECK(strstr(line, text) != NULL);
        snprintf(text, sizeof text, "\"level\": \"%s\"", wanted[i].level ? wanted[i].level : "");
        CHECK(!wanted[i].level || strstr(line, text));
        for (size_t k = 0; wanted[i].level && k < sizeof keys / sizeof keys[0]; k++) {
            snprintf(text, sizeof text, "\"%s\": ", keys[k]);
            CHECK(strstr(line, text) != NULL);
        }
        CHECK((strstr(line, "\"error\": \"step 3 is not at level global: writing") != NULL) ==
              (wanted[i].step == 3));
    }
    CHECK(file && !fgets(line, sizeof line, file));
    if (file)
        fclose(file);
}

/* While 7 is being written 8 waits for its turn, and 9 takes its place. */
static void replaced(void) {
    static const file_hooks hold = {.before = hold_data};
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    sago_ckpt *ckpt = open_ckpt("sago_ckpt_early=replace");
    scene = "replaced";
    may_write = false;
    inject_file_hooks(&hold);
    for (int64_t step = 7; step <= 9; step++)
        CHECK_OK(sago_ckpt_save(ckpt, step));
    may_write = true;
    CHECK_OK(sago_ckpt_wait(ckpt, 7, SAGO_LEVEL_GLOBAL));
    CHECK_OK(sago_ckpt_wait(ckpt, 9, SAGO_LEVEL_GLOBAL));
    CHECK(sago_ckpt_wait(ckpt, 8, SAGO_LEVEL_GLOBAL) != SAGO_OK);
    inject_file_hooks(NULL);
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK_INT(stats.replaced, 1);
    CHECK_INT(stats.failed + stats.skipped, 0);
    CHECK_OK(sago_ckpt_restore(ckpt, 9));
    CHECK_OK(sago_ckpt_close(&ckpt));
}

/* Never faster than the rate, whatever else the machine does. */
static void bounded(const char *local) {
    enum { RATE = 1 << 20 };
    char hints[1024];
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    snprintf(hints, sizeof hints, "sago_local_dirs=%s sago_ckpt_rate=%d sago_ckpt_files=1", local, RATE);
    sago_ckpt *ckpt = open_ckpt(hints);
    scene = "bounded";
    CHECK_OK(sago_ckpt_save(ckpt, 10));
    CHECK_OK(sago_ckpt_wait(ckpt, 10, SAGO_LEVEL_GLOBAL));
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK(stats.recent[0].drain >= 0.5 * BYTES * ranks / RATE);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

int main(int argc, char **argv) {
    sago_ckpt *ckpt = NULL;
    check_start(&argc, &argv);
    if (rank == 0)
        CHECK(mkdir(scratch("local"), 0700) == 0);
    meet();
    saves(scratch("local"));
    failed_and_skipped();
    if (rank == 0)
        lines();
    meet();
    replaced();
    bounded(scratch("local"));
    MPI_Info info = hints_of("sago_ckpt_stats=/nowhere/at/all");
    EXPECT(sago_ckpt_open(MPI_COMM_WORLD, scratch("ckpt"), info, &ckpt), SAGO_ERR_NO_FILE, "sago_ckpt_stats", 0);
    MPI_Info_free(&info);
    return check_end();
}
