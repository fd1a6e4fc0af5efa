/* Checkpoints on the nodes that are damaged or lost, and brought back from redundancy.  Every rank has storage of
 * its own (a relative sago_local_dirs in folders of their own), so that one node is enough; or N ranks share one.
 * test_ckpt_redundancy [--seeds N] [--first S] [--device N] Every loss of one storage device (two with rs:2), one
 * more than that, and for each seed random damage: flipped bytes, missing and cut files, lost devices. */
/* RUN: n=4 */
/* RUN: n=6 --device 2 --seeds 2 */
/* RUN-LONG: n=3,5 --seeds 300 --first 1000 */
#include <errno.h>
#include <glob.h>
#include <stdatomic.h>

#include "system/files.h"
#include "mpi/ckpt_model.h"
#include "support/inject.h"

enum { STEP = 5, SMALL_PIECE = 64 << 10 };

typedef struct scheme {
    const char *name, *hint;
    int survives; /* members */
} scheme;
static const scheme schemes[] = {{"copy", "copy", 1}, {"xor", "xor", 1}, {"rs:2", "rs:2", 2}};

static model m;
static decomposition saved, other;
static extras extra;
static int64_t mended, damaged; /* bytes; pieces met while restoring */
static bool nothing_left;       /* no device has anything */
static int device_ranks = 1, devices;

static void run(const char *command) {
    meet();
    if (rank == 0)
        CHECK(system(command) == 0);
    meet();
}

static sago_ckpt *open_dir(const scheme *s, bool global, bool small, const char *more) {
    char text[512];
    sago_ckpt *ckpt = NULL;
    snprintf(text, sizeof text,
             "sago_local_dirs=local sago_ckpt_files=%d sago_ckpt_redundancy=%s sago_ckpt_global_every=%d%s %s",
             ranks, s->hint, global, small ? " sago_memory=2M" : "", more);
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, scratch("ckpt"), text, &ckpt));
    return ckpt;
}

static void protect_all(sago_ckpt *ckpt, decomposition *d) {
    protect_arrays(&m, d, ckpt);
    CHECK_OK(sago_ckpt_protect_local(ckpt, "own", extra.local, extra.local_bytes));
    CHECK_OK(sago_ckpt_protect_shared(ckpt, "all", extra.shared, MODEL_SHARED));
}

/* What is damaged later is kept aside: a save for many trials. */
static void save(const scheme *s, bool global, bool small) {
    run("cd $SAGO_TEST_DIR && rm -rf ckpt kept node-*/local && mkdir kept && for n in node-*; do mkdir $n/local; "
        "done");
    sago_ckpt *ckpt = open_dir(s, global, small, "");
    if (!ckpt)
        return;
    extras_fill(&extra, &m, STEP, rank);
    visit_all(&m, &saved, STEP, fill_byte);
    protect_all(ckpt, &saved);
    CHECK_OK(sago_ckpt_save(ckpt, STEP));
    CHECK_OK(sago_ckpt_wait(ckpt, STEP, s->survives ? SAGO_LEVEL_REDUNDANT : SAGO_LEVEL_LOCAL));
    CHECK_OK(sago_ckpt_verify(ckpt, STEP));
    CHECK_OK(sago_ckpt_close(&ckpt));
    run("cd $SAGO_TEST_DIR && cp -a ckpt node-* kept/");
}

static void bring_back(void) {
    run("cd $SAGO_TEST_DIR && rm -rf ckpt node-*/local && cp -a kept/ckpt . && for n in node-*; do cp -a "
        "kept/$n/local "
        "$n/; done");
}

/* ---- Damage, all by rank 0 ---- */

static void lose_device(int device) {
    char command[256];
    snprintf(command, sizeof command, "rm -rf \"$SAGO_TEST_DIR\"/node-%d/local/sago-ckpt-*", device);
    CHECK(system(command) == 0);
}

