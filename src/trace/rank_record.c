/* The shape of a record: finding entries, adding records up, packing.  recorder.c decides what is recorded, and
 * when. */
#include "trace/rank_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

static const char other_files[] = "(other files)";

const char *sagoi_record_count_name(sagoi_record_count count) {
    static const char *const names[] = {
#define NAME(name) #name,
        SAGOI_RECORD_COUNTS(NAME)
#undef NAME
    };
    return names[count];
}

/* ---- Time ---- */

/* A row of bins with `width` numbers in each. */
typedef struct bins {
    sagoi_scale *scale;
    float *cells;
    int64_t count, width;
} bins;

static void add_bin(const bins *b, int64_t from, int64_t to) {
    if (from == to)
        return;
    for (int64_t i = 0; i < b->width; i++) {
        b->cells[to * b->width + i] += b->cells[from * b->width + i];
        b->cells[from * b->width + i] = 0;
    }
}

static void coarsen(const bins *b) {
    sagoi_scale *scale = b->scale;
    int64_t first = scale->first >> 1, last = (scale->first + scale->used - 1) >> 1;
    for (int64_t i = 0; i < scale->used; i++)
        add_bin(b, i, ((scale->first + i) >> 1) - first);
    *scale = (sagoi_scale){.first = first, .shift = scale->shift + 1, .used = (int32_t)(last - first + 1)};
}

static void move_up(const bins *b, int64_t by) {
    sagoi_scale *scale = b->scale;
    memmove(b->cells + by * b->width, b->cells, (size_t)(scale->used * b->width) * sizeof *b->cells);
    memset(b->cells, 0, (size_t)(by * b->width) * sizeof *b->cells);
    scale->first -= by;
    scale->used += (int32_t)by;
}

/* Makes bins coarser, or adds bins, until both times, in milliseconds, are in the row. */
static void fit(const bins *b, int64_t low, int64_t high) {
    sagoi_scale *scale = b->scale;
    if (scale->used == 0)
        *scale = (sagoi_scale){.first = low >> scale->shift, .shift = scale->shift, .used = 1};
    for (;;) {
        int64_t first = sagoi_min(scale->first, low >> scale->shift);
        int64_t last = sagoi_max(scale->first + scale->used - 1, high >> scale->shift);
        if (last - first < b->count) {
            if (first < scale->first)
                move_up(b, scale->first - first);
            scale->used = (int32_t)(last - first + 1);
            return;
        }
        coarsen(b);
    }
}

/* A stretch of time, which is divided over the bins that it meets, one bin after another. */
typedef struct stretch {
    double from, to; /* milliseconds */
    int64_t bin, last;
    double share; /* part of the stretch that lies in this bin */
} stretch;

static stretch stretch_over(const bins *b, double end, double seconds) {
    double to = end * 1e3, from = to - (seconds > 0 ? seconds * 1e3 : 0);
    fit(b, (int64_t)from, (int64_t)to);
    const sagoi_scale *scale = b->scale;
    return (stretch){.from = from,
                     .to = to,
                     .bin = ((int64_t)from >> scale->shift) - scale->first - 1,
                     .last = ((int64_t)to >> scale->shift) - scale->first,
                     .share = 1};
}

/* Steps to the next bin of the stretch.  Most stretches are short and lie in one bin. */
static bool stretch_next(const bins *b, stretch *at) {
    int64_t first = ((int64_t)at->from >> b->scale->shift) - b->scale->first;
    if (++at->bin > at->last)
        return false;
    if (first == at->last)
        return true;
    double width = (double)(INT64_C(1) << b->scale->shift), begin = (double)(b->scale->first + at->bin) * width;
    double low = at->from > begin ? at->from : begin, high = at->to < begin + width ? at->to : begin + width;
    at->share = (high - low) / (at->to - at->from);
    return true;
}

/* Columns are SAGOI_RECORD_PLACES places for each direction: the column of the same place where places are 1 <<
 * finer times as long. */
static int64_t coarse_column(int64_t column, int64_t finer) {
    int64_t place = column % SAGOI_RECORD_PLACES;
    return column - place + (place >> finer);
}

