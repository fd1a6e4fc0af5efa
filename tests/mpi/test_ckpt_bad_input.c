/* Wrong calls of checkpoints: clear errors on all ranks, nothing touched; and what happens when saves come early.
 */
/* RUN: n=1,3 */
#include <malloc.h>

#include "system/files.h"
#include "mpi/ckpt_model.h"
#include "support/inject.h"

static double values[64];

static sago_ckpt *open_plain(const char *hints) {
    sago_ckpt *ckpt = NULL;
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, scratch("ckpt"), hints, &ckpt));
    return ckpt;
}

/* This rank's row of an array of ranks x 4. */
static sago_status protect_row(sago_ckpt *ckpt, int64_t row, int64_t columns) {
    int64_t global[2] = {ranks, 4}, start[2] = {row, 0}, count[2] = {1, columns};
    sago_block block = {start, count, NULL, NULL, values};
    return sago_ckpt_protect(ckpt, "a", MPI_DOUBLE, 2, global, 1, &block);
}

static void bad_names(sago_ckpt *ckpt) {
    EXPECT(sago_ckpt_protect_local(ckpt, "", values, 8), SAGO_ERR_ARG, "empty", -1);
    EXPECT(sago_ckpt_protect_local(ckpt, NULL, values, 8), SAGO_ERR_ARG, "NULL", -1);
    EXPECT(sago_ckpt_protect_local(ckpt, "a/b", values, 8), SAGO_ERR_ARG, "slash", -1);
    EXPECT(sago_ckpt_protect_local(ckpt, "x", NULL, 8), SAGO_ERR_ARG, "8 bytes", -1);
    EXPECT(sago_ckpt_unprotect(ckpt, "x"), SAGO_ERR_ARG, "nothing called", -1);
    CHECK_OK(sago_ckpt_protect_local(ckpt, "x", values, 8));
    EXPECT(sago_ckpt_protect_shared(ckpt, "x", values, 8), SAGO_ERR_EXISTS, "already", -1);
    CHECK_OK(sago_ckpt_unprotect(ckpt, "x"));
}

static void bad_blocks(sago_ckpt *ckpt) {
    int64_t global[2] = {ranks, 4};
    EXPECT(protect_row(ckpt, rank, 5), SAGO_ERR_ARG, "5 elements", -1);
    EXPECT(protect_row(ckpt, ranks, 1), SAGO_ERR_ARG, "dimension 0", -1);
    EXPECT(sago_ckpt_protect(ckpt, "a", MPI_DATATYPE_NULL, 2, global, 0, NULL), SAGO_ERR_TYPE, "NULL", -1);
    EXPECT(sago_ckpt_protect(ckpt, "a", MPI_DOUBLE, 9, global, 0, NULL), SAGO_ERR_ARG, "9 dimensions", -1);
    EXPECT(sago_ckpt_protect(ckpt, "a", MPI_DOUBLE, 2, global, 1, NULL), SAGO_ERR_ARG, "NULL", -1);
    CHECK_OK(protect_row(ckpt, rank, rank == 0 ? 3 : 4));
    EXPECT(sago_ckpt_save(ckpt, 1), SAGO_ERR_EXTENTS, "incomplete", -1);
    CHECK_OK(sago_ckpt_unprotect(ckpt, "a"));
    if (ranks > 1) {
        CHECK_OK(protect_row(ckpt, rank == 0 ? 1 : rank, 4));
        EXPECT(sago_ckpt_save(ckpt, 1), SAGO_ERR_EXTENTS, "overlap", -1);
        CHECK_OK(sago_ckpt_unprotect(ckpt, "a"));
        CHECK_OK(sago_ckpt_protect_shared(ckpt, "s", values, rank == 0 ? 8 : 16));
        EXPECT(sago_ckpt_save(ckpt, 1), SAGO_ERR_MISMATCH, "different", -1);
        CHECK_OK(sago_ckpt_unprotect(ckpt, "s"));
        EXPECT(sago_ckpt_save(ckpt, rank), SAGO_ERR_MISMATCH, "different steps", -1);
    }
}

