/* RUN: n=1,2,3,4 --seeds 100 */
/* RUN-LONG: n=2,4,6 --seeds 3000 --first 1000 */
/* Random collective programs against a naive model.
 *
 *   test_oracle [--seeds N] [--first S] [--dir PATH] [--patience SECONDS] [--verbose] [KEY=VALUE...]
 *
 * A seed is one file, hints, and a number of steps.  Every rank draws the same random numbers, so every rank knows
 * what all of them do, and what the file and its own memory must hold after each step.  KEY=VALUE is a hint for
 * every file, as is what the environment says (SAGO_MOVE, ...): then that hint is not drawn. */
#include <ctype.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>

#include <sago/sago.h>

#include "mpi/oracle_pattern.h"

enum { MAX_VARS = 6, MAX_HINTS = 24, MAX_RUNS = 20000, BACKGROUND = 0xEE };

typedef struct oaccess {
    const char *pattern;
    bool agreed; /* a write of which every rank knows what comes where: then ranks may overlap */
    opart parts[MAX_RANKS];
} oaccess;

enum { COMMS = 6 };

typedef struct oracle {
    MPI_Comm comms[COMMS]; /* all ranks, in several orders, and some of the ranks */
    MPI_Comm comm;         /* of this seed */
    int rank, size;        /* in it */
    const char *dir;
    bool verbose;
    unsigned patience; /* seconds a step may take */
    int nforced;
    const char *forced[MAX_HINTS]; /* KEY=VALUE of the command line */

    uint64_t seed;
    int64_t step;
    const char *doing;
    rng r;
    arena a;
    unsigned char noise[NOISE];
    int64_t cap;  /* nothing lies beyond, bytes */
    int64_t base; /* where the model's byte 0 is in the file; nothing but a hole before it */
    model file_model;
    unsigned char *found; /* the file as it is; rank 0 */
    char path[4096], hints[1024];
    int amode;
    sago_file *file;
    oaccess now; /* whose views are the file's */
    bool viewed;
    bool small_memory; /* SAGO_ERR_MEMORY may happen */
    sago_stats total;  /* over all files */
    int64_t calls, no_memory;
} oracle;

/* ---- Failing ---- */

static uint64_t hung_seed;
static int64_t hung_step;
static int hung_rank;

static void on_alarm(int signal) {
    char text[200];
    (void)signal;
    int n = snprintf(text, sizeof text, "rank %d: HANGS in seed %" PRIu64 " step %" PRId64 "\n", hung_rank, hung_seed, hung_step);
    if (write(STDOUT_FILENO, text, (size_t)n) < 0)
        _exit(4);
    abort();
}

static void describe_part(const opart *part) {
    printf("  disp %" PRId64 " etype %" PRId64 " offset %" PRId64 " bytes %" PRId64 " filetype ", part->view.disp,
           part->view.etype->size, part->offset, part->bytes);
    otype_print(part->view.filetype, stdout);
    printf("\n  memory %" PRId64 " times ", part->count);
    if (part->memory)
        otype_print(part->memory, stdout);
    printf("\n");
}

static _Noreturn void fail(const oracle *o, const oaccess *what) {
    sago_stats stats = {.size = sizeof stats};
    printf("  in seed %" PRIu64 " step %" PRId64 " (%s) rank %d of %d; base %" PRId64 "; hints: %s\n", o->seed, o->step, o->doing,
           o->rank, o->size, o->base, o->hints);
    if (o->file && sago_get_stats(o->file, &stats) == SAGO_OK)
        printf("  last plan:\n%s\n", stats.decision);
    for (int i = 0; what && i < o->size; i++) {
        printf("  rank %d (%s):\n", i, what->pattern);
        describe_part(&what->parts[i]);
    }
    (void)fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void check_status(const oracle *o, sago_status status, const oaccess *what) {
    if (!status)
        return;
    if (o->rank > 0)
        (void)sleep(1); /* all ranks should be here: one of them tells */
    printf("FAILED: rank %d: status \"%s\": %s\n", o->rank, sago_status_string(status), sago_error_message());
    fail(o, what);
}

static void note(oracle *o, const char *doing) {
    o->doing = doing;
    hung_seed = o->seed;
    hung_step = o->step;
    (void)alarm(o->patience);
    if (o->verbose && o->rank == 0) {
        printf("seed %" PRIu64 " step %" PRId64 ": %s\n", o->seed, o->step, doing);
        (void)fflush(stdout);
    }
}

/* ---- Meeting and comparing ---- */

/* Asleep: there are more ranks than cores. */
static void meet(MPI_Comm comm) {
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(comm, &request);
    for (int tries = 0; !done; tries++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done && tries < 100)
            (void)sched_yield();
        else if (!done)
            (void)usleep(50);
    }
}

