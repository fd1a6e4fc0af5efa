/* Routes: every one of them, the edges between them, and that ranks with different inputs of their own choose the
 * same company. */
#include <stdlib.h>
#include <string.h>

#include "plan/route.h"
#include "support/unit.h"

/* A file on one node, in memory, which the ranks may access alone. */
static sagoi_route_file open_file(void) {
    return (sagoi_route_file){
        .nodes = 1, .ranks = 4, .agree = SAGOI_AGREE_TURN, .one_kernel = true, .mappable = true};
}

static const sagoi_route_own in_memory = {
    .local = true, .in_memory = true, .neighbours = true, .patience = SAGOI_FIRST_PATIENCE};
static const sagoi_route_call write_call = {.type = SAGOI_COLLECTIVE, .write = true};
static const sagoi_route_call read_call = {.type = SAGOI_COLLECTIVE};
static const sagoi_route_call started = {.type = SAGOI_COLLECTIVE, .write = true, .nonblocking = true};

static void check_choice(sagoi_route_call call, const sagoi_route_file *file, sagoi_company company,
                         sagoi_moment moment, sagoi_why why) {
    sagoi_route_choice choice = sagoi_route_choose(call, file);
    assert_int_equal(choice.company, company);
    assert_int_equal(choice.moment, moment);
    assert_int_equal(choice.why, why);
}

/* ---- The file ---- */

static bool may_map(const sagoi_hints *hints, sagoi_route_storage storage) {
    return sagoi_route_file_of(hints, &storage).mappable;
}

static void test_file(void **state) {
    sagoi_hints hints;
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    sagoi_route_storage memory = {.nodes = 1, .ranks = 4, .local = true, .in_memory = true}, disk = memory,
                        several = memory, subfiles = memory;
    disk.in_memory = false;
    several.nodes = 2;
    subfiles.subfiles = true;
    assert_true(may_map(&hints, memory));
    assert_false(may_map(&hints, disk));
    assert_false(may_map(&hints, several));
    assert_false(may_map(&hints, subfiles));
    hints.map = SAGOI_CHOICE_ON;
    assert_true(may_map(&hints, disk));
    assert_false(may_map(&hints, several));
    hints.direct_io = 1; /* passes by the pages that a mapping would share */
    assert_false(may_map(&hints, memory));
    assert_false(may_map(&hints, disk));
    hints.direct_io = 0;
    hints.map = SAGOI_CHOICE_OFF;
    assert_false(may_map(&hints, memory));
    assert_true(sagoi_route_file_of(&hints, &memory).one_kernel);
    assert_false(sagoi_route_file_of(&hints, &several).one_kernel);
    memory.local = false;
    assert_false(sagoi_route_file_of(&hints, &memory).one_kernel);
}

static void test_uring(void **state) {
    sagoi_hints hints;
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    assert_false(sagoi_route_takes_uring(&hints));
    hints.direct_io = 1;
    assert_true(sagoi_route_takes_uring(&hints));
    hints.io = SAGOI_IO_POSIX;
    assert_false(sagoi_route_takes_uring(&hints));
    hints.direct_io = 0;
    hints.io = SAGOI_IO_URING;
    assert_true(sagoi_route_takes_uring(&hints));
}

/* ---- Company ---- */

static void test_alone_without_meeting(void **state) {
    sagoi_route_file file = open_file();
    check_choice(write_call, &file, SAGOI_ALONE, SAGOI_NOW, SAGOI_WHY_TURN);
    check_choice(started, &file, SAGOI_ALONE, SAGOI_NOW, SAGOI_WHY_TURN);
    file.gaps = true; /* a mapping serves any runs */
    check_choice(write_call, &file, SAGOI_ALONE, SAGOI_NOW, SAGOI_WHY_TURN);
    file.mappable = false;
    check_choice(write_call, &file, SAGOI_ASK, SAGOI_NOW, SAGOI_WHY_ASK);
    file.gaps = false;
    check_choice(write_call, &file, SAGOI_ALONE, SAGOI_NOW, SAGOI_WHY_TURN);
    sagoi_route_call listed = {.type = SAGOI_COLLECTIVE, .by_extents = true};
    check_choice(listed, &file, SAGOI_ASK, SAGOI_NOW, SAGOI_WHY_ASK);
    file.agree = SAGOI_AGREE_ENTER;
    check_choice(write_call, &file, SAGOI_ASK, SAGOI_NOW, SAGOI_WHY_ASK);
    file.ranks = 1;
    check_choice(write_call, &file, SAGOI_ALONE, SAGOI_NOW, SAGOI_WHY_ONE_RANK);
}

