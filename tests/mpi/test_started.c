/* RUN: n=1,3,4 --seeds 20 */
/* RUN-LONG: n=2,3,4,6 --seeds 1500 --first 1000 */
/* Random programs of nonblocking calls against the naive model of test_oracle.
 *
 *   test_started [--seeds N] [--first S] [--dir PATH] [--patience SECONDS] [--verbose] [KEY=VALUE...]
 *
 * A seed is one to four files.  In every round each rank starts calls on them in an order of its own, tests and
 * waits for some of them in another, and makes blocking calls, which are in the same order everywhere.  What a
 * file and a rank do is drawn from the file's own random numbers, in the order of the file's calls: so every rank
 * knows it all, however the files come. */
#include "mpi/oracle_extents.h"
#include "mpi/oracle_file.h"

enum { FILES = 4, PENDING = 128 };

/* A call that was started. */
typedef struct started {
    oracle *o;
    oaccess what;
    side mine;
    obuffer expected; /* what the buffer holds when it is done */
    int64_t bytes;
    sago_request *request;
} started;

static oracle files[FILES];
static started pending[PENDING];
static int npending;
static rng own; /* this rank's: orders */
static int64_t calls, tested;

/* ---- Ending ---- */

static void finish(int index, MPI_Count bytes) {
    started *s = &pending[index];
    if (s->request) {
        printf("FAILED: the request of a call that is done is not NULL\n");
        fail(s->o, &s->what);
    }
    check_bytes(s->o, &s->what, bytes, s->bytes);
    check_memory(s->o, &s->what, &s->mine.buffer, &s->expected);
    runs_free(&s->mine.file);
    runs_free(&s->mine.memory);
    free(s->mine.buffer.bytes);
    free(s->expected.bytes);
    pending[index] = pending[--npending];
}

static void wait_for(int index) {
    started *s = &pending[index];
    MPI_Count bytes = -1;
    check_status(s->o, sago_wait(&s->request, &bytes), &s->what);
    finish(index, bytes);
}

static void test_one(int index) {
    started *s = &pending[index];
    MPI_Count bytes = -1;
    int done = -1;
    check_status(s->o, sago_test(&s->request, &done, &bytes), &s->what);
    tested++;
    if (done)
        finish(index, bytes);
}

static void test_any(void) {
    if (npending > 0)
        test_one((int)pick(&own, 0, npending - 1));
}

static void wait_some(int64_t n) {
    for (; n > 0 && npending > 0; n--)
        wait_for((int)pick(&own, 0, npending - 1));
}

/* ---- What has no order ---- */

/* With sago_agree=turn no rank waits for another one's write before it writes: of two ranks' writes to a byte in
 * different calls either may come last, unless there is a sync between them.  MPI does not say more.  Such bytes
 * are not drawn; o->deferred has their writers since the ranks met. */
static bool takes_turns(const oracle *o) { return strstr(o->hints, "sago_agree=turn") && !o->defers; }

static void drop_unordered(oracle *o, oaccess *what) {
    for (int i = 0; i < o->size && takes_turns(o); i++)
        if (deferred_by_another(o, &what->parts[i], i))
            leave_out(&what->parts[i]);
}

static void mark_unordered(oracle *o, const opart *part, int owner) {
    enum { SEVERAL = 255 };
    runs file = {0};
    part_file_runs(part, o->cap, &file);
    for (int64_t i = 0; i < file.n; i++)
        for (int64_t at = file.list[i].off; at < file.list[i].off + file.list[i].len; at++) {
            bool alone = o->deferred[at] == 0 || o->deferred[at] == owner + 1;
            o->deferred[at] = (unsigned char)(alone ? owner + 1 : SEVERAL);
        }
    runs_free(&file);
}

/* All ranks have done what they started on the file. */
static void have_met(oracle *o) {
    if (takes_turns(o))
        deferred_clear(o);
}

/* ---- Starting ---- */

