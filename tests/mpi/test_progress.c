/* RUN: n=1,2,4 */
/* Collective calls among other things that a program does with MPI: messages that only move while their sender
 * waits inside Sago, several files and communicators at once, files opened again and again, and nothing left
 * behind.
 *
 *   test_progress [STRATEGY...]        default: direct mapped aggregated
 *
 * A time limit only finds what hangs.  Runs on one node and on several. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sago/sago.h>

#include "mpi/counted_comms.h"

enum {
    SMALL = 64 << 10,
    LARGE = 8 << 20,
    BLOCK = 1000,
    BLOCKS = 20,
    STEP_SECONDS = 100,
    CYCLES = 300,
    COMMUNICATORS = 60
};

static int rank, ranks;
static char scene[200] = "start"; /* what is being tested, for messages */

/* ---- Failing ---- */

static _Noreturn void fail(const char *what, int line) {
    printf("FAILED: rank %d of %d, line %d, %s: %s: %s\n", rank, ranks, line, scene, what, sago_error_message());
    (void)fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

#define CHECK(condition)                                                                                          \
    do {                                                                                                          \
        if (!(condition))                                                                                         \
            fail(#condition, __LINE__);                                                                           \
    } while (0)

static void on_alarm(int number) {
    (void)number;
    if (write(STDOUT_FILENO, "HANGS: ", 7) < 0 || write(STDOUT_FILENO, scene, strlen(scene)) < 0 ||
        write(STDOUT_FILENO, "\n", 1) < 0)
        _exit(4);
    abort();
}

static void begin(const char *what) {
    (void)snprintf(scene, sizeof scene, "%s", what);
    (void)alarm(STEP_SECONDS);
}

/* ---- What a process holds ---- */

static int64_t entries_of(const char *folder) {
    DIR *dir = opendir(folder);
    int64_t n = 0;
    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n;
}

typedef struct holdings {
    int64_t comms, descriptors, threads, maps;
} holdings;

static holdings hold(void) {
    holdings now = {live_comms, entries_of("/proc/self/fd"), entries_of("/proc/self/task"), 0};
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c; maps && (c = getc(maps)) != EOF;)
        now.maps += c == '\n';
    if (maps)
        (void)fclose(maps);
    return now;
}

enum { SETTLED = 20 }; /* turns after which everything is there that is kept for the next file */

/* MPI may get itself some memory or descriptors meanwhile, but not one at each turn. */
static void check_nothing_kept(const holdings *before, int turns) {
    holdings now = hold();
    CHECK(now.comms == before->comms);
    CHECK(now.threads == before->threads);
    CHECK(now.descriptors < before->descriptors + (turns - SETTLED) / 2);
    CHECK(now.maps < before->maps + (turns - SETTLED) / 2);
}

/* ---- Files ---- */

static const char *path_of(const char *name) {
    static char paths[4][4096];
    static int next;
    const char *dir = getenv("SAGO_CLUSTER_GLOBAL") ? getenv("SAGO_CLUSTER_GLOBAL") : getenv("SAGO_TEST_DIR");
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", dir ? dir : ".", name);
    return path;
}

static sago_file *open_file(MPI_Comm comm, const char *name, const char *strategy) {
    sago_file *file = NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_strategy", strategy);
    CHECK(sago_open(comm, path_of(name), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) == SAGO_OK);
    MPI_Info_free(&info);
    return file;
}

/* Blocks in turn, by the rank in `comm`. */
static void set_view(sago_file *file, MPI_Comm comm) {
    MPI_Datatype block, type;
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)n * BLOCK, &type);
    CHECK(sago_set_view(file, (MPI_Offset)me * BLOCK, MPI_BYTE, type) == SAGO_OK);
    MPI_Type_free(&block);
    MPI_Type_free(&type);
}

/* The byte at position `i` of what a rank writes in a step. */
static char content(int who, int step, int64_t i) { return (char)(who * 31 + step * 7 + i * 13 + i / 251 + 1); }

static void write_step(sago_file *file, MPI_Comm comm, int step) {
    char data[BLOCK * BLOCKS];
    MPI_Count bytes = 0;
    int me;
    MPI_Comm_rank(comm, &me);
    for (int64_t i = 0; i < BLOCK * BLOCKS; i++)
        data[i] = content(me, step, i);
    CHECK(sago_write_at_all(file, 0, data, BLOCK * BLOCKS, MPI_BYTE, &bytes) == SAGO_OK);
    CHECK(bytes == BLOCK * BLOCKS);
}