static void test_together(void **state) {
    sagoi_route_file file = open_file();
    file.agree = SAGOI_AGREE_ALWAYS;
    check_choice(write_call, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_AGREE_ALWAYS);
    file = open_file();
    file.one_kernel = false;
    check_choice(write_call, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_NOT_LOCAL);
    file.nodes = 2;
    check_choice(write_call, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_SEVERAL_NODES);
    file = open_file();
    file.strategy = SAGOI_STRATEGY_AGGREGATED;
    check_choice(write_call, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_STRATEGY_HINT);
    file = open_file();
    sagoi_route_call call = {.type = SAGOI_DECLARED, .write = true};
    check_choice(call, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_DECLARED);
    call = (sagoi_route_call){.type = SAGOI_COLLECTIVE, .write = true, .nonblocking = true, .by_extents = true};
    check_choice(call, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_IN_ORDER);
}

static void test_stages(void **state) {
    sagoi_route_file file = open_file();
    sagoi_route_call independent = {.type = SAGOI_INDEPENDENT, .write = true};
    sagoi_route_call declared = {.type = SAGOI_DECLARED, .write = true};
    check_choice(independent, &file, SAGOI_ALONE, SAGOI_NOW, SAGOI_WHY_INDEPENDENT);
    file.tier = true;
    check_choice(independent, &file, SAGOI_ALONE, SAGOI_LOCAL_FIRST, SAGOI_WHY_INDEPENDENT_TIER);
    check_choice(write_call, &file, SAGOI_TOGETHER, SAGOI_LOCAL_FIRST, SAGOI_WHY_TIER);
    check_choice(read_call, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_AFTER_OTHERS);
    check_choice(started, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_AFTER_OTHERS);
    check_choice(declared, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_DECLARED);
    file = open_file();
    file.defer = true; /* but not at the moment */
    check_choice(write_call, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_AFTER_OTHERS);
    file.deferring = true;
    check_choice(write_call, &file, SAGOI_ALONE, SAGOI_DEFERRED, SAGOI_WHY_DEFERRED);
    check_choice(read_call, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_AFTER_OTHERS);
    check_choice(started, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_AFTER_OTHERS);
    check_choice(declared, &file, SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_DECLARED);
}

static void test_convene(void **state) {
    sagoi_route_file file = open_file();
    file.apart = true;
    check_choice(started, &file, SAGOI_ALONE, SAGOI_NOW, SAGOI_WHY_TURN);
    file.agree = SAGOI_AGREE_ENTER;
    check_choice(started, &file, SAGOI_CONVENE, SAGOI_NOW, SAGOI_WHY_APART);
    assert_false(sagoi_route_choose(started, &file).helpless);
    check_choice(write_call, &file, SAGOI_ASK, SAGOI_NOW, SAGOI_WHY_ASK);
    file.nodes = 2;
    file.one_kernel = false;
    check_choice(started, &file, SAGOI_CONVENE, SAGOI_NOW, SAGOI_WHY_APART);
    assert_true(sagoi_route_choose(started, &file).helpless);
}

static void test_answer(void **state) {
    assert_int_equal(sagoi_route_answer(false).company, SAGOI_ALONE);
    assert_int_equal(sagoi_route_answer(true).company, SAGOI_TOGETHER);
}

static void test_leaving(void **state) {
    sagoi_route_file file = open_file();
    assert_true(sagoi_route_leaves_alone(write_call, &file));
    assert_false(sagoi_route_leaves_alone(started, &file));
    assert_false(sagoi_route_leaves_planned_alone(write_call, &file, SAGOI_STRATEGY_DIRECT));
    file.nodes = 2;
    assert_true(sagoi_route_leaves_planned_alone(write_call, &file, SAGOI_STRATEGY_DIRECT));
    assert_false(sagoi_route_leaves_planned_alone(write_call, &file, SAGOI_STRATEGY_AGGREGATED));
    file.agree = SAGOI_AGREE_ALWAYS;
    assert_false(sagoi_route_leaves_alone(write_call, &file));
    assert_false(sagoi_route_leaves_planned_alone(write_call, &file, SAGOI_STRATEGY_DIRECT));
}

static void test_size(void **state) {
    const sagoi_route_call step = {.type = SAGOI_DECLARED};
    sagoi_route_file file = {.nodes = 2, .ranks = 4};
    sagoi_route_own own = {0};
    assert_false(sagoi_route_needs_size(write_call, &file, &own, false, false));
    assert_true(sagoi_route_needs_size(write_call, &file, &own, false, true)); /* it may be a read */
    assert_false(sagoi_route_needs_size(write_call, &file, &own, true, true));
    assert_true(sagoi_route_needs_size(read_call, &file, &own, false, false));
    assert_false(sagoi_route_needs_size(read_call, &file, &own, true, false));
    own.read.direct = true; /* no aggregator would notice that the file was cut */
    assert_true(sagoi_route_needs_size(read_call, &file, &own, true, false));
    own.read.outcome = SAGOI_OUTCOME_ALONE;
    assert_false(sagoi_route_needs_size(read_call, &file, &own, false, false));
    assert_true(sagoi_route_needs_size(step, &file, &own, false, false));
    own = (sagoi_route_own){.local = true}; /* which knows if the file was cut */
    assert_true(sagoi_route_needs_size(read_call, &file, &own, true, false));
    file.mappable = true;
    assert_true(sagoi_route_needs_size(write_call, &file, &own, true, false));
    file = (sagoi_route_file){.subfiles = true};
    assert_true(sagoi_route_needs_size(write_call, &file, &own, true, false));
}

