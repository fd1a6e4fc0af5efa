/* RUN: n=2,4 --seeds 1 */
/* RUN-LONG: n=2,3,4,6,8 --seeds 400 --first 100 */
/* sago_nonblocking=apart: random programs whose ranks wait for their calls in hostile orders, on one node and on
 * several.
 *
 *   test_apart [--seeds N] [--first S] [--dir PATH] [--nodes]
 *
 * Every rank has pieces of two files in turn, and a model of its own bytes there.  In each round it starts calls
 * on them and waits for them as the round's order says: held by other ranks, who wait for theirs first, or all at
 * once.  Calls of one rank are done in their order, so what it reads is what it has written last.  --nodes: they
 * are what they are (on a cluster), else they are made up as well. */
#include <inttypes.h>
#include <sched.h>
#include <sago/sago.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/fake_nodes.h"
#include "support/random.h"

enum { FILES = 2, PIECE = 8, LENGTH = 4096, CALLS = 4, ROUNDS = 8 };

typedef struct target {
    sago_file *file;
    char path[512];
    unsigned char model[LENGTH]; /* this rank's bytes, in its stream */
} target;

typedef struct call {
    target *of;
    bool write;
    int64_t begin, bytes;
    unsigned char buffer[LENGTH], expected[LENGTH];
    sago_request *request;
} call;

static int rank, ranks, failures;
static uint64_t common, own; /* random numbers: the same on all ranks; this rank's */
static uint64_t seed;
static target files[FILES];
static call calls[CALLS];
static int ncalls;
static char token;

static void fail(const char *what) {
    printf("rank %d of %d, seed %" PRIu64 ", %d ranks a node: %s: %s\n", rank, ranks, seed, fake_node_ranks, what,
           sago_error_message());
    (void)fflush(stdout);
    failures++;
}

/* Asleep: there are more ranks than cores. */
static void meet(void) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; !done; (void)usleep(100))
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/* ---- Files ---- */

static MPI_Info draw_hints(void) {
    static const char *const hints[][2] = {
        {"sago_defer", "on"}, {"sago_strategy", "aggregated"}, {"sago_agree", "enter"},     {"sago_agree", "turn"},
        {"sago_move", "rma"}, {"sago_strategy", "direct"},     {"sago_message_size", "64K"}};
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_nonblocking", "apart");
    MPI_Info_set(info, "sago_map", random_below(&common, 2) ? "off" : "auto");
    for (int i = 0; i < 2; i++) {
        int64_t which = random_below(&common, 7);
        MPI_Info_set(info, hints[which][0], hints[which][1]);
    }
    return info;
}

static void write_all(target *t) {
    for (int i = 0; i < LENGTH; i++)
        t->model[i] = (unsigned char)random_below(&own, 256);
    if (sago_write_at_all(t->file, 0, t->model, LENGTH, MPI_BYTE, NULL))
        fail("sago_write_at_all");
}

static void open_one(target *t, MPI_Comm comm, const char *dir, int number) {
    MPI_Info info = draw_hints();
    MPI_Datatype piece, turns;
    (void)snprintf(t->path, sizeof t->path, "%s/apart-%d", dir, number);
    if (sago_open(comm, t->path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &t->file)) {
        fail("sago_open");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &turns);
    MPI_Type_commit(&turns);
    if (sago_set_view(t->file, (MPI_Offset)PIECE * rank, MPI_BYTE, turns))
        fail("sago_set_view");
    MPI_Type_free(&piece);
    MPI_Type_free(&turns);
    MPI_Info_free(&info);
    write_all(t);
}

/* By independent reads, which see what everybody has written once all have synced. */
static void check_files(void) {
    for (int f = 0; f < FILES; f++) {
        unsigned char found[LENGTH];
        MPI_Count bytes = 0;
        if (sago_sync(files[f].file) || sago_read_at(files[f].file, 0, found, LENGTH, MPI_BYTE, &bytes))
            fail("reading back");
        if (bytes != LENGTH || memcmp(found, files[f].model, LENGTH) != 0)
            fail("the file holds other bytes");
    }
}

/* ---- Calls ---- */

static void start_one(call *c, target *t) {
    c->of = t;
    c->write = random_below(&common, 100) < 60;
    c->begin = random_below(&own, LENGTH);
    c->bytes = random_below(&own, LENGTH - c->begin + 1);
    if (random_below(&own, 4) == 0)
        c->bytes = 0;
    for (int64_t i = 0; i < c->bytes; i++)
        c->buffer[i] = c->write ? (unsigned char)random_below(&own, 256) : 0;
    if (c->write)
        memcpy(t->model + c->begin, c->buffer, (size_t)c->bytes);
    memcpy(c->expected, t->model + c->begin, (size_t)c->bytes);
    if (c->write ? sago_iwrite_at_all(t->file, c->begin, c->buffer, c->bytes, MPI_BYTE, &c->request)
                 : sago_iread_at_all(t->file, c->begin, c->buffer, c->bytes, MPI_BYTE, &c->request))
        fail("starting");
}

static void start_all(void) {
    ncalls = (int)random_below(&common, CALLS) + 1;
    for (int i = 0; i < ncalls; i++)
        start_one(&calls[i], &files[random_below(&common, FILES)]);
}

