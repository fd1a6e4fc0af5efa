/* A store that fails: every file operation of a save is made to fail, to be interrupted, short or slow, one after
 * another, on one writer.  All ranks learn the same, nobody hangs, earlier steps stay, the next save works.
 * Damage: what is wrong at one level comes from the next, what is wrong everywhere is an error. */
/* RUN: n=2 */
/* RUN-LONG: n=3 all */
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "system/files.h"
#include "mpi/ckpt_model.h"
#include "support/inject.h"

typedef enum { FAULT_NO_SPACE, FAULT_IO, FAULT_INTERRUPTED, FAULT_SHORT, FAULT_SLOW, FAULTS } fault_kind;

/* The n-th operation that changes something fails; `hit` tells whether there was one. */
typedef struct fault {
    fault_kind kind;
    atomic_int left;
    atomic_bool hit;
} fault;

static int fault_before(void *arg, const sagoi_file_op *op, int64_t *len) {
    fault *f = arg;
    const struct timespec nap = {0, 5000000};
    if (!op_changes(op->kind) || strstr(op->path, "/lock"))
        return 0;
    if (atomic_fetch_sub(&f->left, 1) != 1)
        return 0;
    atomic_store(&f->hit, true);
    switch (f->kind) {
    case FAULT_NO_SPACE:
        return ENOSPC;
    case FAULT_IO:
        return EIO;
    case FAULT_INTERRUPTED:
        return EINTR;
    case FAULT_SHORT:
        if (op->kind == SAGOI_OP_WRITE && *len > 1)
            *len /= 2;
        return 0;
    default:
        nanosleep(&nap, NULL);
        return 0;
    }
}

typedef struct stage {
    model m;
    decomposition d;
    sago_ckpt *ckpt;
    int64_t good, next; /* the newest step that must be there; the next number */
} stage;

static bool save_and_wait(stage *s, sago_level level, sago_status *status) {
    visit_all(&s->m, &s->d, s->next, fill_byte);
    *status = sago_ckpt_save(s->ckpt, s->next);
    if (!*status)
        *status = sago_ckpt_wait(s->ckpt, s->next, level);
    CHECK(same_everywhere(*status));
    if (!*status)
        s->good = s->next;
    s->next++;
    return *status == SAGO_OK;
}

static void check_good(stage *s) {
    int64_t latest = -1;
    CHECK_OK(sago_ckpt_latest(s->ckpt, SAGO_LEVEL_LOCAL, &latest));
    CHECK(latest >= s->good); /* a part that failed after it was durable may count */
    CHECK_OK(sago_ckpt_restore(s->ckpt, s->good));
    CHECK_INT(visit_all(&s->m, &s->d, s->good, compare_byte), 0);
}

/* false: the save has fewer operations. */
static bool one_fault(stage *s, fault_kind kind, int n, sago_level level) {
    static fault f; /* what is removed in the background may still look at them after the call */
    static file_hooks hooks = {.before = fault_before, .arg = &f};
    sago_status status;
    char name[64];
    f.kind = kind;
    atomic_store(&f.hit, false);
    atomic_store(&f.left, n);
    snprintf(name, sizeof name, "fault %d at operation %d", (int)kind, n);
    scene = name;
    if (rank == 0)
        inject_file_hooks(&hooks);
    bool ok = save_and_wait(s, level, &status);
    inject_file_hooks(NULL);
    if (kind == FAULT_SHORT || kind == FAULT_SLOW || !sum_everywhere(atomic_load(&f.hit)))
        CHECK(ok);
    if (kind == FAULT_NO_SPACE && !ok)
        CHECK_INT(status, SAGO_ERR_NO_SPACE);
    check_good(s);
    CHECK(save_and_wait(s, level, &status));
    bool hit = sum_everywhere(atomic_load(&f.hit)) > 0;
    scene = "";
    return hit;
}

static void open_stage(stage *s, const char *hints) {
    s->ckpt = NULL;
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, scratch("ckpt"), hints, &s->ckpt));
    protect_arrays(&s->m, &s->d, s->ckpt);
}