/* Adds the bins of another row of the same width, whose places are so much finer (0 where columns are no places).
 */
static void add_bins(const bins *to, const bins *from, int64_t finer) {
    const sagoi_scale *scale = from->scale;
    if (scale->used == 0)
        return;
    fit(to, scale->first << scale->shift, ((scale->first + scale->used) << scale->shift) - 1);
    while (to->scale->shift < scale->shift)
        coarsen(to);
    for (int64_t i = 0; i < scale->used; i++) {
        int64_t bin = ((scale->first + i) >> (to->scale->shift - scale->shift)) - to->scale->first;
        for (int64_t j = 0; j < to->width; j++)
            to->cells[bin * to->width + coarse_column(j, finer)] += from->cells[i * from->width + j];
    }
}

static bins bins_of_row(const sagoi_record_row *row) {
    return (bins){(sagoi_scale *)&row->time, (float *)row->bins, SAGOI_RECORD_BINS, SAGOI_RECORD_PHASES};
}

static bins bins_of_heat(const sagoi_heat *heat) {
    return (bins){(sagoi_scale *)&heat->time, (float *)heat->cells, SAGOI_RECORD_TIMES, 2 * SAGOI_RECORD_PLACES};
}

void sagoi_row_add(sagoi_record_row *row, int phase, double end, double seconds) {
    const bins b = bins_of_row(row);
    stretch at = stretch_over(&b, end, seconds);
    row->seconds[phase] += seconds;
    while (stretch_next(&b, &at))
        row->bins[at.bin][phase] += (float)(seconds * at.share);
}

/* ---- Places ---- */

static void coarsen_places(sagoi_heat *heat) {
    for (int t = 0; t < SAGOI_RECORD_TIMES; t++)
        for (int w = 0; w < 2; w++)
            for (int i = 0; i < SAGOI_RECORD_PLACES; i++) {
                float bytes = heat->cells[t][w][i];
                heat->cells[t][w][i] = 0;
                heat->cells[t][w][i / 2] += bytes;
            }
    heat->place_shift++;
}

static void fit_places(sagoi_heat *heat, int64_t high) {
    while (high >> heat->place_shift >= SAGOI_RECORD_PLACES)
        coarsen_places(heat);
}

/* Adds the bytes of a range to the places that the range meets, `density` for each byte. */
static void spread(float *cells, int64_t shift, const int64_t range[2], double density) {
    const int64_t first = range[0] >> shift, last = (range[1] - 1) >> shift;
    const float whole = (float)((double)(INT64_C(1) << shift) * density);
    if (first == last) {
        cells[first] += (float)((double)(range[1] - range[0]) * density);
        return;
    }
    cells[first] += (float)((double)(((first + 1) << shift) - range[0]) * density);
    for (int64_t i = first + 1; i < last; i++)
        cells[i] += whole;
    cells[last] += (float)((double)(range[1] - (last << shift)) * density);
}

void sagoi_heat_add(sagoi_heat *heat, bool write, const int64_t range[2], int64_t bytes, double end,
                    double seconds) {
    const bins b = bins_of_heat(heat);
    if (range[1] <= range[0])
        return;
    fit_places(heat, range[1] - 1);
    stretch at = stretch_over(&b, end, seconds);
    const double density = (double)bytes / (double)(range[1] - range[0]);
    while (stretch_next(&b, &at))
        spread(heat->cells[at.bin][write], heat->place_shift, range, density * at.share);
}

static void add_heat(sagoi_heat *to, const sagoi_heat *more) {
    while (to->place_shift < more->place_shift)
        coarsen_places(to);
    const bins a = bins_of_heat(to), b = bins_of_heat(more);
    add_bins(&a, &b, to->place_shift - more->place_shift);
}

int sagoi_size_bin(int64_t bytes) {
    int bin = bytes <= 1 ? 0 : 64 - __builtin_clzll((unsigned long long)bytes - 1);
    return bin < SAGOI_RECORD_SIZES ? bin : SAGOI_RECORD_SIZES - 1;
}

/* ---- A record ---- */

