/* The verdict of made-up jobs, each slow for one reason: it names that reason, and blames nobody else. */
#include <stdio.h>
#include <string.h>

#include "trace/rank_record.h"
#include "trace/report_json.h"
#include "support/unit.h"

enum { RANKS = 8 };
static const double begin = 1.7e9;

/* A job of 100 seconds that has done nothing yet. */
static sagoi_record *make_job(void) {
    sagoi_record *record = sagoi_record_create(RANKS);
    assert_non_null(record);
    for (int64_t rank = 0; rank < RANKS; rank++)
        sagoi_record_row_of(record, rank)->ranks = 1;
    record->begin = begin;
    record->end = begin + 100;
    record->seen = RANKS;
    record->complete = 1;
    (void)sagoi_record_find(record, "/scratch/out");
    return record;
}

static void spend(sagoi_record *record, int64_t rank, int phase, double seconds) {
    sagoi_record_row *row = record->rows[rank];
    sagoi_row_add(row, phase, begin + 50, seconds);
    if (phase < SAGO_PHASE_COUNT)
        row->least = row->most = row->most + seconds;
    record->files[0].phase[phase < SAGO_PHASE_COUNT ? phase : 0].seconds += phase < SAGO_PHASE_COUNT ? seconds : 0;
}

static void call(sagoi_record *record, int64_t calls, int64_t bytes) {
    sagoi_record_file *file = &record->files[0];
    file->once[SAGOI_COUNT_collective_writes] += calls;
    file->counts[SAGOI_COUNT_collective_writes] += calls * RANKS;
    file->counts[SAGOI_COUNT_bytes_written] += calls * RANKS * bytes;
    file->sizes[1][sagoi_size_bin(bytes)] += calls * RANKS;
}

static const char *verdict_of(const sagoi_record *record) {
    static char all[SAGOI_VERDICT_MAX * (SAGOI_SENTENCE_MAX + 80)];
    sagoi_sentence said[SAGOI_VERDICT_MAX];
    int64_t count = sagoi_verdict_of(record, said);
    size_t length = 0;
    for (int64_t i = 0; i < count; i++)
        length += (size_t)snprintf(all + length, sizeof all - length, "%s [%s]\n", said[i].text, said[i].hint);
    return all;
}

static void expect(const sagoi_record *record, const char *words, bool wanted) {
    const char *said = verdict_of(record);
    if ((strstr(said, words) != NULL) != wanted)
        fail_msg("%s \"%s\" in:\n%s", wanted ? "no" : "there is", words, said);
}

static void storage_is_slow(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++) {
        spend(record, rank, SAGO_PHASE_STORE, 60);
        spend(record, rank, SAGO_PHASE_PLAN, 1 + (double)rank);
    }
    call(record, 10, 1 << 26);
    record->files[0].calls[1] = 68;
    expect(record, "went to the file system", true);
    expect(record, "75.3 MiB/s", true); /* all ranks together */
    expect(record, "came last", false);
    sagoi_record_destroy(record);
}

/* All agree for long, and nobody is to blame: the sentence names both phases, whose parts the table shows apart.
 */
static void all_wait_alike(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++) {
        spend(record, rank, SAGO_PHASE_PLAN, 20);
        spend(record, rank, SAGO_PHASE_WAIT, 10);
        spend(record, rank, SAGO_PHASE_STORE, 10);
    }
    call(record, 10, 1 << 20);
    expect(record, "75% of the time in calls ranks waited for each other (phases plan and wait), in turn", true);
    expect(record, "about as much to do", true);
    spend(record, 3, SAGO_PHASE_STORE, 20); /* which the next sentence says is uneven */
    expect(record, "ranks waited for each other (phases plan and wait).", true);
    expect(record, "Work is uneven: rank 3", true);
    sagoi_record_destroy(record);
}

/* Ranks give megabytes, and windows with holes go out piece by piece. */
static void requests_are_small(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++)
        spend(record, rank, SAGO_PHASE_STORE, 60);
    call(record, 10, 1 << 20);
    record->files[0].phase[SAGO_PHASE_STORE].bytes = RANKS * 10 << 20;
    record->files[0].phase[SAGO_PHASE_STORE].runs = 100;
    expect(record, "the data has holes", false);
    record->files[0].phase[SAGO_PHASE_STORE].runs = RANKS * 10 << 17;
    expect(record, "/scratch/out is accessed by 10485760 requests of 8 B on average", true);
    expect(record, "[sago_sieve=on]", true);
    record->files[0].counts[SAGOI_COUNT_bytes_written] = 0; /* reading needs no permission */
    expect(record, "the data has holes", false);
    sagoi_record_destroy(record);
}

