/* RUN: n=1,2,4 */
/* Nonblocking calls: requests as handles, errors that all ranks learn, files in any order, progress. */
#include <errno.h>

#include "mpi/check.h"
#include "store/store.h"
#include "support/inject.h"

enum { N = 3000 };

static char mine[N], back[N];

static sago_file *open_new(const char *name, const char *hints) {
    sago_file *file = NULL;
    CHECK_OK(open_hinted(scratch(name), MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file));
    return file;
}

static sago_request *start_write(sago_file *file, int64_t block, const char *bytes) {
    sago_request *request = NULL;
    CHECK_OK(sago_iwrite_at_all(file, (block * ranks + rank) * N, bytes, N, MPI_BYTE, &request));
    CHECK(request);
    return request;
}

static void wait_whole(sago_request **request) {
    MPI_Count bytes = -1;
    CHECK_OK(sago_wait(request, &bytes));
    CHECK_INT(bytes, N);
    CHECK(!*request);
}

/* ---- Handles ---- */

static void handles(void) {
    scene = "handles";
    sago_file *file = open_new("handles", "");
    int done = -1;
    MPI_Count bytes = -1;
    sago_request *request = NULL, *copy;
    CHECK_OK(sago_wait(&request, &bytes));
    CHECK_INT(bytes, 0);
    CHECK_OK(sago_test(&request, &done, NULL));
    CHECK_INT(done, 1);
    CHECK_INT(sago_wait(NULL, NULL), SAGO_ERR_HANDLE);
    CHECK_INT(sago_test(NULL, &done, NULL), SAGO_ERR_HANDLE);
    CHECK_INT(sago_iwrite_at_all(NULL, 0, mine, N, MPI_BYTE, &request), SAGO_ERR_HANDLE);
    request = copy = start_write(file, 0, mine);
    CHECK_INT(sago_test(&request, NULL, NULL), SAGO_ERR_ARG);
    wait_whole(&request);
    CHECK_INT(sago_wait(&copy, NULL), SAGO_ERR_HANDLE);
    CHECK_INT(sago_test(&copy, &done, NULL), SAGO_ERR_HANDLE);
    /* Closed before it was waited for. */
    request = start_write(file, 1, mine);
    CHECK_OK(sago_close(&file));
    CHECK_INT(plain_size(scratch("handles")) > 0, 1);
    done = 0;
    CHECK_OK(sago_test(&request, &done, &bytes));
    CHECK_INT(done, 1);
    CHECK_INT(bytes, N);
    CHECK_INT(sago_iread_at_all(file, 0, back, N, MPI_BYTE, &request), SAGO_ERR_HANDLE);
}

/* ---- Errors ---- */

/* One rank's arguments: every rank gets the same status, and which rank it was. */
static void wrong_arguments(void) {
    scene = "wrong arguments";
    sago_file *file = open_new("arguments", "");
    int culprit = ranks - 1;
    sago_request *wrong, *more = NULL;
    sago_extent extents[2] = {{100, 50}, {120, 50}}, fine[1] = {{(int64_t)rank * N, N}};
    CHECK_OK(sago_iwrite_at_all(file, rank == culprit ? -1 : 0, mine, rank == 0 ? 1 : 0, MPI_BYTE, &wrong));
    sago_request *right = start_write(file, 0, mine); /* what comes after it is not harmed */
    EXPECT(sago_wait(&wrong, NULL), SAGO_ERR_ARG, "sago_iwrite_at_all", culprit);
    CHECK_OK(sago_iwrite_extents_all(file, rank == 0 ? 2 : 0, extents, mine, &wrong));
    EXPECT(sago_wait(&wrong, NULL), SAGO_ERR_EXTENTS, "extent 1", 0);
    wait_whole(&right);
    CHECK_OK(sago_iread_extents_all(file, 1, rank == 0 ? NULL : fine, back, &wrong));
    CHECK_OK(sago_iread_extents_all(file, 1, fine, back, &right));
    wait_whole(&right); /* done, so the one before is, too; a message of its own */
    EXPECT(sago_wait(&wrong, NULL), SAGO_ERR_ARG, "list is NULL", 0);
    /* Nowhere to put the request: told at once, and to those who wait. */
    sago_status status =
        sago_iwrite_at_all(file, 0, mine, rank == 0 ? 1 : 0, MPI_BYTE, rank == culprit ? NULL : &more);
    CHECK_INT(status, rank == culprit ? SAGO_ERR_ARG : SAGO_OK);
    if (rank != culprit)
        CHECK_INT(sago_wait(&more, NULL), SAGO_ERR_ARG);
    CHECK_OK(sago_close(&file));
}

