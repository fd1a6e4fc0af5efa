/* Accesses through views: drawn at random, made, and compared with the model. */
#ifndef ORACLE_ACCESS_H
#define ORACLE_ACCESS_H

#include "mpi/oracle_run.h"

enum { MAX_RUNS = 20000 };

/* ---- Drawing them ---- */

/* Where in its view a rank starts, and how far it gets. */
static void pick_amount(oracle *o, opart *part) {
    rng *r = &o->r;
    int64_t tile = part->view.filetype->size, units = tile / part->view.etype->size;
    int way = (int)pick(r, 0, 9);
    part->offset = way < 6 ? 0 : pick_skewed(r, 0, way < 8 ? units : 3 * units);
    part->bytes = 0;
    if (tile == 0 || chance(r, 6))
        return;
    way = (int)pick(r, 0, 9);
    if (way < 3)
        part->bytes = tile * pick_skewed(r, 1, 4);
    else if (way < 5)
        part->bytes = pick(r, 1, tile);
    else if (way < 8)
        part->bytes = pick_skewed(r, 1, o->cap / o->size);
    else
        part->bytes = o->cap;
    runs file = {0};
    part_file_runs(part, o->cap, &file);
    part->bytes = file.bytes;
    for (int64_t i = MAX_RUNS; i < file.n; i++) /* more would only take long */
        part->bytes -= file.list[i].len;
    runs_free(&file);
}

/* The shape in the file stays more often than not: it may be one that came before. */
static void pick_buffers(oracle *o, oaccess *what, bool plain) {
    bool exact = chance(&o->r, 60);
    for (int i = 0; i < o->size; i++) {
        if (plain)
            pick_plain_memory(&o->r, &o->a, &what->parts[i], exact);
        else
            pick_memory(&o->r, &o->a, &what->parts[i], exact);
    }
}

/* Marks a part's bytes; false, and nothing marked, if one of them is marked already. */
static bool claim(const oracle *o, unsigned char *claimed, const opart *part) {
    runs file = {0};
    bool mine = true;
    part_file_runs(part, o->cap, &file);
    if (runs_overlap(&file))
        mine = false;
    for (int64_t i = 0; i < file.n && mine; i++)
        mine = memchr(claimed + file.list[i].off, 1, (size_t)file.list[i].len) == NULL;
    for (int64_t i = 0; i < file.n && mine; i++)
        memset(claimed + file.list[i].off, 1, (size_t)file.list[i].len);
    runs_free(&file);
    return mine;
}

static void leave_out(opart *part) { part->bytes = part->count = 0; }

/* Whoever would write what another one writes, or the same byte twice, writes nothing.  `agreed`: only the latter.
 */
static void drop_conflicts(oracle *o, opart *parts[], int64_t n, bool agreed) {
    unsigned char *claimed = calloc(1, (size_t)o->cap + 1);
    int64_t first = pick(&o->r, 0, n - 1);
    for (int64_t k = 0; k < n; k++) {
        if (agreed)
            memset(claimed, 0, (size_t)o->cap);
        opart *part = parts[(first + k) % n];
        if (!claim(o, claimed, part))
            leave_out(part);
    }
    free(claimed);
}

static void drop_access_conflicts(oracle *o, oaccess *what) {
    opart *parts[MAX_RANKS];
    for (int i = 0; i < o->size; i++)
        parts[i] = &what->parts[i];
    drop_conflicts(o, parts, o->size, what->agreed);
}

static pattern_space pick_space(oracle *o, int owners) {
    rng *r = &o->r;
    int64_t low = chance(r, 50) ? 0 : pick_skewed(r, 0, o->cap / 2);
    int64_t span = chance(r, 60) ? o->cap - low : pick(r, 1, o->cap - low);
    return (pattern_space){r, &o->a, owners, low, span};
}

static void fresh_views(oracle *o, oaccess *what) {
    oview views[MAX_RANKS];
    pattern_space space = pick_space(o, o->size);
    what->pattern = pattern_views(&space, views);
    for (int i = 0; i < o->size; i++)
        what->parts[i].view = views[i];
}

static void fresh_amounts(oracle *o, oaccess *what) {
    for (int i = 0; i < o->size; i++)
        pick_amount(o, &what->parts[i]);
    if (chance(&o->r, 15))
        for (int i = 0; i < o->size; i++)
            if (chance(&o->r, 50))
                leave_out(&what->parts[i]);
}

/* A view further on or back, not before the start of the file; the rank is left out if its bytes do not fit then.
 */