/* The storage serves one rank after the others: nobody is late, the last one takes longer. */
static void storage_serves_one_last(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++) {
        spend(record, rank, SAGO_PHASE_STORE, rank == 7 ? 60 : 44);
        spend(record, rank, SAGO_PHASE_PLAN, rank == 7 ? 0.1 : 16);
    }
    call(record, 10, 1 << 26);
    expect(record, "went to the file system", true);
    expect(record, "waited for rank 7, which took longer", true);
    expect(record, "came last", false);
    sagoi_record_destroy(record);
}

/* What the ranks of a job on four nodes, with an aggregator each, have been waiting for. */
static void place(sagoi_record *record) {
    for (int64_t rank = 0; rank < RANKS; rank++)
        (void)snprintf(record->rows[rank]->node, sizeof record->rows[rank]->node, "n%d", (int)rank / 2 + 1);
    record->files[0].stripe_unit = 1 << 20;
    record->files[0].stripe_count = 4;
    record->files[0].once[SAGOI_COUNT_aggregated_calls] = 10;
    record->files[0].once[SAGOI_COUNT_rounds] = 30;
    record->all_nodes = 4;
}

static void store(sagoi_record *record, int64_t rank, int target, double seconds) {
    sagoi_record_target *to = &record->files[0].targets[target];
    record->rows[rank]->stored += seconds;
    record->rows[rank]->stored_bytes += 1e9;
    to->bytes += 1e9;
    to->seconds += seconds;
    to->ranks++;
    to->longest = seconds;
    to->longest_rank = rank;
}

/* One aggregator waits for its target, all others for that aggregator, in messages and where they meet. */
static void one_target_is_slow(void **state) {
    sagoi_record *record = make_job();
    place(record);
    call(record, 10, 1 << 26);
    for (int64_t rank = 0; rank < RANKS; rank++) {
        bool slow = rank == 4, aggregates = rank % 2 == 0;
        spend(record, rank, SAGO_PHASE_EXCHANGE, slow ? 3 : 45);
        spend(record, rank, SAGO_PHASE_STORE, slow ? 80 : aggregates ? 8 : 0);
        spend(record, rank, SAGO_PHASE_WAIT, slow ? 0.1 : 30);
        if (aggregates)
            store(record, rank, (int)rank / 2, slow ? 80 : 10);
        record->rows[rank]->waited = aggregates ? slow ? 1 : 15 : 0;
        record->awaited[rank] = rank / 2 == 2 ? 20 : 2;
    }
    expect(record, "The storage is what the job waits for", true);
    expect(record, "longest on rank 4 on node n3", true);
    expect(record, "Target 3 of the 4", true);
    expect(record, "begin at 2 MiB and every 4 MiB", true);
    expect(record, "Only rank 4 on node n3 used it", true);
    expect(record, "messages between nodes", false);
    expect(record, "sago_placement", false);
    sagoi_record_destroy(record);
}

/* Aggregators come to the slow target in turn: none of them is there most of the time, but always one. */
static void one_target_is_slow_in_turn(void **state) {
    sagoi_record *record = make_job();
    place(record);
    call(record, 10, 1 << 26);
    for (int64_t rank = 0; rank < RANKS; rank++) {
        spend(record, rank, SAGO_PHASE_EXCHANGE, rank % 2 ? 85 : 62);
        spend(record, rank, SAGO_PHASE_STORE, rank % 2 ? 0 : 23);
        for (int target = 0; rank % 2 == 0 && target < 4; target++)
            store(record, rank, target, target == 1 ? 20 : 1);
    }
    expect(record, "The storage is what the job waits for", true);
    expect(record, "Target 2 of the 4", true);
    expect(record, "Only rank", false);
    expect(record, "messages between nodes", false);
    sagoi_record_destroy(record);
}

/* Going straight to the storage: one target holds up whoever has data there. */
static void one_target_is_slow_for_all(void **state) {
    sagoi_record *record = make_job();
    place(record);
    record->files[0].once[SAGOI_COUNT_aggregated_calls] = 0;
    call(record, 10, 1 << 26);
    for (int64_t rank = 0; rank < RANKS; rank++) {
        spend(record, rank, SAGO_PHASE_STORE, rank % 4 == 2 ? 80 : 10);
        spend(record, rank, SAGO_PHASE_PLAN, rank % 4 == 2 ? 1 : 70);
        store(record, rank, (int)rank % 4, rank % 4 == 2 ? 80 : 10);
    }
    expect(record, "Target 3 of the 4", true);
    expect(record, "which came last", false);
    sagoi_record_destroy(record);
}