static void test_holes(void **state) {
    const sagoi_route_file file = open_file();
    sagoi_route route = {.choice = {.company = SAGOI_ASK}, .unwilling = true};
    assert_true(sagoi_route_asks_for_holes(&route, &file));
    assert_false(sagoi_route_asks_for_holes(&route, &(sagoi_route_file){.mappable = false}));
    route.choice.helpless = true; /* nothing makes it willing */
    assert_false(sagoi_route_asks_for_holes(&route, &file));
    route = (sagoi_route){.choice = {.company = SAGOI_ASK}};
    assert_false(sagoi_route_asks_for_holes(&route, &file));
    route = (sagoi_route){.choice = {.company = SAGOI_ALONE}, .unwilling = true};
    assert_false(sagoi_route_asks_for_holes(&route, &file));
}

/* Only a read that each aggregator answers once, straight away. */
static void test_ending_answered(void **state) {
    const sagoi_route_call started_read = {.nonblocking = true};
    const sagoi_plan plan = {
        .strategy = SAGOI_STRATEGY_AGGREGATED, .move = SAGOI_MOVE_PACKED, .nodes = 2, .rounds = 1, .layers = 2};
    const sagoi_answers all = {.remembered = true, .from_all = true};
    assert_true(sagoi_route_ends_answered(read_call, &plan, &all));
    assert_false(sagoi_route_ends_answered(write_call, &plan, &all));
    assert_false(sagoi_route_ends_answered(started_read, &plan, &all));
    sagoi_plan other[6] = {plan, plan, plan, plan, plan, plan};
    other[0].strategy = SAGOI_STRATEGY_DIRECT;
    other[1].move = SAGOI_MOVE_RMA;
    other[2].nodes = 1;
    other[3].rounds = 2;
    other[4].layers = 3;
    other[5].merge = true;
    for (int i = 0; i < 6; i++)
        assert_false(sagoi_route_ends_answered(read_call, &other[i], &all));
    sagoi_answers lacking[5] = {all, all, all, all, all};
    lacking[0].failed = true;
    lacking[1].refused = true;
    lacking[2].remembered = false;
    lacking[3].from_all = false;
    lacking[4].staged = true;
    for (int i = 0; i < 5; i++)
        assert_false(sagoi_route_ends_answered(read_call, &plan, &lacking[i]));
}

static void test_known_end(void **state) {
    assert_true(sagoi_route_trusts_end(100, 100, false));
    assert_false(sagoi_route_trusts_end(100, 101, false));
    assert_false(sagoi_route_trusts_end(0, 0, false)); /* nothing is known */
    assert_false(sagoi_route_trusts_end(100, 100, true));
    sagoi_plan plan = {.strategy = SAGOI_STRATEGY_AGGREGATED, .move = SAGOI_MOVE_PACKED, .nodes = 2};
    assert_true(sagoi_route_notices_end(&plan, true));
    assert_false(sagoi_route_notices_end(&plan, false));
    plan.relay_repeats = true;
    assert_false(sagoi_route_notices_end(&plan, true));
    plan.relay_repeats = false;
    plan.move = SAGOI_MOVE_RMA;
    assert_false(sagoi_route_notices_end(&plan, true));
    plan.nodes = 1; /* the windows are in the node's memory, and are copied from when all were read */
    assert_true(sagoi_route_notices_end(&plan, false));
    plan.strategy = SAGOI_STRATEGY_DIRECT;
    assert_false(sagoi_route_notices_end(&plan, true));
}

static void test_one_sided(void **state) {
    sagoi_hints hints;
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    assert_false(sagoi_route_forgoes_rma(&hints, true, true)); /* nobody asks for it */
    hints.move = SAGOI_MOVE_RMA;
    assert_false(sagoi_route_forgoes_rma(&hints, false, false));
    assert_true(sagoi_route_forgoes_rma(&hints, true, false));
    assert_true(sagoi_route_forgoes_rma(&hints, false, true));
}

static void test_sieved(void **state) {
    sagoi_hints hints;
    const sagoi_plan plan = {.sieve_gap = 4096};
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    assert_int_equal(sagoi_route_sieved(&hints, &plan, true).gap, 4096);
    assert_int_equal(sagoi_route_sieved(&hints, &plan, true).runs, SAGOI_SIEVED_RUNS_LEAST);
    assert_int_equal(sagoi_route_sieved(&hints, &plan, false).gap, 0);
    hints.sieve = SAGOI_CHOICE_ON; /* the user answers for all who write */
    assert_true(sagoi_route_sieved(&hints, &plan, false).gap == INT64_MAX);
    assert_int_equal(sagoi_route_sieved(&hints, &plan, false).runs, 2);
}