/* A random file of a save's folder under a place; "": there is none. */
static void pick_file(char path[CHECK_PATH_MAX], const char *place, const char *pattern, uint64_t *state) {
    char wanted[CHECK_PATH_MAX + 64];
    glob_t found;
    snprintf(wanted, sizeof wanted, "%s/step-*/%s", scratch(place), pattern);
    path[0] = '\0';
    if (glob(wanted, 0, NULL, &found) == 0)
        snprintf(path, CHECK_PATH_MAX, "%s", found.gl_pathv[draw_range(state, 0, (int64_t)found.gl_pathc - 1)]);
    globfree(&found);
}

static void flip_byte(const char *path, int64_t at) {
    unsigned char byte = 0;
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= 0x41;
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

static void damage_device(int device, uint64_t *state) {
    static const char *const patterns[] = {"writer-*.data", "set-*.data", "*.part", "*.parity", "*"};
    char path[CHECK_PATH_MAX], place[64];
    if (draw_range(state, 0, 5) == 0) {
        lose_device(device);
        return;
    }
    snprintf(place, sizeof place, "node-%d/local/sago-ckpt-*", device);
    for (int64_t n = draw_range(state, 1, 6); n > 0; n--) {
        int64_t kind = draw_range(state, 0, 7);
        pick_file(path, place, patterns[draw_range(state, 0, 4)], state);
        int64_t size = plain_size(path);
        if (kind == 0 && size >= 0)
            CHECK(unlink(path) == 0);
        else if (kind == 1 && size > 0)
            CHECK(truncate(path, draw_range(state, 0, size - 1)) == 0);
        else if (size > 0)
            flip_byte(path, draw_range(state, 0, size - 1));
    }
}

/* ---- Restoring ---- */

typedef enum { COMES_BACK, IS_LOST, EITHER } outcome;

static void check_restore(sago_ckpt *ckpt, bool global, outcome expected) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    visit_all(&m, &other, 0, fill_byte);
    extras_clear(&extra);
    sago_status status = sago_ckpt_restore(ckpt, STEP);
    CHECK(same_everywhere(status));
    CHECK(status == SAGO_OK ? expected != IS_LOST : expected != COMES_BACK);
    if (status) {
        CHECK(status == SAGO_ERR_IO || ((expected == EITHER || nothing_left) && status == SAGO_ERR_NO_FILE));
        CHECK(strstr(sago_error_message(), "writer") || status == SAGO_ERR_NO_FILE);
        return;
    }
    CHECK_INT(visit_all(&m, &other, STEP, compare_byte) + extras_wrong(&extra, &m, STEP, rank), 0);
    CHECK_OK(sago_ckpt_get_report(ckpt, &report));
    CHECK(global || report.bytes_from[SAGO_LEVEL_GLOBAL] == 0);
    mended += report.bytes_from[SAGO_LEVEL_REDUNDANT];
    damaged += report.damaged[SAGO_LEVEL_LOCAL];
}