/* All that goes to or from a node takes long: its messages, and what it writes. */
static void one_link_is_slow(void **state) {
    sagoi_record *record = make_job();
    place(record);
    call(record, 10, 1 << 26);
    for (int64_t rank = 0; rank < RANKS; rank++) {
        bool slow = rank == 4, aggregates = rank % 2 == 0;
        spend(record, rank, SAGO_PHASE_EXCHANGE, slow ? 40 : 70);
        spend(record, rank, SAGO_PHASE_STORE, slow ? 45 : aggregates ? 3 : 0);
        if (aggregates)
            store(record, rank, (int)rank / 2, slow ? 70 : 3);
        record->rows[rank]->waited = aggregates ? 40 : 0;
        record->awaited[rank] = rank / 2 == 2 ? 60 : 40.0 / 6;
    }
    expect(record, "to or from node n3", true);
    expect(record, "Target", false);
    sagoi_record_destroy(record);
}

/* Storage that is as slow everywhere names nobody. */
static void no_target_is_slow(void **state) {
    sagoi_record *record = make_job();
    place(record);
    call(record, 10, 1 << 26);
    for (int64_t rank = 0; rank < RANKS; rank++) {
        spend(record, rank, SAGO_PHASE_EXCHANGE, rank % 2 ? 80 : 10);
        spend(record, rank, SAGO_PHASE_STORE, rank % 2 ? 0 : 70);
        if (rank % 2 == 0)
            store(record, rank, (int)rank / 2, 70 + (double)rank);
    }
    expect(record, "The storage is what the job waits for", true);
    expect(record, "Target", false);
    expect(record, "The way to the storage", false);
    sagoi_record_destroy(record);
}

/* A rank that comes late waits least; the others wait in the agreement that begins the call. */
static void one_rank_comes_late(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++) {
        spend(record, rank, SAGO_PHASE_STORE, 5);
        spend(record, rank, SAGO_PHASE_PLAN, rank == 5 ? 0.5 : 40);
    }
    call(record, 10, 1 << 20);
    expect(record, "waited for rank 5, which came last", true);
    expect(record, "sago_defer", false);
    sagoi_record_destroy(record);
}

static void one_rank_has_more_to_do(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++) {
        spend(record, rank, SAGO_PHASE_STORE, rank == 7 ? 50 : 2);
        spend(record, rank, SAGO_PHASE_PLAN, rank == 7 ? 0.5 : 48);
        record->rows[rank]->bytes[1] = rank == 7 ? 800 << 20 : 10 << 20;
    }
    call(record, 10, 1 << 20);
    expect(record, "waited for rank 7, which had more to do", true);
    expect(record, "800 MiB", true);
    expect(record, "which came last", false);
    sagoi_record_destroy(record);
}

static void many_small_collective_calls(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++)
        spend(record, rank, SAGO_PHASE_PLAN, 60 + (double)rank);
    call(record, 100000, 100);
    record->files[0].once[SAGOI_COUNT_plan_hits] = 99999;
    record->files[0].once[SAGOI_COUNT_plan_misses] = 1;
    expect(record, "[sago_defer=on]", true);
    expect(record, "waited for rank", false);
    sagoi_record_destroy(record);
}

static void plans_are_made_again(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++)
        spend(record, rank, SAGO_PHASE_PLAN, 60);
    call(record, 100, 1 << 20);
    record->files[0].once[SAGOI_COUNT_plan_misses] = 100;
    expect(record, "100 plans were made", true);
    expect(record, "[sago_plan_cache=", true);
    sagoi_record_destroy(record);
}

/* The program's own independent calls, which the MPI library serves. */
static void tiny_independent_calls(void **state) {
    sagoi_record *record = make_job();
    sagoi_record_passed *passed = &record->files[0].passed[0];
    passed->calls[1] = 8000;
    passed->bytes[1] = 8000 * 64;
    passed->longest = 90;
    expect(record, "8000 independent writes", true);
    expect(record, "64 B", true);
    expect(record, "90.0 s of the slowest rank", true);
    expect(record, "MPI_File_write_at_all", true);
    expect(record, "went to", false);
    sagoi_record_destroy(record);
}