/* Is the file what the model says?  Comes back when all know. */
static void check_file(const oracle *o, const oaccess *what) {
    meet(o->comm);
    if (o->rank == 0) {
        int64_t size = file_contents(o->path, o->base, o->found, o->cap), least = size < o->file_model.size ? size : o->file_model.size;
        int64_t at = first_difference(o->found, o->file_model.bytes, least);
        if (at >= 0)
            printf("FAILED: byte %" PRId64 " of the file (of %" PRId64 "): expected %02x, found %02x\n", at, size,
                   o->file_model.bytes[at], o->found[at]);
        if (size != o->file_model.size)
            printf("FAILED: the file has %" PRId64 " bytes, not %" PRId64 "\n", size, o->file_model.size);
        if (at >= 0 || size != o->file_model.size)
            fail(o, what);
    }
    meet(o->comm);
}

static void check_memory(const oracle *o, const oaccess *what, const obuffer *found, const obuffer *expected) {
    int64_t at = first_difference(found->bytes, expected->bytes, found->size);
    if (at < 0)
        return;
    printf("FAILED: byte %" PRId64 " of the buffer: expected %02x, found %02x\n", found->low + at,
           (unsigned char)expected->bytes[at], (unsigned char)found->bytes[at]);
    fail(o, what);
}

static void check_bytes(const oracle *o, const oaccess *what, int64_t found, int64_t expected) {
    if (found == expected)
        return;
    printf("FAILED: %" PRId64 " bytes moved, not %" PRId64 "\n", found, expected);
    fail(o, what);
}

/* ---- What a rank may meet: too little memory, where the hint asked for that ---- */

/* After a write that was refused: every byte is as it was, or as it was to be.  The model takes over what is. */
static void accept_refused_write(oracle *o, const unsigned char *before, int64_t size_before, const oaccess *what) {
    unsigned char *now = malloc((size_t)o->cap);
    int64_t size = 0;
    meet(o->comm);
    if (o->rank == 0) {
        size = file_contents(o->path, o->base, now, o->cap);
        for (int64_t i = 0; i < size && i < o->cap; i++) {
            bool old = now[i] == (i < size_before ? before[i] : 0), new = i < o->file_model.size && now[i] == o->file_model.bytes[i];
            if (!old && !new) {
                printf("FAILED: byte %" PRId64 " after a refused write: %02x, neither old nor new\n", i, now[i]);
                fail(o, what);
            }
        }
    }
    MPI_Bcast(&size, 1, MPI_INT64_T, 0, o->comm);
    MPI_Bcast(now, (int)size, MPI_BYTE, 0, o->comm);
    o->file_model.size = size;
    memcpy(o->file_model.bytes, now, (size_t)size);
    free(now);
    o->no_memory++;
}

/* Was the call refused, on all ranks alike?  Other failures end the test. */
static bool refused(oracle *o, sago_status status, const oaccess *what) {
    o->calls++;
    if (status != SAGO_ERR_MEMORY || !o->small_memory)
        check_status(o, status, what);
    return status != SAGO_OK;
}

/* ---- Random accesses ---- */

static bool may_write(const oracle *o) { return !(o->amode & MPI_MODE_RDONLY); }
static bool may_read(const oracle *o) { return !(o->amode & MPI_MODE_WRONLY); }

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