static void try_restore(const scheme *s, bool global, bool small, outcome expected) {
    sago_ckpt *ckpt = open_dir(s, global, small, "");
    if (!ckpt)
        return;
    protect_all(ckpt, &other);
    check_restore(ckpt, global, expected);
    if (expected == COMES_BACK && !global) { /* the directory alone does not bring parts back to the nodes */
        CHECK_OK(sago_ckpt_repair(ckpt, STEP));
        CHECK_OK(sago_ckpt_verify(ckpt, STEP));
    }
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static void lose(const scheme *s, bool global, unsigned lost, outcome expected) {
    char name[64];
    bring_back();
    snprintf(name, sizeof name, "%s without devices %#x", s->name, lost);
    scene = name;
    for (int i = 0; i < devices && rank == 0; i++)
        if (lost >> i & 1)
            lose_device(i);
    meet();
    nothing_left = !global && lost == (1u << devices) - 1;
    try_restore(s, global, true, expected);
    nothing_left = false;
    scene = "";
}

/* Every loss that must be survived; then one more. */
static void every_loss(const scheme *s) {
    save(s, false, true);
    for (unsigned lost = 1; lost < 1u << devices; lost++)
        if (__builtin_popcount(lost) == s->survives)
            lose(s, false, lost, COMES_BACK);
    lose(s, false, (2u << s->survives) - 1, IS_LOST);
}

static void too_much_but_global(void) {
    save(&schemes[1], true, true);
    lose(&schemes[1], true, 3, COMES_BACK);
}

/* Without redundancy, but with both levels: each piece is intact at one of them, and nothing must get worse by
 * mending. The last piece of every stream is damaged on the nodes, the first one in the directory. */
static void damaged_crosswise(void) {
    static const scheme none = {"none", "none", 0};
    scene = "damaged crosswise";
    save(&none, true, true);
    for (int i = 0; i < ranks && rank == 0; i++) {
        char path[CHECK_PATH_MAX], place[64], name[32];
        uint64_t state = 1;
        snprintf(place, sizeof place, "node-%d/local/sago-ckpt-*", i);
        snprintf(name, sizeof name, "file-%06d.data", i);
        pick_file(path, place, "writer-*.data", &state);
        flip_byte(path, plain_size(path) - 1);
        pick_file(path, "ckpt", name, &state);
        if (plain_size(path) > 2 * SMALL_PIECE) /* more than one piece */
            flip_byte(path, 0);
    }
    meet();
    for (int i = 0; i < 2; i++) {
        sago_ckpt *ckpt = open_dir(&none, true, true, "");
        protect_all(ckpt, &other);
        if (i == 0) /* as `sago ckpt repair` did: it must not spoil what the directory has */
            CHECK_OK(sago_ckpt_drain(ckpt, STEP));
        check_restore(ckpt, true, COMES_BACK);
        if (i == 1)
            CHECK_OK(sago_ckpt_repair(ckpt, STEP));
        if (i == 1)
            CHECK_OK(sago_ckpt_verify(ckpt, STEP));
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    scene = "";
}

/* What is lost cannot be put back where it was: another device takes it. */
static void in_the_way(const char *what, const char *command) {
    scene = what;
    save(&schemes[1], false, true);
    run(command);
    try_restore(&schemes[1], false, true, COMES_BACK);
    scene = "";
}

/* Parity is asked for when something else is protected than when the step was saved. */
static void encoded_late(void) {
    const scheme *s = &schemes[1];
    sago_ckpt *ckpt = NULL;
    scene = "encoded late";
    run("cd $SAGO_TEST_DIR && rm -rf ckpt node-*/local && for n in node-*; do mkdir $n/local; done");
    ckpt = open_dir(s, false, true, "sago_ckpt_redundant_every=2");
    visit_all(&m, &saved, STEP, fill_byte);
    extras_fill(&extra, &m, STEP, rank);
    protect_all(ckpt, &saved);
    CHECK_OK(sago_ckpt_save(ckpt, STEP));
    for (int i = 0; i < m.narrays; i++)
        CHECK_OK(sago_ckpt_unprotect(ckpt, m.arrays[i].name));
    CHECK_OK(sago_ckpt_save(ckpt, STEP + 1));
    CHECK_OK(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_REDUNDANT));
    CHECK_OK(sago_ckpt_close(&ckpt));
    if (rank == 0)
        lose_device(1);
    meet();
    try_restore(s, false, true, COMES_BACK);
    scene = "";
}

/* No parity is made of data that is damaged already. */
static void encoded_damaged(void) {
    char path[CHECK_PATH_MAX];
    uint64_t state = 1;
    scene = "damaged before it is encoded";
    run("cd $SAGO_TEST_DIR && rm -rf ckpt node-*/local && for n in node-*; do mkdir $n/local; done");
    sago_ckpt *ckpt = open_dir(&schemes[1], false, true, "sago_ckpt_redundant_every=0");
    protect_all(ckpt, &saved);
    CHECK_OK(sago_ckpt_save(ckpt, STEP));
    CHECK_OK(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_LOCAL));
    meet();
    if (rank == 0) {
        pick_file(path, "node-1/local/sago-ckpt-*", "writer-*.data", &state);
        flip_byte(path, 7);
    }
    meet();
    EXPECT(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_REDUNDANT), SAGO_ERR_IO, "is damaged", 1);
    CHECK_OK(sago_ckpt_close(&ckpt));
    scene = "";
}