static void bad_steps(sago_ckpt *ckpt) {
    int64_t latest = 0, global[2] = {ranks, 5};
    CHECK_OK(sago_ckpt_latest(ckpt, SAGO_LEVEL_LOCAL, &latest));
    CHECK_INT(latest, -1); /* nothing was touched */
    EXPECT(sago_ckpt_restore(ckpt, 7), SAGO_ERR_NO_FILE, "step 7", -1);
    CHECK_OK(protect_row(ckpt, rank, 4));
    EXPECT(sago_ckpt_save(ckpt, -1), SAGO_ERR_ARG, "negative", -1);
    EXPECT(sago_ckpt_save(ckpt, INT64_MIN), SAGO_ERR_ARG, "negative", -1);
    EXPECT(sago_ckpt_wait(ckpt, INT64_MIN, SAGO_LEVEL_LOCAL), SAGO_ERR_NO_FILE, "not saved", -1);
    CHECK_OK(sago_ckpt_save(ckpt, 7));
    EXPECT(sago_ckpt_save(ckpt, 7), SAGO_ERR_EXISTS, "step 7", -1);
    CHECK_OK(sago_ckpt_wait(ckpt, 7, SAGO_LEVEL_GLOBAL));
    EXPECT(sago_ckpt_save(ckpt, 7), SAGO_ERR_EXISTS, "step 7", -1);
    EXPECT(sago_ckpt_wait(ckpt, 8, SAGO_LEVEL_LOCAL), SAGO_ERR_NO_FILE, "step 8", -1);
    CHECK_OK(sago_ckpt_unprotect(ckpt, "a"));
    CHECK_OK(sago_ckpt_protect(ckpt, "a", MPI_DOUBLE, 2, global, 0, NULL));
    EXPECT(sago_ckpt_restore(ckpt, 7), SAGO_ERR_MISMATCH, "float64", -1);
    CHECK_OK(sago_ckpt_unprotect(ckpt, "a"));
    global[1] = 4;
    CHECK_OK(sago_ckpt_protect(ckpt, "a", MPI_FLOAT, 2, global, 0, NULL));
    EXPECT(sago_ckpt_restore(ckpt, 7), SAGO_ERR_MISMATCH, "float32", -1);
    CHECK_OK(sago_ckpt_unprotect(ckpt, "a"));
    CHECK_OK(sago_ckpt_protect_local(ckpt, "b", values, 8));
    EXPECT(sago_ckpt_restore(ckpt, 7), SAGO_ERR_MISMATCH, "nothing called \"b\"", -1);
    CHECK_OK(sago_ckpt_unprotect(ckpt, "b"));
}

/* Step 7 is there, the others' is not: no rank may wait for another one elsewhere, and nothing is changed. */
static void different_steps(sago_ckpt *ckpt) {
    int64_t mine = rank == 0 ? 7 : 8, latest = -1;
    sago_ckpt_info info = SAGO_CKPT_INFO_INIT;
    CHECK_OK(protect_row(ckpt, rank, 4));
    EXPECT(sago_ckpt_restore(ckpt, mine), SAGO_ERR_MISMATCH, "different steps: 8 and 7", -1);
    EXPECT(sago_ckpt_verify(ckpt, mine), SAGO_ERR_MISMATCH, "different steps", -1);
    EXPECT(sago_ckpt_drain(ckpt, mine), SAGO_ERR_MISMATCH, "different steps", -1);
    EXPECT(sago_ckpt_repair(ckpt, mine), SAGO_ERR_MISMATCH, "different steps", -1);
    EXPECT(sago_ckpt_remove(ckpt, mine), SAGO_ERR_MISMATCH, "different steps", -1);
    EXPECT(sago_ckpt_remove_damaged(ckpt, mine), SAGO_ERR_MISMATCH, "different steps", -1);
    EXPECT(sago_ckpt_inquire(ckpt, mine, "a", &info), SAGO_ERR_MISMATCH, "different steps", -1);
    EXPECT(sago_ckpt_inquire_index(ckpt, mine, 0, &info), SAGO_ERR_MISMATCH, "different steps", -1);
    CHECK_OK(sago_ckpt_latest(ckpt, SAGO_LEVEL_GLOBAL, &latest));
    CHECK_INT(latest, 7);
    CHECK_OK(sago_ckpt_restore(ckpt, 7));
    CHECK_OK(sago_ckpt_unprotect(ckpt, "a"));
}

