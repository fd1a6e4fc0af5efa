/* Statistics that parts below the engine count, and what the recorder is told of a finished call. */
#include "base/checked.h"
#include "engine/file.h"
#include "trace/recorder.h"

void sagoi_stats_fill(const sago_file *file, sago_stats *stats) {
    sagoi_store_counts counts = sagoi_store_counters(file->store);
    stats->phase[SAGO_PHASE_STORE].bytes = counts.bytes_written + counts.bytes_read;
    stats->phase[SAGO_PHASE_STORE].runs = counts.runs;
    stats->phase[SAGO_PHASE_STORE].messages = counts.system_calls;
    stats->memory_peak = file->budget.peak;
    stats->memory_budget = file->node_memory;
}

/* Adds a range of the file to the bytes of each storage target. */
static void divide(const sagoi_layout *layout, int64_t off, int64_t len, sagoi_recorded_request *request) {
    const int64_t unit = layout->stripe_unit, count = layout->stripe_count;
    request->bytes += (double)len;
    if (unit <= 0 || count <= 1)
        return;
    /* Whole laps over the targets, in each of which every target has as much. */
    const int64_t end = off + len, laps = len / (unit * count);
    for (int64_t t = 0; t < SAGOI_RECORD_TARGETS && laps > 0; t++)
        request->parts[t] += (double)(laps * unit * sagoi_record_target_share(t, count));
    for (off += laps * unit * count; off < end;) {
        int64_t stripe = off / unit, part = sagoi_min(end, (stripe + 1) * unit) - off;
        request->parts[sagoi_record_target_entry(stripe % count, count)] += (double)part;
        off += part;
    }
}

void sagoi_record_request(sago_file *file, const sagoi_io_run *runs, int64_t n, double seconds) {
    if (!sagoi_is_reported())
        return;
    sagoi_recorded_request request = {.seconds = seconds};
    for (int64_t i = 0; i < n; i++)
        divide(sagoi_store_layout(file->store), runs[i].off, runs[i].len, &request);
    sagoi_recorder_request(&file->stats, &request);
}

void sagoi_record_done(sago_file *file, bool write, int64_t low, int64_t high, int64_t bytes) {
    if (sagoi_is_reported())
        sagoi_stats_fill(file, &file->stats);
    sagoi_recorder_call(&file->stats,
                        &(sagoi_recorded_call){.write = write, .bytes = bytes, .range = {low, high}});
}
