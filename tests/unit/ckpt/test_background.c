/* A writer's thread by itself: windows through the pool, draining, removing, holding, failing; for the sanitizers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ckpt/background.h"
#include "ckpt/catalog.h"
#include "support/inject.h"
#include "unit/ckpt/crash.h"
#include "support/unit.h"

enum { PIECE = 1024, BYTES = 5000, WINDOW = 2 * PIECE, SAVES = 12 };

static char root[128], global[160], local[160];

typedef struct setup {
    sagoi_pool pool;
    sagoi_pool_group group;
    char memory[SAGOI_POOL_SLOTS][WINDOW];
    sagoi_background *background;
    sagoi_intent intent;
    sagoi_array_desc array;
    sagoi_writer_desc writer;
    sagoi_stored_block block;
    sagoi_job jobs[SAVES];
} setup;

static void start(setup *s, const char *nodes) {
    memset(s, 0, sizeof *s);
    s->pool.slots = SAGOI_POOL_SLOTS;
    s->pool.window = WINDOW;
    s->pool.group = &s->group;
    for (int i = 0; i < SAGOI_POOL_SLOTS; i++)
        s->pool.slot[i] = s->memory[i];
    s->writer = (sagoi_writer_desc){.bytes = BYTES, .set = -1};
    s->array = (sagoi_array_desc){.name = "a", .type = "uint8", .element = 1, .ndims = 1, .bytes = BYTES};
    s->array.global[0] = BYTES;
    s->intent =
        (sagoi_intent){.time = 1, .ranks = 1, .nodes = 1, .files = 1, .piece = PIECE, .narrays = 1, .nwriters = 1};
    s->intent.arrays = &s->array;
    s->intent.writers = &s->writer;
    s->block = (sagoi_stored_block){.ndims = 1, .count = {BYTES}, .bytes = BYTES};
    sagoi_background_options options = {
        .dir = global, .local = nodes, .pool = &s->pool, .group_size = 1, .core = -1};
    assert_int_equal(sagoi_background_start(&options, &s->background), SAGO_OK);
}

static void fill_job(setup *s, int i, bool drain) {
    sagoi_wire_out out = {0};
    sagoi_job *job = &s->jobs[i];
    s->intent.id = (sagoi_id){100 + (uint64_t)i, 1};
    s->intent.step = i;
    sagoi_intent_encode(&s->intent, &out);
    *job =
        (sagoi_job){.step = i, .id = s->intent.id, .intent = out.bytes, .intent_len = out.len, .place = s->writer};
    job->intent_first = job->intent_global = true;
    job->part =
        (sagoi_part){.id = job->id, .step = i, .bytes = BYTES, .piece = PIECE, .nblocks = 1, .blocks = &s->block};
    job->first = SAGOI_JOB_PENDING;
    job->global = drain ? SAGOI_JOB_PENDING : SAGOI_JOB_NONE;
}

/* As a rank does it: wait for a slot, copy, count, hand over. */
static void save(setup *s, int i) {
    for (int64_t off = 0; off < BYTES; off += WINDOW) {
        while (!sagoi_pool_free(&s->pool))
            usleep(1000);
        sagoi_pool_window window = {.job = &s->jobs[i], .number = s->pool.next, .off = off, .first = off == 0};
        window.data = s->pool.slot[s->pool.next % SAGOI_POOL_SLOTS];
        window.len = BYTES - off < WINDOW ? BYTES - off : WINDOW;
        window.last = off + window.len == BYTES;
        memset(window.data, i + 1, (size_t)window.len);
        sagoi_pool_fill(&s->pool);
        assert_int_equal(sagoi_background_window(s->background, &window, false), SAGO_OK);
    }
}

static void finish(setup *s, int jobs) {
    while (sagoi_background_wait(s->background))
        ;
    assert_true(sagoi_background_cpu(s->background) >= 0);
    sagoi_background_stop(&s->background);
    for (int i = 0; i < jobs; i++)
        free(s->jobs[i].intent);
}

static int64_t complete_steps(const char *dir, sago_level level) {
    sagoi_catalog catalog = {0};
    sagoi_save_view *views = NULL;
    int64_t n = 0, complete = 0;
    assert_int_equal(sagoi_catalog_scan(&catalog, dir, level, 0, SAGOI_NO_STEP), SAGO_OK);
    assert_int_equal(sagoi_catalog_views(&catalog, &views, &n), SAGO_OK);
    for (int64_t i = 0; i < n; i++)
        complete += views[i].complete[level];
    sagoi_views_free(views, n);
    sagoi_catalog_cleanup(&catalog);
    return complete;
}

static void saves_and_drains(void **state) {
    static setup s;
    start(&s, local);
    for (int i = 0; i < SAVES; i++) {
        fill_job(&s, i, true);
        save(&s, i);
        sagoi_job_news news = sagoi_job_ask(s.background, &s.jobs[i]);
        assert_int_equal(news.status, SAGO_OK);
        if (i >= 8)
            sagoi_background_remove(s.background, true, i - 8, 100 + (uint64_t)(i - 8));
    }
    finish(&s, SAVES);
    for (int i = 0; i < SAVES; i++)
        assert_true(s.jobs[i].first == SAGOI_JOB_DONE && s.jobs[i].global == SAGOI_JOB_DONE);
    assert_int_equal(complete_steps(global, SAGO_LEVEL_GLOBAL), SAVES);
    assert_int_equal(complete_steps(local, SAGO_LEVEL_LOCAL), 8);
}

static int fail_sync(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_SYNC && strstr(op->path, ".data") ? EIO : 0;
}

/* A failed sync fails the save, and the next one works. */
static void failures(void **state) {
    static setup s;
    const file_hooks hooks = {.before = fail_sync};
    start(&s, "");
    fill_job(&s, 0, false);
    inject_file_hooks(&hooks);
    save(&s, 0);
    while (sagoi_job_ask(s.background, &s.jobs[0]).first == SAGOI_JOB_PENDING)
        (void)sagoi_background_wait(s.background);
    inject_file_hooks(NULL);
    sagoi_job_news news = sagoi_job_ask(s.background, &s.jobs[0]);
    assert_int_equal(news.first, SAGOI_JOB_FAILED);
    assert_int_equal(news.status, SAGO_ERR_IO);
    assert_non_null(strstr(news.message, "syncing"));
    fill_job(&s, 1, false);
    save(&s, 1);
    finish(&s, 2);
    assert_int_equal(s.jobs[1].first, SAGOI_JOB_DONE);
    assert_int_equal(complete_steps(global, SAGO_LEVEL_GLOBAL), 1);
}

static int fresh(void **state) {
    remove_tree(root);
    return mkdir(root, 0700) || mkdir(global, 0700) || mkdir(local, 0700);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(saves_and_drains, fresh),
                                       cmocka_unit_test_setup(failures, fresh)};
    snprintf(root, sizeof root, "%s/sago-writer.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(root))
        return 1;
    snprintf(global, sizeof global, "%s/global", root);
    snprintf(local, sizeof local, "%s/local", root);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_tree(root);
    return failed;
}
