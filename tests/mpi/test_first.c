/* RUN: n=4 */
/* Between nodes, calls of one piece a rank: each rank accesses the file before the ranks meet, and they meet once.
 * What others do in the same call, or did by independent calls before, must not change what comes of it. */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { PIECE = 1000, RUNS = 40, APART = 16 };

static sago_file *file;
static int64_t sent; /* messages of this rank */

/* In place of MPI's function, in the library too. */
int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    sent++;
    return PMPI_Isend(buf, count, type, to, tag, comm, request);
}

static char byte_at(int64_t offset, int turn) { return (char)((offset * 7 + turn * 31) % 251); }

static void fill(char *buffer, int64_t offset, int64_t bytes, int turn) {
    for (int64_t i = 0; i < bytes; i++)
        buffer[i] = byte_at(offset + i, turn);
}

static void check_bytes(const char *buffer, int64_t offset, int64_t bytes, int turn) {
    for (int64_t i = 0; i < bytes; i++)
        CHECK(buffer[i] == byte_at(offset + i, turn));
}

static void write_piece(int turn) {
    char buffer[PIECE];
    int64_t offset = rank * (int64_t)PIECE;
    fill(buffer, offset, PIECE, turn);
    CHECK_OK(sago_write_at_all(file, offset, buffer, PIECE, MPI_BYTE, NULL));
}

/* Of the next rank's, which it wrote in the call before. */
static void read_piece(int turn) {
    char buffer[PIECE];
    MPI_Count bytes = 0;
    int64_t offset = (rank + 1) % ranks * (int64_t)PIECE;
    CHECK_OK(sago_read_at_all(file, offset, buffer, PIECE, MPI_BYTE, &bytes));
    CHECK(bytes == PIECE);
    check_bytes(buffer, offset, PIECE, turn);
}

/* Two nodes: one message of each leader's is one meeting. */
static void check_meetings(void) {
    for (int turn = 0; turn < 20; turn++) {
        sent = 0;
        write_piece(turn);
        CHECK(sent == (rank % fake_node_ranks == 0));
        sent = 0;
        read_piece(turn);
        CHECK(turn == 0 || sent == (rank % fake_node_ranks == 0));
    }
}

/* Rank 0 has many runs, which are gathered: the others' pieces with them, though they have been written. */
static void check_mixed(void) {
    for (int turn = 100; turn < 106; turn++) {
        char buffer[PIECE], all[PIECE];
        sago_extent extents[RUNS];
        for (int i = 0; i < RUNS; i++) {
            extents[i] = (sago_extent){i * (int64_t)APART, 1};
            buffer[i] = byte_at(extents[i].offset, turn);
        }
        const sago_extent whole = {rank * (int64_t)PIECE, PIECE};
        if (rank != 0)
            fill(buffer, whole.offset, PIECE, turn);
        CHECK_OK(sago_write_extents_all(file, rank == 0 ? RUNS : 1, rank == 0 ? extents : &whole, buffer));
        CHECK_OK(sago_read_at_all(file, 0, all, rank == 1 ? PIECE : 0, MPI_BYTE, NULL));
        for (int i = 0; rank == 1 && i < RUNS; i++)
            CHECK(all[extents[i].offset] == byte_at(extents[i].offset, turn));
        if (turn % 2 == 0) /* the next gathered one comes after one that was not */
            write_piece(turn);
    }
}

/* A rank that wrote by itself comes later than the others: what they read or write is ordered after that. */
static void check_strayed(void) {
    for (int turn = 200; turn < 220; turn++) {
        char own[PIECE], buffer[PIECE];
        fill(own, 0, PIECE, turn);
        if (rank == ranks - 1) {
            (void)usleep(1000);
            CHECK_OK(sago_write_at(file, 0, own, PIECE, MPI_BYTE, NULL));
        }
        CHECK_OK(sago_read_at_all(file, 0, buffer, rank == 0 ? PIECE : 0, MPI_BYTE, NULL));
        if (rank == 0)
            check_bytes(buffer, 0, PIECE, turn);
        if (rank == ranks - 1) {
            (void)usleep(1000);
            CHECK_OK(sago_write_at(file, 0, own, PIECE, MPI_BYTE, NULL));
        }
        write_piece(turn + 1000);
        read_piece(turn + 1000);
    }
}

/* All ranks are told, whoever it was, and the next call is as if nothing had been. */
static void check_errors(void) {
    char buffer[PIECE] = {0};
    for (int wrong = 0; wrong < ranks; wrong++) {
        write_piece(1);
        CHECK(sago_write_at_all(file, rank == wrong ? -1 : rank * (int64_t)PIECE, buffer, PIECE, MPI_BYTE, NULL) ==
              SAGO_ERR_ARG);
        write_piece(2);
        read_piece(2);
        sago_status status = rank == wrong
                                 ? sago_read_at_all(file, rank * (int64_t)PIECE, buffer, PIECE, MPI_BYTE, NULL)
                                 : sago_write_at_all(file, rank * (int64_t)PIECE, buffer, PIECE, MPI_BYTE, NULL);
        CHECK(status == SAGO_ERR_MISMATCH);
        write_piece(3);
        read_piece(3);
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fake_node_ranks = 2;
    CHECK_OK(open_hinted(scratch("first"), MPI_MODE_CREATE | MPI_MODE_RDWR, "", &file));
    check_meetings();
    check_mixed();
    check_strayed();
    check_errors();
    CHECK_OK(sago_close(&file));
    return check_end();
}
