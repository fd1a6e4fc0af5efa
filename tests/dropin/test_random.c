/* RUN: n=1,2,3,4 40 */
/* RUN-LONG: n=2,4,7 1000 */
/* Random programs against a naive model: test_random [SEEDS [FIRST]].
 *
 * A seed is one file and some steps.  Every rank draws the same numbers, so every rank knows what all of them do,
 * and what the file and its own memory must hold after each step.  Views are legal ones: ascending, nothing named
 * twice.  What the MPI library serves is kept to what both libraries get right: independent calls, contiguous
 * views and memory, and no reads past the end.  Without Sago there is nothing to be tested. */
#pragma GCC diagnostic ignored "-Wunused-function" /* of what the oracle offers */
#include "mpi/oracle_pattern.h"

#include "dropin_check.h"

enum { CAP = 20000, STEPS = 12 };

typedef struct call {
    bool write, at, split, independent;
} call;

typedef struct program {
    rng r;
    arena a;
    uint64_t seed;
    int step;
    MPI_File file, alone;
    char path[32];
    model model;
    unsigned char noise[NOISE], found[CAP];
    opart parts[MAX_RANKS];       /* of the step, with the views in force */
    long long pointer[MAX_RANKS]; /* individual file pointers, etypes */
    bool atomic, contiguous;      /* mode; views */
    bool defers;                  /* sago_defer */
    call how;                     /* the step's call */
} program;

static program p;

static void describe(void) {
    const opart *part = &p.parts[rank];
    printf("seed %llu step %d: %s%s%s%s%s; %lld bytes at etype %lld (of %lld bytes), disp %lld, view ",
           (unsigned long long)p.seed, p.step, p.how.write ? "write" : "read", p.how.at ? "_at" : "",
           p.how.independent ? "" : "_all", p.how.split && !p.how.independent ? " split" : "",
           p.atomic ? " atomic" : "", (long long)part->bytes, (long long)part->offset,
           (long long)part->view.etype->size, (long long)part->view.disp);
    otype_print(part->view.filetype, stdout);
    printf(", memory %lld of ", (long long)part->count);
    if (part->memory)
        otype_print(part->memory, stdout);
    printf("\n");
}

