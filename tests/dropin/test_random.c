/* RUN: n=1,2,3,4 40 */
/* RUN-LONG: n=2,4,7 1000 */
/* Random programs against a naive model: test_random [SEEDS [FIRST]].
 *
 * A seed is one file and some steps.  Every rank draws the same numbers, so every rank knows what all of them do,
 * and what the file and its own memory must hold after each step.  Views are legal ones: ascending, nothing named
 * twice.  What the MPI library serves is kept to what both libraries get right: independent calls (with MPICH
 * collective ones in atomic mode, too), contiguous views and memory, and past the end only independent writes:
 * collective ones leave whatever was in ROMIO's buffer in the holes.  Without Sago there is nothing to be tested.
 */
#pragma GCC diagnostic ignored "-Wunused-function" /* of what the oracle offers */
#include "mpi/oracle_pattern.h"

#include "dropin_check.h"

enum { CAP = 20000, STEPS = 12 };

typedef enum { AT_ONCE, SPLIT, STARTED } manner;

typedef struct call {
    bool write, at, independent;
    manner manner; /* of a collective call */
    bool bottom;   /* memory by its addresses, from MPI_BOTTOM */
    bool handed;   /* to the MPI library */
    bool crossed;  /* started, and one rank waits before it lets the others */
    int first;     /* that rank */
} call;

/* What a call is given. */
typedef struct arguments {
    MPI_Offset at;
    void *buf;
    int count;
    MPI_Datatype type;
} arguments;

typedef struct program {
    rng r;
    arena a;
    uint64_t seed;
    int step;
    MPI_File file, alone;
    char path[32];
    model model;
    unsigned char noise[NOISE], found[CAP];
    unsigned char writer[CAP];    /* of each byte since the last sync: 1 + its rank, or 0 */
    int64_t synced;               /* the file's size then */
    opart parts[MAX_RANKS];       /* of the step, with the views in force */
    long long pointer[MAX_RANKS]; /* individual file pointers, etypes */
    int amode;
    bool atomic, contiguous; /* mode; views */
    bool same;               /* all ranks' view is the one that a file is opened with */
    bool defers;             /* sago_defer */
    call how;                /* the step's call */
} program;

static program p;