static int failing_rank;
static int failing_write(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return rank == failing_rank && op->kind == SAGOI_OP_WRITE ? ENOSPC : 0;
}

/* The store fails on one rank, which aggregates, or writes by itself. */
static void failing_store(const char *hints) {
    scene = hints;
    static const file_hooks hooks = {.before = failing_write};
    sago_file *file = open_new("failing", hints);
    sago_request *first = start_write(file, 0, mine), *second;
    wait_whole(&first);
    meet();
    inject_file_hooks(&hooks);
    failing_rank = 0;
    first = start_write(file, 1, mine);
    second = start_write(file, 2, mine);
    EXPECT(sago_wait(&second, NULL), SAGO_ERR_NO_SPACE, "sago_iwrite_at_all", 0);
    EXPECT(sago_wait(&first, NULL), SAGO_ERR_NO_SPACE, "sago_iwrite_at_all", 0);
    meet();
    inject_file_hooks(NULL);
    first = start_write(file, 1, mine);
    wait_whole(&first);
    CHECK_OK(sago_close(&file));
}

/* A failure that nobody has asked for yet leaves other calls' messages alone. */
static void messages(void) {
    scene = "messages";
    sago_file *file = open_new("messages", "");
    sago_request *wrong, *right;
    CHECK_OK(sago_iwrite_at_all(file, -7, mine, 1, MPI_BYTE, &wrong));
    right = start_write(file, 0, mine);
    wait_whole(&right);
    CHECK_INT(strlen(sago_error_message()), 0);
    CHECK_INT(sago_delete("", MPI_INFO_NULL), SAGO_ERR_ARG);
    char before[512];
    (void)snprintf(before, sizeof before, "%s", sago_error_message());
    CHECK(strcmp(before, sago_error_message()) == 0);
    EXPECT(sago_wait(&wrong, NULL), SAGO_ERR_ARG, "-7", -1);
    CHECK_OK(sago_close(&file));
}

/* Ranks in different calls: all learn it. */
static void mismatch(void) {
    scene = "mismatch";
    sago_file *file = open_new("mismatch", "");
    sago_request *request = NULL;
    sago_status status;
    if (rank == 0) {
        CHECK_OK(sago_iwrite_at_all(file, 0, mine, 1, MPI_BYTE, &request));
        status = sago_wait(&request, NULL);
    } else {
        status = sago_write_at_all(file, 0, mine, 1, MPI_BYTE, NULL);
    }
    CHECK_INT(status, ranks > 1 ? SAGO_ERR_MISMATCH : SAGO_OK);
    CHECK_OK(sago_close(&file));
}

/* ---- Order ---- */

/* Opposite orders on two files, and blocking on a third one meanwhile. */
static void orders(void) {
    scene = "orders";
    sago_file *a = open_new("order-a", ""), *b = open_new("order-b", "sago_strategy=aggregated"),
              *c = open_new("order-c", "sago_strategy=direct");
    sago_request *of_a, *of_b;
    for (int step = 0; step < 20; step++) {
        if (rank % 2) {
            of_a = start_write(a, step, mine);
            of_b = start_write(b, step, mine);
        } else {
            of_b = start_write(b, step, mine);
            of_a = start_write(a, step, mine);
        }
        if (step % 3 == 0)
            CHECK_OK(sago_write_at_all(c, (MPI_Offset)(step * ranks + rank) * N, mine, N, MPI_BYTE, NULL));
        wait_whole(rank % 3 ? &of_a : &of_b);
        wait_whole(rank % 3 ? &of_b : &of_a);
    }
    CHECK_INT(stats_of(a).nonblocking_calls, 20);
    CHECK_INT(stats_of(b).collective_writes, 20);
    CHECK_INT(stats_of(b).bytes_written, 20 * N);
    CHECK_OK(sago_close(&c));
    CHECK_OK(sago_close(&a));
    CHECK_OK(sago_close(&b));
    CHECK_INT(plain_size(scratch("order-a")), (int64_t)20 * ranks * N);
}

