/* Every step of the commit: whatever operations a crash lets through, what was reported complete comes back bit
 * for bit, and nothing half-written is taken for complete. test_crash [VECTORS] */
/* RUN: 150 */
/* RUN-LONG: 2000 */
#include "ckpt/commit.h"
#include "ckpt/drain.h"
#include "ckpt/fetch.h"
#include "support/inject.h"
#include "unit/ckpt/crash.h"
#include "support/unit.h"

enum { STEPS = 3, PIECE = 1024, BYTES = 2600, FATES = 8 };

static int random_vectors = 150;
static char root[128]; /* of this process */

static unsigned char data_byte(int64_t writer, int64_t step, int64_t off) {
    uint64_t x = (uint64_t)(off + 1) * 0x9e3779b97f4a7c15u + (uint64_t)(writer * 31 + step) * 0xc2b2ae3d27d4eb4fu;
    return (unsigned char)(1 + (x >> 33) % 255);
}

/* ---- What is saved ---- */

/* Two files for three writers: the first two share one. */
static void fill_intent(sagoi_intent *intent, int writers, int64_t step) {
    *intent =
        (sagoi_intent){.id = {0x1000 + (uint64_t)step, 7}, .step = step, .time = 1000 + step, .ranks = writers};
    intent->nodes = writers;
    intent->files = writers == 1 ? 1 : writers - 1;
    intent->piece = PIECE;
    intent->narrays = 1;
    intent->nwriters = writers;
    intent->arrays = calloc(1, sizeof *intent->arrays);
    intent->writers = calloc((size_t)writers, sizeof *intent->writers);
    strcpy(intent->arrays[0].name, "a");
    strcpy(intent->arrays[0].type, "uint8");
    intent->arrays[0].element = 1;
    intent->arrays[0].ndims = 1;
    for (int w = 0; w < writers; w++) {
        intent->writers[w] =
            (sagoi_writer_desc){.bytes = BYTES + 300 * w, .file = w * intent->files / writers, .set = -1};
        if (w > 0 && intent->writers[w].file == intent->writers[w - 1].file)
            intent->writers[w].base = 4096;
        intent->arrays[0].global[0] += intent->writers[w].bytes;
    }
    intent->arrays[0].bytes = intent->arrays[0].global[0];
}

static void fill_part(sagoi_part *part, const sagoi_intent *intent, int writer, sagoi_stored_block *block) {
    *block = (sagoi_stored_block){.rank = writer, .ndims = 1, .bytes = intent->writers[writer].bytes};
    for (int w = 0; w < writer; w++)
        block->start[0] += intent->writers[w].bytes;
    block->count[0] = block->bytes;
    *part = (sagoi_part){
        .id = intent->id, .step = intent->step, .writer = writer, .bytes = block->bytes, .piece = PIECE};
    part->nblocks = 1;
    part->blocks = block;
}

/* One writer's commit of one step, in two windows. */
static void commit_one(const char *dir, bool global, int writer, const sagoi_intent *intent) {
    sagoi_wire_out record = {0};
    sagoi_stored_block block;
    sagoi_part part;
    sagoi_commit commit;
    static char data[BYTES + 300 * CRASH_WRITERS];
    fill_part(&part, intent, writer, &block);
    sagoi_intent_encode(intent, &record);
    for (int64_t i = 0; i < part.bytes; i++)
        data[i] = (char)data_byte(writer, intent->step, i);
    sagoi_commit_plan plan = {.dir = dir, .global = global, .part = &part, .place = &intent->writers[writer]};
    if (writer == 0 || !global)
        plan.intent = record.bytes;
    plan.intent_len = record.len;
    assert_int_equal(sagoi_commit_begin(&commit, &plan), SAGO_OK);
    assert_int_equal(sagoi_commit_write(&commit, data, 2 * PIECE, 0), SAGO_OK);
    assert_int_equal(sagoi_commit_write(&commit, data + 2 * PIECE, part.bytes - 2 * PIECE, 2 * PIECE), SAGO_OK);
    assert_int_equal(sagoi_commit_end(&commit), SAGO_OK);
    free(record.bytes);
}

static void drain_one(const char *from, const char *to, int writer, const sagoi_intent *intent) {
    sagoi_wire_out record = {0};
    sagoi_intent_encode(intent, &record);
    sagoi_drain_plan plan = {.from = from, .to = to, .place = &intent->writers[writer], .step = intent->step};
    plan.id = intent->id;
    plan.writer = writer;
    plan.intent = writer == 0 ? record.bytes : NULL;
    plan.intent_len = record.len;
    assert_int_equal(sagoi_drain_part(&plan), SAGO_OK);
    free(record.bytes);
}

/* ---- A run of several saves, recorded ---- */

typedef struct scenario {
    int writers;
    bool local; /* first on the nodes, then drained */
    char base[160];
} scenario;

