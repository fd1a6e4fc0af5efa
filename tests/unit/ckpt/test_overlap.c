/* Copies between stored blocks and blocks in memory against a copy cell by cell; the cover check against counting.
 */
#include <stdlib.h>
#include <string.h>

#include "ckpt/dataset.h"
#include "support/unit.h"
#include "support/random.h"

enum { MOST = 4096 };

static uint64_t random_state = 1;

static int64_t draw(int64_t low, int64_t high) { return random_from(&random_state, low, high); }

static void draw_box(sagoi_box *box, int64_t ndims, const int64_t *global) {
    for (int64_t i = 0; i < ndims; i++) {
        box->start[i] = draw(0, global[i] - 1);
        box->count[i] = draw(1, global[i] - box->start[i]);
        box->mem_start[i] = draw(0, 2);
        box->mem_shape[i] = box->mem_start[i] + box->count[i] + draw(0, 2);
    }
}

/* Byte `at` of a box's elements, one after another, is at this place in memory; -1: `other` does not have it. */
static int64_t place_of(int64_t at, sagoi_cells cells, const sagoi_box *stored, const sagoi_box *other) {
    int64_t cell = at / cells.element, index[SAGO_CKPT_DIMS_MAX], place = 0;
    for (int64_t i = cells.ndims - 1; i >= 0; i--) {
        index[i] = stored->start[i] + cell % stored->count[i];
        cell /= stored->count[i];
    }
    for (int64_t i = 0; i < cells.ndims; i++) {
        int64_t in = index[i] - other->start[i];
        if (in < 0 || in >= other->count[i])
            return -1;
        place = place * other->mem_shape[i] + in + other->mem_start[i];
    }
    return place * cells.element + at % cells.element;
}

static int64_t product(const int64_t *count, int64_t ndims) {
    int64_t result = 1;
    for (int64_t i = 0; i < ndims; i++)
        result *= count[i];
    return result;
}

static void against_cells(void **state) {
    static char memory[MOST], wanted[MOST], stream[MOST];
    for (int round = 0; round < 20000; round++) {
        sagoi_cells cells = {draw(1, 4), draw(1, 5)};
        int64_t global[4] = {draw(1, 5), draw(1, 5), draw(1, 4), draw(1, 3)}, offset = draw(0, 50);
        sagoi_box stored, mine;
        sagoi_overlap overlap;
        draw_box(&stored, cells.ndims, global);
        draw_box(&mine, cells.ndims, global);
        int64_t bytes = product(stored.count, cells.ndims) * cells.element;
        if (bytes > MOST || product(mine.mem_shape, cells.ndims) * cells.element > MOST)
            continue;
        for (int64_t i = 0; i < MOST; i++) {
            stream[i] = (char)draw(0, 255);
            memory[i] = wanted[i] = (char)i;
        }
        int64_t from = draw(0, offset + bytes), to = draw(from, offset + bytes), common = 0;
        for (int64_t i = 0; i < bytes; i++) {
            int64_t place = place_of(i, cells, &stored, &mine);
            common += place >= 0;
            if (place >= 0 && offset + i >= from && offset + i < to)
                wanted[place] = stream[offset + i - from];
        }
        bool any = sagoi_overlap_make(&overlap, cells, &stored, offset, &mine);
        assert_int_equal(any, common > 0);
        if (any)
            assert_int_equal(sagoi_overlap_copy(&overlap, stream, from, to, memory, SAGOI_FROM_FILE), SAGO_OK);
        assert_memory_equal(memory, wanted, MOST);
        if (any)
            assert_int_equal(overlap.bytes, common);
    }
}

/* Gathering is scattering backwards. */
static void to_file(void **state) {
    static char memory[MOST], stream[MOST];
    for (int round = 0; round < 5000; round++) {
        sagoi_cells cells = {draw(1, 4), draw(1, 9)};
        int64_t global[4] = {draw(1, 5), draw(1, 5), draw(1, 4), draw(1, 3)};
        sagoi_box box;
        sagoi_overlap overlap;
        draw_box(&box, cells.ndims, global);
        int64_t bytes = product(box.count, cells.ndims) * cells.element;
        if (product(box.mem_shape, cells.ndims) * cells.element > MOST)
            continue;
        for (int64_t i = 0; i < MOST; i++)
            memory[i] = (char)draw(0, 255);
        assert_true(sagoi_overlap_make(&overlap, cells, &box, 0, &box));
        int64_t cut = draw(0, bytes);
        assert_int_equal(sagoi_overlap_copy(&overlap, stream, 0, cut, memory, SAGOI_TO_FILE), SAGO_OK);
        assert_int_equal(sagoi_overlap_copy(&overlap, stream + cut, cut, bytes, memory, SAGOI_TO_FILE), SAGO_OK);
        for (int64_t i = 0; i < bytes; i++)
            assert_int_equal(stream[i], memory[place_of(i, cells, &box, &box)]);
    }
}

/* Random boxes tile a small array exactly when every cell is counted once. */
static void cover(void **state) {
    int tiled = 0;
    for (int round = 0; round < 20000; round++) {
        static const int64_t origin[SAGO_CKPT_DIMS_MAX];
        int64_t ndims = draw(1, 3), global[3] = {draw(1, 3), draw(1, 3), draw(1, 2)}, boxes = draw(1, 4);
        uint64_t key = (uint64_t)draw(0, INT32_MAX), sum = 0;
        int counts[27] = {0};
        for (int64_t b = 0; b < boxes; b++) {
            sagoi_box box;
            draw_box(&box, ndims, global);
            sum += sagoi_box_cover(box.start, box.count, ndims, key);
            for (int64_t cell = 0; cell < product(global, ndims); cell++) {
                int64_t rest = cell;
                bool inside = true;
                for (int64_t i = ndims - 1; i >= 0; i--) {
                    int64_t index = rest % global[i];
                    rest /= global[i];
                    inside = inside && index >= box.start[i] && index < box.start[i] + box.count[i];
                }
                counts[cell] += inside;
            }
        }
        bool exact = true;
        for (int64_t cell = 0; cell < product(global, ndims); cell++)
            exact = exact && counts[cell] == 1;
        tiled += exact;
        assert_int_equal(sum == sagoi_box_cover(origin, global, ndims, key), exact);
    }
    assert_true(tiled > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_cells), cmocka_unit_test(to_file),
                                       cmocka_unit_test(cover)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
