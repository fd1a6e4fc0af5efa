/* Writes that go in, one that comes out: by way of the request, and straight to a file, both against a model. */
/* cmocka wants these four first */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "defer/fuse.h"
#include "support/unit.h"
#include "support/random.h"

enum { SPAN = 20000, MOST = 40, ROOM = 64 << 10 };

static uint64_t seed;
static int64_t draw(int64_t least, int64_t most) { return random_from(&seed, least, most); }

typedef struct a_write {
    sago_extent extents[MOST];
    int64_t n, bytes;
    char data[SPAN];
} a_write;

static void draw_write(a_write *w) {
    int64_t at = draw(0, SPAN / 2), regular = draw(0, 1), length = draw(1, 60), gap = draw(0, 80);
    w->n = draw(1, MOST);
    w->bytes = 0;
    for (int64_t i = 0; i < w->n; i++) {
        int64_t len = regular ? length : draw(1, 60);
        w->extents[i] = (sago_extent){at, len};
        w->bytes += len;
        at += len + (regular ? gap : draw(0, 80));
    }
    for (int64_t i = 0; i < w->bytes; i++)
        w->data[i] = (char)draw(1, 255);
}

static void model_write(const a_write *w, char *model, char *mine) {
    const char *from = w->data;
    for (int64_t i = 0; i < w->n; i++) {
        memcpy(model + w->extents[i].offset, from, (size_t)w->extents[i].length);
        memset(mine + w->extents[i].offset, 1, (size_t)w->extents[i].length);
        from += w->extents[i].length;
    }
}

static bool meets(const a_write *w, const char *mine) {
    for (int64_t i = 0; i < w->n; i++)
        if (memchr(mine + w->extents[i].offset, 1, (size_t)w->extents[i].length))
            return true;
    return false;
}

static sagoi_fuse_answer add(sagoi_fuse *fuse, a_write *w, sagoi_budget *budget) {
    sagoi_composed composed;
    sagoi_fuse_answer answer;
    sagoi_composed_init(&composed, SAGOI_TO_FILE, budget);
    assert_int_equal(
        sagoi_compose_extents(&composed, w->n, w->extents, &(sagoi_scatter){.base = w->data, .whole = true}),
        SAGO_OK);
    assert_int_equal(sagoi_fuse_add(fuse, &composed, &answer), SAGO_OK);
    sagoi_composed_cleanup(&composed);
    return answer;
}

/* What comes out is what went in, each byte once. */
static void check_request(sagoi_fuse *fuse, const char *model, const char *mine, sagoi_budget *budget) {
    static char place[SPAN];
    sagoi_composed step;
    int64_t bytes = 0;
    memset(place, 0, sizeof place);
    sagoi_composed_init(&step, SAGOI_TO_FILE, budget);
    assert_int_equal(sagoi_fuse_compose(fuse, &step), SAGO_OK);
    int64_t copied = sagoi_request_copy(&step.request, 0, SPAN, place, NULL);
    for (int64_t i = 0; i < SPAN; i++) {
        assert_int_equal(place[i], mine[i] ? model[i] : 0);
        bytes += mine[i];
    }
    assert_int_equal(copied, bytes);
    assert_int_equal(step.bytes, bytes);
    sagoi_composed_cleanup(&step);
}

static void check_stored(const sagoi_fuse *fuse, sagoi_store *store, const char *model) {
    static char found[SPAN];
    int64_t bytes = 0;
    assert_int_equal(sagoi_fuse_store(fuse, store), SAGO_OK);
    memset(found, 0, sizeof found);
    sagoi_io_run run = {0, SPAN, found};
    assert_int_equal(sagoi_store_read(store, &run, 1, &bytes), SAGO_OK);
    assert_memory_equal(found, model, SPAN);
}

