/* Tells the recorder what it cannot know by itself when a call is done. */
#include "engine/file.h"
#include "trace/recorder.h"

void sagoi_record_done(sago_file *file, bool write, int64_t low, int64_t high, int64_t bytes) {
    sagoi_store_counts counts = sagoi_store_counters(file->store);
    file->stats.phase[SAGO_PHASE_STORE].bytes = counts.bytes_written + counts.bytes_read;
    file->stats.phase[SAGO_PHASE_STORE].runs = counts.runs;
    file->stats.phase[SAGO_PHASE_STORE].messages = counts.system_calls;
    file->stats.memory_peak = file->budget.peak;
    file->stats.memory_budget = file->node_memory;
    sagoi_recorder_call(&file->stats,
                        &(sagoi_recorded_call){.write = write, .bytes = bytes, .range = {low, high}});
}