sagoi_record *sagoi_record_create(int64_t ranks) {
    sagoi_record *record = calloc(1, sizeof *record);
    if (!record)
        return NULL;
    record->ranks = ranks > 0 ? ranks : 1;
    record->files = calloc(SAGOI_RECORD_FILES, sizeof *record->files);
    record->spans = calloc(SAGOI_RECORD_SPANS * SAGOI_RECORD_SHOWN, sizeof *record->spans);
    record->steps = calloc(SAGOI_RECORD_STEPS, sizeof *record->steps);
    record->nodes = calloc(SAGOI_RECORD_NODES, sizeof *record->nodes);
    if (record->files && record->spans && record->steps && record->nodes)
        return record;
    sagoi_record_destroy(record);
    return NULL;
}

void sagoi_record_destroy(sagoi_record *record) {
    if (!record)
        return;
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        free(record->rows[i]);
    free(record->files);
    free(record->spans);
    free(record->steps);
    free(record->nodes);
    free(record);
}

static void set_text(char *to, size_t room, const char *text) {
    size_t length = strnlen(text, room - 1);
    memcpy(to, text, length);
    to[length] = '\0';
}

/* Copies a path; of one that is too long the end is kept, which says more. */
static void set_path(char *to, size_t room, const char *path) {
    size_t length = strlen(path);
    set_text(to, room, length < room ? path : path + length - room + 1);
    for (size_t i = 0; length >= room && i < 3; i++)
        to[i] = '.';
}

sagoi_record_file *sagoi_record_find(sagoi_record *record, const char *path) {
    char wanted[sizeof record->files->path];
    set_path(wanted, sizeof wanted, path);
    for (int64_t i = 0; i < record->nfiles; i++)
        if (strcmp(record->files[i].path, wanted) == 0)
            return &record->files[i];
    if (record->nfiles == SAGOI_RECORD_FILES)
        return &record->files[SAGOI_RECORD_FILES - 1];
    sagoi_record_file *file = &record->files[record->nfiles++];
    set_path(file->path, sizeof file->path, record->nfiles == SAGOI_RECORD_FILES ? other_files : path);
    return file;
}

int64_t sagoi_record_row_number(const sagoi_record *record, int64_t rank) {
    int64_t row = record->ranks <= SAGOI_RECORD_ROWS ? rank : rank * SAGOI_RECORD_ROWS / record->ranks;
    return row >= 0 && row < SAGOI_RECORD_ROWS ? row : -1;
}

int64_t sagoi_record_first_rank(const sagoi_record *record, int64_t row) {
    if (record->ranks <= SAGOI_RECORD_ROWS)
        return row;
    return (row * record->ranks + SAGOI_RECORD_ROWS - 1) / SAGOI_RECORD_ROWS;
}

sagoi_record_row *sagoi_record_row_of(sagoi_record *record, int64_t rank) {
    int64_t i = sagoi_record_row_number(record, rank);
    if (i < 0)
        return NULL;
    if (!record->rows[i])
        record->rows[i] = calloc(1, sizeof *record->rows[i]);
    return record->rows[i];
}

sagoi_record_node *sagoi_record_node_of(sagoi_record *record, const char *name) {
    for (int64_t i = 0; i < record->nnodes; i++)
        if (strncmp(record->nodes[i].name, name, sizeof record->nodes[i].name - 1) == 0)
            return &record->nodes[i];
    if (record->nnodes == SAGOI_RECORD_NODES)
        return NULL;
    sagoi_record_node *node = &record->nodes[record->nnodes++];
    set_text(node->name, sizeof node->name, name);
    return node;
}

int64_t sagoi_record_target_entry(int64_t target, int64_t count) {
    return count <= SAGOI_RECORD_TARGETS ? target : target * SAGOI_RECORD_TARGETS / count;
}

int64_t sagoi_record_target_share(int64_t entry, int64_t count) {
    if (count <= SAGOI_RECORD_TARGETS)
        return entry < count;
    const int64_t n = SAGOI_RECORD_TARGETS;
    return ((entry + 1) * count + n - 1) / n - (entry * count + n - 1) / n;
}

