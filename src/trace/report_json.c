/* JSON and page of a record. */
#include "trace/report_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/page.h"

/* ---- Texts ---- */

/* Bytes of a character of UTF-8, or 0: no such. */
static int utf8_length(const unsigned char *at) {
    int length = *at < 0x80                  ? 1
                 : *at >= 0xc2 && *at < 0xe0 ? 2
                 : *at >= 0xe0 && *at < 0xf0 ? 3
                 : *at >= 0xf0 && *at < 0xf5 ? 4
                                             : 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

void sagoi_json_text(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int length = utf8_length(at);
        bool plain = length > 1 || (length == 1 && *at >= ' ' && *at != 0x7f && !strchr("\"\\<>&", *at));
        if (plain)
            fwrite(at, 1, (size_t)length, out);
        else
            fprintf(out, "\\u%04x", *at);
        at += length > 0 ? length : 1;
    }
    fputc('"', out);
}

/* "name": , with a comma before if it is not the first. */
static void key(FILE *out, const char *name) { fprintf(out, ",\n \"%s\": ", name); }

static void key_text(FILE *out, const char *name, const char *text) {
    key(out, name);
    sagoi_json_text(out, text);
}

static void key_int(FILE *out, const char *name, int64_t value) {
    fprintf(out, ",\n \"%s\": %" PRId64, name, value);
}

static void key_seconds(FILE *out, const char *name, double value) {
    fprintf(out, ",\n \"%s\": %.6f", name, isfinite(value) ? value : 0.0);
}

/* The lines of a text, as an array. */
static void print_lines(FILE *out, const char *text) {
    char line[1024];
    bool first = true;
    fputc('[', out);
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)length, at);
        fputs(first ? "" : ", ", out);
        sagoi_json_text(out, line);
        first = false;
        at += length + (at[length] == '\n');
    }
    fputc(']', out);
}

/* ---- Files ---- */

static void print_counts(FILE *out, const char *name, const int64_t counts[]) {
    key(out, name);
    for (int i = 0; i < SAGOI_RECORD_COUNT_COUNT; i++)
        fprintf(out, "%s\"%s\": %" PRId64, i ? ", " : "{", sagoi_record_count_name((sagoi_record_count)i),
                counts[i]);
    fputc('}', out);
}

/* The counts of the job: what ranks do together counts once, what each does by itself is added up. */
static void counts_of_job(const sagoi_record_file *file, int64_t counts[]) {
    static const sagoi_record_count added[] = {SAGOI_COUNT_bytes_written,     SAGOI_COUNT_bytes_read,
                                               SAGOI_COUNT_wire_bytes,        SAGOI_COUNT_metadata_bytes,
                                               SAGOI_COUNT_separate_failures, SAGOI_COUNT_independent_writes,
                                               SAGOI_COUNT_independent_reads};
    memcpy(counts, file->led, sizeof file->led);
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++)
        counts[added[i]] = file->counts[added[i]];
}

static void print_routes(FILE *out, const sagoi_record_file *file) {
    key(out, "routes");
    for (int i = 0; i < SAGO_ROUTE_COUNT; i++)
        fprintf(out, "%s\"%s\": %" PRId64, i ? ", " : "{", sago_route_string((sago_route)i), file->routes[i]);
    fputc('}', out);
}

static void print_phases(FILE *out, const sagoi_record_file *file) {
    key(out, "phases");
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        fprintf(out,
                "%s\"%s\": {\"seconds\": %.6f, \"longest\": %.6f, \"longest_rank\": %" PRId64
                ", \"bytes\": %" PRId64 ", \"runs\": %" PRId64 ", \"messages\": %" PRId64 "}",
                i ? ", " : "{", sago_phase_string((sago_phase)i), file->phase[i].seconds, file->longest[i],
                file->longest_rank[i], file->phase[i].bytes, file->phase[i].runs, file->phase[i].messages);
    fputc('}', out);
}

