/* Records: bins that become coarser, adding up, packing; and the report that is made of them, at any scale. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/rank_record.h"
#include "trace/report_json.h"
#include "trace/saved.h"
#include "support/unit.h"

static double total(const sagoi_record_row *row) {
    double sum = 0;
    for (int b = 0; b < SAGOI_RECORD_BINS; b++)
        for (int p = 0; p < SAGOI_RECORD_PHASES; p++)
            sum += row->bins[b][p];
    return sum;
}

static double heat_total(const sagoi_heat *heat, int write) {
    double sum = 0;
    for (int t = 0; t < SAGOI_RECORD_TIMES; t++)
        for (int i = 0; i < SAGOI_RECORD_PLACES; i++)
            sum += heat->cells[t][write][i];
    return sum;
}

/* Whatever the order in which things happen, and however long it takes, nothing is lost. */
static void nothing_is_lost(void **state) {
    static sagoi_record_row row;
    static sagoi_heat heat;
    double seconds = 0, bytes = 0, now = 1.7e9;
    memset(&row, 0, sizeof row);
    memset(&heat, 0, sizeof heat);
    srand(7);
    for (int i = 0; i < 3000; i++) {
        double length = (rand() % 1000) * 1e-4 * (i % 50 == 0 ? 100 : 1);
        int64_t low = (int64_t)(rand() % 100) << (i / 150), range[2] = {low, low + 1 + rand() % 100000};
        now += (rand() % 100 - 20) * 0.01 * (i < 1500 ? 1 : 50);
        sagoi_row_add(&row, i % SAGOI_RECORD_PHASES, now, length);
        sagoi_heat_add(&heat, true, range, 4096, now, length);
        seconds += length;
        bytes += 4096;
    }
    assert_true(fabs(total(&row) - seconds) < 1e-3 * seconds);
    assert_true(fabs(heat_total(&heat, 1) - bytes) < 1e-3 * bytes);
    assert_true(heat_total(&heat, 0) == 0);
    assert_true(row.time.used > SAGOI_RECORD_BINS / 4 && row.time.used <= SAGOI_RECORD_BINS);
}

static void sizes_are_powers(void **state) {
    assert_int_equal(sagoi_size_bin(0), 0);
    assert_int_equal(sagoi_size_bin(1), 0);
    assert_int_equal(sagoi_size_bin(2), 1);
    assert_int_equal(sagoi_size_bin(4096), 12);
    assert_int_equal(sagoi_size_bin(4097), 13);
    assert_int_equal(sagoi_size_bin(INT64_MAX), SAGOI_RECORD_SIZES - 1);
}

/* What one rank of many would record. */
static sagoi_record *make_rank(int64_t rank, int64_t ranks, const char *path) {
    char node[64];
    sagoi_record *record = sagoi_record_create(ranks);
    assert_non_null(record);
    sagoi_record_row *row = sagoi_record_row_of(record, rank);
    sagoi_record_file *file = sagoi_record_find(record, path);
    (void)snprintf(record->program, sizeof record->program, "made-up");
    record->seen = record->complete = 1;
    record->all_nodes = (ranks + 31) / 32;
    record->begin = 1.7e9;
    record->end = 1.7e9 + 600;
    file->opens = rank == 0;
    file->ranks = ranks;
    for (int i = 0; i < 20; i++) {
        double at = 1.7e9 + 30 * i + 1e-3 * (double)(rank % 100);
        int64_t range[2] = {rank << 20, (rank + 1) << 20};
        sagoi_row_add(row, SAGO_PHASE_STORE, at + 3, 2);
        sagoi_row_add(row, SAGO_PHASE_WAIT, at + 4, 1 + 1e-4 * (double)rank);
        sagoi_heat_add(&file->heat, true, range, 1 << 20, at + 3, 3);
        file->counts[SAGOI_COUNT_bytes_written] += 1 << 20;
        file->counts[SAGOI_COUNT_collective_writes]++;
        file->once[SAGOI_COUNT_collective_writes] += rank == 0;
        file->sizes[1][sagoi_size_bin(1 << 20)]++;
        row->bytes[1] += 1 << 20;
        for (int s = 0; s < 12; s++)
            record->spans[record->nspans++] =
                (sagoi_record_span){.start = at + 0.2 * s,
                                    .seconds = 0.2,
                                    .call = i,
                                    .rank = (int32_t)rank,
                                    .round = s,
                                    .phase = (int16_t)(s % (SAGOI_RECORD_PHASES + 1)),
                                    .stride = 1};
    }
    file->phase[SAGO_PHASE_STORE] = (sago_phase_stats){.seconds = 40, .bytes = 20 << 20};
    file->longest[SAGO_PHASE_STORE] = 40;
    file->longest_rank[SAGO_PHASE_STORE] = rank;
    row->ranks = 1;
    row->least = row->most = row->seconds[SAGO_PHASE_STORE] + row->seconds[SAGO_PHASE_WAIT];
    (void)snprintf(node, sizeof node, "node%04d", (int)(rank / 32));
    *sagoi_record_node_of(record, node) = (sagoi_record_node){.ranks = 1, .peak = 1 << 20, .budget = 1 << 26};
    (void)snprintf(record->nodes[0].name, sizeof record->nodes[0].name, "%s", node);
    return record;
}