static void shift_view(const oracle *o, opart *part, int64_t by) {
    int64_t low = lowest(part->view.filetype);
    part->view.disp += by;
    if (part->view.disp + (low < 0 ? low : 0) < 0)
        part->view.disp = low < 0 ? -low : 0;
    runs file = {0};
    part_file_runs(part, o->cap, &file);
    if (file.bytes < part->bytes)
        leave_out(part);
    runs_free(&file);
}

/* All views by the same distance, or only some of them. */
static void shift_views(oracle *o, oaccess *what) {
    rng *r = &o->r;
    int64_t by = chance(r, 50)   ? 8 * pick(r, -40, 400)
                 : chance(r, 50) ? pick(r, -300, 3000)
                                 : pick(r, -o->cap / 2, o->cap / 2);
    bool all = chance(r, 60);
    for (int i = 0; i < o->size; i++)
        if (all || chance(r, 30))
            shift_view(o, &what->parts[i], by);
}

/* The next access: a new one, or one like the one before.  Returns whether views changed. */
static bool next_access(oracle *o, oaccess *what) {
    rng *r = &o->r;
    int way = o->viewed ? (int)pick(r, 0, 99) : 0;
    if (way < 45) {
        fresh_views(o, what);
        fresh_amounts(o, what);
        return true;
    }
    if (way < 60) {
        fresh_amounts(o, what);
        return false;
    }
    if (way < 75)
        return false; /* the same again */
    if (way < 93) {
        shift_views(o, what);
        return true;
    }
    oaccess other = *what;
    int one = (int)pick(r, 0, o->size - 1);
    fresh_views(o, &other);
    what->parts[one] = other.parts[one];
    pick_amount(o, &what->parts[one]);
    return true;
}

/* ---- Making them ---- */

static MPI_Datatype build(const oracle *o, const otype *type) {
    MPI_Datatype built = otype_build_alone(type);
    if (!otype_agrees(type, built)) {
        printf("FAILED: MPI and the model disagree on ");
        otype_print(type, stdout);
        printf("\n");
        fail(o, NULL);
    }
    return built;
}

static void set_views(oracle *o, const oaccess *what) {
    const oview *view = &what->parts[o->rank].view;
    MPI_Datatype etype = build(o, view->etype), filetype = build(o, view->filetype);
    check_status(o, sago_set_view(o->file, o->base + view->disp, etype, filetype), what);
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
    o->viewed = true;
}

/* One rank's side of an access. */
typedef struct side {
    runs file, memory;
    obuffer buffer;
    MPI_Datatype type;
} side;

static void side_make(const oracle *o, const opart *part, side *mine) {
    content c = content_make(o->noise, o->step, o->rank);
    memset(mine, 0, sizeof *mine);
    part_file_runs(part, o->cap, &mine->file);
    part_memory_runs(part, &mine->memory);
    if (mine->file.bytes != part->bytes || mine->memory.bytes != part->bytes) {
        printf("FAILED: the test itself: %" PRId64 " bytes in the file, %" PRId64 " in memory\n", mine->file.bytes,
               mine->memory.bytes);
        describe_part(part);
        fail(o, NULL);
    }
    obuffer_make(&mine->buffer, &mine->memory, &c);
    mine->type = build(o, part->memory);
}

static void side_free(side *mine) {
    runs_free(&mine->file);
    runs_free(&mine->memory);
    free(mine->buffer.bytes);
    MPI_Type_free(&mine->type);
}

/* A buffer with the same contents. */
static obuffer buffer_copy(const obuffer *from) {
    obuffer copy = *from;
    copy.bytes = malloc((size_t)from->size + 1);
    if (!copy.bytes)
        abort();
    memcpy(copy.bytes, from->bytes, (size_t)from->size);
    return copy;
}

static void model_part(oracle *o, const opart *part, int64_t step, int rank, bool agreed) {
    content c = content_make(o->noise, step, agreed ? 0 : rank);
    runs file = {0}, memory = {0};
    part_file_runs(part, o->cap, &file);
    part_memory_runs(part, &memory);
    if (agreed)
        model_write_agreed(&o->file_model, &file, &c);
    else
        model_write(&o->file_model, &file, &memory, &c);
    runs_free(&file);
    runs_free(&memory);
}

static void write_views(oracle *o, const oaccess *what, bool collective) {
    const opart *part = &what->parts[o->rank];
    side mine;
    MPI_Count bytes = -1;
    if (collective)
        settle_conflicts(o, what);
    remember(o);
    side_make(o, part, &mine);
    if (what->agreed) {
        content c = content_make(o->noise, o->step, 0);
        obuffer_fill_agreed(&mine.buffer, &mine.file, &mine.memory, &c);
    }
    obuffer kept = buffer_copy(&mine.buffer);
    sago_status status = (collective ? sago_write_at_all : sago_write_at)(
        o->file, part->offset, obuffer_base(&mine.buffer), part->count, mine.type, &bytes);
    for (int i = 0; i < o->size; i++) {
        model_part(o, &what->parts[i], o->step, i, what->agreed);
        if (o->defers && collective)
            deferred_mark(o, &what->parts[i], i, what->agreed);
    }
    check_memory(o, what, &mine.buffer, &kept);
    memset(mine.buffer.bytes, 0x77, (size_t)mine.buffer.size); /* it is ours again */
    if (check_written(o, status, what))
        check_bytes(o, what, bytes, part->bytes);
    free(kept.bytes);
    side_free(&mine);
}