/* The first step goes all the way, so that nothing is under way when faults begin. */
static void start(stage *s, const char *hints) {
    sago_status status;
    s->good = -1;
    s->next = 1;
    open_stage(s, hints);
    CHECK(save_and_wait(s, SAGO_LEVEL_GLOBAL, &status));
}

static void finish(stage *s) {
    CHECK_OK(sago_ckpt_close(&s->ckpt));
    meet();
    if (rank == 0)
        CHECK(system("rm -rf ckpt local; mkdir local") == 0);
    meet();
}

/* A save changes so many things at the least: files are made, written, synced and renamed, records too. */
enum { LEAST_OPERATIONS = 10 };

static void faults(stage *s, const char *hints, sago_level level, int stride) {
    start(s, hints);
    for (int kind = 0; kind < FAULTS; kind++) {
        int hits = 0;
        for (int n = 1 + kind % stride; n < 100 && sum_everywhere(failures) == 0; n += stride) {
            if (!one_fault(s, (fault_kind)kind, n, level))
                break;
            hits++;
        }
        CHECK(hits * stride >= LEAST_OPERATIONS);
    }
    finish(s);
}

/* ---- What fails behind the application's back ---- */

/* The global directory cannot be written to, at rank 0's writer. */
static int refuse_global(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op_changes(op->kind) && strstr(op->path, "/ckpt/step-") ? EIO : 0;
}

/* The other ranks come later, so that the drain has failed when all learn that the step is on the nodes. */
static int come_later(void *arg, const sagoi_file_op *op, int64_t *len) {
    const struct timespec nap = {0, 50000000};
    (void)arg, (void)len;
    if (op->kind == SAGOI_OP_CLOSE && strstr(op->path, "/local/"))
        nanosleep(&nap, NULL);
    return 0;
}

static void refuse(bool on) {
    static const file_hooks hooks = {.before = refuse_global}, later = {.before = come_later, .all = true};
    inject_file_hooks(!on ? NULL : rank == 0 ? &hooks : &later);
}

/* A step that is safe on the nodes and could not be drained: waiting for the global level tells, again and again;
 * draining tries anew; what nobody was told of, closing tells, once. */
static void failed_drains(stage *s, const char *hints) {
    sago_status status;
    int64_t latest = -1;
    start(s, hints);
    scene = "a drain that fails";
    refuse(true);
    CHECK(save_and_wait(s, SAGO_LEVEL_LOCAL, &status));
    EXPECT(sago_ckpt_wait(s->ckpt, s->good, SAGO_LEVEL_GLOBAL), SAGO_ERR_IO, "step 2 is not at level global", -1);
    EXPECT(sago_ckpt_wait(s->ckpt, s->good, SAGO_LEVEL_GLOBAL), SAGO_ERR_IO, "step 2 is not at level global", -1);
    CHECK_OK(sago_ckpt_wait(s->ckpt, s->good, SAGO_LEVEL_LOCAL));
    check_good(s);
    EXPECT(sago_ckpt_drain(s->ckpt, s->good), SAGO_ERR_IO, "ckpt/step-", -1);
    refuse(false);
    CHECK_OK(sago_ckpt_drain(s->ckpt, s->good));
    CHECK_OK(sago_ckpt_wait(s->ckpt, s->good, SAGO_LEVEL_GLOBAL));
    CHECK_OK(sago_ckpt_latest(s->ckpt, SAGO_LEVEL_GLOBAL, &latest));
    CHECK_INT(latest, s->good);
    CHECK_OK(sago_ckpt_verify(s->ckpt, s->good));
    CHECK_OK(sago_ckpt_close(&s->ckpt));
    open_stage(s, hints);
    refuse(true);
    CHECK(save_and_wait(s, SAGO_LEVEL_LOCAL, &status));
    EXPECT(sago_ckpt_close(&s->ckpt), SAGO_ERR_IO, "step 3 is not at level global", -1);
    refuse(false);
    open_stage(s, hints);
    check_good(s);
    CHECK_OK(sago_ckpt_drain(s->ckpt, s->good));
    scene = "";
    finish(s);
}