static void test_step_parts(void **state) {
    sagoi_route_file file = open_file();
    sagoi_hints hints;
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    hints.series_parts = 4;
    assert_int_equal(sagoi_route_step_parts(&file, &hints, 9), 4);
    assert_int_equal(sagoi_route_step_parts(&file, &hints, 3), 3);
    assert_int_equal(sagoi_route_step_parts(&file, &hints, 0), 1);
    file.apart = true;
    assert_int_equal(sagoi_route_step_parts(&file, &hints, 9), 1);
}

static void test_draining(void **state) {
    sagoi_hints hints;
    sagoi_waiting waiting = {.calls = SAGOI_DRAINED_CALLS_MOST};
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    hints.tier_drain = SAGOI_DRAIN_BACKGROUND;
    assert_true(sagoi_route_may_drain(&hints, &waiting));
    waiting.own = 1;
    assert_false(sagoi_route_may_drain(&hints, &waiting));
    waiting = (sagoi_waiting){.unruled = true};
    assert_false(sagoi_route_may_drain(&hints, &waiting));
    waiting = (sagoi_waiting){.calls = SAGOI_DRAINED_CALLS_MOST + 1};
    assert_false(sagoi_route_may_drain(&hints, &waiting));
    assert_true(sagoi_route_drains(1, 2 * SAGOI_LONG_RUN, 2));
    assert_false(sagoi_route_drains(1, 2 * SAGOI_LONG_RUN - 1, 2));
    assert_false(sagoi_route_drains(2, 2 * SAGOI_LONG_RUN, 2));
}

static void test_reading_beside(void **state) {
    sagoi_hints hints;
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    assert_true(sagoi_route_reads_beside(&hints, true));
    assert_false(sagoi_route_reads_beside(&hints, false));
    hints.direct_io = 1;
    assert_false(sagoi_route_reads_beside(&hints, true));
    hints.direct_io = 0;
    hints.io = SAGOI_IO_URING;
    assert_false(sagoi_route_reads_beside(&hints, true));
}

/* ---- Method ---- */

static sagoi_route part_of(sagoi_route_call call, const sagoi_route_file *file, const sagoi_route_own *own,
                           const sagoi_route_wanted *wanted) {
    sagoi_route route = {.choice = sagoi_route_choose(call, file)};
    sagoi_route_part(&route, call, file, own, wanted);
    return route;
}

static sagoi_method method_of(sagoi_route_call call, const sagoi_route_file *file, const sagoi_route_own *own,
                              const sagoi_route_wanted *wanted) {
    return part_of(call, file, own, wanted).method;
}

static sagoi_route_wanted one_run(int64_t off, int64_t len) {
    return (sagoi_route_wanted){.one_run = true, .bytes = len, .runs = 1, .low = off, .high = off + len};
}

/* Between nodes, where all ranks agree on how a call went. */
static void test_first(void **state) {
    sagoi_route_file file = {.nodes = 2, .ranks = 4, .agree = SAGOI_AGREE_ALWAYS};
    sagoi_route_own own = {0};
    sagoi_route_wanted piece = one_run(0, SAGOI_LONG_RUN), longer = one_run(0, SAGOI_LONG_RUN + 1), nothing = {0},
                       runs = {.bytes = 2, .runs = 2, .high = 9}, device = piece;
    device.memory = SAGOI_MEMORY_DEVICE;
    assert_true(sagoi_route_goes_first(write_call, &file, &own, &piece));
    assert_true(sagoi_route_goes_first(read_call, &file, &own, &piece));
    assert_true(sagoi_route_goes_first(write_call, &file, &own, &nothing));
    assert_false(
        sagoi_route_goes_first(write_call, &file, &own, &longer)); /* not before it is known to be alike */
    assert_false(sagoi_route_goes_first(write_call, &file, &own, &runs));
    assert_false(sagoi_route_goes_first(write_call, &file, &own, &device));
    assert_false(sagoi_route_goes_first(started, &file, &own, &piece));
    sagoi_route_call declared = {.type = SAGOI_DECLARED, .write = true};
    assert_false(sagoi_route_goes_first(declared, &file, &own, &piece));
    sagoi_route_set_precedent(&own, true, true, longer.bytes);
    assert_true(sagoi_route_goes_first(write_call, &file, &own, &longer));
    assert_true(sagoi_route_goes_first(write_call, &file, &own, &piece));
    assert_false(sagoi_route_goes_first(read_call, &file, &own, &longer)); /* which is another matter */
    file.striped = true;
    assert_true(sagoi_route_goes_first(write_call, &file, &own, &longer));
    assert_false(sagoi_route_goes_first(write_call, &file, &own, &piece)); /* shorter ones may share stripes */
    assert_false(sagoi_route_goes_first(read_call, &file, &own, &piece));
    sagoi_route_set_precedent(&own, true, false, longer.bytes);
    assert_false(sagoi_route_goes_first(write_call, &file, &own, &longer));
    own = (sagoi_route_own){0};
    file.striped = false;
    const sagoi_agree_hint sooner[] = {SAGOI_AGREE_ENTER, SAGOI_AGREE_TURN};
    for (int i = 0; i < 2; i++) {
        file.agree = sooner[i];
        assert_false(sagoi_route_goes_first(write_call, &file, &own, &piece));
    }
    file.agree = SAGOI_AGREE_ALWAYS;
    file.strategy = SAGOI_STRATEGY_AGGREGATED;
    assert_false(sagoi_route_goes_first(write_call, &file, &own, &piece));
    file.strategy = SAGOI_STRATEGY_AUTO;
    file.nodes = 1;
    assert_false(sagoi_route_goes_first(write_call, &file, &own, &piece));
}

