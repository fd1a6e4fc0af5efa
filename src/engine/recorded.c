/* Statistics that others than the engine count, and what the recorder is told of a call that is done. */
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

void sagoi_record_done(sago_file *file, bool write, int64_t low, int64_t high, int64_t bytes) {
    sagoi_stats_fill(file, &file->stats);
    sagoi_recorder_call(&file->stats,
                        &(sagoi_recorded_call){.write = write, .bytes = bytes, .range = {low, high}});
}
