/* Damage: a step that was complete once is never removed because it is so no longer.  It is set aside, listed,
 * counted, and gets its name back when what was missing has come back; what never was complete goes.  A restart
 * goes back to the newest step that is whole, and says what it passed over. */
/* RUN: n=2 */
/* RUN-LONG: n=3 all */
#include <errno.h>

#include "ckpt/generation.h"
#include "system/files.h"
#include "mpi/ckpt_model.h"
#include "support/inject.h"

enum { STEPS = 4 }; /* 10, 20, 30, 40 */
#define NEWEST "step-*40-*"

#define FLIP(step)                                                                                                \
    "f=$(ls -S ckpt/step-*" step "-*/*.data | head -1); printf '\\377\\0\\377' | "                                \
    "dd of=$f bs=1 seek=$(($(stat -c %s $f) / 2)) conv=notrunc status=none; "

static model m;
static decomposition d;
static char global_only[256], local_only[256], both[192];

/* Rank 0 alone, in the scratch folder. */
static void shell(const char *command) {
    meet();
    if (rank == 0) {
        CHECK(system(command) == 0);
    }
    meet();
}

/* How many names match, as everybody sees. */
static long long names(const char *pattern) {
    char command[CHECK_PATH_MAX];
    int found = 0;
    meet();
    if (rank == 0) {
        snprintf(command, sizeof command, "ls -d %s 2>/dev/null | wc -l", pattern);
        FILE *pipe = popen(command, "r");
        CHECK(pipe && fscanf(pipe, "%d", &found) == 1);
        if (pipe)
            pclose(pipe);
    }
    return sum_everywhere(found);
}

static sago_ckpt *open_with(const char *hints) {
    sago_ckpt *ckpt = NULL;
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, scratch("ckpt"), hints, &ckpt));
    if (ckpt)
        protect_arrays(&m, &d, ckpt);
    return ckpt;
}

static void save(sago_ckpt *ckpt, int64_t step) {
    visit_all(&m, &d, step, fill_byte);
    CHECK_OK(sago_ckpt_save(ckpt, step));
}

static void start(const char *hints) {
    sago_ckpt *ckpt = open_with(hints);
    for (int64_t i = 1; i <= STEPS; i++)
        save(ckpt, 10 * i);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static void start_anew(void) { shell("rm -rf ckpt local moved; mkdir local"); }

/* ---- What is said of it ---- */

static void check_listed(sago_ckpt *ckpt, int64_t step, bool damaged) {
    sago_ckpt_step steps[4 * STEPS];
    int64_t n = 4 * STEPS, found = 0;
    CHECK_OK(sago_ckpt_list(ckpt, &n, steps));
    for (int64_t i = 0; i < n; i++)
        found += steps[i].step == step && steps[i].damaged == damaged;
    CHECK_INT(found, 1);
}

static void check_damaged(sago_ckpt *ckpt, int64_t step, int64_t total) {
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    check_listed(ckpt, step, true);
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK_INT(stats.damaged, total);
    CHECK(stats.damaged_bytes > 0 || total == 0);
}

static void check_restart(sago_ckpt *ckpt, int64_t wanted, int64_t passed_over, const char *why) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    int64_t step = -7;
    visit_all(&m, &d, 0, fill_byte);
    CHECK_OK(sago_ckpt_restore_latest(ckpt, &step));
    CHECK_INT(step, wanted);
    if (wanted >= 0)
        CHECK_INT(visit_all(&m, &d, wanted, compare_byte), 0);
    CHECK_OK(sago_ckpt_get_report(ckpt, &report));
    CHECK_INT(report.step, wanted);
    CHECK_INT(report.passed_over, passed_over);
    CHECK(strstr(report.text, why) != NULL);
}

/* ---- A step that is not complete any more ---- */

/* Opening sets step 40 aside; restarting goes on with 30; the step can be saved anew; only the user removes the
 * old one. */