static void wait_one(call *c) {
    MPI_Count bytes = -1;
    int done = 1;
    if (random_below(&own, 3) > 0) {
        if (sago_wait(&c->request, &bytes))
            fail("sago_wait");
    } else {
        bool waits = random_below(&own, 2);
        if (waits)
            sago_wait_begin();
        do {
            if (sago_test(&c->request, &done, &bytes))
                fail("sago_test");
            if (!done && random_below(&own, 2))
                (void)usleep((useconds_t)random_below(&own, 300));
        } while (!done);
        if (waits)
            sago_wait_end();
    }
    if (bytes != c->bytes)
        fail("other bytes were moved than asked for");
    if (memcmp(c->buffer, c->expected, (size_t)c->bytes) != 0)
        fail("a call read other bytes, or changed what was to be written");
}

/* In an order of the rank's own. */
static void wait_all(void) {
    int order[CALLS];
    for (int i = 0; i < ncalls; i++)
        order[i] = i;
    for (int left = ncalls; left > 0; left--) {
        int which = (int)random_below(&own, left);
        wait_one(&calls[order[which]]);
        order[which] = order[left - 1];
    }
}

/* ---- Who waits when ---- */

static void receive(int from) { MPI_Recv(&token, 1, MPI_CHAR, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void send(int to) { MPI_Ssend(&token, 1, MPI_CHAR, to, 3, MPI_COMM_WORLD); }

static void all_at_once(int first) {
    (void)first;
    start_all();
    wait_all();
}

/* One waits, then lets the others. */
static void one_first(int first) {
    start_all();
    if (rank != first)
        receive(first);
    wait_all();
    for (int r = 0; r < ranks && rank == first; r++)
        if (r != first)
            send(r);
}

/* One after another; the last ones start only when the first are done. */
static void in_a_row(int first) {
    int place = (rank - first + ranks) % ranks;
    if (place % 2 == 0)
        start_all();
    if (place > 0)
        receive((rank + ranks - 1) % ranks);
    if (place % 2 == 1)
        start_all();
    wait_all();
    if (place < ranks - 1)
        send((rank + 1) % ranks);
}

static void barriers(int first) {
    if (rank % 2 == first % 2) {
        start_all();
        wait_all();
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        start_all();
        wait_all();
    }
}

/* Some wait by a blocking collective call, after a barrier. */
static void then_blocking(int first) {
    start_all();
    if (rank == first)
        wait_all();
    MPI_Barrier(MPI_COMM_WORLD);
    target *t = &files[random_below(&common, FILES)];
    unsigned char now[LENGTH];
    memcpy(now, t->model, LENGTH);
    if (sago_write_at_all(t->file, 0, now, LENGTH, MPI_BYTE, NULL))
        fail("sago_write_at_all");
    if (rank != first)
        wait_all();
}

static void run_round(void) {
    static void (*const rounds[])(int) = {all_at_once, one_first, in_a_row, barriers, then_blocking};
    int64_t which = random_below(&common, 5);
    rounds[which]((int)random_below(&common, ranks));
}

/* Where all ranks wait they gather: sooner or later they have all come in time. */
static void gathers(MPI_Comm comm, const char *dir) {
    target *t = &files[0];
    uint64_t kept = common;
    sago_stats stats = SAGO_STATS_INIT;
    MPI_Info info;
    MPI_Info_create(&info);
    (void)snprintf(t->path, sizeof t->path, "%s/gathers", dir);
    MPI_Info_set(info, "sago_nonblocking", "apart");
    MPI_Info_set(info, "sago_strategy", "aggregated");
    if (sago_open(comm, t->path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &t->file))
        fail("sago_open");
    MPI_Info_free(&info);
    for (int tries = 0, all = 0; !all; tries++) {
        sago_request *request;
        if (sago_iwrite_at_all(t->file, (MPI_Offset)PIECE * rank, t->model, PIECE, MPI_BYTE, &request) ||
            sago_wait(&request, NULL) || sago_get_stats(t->file, &stats))
            fail("a small write");
        int mine = stats.aggregated_calls > 0 || tries == 2000;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    if (stats.aggregated_calls == 0)
        fail("no call was served together");
    if (sago_close(&t->file))
        fail("sago_close");
    meet();
    if (rank == 0)
        (void)unlink(t->path);
    common = kept;
}

static void run_seed(const char *dir) {
    MPI_Comm comm; /* teams belong to it, and so do the nodes that were made up */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    common = seed * 7919;
    own = seed * 104729 + (uint64_t)rank;
    for (int f = 0; f < FILES; f++)
        open_one(&files[f], comm, dir, f);
    for (int i = 0; i < ROUNDS; i++) {
        run_round();
        if (random_below(&common, 3) == 0)
            check_files();
    }
    check_files();
    for (int f = 0; f < FILES; f++)
        if (sago_close(&files[f].file))
            fail("sago_close");
    meet();
    for (int f = 0; f < FILES && rank == 0; f++)
        (void)unlink(files[f].path);
    MPI_Comm_free(&comm);
}

static void run_nodes(int ranks_a_node, uint64_t first, uint64_t seeds, const char *dir) {
    MPI_Comm comm;
    fake_node_ranks = ranks_a_node;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    gathers(comm, dir);
    MPI_Comm_free(&comm);
    for (seed = first; seed < first + seeds; seed++)
        run_seed(dir);
}

int main(int argc, char **argv) {
    uint64_t seeds = 3, first = 1;
    const char *dir = getenv("SAGO_TEST_DIR");
    bool real = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--nodes") == 0)
            real = true;
        else if (i + 1 < argc && strcmp(argv[i], "--seeds") == 0)
            seeds = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--first") == 0)
            first = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--dir") == 0)
            dir = argv[++i];
        else
            return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    dir = dir ? dir : ".";
    for (int n = real ? 0 : 2; n >= 0; n--)
        run_nodes(n, first, seeds, dir);
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all > 0;
}
