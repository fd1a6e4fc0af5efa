/* Directories that were copied, moved and opened by other names.  What is on the nodes belongs to the directory
 * that was copied: the copy finds none of it, and never touches it, while one that was moved finds all. */
/* RUN: n=2 */
#include "mpi/ckpt_model.h"

#define HINTS "sago_ckpt_global_every=2 sago_ckpt_keep_local=2 sago_ckpt_lease=2"

static model m;
static decomposition d;
static char hints[CHECK_PATH_MAX + 128], reading[CHECK_PATH_MAX + 192];

/* Rank 0 alone, in the scratch folder. */
static void shell(const char *command) {
    meet();
    if (rank == 0) {
        CHECK(system(command) == 0);
    }
    meet();
}

static sago_ckpt *open_as(const char *name, const char *how) {
    sago_ckpt *ckpt = NULL;
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, scratch(name), how, &ckpt));
    if (ckpt)
        protect_arrays(&m, &d, ckpt);
    return ckpt;
}

/* What a directory's steps have in them tells whose they are. */
static void save_steps(sago_ckpt *ckpt, int64_t from, int64_t to, int64_t whose) {
    for (int64_t step = from; step <= to; step++) {
        visit_all(&m, &d, step + whose, fill_byte);
        CHECK_OK(sago_ckpt_save(ckpt, step));
    }
}

static void check_newest(sago_ckpt *ckpt, int64_t wanted, int64_t whose) {
    int64_t step = -7;
    visit_all(&m, &d, 0, fill_byte);
    CHECK_OK(sago_ckpt_restore_latest(ckpt, &step));
    CHECK_INT(step, wanted);
    CHECK_INT(visit_all(&m, &d, wanted + whose, compare_byte), 0);
}

static void check_closed(const char *name, const char *how, int64_t wanted, int64_t whose) {
    sago_ckpt *ckpt = open_as(name, how);
    check_newest(ckpt, wanted, whose);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

/* Steps 1 to 5: 2 and 4 are in the directory, 4 and 5 on the nodes. */
static void start(void) {
    shell("rm -rf ckpt copy moved link other local local2; mkdir local");
    sago_ckpt *ckpt = open_as("ckpt", hints);
    save_steps(ckpt, 1, 5, 0);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static void copied(void) {
    start();
    scene = "copied";
    shell("cp -a ckpt copy");
    check_closed("copy", reading, 4, 0);
    sago_ckpt *ckpt = open_as("copy", hints);
    check_newest(ckpt, 4, 0);
    save_steps(ckpt, 5, 9, 500);
    CHECK_OK(sago_ckpt_close(&ckpt));
    check_closed("ckpt", hints, 5, 0);
    check_closed("copy", hints, 9, 500);
    check_closed("ckpt", reading, 5, 0);
    shell("rm -rf ckpt");
    check_closed("copy", hints, 9, 500);
}

/* Another job goes on with the copy at once, as of the same generation. */
static void both_at_once(void) {
    start();
    scene = "both at once";
    sago_ckpt *first = open_as("ckpt", hints);
    save_steps(first, 6, 6, 0);
    CHECK_OK(sago_ckpt_wait(first, 6, SAGO_LEVEL_GLOBAL));
    shell("cp -a ckpt copy; touch -d '1 hour ago' copy/lock.*");
    save_steps(first, 7, 7, 0);
    sago_ckpt *second = open_as("copy", hints);
    check_newest(second, 6, 0);
    save_steps(second, 7, 9, 500);
    save_steps(first, 8, 9, 0);
    CHECK_OK(sago_ckpt_close(&second));
    CHECK_OK(sago_ckpt_close(&first));
    check_closed("ckpt", hints, 9, 0);
    check_closed("copy", hints, 9, 500);
}

static void moved(void) {
    start();
    scene = "moved";
    shell("mv ckpt moved");
    check_closed("moved", reading, 5, 0);
    check_closed("moved", hints, 5, 0);
    shell("cp -a moved other; rm -r moved; mv other moved"); /* as to another file system */
    check_closed("moved", hints, 5, 0);
    shell("cp -a moved ckpt");
    check_closed("ckpt", hints, 4, 0);
    check_closed("moved", hints, 5, 0);
    shell("rm -r ckpt; mv moved ckpt; mkdir moved"); /* something else is where it was */
    check_closed("ckpt", hints, 5, 0);
    shell("rmdir moved; mv ckpt moved; ln -s moved ckpt"); /* where it was leads to where it is */
    check_closed("moved", reading, 5, 0);
    check_closed("moved", hints, 5, 0);
}

/* Neither of the two is where the nodes' steps were saved: they are those of the one that is opened first. */
static void moved_and_copied(void) {
    start();
    scene = "moved and copied";
    shell("mv ckpt moved; cp -a moved copy");
    sago_ckpt *ckpt = open_as("copy", hints);
    check_newest(ckpt, 5, 0);
    save_steps(ckpt, 6, 9, 500);
    CHECK_OK(sago_ckpt_close(&ckpt));
    check_closed("moved", reading, 4, 0);
    ckpt = open_as("moved", hints);
    check_newest(ckpt, 4, 0);
    save_steps(ckpt, 5, 7, 0);
    CHECK_OK(sago_ckpt_close(&ckpt));
    check_closed("copy", hints, 9, 500);
    check_closed("moved", reading, 7, 0);
    shell("rm -r copy; mv moved copy");
    check_closed("copy", hints, 7, 0);
}

/* The directory was moved, and a job on other nodes has used it since.  What is where it was before says nothing:
 * it was put there later, or cannot be looked at. */
static void moved_long_ago(const char *what, const char *command) {
    char elsewhere[CHECK_PATH_MAX + 128];
    start();
    scene = what;
    snprintf(elsewhere, sizeof elsewhere, "%s sago_local_dirs=%s", HINTS, scratch("local2"));
    shell("mv ckpt moved; mkdir local2");
    check_closed("moved", elsewhere, 4, 0);
    shell(command);
    check_closed("moved", reading, 5, 0);
    check_closed("moved", hints, 5, 0);
    check_closed("moved", hints, 5, 0);
}

/* The one that was opened first cannot be looked at, and what is on the nodes stays its own. */
static void first_one_hides(void) {
    start();
    scene = "the first one cannot be looked at";
    shell("mv ckpt moved; cp -a moved copy");
    check_closed("copy", hints, 5, 0);
    shell("mv copy other; ln -s copy copy");
    check_closed("moved", reading, 4, 0);
    check_closed("moved", hints, 4, 0);
    shell("rm copy; mv other copy");
    check_closed("copy", hints, 5, 0);
}

/* A link leads to one directory, and then to a copy of it. */
static void by_a_link(void) {
    start();
    scene = "by a link";
    shell("ln -s ckpt link");
    check_closed("link", hints, 5, 0);
    check_closed("ckpt", hints, 5, 0);
    shell("cp -a ckpt copy; rm link; ln -s copy link");
    check_closed("link", hints, 4, 0);
    check_closed("ckpt", hints, 5, 0);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    snprintf(hints, sizeof hints, "%s sago_local_dirs=%s", HINTS, scratch("local"));
    snprintf(reading, sizeof reading, "%s sago_ckpt_read_only=on", hints);
    model_make(&m, 7, false);
    decompose(&m, &d, 3, ranks, rank);
    copied();
    both_at_once();
    moved();
    moved_and_copied();
    moved_long_ago("a backup by the old name", "cp -a moved ckpt");
    moved_long_ago("the old place cannot be looked at", "ln -s ckpt ckpt");
    first_one_hides();
    by_a_link();
    decomposition_free(&m, &d);
    return check_end();
}