static void describe(void) {
    const opart *part = &p.parts[rank];
    printf("seed %llu step %d: %s%s%s%s%s%s; %lld bytes at etype %lld (of %lld bytes), disp %lld, view ",
           (unsigned long long)p.seed, p.step, p.how.write ? "write" : "read", p.how.at ? "_at" : "",
           p.how.independent ? "" : "_all",
           p.how.independent ? "" : (const char *[]){"", " split", " started"}[p.how.manner],
           p.how.bottom ? " from MPI_BOTTOM" : "", p.atomic ? " atomic" : "", (long long)part->bytes,
           (long long)part->offset, (long long)part->view.etype->size, (long long)part->view.disp);
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
    p.same = false;
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

/* Resized with a lower bound other than 0, which ROMIO takes for a distance?  As a struct always is here. */
static bool is_rebased(const otype *type) {
    bool rebased = (type->kind == O_RESIZED || type->kind == O_STRUCT) && type->lower != 0;
    for (int64_t i = 0; i < type->n && !rebased; i++)
        rebased = type->member[i] && is_rebased(type->member[i]);
    return rebased;
}

/* ROMIO refuses some legal types, those with empty blocks for one, and misreads some: where it does, the view is
 * bytes. */
static void replace_refused(void) {
    const oview *view = &p.parts[rank].view;
    MPI_Datatype etype = build(view->etype), filetype = build(view->filetype);
    int refused = (!OPENMPI && is_rebased(view->filetype)) ||
                  MPI_File_set_view(p.alone, view->disp, etype, filetype, "native", MPI_INFO_NULL) != MPI_SUCCESS;
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
    if (part->bytes % etype == 0 && !how->handed)
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

static void call_alone(const call *how, const arguments *a, MPI_Status *status) {
    MPI_File f = p.file;
    if (how->at)
        OK(how->write ? MPI_File_write_at(f, a->at, a->buf, a->count, a->type, status)
                      : MPI_File_read_at(f, a->at, a->buf, a->count, a->type, status));
    else
        OK(how->write ? MPI_File_write(f, a->buf, a->count, a->type, status)
                      : MPI_File_read(f, a->buf, a->count, a->type, status));
}

static void call_split(const call *how, const arguments *a, MPI_Status *status) {
    MPI_File f = p.file;
    if (how->at) {
        OK(how->write ? MPI_File_write_at_all_begin(f, a->at, a->buf, a->count, a->type)
                      : MPI_File_read_at_all_begin(f, a->at, a->buf, a->count, a->type));
        OK(how->write ? MPI_File_write_at_all_end(f, a->buf, status)
                      : MPI_File_read_at_all_end(f, a->buf, status));
    } else {
        OK(how->write ? MPI_File_write_all_begin(f, a->buf, a->count, a->type)
                      : MPI_File_read_all_begin(f, a->buf, a->count, a->type));
        OK(how->write ? MPI_File_write_all_end(f, a->buf, status) : MPI_File_read_all_end(f, a->buf, status));
    }
}

static void call_started(const call *how, const arguments *a, MPI_Status *status) {
    MPI_File f = p.file;
    MPI_Request request = MPI_REQUEST_NULL;
    if (how->at)
        OK(how->write ? MPI_File_iwrite_at_all(f, a->at, a->buf, a->count, a->type, &request)
                      : MPI_File_iread_at_all(f, a->at, a->buf, a->count, a->type, &request));
    else
        OK(how->write ? MPI_File_iwrite_all(f, a->buf, a->count, a->type, &request)
                      : MPI_File_iread_all(f, a->buf, a->count, a->type, &request));
    char token = 0;
    if (how->crossed && rank != how->first)
        MPI_Recv(&token, 1, MPI_CHAR, how->first, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_Wait(&request, status));
    for (int r = 0; how->crossed && rank == how->first && r < ranks; r++)
        if (r != rank)
            MPI_Ssend(&token, 1, MPI_CHAR, r, 9, MPI_COMM_WORLD);
}

static void call_at_once(const call *how, const arguments *a, MPI_Status *status) {
    MPI_File f = p.file;
    if (how->at)
        OK(how->write ? MPI_File_write_at_all(f, a->at, a->buf, a->count, a->type, status)
                      : MPI_File_read_at_all(f, a->at, a->buf, a->count, a->type, status));
    else
        OK(how->write ? MPI_File_write_all(f, a->buf, a->count, a->type, status)
                      : MPI_File_read_all(f, a->buf, a->count, a->type, status));
}

static void make_call(const call *how, const arguments *a, MPI_Status *status) {
    static void (*const by_manner[])(const call *, const arguments *, MPI_Status *) = {call_at_once, call_split,
                                                                                       call_started};
    (how->independent ? call_alone : by_manner[how->manner])(how, a, status);
}

/* The same memory, one piece of a type that has its address. */
static void address(arguments *a) {
    MPI_Datatype there;
    MPI_Aint at;
    MPI_Get_address(a->buf, &at);
    MPI_Type_create_hindexed(1, &a->count, &at, a->type, &there);
    MPI_Type_commit(&there);
    MPI_Type_free(&a->type);
    *a = (arguments){a->at, MPI_BOTTOM, 1, there};
}

/* Everything is in the file. */
static void forget_writers(void) {
    memset(p.writer, 0, sizeof p.writer);
    p.synced = p.model.size;
}

static void check_model(void) {
    if (p.defers && chance(&p.r, 60))
        return;
    if (p.defers)
        OK(MPI_File_sync(p.file));
    forget_writers();
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
    arguments given = {part->offset, obuffer_base(&buffer), (int)part->count, build(part->memory)};
    if (how->bottom)
        address(&given);
    make_call(how, &given, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &moved);
    CHECK_STEP(moved == bytes);
    CHECK_STEP(first_difference(buffer.bytes, right.bytes, buffer.size) < 0);
    MPI_Type_free(&given.type);
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

static bool draw_direction(void) {
    bool write = chance(&p.r, 55);
    return (write && !(p.amode & MPI_MODE_RDONLY)) || (p.amode & MPI_MODE_WRONLY);
}

static call draw_call(void) {
    call how = {.write = draw_direction(),
                .at = chance(&p.r, 50),
                .independent = chance(&p.r, !p.atomic ? 20
                                            : OPENMPI ? 100
                                                      : 50)};
    how.handed = how.independent || p.atomic;
    int way = (int)pick(&p.r, 0, 99);
    how.manner = way < 25 ? SPLIT : way < 50 && !how.handed ? STARTED : AT_ONCE;
    how.bottom = chance(&p.r, 25) && !how.handed;
    how.crossed = how.manner == STARTED && chance(&p.r, 50);
    how.first = (int)pick(&p.r, 0, ranks - 1);
    return how;
}

/* What other ranks have done so far is done, and in the file: collective calls need not make sure of that. */
static void settle(void) {
    if (p.defers && !(p.amode & MPI_MODE_RDONLY))
        OK(MPI_File_sync(p.file));
    forget_writers();
    meet();
}

/* Is a byte written that another rank has written since the last sync?  Then these are the writers. */
static bool take_bytes(void) {
    bool clash = false;
    for (int i = 0; i < ranks; i++) {
        runs file = {0};
        part_file_runs(&p.parts[i], CAP, &file);
        for (int64_t k = 0; k < file.n; k++)
            for (int64_t at = file.list[k].off; at < file.list[k].off + file.list[k].len; at++) {
                clash = clash || (p.writer[at] && p.writer[at] != i + 1);
                p.writer[at] = (unsigned char)(i + 1);
            }
        runs_free(&file);
    }
    return clash;
}

/* Would a rank read what another has written since the last sync, or meet the end of the file where another has
 * moved it?  Of what is deferred, a rank that goes alone finds only its own. */
static bool reads_others(void) {
    bool others = false;
    for (int i = 0; i < ranks; i++) {
        runs file = {0};
        part_file_runs(&p.parts[i], p.model.size, &file);
        for (int64_t k = 0; k < file.n; k++)
            for (int64_t at = file.list[k].off; at < file.list[k].off + file.list[k].len; at++)
                others = others || (p.writer[at] != i + 1 && (p.writer[at] || at >= p.synced));
        runs_free(&file);
    }
    return others;
}

static void step_access(void) {
    call how = p.how = draw_call();
    if (how.handed && !p.contiguous)
        return;
    if (how.handed || how.crossed) /* who goes alone sees what is in the file */
        settle();
    for (int i = 0; i < ranks; i++) {
        opart *part = &p.parts[i];
        int64_t units = part->view.filetype->size / part->view.etype->size;
        draw_amount(part, how.at ? pick_skewed(&p.r, 0, 2 * units) : p.pointer[i], &how);
        if (how.independent && chance(&p.r, 50))
            part->bytes = part->count = 0;
    }
    if (how.write)
        drop_conflicts();
    if (how.handed && past_the_end() && !(how.write && how.independent))
        return;
    if (how.write && p.defers && take_bytes()) { /* of different ranks only a sync decides who comes later */
        settle();
        (void)take_bytes();
    }
    if (how.manner == STARTED && !how.write && p.defers && reads_others())
        settle();
    run_call(&how);
    if (how.handed || (p.defers && how.manner == STARTED))
        meet(); /* else the next call of a quicker rank may come in between: what is deferred waits for nobody */
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

/* ---- What else can be done to a file ---- */

static void step_size(void) {
    bool allocate = chance(&p.r, 40) && (p.amode & MPI_MODE_RDWR);
    int64_t size = pick(&p.r, 0, CAP);
    if (p.amode & MPI_MODE_RDONLY)
        return;
    meet();
    OK(allocate ? MPI_File_preallocate(p.file, size) : MPI_File_set_size(p.file, size));
    if (!allocate || size > p.model.size)
        model_resize(&p.model, size);
    forget_writers();
    check_model();
}

/* From the end where it is clear what that is. */
static void step_seek(void) {
    const oview *view = &p.parts[rank].view;
    if (chance(&p.r, 30) && p.same) {
        settle();
        int64_t back = pick_skewed(&p.r, 0, p.model.size);
        OK(MPI_File_seek(p.file, -back, MPI_SEEK_END));
        for (int i = 0; i < ranks; i++)
            p.pointer[i] = p.model.size - back;
        meet();
    } else {
        long long before = p.pointer[rank];
        bool further = chance(&p.r, 50);
        for (int i = 0; i < ranks; i++)
            p.pointer[i] = pick_skewed(&p.r, 0, 50);
        OK(MPI_File_seek(p.file, p.pointer[rank] - (further ? before : 0), further ? MPI_SEEK_CUR : MPI_SEEK_SET));
    }
    MPI_Offset at = -1, byte = -1;
    OK(MPI_File_get_position(p.file, &at));
    CHECK_STEP(at == p.pointer[rank]);
    if (p.contiguous) {
        OK(MPI_File_get_byte_offset(p.file, at, &byte));
        CHECK_STEP(byte == view->disp + at * view->etype->size);
    }
}

/* In the order of ranks, by the shared pointer. */
static void step_ordered(void) {
    int64_t at = pick_skewed(&p.r, 0, CAP / 2);
    MPI_Status status;
    if (!p.same || (p.amode & MPI_MODE_RDONLY))
        return;
    p.how = (call){.write = true};
    OK(MPI_File_seek_shared(p.file, at, MPI_SEEK_SET));
    for (int i = 0; i < ranks; i++) {
        opart *part = &p.parts[i];
        part->offset = at;
        part->bytes = part->count = pick_skewed(&p.r, 0, 100);
        part->memory = otype_leaf(&p.a, 1);
        at += part->bytes;
    }
    runs memory = {0};
    content c = content_make(p.noise, p.step, rank);
    obuffer buffer;
    part_memory_runs(&p.parts[rank], &memory);
    obuffer_make(&buffer, &memory, &c);
    OK(MPI_File_write_ordered(p.file, obuffer_base(&buffer), (int)p.parts[rank].count, MPI_BYTE, &status));
    CHECK_STEP(count_in(&status, MPI_BYTE) == p.parts[rank].bytes);
    runs_free(&memory);
    free(buffer.bytes);
    model_all();
    check_model();
}

/* The view is bytes; the pointer at the end when appending. */
static void open_seed(int amode) {
    MPI_Info info;
    MPI_Info_create(&info);
    p.defers = chance(&p.r, 50);
    MPI_Info_set(info, "sago_defer", p.defers ? "on" : "off");
    OK(MPI_File_open(MPI_COMM_WORLD, p.path, amode, info, &p.file));
    MPI_Info_free(&info);
    p.amode = amode;
    p.atomic = false;
    p.contiguous = p.same = true;
    for (int i = 0; i < ranks; i++) {
        p.parts[i].view = (oview){0, otype_leaf(&p.a, 1), otype_leaf(&p.a, 1)};
        p.parts[i].memory = NULL;
        p.pointer[i] = amode & MPI_MODE_APPEND ? p.model.size : 0;
    }
}

static void close_seed(void) {
    OK(MPI_File_close(&p.file));
    p.defers = false;
    meet();
}

static void step_reopen(void) {
    static const int modes[] = {MPI_MODE_RDWR,
                                MPI_MODE_RDONLY,
                                MPI_MODE_WRONLY,
                                MPI_MODE_RDWR | MPI_MODE_APPEND,
                                MPI_MODE_WRONLY | MPI_MODE_APPEND,
                                MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_UNIQUE_OPEN};
    close_seed();
    check_model();
    open_seed(modes[pick(&p.r, 0, 5)]);
    MPI_Offset at = -1;
    OK(MPI_File_get_position(p.file, &at));
    CHECK_STEP(at == p.pointer[rank]);
}

static void step(void) {
    int way = (int)pick(&p.r, 0, 99);
    if (way < 22) {
        draw_views();
        set_view();
    } else if (way < 28) {
        step_size();
    } else if (way < 33) {
        p.atomic = !p.atomic;
        OK(MPI_File_set_atomicity(p.file, p.atomic));
    } else if (way < 38) {
        step_seek();
    } else if (way < 43) {
        step_reopen();
    } else if (way < 46) {
        step_ordered();
    } else {
        step_access();
    }
}

static void run_seed(uint64_t seed) {
    static unsigned char bytes[CAP];
    p.seed = seed;
    p.r.state = seed * 7919;
    p.model = (model){bytes, 0, CAP};
    for (int i = 0; i < NOISE; i++)
        p.noise[i] = (unsigned char)rng_next(&p.r);
    (void)snprintf(p.path, sizeof p.path, "seed-%llu", (unsigned long long)seed);
    open_seed(MODE_NEW);
    draw_views();
    set_view();
    forget_writers();
    for (p.step = 0; p.step < STEPS; p.step++)
        step();
    close_seed();
    check_model();
    open_seed(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    step_access();
    close_seed();
    CHECK_STEP(plain_size(p.path) == -1);
    arena_clear(&p.a);
    meet();
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    long long seeds = PLAIN ? 0 : argc > 1 ? atoll(argv[1]) : 20, first = argc > 2 ? atoll(argv[2]) : 1;
    expect_stat("atomic", -1);
    expect_stat("shared_pointer", -1);
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
