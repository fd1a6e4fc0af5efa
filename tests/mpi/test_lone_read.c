/* RUN: n=4 */
/* Between nodes, reads of one piece a rank: after the first one nobody asks for the file's size any more, and each
 * rank finds the end of the file by itself, wherever it is and however the file changed meanwhile. */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { PIECE = 1000, UNTOUCHED = 0x5a };

static sago_file *file;

static char byte_at(int64_t offset) { return (char)(offset * 7 % 251); }

static void write_file(int64_t size) {
    char *all = malloc((size_t)size);
    for (int64_t i = 0; i < size; i++)
        all[i] = byte_at(i);
    CHECK_OK(sago_set_size(file, size));
    CHECK_OK(sago_write_at_all(file, 0, all, rank == 0 ? size : 0, MPI_BYTE, NULL));
    free(all);
}

static int64_t there_is(int64_t offset, int64_t size) {
    return size <= offset ? 0 : size - offset < PIECE ? size - offset : PIECE;
}

/* What was there is in the buffer, `every` bytes apart; and nothing else. */
static void check_piece(const char *buffer, int every, int64_t offset, int64_t bytes) {
    for (int64_t i = 0; i < PIECE * every; i++) {
        bool is_read = i % every == 0 && i / every < bytes;
        CHECK(buffer[i] == (is_read ? byte_at(offset + i / every) : (char)UNTOUCHED));
    }
}

static void read_piece(int64_t size, int every, bool nonblocking) {
    char buffer[2 * PIECE];
    MPI_Datatype type;
    MPI_Count bytes = -1;
    int64_t offset = rank * (int64_t)PIECE;
    memset(buffer, UNTOUCHED, sizeof buffer);
    MPI_Type_vector(PIECE, 1, every, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    if (nonblocking) {
        sago_request *request = NULL;
        CHECK_OK(sago_iread_at_all(file, offset, buffer, 1, type, &request));
        CHECK_OK(sago_wait(&request, &bytes));
    } else {
        CHECK_OK(sago_read_at_all(file, offset, buffer, 1, type, &bytes));
    }
    MPI_Type_free(&type);
    CHECK(bytes == there_is(offset, size));
    check_piece(buffer, every, offset, bytes);
}

/* Two pieces a rank: planned, so that the size is asked for after all. */
static void read_planned(int64_t size) {
    char buffer[2 * PIECE];
    int64_t first = rank * (int64_t)PIECE, second = (ranks + rank) * (int64_t)PIECE;
    const sago_extent extents[] = {{first, PIECE}, {second, PIECE}};
    MPI_Count bytes = -1;
    memset(buffer, UNTOUCHED, sizeof buffer);
    CHECK_OK(sago_read_extents_all(file, 2, extents, buffer, &bytes));
    CHECK(bytes == there_is(first, size) + there_is(second, size));
    check_piece(buffer, 1, first, there_is(first, size));
    check_piece(buffer + PIECE, 1, second, there_is(second, size));
}

static void read_all_ways(int64_t size) {
    for (int turn = 0; turn < 2;
         turn++) { /* the first piece after a planned read asks for the size, others do not */
        read_piece(size, 1, false);
        read_piece(size, 1, false);
        read_piece(size, 2, false);
        read_piece(size, 1, true);
        read_piece(size, 2, true);
        read_planned(size);
    }
}

/* Ten of each round's reads go without a plan, two with one. */
static void check_routes(int64_t rounds) {
    sago_stats stats = SAGO_STATS_INIT;
    CHECK_OK(sago_get_stats(file, &stats));
    CHECK(stats.direct_calls >= rounds * 10 && stats.aggregated_calls >= rounds * 2);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fake_node_ranks = 2;
    CHECK_OK(open_hinted(scratch("lone"), MPI_MODE_CREATE | MPI_MODE_RDWR, "", &file));
    const int64_t sizes[] = {(int64_t)2 * ranks * PIECE, 3 * PIECE - 300, 2 * PIECE, 1, 0, (int64_t)ranks * PIECE};
    const int64_t rounds = sizeof sizes / sizeof *sizes;
    for (int64_t i = 0; i < rounds; i++) {
        write_file(sizes[i]);
        read_all_ways(sizes[i]);
    }
    check_routes(rounds);
    CHECK_OK(sago_close(&file));
    return check_end();
}