static void bad_directories(void) {
    sago_ckpt *second = NULL;
    MPI_Info redundancy = hints_of("sago_ckpt_redundancy=xor");
    EXPECT(sago_ckpt_open(MPI_COMM_WORLD, scratch("ckpt"), MPI_INFO_NULL, &second), SAGO_ERR_BUSY, "another job",
           0);
    EXPECT(sago_ckpt_open(MPI_COMM_WORLD, "", MPI_INFO_NULL, &second), SAGO_ERR_ARG, "empty", -1);
    EXPECT(sago_ckpt_open(MPI_COMM_WORLD, scratch("no/such"), MPI_INFO_NULL, &second), SAGO_ERR_NO_FILE, "no/such",
           0);
    EXPECT(sago_ckpt_open(MPI_COMM_WORLD, scratch("other"), MPI_INFO_NULL, &second), SAGO_ERR_BAD_FILE,
           "not a checkpoint directory", 0);
    CHECK(second == NULL);
    CHECK_OK(sago_ckpt_open(MPI_COMM_WORLD, scratch("new"), redundancy, &second));
    CHECK_OK(protect_row(second, rank, 4));
    EXPECT(sago_ckpt_save(second, 1), SAGO_ERR_UNSUPPORTED, "storage", -1);
    CHECK_OK(sago_ckpt_close(&second));
    EXPECT(sago_ckpt_save(NULL, 1), SAGO_ERR_HANDLE, "NULL", -1);
    MPI_Info_free(&redundancy);
}

/* A job that goes on with fewer ranks than before has the hints that it had. */
static void more_files_than_ranks(void) {
    sago_ckpt *ckpt = NULL;
    sago_ckpt_step step = {0};
    int64_t n = 1;
    MPI_Info files = hints_of("sago_ckpt_files=1000");
    CHECK_OK(sago_ckpt_open(MPI_COMM_WORLD, scratch("files"), files, &ckpt));
    CHECK_OK(protect_row(ckpt, rank, 4));
    CHECK_OK(sago_ckpt_save(ckpt, 1));
    CHECK_OK(sago_ckpt_wait(ckpt, 1, SAGO_LEVEL_GLOBAL));
    CHECK_OK(sago_ckpt_list(ckpt, &n, &step));
    CHECK_INT(step.files, ranks);
    CHECK_OK(sago_ckpt_restore(ckpt, 1));
    CHECK_OK(sago_ckpt_close(&ckpt));
    MPI_Info_free(&files);
}

/* What had to go, since there were newer ones, may be saved again. */
static void saved_again(void) {
    sago_ckpt_step step = {0};
    int64_t n = 1;
    sago_ckpt *ckpt = NULL;
    MPI_Info one = hints_of("sago_ckpt_keep_global=1");
    CHECK_OK(sago_ckpt_open(MPI_COMM_WORLD, scratch("again"), one, &ckpt));
    CHECK_OK(protect_row(ckpt, rank, 4));
    for (int i = 0; i < 4; i++) {
        values[0] = i;
        CHECK_OK(sago_ckpt_save(ckpt, 1 + i % 2));
        CHECK_OK(sago_ckpt_wait(ckpt, 1 + i % 2, SAGO_LEVEL_GLOBAL));
        EXPECT(sago_ckpt_save(ckpt, 1 + i % 2), SAGO_ERR_EXISTS, "there already", -1);
    }
    CHECK_OK(sago_ckpt_restore(ckpt, 2));
    CHECK(values[0] == 3);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_OK(sago_ckpt_open(MPI_COMM_WORLD, scratch("again"), one, &ckpt));
    CHECK_OK(sago_ckpt_list(ckpt, &n, &step));
    CHECK_INT(n, 1);
    CHECK_INT(step.step, 2);
    CHECK_OK(sago_ckpt_close(&ckpt));
    MPI_Info_free(&one);
}

/* The program may change its directory: names keep the meaning that they had. */
static void elsewhere(void) {
    sago_ckpt *ckpt = NULL;
    MPI_Info local = hints_of("sago_local_dirs=here-local");
    if (rank == 0)
        CHECK(system("mkdir -p here-local there/here there/here-local") == 0);
    meet();
    CHECK_OK(sago_ckpt_open(MPI_COMM_WORLD, "here", local, &ckpt));
    CHECK_OK(protect_row(ckpt, rank, 4));
    CHECK(chdir("there") == 0);
    CHECK_OK(sago_ckpt_save(ckpt, 1));
    CHECK_OK(sago_ckpt_wait(ckpt, 1, SAGO_LEVEL_GLOBAL));
    CHECK_OK(sago_ckpt_restore(ckpt, 1));
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK(chdir("..") == 0);
    meet();
    if (rank == 0)
        CHECK(system("test -d here/step-* && test -d here-local/*/step-* && rmdir there/*") == 0);
    meet();
    MPI_Info_free(&local);
}

/* A reader needs no lock, and changes nothing. */
static void readers(void) {
    int64_t latest = -1;
    sago_ckpt *reader = open_plain("sago_ckpt_read_only=on");
    CHECK_OK(sago_ckpt_latest(reader, SAGO_LEVEL_GLOBAL, &latest));
    CHECK_INT(latest, 7);
    CHECK_OK(protect_row(reader, rank, 4));
    EXPECT(sago_ckpt_save(reader, 9), SAGO_ERR_MODE, "reading only", -1);
    EXPECT(sago_ckpt_remove(reader, 7), SAGO_ERR_MODE, "reading only", -1);
    CHECK_OK(sago_ckpt_restore(reader, 7));
    CHECK_OK(sago_ckpt_close(&reader));
}