static void test_random(void **state) {
    static a_write w;
    char path[] = "/tmp/sago-fuse-XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    sagoi_store_options options = {.flags = O_RDWR};
    sagoi_store *store;
    sagoi_budget budget = {0};
    assert_int_equal(sagoi_store_open(path, &options, &store), SAGO_OK);
    for (int program = 0; program < 200; program++) {
        static char model[SPAN], mine[SPAN];
        sagoi_fuse fuse;
        seed = (uint64_t)program;
        memset(model, 0, sizeof model);
        memset(mine, 0, sizeof mine);
        assert_int_equal(ftruncate(sagoi_store_fd(store), 0), 0);
        sagoi_fuse_init(&fuse, draw(0, 3) ? ROOM : 4 << 20, &budget);
        for (int64_t call = draw(1, 60); call > 0; call--) {
            draw_write(&w);
            sagoi_fuse_answer answer = add(&fuse, &w, &budget);
            assert_true(answer != SAGOI_FUSE_NEVER);
            assert_true(answer == SAGOI_FUSE_FULL || (answer == SAGOI_FUSE_CLASHES) == meets(&w, mine));
            if (answer != SAGOI_FUSED) {
                check_request(&fuse, model, mine, &budget);
                check_stored(&fuse, store, model);
                sagoi_fuse_reset(&fuse);
                memset(mine, 0, sizeof mine);
                assert_int_equal(add(&fuse, &w, &budget), SAGOI_FUSED);
            }
            model_write(&w, model, mine);
        }
        check_request(&fuse, model, mine, &budget);
        check_stored(&fuse, store, model);
        sagoi_fuse_cleanup(&fuse);
    }
    assert_int_equal(budget.used, 0);
    (void)sagoi_store_close(&store);
    unlink(path);
}

/* Pieces at one distance, a call each, and several variables in turn: four numbers a variable. */
static void test_compact(void **state) {
    sagoi_budget budget = {0};
    sagoi_fuse fuse;
    static a_write w;
    sagoi_fuse_init(&fuse, 4 << 20, &budget);
    for (int64_t variable = 0; variable < 3; variable++)
        for (int64_t call = 0; call < 1000; call++) {
            w.n = 1;
            w.bytes = 10;
            w.extents[0] = (sago_extent){call * 100 + variable * 10, 10};
            assert_int_equal(add(&fuse, &w, &budget), SAGOI_FUSED);
        }
    assert_int_equal(fuse.nparts, 3);
    assert_int_equal(fuse.ntrains, 3);
    w.extents[0] = (sago_extent){999 * 100 + 15, 10};
    assert_int_equal(add(&fuse, &w, &budget), SAGOI_FUSE_CLASHES);
    w.extents[0] = (sago_extent){999 * 100 + 30, 10};
    assert_int_equal(add(&fuse, &w, &budget), SAGOI_FUSED);
    sagoi_fuse_cleanup(&fuse);
    assert_int_equal(budget.used, 0);
}

static void test_too_large(void **state) {
    sagoi_budget budget = {0};
    sagoi_fuse fuse;
    static a_write w;
    sagoi_fuse_init(&fuse, 100, &budget); /* less than is worth having */
    w.n = 1;
    w.bytes = w.extents[0].length = 10;
    assert_int_equal(add(&fuse, &w, &budget), SAGOI_FUSE_NEVER);
    sagoi_fuse_cleanup(&fuse);
    sagoi_fuse_init(&fuse, ROOM, &budget);
    static char large[ROOM + 1];
    sagoi_composed composed;
    sagoi_fuse_answer answer;
    sagoi_composed_init(&composed, SAGOI_TO_FILE, &budget);
    assert_int_equal(sagoi_compose_extents(&composed, 1, &(sago_extent){0, sizeof large},
                                           &(sagoi_scatter){.base = large, .whole = true}),
                     SAGO_OK);
    assert_int_equal(sagoi_fuse_add(&fuse, &composed, &answer), SAGO_OK);
    assert_int_equal(answer, SAGOI_FUSE_NEVER);
    sagoi_composed_cleanup(&composed);
    sagoi_fuse_cleanup(&fuse);
    assert_int_equal(budget.used, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_compact),
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
