/* Owners of one directory that take it from each other, are stopped, and go on.  Three jobs run the real code on
 * fibers and are switched before every file operation, so that any delay may lie anywhere; each may think at any
 * time that the owner is dead.  Whatever the order:
 *   - a generation has one owner;
 *   - what was reported complete is there with every byte, unless its owner or a later one has found it complete
 * and removed it;
 *   - what an owner has begun after it was shut out does not count.
 * And one job is stopped before each of its operations in turn, while another one takes over and saves twice.
 * test_generations [INTERLEAVINGS] */
/* RUN: 2500 */
/* RUN-LONG: 300000 */
#include <fcntl.h>
#include <unistd.h>

#include "base/fiber.h"
#include "ckpt/catalog.h"
#include "ckpt/commit.h"
#include "ckpt/lease.h"
#include "support/inject.h"
#include "unit/ckpt/crash.h"
#include "support/unit.h"

enum { JOBS = 3, OWNERS = 64, SAVES = 64, PIECE = 512, BYTES = 700, KEEP = 3, NOBODY = -1 };

static int interleavings = 10000;
static char root[128], dir[160];

/* As if the disk were battery-backed: crashes are not what this is about. */
int fsync(int fd) {
    (void)fd;
    return 0;
}

/* ---- What happened ---- */

typedef struct model_save {
    int64_t step, generation;
    uint64_t id_low;
    int64_t begun;      /* when */
    bool reported;      /* as complete */
    int64_t removed_by; /* generation of the owner that removed it as a complete save; 0: nobody */
} model_save;

typedef struct model_run {
    int64_t now; /* file operations so far */
    int64_t claims[OWNERS], shut[OWNERS];
    model_save saves[SAVES];
    int nsaves;
    int refused; /* operations that the fence has refused */
} model_run;

static model_run run;
static const char *problem; /* asserting jumps, and must not on a fiber */

static void claim_that(bool true_that, const char *what) {
    if (!true_that && !problem)
        problem = what;
}

/* ---- Whose turn it is ---- */

typedef struct model_job {
    int number;
    int rounds; /* how often it takes the directory */
    bool done;
    int64_t operations;
} model_job;

static model_job jobs[JOBS];
static int current, stop_job, turn; /* stop_job: NOBODY in random runs */
static int64_t stop_at, left;
static uint64_t state;

static uint64_t draw(uint64_t below) { return crash_draw(&state) % below; }

/* Another one, for some operations or for long. */
static void pass_turn(void) {
    int alive[JOBS], n = 0;
    for (int i = 0; i < JOBS; i++)
        if (!jobs[i].done)
            alive[n++] = i;
    if (n > 0)
        turn = alive[draw((uint64_t)n)];
    left = (int64_t)(draw(4) == 0 ? draw(120) : draw(6));
}

/* The stopped job goes on when all others are done. */
static void choose_turn(void) {
    if (stop_job == NOBODY) {
        if (left-- <= 0)
            pass_turn();
        return;
    }
    bool stopped = jobs[stop_job].done || jobs[stop_job].operations >= stop_at;
    turn = stop_job;
    for (int i = 0; i < JOBS && stopped; i++)
        if (i != stop_job && !jobs[i].done)
            turn = i;
}

static void wait_for_turn(int number) {
    choose_turn();
    while (turn != number)
        sagoi_fiber_yield(true, NULL, 0);
    current = number;
    run.now++;
}

static void step_of(void) {
    if (!sagoi_on_fiber())
        return;
    int number = current;
    wait_for_turn(number);
    jobs[number].operations++;
}

static int before_operation(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)op, (void)len;
    step_of();
    return 0;
}

static void before_look(void *arg, const sagoi_file_op *op) {
    (void)arg, (void)op;
    step_of();
}

/* ---- What a job does ---- */

static bool think_it_dead(void *arg, int64_t generation) {
    (void)arg, (void)generation;
    return stop_job != NOBODY || draw(4) != 0;
}

