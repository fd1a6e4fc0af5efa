/* Options of patterns.  A row tells how an option is read; a pattern's `defaults` tell which rows it has. */
#include "bench/params.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hints.h"
#include "base/size_text.h"

typedef enum { SIZE, COUNT, DIMS, CHOICE } param_kind;

typedef struct param_row {
    const char *name;
    param_kind kind;
    size_t field;
    int64_t low, high;
    const char *choices; /* "a|b|c", in the order of their values */
    const char *help;
} param_row;

#define FIELD(name) offsetof(bench_params, name)
static const param_row rows[] = {
    {"bytes", SIZE, FIELD(bytes), 1, INT64_C(1) << 40, NULL, "bytes a rank"},
    {"block", SIZE, FIELD(block), 1, INT64_C(1) << 30, NULL, "bytes of a block"},
    {"transfer", SIZE, FIELD(transfer), 1, INT64_C(1) << 30, NULL, "bytes of a block in one call"},
    {"segments", COUNT, FIELD(segments), 1, 1 << 24, NULL, "blocks a rank (interleaved)"},
    {"blocks", COUNT, FIELD(blocks), 1, 1 << 24, NULL, "blocks a rank"},
    {"dims", DIMS, FIELD(dims), 1, 1 << 20, NULL, "size of the global array: N or N0xN1xN2, slowest first"},
    {"grid", DIMS, FIELD(grid), 1, 1 << 20, NULL, "ranks along each dimension; 1: as MPI_Dims_create has it"},
    {"steps", COUNT, FIELD(steps), 1, 1 << 16, NULL, "dumps or checkpoints in one repetition"},
    {"particles", COUNT, FIELD(particles), 1, 1 << 28, NULL, "particles a rank"},
    {"side", COUNT, FIELD(side), 1, 256, NULL, "cells along the side of a block"},
    {"variables", COUNT, FIELD(variables), 1, 1000, NULL, "variables of the checkpoint"},
    {"file", CHOICE, FIELD(file), 0, 2, "checkpoint|plotfile|corners", "which of FLASH's files"},
    {"c", COUNT, FIELD(c), 1, 64, NULL, "columns a rank owns in each stripe; 1: runs of 4 bytes"},
    {"runs", COUNT, FIELD(runs), 1, 1 << 27, NULL, "runs a rank, at least"},
    {"length", COUNT, FIELD(length), 1, 1 << 20, NULL, "longest run in bytes"},
    {"cells", COUNT, FIELD(cells), 1, 1 << 24, NULL, "cells of the mesh a rank, at least"},
    {"levels", COUNT, FIELD(levels), 1, 1 << 12, NULL, "vertical levels"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

bool bench_parse_count(const char *text, int64_t *count) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || *text < '0' || *text > '9')
        return false;
    *count = value;
    return true;
}

static const param_row *row_find(const char *name) {
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static int64_t *row_field(const param_row *row, const bench_params *params) {
    return (int64_t *)((char *)params + row->field);
}

static bool parse_choice(const char *choices, const char *text, int64_t *value) {
    size_t length = strlen(text);
    *value = 0;
    for (const char *at = choices; at; at = strchr(at, '|'), (*value)++) {
        at += *at == '|';
        if (length && strncmp(at, text, length) == 0 && (at[length] == '|' || !at[length]))
            return true;
    }
    return false;
}

static bool parse_dims(const char *text, int64_t dims[3]) {
    char copy[64], *rest = copy;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return false;
    int given = 0;
    while (rest && given < 3) {
        char *word = strsep(&rest, "x");
        if (!bench_parse_count(word, &dims[given++]))
            return false;
    }
    if (given == 1)
        dims[1] = dims[2] = dims[0];
    return !rest && given != 2;
}

static bool row_set(const param_row *row, bench_params *params, const char *text) {
    int64_t value[3] = {0}, many = row->kind == DIMS ? 3 : 1;
    bool ok = row->kind == SIZE    ? sagoi_parse_size(text, value)
              : row->kind == COUNT ? bench_parse_count(text, value)
              : row->kind == DIMS  ? parse_dims(text, value)
                                   : parse_choice(row->choices, text, value);
    for (int64_t i = 0; i < many; i++)
        ok = ok && value[i] >= row->low && value[i] <= row->high;
    if (ok)
        memcpy(row_field(row, params), value, (size_t)many * sizeof *value);
    return ok;
}

/* "--c, --runs" of a pattern. */
static void options_of(const bench_pattern *pattern, char *text, size_t capacity) {
    char name[32];
    size_t used = 0;
    for (int64_t i = 0; bench_params_name(pattern, i, name) && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s--%s", i ? ", " : "", name);
}

bool bench_params_set(bench_params *params, const bench_pattern *pattern, const char *name, const char *value,
                      char *why) {
    const param_row *row = row_find(name);
    char mine[32], options[160];
    bool has = false;
    for (int64_t i = 0; bench_params_name(pattern, i, mine); i++)
        has = has || strcmp(mine, name) == 0;
    if (!row || !has) {
        options_of(pattern, options, sizeof options);
        return bench_refuse(why, "%s has no --%s, but %s", pattern->name, name, options);
    }
    if (row_set(row, params, value))
        return true;
    if (row->kind == CHOICE)
        return bench_refuse(why, "--%s %s: must be one of %s", name, value, row->choices);
    if (row->kind == SIZE)
        return bench_refuse(why, "--%s %s: must be a size (4096, 64K, 1G) from %s to %s", name, value,
                            sagoi_size_to_hint(row->low).text, sagoi_size_to_hint(row->high).text);
    return bench_refuse(why, "--%s %s: must be %s from %" PRId64 " to %" PRId64, name, value,
                        row->kind == DIMS ? "N or N0xN1xN2, each" : "a number", row->low, row->high);
}

const char *bench_params_any(int64_t i) { return i >= 0 && i < ROWS ? rows[i].name : NULL; }

const char *bench_params_name(const bench_pattern *pattern, int64_t i, char *name) {
    const char *at = pattern->defaults;
    for (; at && i > 0; i--)
        at = (at = strchr(at, ' ')) ? at + 1 : NULL;
    if (at)
        snprintf(name, 32, "%.*s", (int)strcspn(at, "="), at);
    return at;
}

void bench_params_init(bench_params *params, const bench_pattern *pattern) {
    char name[32], value[32];
    *params = (bench_params){.seed = 1};
    for (int64_t i = 0;; i++) {
        const char *at = bench_params_name(pattern, i, name);
        if (!at)
            return;
        at += strlen(name) + 1;
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at, " "), at);
        if (!row_set(row_find(name), params, value))
            abort(); /* the table of patterns is wrong */
    }
}

void bench_params_format(const bench_params *params, const char *name, char *text, size_t capacity) {
    const param_row *row = row_find(name);
    const int64_t *value = row_field(row, params);
    if (row->kind == DIMS) {
        snprintf(text, capacity, "%" PRId64 "x%" PRId64 "x%" PRId64, value[0], value[1], value[2]);
    } else if (row->kind == CHOICE) {
        const char *at = row->choices;
        for (int64_t i = 0; i < *value; i++)
            at = strchr(at, '|') + 1;
        snprintf(text, capacity, "%.*s", (int)strcspn(at, "|"), at);
    } else {
        snprintf(text, capacity, "%" PRId64, *value);
    }
}

void bench_params_help(FILE *out) {
    for (int i = 0; i < ROWS; i++)
        fprintf(out, "  --%-18s %s%s%s\n", rows[i].name, rows[i].help, rows[i].choices ? ": " : "",
                rows[i].choices ? rows[i].choices : "");
}