/* ---- Saves that come early ---- */

static int slow_before(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    if (op->kind == SAGOI_OP_WRITE && strstr(op->path, ".data"))
        usleep(150000);
    return 0;
}

static void early(const char *policy) {
    const file_hooks slow = {.before = slow_before};
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    char hints[128];
    int skipped = 0;
    snprintf(hints, sizeof hints, "sago_ckpt_early=%s", policy);
    sago_ckpt *ckpt = open_plain(hints);
    CHECK_OK(protect_row(ckpt, rank, 4));
    CHECK_OK(sago_ckpt_save(ckpt, 100));
    CHECK_OK(sago_ckpt_wait(ckpt, 100, SAGO_LEVEL_GLOBAL));
    inject_file_hooks(&slow);
    for (int64_t step = 101; step <= 104; step++) {
        values[0] = (double)step + rank;
        sago_status status = sago_ckpt_save(ckpt, step);
        CHECK(status == SAGO_OK || (status == SAGO_ERR_BUSY && strcmp(policy, "skip") == 0));
        CHECK(same_everywhere(status));
        skipped += status == SAGO_ERR_BUSY;
    }
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK_INT(stats.skipped, skipped);
    CHECK(strcmp(policy, "wait") == 0 || stats.skipped + stats.replaced > 0);
    int64_t latest = 0, wanted = strcmp(policy, "skip") == 0 ? 102 : 104;
    CHECK_OK(sago_ckpt_wait(ckpt, wanted, SAGO_LEVEL_GLOBAL));
    inject_file_hooks(NULL);
    CHECK_OK(sago_ckpt_latest(ckpt, SAGO_LEVEL_GLOBAL, &latest));
    CHECK_INT(latest, wanted);
    values[0] = 0;
    CHECK_OK(sago_ckpt_restore(ckpt, latest));
    CHECK(values[0] == (double)latest + rank);
    for (int64_t step = 100; step <= 104; step++)
        (void)sago_ckpt_remove(ckpt, step);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static int slow_directory(void *arg, const sagoi_file_op *op, int64_t *len) {
    return strstr(op->path, "/file-") ? slow_before(arg, op, len) : 0;
}

/* More steps than are remembered are on their way to the directory: the oldest is remembered while it is waited
 * for. */
static void wait_for_the_oldest(void) {
    const file_hooks slow = {.before = slow_directory};
    char hints[CHECK_PATH_MAX + 64];
    CHECK(rank != 0 || mkdir("local", 0700) == 0);
    meet();
    snprintf(hints, sizeof hints, "sago_ckpt_keep_local=0 sago_ckpt_keep_global=0 sago_local_dirs=%s",
             scratch("local"));
    sago_ckpt *ckpt = open_plain(hints);
    CHECK_OK(protect_row(ckpt, rank, 4));
    /* What is freed is not what it was.  The sanitizers' allocators, which have no such option, notice by
     * themselves. */
    (void)mallopt(M_PERTURB, 0x80);
    inject_file_hooks(&slow);
    for (int64_t step = 300; step < 304 + SAGO_CKPT_RECENT; step++)
        CHECK_OK(sago_ckpt_save(ckpt, step));
    CHECK_OK(sago_ckpt_wait(ckpt, 300, SAGO_LEVEL_GLOBAL));
    inject_file_hooks(NULL);
    CHECK_OK(sago_ckpt_close(&ckpt));
    (void)mallopt(M_PERTURB, 0);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (rank == 0)
        CHECK(system("mkdir other && touch other/precious") == 0);
    meet();
    sago_ckpt *ckpt = open_plain("");
    bad_names(ckpt);
    bad_blocks(ckpt);
    bad_steps(ckpt);
    if (ranks > 1)
        different_steps(ckpt);
    bad_directories();
    more_files_than_ranks();
    readers();
    CHECK_OK(sago_ckpt_close(&ckpt));
    early("wait");
    early("skip");
    early("replace");
    wait_for_the_oldest();
    saved_again();
    elsewhere();
    if (rank == 0) {
        CHECK(access("other/precious", F_OK) == 0);
        CHECK(access("ckpt/lock.00000001", F_OK) != 0 && access("ckpt/lock.00000002", F_OK) != 0);
    }
    return check_end();
}
