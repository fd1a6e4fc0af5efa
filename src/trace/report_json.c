/* A record as JSON, and as a page. */
#include "trace/report_json.h"

#include <string.h>

#include "base/json.h"

enum { SECONDS = 6, COARSE = 3 }; /* Digits after the point: of times, and of bins and dates. */

static double bin_seconds(const sagoi_scale *scale) { return 1e-3 * (double)(INT64_C(1) << scale->shift); }
static double bins_begin(const sagoi_scale *scale) { return 1e-3 * (double)(scale->first << scale->shift); }

/* ---- Files ---- */

static void print_counts(sagoi_json *json, const char *name, const int64_t counts[]) {
    sagoi_json_open(json, name, '{');
    for (int i = 0; i < SAGOI_RECORD_COUNT_COUNT; i++)
        sagoi_json_int(json, sagoi_record_count_name((sagoi_record_count)i), counts[i]);
    sagoi_json_close(json, '}');
}

/* The counts of the job: what ranks do together counts once, what each rank does alone is added up. */
static void counts_of_job(const sagoi_record_file *file, int64_t counts[]) {
    static const sagoi_record_count added[] = {SAGOI_COUNT_bytes_written,     SAGOI_COUNT_bytes_read,
                                               SAGOI_COUNT_wire_bytes,        SAGOI_COUNT_metadata_bytes,
                                               SAGOI_COUNT_separate_failures, SAGOI_COUNT_independent_writes,
                                               SAGOI_COUNT_independent_reads};
    memcpy(counts, file->once, sizeof file->once);
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++)
        counts[added[i]] = file->counts[added[i]];
}

static void print_routes(sagoi_json *json, const sagoi_record_file *file) {
    sagoi_json_open(json, "routes", '{');
    for (int i = 0; i < SAGO_ROUTE_COUNT; i++)
        sagoi_json_int(json, sago_route_string((sago_route)i), file->routes[i]);
    sagoi_json_close(json, '}');
}

static void print_phases(sagoi_json *json, const sagoi_record_file *file) {
    sagoi_json_open(json, "phases", '{');
    for (int i = 0; i < SAGO_PHASE_COUNT; i++) {
        sagoi_json_open(json, sago_phase_string((sago_phase)i), '{');
        sagoi_json_fixed(json, "seconds", file->phase[i].seconds, SECONDS);
        sagoi_json_fixed(json, "longest", file->longest[i], SECONDS);
        sagoi_json_int(json, "longest_rank", file->longest_rank[i]);
        sagoi_json_int(json, "bytes", file->phase[i].bytes);
        sagoi_json_int(json, "runs", file->phase[i].runs);
        sagoi_json_int(json, "messages", file->phase[i].messages);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, '}');
}

/* Prints pairs: sizes up to so many bytes, and the number of calls. */
static void print_sizes(sagoi_json *json, const char *name, const int64_t sizes[]) {
    sagoi_json_open(json, name, '[');
    for (int i = 0; i < SAGOI_RECORD_SIZES; i++)
        if (sizes[i]) {
            sagoi_json_open(json, NULL, '[');
            sagoi_json_int(json, NULL, INT64_C(1) << i);
            sagoi_json_int(json, NULL, sizes[i]);
            sagoi_json_close(json, ']');
        }
    sagoi_json_close(json, ']');
}

static void print_heat(sagoi_json *json, const sagoi_heat *heat) {
    static const char *const names[] = {"read", "write"};
    if (heat->time.used == 0) {
        sagoi_json_text(json, "heat", NULL);
        return;
    }
    sagoi_json_open(json, "heat", '{');
    sagoi_json_fixed(json, "begin", bins_begin(&heat->time), COARSE);
    sagoi_json_fixed(json, "bin_seconds", bin_seconds(&heat->time), COARSE);
    sagoi_json_int(json, "place_bytes", INT64_C(1) << heat->place_shift);
    for (int w = 0; w < 2; w++) {
        sagoi_json_open(json, names[w], '[');
        for (int t = 0; t < heat->time.used; t++) {
            sagoi_json_open(json, NULL, '[');
            for (int i = 0; i < SAGOI_RECORD_PLACES; i++)
                sagoi_json_fixed(json, NULL, heat->cells[t][w][i], 0);
            sagoi_json_close(json, ']');
        }
        sagoi_json_close(json, ']');
    }
    sagoi_json_close(json, '}');
}