static void set_aside(const char *hints, const char *what, const char *command) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    scene = what;
    start(hints);
    shell(command);
    sago_ckpt *ckpt = open_with(hints);
    CHECK_OK(sago_ckpt_get_report(ckpt, &report));
    CHECK(strstr(report.text, "step 40 is damaged, set aside") != NULL);
    CHECK(names("ckpt/damaged-*40-* local/*/damaged-*40-*") > 0);
    CHECK_INT(names("ckpt/" NEWEST " local/*/" NEWEST), 0);
    check_damaged(ckpt, 40, 1);
    check_restart(ckpt, 30, 1, "step 40 is damaged and set aside");
    EXPECT(sago_ckpt_restore(ckpt, 40), SAGO_ERR_IO, "set aside", -1);
    EXPECT(sago_ckpt_remove(ckpt, 40), SAGO_ERR_NO_FILE, "set aside", -1);
    save(ckpt, 40);
    CHECK_OK(sago_ckpt_close(&ckpt));
    ckpt = open_with(hints);
    check_damaged(ckpt, 40, 1);
    check_restart(ckpt, 40, 0, "step 40: ");
    CHECK_OK(sago_ckpt_remove(ckpt, 30));
    CHECK(names("ckpt/damaged-*40-* local/*/damaged-*40-*") > 0);
    CHECK_OK(sago_ckpt_remove_damaged(ckpt, 40));
    CHECK_INT(names("ckpt/damaged-* local/*/damaged-*"), 0);
    check_listed(ckpt, 40, false);
    EXPECT(sago_ckpt_remove_damaged(ckpt, 40), SAGO_ERR_NO_FILE, "no damaged save", -1);
    CHECK_OK(sago_ckpt_remove_damaged(ckpt, -1));
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* The file of the hint sago_ckpt_stats tells of what is set aside and of what is passed over. */
static void journal(void) {
    char hints[2 * CHECK_PATH_MAX];
    scene = "journal";
    snprintf(hints, sizeof hints, "%s sago_ckpt_stats=%s", global_only, scratch("journal"));
    start(global_only);
    shell("truncate -s 1 ckpt/" NEWEST "/*.data; " FLIP("30"));
    sago_ckpt *ckpt = open_with(hints);
    check_restart(ckpt, 20, 2, "step 30");
    CHECK_OK(sago_ckpt_close(&ckpt));
    shell("grep -q '\"step\": 40, .*\"state\": \"damaged\", \"error\": \".*global: the parts of' journal");
    shell("grep -q '\"step\": 30, .*\"state\": \"passed over\", \"error\": \".*nowhere intact' journal");
    shell("python3 -c 'import json; [json.loads(line) for line in open(\"journal\")]'; rm journal");
    start_anew();
    scene = "";
}