static void pick_buffers(oracle *o, oaccess *what, bool plain) {
    for (int i = 0; i < o->size; i++) {
        if (plain)
            pick_plain_memory(&o->r, &o->a, &what->parts[i]);
        else
            pick_memory(&o->r, &o->a, &what->parts[i]);
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

/* Whoever would write what another one writes, or the same byte twice, writes nothing.  `agreed`: only the latter. */
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

/* A view further on or back, not before the start of the file; the rank is left out if its bytes do not fit then. */
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
    int64_t by = chance(r, 50) ? 8 * pick(r, -40, 400) : chance(r, 50) ? pick(r, -300, 3000) : pick(r, -o->cap / 2, o->cap / 2);
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

/* ---- Accesses by view ---- */

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
    int64_t size_before = o->file_model.size;
    unsigned char *before = o->small_memory ? malloc((size_t)o->cap) : NULL;
    if (before)
        memcpy(before, o->file_model.bytes, (size_t)size_before);
    side_make(o, part, &mine);
    if (what->agreed) {
        content c = content_make(o->noise, o->step, 0);
        obuffer_fill_agreed(&mine.buffer, &mine.file, &mine.memory, &c);
    }
    obuffer kept = buffer_copy(&mine.buffer);
    sago_status status = (collective ? sago_write_at_all : sago_write_at)(o->file, part->offset, obuffer_base(&mine.buffer),
                                                                          part->count, mine.type, &bytes);
    for (int i = 0; i < o->size; i++)
        model_part(o, &what->parts[i], o->step, i, what->agreed);
    check_memory(o, what, &mine.buffer, &kept);
    if (refused(o, status, what)) {
        accept_refused_write(o, before, size_before, what);
    } else {
        check_bytes(o, what, bytes, part->bytes);
        check_file(o, what);
    }
    free(before);
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
    sago_status status = (collective ? sago_read_at_all : sago_read_at)(o->file, part->offset, obuffer_base(&mine.buffer),
                                                                        part->count, mine.type, &bytes);
    if (refused(o, status, what)) {
        o->no_memory++;
    } else {
        check_bytes(o, what, bytes, expected_bytes);
        check_memory(o, what, &mine.buffer, &expected);
    }
    free(expected.bytes);
    side_free(&mine);
}

static int64_t plan_hits(const oracle *o) {
    sago_stats stats = {.size = sizeof stats};
    check_status(o, sago_get_stats(o->file, &stats), NULL);
    return stats.plan_hits;
}

/* A write like the one just before needs no new plan. */
static void check_hit(const oracle *o, int64_t hits_before) {
    bool nothing = true;
    for (int i = 0; i < o->size; i++)
        nothing = nothing && o->now.parts[i].bytes == 0;
    if (nothing || o->no_memory > 0 || strstr(o->hints, "sago_plan_cache=0") || plan_hits(o) == hits_before + 1)
        return;
    printf("FAILED: the same write again: plan hits %" PRId64 ", before %" PRId64 "\n", plan_hits(o), hits_before);
    fail(o, &o->now);
}

static void step_views(oracle *o) {
    bool write = may_write(o) && (!may_read(o) || chance(&o->r, 60));
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
        int64_t hits = plan_hits(o);
        if (write)
            write_views(o, &o->now, true);
        else
            read_views(o, &o->now, true);
        if (k > 0 && write)
            check_hit(o, hits);
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
    oaccess what = o->now;
    what.pattern = "independent";
    what.agreed = false;
    for (int i = 0; i < o->size; i++) {
        pick_amount(o, &what.parts[i]);
        if (chance(&o->r, 40))
            leave_out(&what.parts[i]);
    }
    if (write)
        drop_access_conflicts(o, &what);
    pick_buffers(o, &what, !write);
    if (write) {
        write_views(o, &what, false);
    } else {
        read_views(o, &what, false);
        meet(o->comm);
    }
}

/* ---- By extents ---- */

/* The extents of one rank as a part: a view of bytes at 0 that has just these runs, in memory one after another. */
static opart extents_part(oracle *o, const run *list, int64_t n) {
    const otype *byte = otype_leaf(&o->a, 1);
    otype *t = otype_new(&o->a, O_HINDEXED, n);
    for (int64_t i = 0; i < n; i++)
        otype_block(t, i, list[i].off, list[i].len, byte);
    t->member[0] = byte;
    (void)otype_finish(t);
    return (opart){{0, byte, t}, 0, t->size, byte, t->size};
}

/* Ascending runs at random, some of them empty. */
static opart random_extents(oracle *o) {
    rng *r = &o->r;
    int64_t n = pick_skewed(r, 0, 200), at = pick_skewed(r, 0, o->cap), done = 0, scale = chance(r, 80) ? 60 : 5000;
    run *list = arena_alloc(&o->a, (n + 1) * (int64_t)sizeof *list);
    for (; done < n; done++) {
        int64_t len = chance(r, 10) ? 0 : pick_skewed(r, 1, scale);
        at += chance(r, 20) ? 0 : pick_skewed(r, 0, scale);
        if (at + len > o->cap)
            break;
        list[done] = (run){at, len};
        at += len;
    }
    return extents_part(o, list, done);
}

static void pick_extents(oracle *o, oaccess *what, bool write) {
    pattern_space space = pick_space(o, o->size);
    deal d = deal_make(&space, 2000);
    run *list = arena_alloc(&o->a, d.cells * (int64_t)sizeof *list);
    what->pattern = "extents";
    for (int i = 0; i < o->size; i++) {
        int64_t n = deal_runs(&d, i, chance(&o->r, 70), list);
        for (int64_t k = 0; k < n; k++)
            list[k].off += space.low;
        what->parts[i] = !write && chance(&o->r, 50) ? random_extents(o) : extents_part(o, list, n);
    }
}

static sago_extent *extents_of(const oracle *o, const opart *part) {
    const otype *t = part->view.filetype;
    sago_extent *list = calloc((size_t)t->n + 1, sizeof *list);
    for (int64_t i = 0; list && i < t->n; i++)
        list[i] = (sago_extent){o->base + t->at[i], t->length[i]};
    return list;
}

static void step_extents(oracle *o) {
    bool write = may_write(o) && (!may_read(o) || chance(&o->r, 60));
    oaccess what = {0};
    MPI_Count bytes = -1;
    note(o, write ? "write_extents_all" : "read_extents_all");
    pick_extents(o, &what, write);
    const opart *part = &what.parts[o->rank];
    sago_extent *list = extents_of(o, part);
    int64_t n = part->view.filetype->n, size_before = o->file_model.size;
    unsigned char *before = malloc((size_t)o->cap);
    memcpy(before, o->file_model.bytes, (size_t)size_before);
    side mine;
    side_make(o, part, &mine);
    obuffer expected = buffer_copy(&mine.buffer);
    int64_t expected_bytes = write ? part->bytes : model_read(&o->file_model, &mine.file, &mine.memory, &expected);
    sago_status status = write ? sago_write_extents_all(o->file, n, list, mine.buffer.bytes)
                               : sago_read_extents_all(o->file, n, list, mine.buffer.bytes, &bytes);
    for (int i = 0; i < o->size && write; i++)
        model_part(o, &what.parts[i], o->step, i, false);
    if (refused(o, status, &what)) {
        if (write)
            accept_refused_write(o, before, size_before, &what);
    } else {
        check_memory(o, &what, &mine.buffer, &expected);
        check_bytes(o, &what, write ? part->bytes : bytes, expected_bytes);
        if (write)
            check_file(o, &what);
    }
    free(expected.bytes);
    free(before);
    free(list);
    side_free(&mine);
}

/* ---- Declared ---- */

typedef struct declared {
    int64_t nvars;
    oaccess vars[MAX_VARS];             /* at displacement 0 */
    bool used[MAX_VARS][MAX_RANKS];    /* in this step */
    bool contiguous[MAX_VARS];         /* no filetype */
    int64_t low, high;                 /* of all */
    bool reads_only;
    sago_series *series;
    side sides[MAX_VARS];              /* of this rank, in this step */
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

static void declare_amounts(oracle *o, declared *d) {
    opart *parts[MAX_VARS * MAX_RANKS];
    for (int64_t v = 0; v < d->nvars; v++) {
        fresh_amounts(o, &d->vars[v]);
        for (int i = 0; i < o->size; i++) {
            opart *part = &d->vars[v].parts[i];
            part->offset = 0;
            if (d->contiguous[v] && part->bytes > o->cap / o->size / d->nvars)
                part->bytes = o->cap / o->size / d->nvars;
            runs file = {0};
            part_file_runs(part, o->cap, &file);
            part->bytes = runs_overlap(&file) ? 0 : file.bytes;
            runs_free(&file);
            parts[v * o->size + i] = part;
        }
    }
    if (!d->reads_only)
        drop_conflicts(o, parts, d->nvars * o->size, false);
    d->low = INT64_MAX;
    d->high = 0;
    for (int64_t v = 0; v < d->nvars; v++) {
        pick_buffers(o, &d->vars[v], true);
        for (int i = 0; i < o->size; i++) {
            runs file = {0};
            int64_t low, high;
            part_file_runs(&d->vars[v].parts[i], o->cap, &file);
            runs_bounds(&file, &low, &high);
            d->low = file.n > 0 && low < d->low ? low : d->low;
            d->high = high > d->high ? high : d->high;
            runs_free(&file);
        }
    }
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
    if (refused(o, status, d->nvars ? &d->vars[0] : NULL))
        o->no_memory++;
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

/* Registers this rank's variables in an order of its own.  Contents differ by variable. */
static int64_t register_vars(oracle *o, declared *d, int64_t disp, bool write) {
    int64_t bytes = 0, first = pick(&o->r, 0, MAX_VARS);
    int64_t step = o->step;
    bool copied = strstr(o->hints, "sago_series_copy=on") != NULL;
    for (int64_t k = 0; k < d->nvars; k++) {
        int64_t v = (k + first + o->rank) % d->nvars;
        if (!d->used[v][o->rank])
            continue;
        opart part = moved_part(d, v, o->rank, disp);
        side *mine = &d->sides[v];
        o->step = step * MAX_VARS + v + 1000000;
        side_make(o, &part, mine);
        d->sided[v] = true;
        d->expected[v] = buffer_copy(&mine->buffer);
        void *buf = obuffer_base(&mine->buffer);
        check_status(o, write ? sago_series_write(d->series, v, buf) : sago_series_read(d->series, v, buf), &d->vars[v]);
        bytes += write ? part.bytes : model_read(&o->file_model, &mine->file, &mine->memory, &d->expected[v]);
        if (write && copied) { /* the buffer is ours again */
            memset(mine->buffer.bytes, 0x33, (size_t)mine->buffer.size);
            memset(d->expected[v].bytes, 0x33, (size_t)mine->buffer.size);
        }
    }
    o->step = step;
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
    int64_t size_before = o->file_model.size;
    unsigned char *before = malloc((size_t)o->cap);
    memcpy(before, o->file_model.bytes, (size_t)size_before);
    note(o, write ? "series_write" : "series_read");
    for (int64_t v = 0; v < d->nvars; v++)
        for (int i = 0; i < o->size; i++)
            d->used[v][i] = all || chance(&o->r, 60);
    int64_t expected = register_vars(o, d, disp, write);
    sago_status status = sago_series_complete(d->series);
    for (int64_t v = 0; v < d->nvars && write; v++)
        for (int i = 0; i < o->size; i++) {
            opart part = moved_part(d, v, i, disp);
            if (d->used[v][i])
                model_part(o, &part, o->step * MAX_VARS + v + 1000000, i, false);
        }
    bool no = refused(o, status, d->nvars ? &d->vars[0] : NULL);
    if (no && write)
        accept_refused_write(o, before, size_before, NULL);
    check_vars(o, d, !no);
    if (!no) {
        check_status(o, sago_series_bytes(d->series, &bytes), NULL);
        check_bytes(o, d->nvars ? &d->vars[0] : NULL, bytes, expected);
        if (write)
            check_file(o, d->nvars ? &d->vars[0] : NULL);
    }
    free(before);
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
        if (!chance(r, 70))
            continue;
        disp = d->high == 0 ? pick(r, 0, 1000) : pick_skewed(r, chance(r, 80) ? 0 : -d->low, o->cap - d->high);
        check_status(o, sago_series_next(d->series, disp), NULL);
    }
    if (d->series && chance(r, 80))
        check_status(o, sago_series_free(&d->series), NULL);
    free(d);
}

/* ---- Sizes, and others who write ---- */

static void step_size(oracle *o) {
    MPI_Offset size = pick(&o->r, 0, o->cap), found = -1;
    if (!may_write(o))
        return;
    note(o, "size");
    meet(o->comm); /* who only read does not wait for others */
    if (o->base > 0 || chance(&o->r, 70)) {
        check_status(o, sago_set_size(o->file, o->base + size), NULL);
        model_resize(&o->file_model, size);
    } else {
        check_status(o, sago_preallocate(o->file, size), NULL);
        model_resize(&o->file_model, size > o->file_model.size ? size : o->file_model.size);
    }
    check_status(o, sago_get_size(o->file, &found), NULL);
    check_bytes(o, NULL, found, o->base + o->file_model.size);
    check_file(o, NULL);
}

/* Another program writes: what follows must show what it wrote. */
static void step_fill(oracle *o) {
    int64_t from = pick(&o->r, 0, o->file_model.size), to = pick(&o->r, from, chance(&o->r, 80) ? o->file_model.size : o->cap);
    note(o, "fill");
    meet(o->comm);
    if (o->rank == 0 && !file_fill(o->path, o->base + from, o->base + to, BACKGROUND)) {
        printf("FAILED: cannot fill %s\n", o->path);
        fail(o, NULL);
    }
    meet(o->comm);
    if (to > o->file_model.size)
        model_resize(&o->file_model, to);
    memset(o->file_model.bytes + from, BACKGROUND, (size_t)(to - from));
}

static void step_sync(oracle *o) {
    note(o, "sync");
    if (may_write(o))
        check_status(o, sago_sync(o->file), NULL);
}

/* ---- Files ---- */

typedef struct hint_choice {
    const char *key, *values; /* separated by blanks */
    int percent;              /* how often it is given */
} hint_choice;

static const hint_choice hint_choices[] = {
    {"sago_strategy", "auto direct mapped aggregated aggregated aggregated", 75},
    {"sago_window", "4K 4K 8K 16K 64K 1M", 60},
    {"sago_aggregators", "1 2 3 4 8", 50},
    {"sago_local_aggregators", "1 2 3", 40},
    {"sago_move", "auto packed packed rma", 50},
    {"sago_merge", "auto on off", 50},
    {"sago_map", "auto on off", 40},
    {"sago_message_size", "64K 64K 1M", 30},
    {"sago_messages", "1 2 3 8", 40},
    {"sago_memory", "1M 2M 4M 8M 32M", 20},
    {"sago_io", "auto posix uring", 40},
    {"sago_direct_io", "on off", 20},
    {"sago_sieve", "on off", 20},
    {"sago_plan_cache", "0 1 2 16", 50},
    {"sago_series_copy", "on off", 30},
};

static bool hint_is_given(const oracle *o, const char *key) {
    char name[64] = "";
    for (size_t i = 0; key[i] && i + 1 < sizeof name; i++)
        name[i] = (char)toupper((unsigned char)key[i]);
    for (int i = 0; i < o->nforced; i++)
        if (strncmp(o->forced[i], key, strlen(key)) == 0 && o->forced[i][strlen(key)] == '=')
            return true;
    return getenv(name) != NULL;
}

static void hint_add(oracle *o, MPI_Info info, const char *key, const char *value) {
    size_t used = strlen(o->hints);
    MPI_Info_set(info, key, value);
    (void)snprintf(o->hints + used, sizeof o->hints - used, "%s%s=%s", used ? " " : "", key, value);
}

/* The `which`-th word, counted round and round. */
static void pick_word(rng *r, const char *words, char *word, size_t room) {
    int count = 1;
    for (const char *at = words; *at; at++)
        count += *at == ' ';
    for (int64_t which = pick(r, 0, count - 1); which > 0; which--)
        words = strchr(words, ' ') + 1;
    (void)snprintf(word, room, "%.*s", (int)strcspn(words, " "), words);
}

static MPI_Info pick_hints(oracle *o) {
    MPI_Info info;
    char word[64];
    MPI_Info_create(&info);
    o->hints[0] = '\0';
    for (size_t i = 0; i < sizeof hint_choices / sizeof *hint_choices; i++) {
        const hint_choice *choice = &hint_choices[i];
        bool given = chance(&o->r, choice->percent);
        pick_word(&o->r, choice->values, word, sizeof word);
        bool tight = strcmp(choice->key, "sago_series_copy") == 0 && o->small_memory; /* copies need not fit */
        if (given && !tight && !hint_is_given(o, choice->key))
            hint_add(o, info, choice->key, word);
        const char *memory = strstr(o->hints, "sago_memory=");
        o->small_memory = memory && strchr("1248", memory[12]) && memory[13] == 'M';
    }
    for (int i = 0; i < o->nforced; i++) {
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(o->forced[i], "="), o->forced[i]);
        hint_add(o, info, word, strchr(o->forced[i], '=') + 1);
    }
    return info;
}

static void open_file(oracle *o) {
    int way = (int)pick(&o->r, 0, 99);
    o->amode = way < 84 ? MPI_MODE_RDWR : way < 92 ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    if (may_write(o) && chance(&o->r, 50))
        o->amode |= MPI_MODE_CREATE;
    MPI_Info info = pick_hints(o);
    note(o, "open");
    check_status(o, sago_open(o->comm, o->path, o->amode, info, &o->file), NULL);
    MPI_Info_free(&info);
    o->viewed = false;
    /* a new file's view */
    const otype *byte = otype_leaf(&o->a, 1);
    for (int i = 0; i < o->size; i++)
        o->now.parts[i] = (opart){{0, byte, byte}, 0, 0, byte, 0};
}

/* Counters that all ranks must have in common. */
static void check_counters(oracle *o, const sago_stats *stats) {
    int64_t mine[6] = {stats->plan_hits,    stats->plan_misses,      stats->direct_calls,
                       stats->mapped_calls, stats->aggregated_calls, stats->collective_writes};
    int64_t first[6];
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, 6, MPI_INT64_T, 0, o->comm);
    if (memcmp(first, mine, sizeof first) != 0) {
        printf("FAILED: counters differ from rank 0's: hits %" PRId64 " %" PRId64 ", misses %" PRId64 " %" PRId64 "\n", mine[0],
               first[0], mine[1], first[1]);
        fail(o, NULL);
    }
}