static int refuse_directory(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op_changes(op->kind) && strstr(op->path, "/ckpt/step-") ? EIO : 0;
}

/* Parity that was not asked for before is made, too, when the directory has failed. */
static void encoded_without_directory(void) {
    static const file_hooks hooks = {.before = refuse_directory};
    scene = "encoded when the directory has failed";
    run("cd $SAGO_TEST_DIR && rm -rf ckpt node-*/local && for n in node-*; do mkdir $n/local; done");
    sago_ckpt *ckpt = open_dir(&schemes[1], true, true, "sago_ckpt_redundant_every=0");
    protect_all(ckpt, &saved);
    inject_file_hooks(&hooks);
    CHECK_OK(sago_ckpt_save(ckpt, STEP));
    EXPECT(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_GLOBAL), SAGO_ERR_IO, "is not at level global", -1);
    CHECK_OK(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_REDUNDANT));
    EXPECT(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_GLOBAL), SAGO_ERR_IO, "is not at level global", -1);
    inject_file_hooks(NULL);
    CHECK_OK(sago_ckpt_close(&ckpt));
    scene = "";
}

/* What was removed from the nodes, since newer steps are kept, is not encoded any more.  In the directory it is at
 * a safer level than was asked for. */
static void encoded_too_late(bool global) {
    scene = global ? "encoded too late, but in the directory" : "encoded too late";
    run("cd $SAGO_TEST_DIR && rm -rf ckpt node-*/local && for n in node-*; do mkdir $n/local; done");
    sago_ckpt *ckpt = open_dir(&schemes[1], global, true,
                               "sago_ckpt_redundant_every=0 sago_ckpt_keep_local=1 sago_ckpt_keep_global=0");
    protect_all(ckpt, &saved);
    for (int64_t step = STEP; step < STEP + 3; step++) {
        CHECK_OK(sago_ckpt_save(ckpt, step));
        CHECK_OK(sago_ckpt_wait(ckpt, step, global ? SAGO_LEVEL_GLOBAL : SAGO_LEVEL_LOCAL));
    }
    if (global) {
        CHECK_OK(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_REDUNDANT));
    } else {
        EXPECT(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_REDUNDANT), SAGO_ERR_NO_FILE, "was removed", -1);
        EXPECT(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_GLOBAL), SAGO_ERR_NO_FILE, "was removed", -1);
        CHECK_OK(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_LOCAL));
        CHECK_OK(sago_ckpt_wait(ckpt, STEP + 2, SAGO_LEVEL_REDUNDANT));
    }
    CHECK_OK(sago_ckpt_close(&ckpt));
    scene = "";
}

/* ---- What newer steps have retired ---- */

static atomic_bool directory_fails;

/* The directory may fail, and removing from the nodes begins late. */
static int fail_and_dally(void *arg, const sagoi_file_op *op, int64_t *len) {
    enum { LATE_US = 1000000 };
    const char *name = strrchr(op->path, '/');
    (void)arg, (void)len;
    if (op->kind == SAGOI_OP_RENAME && name && strncmp(name, "/step-", 6) == 0 && !strstr(op->path, "/ckpt/"))
        (void)usleep(LATE_US);
    return atomic_load(&directory_fails) && op_changes(op->kind) && strstr(op->path, "/ckpt/step-") ? EIO : 0;
}