static void print_handed(sagoi_json *json, const sagoi_record_file *file) {
    sagoi_json_open(json, "handed", '[');
    for (int i = 0; i < SAGOI_RECORD_NOTES && file->notes[i].text[0]; i++) {
        sagoi_json_open(json, NULL, '{');
        sagoi_json_text(json, "why", file->notes[i].text);
        sagoi_json_int(json, "calls", file->notes[i].once);
        sagoi_json_int(json, "all_ranks", file->notes[i].count);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
}

/* Prints the calls that the MPI library served. */
static void print_passed(sagoi_json *json, const sagoi_record_file *file) {
    static const char *const names[] = {"independent", "collective"};
    sagoi_json_open(json, "by_mpi", '{');
    for (int i = 0; i < 2; i++) {
        sagoi_json_open(json, names[i], '{');
        sagoi_json_int(json, "reads", file->passed[i].calls[0]);
        sagoi_json_int(json, "writes", file->passed[i].calls[1]);
        sagoi_json_int(json, "bytes_read", file->passed[i].bytes[0]);
        sagoi_json_int(json, "bytes_written", file->passed[i].bytes[1]);
        sagoi_json_fixed(json, "seconds", file->passed[i].longest, SECONDS);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, '}');
}

/* Prints the targets that had requests, of a file whose stripes are known. */
static void print_targets(sagoi_json *json, const sagoi_record_file *file) {
    sagoi_json_open(json, "targets", '[');
    for (int i = 0; i < SAGOI_RECORD_TARGETS; i++) {
        const sagoi_record_target *target = &file->targets[i];
        if (target->bytes <= 0)
            continue;
        sagoi_json_open(json, NULL, '{');
        sagoi_json_int(json, "entry", i);
        sagoi_json_int(json, "targets", sagoi_record_target_share(i, file->stripe_count));
        sagoi_json_fixed(json, "bytes", target->bytes, 0);
        sagoi_json_fixed(json, "seconds", target->seconds, SECONDS);
        sagoi_json_int(json, "ranks", target->ranks);
        sagoi_json_fixed(json, "longest", target->longest, SECONDS);
        sagoi_json_int(json, "longest_rank", target->longest_rank);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
}

static void print_storage(sagoi_json *json, const sagoi_record_file *file) {
    sagoi_json_open(json, "storage", '{');
    sagoi_json_text(json, "name", file->storage);
    sagoi_json_int(json, "block", file->block);
    sagoi_json_int(json, "stripe_unit", file->stripe_unit);
    sagoi_json_int(json, "stripe_count", file->stripe_count);
    sagoi_json_close(json, '}');
}

static void print_times(sagoi_json *json, const sagoi_record_file *file) {
    sagoi_json_fixed(json, "io_seconds", file->io_seconds, SECONDS);
    sagoi_json_fixed(json, "read_seconds", file->calls[0], SECONDS);
    sagoi_json_fixed(json, "write_seconds", file->calls[1], SECONDS);
    sagoi_json_open(json, "sizes", '{');
    print_sizes(json, "read", file->sizes[0]);
    print_sizes(json, "write", file->sizes[1]);
    sagoi_json_close(json, '}');
}

static void print_file(sagoi_json *json, const sagoi_record_file *file) {
    int64_t counts[SAGOI_RECORD_COUNT_COUNT];
    counts_of_job(file, counts);
    sagoi_json_open(json, NULL, '{');
    sagoi_json_text(json, "path", file->path);
    print_storage(json, file);
    sagoi_json_int(json, "opens", file->opens);
    sagoi_json_int(json, "ranks", file->ranks);
    sagoi_json_lines(json, "hints", file->hints);
    sagoi_json_lines(json, "plan", file->decision);
    print_counts(json, "job", counts);
    print_counts(json, "all_ranks", file->counts);
    print_routes(json, file);
    print_times(json, file);
    print_phases(json, file);
    print_handed(json, file);
    print_passed(json, file);
    print_targets(json, file);
    print_heat(json, &file->heat);
    sagoi_json_close(json, '}');
}

/* ---- Ranks ---- */

/* Prints whole microseconds, since whole numbers are short. */
static void print_bins(sagoi_json *json, const sagoi_record_row *row) {
    sagoi_json_open(json, "bins", '[');
    for (int b = 0; b < row->time.used; b++) {
        sagoi_json_open(json, NULL, '[');
        for (int i = 0; i < SAGOI_RECORD_PHASES; i++)
            sagoi_json_fixed(json, NULL, 1e6 * row->bins[b][i], 0);
        sagoi_json_close(json, ']');
    }
    sagoi_json_close(json, ']');
}

static void print_row(sagoi_json *json, const sagoi_record *record, int64_t i) {
    const sagoi_record_row *row = record->rows[i];
    sagoi_json_open(json, NULL, '{');
    sagoi_json_int(json, "first_rank", sagoi_record_first_rank(record, i));
    sagoi_json_int(json, "ranks", row->ranks);
    sagoi_json_fixed(json, "least", row->least, SECONDS);
    sagoi_json_fixed(json, "most", row->most, SECONDS);
    sagoi_json_int(json, "bytes_read", row->bytes[0]);
    sagoi_json_int(json, "bytes_written", row->bytes[1]);
    sagoi_json_text(json, "node", row->node);
    sagoi_json_fixed(json, "storage_seconds", row->stored, SECONDS);
    sagoi_json_fixed(json, "storage_bytes", row->stored_bytes, 0);
    sagoi_json_fixed(json, "waited", row->waited, SECONDS);
    sagoi_json_fixed(json, "awaited", record->awaited[i], SECONDS);
    sagoi_json_open(json, "seconds", '[');
    for (int p = 0; p < SAGOI_RECORD_PHASES; p++)
        sagoi_json_fixed(json, NULL, row->seconds[p], SECONDS);
    sagoi_json_close(json, ']');
    print_bins(json, row);
    sagoi_json_close(json, '}');
}

static void print_timeline(sagoi_json *json, const sagoi_record *record) {
    const sagoi_scale *scale = NULL;
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        scale = record->rows[i] && record->rows[i]->time.used ? &record->rows[i]->time : scale;
    sagoi_json_open(json, "timeline", '{');
    sagoi_json_fixed(json, "begin", scale ? bins_begin(scale) : record->begin, COARSE);
    sagoi_json_fixed(json, "bin_seconds", scale ? bin_seconds(scale) : 1, COARSE);
    sagoi_json_open(json, "phases", '[');
    for (int p = 0; p < SAGO_PHASE_COUNT; p++)
        sagoi_json_text(json, NULL, sago_phase_string((sago_phase)p));
    sagoi_json_text(json, NULL, "mpi");
    sagoi_json_close(json, ']');
    sagoi_json_open(json, "rows", '[');
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        if (record->rows[i])
            print_row(json, record, i);
    sagoi_json_close(json, ']');
    sagoi_json_close(json, '}');
}

static void print_span(sagoi_json *json, const sagoi_record *record, const sagoi_record_span *s) {
    sagoi_json_open(json, NULL, '[');
    sagoi_json_int(json, NULL, s->rank);
    sagoi_json_int(json, NULL, s->file);
    sagoi_json_int(json, NULL, s->call);
    sagoi_json_int(json, NULL, s->round);
    sagoi_json_int(json, NULL, s->phase);
    sagoi_json_fixed(json, NULL, s->start - record->begin, SECONDS);
    sagoi_json_fixed(json, NULL, s->seconds, SECONDS);
    sagoi_json_close(json, ']');
}

/* Prints the spans of calls that all ranks have kept. */
static void print_spans(sagoi_json *json, const sagoi_record *record) {
    int32_t stride = 1;
    for (int64_t i = 0; i < record->nspans; i++)
        stride = record->spans[i].stride > stride ? record->spans[i].stride : stride;
    sagoi_json_open(json, "spans", '{');
    sagoi_json_int(json, "every", stride);
    sagoi_json_open(json, "data", '[');
    for (int64_t i = 0; i < record->nspans; i++)
        if (record->spans[i].call % stride == 0)
            print_span(json, record, &record->spans[i]);
    sagoi_json_close(json, ']');
    sagoi_json_close(json, '}');
}

/* ---- The rest ---- */

static void print_nodes(sagoi_json *json, const sagoi_record *record) {
    sagoi_json_open(json, "node_list", '[');
    for (int64_t i = 0; i < record->nnodes; i++) {
        const sagoi_record_node *node = &record->nodes[i];
        sagoi_json_open(json, NULL, '{');
        sagoi_json_text(json, "name", node->name);
        sagoi_json_int(json, "ranks", node->ranks);
        sagoi_json_int(json, "memory_peak", node->peak);
        sagoi_json_int(json, "memory_budget", node->budget);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
}

static void print_steps(sagoi_json *json, const sagoi_record *record) {
    sagoi_json_open(json, "checkpoints", '[');
    for (int64_t i = 0; i < record->nsteps; i++) {
        const sagoi_record_step *s = &record->steps[i];
        sagoi_json_open(json, NULL, '{');
        sagoi_json_int(json, "step", s->step);
        sagoi_json_fixed(json, "date", s->date, COARSE);
        sagoi_json_int(json, "bytes", s->bytes);
        sagoi_json_fixed(json, "held", s->held, SECONDS);
        sagoi_json_fixed(json, "copy", s->copy, SECONDS);
        sagoi_json_fixed(json, "queue", s->queue, SECONDS);
        sagoi_json_fixed(json, "write", s->write, SECONDS);
        sagoi_json_fixed(json, "redundancy", s->redundancy, SECONDS);
        sagoi_json_fixed(json, "drain", s->drain, SECONDS);
        sagoi_json_bool(json, "written", s->written > 0);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
}

static void print_around(sagoi_json *json, const sagoi_record *record) {
    static const char *const names[SAGO_REPORT_AROUND] = {"open", "close", "sync"};
    sagoi_json_open(json, "around", '{');
    for (int i = 0; i < SAGO_REPORT_AROUND; i++) {
        sagoi_json_open(json, names[i], '{');
        sagoi_json_int(json, "calls", record->around[i].calls);
        sagoi_json_fixed(json, "seconds", record->around[i].seconds, SECONDS);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, '}');
}

static void print_verdict(sagoi_json *json, const sagoi_record *record) {
    sagoi_sentence said[SAGOI_VERDICT_MAX];
    int64_t count = sagoi_verdict_of(record, said);
    sagoi_json_open(json, "verdict", '[');
    for (int64_t i = 0; i < count; i++) {
        sagoi_json_open(json, NULL, '{');
        sagoi_json_text(json, "text", said[i].text);
        sagoi_json_text(json, "hint", said[i].hint);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
}

static void print_head(sagoi_json *json, const sagoi_record *record) {
    sagoi_json_text(json, "schema", "sago-report");
    sagoi_json_int(json, "schema_version", SAGOI_REPORT_SCHEMA);
    sagoi_json_text(json, "sago", record->version);
    sagoi_json_text(json, "mpi", record->mpi);
    sagoi_json_text(json, "program", record->program);
    sagoi_json_text(json, "job", record->job);
    sagoi_json_bool(json, "complete", record->complete);
    sagoi_json_int(json, "ranks", record->ranks);
    sagoi_json_int(json, "ranks_recorded", record->seen);
    sagoi_json_int(json, "nodes", record->all_nodes > record->nnodes ? record->all_nodes : record->nnodes);
    sagoi_json_fixed(json, "begin", record->begin, SECONDS);
    sagoi_json_fixed(json, "seconds", record->end - record->begin, SECONDS);
    sagoi_json_fixed(json, "recorded_at", record->date, SECONDS);
    sagoi_json_open(json, "tuned", '{');
    sagoi_json_fixed(json, "stream_bytes_per_second", record->stream, 0);
    sagoi_json_close(json, '}');
}

void sagoi_report_json(FILE *out, sagoi_record *record) {
    sagoi_json json = {.out = out, .lines = 2};
    sagoi_record_align(record);
    sagoi_json_open(&json, NULL, '{');
    print_head(&json, record);
    print_verdict(&json, record);
    print_around(&json, record);
    print_nodes(&json, record);
    sagoi_json_open(&json, "files", '[');
    for (int64_t i = 0; i < record->nfiles; i++)
        print_file(&json, &record->files[i]);
    sagoi_json_close(&json, ']');
    print_timeline(&json, record);
    print_spans(&json, record);
    print_steps(&json, record);
    sagoi_json_close(&json, '}');
}

void sagoi_report_page(FILE *out, const char *const json[], int count) {
    static const char mark[] = "SAGO_REPORT_DATA";
    const char *page = (const char *)sagoi_page_template, *place = strstr(page, mark);
    if (!place)
        return;
    fwrite(page, 1, (size_t)(place - page), out);
    fputc('[', out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? "," : "", json[i]);
    fputc(']', out);
    fputs(place + sizeof mark - 1, out);
}
