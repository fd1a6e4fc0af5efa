/* The merge of packets against a naive one: bytes of the file kept one by one. */
#include "unit/extent/model.h"

#include "extent/codec.h"
#include "move/merge.h"

enum { FILE_BYTES = 600, INPUTS_MAX = 5, PARTS_MAX = 3 };

/* One packet: its code and data, and for each byte of the data the offset it belongs to. */
typedef struct packet {
    uint8_t code[PARTS_MAX * (4 + FILE_BYTES * SAGOI_CODE_MAX)];
    char data[PARTS_MAX * FILE_BYTES];
    int64_t off[PARTS_MAX * FILE_BYTES];
    int64_t code_bytes, data_bytes;
} packet;

/* Ascending runs that do not overlap, from `start` on. */
static void add_part(random_state *r, packet *to, int64_t start) {
    uint8_t *head = to->code + to->code_bytes, *out = head + sizeof(uint32_t);
    int64_t end = start, off = start + random_in(r, 0, 100);
    while (off < FILE_BYTES) {
        int64_t len = random_in(r, 1, 20);
        len = off + len > FILE_BYTES ? FILE_BYTES - off : len;
        sagoi_span run = {.off = off, .count = 1, .len = len, .stride = len};
        out = sagoi_code_put(out, &run, &end);
        for (int64_t i = 0; i < len; i++)
            to->off[to->data_bytes++] = off + i;
        off += len + random_in(r, 0, 60);
    }
    uint32_t length = (uint32_t)(out - head - (int64_t)sizeof length);
    memcpy(head, &length, sizeof length);
    to->code_bytes += (int64_t)sizeof length + length;
}

static int64_t random_packets(random_state *r, packet packets[], sagoi_merge_input inputs[], int64_t start) {
    int64_t n = random_in(r, 1, INPUTS_MAX);
    for (int64_t i = 0; i < n; i++) {
        packets[i].code_bytes = packets[i].data_bytes = 0;
        for (int64_t parts = random_in(r, 0, PARTS_MAX); parts > 0; parts--)
            add_part(r, &packets[i], start);
        inputs[i] = (sagoi_merge_input){packets[i].code, packets[i].code_bytes, packets[i].data};
    }
    return n;
}

/* What a byte of the file holds; ranks that write the same byte write the same value. */
static char content(int64_t off) { return (char)(off * 7 + 1); }

static int64_t mark(const packet packets[], int64_t n, bool wanted[FILE_BYTES]) {
    int64_t bytes = 0;
    memset(wanted, 0, FILE_BYTES * sizeof *wanted);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < packets[i].data_bytes; k++) {
            bytes += !wanted[packets[i].off[k]];
            wanted[packets[i].off[k]] = true;
        }
    return bytes;
}

/* The merged code is one part whose runs ascend, do not touch and cover just what is wanted. */
static void check_code(const sagoi_merged *merged, int64_t start, const bool wanted[FILE_BYTES]) {
    bool covered[FILE_BYTES] = {false};
    const uint8_t *in = merged->code + sizeof(uint32_t), *stop = merged->code + merged->code_bytes;
    int64_t end = start, before = -1;
    sagoi_span train;
    while (in < stop) {
        in = sagoi_code_get(in, stop, &train, &end);
        CHECK(in != NULL);
        for (sagoi_walk run = sagoi_walk_span(&train); sagoi_walk_run(&run);) {
            CHECK(run.off > before && run.off + run.len <= FILE_BYTES);
            before = run.off + run.len;
            memset(covered + run.off, true, (size_t)run.len);
        }
    }
    CHECK(memcmp(covered, wanted, sizeof covered) == 0);
}

static packet packets[INPUTS_MAX];

static void merges_writes(random_state *r) {
    sagoi_merge_input inputs[INPUTS_MAX];
    bool wanted[FILE_BYTES];
    char data[FILE_BYTES];
    sagoi_merged merged = {0};
    sagoi_budget budget = {0};
    int64_t start = random_in(r, 0, 50), n = random_packets(r, packets, inputs, start), at = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < packets[i].data_bytes; k++)
            packets[i].data[k] = content(packets[i].off[k]);
    CHECK(sagoi_merge(inputs, n, start, SAGOI_TO_FILE, data, &budget, &merged) == SAGO_OK);
    CHECK(merged.data_bytes == mark(packets, n, wanted));
    if (merged.data_bytes > 0)
        check_code(&merged, start, wanted);
    for (int64_t off = 0; off < FILE_BYTES; off++)
        if (wanted[off])
            CHECK(data[at++] == content(off));
    sagoi_merged_cleanup(&merged, &budget);
    sagoi_merged_cleanup(&merged, &budget);
    CHECK(budget.used == 0);
}

static void deals_reads_out(random_state *r) {
    sagoi_merge_input inputs[INPUTS_MAX];
    bool wanted[FILE_BYTES];
    char data[FILE_BYTES];
    sagoi_budget budget = {0};
    int64_t start = random_in(r, 0, 50), n = random_packets(r, packets, inputs, start), at = 0;
    (void)mark(packets, n, wanted);
    for (int64_t off = 0; off < FILE_BYTES; off++)
        if (wanted[off])
            data[at++] = content(off);
    for (int64_t i = 0; i < n; i++)
        memset(packets[i].data, 0, sizeof packets[i].data);
    CHECK(sagoi_merge_deal(inputs, n, start, data, &budget) == SAGO_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < packets[i].data_bytes; k++)
            CHECK(packets[i].data[k] == content(packets[i].off[k]));
    CHECK(budget.used == 0);
}

static void test_writes(void **state) { run_rounds(2000, merges_writes); }

static void test_reads(void **state) { run_rounds(2000, deals_reads_out); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_writes), cmocka_unit_test(test_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
