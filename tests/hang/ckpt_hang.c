/* Checkpoints on storage that hangs (hangfs.c): every call returns the same on all ranks, what is at the other
 * level goes on, what was reported complete comes back bit for bit, and storage that answers again is used again.
 *
 *     ckpt_hang PHASE WHERE STYLE KIND...
 *
 * PHASE: open (it hangs while the directory is opened), run (while steps are saved and restored), leave (the same,
 * and the program ends while it hangs).  WHERE: global, local (there are both levels), only (no local level).
 * STYLE: threaded, rbio, coio (how steps are written), or redundant: every rank has local storage of its own, with
 * copies on another's.  KIND: a call of hangfs, or stopped: its server is.  The script hang.sh makes the file
 * systems and tells about them in the environment. */
#include <signal.h>

#include "mpi/ckpt_model.h"

typedef struct stage {
    model m;
    decomposition d;
    sago_ckpt *ckpt;
    const char *style;
    bool levels;   /* is there a local one? */
    bool copies;   /* the style is redundant */
    bool at_local; /* does it hang there? */
    const char *kind;
    int64_t next;          /* step */
    int64_t complete[256]; /* steps that were reported complete */
    int ncomplete;
    int timeouts;
} stage;

static const char *setting(const char *name) {
    const char *value = getenv(name);
    if (!value) {
        fprintf(stderr, "%s is not set\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return value;
}

static void write_control(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
}

/* From now on, or no longer. */
static void set_hang(const stage *s, bool hangs) {
    const char *control = setting(s->at_local ? "HANG_CONTROL_LOCAL" : "HANG_CONTROL_GLOBAL");
    pid_t server = (pid_t)atol(setting(s->at_local ? "HANG_SERVER_LOCAL" : "HANG_SERVER_GLOBAL"));
    meet();
    if (rank == 0 && strcmp(s->kind, "stopped") == 0)
        CHECK(kill(server, hangs ? SIGSTOP : SIGCONT) == 0);
    else if (rank == 0)
        write_control(control, hangs ? s->kind : "");
    meet();
}

/* The status of a call: the same everywhere, with a message if it is an error. */
static sago_status same(stage *s, sago_status status) {
    CHECK(same_everywhere(status));
    CHECK(!status == !*sago_error_message());
    s->timeouts += status == SAGO_ERR_TIMEOUT;
    return status;
}

static sago_status try_open(stage *s) {
    char text[512];
    const char *patience = getenv("HANG_PATIENCE");
    snprintf(
        text, sizeof text,
        "sago_ckpt_patience=%s sago_ckpt_lease=2 sago_ckpt_keep_local=0 sago_ckpt_mode=%s sago_ckpt_files=%d%s%s",
        patience ? patience : "1", s->copies ? "threaded" : s->style, s->copies ? ranks : 1,
        s->levels ? " sago_local_dirs=" : "",
        s->copies   ? "own sago_ckpt_redundancy=copy" /* in the working directory */
        : s->levels ? setting("HANG_DIR_LOCAL")
                    : "");
    char dir[512];
    snprintf(dir, sizeof dir, "%s/ckpt", setting("HANG_DIR_GLOBAL"));
    MPI_Info info = hints_of(text);
    s->ckpt = NULL;
    sago_status status = same(s, sago_ckpt_open(MPI_COMM_WORLD, dir, info, &s->ckpt));
    MPI_Info_free(&info);
    if (!status)
        protect_arrays(&s->m, &s->d, s->ckpt);
    return status;
}

/* The lock of a hung job is void after a while, and its calls come back one after another. */
static void open_again(stage *s) {
    sago_status status = try_open(s);
    for (int i = 0; i < 100 && (status == SAGO_ERR_BUSY || status == SAGO_ERR_TIMEOUT); i++) {
        usleep(100000);
        meet();
        status = try_open(s);
    }
    if (status)
        printf("rank %d: %s: %s\n", rank, s->kind, sago_error_message());
    CHECK_INT(status, SAGO_OK);
}

/* The level that was reached, SAGO_LEVEL_MEMORY if none. */
static sago_level save(stage *s) {
    int64_t step = s->next++;
    sago_level reached = SAGO_LEVEL_MEMORY;
    visit_all(&s->m, &s->d, step, fill_byte);
    if (same(s, sago_ckpt_save(s->ckpt, step)))
        return reached;
    if (s->levels && !same(s, sago_ckpt_wait(s->ckpt, step, SAGO_LEVEL_LOCAL)))
        reached = SAGO_LEVEL_LOCAL;
    if (s->copies && !same(s, sago_ckpt_wait(s->ckpt, step, SAGO_LEVEL_REDUNDANT)))
        reached = SAGO_LEVEL_REDUNDANT;
    if (!same(s, sago_ckpt_wait(s->ckpt, step, SAGO_LEVEL_GLOBAL)))
        reached = SAGO_LEVEL_GLOBAL;
    if (reached > SAGO_LEVEL_MEMORY && s->ncomplete < 256)
        s->complete[s->ncomplete++] = step;
    return reached;
}

static sago_status restore(stage *s, int64_t step) {
    sago_status status = same(s, sago_ckpt_restore(s->ckpt, step));
    if (!status)
        CHECK_INT(visit_all(&s->m, &s->d, step, compare_byte), 0);
    return status;
}

/* Everything that was reported, and a new step. */
static void check_all(stage *s) {
    for (int i = 0; i < s->ncomplete; i++)
        CHECK_INT(restore(s, s->complete[i]), SAGO_OK);
    CHECK_INT(save(s), SAGO_LEVEL_GLOBAL);
}

/* What else is asked of the level that answers. */
static void look_at_rest(stage *s, int64_t latest) {
    int64_t count = 0, step = -1;
    CHECK_INT(same(s, sago_ckpt_list(s->ckpt, &count, NULL)), SAGO_OK);
    CHECK(count > 0);
    CHECK_INT(same(s, sago_ckpt_restore_latest(s->ckpt, &step)), SAGO_OK);
    CHECK(step >= latest || s->timeouts > 0);
    if (step >= 0)
        CHECK_INT(visit_all(&s->m, &s->d, step, compare_byte), 0);
}

/* What an application does while storage hangs. */
static void go_on(stage *s) {
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    int64_t latest = -1, before = s->ncomplete;
    for (int i = 0; i < 2; i++) {
        sago_level reached = save(s);
        if (s->levels && !s->at_local)
            CHECK(reached >= SAGO_LEVEL_LOCAL); /* the nodes' storage does not wait for the directory */
    }
    if (s->levels && !s->at_local)
        CHECK_INT(restore(s, s->next - 1), SAGO_OK);
    (void)restore(s, s->complete[before - 1]);
    sago_status found = same(s, sago_ckpt_latest(s->ckpt, SAGO_LEVEL_LOCAL, &latest));
    if (s->levels) { /* the other level tells */
        CHECK_INT(found, SAGO_OK);
        CHECK(latest >= s->complete[before - 1]);
        look_at_rest(s, latest);
    }
    (void)same(s, sago_ckpt_verify(s->ckpt, s->complete[before - 1]));
    (void)same(s, sago_ckpt_drain(s->ckpt, s->complete[before - 1]));
    CHECK_OK(sago_ckpt_get_stats(s->ckpt, &stats));
    CHECK(stats.hung_calls <= 16 && stats.hung_bytes < 64 << 20);
    CHECK(s->timeouts == 0 || stats.hung_calls > 0);
}

/* While it hangs: close returns, and tells what it has not told before. */
static void close_hanging(stage *s) {
    int64_t step = s->next++;
    visit_all(&s->m, &s->d, step, fill_byte);
    sago_status saved = same(s, sago_ckpt_save(s->ckpt, step));
    sago_status status = same(s, sago_ckpt_close(&s->ckpt));
    CHECK(s->ckpt == NULL);
    if (status == SAGO_ERR_TIMEOUT && !saved)
        CHECK(strstr(sago_error_message(), "is not at level") != NULL);
}

static void one_kind(stage *s, const char *phase) {
    char name[128];
    snprintf(name, sizeof name, "%s %s %s %s", phase,
             s->at_local ? "local"
             : s->levels ? "global"
                         : "only",
             s->style, s->kind);
    scene = name;
    s->timeouts = 0;
    if (strcmp(phase, "open") == 0) {
        set_hang(s, true);
        if (!try_open(s))
            (void)same(s, sago_ckpt_close(&s->ckpt));
        set_hang(s, false);
    } else {
        open_again(s);
        CHECK_INT(save(s), SAGO_LEVEL_GLOBAL);
        set_hang(s, true);
        go_on(s);
        if (strcmp(phase, "leave") == 0) {
            close_hanging(s);
            return;
        }
        set_hang(s, false);
        sago_level reached = SAGO_LEVEL_MEMORY;
        for (int i = 0; i < 200 && reached < SAGO_LEVEL_GLOBAL; i++) {
            usleep(20000);
            reached = save(s); /* also when its lock was lost meanwhile, nobody else has taken it */
        }
        CHECK_INT(reached, SAGO_LEVEL_GLOBAL);
        CHECK_OK(sago_ckpt_close(&s->ckpt));
    }
    open_again(s);
    check_all(s);
    CHECK_OK(sago_ckpt_close(&s->ckpt));
    if (rank == 0)
        printf("%s: %d calls were given up\n", scene, s->timeouts);
    s->ncomplete = 0;
}

/* A folder of this rank's own is its working directory. */
static void own_storage(void) {
    char path[512];
    snprintf(path, sizeof path, "%s/rank-%d", setting("HANG_DIR_LOCAL"), rank);
    CHECK(mkdir(path, 0700) == 0 && chdir(path) == 0 && mkdir("own", 0700) == 0);
}

int main(int argc, char **argv) {
    static stage s;
    check_start(&argc, &argv);
    if (argc < 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    model_make(&s.m, 7, false);
    decompose(&s.m, &s.d, 7, ranks, rank);
    s.levels = strcmp(argv[2], "only") != 0;
    s.at_local = strcmp(argv[2], "local") == 0;
    s.style = argv[3];
    s.copies = strcmp(s.style, "redundant") == 0;
    if (s.copies)
        own_storage();
    for (int i = 4; i < argc; i++) {
        s.kind = argv[i];
        one_kind(&s, argv[1]);
    }
    decomposition_free(&s.m, &s.d);
    int code = check_end();
    if (strcmp(argv[1], "leave") ==
        0) { /* MPI has ended, while calls are out: that this process can is another matter */
        char left[512];
        snprintf(left, sizeof left, "%s.%d", setting("HANG_LEFT"), rank);
        write_control(left, "left");
    }
    return code;
}