static void test_piece(void **state) {
    const sagoi_route_file file = open_file();
    sagoi_route_own own = in_memory;
    sagoi_route_wanted wanted = one_run(4096, 1024);
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_PIECE);
    wanted.memory = SAGOI_MEMORY_DEVICE;
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_DIRECT);
    wanted = one_run(0, SAGOI_MOST_PACKED);
    wanted.memory = SAGOI_MEMORY_PIECES;
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_PIECE);
    wanted = one_run(0, SAGOI_MOST_PACKED + 1);
    wanted.memory = SAGOI_MEMORY_PIECES;
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_DIRECT);
}

/* A mapping serves what was accessed twice, from 256 KiB on. */
static void test_accessed_again(void **state) {
    sagoi_route_file file = open_file();
    sagoi_route_own own = in_memory;
    sagoi_route_wanted wanted = one_run(0, SAGOI_LEAST_MAPPED);
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_PIECE);
    sagoi_route_note(&own, 0, SAGOI_LEAST_MAPPED);
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_PIECE);
    sagoi_route_note(&own, 0, SAGOI_LEAST_MAPPED);
    sagoi_route route = part_of(write_call, &file, &own, &wanted);
    assert_int_equal(route.method, SAGOI_METHOD_MAPPED);
    assert_true(route.look);
    wanted.looked = wanted.sparse = true; /* it is all of the range */
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_MAPPED);
    assert_false(part_of(write_call, &file, &own, &wanted).look);
    wanted = one_run(0, SAGOI_LEAST_MAPPED - 1);
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_PIECE);
    wanted = one_run(1, SAGOI_LEAST_MAPPED);
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_PIECE);
    wanted = one_run(0, SAGOI_LEAST_MAPPED);
    file.mappable = false;
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_PIECE);
}

static void test_sparse_range(void **state) {
    const sagoi_route_file file = open_file();
    sagoi_route_own own = in_memory;
    own.again = (sagoi_range){0, INT64_C(1) << 40};
    const int64_t span = 4 << 20;
    sagoi_route_wanted wanted = {.runs = 8, .bytes = span / SAGOI_SPARSE_PART, .high = span};
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_MAPPED);
    wanted.bytes--;
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_DIRECT);
    wanted.looked = wanted.sparse = true;
    wanted.bytes = span / SAGOI_HOLEY_PART;
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_MAPPED);
    wanted.bytes--;
    sagoi_route route = part_of(write_call, &file, &own, &wanted);
    assert_int_equal(route.method, SAGOI_METHOD_DIRECT);
    assert_int_equal(route.why, SAGOI_WHY_HOLES);
}

static void test_many_short(void **state) {
    sagoi_route_file file = open_file();
    sagoi_route_wanted wanted = {.runs = SAGOI_FEW_CALLS + 1,
                                 .bytes = 8 * (SAGOI_FEW_CALLS + 1),
                                 .high = (SAGOI_FEW_CALLS + 1) * (int64_t)SAGOI_MAPPED_PAGE};
    sagoi_route route = part_of(write_call, &file, &in_memory, &wanted);
    assert_int_equal(route.method, SAGOI_METHOD_MAPPED);
    assert_int_equal(route.why, SAGOI_WHY_MANY_SHORT_RUNS);
    wanted.high += SAGOI_MAPPED_PAGE; /* fewer than pages */
    assert_int_equal(method_of(write_call, &file, &in_memory, &wanted), SAGOI_METHOD_DIRECT);
    wanted.high = 64;
    wanted.runs = SAGOI_FEW_CALLS;
    assert_int_equal(method_of(write_call, &file, &in_memory, &wanted), SAGOI_METHOD_DIRECT);
    wanted.runs++;
    file.mappable = false;
    route = part_of(write_call, &file, &in_memory, &wanted);
    assert_int_equal(route.method, SAGOI_METHOD_DIRECT);
    assert_int_equal(route.why, SAGOI_WHY_NOT_MAPPABLE);
}

