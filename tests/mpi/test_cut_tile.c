/* RUN: n=2 */
/* Accesses that begin inside a block of the view and end inside the next one, with fewer bytes than a block has:
 * two runs, which a rank that goes alone must not take for one. */
#include <string.h>

#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { BLOCK = 100000, BLOCKS = 4, PIECE = 60000, FROM = 70000 };

static const char path[] = "cut_tile.data";
static unsigned char mine[BLOCK * BLOCKS], got[PIECE];

static void read_piece(sago_file *file, int64_t from) {
    MPI_Count bytes = 0;
    memset(got, 0, sizeof got);
    CHECK_OK(sago_read_at_all(file, from, got, PIECE, MPI_BYTE, &bytes));
    CHECK_INT(bytes, PIECE);
    CHECK(memcmp(got, mine + from, PIECE) == 0);
}

int main(int argc, char **argv) {
    sago_file *file = NULL;
    MPI_Count bytes = 0;
    check_start(&argc, &argv);
    fake_node_ranks = 1;
    for (int i = 0; i < BLOCK * BLOCKS; i++)
        mine[i] = (unsigned char)(i * 7 / 3 + 100 * rank);
    CHECK_OK(sago_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    view_turns(file, BLOCK);
    CHECK_OK(sago_write_at_all(file, 0, mine, BLOCK * BLOCKS, MPI_BYTE, &bytes));
    read_piece(file, 0);
    for (int i = 0; i < BLOCKS - 1; i++)
        read_piece(file, i * BLOCK + FROM);
    for (int i = 0; i < PIECE; i++)
        mine[FROM + i] ^= 0x5a;
    CHECK_OK(sago_write_at_all(file, FROM, mine + FROM, PIECE, MPI_BYTE, &bytes));
    CHECK_INT(bytes, PIECE);
    read_piece(file, FROM);
    read_piece(file, FROM + PIECE);
    CHECK_OK(sago_close(&file));
    return check_end();
}