static void calls_are_handed_on(void **state) {
    sagoi_record *record = make_job();
    sagoi_record_passed *passed = &record->files[0].passed[1];
    sagoi_record_note_add(&record->files[0], "data representation other than native", 160, 20);
    passed->calls[1] = 160;
    passed->longest = 12;
    spend(record, 0, SAGO_PHASE_FLATTEN, 3e-5);
    expect(record,
           "20 calls on /scratch/out were handed to the MPI library, 12.0 s of the slowest rank: "
           "data representation other than native.",
           true);
    expect(record, "describing datatypes", false); /* of 30 us in 100 s nobody wants to hear */
    sagoi_record_destroy(record);
}

static void checkpoints_hold_the_program(void **state) {
    sagoi_record *record = make_job();
    for (int i = 0; i < 3; i++)
        sagoi_record_step_add(record, &(sagoi_record_step){.step = i, .held = 10, .write = 12, .written = 1});
    expect(record, "3 checkpoints held the program for 30.0 s in all (30% of the run)", true);
    expect(record, "[sago_ckpt_overhead=5]", true);
    expect(record, "next to nothing", false);
    sagoi_record_destroy(record);
}

/* What keeps windows small decides what helps. */
static void many_rounds(void **state) {
    sagoi_record *record = make_job();
    sagoi_record_file *file = &record->files[0];
    file->once[SAGOI_COUNT_aggregated_calls] = 10;
    file->once[SAGOI_COUNT_rounds] = 160;
    (void)snprintf(file->decision, sizeof file->decision, "window: 4M, at most 4M and even over the rounds\n");
    expect(record, "took 16 rounds each.  Larger windows", true);
    expect(record, "[sago_window=64M]", true);
    (void)snprintf(file->decision, sizeof file->decision, "window: 1M, stripes are 1M\n");
    file->stripe_unit = 1 << 20;
    expect(record, "windows are the file's stripes, of 1 MiB", true);
    expect(record, "[striping_unit=SIZE]", true);
    expect(record, "sago_window", false);
    (void)snprintf(file->decision, sizeof file->decision,
                   "window: at most 1M rather than 4M, for want of memory\n");
    expect(record, "[sago_memory=SIZE]", true);
    expect(record, "sago_window", false);
    sagoi_record_destroy(record);
}

/* Where memory cuts calls into many rounds, messages, waiting and uneven work come from that: the cause is said
 * first, once, and nothing is advised that leaves it as it is. */
static void rounds_come_before_what_they_cause(void **state) {
    sagoi_record *record = make_job();
    sagoi_record_file *file = &record->files[0];
    for (int64_t rank = 0; rank < RANKS; rank++) {
        spend(record, rank, SAGO_PHASE_EXCHANGE, rank == 4 ? 60 : 50);
        spend(record, rank, SAGO_PHASE_WAIT, rank == 4 ? 5 : 25);
    }
    call(record, 3, 1 << 22);
    file->once[SAGOI_COUNT_aggregated_calls] = 3;
    file->once[SAGOI_COUNT_rounds] = 384;
    (void)snprintf(file->decision, sizeof file->decision,
                   "window: at most 64K rather than 4M, for want of memory\n");
    sagoi_record_node *node = sagoi_record_node_of(record, "n1");
    node->budget = 2 << 20;
    node->peak = 2 << 20;
    record->all_nodes = 4;
    const char *said = verdict_of(record), *rounds = strstr(said, "took 128 rounds each, since memory");
    assert_non_null(rounds);
    assert_true(rounds < strstr(said, "messages between nodes"));
    expect(record, "sago_aggregators_per_node", false);
    expect(record, "sago_placement=spread", false);
    expect(record, "Node n1 used", false);
    expect(record, "[sago_memory=SIZE]", true);
    sagoi_record_destroy(record);
}

/* Most bytes of a mapped file are moved by no system call, so that nobody's speed in the file system is known. */
static void mapped_files_have_no_stream(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++)
        spend(record, rank, SAGO_PHASE_STORE, 60);
    call(record, 10, 1 << 26);
    record->files[0].phase[SAGO_PHASE_STORE].bytes = 80;
    expect(record, "of a rank that was in it", false);
    record->files[0].phase[SAGO_PHASE_STORE].bytes = 10 * RANKS * INT64_C(67108864);
    expect(record, "10.7 MiB/s of a rank that was in it (`sago tune`", true);
    sagoi_record_destroy(record);
}