static void test_read_through(void **state) {
    const sagoi_route_file file = open_file();
    sagoi_route_own own = in_memory;
    sagoi_route_wanted wanted = {.runs = 3, .bytes = 0, .high = INT64_C(2) * SAGOI_SYSTEM_CALL_IN_MEMORY};
    assert_int_equal(method_of(read_call, &file, &own, &wanted), SAGOI_METHOD_READ_THROUGH);
    assert_int_equal(method_of(write_call, &file, &own, &wanted), SAGOI_METHOD_DIRECT);
    wanted.high++;
    assert_int_equal(method_of(read_call, &file, &own, &wanted), SAGOI_METHOD_DIRECT);
    own.in_memory = false; /* calls cost more */
    assert_int_equal(method_of(read_call, &file, &own, &wanted), SAGOI_METHOD_READ_THROUGH);
    wanted = (sagoi_route_wanted){.runs = 16, .bytes = 1024, .high = SAGOI_MOST_READ_THROUGH};
    assert_int_equal(method_of(read_call, &file, &own, &wanted), SAGOI_METHOD_READ_THROUGH);
    wanted.high++;
    assert_int_equal(method_of(read_call, &file, &own, &wanted), SAGOI_METHOD_DIRECT);
}

static void test_nothing(void **state) {
    const sagoi_route_file file = open_file();
    const sagoi_route_wanted wanted = {.runs = 0};
    sagoi_route route = part_of(write_call, &file, &in_memory, &wanted);
    assert_int_equal(route.method, SAGOI_METHOD_DIRECT);
    assert_int_equal(route.why, SAGOI_WHY_NOTHING);
    assert_false(route.unwilling);
}

static void test_worker(void **state) {
    sagoi_route_own own = in_memory;
    assert_int_equal(sagoi_route_worker(&own, false, INT64_MAX), SAGOI_BY_CALLER);
    assert_int_equal(sagoi_route_worker(&own, true, SAGOI_SOON_IN_MEMORY), SAGOI_BY_CALLER);
    assert_int_equal(sagoi_route_worker(&own, true, SAGOI_SOON_IN_MEMORY + 1), SAGOI_BY_THREAD);
    own.in_memory = false;
    assert_int_equal(sagoi_route_worker(&own, true, SAGOI_SOON_LOCAL), SAGOI_BY_CALLER);
    assert_int_equal(sagoi_route_worker(&own, true, SAGOI_SOON_LOCAL + 1), SAGOI_BY_THREAD);
    own.local = false;
    assert_int_equal(sagoi_route_worker(&own, true, 1), SAGOI_BY_THREAD);
    const sagoi_route_file file = open_file();
    const sagoi_route_wanted wanted = one_run(0, 8 << 20);
    sagoi_route route = part_of(started, &file, &in_memory, &wanted);
    assert_int_equal(route.method, SAGOI_METHOD_DIRECT);
    assert_int_equal(route.worker, SAGOI_BY_THREAD);
    assert_int_equal(part_of(write_call, &file, &in_memory, &wanted).worker, SAGOI_BY_CALLER);
    const sagoi_plan write = {.write = true, .rounds = 3}, read = {.rounds = 3};
    own.in_memory = true;
    assert_int_equal(sagoi_route_window_worker(&own, false, &write, 1, 1), SAGOI_BY_THREAD);
    assert_int_equal(sagoi_route_window_worker(&own, false, &write, 2, 1), SAGOI_BY_CALLER);
    assert_int_equal(sagoi_route_window_worker(&own, false, &read, 0, 1), SAGOI_BY_CALLER);
    assert_int_equal(sagoi_route_window_worker(&own, false, &read, 2, 1), SAGOI_BY_THREAD);
    assert_int_equal(sagoi_route_window_worker(&own, true, &read, 0, INT64_C(1) << 40), SAGOI_BY_THREAD);
}

static void test_soon_done(void **state) {
    const sagoi_route alone = {.choice = {.company = SAGOI_ALONE}},
                      convenes = {.choice = {.company = SAGOI_CONVENE}},
                      thread = {.choice = {.company = SAGOI_ALONE}, .worker = SAGOI_BY_THREAD};
    sagoi_route_own own = {.neighbours = true, .last = SAGOI_LAST_WRITE};
    assert_true(sagoi_route_is_soon_done(&alone, &own, true));
    assert_false(sagoi_route_is_soon_done(&alone, &own, false)); /* it waits for those who write */
    assert_false(sagoi_route_is_soon_done(&convenes, &own, true));
    assert_false(sagoi_route_is_soon_done(&thread, &own, true));
}

static void test_planned(void **state) {
    assert_int_equal(sagoi_route_planned(SAGOI_STRATEGY_DIRECT, false, true), SAGOI_METHOD_DIRECT);
    assert_int_equal(sagoi_route_planned(SAGOI_STRATEGY_DIRECT, true, false), SAGOI_METHOD_DIRECT);
    assert_int_equal(sagoi_route_planned(SAGOI_STRATEGY_DIRECT, true, true), SAGOI_METHOD_MAPPED);
    assert_int_equal(sagoi_route_planned(SAGOI_STRATEGY_MAPPED, false, false), SAGOI_METHOD_MAPPED);
    assert_int_equal(sagoi_route_planned(SAGOI_STRATEGY_AGGREGATED, false, true), SAGOI_METHOD_AGGREGATED);
}

