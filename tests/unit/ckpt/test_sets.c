/* Redundancy sets, whatever storage devices the writers have: what is saved must be readable, and no two members
 * of a set share a device. */
#include <stdlib.h>

#include "base/checked.h"
#include "ckpt/redundancy.h"
#include "support/random.h"
#include "support/unit.h"

enum { DEVICES = 12, WRITERS = 64 };

static int64_t draw(uint64_t *state, int64_t low, int64_t high) {
    return low + (int64_t)(next_bits(state) % (uint64_t)(high - low + 1));
}

/* Of few devices most writers are on the last two, as where nodes of a rack share one. */
static void draw_devices(sago_ckpt *ckpt, int64_t n, uint64_t *state) {
    bool uneven = draw(state, 0, 1);
    ckpt->domains = draw(state, 2, sagoi_min(DEVICES, n));
    for (int64_t w = 0; w < n; w++) {
        int64_t device = uneven ? ckpt->domains - 1 - w % 2 : draw(state, 0, ckpt->domains - 1);
        ckpt->domain_of[w] = w < ckpt->domains ? w : device;
    }
}

static void check_members(const sago_ckpt *ckpt, const sagoi_intent *intent) {
    for (int64_t w = 0; w < intent->nwriters; w++) {
        sagoi_set set;
        sagoi_set_find(intent, intent->writers[w].set, &set);
        assert_true(set.n >= intent->parity + 1);
        assert_int_equal(set.writers[intent->writers[w].member], w);
        for (int64_t m = 0; m < set.n; m++)
            assert_true(set.writers[m] == w || ckpt->domain_of[set.writers[m]] != ckpt->domain_of[w]);
    }
}

static void any_devices(void **state) {
    uint64_t random = 1;
    int64_t domain_of[WRITERS], formed = 0;
    for (int i = 0; i < 20000; i++) {
        sago_ckpt *ckpt = calloc(1, sizeof *ckpt);
        sagoi_writer_desc writers[WRITERS] = {{0}};
        sagoi_intent intent = {.piece = 4096, .ranks = 1, .nodes = 1, .files = 1, .writers = writers}, read;
        intent.nwriters = draw(&random, 2, WRITERS);
        ckpt->domain_of = domain_of;
        ckpt->local[0] = '/';
        ckpt->hints.ckpt_redundancy = draw(&random, SAGOI_REDUNDANCY_COPY, SAGOI_REDUNDANCY_RS);
        ckpt->hints.ckpt_set = draw(&random, 2, 8);
        draw_devices(ckpt, intent.nwriters, &random);
        sago_status status = sagoi_sets_form(ckpt, &intent);
        assert_true(status == SAGO_OK || status == SAGO_ERR_UNSUPPORTED);
        if (!status) {
            sagoi_wire_out out = {0};
            formed++;
            sagoi_intent_encode(&intent, &out);
            assert_int_equal(sagoi_intent_decode(out.bytes, out.len, &read), SAGO_OK);
            check_members(ckpt, &read);
            sagoi_intent_cleanup(&read);
            free(out.bytes);
        }
        free(ckpt);
    }
    assert_true(formed > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
