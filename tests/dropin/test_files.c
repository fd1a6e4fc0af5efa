/* RUN: n=1,2,4 */
/* Several files and communicators, opening again and again, deleting on close, and where names lead. */
#include "dropin_check.h"

enum { N = 100 };
static char mine[N], back[N];

static void write_and_read(MPI_File file, int place) {
    memset(back, 0, N);
    OK(MPI_File_write_at_all(file, N * place, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, N * place, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
}

/* Files of all ranks, of half of them, of one each, used in turn. */
static void at_once(void) {
    MPI_Comm half;
    char name[32];
    int place;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &place);
    MPI_File all = open_all("of-all", MODE_NEW), again = open_all("of-all", MPI_MODE_RDWR);
    (void)snprintf(name, sizeof name, "of-half-%d", rank % 2);
    MPI_File part = open_in(half, name, MODE_NEW);
    (void)snprintf(name, sizeof name, "own-%d", rank);
    MPI_File own = open_in(MPI_COMM_SELF, name, MODE_NEW);
    MPI_Comm_free(&half);
    for (int i = 0; i < 3; i++) {
        write_and_read(all, rank);
        if (rank % 2 == 0) /* not in step with the other half */
            write_and_read(own, i);
        write_and_read(part, place);
        write_and_read(again, ranks + rank);
    }
    OK(MPI_File_close(&part));
    OK(MPI_File_close(&all));
    write_and_read(again, rank);
    write_and_read(own, 7);
    OK(MPI_File_close(&again));
    OK(MPI_File_close(&own));
    meet();
    CHECK_INT(plain_size("of-all"), 2 * N * ranks);
    CHECK_INT(plain_size(name), 8 * N);
}

static void again_and_again(void) {
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_File file = open_in(comm, "again", MODE_NEW);
        if (i % 2)
            MPI_Comm_free(&comm);
        write_and_read(file, i * ranks + rank);
        OK(MPI_File_close(&file));
        if (i % 2 == 0)
            MPI_Comm_free(&comm);
    }
    meet();
    CHECK_INT(plain_size("again"), 20 * N * ranks);
}

static void delete (void) {
    MPI_File file = open_all("doomed", MODE_NEW | MPI_MODE_DELETE_ON_CLOSE);
    write_and_read(file, rank);
    CHECK_INT(plain_size("doomed") >= 0, 1);
    meet();
    OK(MPI_File_close(&file));
    meet();
    CHECK_INT(plain_size("doomed"), -1);
    file = open_all("doomed", MODE_NEW | MPI_MODE_EXCL);
    write_and_read(file, rank);
    OK(MPI_File_close(&file));
    meet();
    CHECK(MPI_File_open(MPI_COMM_WORLD, "doomed", MODE_NEW | MPI_MODE_EXCL, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    meet();
    if (rank == 0)
        OK(MPI_File_delete("doomed", MPI_INFO_NULL));
    meet();
    CHECK_INT(plain_size("doomed"), -1);
}

/* A file that is open is the same file when its name is gone, or another's, or the process elsewhere. */
static void names(void) {
    MPI_File file = open_all("name", MODE_NEW);
    meet();
    if (rank == 0) {
        CHECK(rename("name", "renamed") == 0);
        CHECK(mkdir("folder", 0777) == 0);
        FILE *other = fopen("name", "w");
        CHECK(other && fputs("other", other) >= 0 && fclose(other) == 0);
    }
    meet();
    CHECK(chdir("folder") == 0);
    write_and_read(file, rank);
    OK(MPI_File_set_view(file, 1, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    write_and_read(file, rank);
    OK(MPI_File_close(&file));
    CHECK(chdir("..") == 0);
    meet();
    CHECK_INT(plain_size("name"), 5);
    CHECK_INT(plain_size("renamed"), N * ranks + 1);
}

/* Communicators that are not the world in order. */
static void orders(void) {
    MPI_Comm turned;
    int place;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    MPI_Comm_rank(turned, &place);
    MPI_File file = open_in(turned, "turned", MODE_NEW);
    OK(MPI_File_set_view(file, N * place, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    write_and_read(file, 0);
    OK(MPI_File_close(&file));
    MPI_Comm_free(&turned);
    meet();
    CHECK_INT(plain_size("turned"), N * ranks);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill(mine, 0, N, rank);
    at_once();
    again_and_again();
    delete ();
    names();
    orders();
    return check_end();
}