static void close_file(oracle *o) {
    sago_stats stats = {.size = sizeof stats};
    note(o, "close");
    check_status(o, sago_get_stats(o->file, &stats), NULL);
    check_counters(o, &stats);
    o->total.plan_hits += stats.plan_hits;
    o->total.plan_misses += stats.plan_misses;
    o->total.direct_calls += stats.direct_calls;
    o->total.mapped_calls += stats.mapped_calls;
    o->total.aggregated_calls += stats.aggregated_calls;
    o->total.wire_bytes += stats.wire_bytes;
    check_status(o, sago_close(&o->file), NULL);
    check_file(o, NULL);
}

static void create_file(oracle *o) {
    rng *r = &o->r;
    bool large = chance(r, 4);
    o->base = chance(r, 90) ? 0 : pick(r, INT64_C(1) << 31, INT64_C(1) << 40);
    o->cap = large ? pick(r, 1 << 20, 5 << 20) : pick_skewed(r, 1000, 256 << 10);
    o->file_model.capacity = o->cap;
    o->file_model.size = chance(r, 20) ? 0 : chance(r, 50) ? o->cap : pick(r, 0, o->cap);
    o->file_model.bytes = malloc((size_t)o->cap);
    o->found = malloc((size_t)o->cap);
    if (!o->file_model.bytes || !o->found)
        abort();
    memset(o->file_model.bytes, BACKGROUND, (size_t)o->file_model.size);
    (void)snprintf(o->path, sizeof o->path, "%s/oracle-%" PRIu64, o->dir, o->seed);
    if (o->rank == 0) {
        (void)unlink(o->path);
        if (!file_fill(o->path, o->base, o->base + o->file_model.size, BACKGROUND)) {
            printf("FAILED: cannot make %s\n", o->path);
            fail(o, NULL);
        }
    }
    meet(o->comm);
}