/* Aggregators can be spread only where some share a node and another node has none. */
static void aggregators_have_more_to_do(void **state) {
    sagoi_record *record = make_job();
    for (int64_t rank = 0; rank < RANKS; rank++) {
        bool busy = rank == 0 || rank == 2;
        spend(record, rank, SAGO_PHASE_STORE, busy ? 50.0 + (double)rank : 2);
        spend(record, rank, SAGO_PHASE_PLAN, rank == 0 ? 0.5 : busy ? 1 : 48);
    }
    call(record, 10, 1 << 20);
    place(record);
    expect(record, "Aggregators do more than others", true);
    expect(record, "sago_placement=spread", false); /* ranks 0 and 2 are on n1 and n2 */
    for (int64_t rank = 0; rank < RANKS; rank++)
        (void)snprintf(record->rows[rank]->node, sizeof record->rows[rank]->node, "n%d", (int)rank / 4 + 1);
    expect(record, "Aggregators do more than others; they can be spread over more nodes", true);
    expect(record, "[sago_placement=spread]", true);
    for (int64_t rank = 0; rank < RANKS; rank++)
        (void)snprintf(record->rows[rank]->node, sizeof record->rows[rank]->node, "n1");
    expect(record, "sago_placement=spread", false);
    sagoi_record_destroy(record);
}

/* The aggregator on a node with a slow link has most to do, and others wait for it where they meet. */
static void one_link_makes_others_wait(void **state) {
    sagoi_record *record = make_job();
    place(record);
    call(record, 10, 1 << 20);
    for (int64_t rank = 0; rank < RANKS; rank++) {
        bool slow = rank == 4;
        spend(record, rank, SAGO_PHASE_EXCHANGE, slow ? 40 : rank % 2 ? 0 : 8);
        spend(record, rank, SAGO_PHASE_PLAN, slow ? 2 : 50);
        record->rows[rank]->waited = slow ? 30 : rank % 2 ? 0 : 8;
        record->awaited[rank] = slow ? 24 : 30.0 / 7;
    }
    expect(record, "waited for rank 4, which had more to do", true);
    expect(record, "to or from node n3", true);
    expect(record, "sago_placement", false);
    sagoi_record_destroy(record);
}

static void files_are_opened_often(void **state) {
    sagoi_record *record = make_job(), *other = make_job();
    call(record, 150, 1 << 20);
    record->around[SAGO_REPORT_OPEN] = (sagoi_record_around){150, 40};
    record->around[SAGO_REPORT_CLOSE] = (sagoi_record_around){150, 20};
    other->around[SAGO_REPORT_OPEN] = (sagoi_record_around){100, 45}; /* less with closing */
    other->around[SAGO_REPORT_SYNC] = (sagoi_record_around){7, 12};
    assert_true(sagoi_record_merge(record, other));
    expect(record, "Opening and closing files 150 times took 60.0 s of the slowest rank, 60% of the run.", true);
    expect(record, "files that stay open", true);
    expect(record, "put off", false);
    expect(record, "7 calls that make data safe (sync) took 12.0 s of the slowest rank, 12% of the run.", true);
    sagoi_record_destroy(other);
    sagoi_record_destroy(record);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_target_is_slow),
                                       cmocka_unit_test(one_target_is_slow_in_turn),
                                       cmocka_unit_test(one_target_is_slow_for_all),
                                       cmocka_unit_test(one_link_is_slow),
                                       cmocka_unit_test(one_link_makes_others_wait),
                                       cmocka_unit_test(no_target_is_slow),
                                       cmocka_unit_test(storage_is_slow),
                                       cmocka_unit_test(all_wait_alike),
                                       cmocka_unit_test(requests_are_small),
                                       cmocka_unit_test(storage_serves_one_last),
                                       cmocka_unit_test(one_rank_comes_late),
                                       cmocka_unit_test(one_rank_has_more_to_do),
                                       cmocka_unit_test(many_small_collective_calls),
                                       cmocka_unit_test(plans_are_made_again),
                                       cmocka_unit_test(tiny_independent_calls),
                                       cmocka_unit_test(calls_are_handed_on),
                                       cmocka_unit_test(checkpoints_hold_the_program),
                                       cmocka_unit_test(many_rounds),
                                       cmocka_unit_test(rounds_come_before_what_they_cause),
                                       cmocka_unit_test(aggregators_have_more_to_do),
                                       cmocka_unit_test(files_are_opened_often),
                                       cmocka_unit_test(mapped_files_have_no_stream)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