void sagoi_record_note_add(sagoi_record_file *file, const char *text, int64_t count, int64_t once) {
    for (int i = 0; i < SAGOI_RECORD_NOTES; i++) {
        sagoi_record_note *note = &file->notes[i];
        if (note->text[0] && strncmp(note->text, text, sizeof note->text - 1) != 0)
            continue;
        set_text(note->text, sizeof note->text, text);
        note->count += count;
        note->once += once;
        return;
    }
}

/* ---- Adding up ---- */

static void merge_row(sagoi_record_row *to, const sagoi_record_row *from) {
    const bins a = bins_of_row(to), b = bins_of_row(from);
    if (from->ranks > 0 && to->ranks > 0 && strcmp(to->node, from->node) != 0)
        to->node[0] = '\0';
    else if (from->ranks > 0)
        memcpy(to->node, from->node, sizeof to->node);
    if (from->ranks > 0)
        to->least = to->ranks == 0 || from->least < to->least ? from->least : to->least;
    to->most = fmax(to->most, from->most);
    to->ranks += from->ranks;
    to->stored += from->stored;
    to->stored_bytes += from->stored_bytes;
    to->waited += from->waited;
    for (int i = 0; i < SAGOI_RECORD_PHASES; i++)
        to->seconds[i] += from->seconds[i];
    for (int i = 0; i < 2; i++)
        to->bytes[i] += from->bytes[i];
    add_bins(&a, &b, 0);
}

static void merge_texts(sagoi_record_file *to, const sagoi_record_file *from) {
    if (!to->storage[0]) {
        memcpy(to->storage, from->storage, sizeof to->storage);
        to->block = from->block;
        to->stripe_unit = from->stripe_unit;
        to->stripe_count = from->stripe_count;
    }
    if (!to->hints[0])
        memcpy(to->hints, from->hints, sizeof to->hints);
    if (!to->decision[0])
        memcpy(to->decision, from->decision, sizeof to->decision);
    for (int i = 0; i < SAGOI_RECORD_NOTES; i++)
        if (from->notes[i].text[0])
            sagoi_record_note_add(to, from->notes[i].text, from->notes[i].count, from->notes[i].once);
}

static void merge_phases(sagoi_record_file *to, const sagoi_record_file *from) {
    for (int i = 0; i < SAGO_PHASE_COUNT; i++) {
        to->phase[i].seconds += from->phase[i].seconds;
        to->phase[i].bytes += from->phase[i].bytes;
        to->phase[i].runs += from->phase[i].runs;
        to->phase[i].messages += from->phase[i].messages;
        if (from->longest[i] > to->longest[i]) {
            to->longest[i] = from->longest[i];
            to->longest_rank[i] = from->longest_rank[i];
        }
    }
}

static void merge_passed(sagoi_record_passed *to, const sagoi_record_passed *from) {
    for (int w = 0; w < 2; w++) {
        to->calls[w] += from->calls[w];
        to->bytes[w] += from->bytes[w];
    }
    to->longest = fmax(to->longest, from->longest);
}

static void merge_targets(sagoi_record_file *to, const sagoi_record_file *from) {
    for (int i = 0; i < SAGOI_RECORD_TARGETS; i++) {
        sagoi_record_target *sum = &to->targets[i];
        const sagoi_record_target *more = &from->targets[i];
        sum->bytes += more->bytes;
        sum->seconds += more->seconds;
        sum->ranks += more->ranks;
        if (more->longest > sum->longest) {
            sum->longest = more->longest;
            sum->longest_rank = more->longest_rank;
        }
    }
}

static void merge_file(sagoi_record_file *to, const sagoi_record_file *from) {
    merge_texts(to, from);
    merge_phases(to, from);
    to->opens += from->opens;
    to->io_seconds += from->io_seconds;
    to->ranks = sagoi_max(to->ranks, from->ranks);
    for (int i = 0; i < SAGOI_RECORD_COUNT_COUNT; i++) {
        to->counts[i] += from->counts[i];
        to->once[i] += from->once[i];
    }
    for (int i = 0; i < SAGO_ROUTE_COUNT; i++)
        to->routes[i] += from->routes[i];
    for (int w = 0; w < 2; w++) {
        to->calls[w] = fmax(to->calls[w], from->calls[w]);
        for (int i = 0; i < SAGOI_RECORD_SIZES; i++)
            to->sizes[w][i] += from->sizes[w][i];
    }
    for (int together = 0; together < 2; together++)
        merge_passed(&to->passed[together], &from->passed[together]);
    merge_targets(to, from);
    add_heat(&to->heat, &from->heat);
}

