/* `sago ckpt dump`: the numbers of a step as text: statistics of its arrays, or the elements of an array or of
 * a slice.
 *
 * Rank 0 restores the elements, some rows at a time, and the other ranks restore nothing, so memory does not
 * grow with the array. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ckpt.h"
#include "tools/vtk.h"

enum { CHUNK_BYTES = 16 << 20, DIMS = SAGO_CKPT_DIMS_MAX };

/* One array, and the slice of it: in each dimension every step-th index, `count` of them from `first` on. */
typedef struct dump {
    ckpt_command *command;
    int64_t number; /* number of the step */
    sago_ckpt_info info;
    const vtk_type *type;
    int64_t first[DIMS], count[DIMS], step[DIMS];
} dump;

typedef struct statistics {
    int64_t numbers, nans;
    double least, greatest, sum, squares; /* squares: of the differences to the mean so far (Welford) */
} statistics;

static bool refuse(const dump *d, const char *name, const char *why) {
    if (d->command->speaks)
        fprintf(stderr, "sago ckpt dump: %s: %s\n", name, why);
    return false;
}

/* ---- Slices ---- */

/* Reads a number at *text, which moves on; `absent` if there is none.  Negative numbers count from the end. */
static int64_t read_index(const char **text, int64_t length, int64_t absent) {
    char *end;
    int64_t value = strtoll(*text, &end, 10);
    if (end == *text)
        return absent;
    *text = end;
    value = value < 0 ? value + length : value;
    return value < 0 ? 0 : value > length ? length : value;
}

/* Reads "2", "2:10", "2:10:3" or ":" for one dimension; false: it is none of these. */
static bool read_span(const char **text, int64_t length, int64_t *first, int64_t *count, int64_t *step) {
    const char *start = *text;
    *first = read_index(text, length, 0);
    *step = 1;
    if (**text != ':') {
        *count = *first < length;
        return *text != start && *count;
    }
    ++*text;
    int64_t end = read_index(text, length, length);
    if (**text == ':') {
        char *after;
        *step = strtoll(++*text, &after, 10);
        *text = after;
    }
    *count = *step > 0 && end > *first ? (end - *first + *step - 1) / *step : 0;
    return *step > 0;
}

/* Dimensions that are not named are taken as a whole. */
static bool read_slice(dump *d, const char *text) {
    for (int i = 0; i < d->info.ndims; i++) {
        d->count[i] = d->info.global[i];
        d->step[i] = 1;
    }
    for (int i = 0; text && *text; i++) {
        if (i == d->info.ndims || !read_span(&text, d->info.global[i], &d->first[i], &d->count[i], &d->step[i]) ||
            (*text && *text != ','))
            return refuse(d, d->command->slice, "is no slice of this array, as in 0:10,:,3 or 5:100:5");
        text += *text == ',';
    }
    return true;
}

/* ---- Numbers ---- */

static double as_double(const vtk_type *type, const char *at) {
    bool is_signed = type->name[0] == 'i';
    if (type->name[0] == 'f' || type->name[0] == 'c')
        return type->size == 8 ? *(const double *)at : (double)*(const float *)at;
    switch (type->size) {
    case 1:
        return is_signed ? (double)*(const int8_t *)at : (double)*(const uint8_t *)at;
    case 2:
        return is_signed ? (double)*(const int16_t *)at : (double)*(const uint16_t *)at;
    case 4:
        return is_signed ? (double)*(const int32_t *)at : (double)*(const uint32_t *)at;
    default:
        return is_signed ? (double)*(const int64_t *)at : (double)*(const uint64_t *)at;
    }
}

static void print_number(const vtk_type *type, const char *at) {
    if (type->name[0] == 'i' && type->size == 8)
        printf("%" PRId64, *(const int64_t *)at);
    else if (type->name[0] == 'u' && type->size == 8)
        printf("%" PRIu64, *(const uint64_t *)at);
    else
        printf(type->name[0] == 'f' || type->name[0] == 'c' ? (type->size == 8 ? "%.17g" : "%.9g") : "%.0f",
               as_double(type, at));
}

static void print_element(const vtk_type *type, const char *at) {
    print_number(type, at);
    if (type->components == 2) {
        if (as_double(type, at + type->size) >= 0)
            putchar('+');
        print_number(type, at + type->size);
        putchar('i');
    }
}

static void count_number(statistics *s, double value) {
    if (isnan(value)) {
        s->nans++;
        return;
    }
    double before = s->numbers ? s->sum / (double)s->numbers : 0;
    s->least = s->numbers && s->least < value ? s->least : value;
    s->greatest = s->numbers && s->greatest > value ? s->greatest : value;
    s->numbers++;
    s->sum += value;
    s->squares += (value - before) * (value - s->sum / (double)s->numbers);
}

/* ---- Going through it ---- */

enum { PER_LINE = 20 };

/* Prints the elements of one row of the last dimension, several in a line; index[] tells which row. */
static void take_row(const dump *d, const int64_t index[DIMS], const char *row, statistics *s) {
    int last = d->info.ndims - 1;
    bool csv = strcmp(d->command->format, "csv") == 0;
    for (int64_t i = 0; i < d->count[last]; i++) {
        const char *at = row + i * d->step[last] * d->info.element_size;
        for (int c = 0; s && c < d->type->components; c++)
            count_number(s, as_double(d->type, at + c * d->type->size));
        if (s)
            continue;
        if (csv || i % PER_LINE == 0)
            for (int n = 0; n <= last; n++)
                printf("%s%" PRId64 "%s", !csv && n == 0 ? "(" : "",
                       d->first[n] + d->step[n] * (n == last ? i : index[n]), csv || n < last ? "," : ")");
        if (!csv)
            putchar(' ');
        print_element(d->type, at);
        if (csv || i % PER_LINE == PER_LINE - 1 || i == d->count[last] - 1)
            putchar('\n');
    }
}

