/* RUN: n=4 */
/* Between nodes: how often the ranks meet in calls on a whole file.  There are two nodes, so that each meeting is
 * one message of each leader. */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <sys/resource.h>

enum { PIECE = 1000 };

static sago_file *file;
static int64_t sent; /* messages of this rank */

/* In place of MPI's function, in the library too. */
int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    sent++;
    return PMPI_Isend(buf, count, type, to, tag, comm, request);
}

static bool unreadable;
static int refused; /* reads of this rank that failed */

/* In place of the C library's, in the library too. */
ssize_t pread(int fd, void *buf, size_t bytes, off_t offset) {
    if (unreadable) {
        refused++;
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, buf, bytes, offset);
}

static void open_it(const char *hints) {
    CHECK_OK(open_hinted(scratch("meetings"), MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file));
    sent = 0;
}

/* What was sent since the last look. */
static void expect_sent(int by_leaders) {
    CHECK_INT(sent, rank % fake_node_ranks == 0 ? by_leaders : 0);
    sent = 0;
}

static void write_piece(void) {
    const char buffer[PIECE] = {1};
    CHECK_OK(sago_write_at_all(file, rank * (int64_t)PIECE, buffer, PIECE, MPI_BYTE, NULL));
}

static void start_piece(void) {
    const char buffer[PIECE] = {1};
    sago_request *request = NULL;
    CHECK_OK(sago_iwrite_at_all(file, rank * (int64_t)PIECE, buffer, PIECE, MPI_BYTE, &request));
    CHECK_OK(sago_wait(&request, NULL));
}

/* Leaders part with a message of each only if they had any to say in nonblocking calls. */
static void check_closing(void) {
    scene = "closing";
    open_it("");
    write_piece();
    sent = 0;
    CHECK_OK(sago_close(&file));
    expect_sent(2);
    scene = "closing, apart, without nonblocking calls";
    open_it("sago_nonblocking=apart");
    write_piece();
    sent = 0;
    CHECK_OK(sago_close(&file));
    expect_sent(2);
    scene = "closing, apart, after a nonblocking call";
    open_it("sago_nonblocking=apart");
    start_piece();
    int64_t said = sent, any = 0;
    MPI_Allreduce(&said, &any, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    sent = 0;
    CHECK_OK(sago_close(&file));
    expect_sent(any > 0 ? 3 : 2);
}

static MPI_Count move_runs(bool write, int64_t offset) {
    char buffer[2 * PIECE] = {2};
    const sago_extent runs[2] = {{offset, PIECE}, {offset + 2 * (int64_t)PIECE * ranks, PIECE}};
    MPI_Count bytes = 2 * PIECE;
    if (write)
        CHECK_OK(sago_write_extents_all(file, 2, runs, buffer));
    else
        CHECK_OK(sago_read_extents_all(file, 2, runs, buffer, &bytes));
    return bytes;
}

/* Where ranks need not hear how the others' parts went, they meet once in a call whose plan gathers nothing; where
 * they do, or where one rank writes for the others, twice.  A read that is gathered again has one meeting, since
 * each rank hears of each aggregator. */
static void check_planned(const char *hints, int writes, int reads) {
    scene = hints;
    open_it(hints);
    for (int turn = 0; turn < 6; turn++) {
        sent = 0;
        CHECK_INT(move_runs(turn < 4, 2 * (int64_t)PIECE * rank), 2 * PIECE);
        if (turn % 4 > 0) /* the first call of a kind is planned, which takes other meetings */
            expect_sent(turn < 4 ? writes : reads);
    }
    CHECK_OK(sago_close(&file));
}

static void limit_files(rlim_t most) {
    const struct rlimit limit = {most, RLIM_INFINITY};
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* An error that only one rank meets: that rank gets it, and the next call is as if nothing had been. */
static void check_failing(void) {
    char buffer[2 * PIECE] = {3};
    const int64_t most = INT64_C(1) << 30;
    const sago_extent wrong[2] = {{0, PIECE}, {most, PIECE}};
    scene = "one rank cannot write";
    open_it("sago_strategy=direct sago_agree=enter");
    limit_files((rlim_t)most);
    (void)move_runs(true, 2 * (int64_t)PIECE * rank);
    const sago_extent right[2] = {{2 * (int64_t)PIECE * rank, PIECE}, {INT64_C(100000) + 2 * PIECE * rank, PIECE}};
    sago_status status = sago_write_extents_all(file, 2, rank == 1 ? wrong : right, buffer);
    CHECK((status != SAGO_OK) == (rank == 1));
    for (int turn = 0; turn < 3; turn++) {
        CHECK_INT(move_runs(true, 2 * (int64_t)PIECE * rank), 2 * PIECE);
        CHECK_INT(move_runs(false, 2 * (int64_t)PIECE * rank), 2 * PIECE);
    }
    CHECK_OK(sago_close(&file));
}

/* What waits is moved at once on all ranks, or on none: all of them hear that one rank could not write. */
static void check_flush(const char *hints) {
    const int64_t far = INT64_C(1) << 20;
    const char buffer[PIECE] = {4};
    scene = hints;
    open_it(hints);
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t i = 0; i < 3; i++)
            CHECK_OK(sago_write_at_all(file, 2 * far * rank + i * PIECE, buffer, PIECE, MPI_BYTE, NULL));
        if (turn == 0 && rank == 1)
            limit_files((rlim_t)far);
        sago_status status = sago_sync(file);
        CHECK(turn == 0 ? status == SAGO_ERR_IO : status == SAGO_OK);
        limit_files(RLIM_INFINITY);
    }
    CHECK_OK(sago_sync(file));
    CHECK_OK(sago_close(&file));
}

