/* Declared I/O in the oracle: series of several variables, steps that leave some of them out, writes and reads. */
#ifndef ORACLE_SERIES_H
#define ORACLE_SERIES_H

#include "mpi/oracle_access.h"

enum { MAX_VARS = 6 };

typedef struct declared {
    int64_t nvars;
    oaccess vars[MAX_VARS];         /* at displacement 0 */
    bool used[MAX_VARS][MAX_RANKS]; /* in this step */
    bool again[MAX_VARS];           /* registered twice in this step */
    bool contiguous[MAX_VARS];      /* no filetype */
    int64_t low, high;              /* of all */
    bool reads_only;
    sago_series *series;
    side sides[MAX_VARS]; /* of this rank, in this step */
    bool sided[MAX_VARS];
    obuffer expected[MAX_VARS];
} declared;

/* Variables one after another, each shared by the ranks in some way. */
static void declare_apart(oracle *o, declared *d) {
    pattern_space space = pick_space(o, o->size);
    space.span /= d->nvars;
    for (int64_t v = 0; v < d->nvars; v++) {
        oview views[MAX_RANKS];
        pattern_space own = space;
        own.low = space.low + v * space.span;
        own.span = space.span > 0 ? space.span : 1;
        d->contiguous[v] = chance(&o->r, 25);
        if (d->contiguous[v])
            pattern_blocks(&own, views);
        else
            d->vars[v].pattern = pattern_views(&own, views);
        for (int i = 0; i < o->size; i++) {
            d->vars[v].parts[i].view = views[i];
            d->vars[v].parts[i].view.etype = otype_leaf(&o->a, 1);
            if (d->contiguous[v])
                d->vars[v].parts[i].view.filetype = otype_leaf(&o->a, 1);
        }
    }
}

/* All variables of all ranks mixed. */
static void declare_mixed(oracle *o, declared *d) {
    oview views[MAX_VARS * MAX_RANKS];
    pattern_space space = pick_space(o, (int)d->nvars * o->size);
    (void)pattern_views(&space, views);
    for (int64_t v = 0; v < d->nvars; v++) {
        d->contiguous[v] = false;
        for (int i = 0; i < o->size; i++) {
            d->vars[v].parts[i].view = views[v * o->size + i];
            d->vars[v].parts[i].view.etype = otype_leaf(&o->a, 1);
        }
    }
}

/* How much of a variable a rank has: from the filetype's start on, and no byte twice unless all only read. */
static void declare_amount(const oracle *o, const declared *d, int64_t v, opart *part) {
    int64_t share = o->cap / o->size / d->nvars;
    part->offset = 0;
    if (d->contiguous[v] && part->bytes > share)
        part->bytes = share;
    runs file = {0};
    part_file_runs(part, o->cap, &file);
    part->bytes = may_write(o) && runs_overlap(&file) ? 0 : file.bytes;
    runs_free(&file);
}

static void declare_bounds(const oracle *o, declared *d) {
    d->low = INT64_MAX;
    d->high = 0;
    for (int64_t k = 0; k < d->nvars * o->size; k++) {
        runs file = {0};
        int64_t low, high;
        part_file_runs(&d->vars[k / o->size].parts[k % o->size], o->cap, &file);
        runs_bounds(&file, &low, &high);
        d->low = file.n > 0 && low < d->low ? low : d->low;
        d->high = high > d->high ? high : d->high;
        runs_free(&file);
    }
}

static void declare_amounts(oracle *o, declared *d) {
    opart *parts[MAX_VARS * MAX_RANKS];
    for (int64_t v = 0; v < d->nvars; v++) {
        fresh_amounts(o, &d->vars[v]);
        for (int i = 0; i < o->size; i++) {
            declare_amount(o, d, v, &d->vars[v].parts[i]);
            parts[v * o->size + i] = &d->vars[v].parts[i];
        }
    }
    if (!d->reads_only)
        drop_conflicts(o, parts, d->nvars * o->size, false);
    for (int64_t v = 0; v < d->nvars; v++)
        pick_buffers(o, &d->vars[v], true);
    declare_bounds(o, d);
}

static void declare_call(oracle *o, declared *d) {
    sago_var vars[MAX_VARS];
    for (int64_t v = 0; v < d->nvars; v++) {
        const opart *part = &d->vars[v].parts[o->rank];
        vars[v] = (sago_var)SAGO_VAR_INIT;
        vars[v].offset = o->base + part->view.disp;
        vars[v].count = part->count;
        vars[v].type = build(o, part->memory);
        if (!d->contiguous[v])
            vars[v].filetype = build(o, part->view.filetype);
    }
    sago_status status = sago_declare(o->file, d->nvars, vars, &d->series);
    (void)succeeded(o, status, &d->vars[0]);
    for (int64_t v = 0; v < d->nvars; v++) {
        MPI_Type_free(&vars[v].type);
        if (vars[v].filetype != MPI_DATATYPE_NULL)
            MPI_Type_free(&vars[v].filetype);
    }
}

/* The variable where the step is. */
static opart moved_part(const declared *d, int64_t v, int rank, int64_t disp) {
    opart part = d->vars[v].parts[rank];
    part.view.disp += disp;
    return part;
}