/* Prints every row that was restored: `rows` rows of the slice's first dimension from `from` on. */
static void take_rows(const dump *d, int64_t from, int64_t rows, const int64_t extent[DIMS], const char *data,
                      statistics *s) {
    int64_t index[DIMS] = {from};
    int n = d->info.ndims;
    if (n == 1) { /* one row that was cut: its first index is the chunk's */
        dump part = *d;
        part.first[0] += from * d->step[0];
        part.count[0] = rows;
        take_row(&part, index, data, s);
        return;
    }
    for (bool more = true; more;) {
        int64_t at = (index[0] - from) * d->step[0];
        for (int i = 1; i < n - 1; i++)
            at = at * extent[i] + index[i] * d->step[i];
        take_row(d, index, data + at * extent[n - 1] * d->info.element_size, s);
        int axis = n - 2;
        while (axis > 0 && ++index[axis] == d->count[axis])
            index[axis--] = 0;
        more = axis > 0 || ++index[0] < from + rows;
    }
}

static sago_status restore(const dump *d, const int64_t start[], const int64_t extent[], char *data) {
    sago_ckpt *ckpt = d->command->ckpt;
    sago_block block = {.start = start, .count = extent, .data = data};
    sago_status status = sago_ckpt_protect(ckpt, d->info.name, d->type->mpi, d->info.ndims, d->info.global,
                                           d->command->rank == 0, &block);
    if (!status)
        status = sago_ckpt_restore(ckpt, d->number);
    if (!status)
        status = sago_ckpt_unprotect(ckpt, d->info.name);
    return status;
}

/* Goes through the slice's first dimension, as many rows at a time as fit a chunk; s: NULL prints the elements. */
static bool walk(const dump *d, statistics *s) {
    int64_t start[DIMS], extent[DIMS], row_bytes = d->info.element_size;
    for (int i = 0; i < d->info.ndims; i++) {
        start[i] = d->first[i];
        extent[i] = d->count[i] ? (d->count[i] - 1) * d->step[i] + 1 : 0;
        if (d->count[i] == 0)
            return true;
        row_bytes *= i ? extent[i] : d->step[0];
    }
    int64_t rows = row_bytes < CHUNK_BYTES ? CHUNK_BYTES / row_bytes : 1;
    rows = rows < d->count[0] ? rows : d->count[0];
    char *data = malloc((size_t)(rows * row_bytes));
    if (!data)
        return refuse(d, d->info.name, "out of memory");
    bool ok = true;
    for (int64_t from = 0; ok && from < d->count[0]; from += rows) {
        int64_t now = from + rows < d->count[0] ? rows : d->count[0] - from;
        start[0] = d->first[0] + from * d->step[0];
        extent[0] = (now - 1) * d->step[0] + 1;
        ok = restore(d, start, extent, data) == SAGO_OK || ckpt_complain(d->command);
        if (ok && d->command->speaks)
            take_rows(d, from, now, extent, data, s);
    }
    free(data);
    return ok;
}

/* ---- The action ---- */

static bool print_statistics(const dump *d) {
    statistics s = {0};
    if (!walk(d, &s))
        return false;
    if (!d->command->speaks)
        return true;
    printf("%-16s %-10s", d->info.name, d->info.type);
    for (int i = 0; i < d->info.ndims; i++)
        printf("%s%" PRId64, i ? " x " : " ", d->count[i]);
    if (s.numbers)
        printf(": min %.9g, max %.9g, mean %.9g, deviation %.9g", s.least, s.greatest, s.sum / (double)s.numbers,
               sqrt(s.squares / (double)s.numbers));
    if (s.nans)
        printf("%s %" PRId64 " not a number", s.numbers ? "," : ":", s.nans);
    putchar('\n');
    return true;
}

/* Names arrays without numbers, so that nobody misses them. */
static bool dump_nothing(const dump *d, const char *name) {
    const char *why = d->info.kind == SAGO_CKPT_LOCAL    ? "bytes of each rank, not an array"
                      : d->info.kind == SAGO_CKPT_SHARED ? "bytes that are the same on all ranks, not an array"
                                                         : "elements of a type without a name, no numbers";
    if (name)
        return refuse(d, name, why);
    if (d->command->speaks)
        printf("%-16s %s\n", d->info.name, why);
    return true;
}

static bool dump_one(ckpt_command *c, int64_t number, const char *name, int64_t index) {
    dump d = {.command = c, .number = number, .info = SAGO_CKPT_INFO_INIT};
    if (name ? sago_ckpt_inquire(c->ckpt, number, name, &d.info)
             : sago_ckpt_inquire_index(c->ckpt, number, index, &d.info))
        return ckpt_complain(c);
    d.type = vtk_type_find(d.info.type);
    if (d.info.kind != SAGO_CKPT_ARRAY || !d.type)
        return dump_nothing(&d, name);
    if (!read_slice(&d, c->slice))
        return false;
    return name && !c->statistics ? walk(&d, NULL) : print_statistics(&d);
}

int ckpt_dump(ckpt_command *c) {
    const sago_ckpt_step *step = c->nsteps > 0 ? ckpt_find(c, c->steps[0]) : ckpt_newest(c);
    bool ok = step != NULL;
    if (!step && c->nsteps == 0 && c->speaks)
        fprintf(stderr, "sago ckpt dump: %s has no complete step\n", c->dir);
    for (int i = 0; ok && i < c->narrays; i++)
        ok = dump_one(c, step->step, c->arrays[i], 0);
    for (int64_t i = 0; ok && c->narrays == 0 && i < step->arrays; i++)
        ok = dump_one(c, step->step, NULL, i);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
