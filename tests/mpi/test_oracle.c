/* RUN: n=1,2,3,4 --seeds 80 */
/* RUN-LONG: n=2,3,4,6 --seeds 2000 --first 1000 */
/* Random collective programs against a naive model.
 *
 *   test_oracle [--seeds N] [--first S] [--dir PATH] [--patience SECONDS] [--verbose] [KEY=VALUE...]
 *
 * A seed is one file, hints, and a number of steps.  Every rank draws the same random numbers, so every rank knows
 * what all of them do, and what the file and its own memory must hold after each step.  KEY=VALUE is a hint for
 * every file, as is what the environment says (SAGO_MOVE, ...): then that hint is not drawn. */
#include "mpi/oracle_file.h"
#include "mpi/oracle_series.h"

/* ---- By extents ---- */

/* The extents of one rank as a part: a view of bytes at 0 that has just these runs, in memory one after another.
 */
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
    int64_t n = pick_skewed(r, 0, 200), at = pick_skewed(r, 0, o->cap), done = 0,
            scale = chance(r, 80) ? 60 : 5000;
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
    int64_t n = part->view.filetype->n;
    side mine;
    remember(o);
    side_make(o, part, &mine);
    obuffer expected = buffer_copy(&mine.buffer);
    int64_t expected_bytes = write ? part->bytes : model_read(&o->file_model, &mine.file, &mine.memory, &expected);
    sago_status status = write ? sago_write_extents_all(o->file, n, list, mine.buffer.bytes)
                               : sago_read_extents_all(o->file, n, list, mine.buffer.bytes, &bytes);
    for (int i = 0; i < o->size && write; i++)
        model_part(o, &what.parts[i], o->step, i, false);
    bool done = write ? check_written(o, status, &what) : succeeded(o, status, &what);
    if (done) {
        check_memory(o, &what, &mine.buffer, &expected);
        check_bytes(o, &what, write ? part->bytes : bytes, expected_bytes);
    }
    free(expected.bytes);
    free(list);
    side_free(&mine);
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
    int64_t from = pick(&o->r, 0, o->file_model.size),
            to = pick(&o->r, from, chance(&o->r, 80) ? o->file_model.size : o->cap);
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

/* ---- Seeds ---- */

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
    (void)alarm(0); /* the others' steps are not ours */
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
    meet(MPI_COMM_WORLD); /* MPICH's windows among some ranks do not go on when others are in MPI_Finalize */
    free_comms(&o);
    if (me == all - 1) /* it takes part in all seeds */
        printf("%" PRIu64 " seeds from %" PRIu64 ", %d ranks, %.1f s: %" PRId64 " calls, %" PRId64
               " direct, %" PRId64 " mapped, %" PRId64 " aggregated, plans %" PRId64 " hit %" PRId64
               " missed, %" PRId64 " refused for memory, %" PRId64 " bytes sent by rank %d\n",
               seeds, first, all, MPI_Wtime() - start, o.calls, o.total.direct_calls, o.total.mapped_calls,
               o.total.aggregated_calls, o.total.plan_hits, o.total.plan_misses, o.no_memory, o.total.wire_bytes,
               me);
    (void)fflush(stdout);
    MPI_Finalize();
    return 0;
}