/* Reading changes nothing. */
static void read_only(void) {
    char hints[320];
    scene = "read only";
    start(global_only);
    shell("truncate -s 1 ckpt/" NEWEST "/*.data");
    snprintf(hints, sizeof hints, "sago_ckpt_read_only=on %s", global_only);
    sago_ckpt *ckpt = open_with(hints);
    check_listed(ckpt, 40, true);
    check_restart(ckpt, 30, 1, "step 40 is damaged");
    CHECK_INT(names("ckpt/" NEWEST), 1);
    EXPECT(sago_ckpt_remove_damaged(ckpt, 40), SAGO_ERR_MODE, "reading only", -1);
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* What cannot be read is not damage, and stays. */
static int refuse_parts(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_READ && strstr(op->path, ".part") && strstr(op->path, "00040-") ? EIO : 0;
}

static void out_of_reach(void) {
    static const file_hooks hooks = {.before = refuse_parts};
    scene = "out of reach";
    start(global_only);
    inject_file_hooks(&hooks);
    sago_ckpt *ckpt = open_with(global_only);
    CHECK_INT(names("ckpt/" NEWEST), 1);
    check_restart(ckpt, 30, 1, "step 40 could not be read");
    inject_file_hooks(NULL);
    check_restart(ckpt, 40, 0, "step 40: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* The same in the directory alone, while the nodes have it: what makes it too old for the nodes does not touch it.
 */
static int refuse_global_parts(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_READ && strstr(op->path, ".part") && strstr(op->path, "/ckpt/step-") ? EIO : 0;
}

static void out_of_reach_and_old(void) {
    static const file_hooks hooks = {.before = refuse_global_parts};
    char hints[320];
    scene = "out of reach and old";
    start(both);
    snprintf(hints, sizeof hints, "%s sago_ckpt_keep_local=1", local_only);
    inject_file_hooks(&hooks);
    sago_ckpt *ckpt = open_with(hints);
    save(ckpt, 50);
    CHECK_OK(sago_ckpt_close(&ckpt));
    inject_file_hooks(NULL);
    CHECK_INT(names("ckpt/step-*"), STEPS);
    CHECK_INT(names("local/*/step-*"), 1);
    start_anew();
    scene = "";
}

/* ---- Several storage devices ---- */

/* One for each rank: a relative name. */
static void go_home(bool home) {
    char folder[32];
    meet();
    snprintf(folder, sizeof folder, home ? "node-%d" : "..", rank);
    CHECK(chdir(folder) == 0);
    meet();
}

static void devices(const char *what, const char *command, int64_t damaged) {
    char hints[128];
    snprintf(hints, sizeof hints,
             "sago_local_dirs=local sago_ckpt_keep_local=0 sago_ckpt_global_every=0 sago_ckpt_files=%d", ranks);
    scene = what;
    shell("for n in 0 1 2 3; do mkdir -p node-$n/local; done");
    go_home(true);
    start(hints);
    go_home(false);
    shell(command);
    go_home(true);
    sago_ckpt *ckpt = open_with(hints);
    if (damaged)
        check_damaged(ckpt, 40, damaged);
    go_home(false);
    CHECK_INT(names("node-*/local/*/step-*40-*"), 0);
    CHECK_INT(names("node-*/local/*/damaged-*40-*") > 0, damaged);
    CHECK_INT(names("node-*/local/*/removed-*"), 0);
    go_home(true);
    check_restart(ckpt, 30, damaged, "step 30: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    go_home(false);
    if (damaged)
        shell("mv away node-1/local/$(ls node-1/local)/$(basename $(ls -d node-0/local/*/damaged-*) "
              "| sed s/damaged/step/)");
    go_home(true);
    ckpt = open_with(hints);
    check_restart(ckpt, damaged ? 40 : 30, 0, "step ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    go_home(false);
    shell("rm -rf node-* away");
    start_anew();
    scene = "";
}

/* ---- What is whole somewhere ---- */

/* Damaged on the nodes, whole in the directory, or one part in each: kept, restored from, mended by repair. */
static void whole_elsewhere(const char *what, const char *command) {
    scene = what;
    start(both);
    shell(command);
    sago_ckpt *ckpt = open_with(both);
    CHECK_INT(names("ckpt/damaged-* local/*/damaged-*"), 0);
    check_restart(ckpt, 40, 0, "step 40: ");
    CHECK_OK(sago_ckpt_repair(ckpt, 40));
    CHECK_OK(sago_ckpt_verify(ckpt, 40));
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* A node that was away: set aside meanwhile, an ordinary step when it is back.  Here it is a part that comes back.
 */
static void comes_back(const char *hints, const char *away, const char *back) {
    scene = "comes back";
    start(hints);
    shell(away);
    sago_ckpt *ckpt = open_with(hints);
    check_damaged(ckpt, 40, 1);
    CHECK_OK(sago_ckpt_close(&ckpt));
    shell(back);
    ckpt = open_with(hints);
    CHECK_INT(names("ckpt/damaged-* local/*/damaged-*"), 0);
    check_restart(ckpt, 40, 0, "step 40: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* ---- What never was complete ---- */

/* As a job leaves it that dies while it saves: the mark is missing, and a part is still called begun. */
static void interrupted(const char *hints) {
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    scene = "interrupted";
    start(hints);
    shell("for f in ckpt/" NEWEST " local/*/" NEWEST "; do [ -d $f ] || continue; rm $f/complete;"
          " for p in $f/writer-000000.part; do [ ! -f $p ] || mv $p ${p%part}begun; done; done");
    sago_ckpt *ckpt = open_with(hints);
    CHECK_INT(names("ckpt/*40-* local/*/*40-*"), 0);
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK_INT(stats.damaged, 0);
    check_restart(ckpt, 30, 0, "step 30: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* In doubt it is kept: no mark, nothing that tells of an interruption, one part missing. */
static void in_doubt(void) {
    scene = "in doubt";
    start(global_only);
    shell("rm ckpt/" NEWEST "/complete ckpt/" NEWEST "/writer-000001.part");
    sago_ckpt *ckpt = open_with(global_only);
    check_damaged(ckpt, 40, 1);
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* A removal that a crash stopped on one of the devices is finished, not taken for damage. */
static void half_removed(void) {
    scene = "half removed";
    start(global_only);
    shell("mv ckpt/" NEWEST " moved; mkdir $(echo moved | sed s,moved,ckpt/removed-0000000000000000040-"
          "0123456789abcdef,); cp -r moved ckpt/step-0000000000000000040-0123456789abcdef");
    sago_ckpt *ckpt = open_with(global_only);
    CHECK_INT(names("ckpt/*40-*"), 0);
    check_restart(ckpt, 30, 0, "step 30: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* A whole step beside a copy of it that is called removed, or damaged (somebody has copied it back): it is the
 * step that counts.  Of the copies one is finished off, the other one is the user's. */
static void beside_copies(void) {
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    scene = "beside copies";
    start(both);
    shell("for f in ckpt/" NEWEST " local/*/" NEWEST "; do cp -r $f $(echo $f | sed s/step-/removed-/); done;"
          " for f in ckpt/step-*30-* local/*/step-*30-*; do cp -r $f $(echo $f | sed s/step-/damaged-/); done");
    for (int again = 0; again < 2; again++) {
        sago_ckpt *ckpt = open_with(both);
        CHECK_INT(names("ckpt/step-* local/*/step-*"), 2 * STEPS);
        CHECK_INT(names("ckpt/removed-* local/*/removed-*"), 0);
        check_listed(ckpt, 30, false);
        check_restart(ckpt, 40, 0, "step 40: ");
        CHECK_OK(sago_ckpt_verify(ckpt, 30));
        CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
        CHECK(again || stats.damaged_bytes > 0);
        CHECK_INT(names("ckpt/damaged-* local/*/damaged-*"), again ? 0 : 2);
        if (!again)
            CHECK_OK(sago_ckpt_remove_damaged(ckpt, 30));
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    start_anew();
    scene = "";
}

/* Names of steps that are something else keep nobody from going on, and what a link leads to is the user's. */
static void strangers(void) {
    scene = "strangers";
    start(global_only);
    shell("mkdir -p moved ckpt/step-0000000000000000054-0123456789abcdef/folder; touch moved/thesis; cd ckpt;"
          " touch step-0000000000000000050-0123456789abcdef removed-0000000000000000055-0123456789abcdef;"
          " ln -s nowhere step-0000000000000000051-0123456789abcdef;"
          " ln -s ../moved step-0000000000000000052-0123456789abcdef;"
          " ln -s ../moved removed-0000000000000000056-0123456789abcdef;"
          " mkfifo step-0000000000000000053-0123456789abcdef");
    for (int again = 0; again < 2; again++) {
        sago_ckpt *ckpt = open_with(global_only);
        check_restart(ckpt, 40 + 10 * again, 0, "step");
        if (!again)
            save(ckpt, 50);
        CHECK_OK(sago_ckpt_close(&ckpt));
        CHECK_INT(names("moved/thesis"), 1);
    }
    start_anew();
    scene = "";
}

/* Something else has the name of the lock or of the list: nobody renews it, and there is a way on. */
static void strange_lock(const char *command) {
    char hints[320];
    scene = command;
    start(global_only);
    snprintf(hints, sizeof hints, "sago_ckpt_lease=2 %s", global_only);
    shell(command);
    for (int64_t step = 40; step <= 50; step += 10) {
        sago_ckpt *ckpt = open_with(hints);
        if (!ckpt)
            break;
        check_restart(ckpt, step, 0, "step");
        save(ckpt, step + 10);
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    start_anew();
    scene = "";
}

/* Who has a damaged lock cannot be told, and so says the message. */
static void fresh_damaged_lock(void) {
    sago_ckpt *ckpt = NULL;
    scene = "a damaged lock";
    start(global_only);
    shell("truncate -s 9 ckpt/lock.*");
    EXPECT(sago_ckpt_open(MPI_COMM_WORLD, scratch("ckpt"), MPI_INFO_NULL, &ckpt), SAGO_ERR_BUSY,
           "lock.00000001 is damaged, so it does not tell which job uses the directory", 0);
    start_anew();
    scene = "";
}

static void strange_locks(void) {
    strange_lock("cd ckpt; rm lock.*; ln -s nowhere lock.00000001; touch -h -d '1 hour ago' lock.00000001");
    strange_lock("cd ckpt; rm lock.*; mkdir lock.00000001; touch -d '1 hour ago' lock.00000001");
    strange_lock("cd ckpt; truncate -s 9 lock.*; touch -d @0 lock.*");
    strange_lock("cd ckpt; rm found.*; mkfifo found.00000001");
    strange_lock("cd ckpt; rm found.*; mkdir found.00000001");
    strange_lock("cd ckpt; rm found.*; ln -s found.00000001 found.00000001");
}

/* The directory's own record is lost, or damaged: there is a way on. */
static void without_marker(void) {
    sago_ckpt *ckpt = NULL;
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    scene = "without a marker";
    start(global_only);
    shell("rm ckpt/sago-ckpt");
    ckpt = open_with(global_only);
    CHECK_OK(sago_ckpt_get_report(ckpt, &report));
    CHECK(strstr(report.text, "had lost its record sago-ckpt") != NULL);
    check_restart(ckpt, 40, 0, "step 40: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    shell("truncate -s 40 ckpt/sago-ckpt");
    EXPECT(sago_ckpt_open(MPI_COMM_WORLD, scratch("ckpt"), MPI_INFO_NULL, &ckpt), SAGO_ERR_IO,
           "once that file is removed", 0);
    CHECK_INT(names("ckpt/step-*"), STEPS);
    shell("rm ckpt/sago-ckpt; touch ckpt/other");
    EXPECT(sago_ckpt_open(MPI_COMM_WORLD, scratch("ckpt"), MPI_INFO_NULL, &ckpt), SAGO_ERR_BAD_FILE,
           "not a checkpoint directory", 0);
    start_anew();
    scene = "";
}

/* ---- Going back ---- */

/* A flipped byte shows only when it is read: the step stays where it is, until its number is saved again. */
static void goes_back(void) {
    scene = "goes back";
    start(global_only);
    shell(FLIP("40") FLIP("30"));
    sago_ckpt *ckpt = open_with(global_only);
    check_restart(ckpt, 20, 2, "nowhere intact");
    CHECK_INT(names("ckpt/step-*"), STEPS);
    save(ckpt, 25);
    save(ckpt, 30);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("ckpt/damaged-*30-*"), 1);
    CHECK_INT(names("ckpt/step-*40-*"), 1);
    ckpt = open_with(global_only);
    check_damaged(ckpt, 30, 1); /* whatever its records say */
    check_restart(ckpt, 30, 1, "step 40");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* Nothing is whole: nobody begins at the beginning unawares.  Nothing was ever there: that is no error. */
static void nothing_whole(void) {
    int64_t step = 5;
    scene = "nothing whole";
    sago_ckpt *ckpt = open_with(global_only);
    check_restart(ckpt, -1, 0, "");
    save(ckpt, 10);
    CHECK_OK(sago_ckpt_close(&ckpt));
    shell(FLIP("10"));
    ckpt = open_with(global_only);
    EXPECT(sago_ckpt_restore_latest(ckpt, &step), SAGO_ERR_IO, "no step is whole", -1);
    CHECK_INT(step, 5);
    EXPECT(sago_ckpt_restore_latest(ckpt, NULL), SAGO_ERR_ARG, "nowhere to put", -1);
    CHECK_OK(sago_ckpt_close(&ckpt));
    shell("truncate -s 1 ckpt/step-*10-*/*.data");
    ckpt = open_with(global_only);
    EXPECT(sago_ckpt_restore_latest(ckpt, &step), SAGO_ERR_IO, "set aside", -1);
    CHECK_OK(sago_ckpt_remove_damaged(ckpt, -1));
    check_restart(ckpt, -1, 0, "");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* What was passed over does not count among the steps to keep. */
static void keeps_whole_ones(void) {
    char hints[320];
    scene = "keep";
    start(global_only);
    shell(FLIP("40") FLIP("30"));
    snprintf(hints, sizeof hints, "sago_ckpt_keep_global=2 %s", global_only);
    sago_ckpt *ckpt = open_with(hints);
    check_restart(ckpt, 20, 2, "step 40");
    save(ckpt, 25);
    CHECK_OK(sago_ckpt_wait(ckpt, 25, SAGO_LEVEL_GLOBAL));
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("ckpt/step-*"), 4); /* 20, 25 and the two that were passed over */
    start_anew();
    scene = "";
}

/* A later job's step is newer, and so is one that a job saved later, whatever the clock said when they were saved.
 */
static void clock_goes_back(bool in_a_job) {
    char hints[320];
    scene = in_a_job ? "the clock goes back in a job" : "the clock goes back";
    inject_clock_shift(86400);
    start(global_only);
    if (!in_a_job)
        inject_clock_shift(-86400);
    sago_ckpt *ckpt = open_with(global_only);
    if (in_a_job) {
        save(ckpt, 45);
        CHECK_OK(sago_ckpt_wait(ckpt, 45, SAGO_LEVEL_GLOBAL));
        inject_clock_shift(-86400);
    }
    save(ckpt, 50);
    CHECK_OK(sago_ckpt_close(&ckpt));
    snprintf(hints, sizeof hints, "sago_ckpt_keep_global=2 %s", global_only);
    ckpt = open_with(hints);
    save(ckpt, 60);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("ckpt/step-*"), 2);
    CHECK_INT(names("ckpt/step-*50-*"), 1);
    start_anew();
    scene = "";
}

/* Whoever has tidied up too much, the locks and lists among it, can go on: old steps are removed and damaged ones
 * set aside as before. */
static void without_locks(void) {
    char hints[320];
    scene = "without locks";
    start(global_only);
    for (int64_t step = 50; step <= 60; step += 10) {
        sago_ckpt *ckpt = open_with(global_only);
        save(ckpt, step);
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    shell("rm ckpt/lock.* ckpt/found.*; truncate -s 1 ckpt/step-*60-*/*.data");
    snprintf(hints, sizeof hints, "sago_ckpt_keep_global=1 %s", global_only);
    sago_ckpt *ckpt = open_with(hints);
    check_restart(ckpt, 50, 1, "step 60 is damaged and set aside");
    save(ckpt, 60);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("ckpt/step-*"), 1);
    CHECK_INT(names("ckpt/damaged-*60-*"), 1);
    start_anew();
    scene = "";
}

/* The nodes remember owners whose locks and lists somebody has removed from the directory: what is saved
 * afterwards counts there, too. */
static void without_locks_on_nodes(int64_t owners) {
    int64_t last = 10 * STEPS;
    scene = "without locks, steps on the nodes";
    start(local_only);
    for (int64_t i = 1; i < owners; i++) {
        sago_ckpt *ckpt = open_with(local_only);
        save(ckpt, last += 10);
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    for (int i = 0; i < 2; i++) {
        shell("rm ckpt/lock.* ckpt/found.*");
        sago_ckpt *ckpt = open_with(local_only);
        check_restart(ckpt, last, 0, "step");
        save(ckpt, last += 10);
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    sago_ckpt *ckpt = open_with(local_only);
    check_restart(ckpt, last, 0, "step");
    CHECK_OK(sago_ckpt_remove(ckpt, last - 10));
    CHECK_INT(names("local/*/step-*"), last / 10 - 1);
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* Strange names on the nodes use up no generations.  A list of an owner that this directory cannot have had is
 * told of, since nothing would count beside it. */
static void far_ahead(void) {
    sago_ckpt *ckpt = NULL;
    char name[CHECK_PATH_MAX], folder[CHECK_PATH_MAX];
    sagoi_found found = {.generation = SAGOI_GENERATION_MOST};
    sagoi_wire_out out = {0};
    scene = "a list far ahead";
    start(local_only);
    shell("f=$(ls -d local/*); touch $f/found.16777215; mkdir $f/step-0000000000000000001-5347fffffe000000");
    for (int64_t step = 40; step <= 50; step += 10) {
        ckpt = open_with(local_only);
        check_restart(ckpt, step, 0, "step");
        save(ckpt, step + 10);
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    CHECK_INT(names("ckpt/lock.00000003"), 1);
    CHECK_INT(names("ckpt/lock.*"), 1);
    shell("ls -d local/* >name");
    FILE *file = fopen(scratch("name"), "r");
    CHECK(file && fscanf(file, "%255s", name) == 1 && fclose(file) == 0);
    snprintf(folder, sizeof folder, "%s", scratch(name));
    sagoi_found_encode(&found, &out);
    if (rank == 0) {
        CHECK_OK(sagoi_cfile_publish(folder, "found.16777215", out.bytes, out.len));
    }
    free(out.bytes);
    meet();
    EXPECT(ckpt_open_hinted(MPI_COMM_WORLD, scratch("ckpt"), local_only, &ckpt), SAGO_ERR_BAD_FILE,
           "found.16777215", -1);
    shell("rm local/*/found.16777215");
    ckpt = open_with(local_only);
    check_restart(ckpt, 60, 0, "step");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* A job that did not see the nodes has saved the step once more.  Each of the two saves can be restored from, and
 * only what is damaged gives way. */
static void saved_twice(void) {
    scene = "saved twice";
    start(local_only);
    sago_ckpt *ckpt = open_with(global_only);
    save(ckpt, 40);
    CHECK_OK(sago_ckpt_close(&ckpt));
    shell(FLIP("40"));
    ckpt = open_with(local_only);
    check_restart(ckpt, 40, 1, "step 40: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    shell("for f in ckpt/" NEWEST "/*.data; do truncate -s 1 $f; done");
    ckpt = open_with(local_only);
    check_restart(ckpt, 40, 0, "step 40: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("ckpt/damaged-*40-*"), 1);
    start_anew();
    scene = "";
}

/* A save that fails on one node leaves nothing in the directory, although others were bringing it there. */
static int refuse_data_of_second(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_WRITE && strstr(op->path, "local/") && strstr(op->path, "writer-000001.data")
               ? ENOSPC
               : 0;
}

static void fails_on_one_node(void) {
    static const file_hooks hooks = {.before = refuse_data_of_second};
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    scene = "fails on one node";
    sago_ckpt *ckpt = open_with(both);
    inject_file_hooks(&hooks);
    visit_all(&m, &d, 10, fill_byte);
    CHECK_OK(sago_ckpt_save(ckpt, 10));
    EXPECT(sago_ckpt_wait(ckpt, 10, SAGO_LEVEL_GLOBAL), SAGO_ERR_NO_SPACE, "step 10 is not at level local", -1);
    inject_file_hooks(NULL);
    save(ckpt, 20);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("ckpt/*10-5*"), 0);
    ckpt = open_with(both);
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK_INT(stats.damaged, 0);
    check_restart(ckpt, 20, 0, "step 20: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* A job that is killed while it drains leaves some parts in the directory.  They go when the step on the nodes has
 * become too old, and are not taken for a damaged step then; unless the step was brought there as a whole before.
 */
static void half_drained(sago_status (*bring)(sago_ckpt *, int64_t)) {
    char hints[320];
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    scene = bring ? "half drained, then as a whole" : "half drained";
    start(both);
    shell("cd ckpt/step-*10-*; rm complete writer-000001.part; cd ../step-*20-*; rm complete intent "
          "writer-000000.part");
    snprintf(hints, sizeof hints, "%s sago_ckpt_keep_local=1", both);
    sago_ckpt *ckpt = open_with(hints);
    if (bring)
        CHECK_OK(bring(ckpt, 10));
    save(ckpt, 50);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("local/*/step-*"), 1);
    CHECK_INT(names("ckpt/step-*10-*/*.part"), bring ? ranks : 0);
    ckpt = open_with(both);
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK_INT(stats.damaged, 0);
    CHECK_INT(names("ckpt/step-*"), STEPS - 1 + (bring != NULL));
    check_restart(ckpt, 50, 0, "step 50: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* The same of a drain that fails, of a step that an earlier job has saved. */
static int refuse_second_in_directory(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op_changes(op->kind) && strstr(op->path, "/ckpt/step-") && strstr(op->path, "writer-000001") ? EIO : 0;
}

static void drain_fails(void) {
    static const file_hooks hooks = {.before = refuse_second_in_directory};
    char hints[320];
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    scene = "a drain fails";
    start(local_only);
    snprintf(hints, sizeof hints, "%s sago_ckpt_keep_local=1", local_only);
    sago_ckpt *ckpt = open_with(hints);
    inject_file_hooks(&hooks);
    EXPECT(sago_ckpt_drain(ckpt, 10), SAGO_ERR_IO, "writer-000001", -1);
    inject_file_hooks(NULL);
    CHECK_INT(names("ckpt/step-*10-*/*.part"), ranks - 1);
    save(ckpt, 50);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("ckpt/*10-5*"), 0);
    ckpt = open_with(both);
    CHECK_OK(sago_ckpt_get_stats(ckpt, &stats));
    CHECK_INT(stats.damaged, 0);
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* Nothing can be read: nobody begins at the beginning unawares. */
static int refuse_all_parts(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_READ && strstr(op->path, ".part") ? EIO : 0;
}

static void nothing_readable(void) {
    static const file_hooks hooks = {.before = refuse_all_parts};
    int64_t step = 5;
    scene = "nothing readable";
    start(global_only);
    shell("rm ckpt/step-*/complete"); /* as a job leaves them that is killed */
    inject_file_hooks(&hooks);
    sago_ckpt *ckpt = open_with(global_only);
    EXPECT(sago_ckpt_restore_latest(ckpt, &step), SAGO_ERR_IO, "could not be read", -1);
    CHECK_INT(step, 5);
    inject_file_hooks(NULL);
    check_restart(ckpt, 40, 0, "step 40: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* The directory is not there for a while (a mount that comes and goes): saves fail, and are made again when it is
 * back, since nobody else has taken it. */
static void goes_away(const char *away, const char *back) {
    const char *hints = "sago_ckpt_lease=2 sago_ckpt_files=1"; /* rank 0 writes, which has the lock */
    scene = away;
    sago_ckpt *ckpt = open_with(hints);
    save(ckpt, 10);
    CHECK_OK(sago_ckpt_wait(ckpt, 10, SAGO_LEVEL_GLOBAL));
    shell(away);
    sleep(3); /* the lock is renewed meanwhile, or not */
    sago_status status = sago_ckpt_save(ckpt, 20);
    if (!status)
        status = sago_ckpt_wait(ckpt, 20, SAGO_LEVEL_GLOBAL);
    CHECK(status != SAGO_OK && same_everywhere(status));
    shell(back);
    save(ckpt, 30);
    CHECK_OK(sago_ckpt_wait(ckpt, 30, SAGO_LEVEL_GLOBAL));
    CHECK_OK(sago_ckpt_close(&ckpt));
    ckpt = open_with(hints);
    check_restart(ckpt, 30, 0, "step 30: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

static void more_damage(void) {
    set_aside(global_only, "a data file missing", "rm ckpt/" NEWEST "/file-000001.data");
    set_aside(global_only, "a part missing", "rm ckpt/" NEWEST "/writer-000000.part");
    set_aside(global_only, "a damaged part",
              "printf X | dd of=$(ls ckpt/" NEWEST "/writer-000000.part) bs=1 seek=60 conv=notrunc status=none");
    set_aside(global_only, "the intent missing", "rm ckpt/" NEWEST "/intent");
    set_aside(global_only, "the intent damaged", "truncate -s 50 ckpt/" NEWEST "/intent");
    set_aside(global_only, "the intent damaged, no mark",
              "rm ckpt/" NEWEST "/complete; truncate -s 50 ckpt/" NEWEST "/intent");
    set_aside(local_only, "on the nodes", "truncate -s 1 local/*/" NEWEST "/*.data");
    whole_elsewhere("whole on the nodes", "truncate -s 1 ckpt/" NEWEST "/*.data");
    comes_back(local_only, "mv local/*/" NEWEST "/writer-000000.part moved",
               "mv moved $(ls -d local/*/damaged-*)/writer-000000.part");
}

/* A part is damaged on the nodes, and its data in the directory: repairing fails, and leaves the data that is
 * good. */
static void repair_keeps_good_data(void) {
    scene = "repair keeps good data";
    start(both);
    shell("f=$(ls -S ckpt/" NEWEST "/*.data | head -1); w=${f##*file-}; w=writer-${w%.data}.part; "
          "cp local/*/" NEWEST "/$w $w; printf x >>$(ls local/*/" NEWEST "/$w)");
    shell(FLIP("40") "true");
    sago_ckpt *ckpt = open_with(both);
    EXPECT(sago_ckpt_repair(ckpt, 40), SAGO_ERR_IO, "damaged or missing", -1);
    CHECK_OK(sago_ckpt_close(&ckpt));
    shell("w=$(ls writer-*); mv $w $(ls -d local/*/" NEWEST ")");
    ckpt = open_with(both);
    check_restart(ckpt, 40, 0, "step 40: ");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* A step that was complete at both levels, and has no mark in the directory, is damaged at both: trying to repair
 * it does not make it one that never was complete. */
static void repair_keeps_the_past(void) {
    scene = "repair keeps the past";
    start(both);
    shell("rm ckpt/" NEWEST "/complete; truncate -s 1 ckpt/" NEWEST "/*.data; for f in local/*/" NEWEST
          "/*.data; do "
          "printf '\\377\\0\\377' | dd of=$f bs=1 seek=$(($(stat -c %s $f) / 2)) conv=notrunc status=none; done");
    sago_ckpt *ckpt = open_with(both);
    EXPECT(sago_ckpt_repair(ckpt, 40), SAGO_ERR_IO, "damaged or missing", -1);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("ckpt/" NEWEST "/*.part"), ranks);
    shell("rm -r local/*/" NEWEST);
    ckpt = open_with(both);
    check_damaged(ckpt, 40, 1);
    check_restart(ckpt, 30, 1, "step 40 is damaged and set aside");
    CHECK_OK(sago_ckpt_close(&ckpt));
    start_anew();
    scene = "";
}

/* A step that could be removed in part only is none of those to be kept. */
static void half_removed_now(void) {
    char hints[320];
    scene = "half removed now";
    start(global_only);
    snprintf(hints, sizeof hints, "sago_ckpt_keep_global=2 %s", global_only);
    sago_ckpt *ckpt = open_with(hints);
    shell("mkdir $(ls -d ckpt/" NEWEST ")/strange");
    CHECK(sago_ckpt_remove(ckpt, 40) != SAGO_OK);
    save(ckpt, 50);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK_INT(names("ckpt/step-*30-* ckpt/step-*50-*"), 2);
    start_anew();
    scene = "";
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    model_make(&m, 3, false);
    decompose(&m, &d, 5, ranks, rank);
    snprintf(global_only, sizeof global_only, "sago_ckpt_files=%d", ranks);
    snprintf(both, sizeof both, "sago_local_dirs=%s sago_ckpt_keep_local=0 sago_ckpt_files=%d", scratch("local"),
             ranks);
    snprintf(local_only, sizeof local_only, "%s sago_ckpt_global_every=0", both);
    start_anew();
    set_aside(global_only, "a data file cut off", "truncate -s 1 ckpt/" NEWEST "/*.data");
    set_aside(global_only, "all parts missing", "rm ckpt/" NEWEST "/*.part");
    set_aside(global_only, "the intent missing, no mark", "rm ckpt/" NEWEST "/complete ckpt/" NEWEST "/intent");
    set_aside(both, "at both levels",
              "rm local/*/" NEWEST "/writer-000000.part ckpt/" NEWEST "/writer-000000.part");
    if (argc > 1)
        more_damage();
    whole_elsewhere("whole in the directory", "rm local/*/" NEWEST "/*.part");
    whole_elsewhere("one part in each",
                    "rm local/*/" NEWEST "/writer-000000.part ckpt/" NEWEST "/writer-000001.part");
    comes_back(global_only, "mv ckpt/" NEWEST "/file-000000.data moved",
               "mv moved $(ls -d ckpt/damaged-*)/file-000000.data");
    journal();
    read_only();
    out_of_reach();
    out_of_reach_and_old();
    devices("a device that was away", "mv node-1/local/*/step-*40-* away", 1);
    devices("set aside on one of them",
            "mv node-1/local/*/step-*40-* away; cd node-0/local/*; mv step-*40-* $(echo step-*40-* | sed "
            "s/step/damaged/)",
            1);
    devices("removed from one of them",
            "cd node-1/local/*; f=$(echo step-*40-*); mv $f removed${f#step}; rm removed-*/*", 0);
    interrupted(global_only);
    interrupted(local_only);
    in_doubt();
    half_removed();
    half_removed_now();
    beside_copies();
    strangers();
    strange_locks();
    fresh_damaged_lock();
    without_marker();
    goes_back();
    nothing_whole();
    keeps_whole_ones();
    repair_keeps_good_data();
    repair_keeps_the_past();
    clock_goes_back(false);
    clock_goes_back(true);
    goes_away("mv ckpt moved", "mv moved ckpt");
    /* The threads may make a file there at any moment. */
    goes_away("mv ckpt moved; mkdir ckpt", "until rm -rf ckpt && mv -T moved ckpt; do sleep 0.01; done");
    without_locks();
    without_locks_on_nodes(1); /* the next owner has to be later by one */
    without_locks_on_nodes(3);
    far_ahead();
    saved_twice();
    fails_on_one_node();
    half_drained(NULL);
    half_drained(sago_ckpt_repair);
    half_drained(sago_ckpt_drain);
    drain_fails();
    nothing_readable();
    decomposition_free(&m, &d);
    return check_end();
}
