/* Writing by extents: a rank that knows its pieces of the file as offsets and lengths needs no datatype.
 * Here records of 100 bytes are dealt out to the ranks like cards.
 *
 *     mpiexec -n 4 extents [FILE] */
#include <sago/sago.h>

#include <stdio.h>
#include <string.h>

enum { RECORD = 100, RECORDS = 500 }; /* bytes; records of a rank */

static char data[RECORDS * RECORD], back[RECORDS * RECORD];

static void check(sago_status status) {
    if (status == SAGO_OK)
        return;
    fprintf(stderr, "%s\n", sago_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "extents.dat";
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    memset(data, 'a' + rank % 26, sizeof data);

    sago_extent extents[RECORDS];
    for (int64_t i = 0; i < RECORDS; i++) {
        extents[i].offset = (i * ranks + rank) * RECORD;
        extents[i].length = RECORD;
    }

    sago_file *file;
    MPI_Count bytes;
    check(sago_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    check(sago_write_extents_all(file, RECORDS, extents, data));
    check(sago_read_extents_all(file, RECORDS, extents, back, &bytes));
    check(sago_close(&file));

    int wrong = bytes != sizeof data || memcmp(data, back, sizeof data) != 0;
    printf("rank %d: %s\n", rank, wrong ? "WRONG: read back something else" : "read back what it wrote");
    MPI_Finalize();
    return wrong;
}