/* ---- Waiting ---- */

static void test_turns(void **state) {
    sagoi_route_own own = in_memory;
    assert_false(sagoi_route_turns(&own, true));
    own.last = SAGOI_LAST_WRITE;
    assert_false(sagoi_route_turns(&own, true));
    assert_true(sagoi_route_turns(&own, false));
    own.last = SAGOI_LAST_READ;
    assert_true(sagoi_route_turns(&own, true));
    own.neighbours = false;
    assert_false(sagoi_route_turns(&own, true));
}

static void test_worth(void **state) {
    sagoi_route_file file = open_file();
    sagoi_route_own own = in_memory;
    sagoi_route_wanted wanted = one_run(0, 1);
    assert_true(sagoi_route_worth(&file, &own, false, &wanted) == SAGOI_LEAST_WAIT);
    wanted.bytes = INT64_C(1) << 40;
    assert_true(sagoi_route_worth(&file, &own, false, &wanted) == SAGOI_MOST_WAIT);
    own.last = SAGOI_LAST_WRITE;
    file.nodes = 2;
    assert_true(sagoi_route_worth(&file, &own, false, &wanted) == SAGOI_FIRST_PATIENCE);
    for (int i = 0; i < 20; i++)
        sagoi_route_lose_patience(&own);
    assert_true(own.patience > 0 && own.patience <= SAGOI_LEAST_PATIENCE);
    assert_true(sagoi_route_worth(&file, &own, false, &wanted) == SAGOI_MOST_WAIT);
}

/* ---- All ranks ---- */

static int64_t below(int64_t n) { return (int64_t)random() % n; }

static sagoi_route_file any_file(void) {
    return (sagoi_route_file){.nodes = 1 + below(2),
                              .ranks = 1 + below(4),
                              .agree = (sagoi_agree_hint)below(3),
                              .strategy = below(4) ? SAGOI_STRATEGY_AUTO : (sagoi_strategy)below(4),
                              .apart = below(2),
                              .one_kernel = below(4) > 0,
                              .mappable = below(2),
                              .gaps = below(2),
                              .tier = below(8) == 0,
                              .defer = below(8) == 0};
}

static sagoi_route_own any_own(void) {
    int64_t at = below(1 << 20);
    return (sagoi_route_own){.local = below(2),
                             .in_memory = below(2),
                             .neighbours = below(2),
                             .last = (sagoi_last_access)below(3),
                             .patience = 1.0,
                             .once = {0, 1 << 24},
                             .again = {at, at + below(1 << 24)}};
}

static sagoi_route_wanted any_wanted(void) {
    int64_t low = below(1 << 22), span = below(1 << 22), runs = span ? 1 + below(1000) : 0;
    return (sagoi_route_wanted){.memory = (sagoi_memory_form)below(3),
                                .one_run = runs == 1,
                                .bytes = runs == 1 ? span : span / (1 + below(20)),
                                .runs = runs,
                                .low = low,
                                .high = low + span,
                                .looked = below(2),
                                .sparse = below(2)};
}

/* A call on four ranks: each proposes from what is its own, all get the same answer to the question. */
static void check_call(sagoi_route_call call, const sagoi_route_file *file) {
    enum { RANKS = 4 };
    sagoi_route route[RANKS];
    bool any_unwilling = false;
    for (int r = 0; r < RANKS; r++) {
        sagoi_route_own own = any_own();
        sagoi_route_wanted wanted = any_wanted();
        route[r] = part_of(call, file, &own, &wanted);
        any_unwilling = any_unwilling || route[r].unwilling;
        assert_int_not_equal(route[r].method, SAGOI_METHOD_NONE);
        assert_int_not_equal(route[r].method, SAGOI_METHOD_AGGREGATED); /* nobody aggregates alone */
    }
    for (int r = 1; r < RANKS; r++)
        assert_memory_equal(&route[r].choice, &route[0].choice, sizeof route[0].choice);
    if (route[0].choice.company == SAGOI_ASK)
        assert_int_equal(sagoi_route_answer(any_unwilling).company, any_unwilling ? SAGOI_TOGETHER : SAGOI_ALONE);
}

static void test_ranks_choose_alike(void **state) {
    srandom(1);
    for (int i = 0; i < 20000; i++) {
        sagoi_route_file file = any_file();
        file.deferring = file.defer && below(2);
        sagoi_route_call call = {
            .type = (sagoi_call_type)below(3), .write = below(2), .nonblocking = below(2), .by_extents = below(2)};
        check_call(call, &file);
    }
}

/* ---- What else there was ---- */