/* Records that cannot be read when the directory is opened. */
static int refuse_reading(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)len;
    return op->kind == SAGOI_OP_READ && strstr(op->path, arg) ? EIO : 0;
}

/* What could not be read is not taken for the leftover of an interrupted save: it is there when it can be read. */
static void out_of_reach(stage *s, const char *hints) {
    static char records[][8] = {"/intent", ".part"};
    start(s, hints);
    for (int i = 0; i < 2; i++) {
        const file_hooks hooks = {.before = refuse_reading, .arg = records[i]};
        int64_t latest = 0;
        scene = records[i];
        CHECK_OK(sago_ckpt_close(&s->ckpt));
        inject_file_hooks(&hooks);
        open_stage(s, hints);
        CHECK_OK(sago_ckpt_latest(s->ckpt, SAGO_LEVEL_LOCAL, &latest));
        CHECK_INT(latest, -1);
        inject_file_hooks(NULL);
        check_good(s);
    }
    scene = "";
    finish(s);
}

/* ---- Damage ---- */

/* Rank 0 flips a byte in the middle of the first data file under a folder. */
static void damage(const char *where) {
    char command[CHECK_PATH_MAX];
    snprintf(command, sizeof command,
             "f=$(find %s -name '*.data' -size +0 | sort | head -1); printf '\\377\\0\\377' | "
             "dd of=\"$f\" bs=1 seek=$(($(stat -c %%s \"$f\") / 2)) conv=notrunc status=none",
             where);
    meet();
    if (rank == 0)
        CHECK(system(command) == 0);
    meet();
}

static void damaged_levels(stage *s) {
    char hints[256];
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    snprintf(hints, sizeof hints, "sago_local_dirs=%s", scratch("local"));
    start(s, hints);
    CHECK_OK(sago_ckpt_wait(s->ckpt, s->good, SAGO_LEVEL_GLOBAL));
    CHECK_OK(sago_ckpt_verify(s->ckpt, s->good));
    damage("local");
    EXPECT(sago_ckpt_verify(s->ckpt, s->good), SAGO_ERR_IO, "damaged", -1);
    CHECK_OK(sago_ckpt_restore(s->ckpt, s->good));
    CHECK_INT(visit_all(&s->m, &s->d, s->good, compare_byte), 0);
    CHECK_OK(sago_ckpt_get_report(s->ckpt, &report));
    CHECK(report.damaged[SAGO_LEVEL_LOCAL] > 0 && report.bytes_from[SAGO_LEVEL_GLOBAL] > 0);
    damage("ckpt");
    EXPECT(sago_ckpt_restore(s->ckpt, s->good), SAGO_ERR_IO, "nowhere intact", -1);
    finish(s);
}

int main(int argc, char **argv) {
    static stage s;
    char local[256], coio[320];
    check_start(&argc, &argv);
    bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    model_make(&s.m, 3, false);
    decompose(&s.m, &s.d, 5, ranks, rank);
    meet();
    if (rank == 0)
        mkdir("local", 0700);
    meet();
    snprintf(local, sizeof local, "sago_local_dirs=%s sago_ckpt_keep_local=2 sago_ckpt_keep_global=2",
             scratch("local"));
    faults(&s, "sago_ckpt_keep_global=2 sago_ckpt_files=2", SAGO_LEVEL_LOCAL, all ? 1 : 2);
    faults(&s, local, SAGO_LEVEL_GLOBAL, all ? 1 : 7);
    faults(&s, "sago_ckpt_mode=coio sago_ckpt_keep_global=2", SAGO_LEVEL_LOCAL, all ? 1 : 7);
    failed_drains(&s, local);
    snprintf(coio, sizeof coio, "sago_ckpt_mode=coio sago_ckpt_files=1 %s", local);
    failed_drains(&s, coio); /* the save itself succeeds, too */
    out_of_reach(&s, "sago_ckpt_files=2");
    out_of_reach(&s, local);
    damaged_levels(&s);
    decomposition_free(&s.m, &s.d);
    return check_end();
}