/* ---- Progress ---- */

/* Starting never waits: the other ranks start theirs only after they have heard that rank 0 went on. */
static void never_waits(const char *hints) {
    scene = hints;
    sago_file *file = open_new("starting", hints);
    sago_request *first = NULL, *second = NULL;
    char word = 0;
    if (rank == 0) {
        first = start_write(file, 0, mine);
        second = start_write(file, 1, mine);
        for (int r = 1; r < ranks; r++)
            MPI_Send(&word, 1, MPI_CHAR, r, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&word, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        first = start_write(file, 0, mine);
        second = start_write(file, 1, mine);
    }
    wait_whole(&second);
    wait_whole(&first);
    CHECK_OK(sago_close(&file));
}

/* One rank computes and only tests now and then, the others wait; then a rank waits for another request, or in a
 * blocking call on another file, while the others need it. */
static void others_go_on(void) {
    scene = "others go on";
    sago_file *one = open_new("one", ""), *two = open_new("two", "");
    sago_request *first = start_write(one, 0, mine), *second;
    if (rank == 0)
        for (int done = 0; !done; (void)usleep(2000)) {
            MPI_Count bytes = -1;
            CHECK_OK(sago_test(&first, &done, &bytes));
            CHECK_INT(bytes, done ? N : 0);
        }
    else
        wait_whole(&first);
    first = start_write(one, 1, mine);
    second = start_write(two, 1, mine);
    wait_whole(rank == 0 ? &second : &first);
    first = rank == 0 ? first : start_write(one, 2, mine);
    if (rank == 0) {
        wait_whole(&first);
        first = start_write(one, 2, mine);
    } else {
        wait_whole(&second);
    }
    CHECK_OK(sago_write_at_all(two, (MPI_Offset)rank * N, mine, N, MPI_BYTE, NULL)); /* lets `first` go on */
    wait_whole(&first);
    CHECK_OK(sago_close(&one));
    CHECK_OK(sago_close(&two));
}

/* Calls on one file are done in the order they were started: what was written before is read. */
static void in_order(void) {
    scene = "in order";
    sago_file *file = open_new("in-order", "");
    sago_request *write = start_write(file, 0, mine), *read;
    MPI_Count bytes = -1;
    int next = (rank + 1) % ranks;
    memset(back, 0, N);
    CHECK_OK(sago_iread_at_all(file, (MPI_Offset)next * N, back, N, MPI_BYTE, &read));
    CHECK_OK(sago_wait(&read, &bytes));
    CHECK_INT(bytes, N);
    for (int i = 0; i < N; i++)
        if ((unsigned char)back[i] != byte_of(i, next))
            CHECK_INT(back[i], byte_of(i, next));
    wait_whole(&write);
    /* Past the end of the file. */
    CHECK_OK(sago_iread_at_all(file, (MPI_Offset)ranks * N - 10, back, N, MPI_BYTE, &read));
    CHECK_OK(sago_wait(&read, &bytes));
    CHECK_INT(bytes, 10);
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill_bytes(mine, N, rank);
    handles();
    wrong_arguments();
    failing_store("sago_strategy=direct");
    failing_store("sago_strategy=aggregated sago_map=off sago_aggregators=1");
    messages();
    mismatch();
    orders();
    never_waits("sago_strategy=direct");
    never_waits("sago_strategy=mapped sago_map=on");
    never_waits("sago_strategy=aggregated");
    others_go_on();
    in_order();
    return check_end();
}
