/* RUN: n=2,3,4 timeout=60 */
/* A rank finds in the file what it wrote itself, however it wrote it and whatever the others do meanwhile: no
 * barrier, no sync, and the file has grown. */
#include "dropin_check.h"

enum { ROUNDS = 40, N = 24 };

static MPI_Datatype every_other(void) {
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    return type;
}

/* The last rank writes alone, late; all read at the same place, with the same call. */
static void one_round(MPI_File file, int round, bool started) {
    MPI_Status status;
    MPI_Request request;
    int mine[N], back[N];
    MPI_Offset at = (MPI_Offset)round * N;
    fill(mine, round, sizeof mine, 0);
    memset(back, 0, sizeof back);
    if (rank == ranks - 1) {
        (void)usleep(500);
        OK(MPI_File_write_at(file, at, mine, N, MPI_INT, MPI_STATUS_IGNORE));
    }
    if (started) {
        OK(MPI_File_iread_at_all(file, at, back, N, MPI_INT, &request));
        OK(MPI_Wait(&request, &status));
    } else {
        OK(MPI_File_read_at_all(file, at, back, N, MPI_INT, &status));
    }
    if (rank == ranks - 1) {
        CHECK_INT(count_in(&status, MPI_INT), N);
        CHECK(memcmp(mine, back, sizeof mine) == 0);
    }
    meet();
}

static void rounds(const char *path, bool gaps, bool started) {
    MPI_File file = open_all(path, MODE_NEW);
    MPI_Datatype type = every_other();
    OK(MPI_File_set_view(file, 0, MPI_INT, gaps ? type : MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < ROUNDS; i++)
        one_round(file, i, started);
    MPI_Type_free(&type);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    rounds("plain", false, false);
    if (with_sago) { /* the libraries' own know no end of the file, or lose data where views have gaps */
        rounds("gaps", true, false);
        rounds("started", false, true);
    }
    return check_end();
}