static void prepare(started *s, oracle *o, bool write) {
    const opart *part = &s->what.parts[o->rank];
    s->o = o;
    side_make(o, part, &s->mine);
    if (s->what.agreed) {
        content c = content_make(o->noise, o->step, 0);
        obuffer_fill_agreed(&s->mine.buffer, &s->mine.file, &s->mine.memory, &c);
    }
    s->expected = buffer_copy(&s->mine.buffer);
    s->bytes = write ? part->bytes : model_read(&o->file_model, &s->mine.file, &s->mine.memory, &s->expected);
    for (int i = 0; i < o->size && write; i++)
        model_part(o, &s->what.parts[i], o->step, i, s->what.agreed);
}

static void start_views(oracle *o, started *s, bool write) {
    fresh_amounts(o, &o->now);
    o->now.agreed = write && chance(&o->r, 15);
    if (write) {
        drop_access_conflicts(o, &o->now);
        drop_unordered(o, &o->now);
    }
    pick_buffers(o, &o->now, !write || o->now.agreed);
    s->what = o->now;
    prepare(s, o, write);
    for (int i = 0; i < o->size && write && takes_turns(o); i++)
        mark_unordered(o, &o->now.parts[i], i);
    const opart *part = &s->what.parts[o->rank];
    void *base = obuffer_base(&s->mine.buffer);
    check_status(o,
                 write ? sago_iwrite_at_all(o->file, part->offset, base, part->count, s->mine.type, &s->request)
                       : sago_iread_at_all(o->file, part->offset, base, part->count, s->mine.type, &s->request),
                 &s->what);
}

/* All ranks come to these, whatever sago_agree is. */
static void start_extents(oracle *o, started *s, bool write) {
    s->what = (oaccess){0};
    have_met(o);
    pick_extents(o, &s->what, write);
    prepare(s, o, write);
    const opart *part = &s->what.parts[o->rank];
    sago_extent *list = extents_of(o, part);
    int64_t n = part->view.filetype->n;
    check_status(o,
                 write ? sago_iwrite_extents_all(o->file, n, list, s->mine.buffer.bytes, &s->request)
                       : sago_iread_extents_all(o->file, n, list, s->mine.buffer.bytes, &s->request),
                 &s->what);
    free(list);
}

static void start_one(oracle *o) {
    started *s = &pending[npending];
    bool write = may_write(o) && (!may_read(o) || chance(&o->r, 60));
    note(o, write ? "iwrite" : "iread");
    if (chance(&o->r, 70))
        start_views(o, s, write);
    else
        start_extents(o, s, write);
    MPI_Type_free(&s->mine.type); /* nobody needs it any more */
    npending++;
    calls++;
    o->step++;
}

/* ---- Blocking calls, which wait for what was started on their file ---- */

static void block_once(oracle *o) {
    bool write = may_write(o) && (!may_read(o) || chance(&o->r, 60));
    int way = (int)pick(&o->r, 0, 99);
    if (way < 70) {
        note(o, write ? "write_at_all" : "read_at_all");
        bool changed = next_access(o, &o->now);
        o->now.agreed = false;
        if (changed || !o->viewed)
            have_met(o); /* to set the view */
        if (write) {
            drop_access_conflicts(o, &o->now);
            drop_unordered(o, &o->now);
        }
        if (changed || !o->viewed)
            set_views(o, &o->now);
        pick_buffers(o, &o->now, !write);
        if (write)
            write_views(o, &o->now, true); /* and looks at the file */
        else
            read_views(o, &o->now, true);
        have_met(o);
    } else if (way < 85) {
        note(o, "set_view");
        fresh_views(o, &o->now);
        fresh_amounts(o, &o->now);
        set_views(o, &o->now);
        have_met(o);
    } else if (may_write(o)) {
        note(o, "sync");
        check_status(o, sago_sync(o->file), NULL);
        have_met(o);
    }
    o->step++;
}

/* ---- Rounds ---- */

static void start_round(rng *common, int nfiles) {
    int64_t left[FILES], all = 0;
    for (int i = 0; i < nfiles; i++)
        all += left[i] = pick_skewed(common, 0, 6);
    for (; all > 0; all--) {
        int which = (int)pick(&own, 0, nfiles - 1);
        while (left[which] == 0)
            which = (which + 1) % nfiles;
        left[which]--;
        start_one(&files[which]);
        if (chance(&own, 40))
            test_any();
    }
}

