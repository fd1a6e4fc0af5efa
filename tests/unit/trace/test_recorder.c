/* How long a call took, as the recorder adds it up from its phases. */
#include <unistd.h>

#include "trace/events.h"
#include "trace/recorder.h"
#include "support/unit.h"

enum { PAUSE_US = 500000 };

static const sagoi_recorder_setup setup = {
    .ranks = 1, .reported = true, .nodes = 1, .program = "p", .mpi = "m", .version = "v", .job = "j", .node = "n"};

static void end_phase(sago_stats *stats, sago_phase phase) { (void)sagoi_phase_end(stats, phase, sagoi_now()); }

/* A view is set, and much later there is a call that has nothing to flatten: the call begins with its own phase.
 */
static void a_view_begins_no_call(void **state) {
    sago_stats stats = {0};
    const sagoi_opened about = {.path = "file", .storage = "s", .hints = "", .ranks = 1, .first = true};
    const sagoi_recorded_call call = {.write = true, .bytes = 1, .range = {0, 1}};
    assert_int_equal(sagoi_recorder_begin(&setup), SAGO_OK);
    sagoi_recorder_open(&stats, &about);
    end_phase(&stats, SAGO_PHASE_FLATTEN);
    sagoi_record_no_call(&stats);
    (void)usleep(PAUSE_US);
    end_phase(&stats, SAGO_PHASE_STORE);
    sagoi_recorder_call(&stats, &call);
    sagoi_recorder_close(&stats);
    sagoi_record *record = sagoi_recorder_end();
    assert_non_null(record);
    assert_true(record->files[0].calls[1] < 1e-6 * PAUSE_US);
    sagoi_record_destroy(record);
}

/* Who asks for the trace alone does not pay for what only the report shows, and loses no event. */
static void a_trace_is_no_report(void **state) {
    const sagoi_opened about = {.path = "file", .storage = "s", .hints = "", .ranks = 1, .first = true};
    const sagoi_recorded_call call = {.write = true, .bytes = 1, .range = {0, 1}};
    for (int reported = 0; reported < 2; reported++) {
        sago_stats stats = {0};
        sagoi_recorder_setup asked = setup;
        int64_t count, dropped;
        asked.reported = reported;
        asked.traced = true;
        assert_int_equal(sagoi_recorder_begin(&asked), SAGO_OK);
        sagoi_recorder_open(&stats, &about);
        end_phase(&stats, SAGO_PHASE_STORE);
        sagoi_recorder_call(&stats, &call);
        sagoi_recorder_close(&stats);
        sagoi_record *record = sagoi_recorder_end();
        const sagoi_event *events = sagoi_events(&count, &dropped);
        assert_non_null(record);
        assert_int_equal(record->nspans, reported);
        assert_int_equal(record->files[0].sizes[1][0], reported);
        assert_int_equal(count, 2);
        assert_int_equal(dropped, 0);
        assert_int_equal(events[0].kind, SAGOI_EVENT_PHASE);
        assert_int_equal(events[0].what, SAGO_PHASE_STORE);
        assert_int_equal(events[1].kind, SAGOI_EVENT_CALL);
        sagoi_events_end();
        sagoi_record_destroy(record);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_view_begins_no_call),
                                       cmocka_unit_test(a_trace_is_no_report)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