/* Pairs: up to so many bytes, so many calls. */
static void print_sizes(FILE *out, const char *name, const int64_t sizes[]) {
    bool first = true;
    fprintf(out, "\"%s\": [", name);
    for (int i = 0; i < SAGOI_RECORD_SIZES; i++)
        if (sizes[i]) {
            fprintf(out, "%s[%" PRId64 ", %" PRId64 "]", first ? "" : ", ", INT64_C(1) << i, sizes[i]);
            first = false;
        }
    fputc(']', out);
}

static void print_heat(FILE *out, const sagoi_heat *heat) {
    static const char *const names[] = {"read", "write"};
    key(out, "heat");
    if (heat->time.used == 0) {
        fputs("null", out);
        return;
    }
    fprintf(out, "{\"begin\": %.3f, \"bin_seconds\": %.3f, \"place_bytes\": %" PRId64,
            1e-3 * (double)(heat->time.first << heat->time.shift), 1e-3 * (double)(INT64_C(1) << heat->time.shift),
            INT64_C(1) << heat->place_shift);
    for (int w = 0; w < 2; w++) {
        fprintf(out, ", \"%s\": [", names[w]);
        for (int t = 0; t < heat->time.used; t++)
            for (int i = 0; i < SAGOI_RECORD_PLACES; i++)
                fprintf(out, "%s%.0f", i ? "," : t ? "],[" : "[", heat->cells[t][w][i]);
        fputs("]]", out);
    }
    fputc('}', out);
}

static void print_handed(FILE *out, const sagoi_record_file *file) {
    key(out, "handed");
    fputc('[', out);
    for (int i = 0; i < SAGOI_RECORD_NOTES && file->notes[i].text[0]; i++) {
        fprintf(out, "%s{\"why\": ", i ? ", " : "");
        sagoi_json_text(out, file->notes[i].text);
        fprintf(out, ", \"calls\": %" PRId64 ", \"all_ranks\": %" PRId64 "}", file->notes[i].led,
                file->notes[i].count);
    }
    fputc(']', out);
}

/* The calls that the MPI library served. */
static void print_passed(FILE *out, const sagoi_record_file *file) {
    static const char *const names[] = {"independent", "collective"};
    key(out, "by_mpi");
    for (int i = 0; i < 2; i++)
        fprintf(out,
                "%s\"%s\": {\"reads\": %" PRId64 ", \"writes\": %" PRId64 ", \"bytes_read\": %" PRId64
                ", \"bytes_written\": %" PRId64 ", \"seconds\": %.6f}",
                i ? ", " : "{", names[i], file->passed[i].calls[0], file->passed[i].calls[1],
                file->passed[i].bytes[0], file->passed[i].bytes[1], file->passed[i].longest);
    fputc('}', out);
}

static void print_storage(FILE *out, const sagoi_record_file *file) {
    key(out, "storage");
    fputs("{\"name\": ", out);
    sagoi_json_text(out, file->storage);
    fprintf(out, ", \"block\": %" PRId64 ", \"stripe_unit\": %" PRId64 ", \"stripe_count\": %" PRId64 "}",
            file->block, file->stripe_unit, file->stripe_count);
}

static void print_file(FILE *out, const sagoi_record_file *file) {
    int64_t counts[SAGOI_RECORD_COUNT_COUNT];
    fputs("{\"path\": ", out);
    sagoi_json_text(out, file->path);
    print_storage(out, file);
    key_int(out, "opens", file->opens);
    key_int(out, "ranks", file->ranks);
    key(out, "hints");
    print_lines(out, file->hints);
    key(out, "plan");
    print_lines(out, file->decision);
    counts_of_job(file, counts);
    print_counts(out, "job", counts);
    print_counts(out, "all_ranks", file->counts);
    print_routes(out, file);
    key_seconds(out, "io_seconds", file->io_seconds);
    key_seconds(out, "read_seconds", file->calls[0]);
    key_seconds(out, "write_seconds", file->calls[1]);
    key(out, "sizes");
    fputc('{', out);
    print_sizes(out, "read", file->sizes[0]);
    fputs(", ", out);
    print_sizes(out, "write", file->sizes[1]);
    fputc('}', out);
    print_phases(out, file);
    print_handed(out, file);
    print_passed(out, file);
    print_heat(out, &file->heat);
    fputc('}', out);
}