static void remove_file(oracle *o) {
    if (o->rank == 0)
        (void)unlink(o->path);
    free(o->file_model.bytes);
    free(o->found);
    arena_clear(&o->a);
}

static void random_step(oracle *o) {
    int way = (int)pick(&o->r, 0, 99);
    if (way < 52)
        step_views(o);
    else if (way < 62)
        step_extents(o);
    else if (way < 76)
        step_series(o);
    else if (way < 84)
        step_independent(o);
    else if (way < 90)
        step_size(o);
    else if (way < 95)
        step_fill(o);
    else if (way < 97) {
        close_file(o);
        open_file(o);
    } else {
        step_sync(o);
    }
    o->step++;
}

/* Half of the seeds are for all ranks in order; whoever takes no part waits for the next one. */
static bool choose_comm(oracle *o) {
    int64_t which = chance(&o->r, 50) ? 0 : pick(&o->r, 1, COMMS - 1);
    meet(MPI_COMM_WORLD);
    o->comm = o->comms[which];
    if (o->comm == MPI_COMM_NULL)
        return false;
    MPI_Comm_rank(o->comm, &o->rank);
    MPI_Comm_size(o->comm, &o->size);
    return true;
}

static void run_seed(oracle *o, uint64_t seed) {
    o->seed = seed;
    o->step = 0;
    o->r = (rng){seed * 1000003};
    if (!choose_comm(o))
        return;
    for (int i = 0; i < NOISE; i++)
        o->noise[i] = (unsigned char)rng_next(&o->r);
    create_file(o);
    open_file(o);
    for (int64_t n = pick(&o->r, 3, 14); n > 0; n--)
        random_step(o);
    close_file(o);
    remove_file(o);
}