/* Two steps that did not reach the directory; of the first one what the nodes have is about to be removed.  It is
 * not brought further any more, and the second one stays. */
static void retired_unsaved(bool drained) {
    static const file_hooks hooks = {.before = fail_and_dally};
    scene = drained ? "a retired step is drained" : "a retired step is encoded";
    run("cd $SAGO_TEST_DIR && rm -rf ckpt node-*/local && for n in node-*; do mkdir $n/local; done");
    sago_ckpt *ckpt = open_dir(&schemes[1], true, true, "sago_ckpt_redundant_every=0 sago_ckpt_keep_local=1");
    int64_t latest = -1;
    protect_all(ckpt, &saved);
    atomic_store(&directory_fails, true);
    inject_file_hooks(&hooks);
    for (int64_t step = STEP; step < STEP + 2; step++) {
        CHECK_OK(sago_ckpt_save(ckpt, step));
        EXPECT(sago_ckpt_wait(ckpt, step, SAGO_LEVEL_GLOBAL), SAGO_ERR_IO, "is not at level global", -1);
    }
    if (drained) {
        atomic_store(&directory_fails, false);
        meet();
        EXPECT(sago_ckpt_drain(ckpt, STEP), SAGO_ERR_NO_FILE, "step 5", -1);
        atomic_store(&directory_fails, true);
        meet();
    } else {
        EXPECT(sago_ckpt_wait(ckpt, STEP, SAGO_LEVEL_REDUNDANT), SAGO_ERR_IO, "is not at level global", -1);
    }
    CHECK_OK(sago_ckpt_latest(ckpt, SAGO_LEVEL_LOCAL, &latest));
    CHECK_INT(latest, STEP + 1);
    CHECK_OK(sago_ckpt_restore(ckpt, STEP + 1));
    CHECK_OK(sago_ckpt_close(&ckpt));
    inject_file_hooks(NULL);
    atomic_store(&directory_fails, false);
    scene = "";
}

/* A step is saved again while its older save is still there, in the same second: the newer one is restored. */
static void restored_while_removed(void) {
    static const file_hooks hooks = {.before = fail_and_dally};
    enum { TIMES = 4 };
    scene = "saved again before the older save is gone";
    for (int i = 0; i < TIMES; i++) { /* which save was taken was a matter of chance */
        run("cd $SAGO_TEST_DIR && rm -rf ckpt node-*/local && for n in node-*; do mkdir $n/local; done");
        sago_ckpt *ckpt = open_dir(&schemes[1], false, true, "sago_ckpt_redundant_every=0 sago_ckpt_keep_local=1");
        int64_t value = 0;
        CHECK_OK(sago_ckpt_protect_local(ckpt, "value", &value, sizeof value));
        inject_file_hooks(&hooks);
        for (int64_t n = 0; n < 4; n++) {
            value = n;
            CHECK_OK(sago_ckpt_save(ckpt, STEP + n % 2));
            CHECK_OK(sago_ckpt_wait(ckpt, STEP + n % 2, SAGO_LEVEL_LOCAL));
        }
        CHECK_OK(sago_ckpt_restore(ckpt, STEP + 1));
        CHECK_INT(value, 3);
        CHECK_OK(sago_ckpt_close(&ckpt));
        inject_file_hooks(NULL);
    }
    scene = "";
}

/* What is in the directory is set aside, and stays so, since nobody can read it.  The nodes have the step, and
 * redundancy mends what is damaged there. */
static void mended_beside_damage(void) {
    char path[CHECK_PATH_MAX];
    uint64_t state = 1;
    scene = "mended beside damage";
    save(&schemes[1], true, true);
    run("cd $SAGO_TEST_DIR/ckpt && s=$(ls -d step-*) && mv $s damaged-${s#step-} && cd damaged-* && "
        "rm writer-000002.part && mkfifo writer-000002.part");
    if (rank == 0) {
        pick_file(path, "node-1/local/sago-ckpt-*", "writer-*.data", &state);
        flip_byte(path, 7);
    }
    meet();
    try_restore(&schemes[1], true, true, COMES_BACK);
    scene = "";
}