/* ---- Ranks ---- */

/* Microseconds: whole numbers are short. */
static void print_bins(FILE *out, const sagoi_record_row *row) {
    fputs(", \"bins\": [", out);
    for (int b = 0; b < row->time.used; b++)
        for (int i = 0; i < SAGOI_RECORD_PHASES; i++)
            fprintf(out, "%s%.0f", i ? "," : b ? "],[" : "[", 1e6 * row->bins[b][i]);
    fputs(row->time.used ? "]]" : "]", out);
}

static int64_t first_rank_of(const sagoi_record *record, int64_t row) {
    if (record->ranks <= SAGOI_RECORD_ROWS)
        return row;
    return (row * record->ranks + SAGOI_RECORD_ROWS - 1) / SAGOI_RECORD_ROWS;
}

static void print_row(FILE *out, const sagoi_record *record, int64_t i) {
    const sagoi_record_row *row = record->rows[i];
    fprintf(out, "{\"first_rank\": %" PRId64 ", \"ranks\": %" PRId64 ", \"least\": %.6f, \"most\": %.6f",
            first_rank_of(record, i), row->ranks, row->least, row->most);
    fprintf(out, ", \"bytes_read\": %" PRId64 ", \"bytes_written\": %" PRId64 ", \"seconds\": [", row->bytes[0],
            row->bytes[1]);
    for (int p = 0; p < SAGOI_RECORD_PHASES; p++)
        fprintf(out, "%s%.6f", p ? ", " : "", row->seconds[p]);
    fputc(']', out);
    print_bins(out, row);
    fputc('}', out);
}

static void print_timeline(FILE *out, const sagoi_record *record) {
    const sagoi_scale *scale = NULL;
    bool first = true;
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        scale = record->rows[i] && record->rows[i]->time.used ? &record->rows[i]->time : scale;
    key(out, "timeline");
    fprintf(out, "{\"begin\": %.3f, \"bin_seconds\": %.3f, \"phases\": [",
            scale ? 1e-3 * (double)(scale->first << scale->shift) : record->begin,
            scale ? 1e-3 * (double)(INT64_C(1) << scale->shift) : 1);
    for (int p = 0; p < SAGO_PHASE_COUNT; p++)
        fprintf(out, "\"%s\", ", sago_phase_string((sago_phase)p));
    fputs("\"mpi\"], \"rows\": [", out);
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        if (record->rows[i]) {
            fputs(first ? "\n  " : ",\n  ", out);
            print_row(out, record, i);
            first = false;
        }
    fputs("]}", out);
}

/* [rank, file, call, round, phase, start, seconds]; only calls that all ranks have kept. */
static void print_spans(FILE *out, const sagoi_record *record) {
    int32_t stride = 1;
    bool first = true;
    for (int64_t i = 0; i < record->nspans; i++)
        stride = record->spans[i].stride > stride ? record->spans[i].stride : stride;
    key(out, "spans");
    fprintf(out, "{\"every\": %d, \"data\": [", stride);
    for (int64_t i = 0; i < record->nspans; i++) {
        const sagoi_record_span *s = &record->spans[i];
        if (s->call % stride != 0)
            continue;
        fprintf(out, "%s[%d,%d,%" PRId64 ",%d,%d,%.6f,%.6f]", first ? "" : ",", s->rank, s->file, s->call,
                s->round, s->phase, s->start - record->begin, s->seconds);
        first = false;
    }
    fputs("]}", out);
}

/* ---- The rest ---- */