/* Are spans of this rank kept?  There is room for some ranks, which are spread evenly over all. */
static bool is_shown(const sagoi_record *record, int64_t rank) {
    int64_t every = (record->ranks + SAGOI_RECORD_SHOWN - 1) / SAGOI_RECORD_SHOWN;
    return rank % every == 0;
}

static void merge_spans(sagoi_record *record, const sagoi_record *more, const int16_t files[]) {
    for (int64_t i = 0; i < more->nspans; i++) {
        const sagoi_record_span *span = &more->spans[i];
        if (record->nspans == (int64_t)SAGOI_RECORD_SPANS * SAGOI_RECORD_SHOWN || !is_shown(record, span->rank))
            continue;
        record->spans[record->nspans] = *span;
        record->spans[record->nspans++].file = files[span->file];
    }
}

static sagoi_record_step *step_of(sagoi_record *record, const sagoi_record_step *wanted) {
    for (int64_t i = 0; i < record->nsteps; i++)
        if (record->steps[i].step == wanted->step)
            return &record->steps[i];
    if (record->nsteps == SAGOI_RECORD_STEPS) {
        memmove(record->steps, record->steps + 1, (SAGOI_RECORD_STEPS - 1) * sizeof *record->steps);
        record->nsteps--;
    }
    sagoi_record_step *step = &record->steps[record->nsteps++];
    *step = (sagoi_record_step){.step = wanted->step, .written = 1};
    return step;
}

void sagoi_record_step_add(sagoi_record *record, const sagoi_record_step *from) {
    sagoi_record_step *to = step_of(record, from);
    to->bytes = sagoi_max(to->bytes, from->bytes);
    to->date = to->date > 0 ? fmin(to->date, from->date) : from->date;
    to->held = fmax(to->held, from->held);
    to->copy = fmax(to->copy, from->copy);
    to->queue = fmax(to->queue, from->queue);
    to->write = fmax(to->write, from->write);
    to->redundancy = fmax(to->redundancy, from->redundancy);
    to->drain = fmax(to->drain, from->drain);
    to->written = from->written < to->written ? from->written : to->written;
    to->level = from->level > to->level ? from->level : to->level;
}

static void merge_node(sagoi_record *record, const sagoi_record_node *from) {
    sagoi_record_node *to = sagoi_record_node_of(record, from->name);
    if (!to)
        return; /* there are too many nodes to name each */
    to->ranks += from->ranks;
    to->peak += from->peak;
    to->budget = sagoi_max(to->budget, from->budget);
}

static double opening_of(const sagoi_record *record) {
    return record->around[SAGO_REPORT_OPEN].seconds + record->around[SAGO_REPORT_CLOSE].seconds;
}

/* The times of opening and closing must be those of one rank: the rank that comes last to the one call waits least
 * in it, and may come first to the other. */
static void merge_around(sagoi_record *record, const sagoi_record *more) {
    if (opening_of(more) > opening_of(record)) {
        record->around[SAGO_REPORT_OPEN] = more->around[SAGO_REPORT_OPEN];
        record->around[SAGO_REPORT_CLOSE] = more->around[SAGO_REPORT_CLOSE];
    }
    if (more->around[SAGO_REPORT_SYNC].seconds > record->around[SAGO_REPORT_SYNC].seconds)
        record->around[SAGO_REPORT_SYNC] = more->around[SAGO_REPORT_SYNC];
}

static void merge_head(sagoi_record *record, const sagoi_record *more) {
    merge_around(record, more);
    record->begin = record->begin == 0 ? more->begin : fmin(record->begin, more->begin);
    record->end = fmax(record->end, more->end);
    record->date = fmax(record->date, more->date);
    record->complete = more->complete && (record->seen == 0 || record->complete);
    record->seen += more->seen;
    record->all_nodes = sagoi_max(record->all_nodes, more->all_nodes);
    record->stream = fmax(record->stream, more->stream);
    if (record->program[0])
        return;
    memcpy(record->program, more->program, sizeof record->program);
    memcpy(record->mpi, more->mpi, sizeof record->mpi);
    memcpy(record->version, more->version, sizeof record->version);
    memcpy(record->job, more->job, sizeof record->job);
    record->run = more->run;
}