/* What the rank after this one wrote, through a plain descriptor: nothing but reading is needed. */
static void check_step(MPI_Comm comm, const char *name, int step) {
    int me, n, fd = open(path_of(name), O_RDONLY);
    char found[BLOCK];
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    int other = (me + 1) % n;
    CHECK(fd >= 0);
    for (int64_t k = 0; k < BLOCKS; k++) {
        CHECK(pread(fd, found, BLOCK, (k * n + other) * BLOCK) == BLOCK);
        for (int64_t i = 0; i < BLOCK; i++)
            CHECK(found[i] == content(other, step, k * BLOCK + i));
    }
    (void)close(fd);
}

static void read_step(sago_file *file, MPI_Comm comm, int step) {
    char data[BLOCK * BLOCKS] = {0};
    int me;
    MPI_Comm_rank(comm, &me);
    CHECK(sago_read_at_all(file, 0, data, BLOCK * BLOCKS, MPI_BYTE, NULL) == SAGO_OK);
    for (int64_t i = 0; i < BLOCK * BLOCKS; i++)
        CHECK(data[i] == content(me, step, i));
}

/* Asleep: there are more ranks than cores. */
static void meet(MPI_Comm comm) {
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(comm, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            (void)usleep(100);
    }
}

static void remove_file(MPI_Comm comm, const char *name) {
    int me;
    meet(comm);
    MPI_Comm_rank(comm, &me);
    if (me == 0)
        (void)unlink(path_of(name));
    meet(comm);
}

/* ---- Messages ---- */

/* A message that is under way while its sender is in a collective call. */
typedef struct message {
    char *data;
    int bytes, from, to;
    bool synchronous; /* the receiver waits in the call, the sender outside */
    MPI_Request request;
} message;

/* `from` starts sending and goes into the call at once; `to` comes to the call only when it has the message.
 * Synchronous: `to` posts a receive and goes in, `from` comes when the message has been matched. */