static unsigned char data_byte(uint64_t id_low, int64_t step, int64_t off) {
    return (unsigned char)(1 + ((id_low * 31 + (uint64_t)(step * 7 + off) * 0x9e3779b97f4a7c15u) >> 33) % 255);
}

static model_save *save_of(int64_t step, uint64_t id_low) {
    for (int i = 0; i < run.nsaves; i++)
        if (run.saves[i].step == step && run.saves[i].id_low == id_low)
            return &run.saves[i];
    return NULL;
}

static void remove_save(const sagoi_fence *fence, const sagoi_save_view *view) {
    sagoi_save_name name = {dir, view->step, view->id_low, fence};
    sago_status status = sagoi_save_remove(&name, SAGOI_FOLDER_STEP, false);
    model_save *save = save_of(view->step, view->id_low);
    run.refused += status == SAGO_ERR_BUSY;
    claim_that(!status || status == SAGO_ERR_BUSY || status == SAGO_ERR_NO_FILE || status == SAGO_ERR_EXISTS ||
                   status == SAGO_ERR_IO,
               "removing fails with something else");
    if (save && status != SAGO_ERR_BUSY) {
        if (view->complete[SAGO_LEVEL_GLOBAL])
            save->removed_by = fence->generation;
        claim_that(save->generation <= fence->generation, "a later owner's save was removed");
    }
}

/* As in setup.c: leftovers go, what stays is written down, and older owners are shut out. */
static sago_status take_over(const sagoi_fence *fence, int64_t *latest) {
    sagoi_catalog catalog = {0};
    sagoi_save_view *views = NULL;
    sagoi_found found = {0};
    int64_t n = 0, whole = 0;
    sago_status status = sagoi_catalog_scan(&catalog, dir, SAGO_LEVEL_GLOBAL, 0, SAGOI_NO_STEP);
    if (!status)
        status = sagoi_catalog_views(&catalog, &views, &n);
    for (int64_t i = 0; !status && i < n; i++)
        whole += views[i].complete[SAGO_LEVEL_GLOBAL];
    for (int64_t i = 0; !status && i < n; i++) {
        bool complete = views[i].complete[SAGO_LEVEL_GLOBAL];
        if (complete)
            *latest = views[i].step > *latest ? views[i].step : *latest;
        bool counts = false;
        for (int64_t k = 0; k < catalog.n; k++)
            counts =
                counts || (catalog.items[k].kind == SAGOI_ITEM_FOLDER && catalog.items[k].step == views[i].step &&
                           catalog.items[k].id_low == views[i].id_low &&
                           !(catalog.items[k].index & (SAGOI_SAW_LATE | SAGOI_SAW_REMOVED)));
        if (complete && whole <= KEEP)
            status = sagoi_found_add(&found, views[i].step, views[i].id_low);
        else if (counts)
            remove_save(fence, &views[i]);
        whole -= complete && whole > KEEP;
    }
    if (!status)
        status = sagoi_found_store(fence, dir, &found);
    if (!status)
        run.shut[fence->generation] = run.now;
    if (!status)
        status = sagoi_fence_tidy(fence, dir);
    sagoi_found_cleanup(&found);
    sagoi_views_free(views, n);
    sagoi_catalog_cleanup(&catalog);
    return status;
}

static sago_status write_save(const sagoi_fence *fence, sagoi_intent *intent, model_save *save) {
    sagoi_stored_block block = {.ndims = 1, .count = {BYTES}, .bytes = BYTES};
    sagoi_part part = {.id = intent->id, .step = intent->step, .bytes = BYTES, .piece = PIECE, .nblocks = 1};
    sagoi_wire_out record = {0};
    sagoi_commit commit;
    char data[BYTES];
    part.blocks = &block;
    for (int64_t i = 0; i < BYTES; i++)
        data[i] = (char)data_byte(intent->id.low, intent->step, i);
    sagoi_intent_encode(intent, &record);
    sagoi_commit_plan plan = {.dir = dir,
                              .global = true,
                              .intent = record.bytes,
                              .intent_len = record.len,
                              .part = &part,
                              .place = &intent->writers[0],
                              .fence = fence};
    sago_status status = sagoi_commit_begin(&commit, &plan);
    if (!status)
        status = sagoi_commit_write(&commit, data, BYTES, 0);
    if (!status)
        status = sagoi_commit_end(&commit);
    save->reported = !status;
    if (status)
        sagoi_commit_abandon(&commit);
    free(record.bytes);
    return status;
}