static void run_round(rng *common, int nfiles) {
    start_round(common, nfiles);
    if (chance(&own, 30))
        (void)usleep((useconds_t)pick(&own, 0, 3000)); /* computes */
    for (int64_t n = pick(common, 0, 2); n > 0; n--) {
        if (chance(&own, 50))
            wait_some(pick(&own, 0, npending));
        block_once(&files[pick(common, 0, nfiles - 1)]);
    }
    if (npending > PENDING - FILES * 6 || chance(common, 30)) { /* and MPI by itself */
        wait_some(npending);
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < nfiles; i++) {
            flush_deferred(&files[i]);
            check_file(&files[i], NULL);
            have_met(&files[i]);
        }
        oracle *o = &files[pick(common, 0, nfiles - 1)];
        (chance(common, 50) ? step_views : step_independent)(o);
        o->step++;
    }
}

static void open_one(oracle *o, const oracle *shared, uint64_t seed, int number) {
    o->seed = seed * FILES + (uint64_t)number;
    o->r = (rng){o->seed * 1000003};
    o->step = 0;
    o->dir = shared->dir;
    o->patience = shared->patience;
    o->verbose = shared->verbose;
    o->nforced = shared->nforced;
    memcpy(o->forced, shared->forced, sizeof o->forced);
    memcpy(o->comms, shared->comms, sizeof o->comms);
    o->comm = o->comms[pick(&o->r, 0, 2)]; /* all ranks, in some order */
    MPI_Comm_rank(o->comm, &o->rank);
    MPI_Comm_size(o->comm, &o->size);
    for (int i = 0; i < NOISE; i++)
        o->noise[i] = (unsigned char)rng_next(&o->r);
    create_file(o);
    open_file(o);
    fresh_views(o, &o->now);
    set_views(o, &o->now);
}

/* Closing completes what was started; it may be waited for afterwards. */
static void close_busy(oracle *o) {
    note(o, "close");
    check_status(o, sago_close(&o->file), NULL);
    check_file(o, NULL);
}

static void run_seed(const oracle *shared, uint64_t seed, int me) {
    rng common = {seed * 7919};
    int nfiles = (int)pick(&common, 1, FILES);
    own = (rng){seed * 104729 + (uint64_t)me};
    for (int i = 0; i < nfiles; i++)
        open_one(&files[i], shared, seed, i);
    for (int64_t n = pick(&common, 1, 5); n > 0; n--)
        run_round(&common, nfiles);
    bool busy = chance(&common, 50);
    if (!busy)
        wait_some(npending);
    for (int i = 0; i < nfiles; i++)
        (busy ? close_busy : close_file)(&files[i]);
    wait_some(npending);
    for (int i = 0; i < nfiles; i++)
        remove_file(&files[i]);
}

int main(int argc, char **argv) {
    static oracle shared;
    uint64_t seeds = 100, first = 1;
    int me, all;
    shared.forced[shared.nforced++] = "sago_memory=64M"; /* test_oracle knows what little memory does */
    if (!take_arguments(&shared, argc, argv, &seeds, &first))
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (all > MAX_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    make_comms(&shared);
    hung_rank = me;
    while_meeting = test_any; /* others may still wait for what we must let go on */
    (void)signal(SIGALRM, on_alarm);
    double start = MPI_Wtime();
    for (uint64_t seed = first; seed < first + seeds; seed++)
        run_seed(&shared, seed, me);
    (void)alarm(0);
    free_comms(&shared);
    if (me == 0)
        printf("%" PRIu64 " seeds from %" PRIu64 ", %d ranks, %.1f s: %" PRId64 " calls started, %" PRId64
               " tests\n",
               seeds, first, all, MPI_Wtime() - start, calls, tested);
    (void)fflush(stdout);
    MPI_Finalize();
    return 0;
}