static void level_dir(char path[SAGOI_CKPT_PATH], const char *base, bool global, int writer) {
    if (global)
        snprintf(path, SAGOI_CKPT_PATH, "%s/global", base);
    else
        snprintf(path, SAGOI_CKPT_PATH, "%s/node-%d", base, writer);
}

/* The first level is reported by its own numbers, 2 * step; the global one as 2 * step + 1. */
static void save_step(const scenario *s, crash_log *log, int64_t step) {
    char dir[SAGOI_CKPT_PATH], local[SAGOI_CKPT_PATH];
    sagoi_save_name old = {dir, step - 1, 0x1000 + (uint64_t)step - 1, NULL};
    sagoi_intent intent;
    fill_intent(&intent, s->writers, step);
    level_dir(dir, s->base, true, 0);
    for (int w = 0; w < s->writers; w++) {
        log->writer = w;
        level_dir(local, s->base, false, w);
        commit_one(s->local ? local : dir, !s->local, w, &intent);
        crash_mark(log, w, CRASH_REPORTED, 2 * step);
        if (s->local)
            drain_one(local, dir, w, &intent);
        crash_mark(log, w, CRASH_REPORTED, 2 * step + 1);
    }
    for (int w = 0; w < s->writers; w++)
        crash_mark(log, w, CRASH_BARRIER, step);
    sagoi_intent_cleanup(&intent);
    if (step == 1)
        return;
    log->writer = 0;
    assert_int_equal(sagoi_save_remove(&old, SAGOI_FOLDER_STEP, false), SAGO_OK);
    for (int w = 0; s->local && w < s->writers; w++) {
        log->writer = w;
        level_dir(local, s->base, false, w);
        old.dir = local;
        assert_int_equal(sagoi_save_remove(&old, SAGOI_FOLDER_STEP, true), SAGO_OK);
        assert_int_equal(sagoi_traces_remove(NULL, local, &old), SAGO_OK);
    }
}

static crash_log *record(const scenario *s) {
    char path[SAGOI_CKPT_PATH];
    crash_log *log = calloc(1, sizeof *log);
    file_hooks hooks = {.after = crash_record, .arg = log};
    mkdir(s->base, 0700);
    for (int w = 0; w < s->writers; w++) {
        level_dir(path, s->base, false, w);
        mkdir(path, 0700);
    }
    level_dir(path, s->base, true, 0);
    mkdir(path, 0700);
    inject_file_hooks(&hooks);
    for (int64_t step = 1; step <= STEPS; step++)
        save_step(s, log, step);
    inject_file_hooks(NULL);
    remove_tree(s->base);
    return log;
}

/* ---- After a crash ---- */

/* Are all bytes of a complete save there, and right? */
static bool save_is_right(const scenario *s, const char *base, const sagoi_overview *overview,
                          const sagoi_save_view *view, sago_level level) {
    sago_ckpt ckpt = {0};
    sago_ckpt_report report;
    sagoi_fetch fetch = {.ckpt = &ckpt, .overview = overview, .save = view, .report = &report};
    bool right = sagoi_fetch_init(&fetch) == SAGO_OK;
    level_dir(ckpt.dir, base, true, 0);
    for (int w = 0; right && w < s->writers; w++) {
        level_dir(ckpt.local, base, false, w);
        right = fetch.there[w] && fetch.parts[w].bytes == BYTES + 300 * w;
        for (int64_t i = 0; right && i < fetch.parts[w].nsums; i++) {
            int64_t off = i * PIECE, len = fetch.parts[w].bytes - off < PIECE ? fetch.parts[w].bytes - off : PIECE;
            right = sagoi_fetch_piece(&fetch, level, w, i) == SAGO_OK;
            for (int64_t k = 0; right && k < len; k++)
                right = (unsigned char)fetch.piece[k] == data_byte(w, view->step, off + k);
        }
    }
    sagoi_fetch_cleanup(&fetch);
    return right;
}

static void look(const scenario *s, const char *base, int64_t step, sagoi_overview *overview) {
    char path[SAGOI_CKPT_PATH];
    *overview = (sagoi_overview){0};
    level_dir(path, base, true, 0);
    assert_int_equal(sagoi_catalog_scan(&overview->catalog, path, SAGO_LEVEL_GLOBAL, 0, step), SAGO_OK);
    for (int w = 0; w < s->writers; w++) {
        level_dir(path, base, false, w);
        assert_int_equal(sagoi_catalog_scan(&overview->catalog, path, SAGO_LEVEL_LOCAL, w, step), SAGO_OK);
    }
    assert_int_equal(sagoi_catalog_views(&overview->catalog, &overview->views, &overview->n), SAGO_OK);
}

static void forget(sagoi_overview *overview) {
    sagoi_views_free(overview->views, overview->n);
    sagoi_catalog_cleanup(&overview->catalog);
}