static void packing_keeps_all(void **state) {
    int64_t bytes = 0;
    sagoi_record *record = make_rank(3, 8, "/scratch/a file");
    char *packed = sagoi_record_pack(record, &bytes);
    sagoi_record *same = sagoi_record_unpack(packed, bytes);
    assert_non_null(same);
    assert_memory_equal(same->files, record->files, sizeof *record->files);
    assert_memory_equal(same->rows[3], record->rows[3], sizeof *record->rows[3]);
    assert_int_equal(same->nspans, record->nspans);
    assert_null(sagoi_record_unpack(packed, bytes - 1)); /* cut off */
    packed[0] ^= 1;
    assert_null(sagoi_record_unpack(packed, bytes)); /* something else */
    sagoi_record_destroy(same);
    sagoi_record_destroy(record);
    free(packed);
}

/* A job that dies while it writes one copy leaves the other. */
static void the_older_copy_is_left(void **state) {
    char path[] = "/tmp/sago-record-XXXXXX";
    int fd = mkstemp(path);
    int64_t bytes = 0;
    assert_true(fd >= 0);
    sagoi_record *record = make_rank(0, 2, "f"), *found;
    for (int64_t number = 0; number < 3; number++) {
        record->date = (double)number;
        char *packed = sagoi_record_pack(record, &bytes);
        assert_true(sagoi_saved_write(fd, 1, number, packed, bytes));
        free(packed);
    }
    found = sagoi_saved_read(fd, 1);
    assert_true(found && found->date == 2);
    sagoi_record_destroy(found);
    assert_int_equal(pwrite(fd, "x", 1, (off_t)(1 << 20) + 5000), 1); /* in the copy of number 2 */
    found = sagoi_saved_read(fd, 1);
    assert_true(found && found->date == 1);
    sagoi_record_destroy(found);
    assert_null(sagoi_saved_read(fd, 0));
    sagoi_record_destroy(record);
    (void)close(fd);
    (void)unlink(path);
}

static char *json_of(sagoi_record *record, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    assert_non_null(out);
    sagoi_report_json(out, record);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Names may be anything; in a page no text may end the script that holds it. */
static void texts_are_escaped(void **state) {
    size_t size = 0;
    sagoi_record *record = make_rank(0, 1, "/a/\"</script><b>\\ \x01 \xff \xe2\x82\xac\n");
    char *json = json_of(record, &size), *page = NULL;
    assert_non_null(strstr(json, "/a/\\\"\\u003c/script\\u003e\\u003cb\\u003e\\\\ \\u0001 \\u00ff \xe2\x82\xac"));
    assert_null(strchr(json, '<'));
    FILE *out = open_memstream(&page, &size);
    sagoi_report_page(out, (const char *const[]){json, json}, 2);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(page, "<html"));
    assert_null(strstr(page, "</script><b>"));
    assert_null(strstr(page, "SAGO_REPORT_DATA"));
    free(page);
    free(json);
    sagoi_record_destroy(record);
}