/* Contents differ by variable. */
static int64_t var_step(const oracle *o, int64_t v) { return o->step * MAX_VARS + v + 1000000; }

static void register_buffer(oracle *o, declared *d, int64_t v, const obuffer *buffer, bool write) {
    void *base = obuffer_base(buffer);
    check_status(o, write ? sago_series_write(d->series, v, base) : sago_series_read(d->series, v, base),
                 &d->vars[v]);
}

/* At times another buffer first, which is given up again. */
static void register_var(oracle *o, declared *d, int64_t v, const opart *part, bool write) {
    side *mine = &d->sides[v];
    int64_t step = o->step;
    o->step = var_step(o, v);
    side_make(o, part, mine);
    o->step = step;
    d->sided[v] = true;
    d->expected[v] = buffer_copy(&mine->buffer);
    if (d->again[v]) {
        obuffer other = buffer_copy(&mine->buffer);
        memset(other.bytes, 0x44, (size_t)other.size);
        register_buffer(o, d, v, &other, write);
        register_buffer(o, d, v, &mine->buffer, write);
        free(other.bytes);
    } else {
        register_buffer(o, d, v, &mine->buffer, write);
    }
}

/* Registers this rank's variables in an order of its own; returns the bytes that are to move. */
static int64_t register_vars(oracle *o, declared *d, int64_t disp, bool write) {
    int64_t bytes = 0, first = pick(&o->r, 0, MAX_VARS);
    bool copied = strstr(o->hints, "sago_series_copy=on") != NULL;
    for (int64_t k = 0; k < d->nvars; k++) {
        int64_t v = (k + first + o->rank) % d->nvars;
        if (!d->used[v][o->rank])
            continue;
        opart part = moved_part(d, v, o->rank, disp);
        side *mine = &d->sides[v];
        register_var(o, d, v, &part, write);
        bytes += write ? part.bytes : model_read(&o->file_model, &mine->file, &mine->memory, &d->expected[v]);
        if (write && copied) { /* the buffer is ours again */
            memset(mine->buffer.bytes, 0x33, (size_t)mine->buffer.size);
            memset(d->expected[v].bytes, 0x33, (size_t)mine->buffer.size);
        }
    }
    return bytes;
}

static void check_vars(oracle *o, declared *d, bool compare) {
    for (int64_t v = 0; v < d->nvars; v++) {
        if (!d->sided[v])
            continue;
        if (compare)
            check_memory(o, &d->vars[v], &d->sides[v].buffer, &d->expected[v]);
        free(d->expected[v].bytes);
        side_free(&d->sides[v]);
        d->sided[v] = false;
    }
}

static void declared_step(oracle *o, declared *d, int64_t disp) {
    bool write = !d->reads_only && may_write(o) && (!may_read(o) || chance(&o->r, 60));
    bool all = chance(&o->r, 60);
    MPI_Count bytes = -1;
    remember(o);
    note(o, write ? "series_write" : "series_read");
    for (int64_t v = 0; v < d->nvars; v++) {
        d->again[v] = chance(&o->r, 10) && !strstr(o->hints, "sago_series_parts="); /* it may be on its way */
        for (int i = 0; i < o->size; i++)
            d->used[v][i] = all || chance(&o->r, 60);
    }
    int64_t expected = register_vars(o, d, disp, write);
    sago_status status = sago_series_complete(d->series);
    deferred_clear(o);
    for (int64_t v = 0; v < d->nvars && write; v++)
        for (int i = 0; i < o->size; i++) {
            opart part = moved_part(d, v, i, disp);
            if (d->used[v][i])
                model_part(o, &part, var_step(o, v), i, false);
        }
    bool done = write ? check_written(o, status, &d->vars[0]) : succeeded(o, status, &d->vars[0]);
    check_vars(o, d, done);
    if (!done)
        return;
    check_status(o, sago_series_bytes(d->series, &bytes), NULL);
    check_bytes(o, &d->vars[0], bytes, expected);
}

static void step_series(oracle *o) {
    declared *d = calloc(1, sizeof *d);
    int64_t disp = 0;
    rng *r = &o->r;
    note(o, "declare");
    d->nvars = chance(r, 5) ? 0 : pick(r, 1, MAX_VARS);
    d->reads_only = !may_write(o) || (may_read(o) && chance(r, 15));
    if (d->nvars > 0 && chance(r, 50))
        declare_mixed(o, d);
    else if (d->nvars > 0)
        declare_apart(o, d);
    declare_amounts(o, d);
    declare_call(o, d);
    for (int64_t steps = d->series ? pick(r, 1, 5) : 0; steps > 0; steps--, o->step++) {
        declared_step(o, d, disp);
        if (chance(r, 20)) { /* something else in between */
            o->step++;
            step_views(o);
        }
        if (!chance(r, 70))
            continue;
        disp = d->high == 0 ? pick(r, 0, 1000) : pick_skewed(r, chance(r, 80) ? 0 : -d->low, o->cap - d->high);
        check_status(o, sago_series_next(d->series, disp), NULL);
    }
    if (d->series && chance(r, 80))
        check_status(o, sago_series_free(&d->series), NULL);
    free(d);
}

#endif