/* ---- Running ---- */

static const char *find_dir(void) {
    static const char *const names[] = {"SAGO_CLUSTER_GLOBAL", "SAGO_TEST_DIR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return getenv(names[i]);
    return ".";
}

/* The same ones in every run: what Sago keeps with a communicator is used by many seeds. */
static void make_comms(oracle *o) {
    rng r = {4711};
    int all, me;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < COMMS; i++) {
        int keys[MAX_RANKS] = {0}, in[MAX_RANKS] = {0};
        for (int k = 0; k < all; k++) {
            keys[k] = i == 0 ? k : i == 1 ? -k : (int)pick(&r, 0, 1000);
            in[k] = i < 3 || chance(&r, 60);
        }
        in[all - 1] = 1;
        MPI_Comm_split(MPI_COMM_WORLD, in[me] ? 0 : MPI_UNDEFINED, keys[me], &o->comms[i]);
    }
}

static void free_comms(oracle *o) {
    for (int i = 0; i < COMMS; i++)
        if (o->comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&o->comms[i]);
}

int main(int argc, char **argv) {
    static oracle o;
    uint64_t seeds = 100, first = 1;
    o.dir = find_dir();
    o.patience = 60;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc)
            seeds = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--first") == 0 && i + 1 < argc)
            first = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc)
            o.dir = argv[++i];
        else if (strcmp(argv[i], "--patience") == 0 && i + 1 < argc)
            o.patience = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--verbose") == 0)
            o.verbose = true;
        else if (strchr(argv[i], '=') && o.nforced < MAX_HINTS)
            o.forced[o.nforced++] = argv[i];
        else
            return 2;
    }
    int all, me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (all > MAX_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Sago is to tell what failed */
    make_comms(&o);
    hung_rank = me;
    (void)signal(SIGALRM, on_alarm);
    double start = MPI_Wtime();
    for (uint64_t seed = first; seed < first + seeds; seed++)
        run_seed(&o, seed);
    (void)alarm(0);
    free_comms(&o);
    if (me == all - 1) /* it takes part in all seeds */
        printf("%" PRIu64 " seeds from %" PRIu64 ", %d ranks, %.1f s: %" PRId64 " calls, %" PRId64 " direct, %" PRId64
               " mapped, %" PRId64 " aggregated, plans %" PRId64 " hit %" PRId64 " missed, %" PRId64
               " refused for memory, %" PRId64 " bytes sent by rank %d\n",
               seeds, first, all, MPI_Wtime() - start, o.calls, o.total.direct_calls, o.total.mapped_calls,
               o.total.aggregated_calls, o.total.plan_hits, o.total.plan_misses, o.no_memory, o.total.wire_bytes, me);
    (void)fflush(stdout);
    MPI_Finalize();
    return 0;
}