bool sagoi_record_merge(sagoi_record *record, const sagoi_record *more) {
    int16_t files[SAGOI_RECORD_FILES] = {0};
    bool whole = true;
    merge_head(record, more);
    for (int64_t i = 0; i < more->nfiles; i++) {
        sagoi_record_file *file = sagoi_record_find(record, more->files[i].path);
        files[i] = (int16_t)(file - record->files);
        merge_file(file, &more->files[i]);
    }
    for (int64_t i = 0; i < SAGOI_RECORD_ROWS; i++) {
        record->awaited[i] += more->awaited[i];
        if (!more->rows[i])
            continue;
        if (!record->rows[i])
            record->rows[i] = calloc(1, sizeof *record->rows[i]);
        whole = whole && record->rows[i];
        if (record->rows[i])
            merge_row(record->rows[i], more->rows[i]);
    }
    merge_spans(record, more, files);
    for (int64_t i = 0; i < more->nsteps; i++)
        sagoi_record_step_add(record, &more->steps[i]);
    for (int64_t i = 0; i < more->nnodes; i++)
        merge_node(record, &more->nodes[i]);
    return whole;
}

void sagoi_record_align(sagoi_record *record) {
    sagoi_record_row all = {0};
    const bins whole = bins_of_row(&all);
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        if (record->rows[i]) {
            const bins row = bins_of_row(record->rows[i]);
            add_bins(&whole, &row, 0);
        }
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        if (record->rows[i]) {
            sagoi_record_row aligned = *record->rows[i];
            const bins from = bins_of_row(record->rows[i]), to = bins_of_row(&aligned);
            memset(aligned.bins, 0, sizeof aligned.bins);
            aligned.time = all.time;
            add_bins(&to, &from, 0);
            *record->rows[i] = aligned;
        }
}

/* ---- Packing ---- */

static const uint64_t magic = UINT64_C(0x3430304f47415352); /* changes with every struct of rank_record.h */

typedef struct packed_head {
    uint64_t magic, bytes;
    sagoi_record record; /* the pointers in it mean nothing */
} packed_head;

/* The parts behind the head, in their order. */
typedef struct part {
    void *at;
    int64_t bytes;
} part;

enum { PARTS = 4 + SAGOI_RECORD_ROWS };

static void list_parts(const sagoi_record *record, part parts[PARTS]) {
    parts[0] = (part){record->files, record->nfiles * (int64_t)sizeof *record->files};
    parts[1] = (part){record->spans, record->nspans * (int64_t)sizeof *record->spans};
    parts[2] = (part){record->steps, record->nsteps * (int64_t)sizeof *record->steps};
    parts[3] = (part){record->nodes, record->nnodes * (int64_t)sizeof *record->nodes};
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        parts[4 + i] = (part){record->rows[i], record->rows[i] ? (int64_t)sizeof *record->rows[i] : 0};
}

static int64_t packed_bytes(const part parts[PARTS]) {
    int64_t bytes = (int64_t)sizeof(packed_head);
    for (int i = 0; i < PARTS; i++)
        bytes += parts[i].bytes;
    return bytes;
}

char *sagoi_record_pack(const sagoi_record *record, int64_t *bytes) {
    part parts[PARTS];
    list_parts(record, parts);
    *bytes = packed_bytes(parts);
    char *packed = malloc((size_t)*bytes), *at = packed;
    if (!packed)
        return NULL;
    packed_head head = {.magic = magic, .bytes = (uint64_t)*bytes, .record = *record};
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].bytes)
            memcpy(at, parts[i].at, (size_t)parts[i].bytes);
        at += parts[i].bytes;
    }
    return packed;
}

static bool is_within(int64_t number, int64_t most) { return number >= 0 && number <= most; }