#define CHECK_STEP(condition)                                                                                     \
    do {                                                                                                          \
        bool fine = (condition);                                                                                  \
        if (!fine)                                                                                                \
            describe();                                                                                           \
        CHECK(fine &&#condition);                                                                                 \
    } while (0)

/* ---- Views ---- */

/* Legal for MPI, and small enough: two tiles, one after the other. */
static bool view_legal(const oview *view) {
    runs two = {0};
    otype_expand(view->filetype, 0, &two);
    otype_expand(view->filetype, view->filetype->extent, &two);
    bool legal = view->disp >= 0 && view->filetype->size > 0 && view->filetype->size % view->etype->size == 0;
    int64_t end = view->filetype->lower > 0 ? view->filetype->lower : 0; /* no data before the lower bound */
    for (int64_t i = 0; i < two.n; i++) {
        legal = legal && two.list[i].off >= end;
        end = two.list[i].off + two.list[i].len;
    }
    runs_free(&two);
    return legal;
}

static void draw_views(void) {
    pattern_space space = {&p.r, &p.a, ranks, pick_skewed(&p.r, 0, CAP / 4), CAP / 2};
    oview views[MAX_RANKS];
    const char *pattern = pattern_views(&space, views);
    p.contiguous = strcmp(pattern, "blocks") == 0;
    for (int i = 0; i < ranks; i++) {
        bool plain = !view_legal(&views[i]);
        p.parts[i].view = plain ? (oview){0, otype_leaf(&p.a, 1), otype_leaf(&p.a, 1)} : views[i];
        p.pointer[i] = 0;
        p.parts[i].memory = NULL;
    }
}

static MPI_Datatype build(const otype *type) {
    MPI_Datatype built = otype_build_alone(type);
    MPI_Type_commit(&built);
    return built;
}

/* ROMIO refuses some legal types, those with empty blocks for one: where it does, the view is bytes. */
static void replace_refused(void) {
    const oview *view = &p.parts[rank].view;
    MPI_Datatype etype = build(view->etype), filetype = build(view->filetype);
    int refused = MPI_File_set_view(p.alone, view->disp, etype, filetype, "native", MPI_INFO_NULL) != MPI_SUCCESS;
    int all[MAX_RANKS];
    MPI_Allgather(&refused, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        if (all[i])
            p.parts[i].view = (oview){0, otype_leaf(&p.a, 1), otype_leaf(&p.a, 1)};
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
}

static void set_view(void) {
    replace_refused();
    const oview *view = &p.parts[rank].view;
    MPI_Datatype etype = build(view->etype), filetype = build(view->filetype);
    CHECK_STEP(MPI_File_set_view(p.file, view->disp, etype, filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
}

/* ---- Amounts ---- */

/* In whole etypes, within the cap, in memory of any type. */
static void draw_amount(opart *part, int64_t offset, const call *how) {
    int64_t etype = part->view.etype->size, tile = part->view.filetype->size;
    part->offset = offset;
    part->bytes = chance(&p.r, 10)   ? 0
                  : chance(&p.r, 50) ? pick(&p.r, 1, 3 * tile)
                                     : pick_skewed(&p.r, 1, CAP / ranks);
    runs file = {0};
    part_file_runs(part, CAP, &file);
    part->bytes = file.bytes / etype * etype;
    runs_free(&file);
    int64_t bytes = part->bytes;
    if (how->write)
        pick_memory(&p.r, &p.a, part, true);
    else
        pick_plain_memory(&p.r, &p.a, part, true); /* no byte of memory twice */
    if (part->bytes % etype == 0 && !how->independent)
        return;
    part->bytes = part->count = bytes;
    part->memory = otype_leaf(&p.a, 1);
}

/* Whoever would write what another writes, writes nothing. */
static void drop_conflicts(void) {
    unsigned char *claimed = calloc(1, CAP + 1);
    for (int i = 0; i < ranks; i++) {
        runs file = {0};
        bool free_to = true;
        part_file_runs(&p.parts[i], CAP, &file);
        for (int64_t k = 0; k < file.n; k++)
            free_to = free_to && !memchr(claimed + file.list[k].off, 1, (size_t)file.list[k].len);
        for (int64_t k = 0; k < file.n && free_to; k++)
            memset(claimed + file.list[k].off, 1, (size_t)file.list[k].len);
        if (!free_to)
            p.parts[i].bytes = p.parts[i].count = 0;
        runs_free(&file);
    }
    free(claimed);
}

static bool past_the_end(void) {
    bool past = false;
    for (int i = 0; i < ranks; i++) {
        runs file = {0};
        int64_t low, high;
        part_file_runs(&p.parts[i], CAP, &file);
        runs_bounds(&file, &low, &high);
        past = past || high > p.model.size;
        runs_free(&file);
    }
    return past;
}

/* ---- Calls ---- */

static void make_call(const call *how, const opart *part, void *buf, MPI_Datatype type, MPI_Status *status) {
    MPI_Offset at = part->offset;
    int count = (int)part->count;
    MPI_File f = p.file;
    if (how->independent && how->at)
        OK(how->write ? MPI_File_write_at(f, at, buf, count, type, status)
                      : MPI_File_read_at(f, at, buf, count, type, status));
    else if (how->independent)
        OK(how->write ? MPI_File_write(f, buf, count, type, status) : MPI_File_read(f, buf, count, type, status));
    else if (how->split && how->at) {
        OK(how->write ? MPI_File_write_at_all_begin(f, at, buf, count, type)
                      : MPI_File_read_at_all_begin(f, at, buf, count, type));
        OK(how->write ? MPI_File_write_at_all_end(f, buf, status) : MPI_File_read_at_all_end(f, buf, status));
    } else if (how->split) {
        OK(how->write ? MPI_File_write_all_begin(f, buf, count, type)
                      : MPI_File_read_all_begin(f, buf, count, type));
        OK(how->write ? MPI_File_write_all_end(f, buf, status) : MPI_File_read_all_end(f, buf, status));
    } else if (how->at)
        OK(how->write ? MPI_File_write_at_all(f, at, buf, count, type, status)
                      : MPI_File_read_at_all(f, at, buf, count, type, status));
    else
        OK(how->write ? MPI_File_write_all(f, buf, count, type, status)
                      : MPI_File_read_all(f, buf, count, type, status));
}

static void check_model(void) {
    if (p.defers && chance(&p.r, 60))
        return;
    if (p.defers)
        OK(MPI_File_sync(p.file));
    meet();
    if (rank == 0) {
        int64_t size = file_contents(p.path, 0, p.found, CAP);
        int64_t least = size < p.model.size ? size : p.model.size;
        CHECK_STEP(size == p.model.size);
        CHECK_STEP(first_difference(p.found, p.model.bytes, least) < 0);
    }
    meet();
}

/* This rank's call, checked against the model as it was; then the model is what all have written. */
static void run_call(const call *how) {
    const opart *part = &p.parts[rank];
    runs file = {0}, memory = {0};
    content c = content_make(p.noise, p.step, rank);
    obuffer buffer, right;
    MPI_Status status;
    MPI_Count moved = -1;
    part_file_runs(part, CAP, &file);
    part_memory_runs(part, &memory);
    obuffer_make(&buffer, &memory, &c);
    obuffer_make(&right, &memory, &c);
    int64_t bytes = how->write ? part->bytes : model_read(&p.model, &file, &memory, &right);
    MPI_Datatype type = build(part->memory);
    make_call(how, part, obuffer_base(&buffer), type, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &moved);
    CHECK_STEP(moved == bytes);
    CHECK_STEP(first_difference(buffer.bytes, right.bytes, buffer.size) < 0);
    MPI_Type_free(&type);
    runs_free(&file);
    runs_free(&memory);
    free(buffer.bytes);
    free(right.bytes);
}

static void model_all(void) {
    for (int i = 0; i < ranks; i++) {
        runs file = {0}, memory = {0};
        content c = content_make(p.noise, p.step, i);
        part_file_runs(&p.parts[i], CAP, &file);
        part_memory_runs(&p.parts[i], &memory);
        model_write(&p.model, &file, &memory, &c);
        runs_free(&file);
        runs_free(&memory);
    }
}

static void step_access(void) {
    call how = {chance(&p.r, 55), chance(&p.r, 50), chance(&p.r, 25), chance(&p.r, 20) || p.atomic};
    p.how = how;
    if (how.independent && !p.contiguous)
        return;
    if (how.independent && p.defers) /* other ranks' data may have to be there */
        OK(MPI_File_sync(p.file));
    for (int i = 0; i < ranks; i++) {
        opart *part = &p.parts[i];
        int64_t units = part->view.filetype->size / part->view.etype->size;
        draw_amount(part, how.at ? pick_skewed(&p.r, 0, 2 * units) : p.pointer[i], &how);
        if (how.independent && chance(&p.r, 50))
            part->bytes = part->count = 0;
    }
    if (how.write)
        drop_conflicts();
    else if (how.independent && past_the_end())
        return;
    run_call(&how);
    if (how.write)
        model_all();
    for (int i = 0; i < ranks && !how.at; i++)
        p.pointer[i] += p.parts[i].bytes / p.parts[i].view.etype->size;
    MPI_Offset at = -1;
    OK(MPI_File_get_position(p.file, &at));
    CHECK_STEP(at == p.pointer[rank]);
    if (how.write)
        check_model();
}

static void step(void) {
    int way = (int)pick(&p.r, 0, 99);
    if (way < 25) {
        draw_views();
        set_view();
    } else if (way < 30) {
        int64_t size = pick(&p.r, 0, CAP);
        meet();
        OK(MPI_File_set_size(p.file, size));
        model_resize(&p.model, size);
        check_model();
    } else if (way < 35) {
        p.atomic = !p.atomic;
        OK(MPI_File_set_atomicity(p.file, p.atomic));
    } else if (way < 40) {
        for (int i = 0; i < ranks; i++)
            p.pointer[i] = pick_skewed(&p.r, 0, 50);
        OK(MPI_File_seek(p.file, p.pointer[rank], MPI_SEEK_SET));
    } else {
        step_access();
    }
}

static MPI_File open_seed(void) {
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_defer", p.defers ? "on" : "off");
    OK(MPI_File_open(MPI_COMM_WORLD, p.path, MODE_NEW, info, &file));
    MPI_Info_free(&info);
    return file;
}

static void run_seed(uint64_t seed) {
    static unsigned char bytes[CAP];
    p.seed = seed;
    p.r.state = seed * 7919;
    p.model = (model){bytes, 0, CAP};
    p.atomic = false;
    for (int i = 0; i < NOISE; i++)
        p.noise[i] = (unsigned char)rng_next(&p.r);
    (void)snprintf(p.path, sizeof p.path, "seed-%llu", (unsigned long long)seed);
    p.defers = chance(&p.r, 50);
    p.file = open_seed();
    draw_views();
    set_view();
    for (p.step = 0; p.step < STEPS; p.step++)
        step();
    OK(MPI_File_close(&p.file));
    p.defers = false;
    check_model();
    arena_clear(&p.a);
    meet();
    if (rank == 0)
        (void)unlink(p.path);
    meet();
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    long long seeds = PLAIN ? 0 : argc > 1 ? atoll(argv[1]) : 20, first = argc > 2 ? atoll(argv[2]) : 1;
    expect_stat("atomic", -1);
    int failed = 0;
    char name[32];
    (void)snprintf(name, sizeof name, "alone-%d", rank);
    p.alone = open_in(MPI_COMM_SELF, name, MODE_NEW);
    for (long long i = 0; i < seeds && !failed; i++) {
        run_seed((uint64_t)(first + i));
        MPI_Allreduce(&failures, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&p.alone));
    return check_end();
}
