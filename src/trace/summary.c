#include "trace/summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Of all files. */
typedef struct totals {
    int64_t files, calls[2], bytes[2], deferred, steps; /* reads, writes; collective calls count once */
    double seconds[2], phase[SAGO_PHASE_COUNT];         /* of the slowest rank */
} totals;

static totals add_up(const sagoi_record *record) {
    static const sagoi_record_count calls[] = {SAGOI_COUNT_collective_reads, SAGOI_COUNT_collective_writes};
    static const sagoi_record_count bytes[] = {SAGOI_COUNT_bytes_read, SAGOI_COUNT_bytes_written};
    totals all = {0};
    for (int64_t i = 0; i < record->nfiles; i++) {
        const sagoi_record_file *file = &record->files[i];
        all.files += file->opens;
        all.deferred += file->led[SAGOI_COUNT_deferred_writes];
        all.steps += file->led[SAGOI_COUNT_flush_steps];
        for (int w = 0; w < 2; w++) {
            all.calls[w] += file->led[calls[w]];
            all.bytes[w] += file->counts[bytes[w]];
            all.seconds[w] += file->calls[w];
        }
        for (int p = 0; p < SAGO_PHASE_COUNT; p++)
            all.phase[p] += file->longest[p];
    }
    return all;
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

void sagoi_summary_print(const sagoi_record *record, void (*tell)(const char *line)) {
    static const char *const verb[] = {"read", "write"};
    char line[512];
    const totals all = add_up(record);
    (void)snprintf(line, sizeof line, "%" PRId64 " rank%s, %" PRId64 " file%s opened", record->ranks,
                   plural(record->ranks), all.files, plural(all.files));
    tell(line);
    for (int w = 1; w >= 0; w--) {
        double mib = (double)all.bytes[w] / (1 << 20), seconds = all.seconds[w];
        (void)snprintf(line, sizeof line, "%" PRId64 " collective %s%s, %.1f MiB in %.3f s (%.0f MiB/s)",
                       all.calls[w], verb[w], plural(all.calls[w]), mib, seconds, seconds > 0 ? mib / seconds : 0);
        tell(line);
    }
    if (all.deferred) {
        (void)snprintf(line, sizeof line, "%" PRId64 " write%s deferred, moved in %" PRId64 " step%s",
                       all.deferred, plural(all.deferred), all.steps, plural(all.steps));
        tell(line);
    }
    int length = snprintf(line, sizeof line, "seconds by phase, slowest rank:");
    for (int p = 0; p < SAGO_PHASE_COUNT; p++)
        length += snprintf(line + length, sizeof line - (size_t)length, " %s %.3f",
                           sago_phase_string((sago_phase)p), all.phase[p]);
    tell(line);
}

void sagoi_summary_json(FILE *out, const sagoi_record *record) {
    const totals all = add_up(record);
    fprintf(out, "{\"ranks\": %" PRId64 ", \"files\": %" PRId64, record->ranks, all.files);
    fprintf(out, ",\n \"reads\": %" PRId64 ", \"read_bytes\": %" PRId64 ", \"read_seconds\": %.6f", all.calls[0],
            all.bytes[0], all.seconds[0]);
    fprintf(out, ",\n \"writes\": %" PRId64 ", \"write_bytes\": %" PRId64 ", \"write_seconds\": %.6f",
            all.calls[1], all.bytes[1], all.seconds[1]);
    fprintf(out, ",\n \"deferred\": %" PRId64 ", \"flush_steps\": %" PRId64 ",\n \"phases\": {", all.deferred,
            all.steps);
    for (int p = 0; p < SAGO_PHASE_COUNT; p++)
        fprintf(out, "%s\"%s\": %.6f", p ? ", " : "", sago_phase_string((sago_phase)p), all.phase[p]);
    fprintf(out, "}}\n");
}