static void message_before(message *m) {
    m->request = MPI_REQUEST_NULL;
    if (m->synchronous) {
        if (rank == m->to)
            MPI_Irecv(m->data, m->bytes, MPI_BYTE, m->from, 5, MPI_COMM_WORLD, &m->request);
        if (rank == m->from)
            MPI_Ssend(m->data, m->bytes, MPI_BYTE, m->to, 5, MPI_COMM_WORLD);
        return;
    }
    if (rank == m->from)
        MPI_Isend(m->data, m->bytes, MPI_BYTE, m->to, 5, MPI_COMM_WORLD, &m->request);
    if (rank == m->to)
        MPI_Recv(m->data, m->bytes, MPI_BYTE, m->from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void message_after(message *m) {
    MPI_Wait(&m->request, MPI_STATUS_IGNORE);
    if (rank == m->to)
        CHECK(m->data[0] == (char)m->from && m->data[m->bytes - 1] == (char)m->from);
}

static void fill_message(message *m) { memset(m->data, rank == m->from ? m->from : 99, (size_t)m->bytes); }

static void test_pairs(const char *strategy, char *data) {
    static const int sizes[] = {SMALL, LARGE, 1};
    int step = 0;
    sago_file *file = open_file(MPI_COMM_WORLD, "pairs", strategy);
    set_view(file, MPI_COMM_WORLD);
    for (size_t k = 0; k < 3; k++)
        for (int pair = 0; pair < ranks * ranks; pair++) {
            message m = {data, sizes[k], pair / ranks, pair % ranks, sizes[k] == 1, MPI_REQUEST_NULL};
            if (m.from == m.to)
                continue;
            (void)snprintf(scene, sizeof scene, "%s: %d bytes from %d to %d", strategy, m.bytes, m.from, m.to);
            (void)alarm(STEP_SECONDS);
            fill_message(&m);
            message_before(&m);
            if (step % 4 == 3)
                read_step(file, MPI_COMM_WORLD, step - 1);
            else
                write_step(file, MPI_COMM_WORLD, step);
            message_after(&m);
            step++;
        }
    CHECK(sago_close(&file) == SAGO_OK);
    remove_file(MPI_COMM_WORLD, "pairs");
}

/* Each rank comes only when the one before, inside already, has sent it something. */
static void test_chain(const char *strategy, char *data) {
    MPI_Request request = MPI_REQUEST_NULL;
    sago_file *file = open_file(MPI_COMM_WORLD, "chain", strategy);
    (void)snprintf(scene, sizeof scene, "%s: chain", strategy);
    (void)alarm(STEP_SECONDS);
    set_view(file, MPI_COMM_WORLD);
    for (int step = 0; step < 4; step++) {
        if (rank > 0)
            MPI_Recv(data, LARGE, MPI_BYTE, rank - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank + 1 < ranks)
            MPI_Isend(data, LARGE, MPI_BYTE, rank + 1, 6, MPI_COMM_WORLD, &request);
        write_step(file, MPI_COMM_WORLD, step);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_step(MPI_COMM_WORLD, "chain", step);
        meet(MPI_COMM_WORLD);
    }
    CHECK(sago_close(&file) == SAGO_OK);
    remove_file(MPI_COMM_WORLD, "chain");
}

/* Every collective call lets messages through. */
typedef struct every_call {
    sago_file *file;
    sago_series *series;
    char data[100];
} every_call;

static const char *const call_names[] = {"open",        "set_view",          "declare",          "series_complete",
                                         "series_next", "series_free",       "set_size",         "preallocate",
                                         "sync",        "write_extents_all", "read_extents_all", "close"};
enum { CALLS = sizeof call_names / sizeof *call_names };

static sago_status make_call(every_call *state, int which) {
    sago_extent extent = {(int64_t)rank * 100, 100};
    sago_var var = {sizeof var, (MPI_Offset)rank * 100, 100, MPI_BYTE, MPI_DATATYPE_NULL};
    switch (which) {
    case 0:
        state->file = open_file(MPI_COMM_WORLD, "calls", "auto");
        return SAGO_OK;
    case 1:
        return sago_set_view(state->file, 0, MPI_BYTE, MPI_BYTE);
    case 2:
        return sago_declare(state->file, 1, &var, &state->series);
    case 3:
        CHECK(sago_series_write(state->series, 0, state->data) == SAGO_OK);
        return sago_series_complete(state->series);
    case 4:
        return sago_series_next(state->series, 10000);
    case 5:
        return sago_series_free(&state->series);
    case 6:
        return sago_set_size(state->file, 100000);
    case 7:
        return sago_preallocate(state->file, 200000);
    case 8:
        return sago_sync(state->file);
    case 9:
        return sago_write_extents_all(state->file, 1, &extent, state->data);
    case 10:
        return sago_read_extents_all(state->file, 1, &extent, state->data, NULL);
    default:
        return sago_close(&state->file);
    }
}

static void test_every_call(char *data) {
    every_call state = {0};
    for (int which = 0; which < CALLS && ranks > 1; which++) {
        message m = {data, which % 2 ? LARGE : SMALL, which % ranks, (which + 1) % ranks, false, MPI_REQUEST_NULL};
        (void)snprintf(scene, sizeof scene, "%d bytes from %d to %d during %s", m.bytes, m.from, m.to,
                       call_names[which]);
        (void)alarm(STEP_SECONDS);
        fill_message(&m);
        message_before(&m);
        CHECK(make_call(&state, which) == SAGO_OK);
        message_after(&m);
    }
    remove_file(MPI_COMM_WORLD, "calls");
}

/* ---- Several files ---- */

static void test_two_files(const char *strategy) {
    begin("two files in turn");
    sago_file *first = open_file(MPI_COMM_WORLD, "first", strategy),
              *second = open_file(MPI_COMM_WORLD, "second", strategy);
    set_view(first, MPI_COMM_WORLD);
    set_view(second, MPI_COMM_WORLD);
    for (int step = 0; step < 10; step++) {
        write_step(first, MPI_COMM_WORLD, step);
        write_step(second, MPI_COMM_WORLD, step + 100);
        read_step(first, MPI_COMM_WORLD, step);
        read_step(second, MPI_COMM_WORLD, step + 100);
    }
    meet(MPI_COMM_WORLD);
    check_step(MPI_COMM_WORLD, "first", 9);
    check_step(MPI_COMM_WORLD, "second", 109);
    CHECK(sago_close(&first) == SAGO_OK);
    write_step(second, MPI_COMM_WORLD, 7);
    CHECK(sago_close(&second) == SAGO_OK);
    remove_file(MPI_COMM_WORLD, "first");
    remove_file(MPI_COMM_WORLD, "second");
}

/* A file of all ranks in reverse order, one of each half, one of each rank: used in turn. */
static void test_communicators(const char *strategy) {
    MPI_Comm half, reversed;
    char half_name[40], own_name[40];
    begin("files on several communicators");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    (void)snprintf(half_name, sizeof half_name, "half-%d", rank % 2);
    (void)snprintf(own_name, sizeof own_name, "own-%d", rank);
    sago_file *of_half = open_file(half, half_name, strategy), *own = open_file(MPI_COMM_SELF, own_name, strategy);
    sago_file *of_all = open_file(reversed, "reversed", strategy);
    set_view(of_half, half);
    set_view(own, MPI_COMM_SELF);
    set_view(of_all, reversed);
    for (int step = 0; step < 10; step++) {
        if ((step + rank) % 2) /* the halves go through these in different order */
            write_step(own, MPI_COMM_SELF, step);
        write_step(of_half, half, step);
        if ((step + rank) % 2 == 0)
            write_step(own, MPI_COMM_SELF, step);
        write_step(of_all, reversed, step);
        read_step(own, MPI_COMM_SELF, step);
        read_step(of_half, half, step);
        read_step(of_all, reversed, step);
    }
    meet(MPI_COMM_WORLD);
    check_step(half, half_name, 9);
    check_step(MPI_COMM_SELF, own_name, 9);
    check_step(reversed, "reversed", 9);
    CHECK(sago_close(&of_all) == SAGO_OK);
    CHECK(sago_close(&own) == SAGO_OK);
    CHECK(sago_close(&of_half) == SAGO_OK);
    remove_file(half, half_name);
    remove_file(MPI_COMM_SELF, own_name);
    remove_file(reversed, "reversed");
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
}

/* ---- Again and again ---- */

static void test_reopen(const char *strategy) {
    begin("opened and closed on one communicator");
    holdings before = {0};
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        sago_file *file = open_file(MPI_COMM_WORLD, "again", strategy);
        if (cycle % 10 == 0) {
            set_view(file, MPI_COMM_WORLD);
            write_step(file, MPI_COMM_WORLD, cycle);
        }
        CHECK(sago_close(&file) == SAGO_OK);
        CHECK(!file);
        if (cycle == SETTLED)
            before = hold();
    }
    check_nothing_kept(&before, CYCLES);
    remove_file(MPI_COMM_WORLD, "again");
}

/* Not as often: making communicators takes long where MPI spins on too few cores. */
static void test_freed_communicators(const char *strategy) {
    begin("communicators freed before and after close");
    holdings before = {0};
    for (int cycle = 0; cycle < COMMUNICATORS; cycle++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        sago_file *file = open_file(comm, "freed", strategy), *other = NULL;
        if (cycle % 7 == 0)
            other = open_file(comm, "freed-too", strategy);
        set_view(file, comm);
        if (cycle % 2)
            MPI_Comm_free(&comm);
        if (cycle % 10 == 0) {
            write_step(file, MPI_COMM_WORLD, cycle);
            read_step(file, MPI_COMM_WORLD, cycle);
        }
        CHECK(sago_close(&file) == SAGO_OK);
        if (other)
            CHECK(sago_close(&other) == SAGO_OK);
        if (cycle % 2 == 0)
            MPI_Comm_free(&comm);
        if (cycle == SETTLED)
            before = hold();
    }
    check_nothing_kept(&before, COMMUNICATORS);
    remove_file(MPI_COMM_WORLD, "freed");
    remove_file(MPI_COMM_WORLD, "freed-too");
}

static void test_failed_opens(void) {
    begin("opens that fail");
    holdings before = {0};
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        sago_file *file = NULL;
        CHECK(sago_open(MPI_COMM_WORLD, path_of("none/such"), MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
              SAGO_ERR_NO_FILE);
        CHECK(!file);
        if (cycle == SETTLED)
            before = hold();
    }
    check_nothing_kept(&before, CYCLES);
}

/* ---- Running ---- */

static void test_strategy(const char *strategy, char *data) {
    test_pairs(strategy, data);
    test_chain(strategy, data);
    test_two_files(strategy);
    test_communicators(strategy);
}

int main(int argc, char **argv) {
    static const char *const strategies[] = {"direct", "mapped", "aggregated"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    (void)signal(SIGALRM, on_alarm);
    double start = MPI_Wtime();
    char *data = calloc(1, LARGE);
    CHECK(data);
    if (argc > 1)
        for (int i = 1; i < argc; i++)
            test_strategy(argv[i], data);
    else
        for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
            test_strategy(strategies[i], data);
    test_every_call(data);
    test_reopen("aggregated");
    test_freed_communicators("aggregated");
    test_failed_opens();
    free(data);
    if (rank == 0)
        printf("%d ranks: %.1f s\n", ranks, MPI_Wtime() - start);
    (void)fflush(stdout);
    MPI_Finalize();
    return 0;
}
