/* RUN: n=1,2,4 */
/* Requests of every kind in one list: collective ones, which are Sago's and wait for ranks that are elsewhere,
 * among the MPI library's own, which are complete long before. */
#include "dropin_check.h"

enum { N = 7, LISTED = 6 };
static int mine[N], back[N];
static MPI_File file;

typedef enum how { ALL, ANY, SOME } how;

static void finish(how wanted, MPI_Request requests[], MPI_Status statuses[]) {
    int left = LISTED, at, done, places[LISTED];
    MPI_Status some[LISTED];
    if (wanted == ALL)
        OK(MPI_Waitall(LISTED, requests, statuses));
    while (wanted != ALL && left > 0) {
        done = 1;
        if (wanted == ANY)
            OK(MPI_Waitany(LISTED, requests, &places[0], &some[0]));
        else
            OK(MPI_Waitsome(LISTED, requests, &done, places, some));
        if (done == MPI_UNDEFINED || places[0] == MPI_UNDEFINED)
            break;
        for (int i = 0; i < done; i++) {
            at = places[i];
            statuses[at] = some[i];
        }
        left -= done;
    }
}

/* One rank after the other, while the others wait at a barrier. */
static void in_turn(how wanted, int place) {
    MPI_Request requests[LISTED], started;
    MPI_Status statuses[LISTED];
    memset(back, 0, sizeof back);
    OK(MPI_File_iwrite_at_all(file, (MPI_Offset)sizeof mine * (place + rank), mine, N, MPI_INT, &started));
    for (int turn = 0; turn < ranks; turn++) {
        if (turn == rank) {
            requests[0] = MPI_REQUEST_NULL;
            OK(MPI_File_iwrite_at(file, 100000 + (MPI_Offset)sizeof mine * rank, mine, N - 1, MPI_INT,
                                  &requests[1]));
            requests[2] = started;
            OK(MPI_Recv_init(back, N, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[3]));
            OK(MPI_Start(&requests[3]));
            OK(MPI_Isend(mine, N - 2, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[4]));
            requests[5] = MPI_REQUEST_NULL;
            finish(wanted, requests, statuses);
            CHECK_INT(count_in(&statuses[1], MPI_INT), N - 1);
            CHECK_INT(count_in(&statuses[2], MPI_INT), N);
            CHECK_INT(count_in(&statuses[3], MPI_INT), N - 2);
            CHECK_INT(statuses[3].MPI_TAG, 1);
            CHECK(requests[2] == MPI_REQUEST_NULL && requests[3] != MPI_REQUEST_NULL);
            CHECK(memcmp(mine, back, (N - 2) * sizeof *mine) == 0);
            MPI_Request_free(&requests[3]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The same, looking again and again. */
static void looked_at(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (known_to_fail(PLAIN_MPICH,
                      "MPI_Testall while a nonblocking call of one rank is complete, and another not"))
        return;
    OK(MPI_File_iwrite_at_all(file, (MPI_Offset)sizeof mine * rank, mine, N, MPI_INT, &requests[0]));
    for (int turn = 0; turn < ranks; turn++) {
        int done = 0;
        if (turn == rank)
            OK(MPI_File_iwrite_at(file, 300000 + 4 * rank, mine, 1, MPI_INT, &requests[1]));
        while (turn == rank && !done)
            OK(MPI_Testall(2, requests, &done, statuses));
        if (turn == rank)
            CHECK(count_in(&statuses[0], MPI_INT) == N && count_in(&statuses[1], MPI_INT) == 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void ignored(void) {
    MPI_Request requests[3];
    OK(MPI_File_iwrite_at_all(file, (MPI_Offset)sizeof mine * rank, mine, N, MPI_INT, &requests[0]));
    OK(MPI_File_iwrite_at(file, 200000 + 4 * rank, mine, 1, MPI_INT, &requests[1]));
    OK(MPI_File_iwrite_at_all(file, (MPI_Offset)sizeof mine * (ranks + rank), mine, N, MPI_INT, &requests[2]));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    OK(MPI_Waitall(0, requests, MPI_STATUSES_IGNORE));
}

/* One of them fails: the statuses say which, and that the others are complete or, as MPICH may, still to be waited
 * for. */
static void one_fails(void) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Comm comm;
    if (known_to_fail(OPENMPI, "to be told that a message to oneself was too long"))
        return;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    OK(MPI_File_iwrite_at_all(file, (MPI_Offset)sizeof mine * rank, mine, N, MPI_INT, &requests[0]));
    OK(MPI_Irecv(back, 1, MPI_INT, 0, 2, comm, &requests[1]));
    OK(MPI_Isend(mine, N, MPI_INT, 0, 2, comm, &requests[2]));
    FAILS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK_INT(check_class(statuses[0].MPI_ERROR), MPI_SUCCESS);
    CHECK_INT(check_class(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
    int sent = check_class(statuses[2].MPI_ERROR);
    CHECK(sent == MPI_SUCCESS || sent == MPI_ERR_PENDING);
    if (sent == MPI_ERR_PENDING)
        OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    CHECK_INT(count_in(&statuses[0], MPI_INT), N);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    for (int i = 0; i < N; i++)
        mine[i] = rank * 100 + i;
    file = open_all("mixed", MODE_NEW);
    in_turn(ALL, 0);
    in_turn(ANY, ranks);
    in_turn(SOME, 2 * ranks);
    looked_at();
    ignored();
    one_fails();
    OK(MPI_File_close(&file));
    return check_end();
}
