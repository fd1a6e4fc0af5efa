/* RUN: n=1,2,3,4 --seeds 80 */
/* RUN: n=6 --seeds 5 --first 700 --node-ranks 1 --switch-nodes 3 sago_strategy=aggregated sago_layers=3 */
/* RUN: n=6 --seeds 5 --first 800 --node-ranks 2 --switch-nodes 2 sago_strategy=aggregated sago_layers=3 */
/* RUN-LONG: n=8 --seeds 500 --first 20000 --node-ranks 1 --switch-nodes 4 sago_layers=3 */
/* RUN-LONG: n=8 --seeds 500 --first 30000 --node-ranks 2 --switch-nodes 2 sago_layers=3 */
/* RUN-LONG: n=3,4 --seeds 2000 --first 5000 --subfiles */
/* RUN-LONG: n=2,3,4,6 --seeds 2000 --first 1000 */
/* Random collective programs against a naive model.
 *
 *   test_oracle [--seeds N] [--first S] [--dir PATH] [--patience SECONDS] [--verbose] [--subfiles]
 *               [--node-ranks K] [--switch-nodes M] [KEY=VALUE...]
 *
 * A seed is one file, hints, and a number of steps.  Every rank draws the same random numbers, so every rank knows
 * what all of them do, and what the file and its own memory must hold after each step.  KEY=VALUE is a hint for
 * every file, as is what the environment says (SAGO_MOVE, ...): then that hint is not drawn. */
#include "mpi/oracle_extents.h"
#include "mpi/oracle_file.h"
#include "mpi/oracle_series.h"

/* ---- By extents ---- */

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
    if (write)
        settle_conflicts(o, &what);
    remember(o);
    side_make(o, part, &mine);
    obuffer expected = buffer_copy(&mine.buffer);
    int64_t expected_bytes = write ? part->bytes : model_read(&o->file_model, &mine.file, &mine.memory, &expected);
    sago_status status = write ? sago_write_extents_all(o->file, n, list, mine.buffer.bytes)
                               : sago_read_extents_all(o->file, n, list, mine.buffer.bytes, &bytes);
    for (int i = 0; i < o->size && write; i++) {
        model_part(o, &what.parts[i], o->step, i, false);
        if (o->defers)
            deferred_mark(o, &what.parts[i], i, false);
    }
    if (!write)
        deferred_clear(o);
    bool done = write ? check_written(o, status, &what) : succeeded(o, status, &what);
    if (done) {
        check_memory(o, &what, &mine.buffer, &expected);
        check_bytes(o, &what, write ? part->bytes : bytes, expected_bytes);
    }
    free(expected.bytes);
    free(list);
    side_free(&mine);
    meet_if_early(o);
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
    deferred_clear(o);
    check_status(o, sago_get_size(o->file, &found), NULL);
    check_bytes(o, NULL, found, o->base + o->file_model.size);
    check_file(o, NULL);
}

/* Another program writes: what follows must show what it wrote. */
static void step_fill(oracle *o) {
    int64_t from = pick(&o->r, 0, o->file_model.size),
            to = pick(&o->r, from, chance(&o->r, 80) ? o->file_model.size : o->cap);
    note(o, "fill");
    flush_deferred(o);
    meet(o->comm);
    if (o->rank == 0 && !fill_file(o, from, to)) {
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
    if (!may_write(o))
        return;
    check_status(o, sago_sync(o->file), NULL);
    deferred_clear(o);
    check_file(o, NULL);
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

int main(int argc, char **argv) {
    static oracle o;
    uint64_t seeds = 100, first = 1;
    if (!take_arguments(&o, argc, argv, &seeds, &first))
        return 2;
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
               " missed, %" PRId64 " refused for memory, %" PRId64 " deferred, %" PRId64 " steps, %" PRId64
               " for memory, %" PRId64 " own, %" PRId64 " bytes sent by rank %d\n",
               seeds, first, all, MPI_Wtime() - start, o.calls, o.total.direct_calls, o.total.mapped_calls,
               o.total.aggregated_calls, o.total.plan_hits, o.total.plan_misses, o.no_memory,
               o.total.deferred_writes, o.total.flush_steps, o.total.flushes[SAGO_FLUSH_MEMORY],
               o.total.flushes[SAGO_FLUSH_OWN], o.total.wire_bytes, me);
    (void)fflush(stdout);
    MPI_Finalize();
    return 0;
}