static sago_status save_step(const sagoi_fence *fence, int64_t step) {
    sagoi_array_desc array = {.name = "a", .type = "uint8", .element = 1, .ndims = 1, .bytes = BYTES};
    sagoi_writer_desc writer = {.bytes = BYTES, .set = -1};
    sagoi_intent intent = {.step = step, .time = run.now, .ranks = 1, .nodes = 1, .files = 1, .piece = PIECE};
    array.global[0] = BYTES;
    intent.id = (sagoi_id){sagoi_id_low_of(fence->generation, draw(1 << 24)), 1};
    intent.narrays = intent.nwriters = 1;
    intent.arrays = &array;
    intent.writers = &writer;
    model_save *save = &run.saves[run.nsaves++];
    *save = (model_save){.step = step, .generation = fence->generation, .id_low = intent.id.low, .begun = run.now};
    return write_save(fence, &intent, save);
}

static void note_claims(int64_t first, int64_t last) {
    for (int64_t generation = first; generation <= last; generation++)
        claim_that(generation < OWNERS && ++run.claims[generation] == 1, "a generation has two owners");
}

static sago_status own_for_a_while(model_job *job) {
    sagoi_lease lease = {.owner = {(uint64_t)job->number + 1, 1}, .seconds = 30};
    int64_t latest = 0;
    snprintf(lease.fence.dir, sizeof lease.fence.dir, "%s", dir);
    sago_status status = sagoi_lease_claim(&lease, think_it_dead, NULL);
    if (status)
        return status;
    note_claims(lease.fence.generation, lease.fence.generation);
    if (draw(4) == 0) { /* the nodes know of later owners */
        int64_t first = lease.fence.generation + 1;
        lease.held = true;
        status = sagoi_lease_raise(&lease, lease.fence.generation + 1 + (int64_t)draw(3));
        note_claims(first, lease.fence.generation);
        if (status)
            return status;
    }
    status = take_over(&lease.fence, &latest);
    for (int i = 1; i <= 2 && !status; i++)
        status = save_step(&lease.fence, latest + i);
    run.refused += status == SAGO_ERR_BUSY;
    if (draw(2) == 0)
        sagoi_lease_release(&lease);
    return status;
}

static void job_main(void *arg) {
    model_job *job = arg;
    current = job->number;
    wait_for_turn(job->number);
    for (int i = 0; i < job->rounds; i++) {
        sago_status status = own_for_a_while(job);
        claim_that(status == SAGO_OK || status == SAGO_ERR_BUSY || status == SAGO_ERR_NO_FILE,
                   "a job fails with something else");
        sagoi_message_clear();
    }
    job->done = true;
    left = 0;
    choose_turn();
}

/* ---- What is left ---- */

static bool has_its_bytes(const sagoi_save_view *view) {
    char path[SAGOI_CKPT_PATH], folder[SAGOI_CKPT_FILE_NAME];
    unsigned char data[BYTES];
    sagoi_save_folder(folder, view->step, (sagoi_id){view->id_low, 0});
    snprintf(path, sizeof path, "%s/%s/file-000000.data", dir, folder);
    int fd = open(path, O_RDONLY);
    bool right = fd >= 0 && read(fd, data, BYTES) == BYTES;
    for (int64_t i = 0; right && i < BYTES; i++)
        right = data[i] == data_byte(view->id_low, view->step, i);
    (void)close(fd);
    return right;
}