static bool is_sound(const packed_head *head, int64_t bytes) {
    const sagoi_record *r = &head->record;
    return head->magic == magic && head->bytes <= (uint64_t)bytes && is_within(r->nfiles, SAGOI_RECORD_FILES) &&
           is_within(r->nspans, (int64_t)SAGOI_RECORD_SPANS * SAGOI_RECORD_SHOWN) &&
           is_within(r->nsteps, SAGOI_RECORD_STEPS) && is_within(r->nnodes, SAGOI_RECORD_NODES) && r->ranks > 0;
}

static bool is_scale(const sagoi_scale *scale, int64_t count) {
    return scale->first >= 0 && is_within(scale->shift, 40) && is_within(scale->used, count);
}

static bool are_bins_sound(const sagoi_record *record) {
    bool sound = true;
    for (int64_t i = 0; i < record->nfiles; i++)
        sound = sound && is_scale(&record->files[i].heat.time, SAGOI_RECORD_TIMES) &&
                is_within(record->files[i].heat.place_shift, 62);
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        sound = sound && (!record->rows[i] || is_scale(&record->rows[i]->time, SAGOI_RECORD_BINS));
    return sound;
}

/* Ends all texts, and drops spans that name no file. */
static bool make_sound(sagoi_record *record) {
    record->program[sizeof record->program - 1] = record->mpi[sizeof record->mpi - 1] = '\0';
    record->version[sizeof record->version - 1] = record->job[sizeof record->job - 1] = '\0';
    for (int64_t i = 0; i < record->nfiles; i++) {
        sagoi_record_file *file = &record->files[i];
        file->path[sizeof file->path - 1] = file->storage[sizeof file->storage - 1] = '\0';
        file->hints[sizeof file->hints - 1] = file->decision[sizeof file->decision - 1] = '\0';
        for (int j = 0; j < SAGOI_RECORD_NOTES; j++)
            file->notes[j].text[sizeof file->notes[j].text - 1] = '\0';
    }
    for (int64_t i = 0; i < record->nnodes; i++)
        record->nodes[i].name[sizeof record->nodes[i].name - 1] = '\0';
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++)
        if (record->rows[i])
            record->rows[i]->node[sizeof record->rows[i]->node - 1] = '\0';
    bool sound = are_bins_sound(record);
    for (int64_t i = 0; i < record->nspans; i++)
        sound = sound && record->spans[i].file >= 0 && record->spans[i].file < record->nfiles &&
                is_within(record->spans[i].phase, SAGOI_RECORD_PHASES);
    return sound;
}

/* A copy of the head with memory of its own for all parts. */
static sagoi_record *copy_head(const sagoi_record *head) {
    sagoi_record *record = sagoi_record_create(head->ranks);
    if (!record)
        return NULL;
    sagoi_record own = *record;
    *record = *head;
    record->files = own.files;
    record->spans = own.spans;
    record->steps = own.steps;
    record->nodes = own.nodes;
    bool whole = true;
    for (int i = 0; i < SAGOI_RECORD_ROWS; i++) {
        record->rows[i] = head->rows[i] ? calloc(1, sizeof *record->rows[i]) : NULL;
        whole = whole && (record->rows[i] || !head->rows[i]);
    }
    if (whole)
        return record;
    sagoi_record_destroy(record);
    return NULL;
}

sagoi_record *sagoi_record_unpack(const char *packed, int64_t bytes) {
    packed_head head;
    part parts[PARTS];
    if (bytes < (int64_t)sizeof head)
        return NULL;
    memcpy(&head, packed, sizeof head);
    sagoi_record *record = is_sound(&head, bytes) ? copy_head(&head.record) : NULL;
    if (!record)
        return NULL;
    list_parts(record, parts);
    bool sound = packed_bytes(parts) == (int64_t)head.bytes;
    const char *at = packed + sizeof head;
    for (int i = 0; i < PARTS && sound; i++) {
        if (parts[i].bytes)
            memcpy(parts[i].at, at, (size_t)parts[i].bytes);
        at += parts[i].bytes;
    }
    if (sound && make_sound(record))
        return record;
    sagoi_record_destroy(record);
    return NULL;
}