/* With 10,000 ranks the report is as large as with a hundred, and adds up.  SAGO_MADE_UP=FILE keeps it. */
static void ten_thousand_ranks(void **state) {
    enum { RANKS = 10000 };
    size_t size = 0;
    sagoi_record *all = sagoi_record_create(RANKS);
    for (int64_t rank = 0; rank < RANKS; rank++) {
        sagoi_record *one = make_rank(rank, RANKS, "/scratch/output.h5");
        assert_true(sagoi_record_merge(all, one));
        sagoi_record_destroy(one);
    }
    assert_int_equal(all->seen, RANKS);
    assert_int_equal(all->files[0].counts[SAGOI_COUNT_bytes_written], INT64_C(20) * RANKS << 20);
    assert_int_equal(all->files[0].once[SAGOI_COUNT_collective_writes], 20);
    assert_int_equal(all->nnodes, SAGOI_RECORD_NODES);
    assert_int_equal(all->all_nodes, (RANKS + 31) / 32);
    double ranks = 0;
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        ranks += all->rows[i] ? (double)all->rows[i]->ranks : 0;
    assert_true(ranks == RANKS);
    char *json = json_of(all, &size);
    assert_true(size < 3 << 20);
    const char *kept = getenv("SAGO_MADE_UP");
    FILE *out = kept ? fopen(kept, "w") : NULL;
    if (out) {
        sagoi_report_page(out, (const char *const[]){json}, 1);
        assert_int_equal(fclose(out), 0);
    }
    free(json);
    sagoi_record_destroy(all);
}

/* More files than there is room for are counted together. */
static void files_are_bounded(void **state) {
    sagoi_record *record = sagoi_record_create(1);
    char path[64];
    for (int i = 0; i < 100; i++) {
        (void)snprintf(path, sizeof path, "file-%d", i);
        sagoi_record_find(record, path)->opens++;
    }
    int64_t opens = 0;
    for (int64_t i = 0; i < record->nfiles; i++)
        opens += record->files[i].opens;
    assert_int_equal(record->nfiles, SAGOI_RECORD_FILES);
    assert_int_equal(opens, 100);
    assert_int_equal(record->files[0].opens, 1);
    sagoi_record_destroy(record);
}

static bool says(const sagoi_record *record, const char *words, const char *hint) {
    sagoi_sentence said[SAGOI_VERDICT_MAX];
    int64_t count = sagoi_verdict_of(record, said);
    for (int64_t i = 0; i < count; i++)
        if (strstr(said[i].text, words) && strcmp(said[i].hint, hint) == 0)
            return true;
    return false;
}

static void the_verdict_names_the_cause(void **state) {
    sagoi_record *record = make_rank(0, 2, "f"), *busy = make_rank(1, 2, "f");
    assert_true(says(record, "went to the file system", ""));
    assert_true(says(record, "records of 1 of 2 ranks", ""));
    assert_false(says(record, "did not come to MPI_Finalize", ""));
    record->stream = 1e12;
    assert_true(says(record, "`sago tune` measured", "sago_aggregators_per_target=2"));
    sagoi_row_add(busy->rows[1], SAGO_PHASE_STORE, 1.7e9 + 500, 400);
    assert_true(sagoi_record_merge(record, busy));
    assert_true(says(record, "rank 1 worked", ""));
    record->complete = 0;
    assert_true(says(record, "did not come to MPI_Finalize", ""));
    sagoi_record_note_add(&record->files[0], "atomic mode", 2, 1);
    assert_true(says(record, "handed to the MPI library: atomic mode", ""));
    sagoi_record_destroy(record);
    sagoi_record_destroy(busy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),   cmocka_unit_test(sizes_are_powers),
        cmocka_unit_test(packing_keeps_all), cmocka_unit_test(the_older_copy_is_left),
        cmocka_unit_test(texts_are_escaped), cmocka_unit_test(ten_thousand_ranks),
        cmocka_unit_test(files_are_bounded), cmocka_unit_test(the_verdict_names_the_cause)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