/* How many promises are broken: what was reported is not there, what counts as complete is wrong, or what a crash
 * left looks like damage. */
static int broken_promises(const scenario *s, const char *base, int64_t reported) {
    bool there[STEPS + 1][SAGO_LEVEL_COUNT] = {{false}};
    int broken = 0;
    for (int64_t step = 1; step <= STEPS; step++) {
        sagoi_overview overview;
        look(s, base, step, &overview);
        for (int64_t i = 0; i < overview.n; i++)
            broken += sagoi_view_past(&overview.views[i]) == SAGOI_ONCE_COMPLETE;
        for (int64_t i = 0; i < overview.n; i++)
            for (int level = SAGO_LEVEL_LOCAL; level < SAGO_LEVEL_COUNT; level++)
                if (overview.views[i].step == step && overview.views[i].complete[level]) {
                    there[step][level] = true;
                    broken += !save_is_right(s, base, &overview, &overview.views[i], (sago_level)level);
                }
        forget(&overview);
    }
    int64_t first = reported / 2, global = reported % 2 ? first : first - 1;
    if (first > 0)
        broken += !there[first][SAGO_LEVEL_LOCAL] && !there[first][SAGO_LEVEL_GLOBAL];
    if (global > 0)
        broken += !there[global][SAGO_LEVEL_GLOBAL];
    return broken;
}

static int crash_once(const scenario *s, const crash_log *log, const int *end, crash_fate fate, uint64_t seed) {
    static int serial;
    char base[160], path[SAGOI_CKPT_PATH];
    crash_state *after = calloc(1, sizeof *after);
    snprintf(base, sizeof base, "%s/after-%d", root, serial++);
    for (int w = 0; w < s->writers; w++) {
        level_dir(path, s->base, false, w);
        name_set(after->dirs, &after->ndirs, path, 0);
    }
    level_dir(path, s->base, true, 0);
    name_set(after->dirs, &after->ndirs, path, 0);
    crash_apply(log, s->writers, end, fate, seed, after);
    crash_materialize(after, s->base, base);
    int broken = broken_promises(s, base, crash_reported(log, s->writers, end));
    remove_tree(base);
    crash_state_free(after);
    free(after);
    return broken;
}

static int crash_all_fates(const scenario *s, const crash_log *log, const int *end, int fates, uint64_t seed) {
    int broken = crash_once(s, log, end, FATE_KEPT, 0) + crash_once(s, log, end, FATE_DROPPED, 0);
    for (int i = 0; i < fates; i++)
        broken += crash_once(s, log, end, FATE_RANDOM, seed * 1000 + (uint64_t)i);
    return broken;
}

/* ---- The tests ---- */

static scenario make_scenario(int writers, bool local) {
    scenario s = {.writers = writers, .local = local};
    snprintf(s.base, sizeof s.base, "%s/run", root);
    return s;
}

static int every_prefix_of_one(bool local, bool ignore_syncs) {
    scenario s = make_scenario(1, local);
    crash_log *log = record(&s);
    int broken = 0;
    log->ignore_syncs = ignore_syncs;
    for (int end = 0; end <= log->n[0]; end++)
        broken += crash_all_fates(&s, log, &end, FATES, (uint64_t)end);
    crash_free(log);
    free(log);
    return broken;
}

static void one_writer(void **state) {
    assert_int_equal(every_prefix_of_one(false, false), 0);
    assert_int_equal(every_prefix_of_one(true, false), 0);
}

/* A test that cannot fail proves nothing: without syncs promises are broken. */
static void without_syncs_it_fails(void **state) {
    assert_true(every_prefix_of_one(false, true) > 0);
    assert_true(every_prefix_of_one(true, true) > 0);
}

static void three_writers(void **state) {
    uint64_t random = 4711;
    for (int local = 0; local < 2; local++) {
        scenario s = make_scenario(3, local != 0);
        crash_log *log = record(&s);
        for (int i = 0; i < random_vectors / 2; i++) {
            int end[CRASH_WRITERS];
            for (int w = 0; w < 3; w++)
                end[w] = (int)(crash_draw(&random) % (uint64_t)(log->n[w] + 1));
            if (i % 3 == 0) /* near each other: otherwise barriers cut most of it */
                end[1] = end[0], end[2] = end[0];
            if (i % 5 == 0)
                end[0] = log->n[0], end[1] = log->n[1];
            crash_make_possible(log, 3, end);
            assert_int_equal(crash_all_fates(&s, log, end, 1, (uint64_t)i), 0);
        }
        crash_free(log);
        free(log);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_writer), cmocka_unit_test(without_syncs_it_fails),
                                       cmocka_unit_test(three_writers)};
    if (argc > 1)
        random_vectors = atoi(argv[1]);
    snprintf(root, sizeof root, "%s/sago-crash.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(root))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_tree(root);
    return failed;
}