enum { RUN = 64, RUNS = 200 };

static char byte_at(int64_t offset) { return (char)(offset * 7 % 251); }

/* Rank r has every run whose number is r modulo the number of ranks; of runs from `first` on. */
static sago_status move_dealt(bool write, int64_t first, MPI_Count *bytes) {
    char buffer[RUN * RUNS];
    sago_extent runs[RUNS];
    for (int64_t i = 0; i < RUNS; i++) {
        runs[i] = (sago_extent){(first + i * ranks + rank) * RUN, RUN};
        for (int64_t k = 0; k < RUN; k++)
            buffer[i * RUN + k] = write ? byte_at(runs[i].offset + k) : 0;
    }
    sago_status status = write ? sago_write_extents_all(file, RUNS, runs, buffer)
                               : sago_read_extents_all(file, RUNS, runs, buffer, bytes);
    for (int64_t i = 0; i < RUNS * RUN && !write && !status && i < *bytes; i++)
        CHECK(buffer[i] == byte_at(runs[i / RUN].offset + i % RUN));
    return status;
}

static int64_t whole_dealt(void) { return (int64_t)RUN * RUNS * ranks; }

static void expect_dealt(int64_t first, int64_t behind) {
    MPI_Count bytes = 0, all = 0;
    CHECK_OK(move_dealt(false, first, &bytes));
    MPI_Allreduce(&bytes, &all, 1, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(all, whole_dealt() - behind);
}

/* An aggregator that cannot read: every rank gets that error, whatever it was told by the others, and the next
 * read is as if nothing had been.  Returns whether the rank is an aggregator. */
static bool check_unread(int failing) {
    MPI_Count bytes = 0;
    expect_dealt(0, 0);
    expect_dealt(0, 0);
    unreadable = rank == failing;
    sago_status status = move_dealt(false, 0, &bytes);
    int mine = unreadable && refused > 0, any = 0, errors = status == SAGO_ERR_IO, all = 0;
    unreadable = false;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(all, any ? ranks : 0);
    refused = 0;
    expect_dealt(0, 0);
    expect_dealt(0, 0);
    return any;
}

/* One rank could not write in a call that nobody gathers: what the ranks keep for gathered calls stays the same.
 */
static void check_kept(void) {
    enum { LONG = 1 << 20 };
    static char buffer[2 * LONG];
    const int64_t far = INT64_C(20000000);
    const sago_extent own[2] = {{2 * (int64_t)LONG * rank, LONG}, {far + 2 * (int64_t)LONG * rank, LONG}};
    scene = "gathered after an error of one rank";
    open_it("sago_agree=enter");
    CHECK_OK(move_dealt(true, 0, NULL));
    for (int turn = 0; turn < 3; turn++) {
        expect_dealt(0, 0);
        if (turn == 1 && rank == 1)
            limit_files(LONG);
        CHECK((sago_write_extents_all(file, 2, own, buffer) != SAGO_OK) == (turn == 1 && rank == 1));
        limit_files(RLIM_INFINITY);
        CHECK_OK(move_dealt(true, 0, NULL));
    }
    CHECK_OK(sago_close(&file));
}

/* A file that somebody has cut without a sync is read up to its end. */
static void check_cut(void) {
    expect_dealt(0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(truncate(scratch("meetings"), whole_dealt() / 2 + 3) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < 3; turn++)
        expect_dealt(0, whole_dealt() / 2 - 3);
    CHECK_OK(move_dealt(true, 0, NULL));
    expect_dealt(0, 0);
}

static void check_reads(const char *hints) {
    scene = hints;
    open_it(hints);
    CHECK_OK(move_dealt(true, 0, NULL));
    int aggregators = 0;
    for (int failing = 0; failing < ranks; failing++)
        aggregators += check_unread(failing);
    CHECK(aggregators > 0);
    check_cut();
    CHECK_OK(sago_close(&file));
}

/* What rank 0 does alone, it tells: the other leader has nothing to say. */
static void check_told(void) {
    scene = "telling";
    open_it("");
    for (int turn = 0; turn < 3; turn++) {
        sent = 0;
        CHECK_OK(sago_set_size(file, PIECE + turn));
        expect_sent(rank == 0 ? 2 : 1);
        CHECK_OK(sago_preallocate(file, 2 * PIECE));
        expect_sent(rank == 0 ? 2 : 1);
    }
    MPI_Offset size = 0;
    CHECK_OK(sago_get_size(file, &size));
    CHECK_INT(size, 2 * PIECE);
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fake_node_ranks = 2;
    check_closing();
    check_planned("sago_strategy=direct", 2, 2);
    check_planned("sago_strategy=direct sago_agree=enter", 1, 1);
    check_planned("sago_strategy=aggregated sago_agree=enter", 2, 1);
    check_planned("sago_strategy=aggregated", 2, 1);
    check_planned("sago_strategy=aggregated sago_local_aggregators=1", 2, 1);
    check_planned("sago_strategy=aggregated sago_aggregators=1", 2, 1);
    check_planned("sago_strategy=aggregated sago_merge=on", 2, 2);
    check_reads("sago_strategy=aggregated");
    check_reads("sago_strategy=aggregated sago_local_aggregators=1");
    check_reads("sago_strategy=aggregated sago_aggregators=1");
    check_reads("sago_strategy=aggregated sago_aggregators=4 sago_aggregators_per_node=2");
    check_reads("sago_strategy=aggregated sago_window=4K");
    check_told();
    check_failing();
    check_kept();
    check_flush("sago_agree=enter sago_defer=on");
    return check_end();
}