/* What is weighed agrees with what is chosen: the chosen method is possible, and whatever comes before it in the
 * order of preference is not. */
static void test_weighed(void **state) {
    sagoi_route_file file = open_file();
    srand(5);
    for (int i = 0; i < 20000; i++) {
        sagoi_route_wanted wanted = {.runs = 1 + rand() % 64, .looked = true, .sparse = rand() % 2};
        wanted.bytes = wanted.runs * (1 + rand() % 8192);
        wanted.high = wanted.bytes + (wanted.runs - 1) * (rand() % 8192);
        wanted.one_run = wanted.runs == 1;
        file.mappable = rand() % 2;
        sagoi_route_own own = in_memory;
        own.again = own.once = (sagoi_range){0, rand() % 2 ? wanted.high : 0};
        const sagoi_route_call call = rand() % 2 ? write_call : read_call;
        sagoi_route route = {.choice = {.company = SAGOI_ALONE}};
        sagoi_route_part(&route, call, &file, &own, &wanted);
        for (int m = SAGOI_METHOD_PIECE; m < (int)route.method; m++)
            assert_false(sagoi_route_weigh((sagoi_method)m, call, &file, &own, &wanted).possible);
        assert_true(sagoi_route_weigh(route.method, call, &file, &own, &wanted).possible);
    }
}

/* ---- Text ---- */

static void test_text(void **state) {
    char text[SAGOI_ROUTE_TEXT_MAX];
    const sagoi_route_file file = open_file();
    const sagoi_route_wanted wanted = one_run(0, 1024);
    sagoi_route route = part_of(write_call, &file, &in_memory, &wanted);
    sagoi_route_name(&route, text);
    assert_string_equal(text, "alone, one piece, by the caller, now");
    sagoi_route_why(route.why, route.value, route.limit, text);
    assert_string_equal(text, "one run of 1 KiB, which one system call moves");
    for (int why = 0; why < SAGOI_WHY_COUNT; why++) {
        sagoi_route_why((sagoi_why)why, route.value, route.limit, text);
        assert_true(strlen(text) > 10 && !strchr(text, '%'));
    }
}

/* Cut where a stripe ends, nearest to the middle, if both parts are worth it. */
static void test_cut(void **state) {
    const int64_t unit = 1 << 20;
    assert_int_equal(sagoi_route_cut((sagoi_range){0, 950000}, 950000, unit, 0), 950000);
    assert_int_equal(sagoi_route_cut((sagoi_range){950000, 1900000}, 950000, unit, 0), unit);
    assert_int_equal(sagoi_route_cut((sagoi_range){0, 5 * unit}, 5 * unit, unit, 0), 3 * unit);
    assert_int_equal(sagoi_route_cut((sagoi_range){0, 5 * unit}, 5 * unit, 0, 0), 5 * unit);
    assert_int_equal(sagoi_route_cut((sagoi_range){0, 5 * unit}, 100, unit, 0), 5 * unit);
    assert_int_equal(sagoi_route_cut((sagoi_range){unit - 1000, 2 * unit - 1000}, unit, unit, 0), 2 * unit - 1000);
    assert_int_equal(sagoi_route_cut((sagoi_range){INT64_MAX - unit, INT64_MAX}, unit, unit, 0), INT64_MAX);
    /* Two parts that begin at one target meet at each: half the targets lie between them. */
    assert_int_equal(sagoi_route_cut((sagoi_range){0, 16 * unit}, 16 * unit, unit, 4), 6 * unit);
    assert_int_equal(sagoi_route_cut((sagoi_range){16 * unit, 32 * unit}, 16 * unit, unit, 4), 22 * unit);
    assert_int_equal(sagoi_route_cut((sagoi_range){0, 18 * unit}, 18 * unit, unit, 4), 10 * unit);
    assert_int_equal(sagoi_route_cut((sagoi_range){0, 4 * unit}, 4 * unit, unit, 4), 2 * unit);
    assert_int_equal(sagoi_route_cut((sagoi_range){0, 16 * unit}, 16 * unit, unit, 1), 8 * unit);
    assert_int_equal(sagoi_route_cut((sagoi_range){0, 100 * unit}, 100 * unit, unit, 50), 38 * unit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_uring),
        cmocka_unit_test(test_alone_without_meeting),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_convene),
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_ending_answered),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_piece),
        cmocka_unit_test(test_accessed_again),
        cmocka_unit_test(test_sparse_range),
        cmocka_unit_test(test_many_short),
        cmocka_unit_test(test_read_through),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_worker),
        cmocka_unit_test(test_soon_done),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_planned),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_known_end),
        cmocka_unit_test(test_one_sided),
        cmocka_unit_test(test_sieved),
        cmocka_unit_test(test_step_parts),
        cmocka_unit_test(test_draining),
        cmocka_unit_test(test_reading_beside),
        cmocka_unit_test(test_worth),
        cmocka_unit_test(test_ranks_choose_alike),
        cmocka_unit_test(test_weighed),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