/* ---- Random damage ---- */

enum { TRIALS = 4 }; /* for each save */

static void random_damage(uint64_t seed) {
    static uint64_t saved_for = UINT64_MAX;
    uint64_t state = seed * 31337, series = seed / TRIALS;
    char name[64];
    const scheme *s = &schemes[series % 3];
    bool small = series % 4 != 3;
    unsigned victims = 0;
    int n = (int)draw_range(&state, 1, s->survives + 1);
    snprintf(name, sizeof name, "seed %llu, %s, damage on %d devices", (unsigned long long)seed, s->name, n);
    scene = name;
    if (saved_for != series)
        save(s, false, small);
    saved_for = series;
    bring_back();
    while (__builtin_popcount(victims) < n)
        victims |= 1u << draw_range(&state, 0, devices - 1);
    for (int i = 0; i < devices && rank == 0; i++)
        if (victims >> i & 1)
            damage_device(i, &state);
    meet();
    try_restore(s, false, small, n <= s->survives ? COMES_BACK : EITHER);
    scene = "";
}

static void damage_of_all_kinds(void) {
    if (sum_everywhere(failures) == 0)
        damaged_crosswise();
    if (sum_everywhere(failures) == 0)
        in_the_way("a directory in the place of data",
                   "cd $SAGO_TEST_DIR/node-1/local/*/step-* && rm writer-*.data && mkdir writer-000001.data");
    if (sum_everywhere(failures) == 0)
        in_the_way("a folder that leads nowhere",
                   "cd $SAGO_TEST_DIR/node-1/local/* && f=$(echo step-*) && rm -r $f && ln -s $f $f");
    if (sum_everywhere(failures) == 0)
        encoded_late();
    if (sum_everywhere(failures) == 0)
        encoded_damaged();
    if (sum_everywhere(failures) == 0)
        encoded_without_directory();
    if (sum_everywhere(failures) == 0)
        mended_beside_damage();
    for (int global = 0; global < 2 && sum_everywhere(failures) == 0; global++)
        encoded_too_late(global);
    for (int drained = 0; drained < 2 && sum_everywhere(failures) == 0; drained++)
        retired_unsaved(drained);
    if (sum_everywhere(failures) == 0)
        restored_while_removed();
}

static void enter_folder(void) {
    char folder[64];
    devices = ranks / device_ranks;
    snprintf(folder, sizeof folder, "node-%d", rank / device_ranks);
    CHECK(rank % device_ranks > 0 || mkdir(folder, 0700) == 0);
    meet();
    CHECK(chdir(folder) == 0);
}

int main(int argc, char **argv) {
    uint64_t seeds = 6, first = 0;
    check_start(&argc, &argv);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seeds") == 0)
            seeds = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--first") == 0)
            first = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--device") == 0)
            device_ranks = atoi(argv[i + 1]);
    }
    enter_folder();
    model_make(&m, 17, true);
    decompose(&m, &saved, 3, ranks, rank);
    decompose(&m, &other, 4, ranks, rank);
    for (int i = 0; i < 3 && sum_everywhere(failures) == 0; i++)
        every_loss(&schemes[i]);
    if (sum_everywhere(failures) == 0)
        too_much_but_global();
    if (device_ranks == 1)
        damage_of_all_kinds();
    for (uint64_t seed = first; seed < first + seeds && sum_everywhere(failures) == 0; seed++)
        random_damage(seed);
    CHECK(mended > 0 && (damaged > 0 || device_ranks > 1));
    decomposition_free(&m, &saved);
    decomposition_free(&m, &other);
    return check_end();
}