static void check_view(const sagoi_save_view *view, int64_t list, bool *seen) {
    const model_save *save = save_of(view->step, view->id_low);
    if (!view->complete[SAGO_LEVEL_GLOBAL])
        return;
    if (!save) {
        claim_that(false, "a save that nobody has made");
        return;
    }
    seen[save - run.saves] = true;
    claim_that(has_its_bytes(view), "a complete save has wrong bytes");
    claim_that(save->generation >= list || save->begun < run.shut[list],
               "a save counts that was begun after its owner was shut out");
}

static void check_directory(void) {
    sagoi_catalog catalog = {0};
    sagoi_save_view *views = NULL;
    sagoi_generations there;
    int64_t n = 0;
    bool seen[SAVES] = {false};
    assert_int_equal(sagoi_generations_look(dir, &there), SAGO_OK);
    assert_int_equal(sagoi_catalog_scan(&catalog, dir, SAGO_LEVEL_GLOBAL, 0, SAGOI_NO_STEP), SAGO_OK);
    assert_int_equal(sagoi_catalog_views(&catalog, &views, &n), SAGO_OK);
    for (int64_t i = 0; i < n; i++)
        check_view(&views[i], there.found, seen);
    for (int i = 0; i < run.nsaves; i++)
        claim_that(!run.saves[i].reported || seen[i] || run.saves[i].removed_by >= run.saves[i].generation,
                   "a save that was reported complete is lost");
    sagoi_views_free(views, n);
    sagoi_catalog_cleanup(&catalog);
}

static void run_jobs(int rounds) {
    static const file_hooks hooks = {.before = before_operation, .looks = before_look};
    memset(&run, 0, sizeof run);
    assert_int_equal(mkdir(dir, 0700), 0);
    for (int i = 0; i < JOBS; i++)
        jobs[i] = (model_job){.number = i, .rounds = rounds};
    turn = NOBODY;
    left = 0;
    pass_turn();
    inject_file_hooks(&hooks);
    for (int i = 0; i < JOBS; i++)
        assert_int_equal(sagoi_fiber_start(job_main, &jobs[i]), SAGO_OK);
    while (sagoi_fibers_pending())
        (void)sagoi_fibers_advance();
    inject_file_hooks(NULL);
    check_directory();
    remove_tree(dir);
}

/* ---- All together ---- */

static void random_orders(void **unused) {
    int64_t refused = 0, claims = 0;
    (void)unused;
    stop_job = NOBODY;
    for (int i = 0; i < interleavings; i++) {
        state = (uint64_t)i * 7919 + 1;
        run_jobs(i % 4 == 0 ? 2 : 1);
        if (problem)
            fail_msg("order %d: %s", i, problem);
        refused += run.refused;
        for (int64_t g = 0; g < OWNERS; g++)
            claims += run.claims[g];
    }
    print_message("%lld owners, %lld operations refused by the fence\n", (long long)claims, (long long)refused);
    assert_true(refused > 0 && claims > interleavings);
}

/* Stopped before each operation, from the first one to the last; the others take over and save twice each. */
static void stopped_anywhere(void **unused) {
    bool reached = true;
    (void)unused;
    stop_job = 0;
    for (stop_at = 0; reached; stop_at++) {
        state = (uint64_t)stop_at;
        run_jobs(1);
        reached = jobs[0].operations >= stop_at;
        if (problem)
            fail_msg("stopped before operation %lld: %s", (long long)stop_at, problem);
        int64_t newest = 0, saved = 0;
        for (int64_t g = 1; g < OWNERS; g++)
            newest = run.claims[g] ? g : newest;
        for (int i = 0; i < run.nsaves; i++)
            saved += run.saves[i].reported && run.saves[i].generation == newest;
        assert_int_equal(saved, 2); /* whoever came last was not in anybody's way */
    }
    print_message("stopped before each of %lld operations\n", (long long)stop_at - 1);
    assert_true(stop_at > 50);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_anywhere),
        cmocka_unit_test(random_orders),
    };
    interleavings = argc > 1 ? atoi(argv[1]) : interleavings;
    snprintf(root, sizeof root, "%s/sago-owners.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(root))
        return 1;
    snprintf(dir, sizeof dir, "%s/ckpt", root);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_tree(root);
    return failed;
}