static void print_nodes(FILE *out, const sagoi_record *record) {
    key(out, "node_list");
    fputc('[', out);
    for (int64_t i = 0; i < record->nnodes; i++) {
        const sagoi_record_node *node = &record->nodes[i];
        fputs(i ? ",\n  {\"name\": " : "{\"name\": ", out);
        sagoi_json_text(out, node->name);
        fprintf(out, ", \"ranks\": %" PRId64 ", \"memory_peak\": %" PRId64 ", \"memory_budget\": %" PRId64 "}",
                node->ranks, node->peak, node->budget);
    }
    fputc(']', out);
}

static void print_steps(FILE *out, const sagoi_record *record) {
    key(out, "checkpoints");
    fputc('[', out);
    for (int64_t i = 0; i < record->nsteps; i++) {
        const sagoi_record_step *s = &record->steps[i];
        fprintf(out,
                "%s{\"step\": %" PRId64 ", \"date\": %.3f, \"bytes\": %" PRId64
                ", \"held\": %.6f, \"copy\": %.6f, \"queue\": %.6f, \"write\": %.6f, \"redundancy\": %.6f, "
                "\"drain\": %.6f, \"written\": %s}",
                i ? ",\n  " : "", s->step, s->date, s->bytes, s->held, s->copy, s->queue, s->write, s->redundancy,
                s->drain, s->written > 0 ? "true" : "false");
    }
    fputc(']', out);
}

static void print_around(FILE *out, const sagoi_record *record) {
    static const char *const names[SAGO_REPORT_AROUND] = {"open", "close", "sync"};
    key(out, "around");
    for (int i = 0; i < SAGO_REPORT_AROUND; i++)
        fprintf(out, "%s\"%s\": {\"calls\": %" PRId64 ", \"seconds\": %.6f}", i ? ", " : "{", names[i],
                record->around[i].calls, record->around[i].seconds);
    fputc('}', out);
}

static void print_verdict(FILE *out, const sagoi_record *record) {
    sagoi_sentence said[SAGOI_VERDICT_MAX];
    int64_t count = sagoi_verdict_of(record, said);
    key(out, "verdict");
    fputc('[', out);
    for (int64_t i = 0; i < count; i++) {
        fputs(i ? ",\n  {\"text\": " : "{\"text\": ", out);
        sagoi_json_text(out, said[i].text);
        fputs(", \"hint\": ", out);
        sagoi_json_text(out, said[i].hint);
        fputc('}', out);
    }
    fputc(']', out);
}

static void print_head(FILE *out, const sagoi_record *record) {
    fprintf(out, "{\"schema\": \"sago-report\",\n \"schema_version\": %d", SAGOI_REPORT_SCHEMA);
    key_text(out, "sago", record->version);
    key_text(out, "mpi", record->mpi);
    key_text(out, "program", record->program);
    key_text(out, "job", record->job);
    key(out, "complete");
    fputs(record->complete ? "true" : "false", out);
    key_int(out, "ranks", record->ranks);
    key_int(out, "ranks_recorded", record->seen);
    key_int(out, "nodes", record->all_nodes > record->nnodes ? record->all_nodes : record->nnodes);
    key_seconds(out, "begin", record->begin);
    key_seconds(out, "seconds", record->end - record->begin);
    key_seconds(out, "recorded_at", record->date);
    key(out, "tuned");
    fprintf(out, "{\"stream_bytes_per_second\": %.0f}", record->stream);
}

void sagoi_report_json(FILE *out, sagoi_record *record) {
    sagoi_record_align(record);
    print_head(out, record);
    print_verdict(out, record);
    print_around(out, record);
    print_nodes(out, record);
    key(out, "files");
    fputc('[', out);
    for (int64_t i = 0; i < record->nfiles; i++) {
        fputs(i ? ",\n" : "", out);
        print_file(out, &record->files[i]);
    }
    fputc(']', out);
    print_timeline(out, record);
    print_spans(out, record);
    print_steps(out, record);
    fputs("}\n", out);
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