static void read_views(oracle *o, const oaccess *what, bool collective) {
    const opart *part = &what->parts[o->rank];
    side mine;
    MPI_Count bytes = -1;
    side_make(o, part, &mine);
    obuffer expected = buffer_copy(&mine.buffer);
    int64_t expected_bytes = model_read(&o->file_model, &mine.file, &mine.memory, &expected);
    sago_status status = (collective ? sago_read_at_all : sago_read_at)(
        o->file, part->offset, obuffer_base(&mine.buffer), part->count, mine.type, &bytes);
    if (collective)
        deferred_clear(o);
    if (succeeded(o, status, what)) {
        check_bytes(o, what, bytes, expected_bytes);
        check_memory(o, what, &mine.buffer, &expected);
    }
    free(expected.bytes);
    side_free(&mine);
}

static int64_t plan_misses(const oracle *o) {
    sago_stats stats = {.size = sizeof stats};
    check_status(o, sago_get_stats(o->file, &stats), NULL);
    return stats.plan_misses;
}

/* With sago_agree ranks may, and need no plan. */
static bool goes_alone(const oracle *o) {
    sago_stats stats = SAGO_STATS_INIT;
    check_status(o, sago_get_stats(o->file, &stats), NULL);
    return stats.separate_calls > 0;
}

/* With sago_agree=enter or turn a rank may return from a collective call while others still move their part.  MPI
 * leaves it open what a call finds that comes without a sync, so the ranks meet before it. */
static void meet_if_early(const oracle *o) {
    if (strstr(o->hints, "sago_agree=enter") || strstr(o->hints, "sago_agree=turn"))
        meet(o->comm);
}

/* A write like the one just before needs no new plan. */
static void check_hit(const oracle *o, int64_t misses_before) {
    if (o->defers || goes_alone(o) || o->no_memory > 0 || strstr(o->hints, "sago_plan_cache=0") ||
        plan_misses(o) == misses_before)
        return;
    printf("FAILED: the same write again: plan misses %" PRId64 ", before %" PRId64 "\n", plan_misses(o),
           misses_before);
    fail(o, &o->now);
}

static void step_views(oracle *o) {
    bool write = may_write(o) && (!may_read(o) || chance(&o->r, o->defers ? 85 : 60));
    bool changed = next_access(o, &o->now);
    note(o, write ? "write_at_all" : "read_at_all");
    o->now.agreed = write && chance(&o->r, 15);
    if (write)
        drop_access_conflicts(o, &o->now);
    if (changed || !o->viewed || chance(&o->r, 10))
        set_views(o, &o->now);
    int64_t again = chance(&o->r, 25) ? pick(&o->r, 1, 3) : 0; /* times */
    pick_buffers(o, &o->now, !write || o->now.agreed);
    for (int64_t k = 0; k <= again; k++) {
        int64_t misses = plan_misses(o);
        if (write)
            write_views(o, &o->now, true);
        else
            read_views(o, &o->now, true);
        if (k > 0 && write)
            check_hit(o, misses);
        meet_if_early(o);
        o->step += k < again;
    }
}

/* Some ranks by themselves, through the views that are set. */
static void step_independent(oracle *o) {
    bool write = may_write(o) && (!may_read(o) || chance(&o->r, 60));
    note(o, write ? "write_at" : "read_at");
    if (!o->viewed) {
        fresh_views(o, &o->now);
        set_views(o, &o->now);
    }
    if (o->shared) /* then nobody can say what a rank by itself finds */
        flush_deferred(o);
    oaccess what = o->now;
    what.pattern = "independent";
    what.agreed = false;
    for (int i = 0; i < o->size; i++) {
        pick_amount(o, &what.parts[i]);
        if (chance(&o->r, 40) || (o->defers && deferred_elsewhere(o, &what.parts[i], i)))
            leave_out(&what.parts[i]);
    }
    if (write)
        drop_access_conflicts(o, &what);
    pick_buffers(o, &what, !write);
    if (write)
        write_views(o, &what, false);
    else
        read_views(o, &what, false);
    meet(o->comm); /* what comes next may not wait */
}

#endif
