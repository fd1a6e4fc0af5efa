/* RUN: n=1,4 */
/* MPI_Comm_split_type by storage (paper 003): by the split type that only Sago knows, and by the MPI library's own
 * where it has one. */
#include "dropin_check.h"

enum { SAGO_NEIGHBORHOOD = 0x5a60 };
#ifndef MPIX_COMM_TYPE_NEIGHBORHOOD
#define MPIX_COMM_TYPE_NEIGHBORHOOD SAGO_NEIGHBORHOOD
#endif

static int split_type;

static int split(const char *key, const char *value, MPI_Comm *comm) {
    MPI_Info info;
    MPI_Info_create(&info);
    if (key)
        MPI_Info_set(info, key, value);
    *comm = MPI_COMM_WORLD;
    int code = MPI_Comm_split_type(MPI_COMM_WORLD, split_type, rank, info, comm);
    MPI_Info_free(&info);
    return code;
}

static int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

static void by_storage(void) {
    MPI_Comm comm;
    OK(split("nbhd_common_dirname", ".", &comm));
    CHECK_INT(size_of(comm), ranks);
    MPI_Comm_free(&comm);
    OK(split(NULL, NULL, &comm));
    CHECK(comm == MPI_COMM_NULL);
    setenv("SAGO_LOCAL_DIRS", ".:./missing", 1); /* a default, as the site file may have it */
    OK(split(NULL, NULL, &comm));
    CHECK_INT(size_of(comm), ranks);
    MPI_Comm_free(&comm);
    unsetenv("SAGO_LOCAL_DIRS");
    FAILS(split("nbhd_color", "x", &comm), MPI_ERR_INFO_VALUE);
    CHECK(comm == MPI_COMM_NULL);
    FAILS(split("nbhd_common_dirname", "./missing", &comm), MPI_ERR_NO_SUCH_FILE);
    CHECK(comm == MPI_COMM_NULL);
}

/* What the MPI library knows is still its own. */
static void by_others(void) {
    MPI_Comm comm;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    CHECK_INT(size_of(comm), ranks);
    MPI_Comm_free(&comm);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_File file = open_all("file", MODE_NEW);
    OK(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    by_others();
    const int types[] = {SAGO_NEIGHBORHOOD, MPIX_COMM_TYPE_NEIGHBORHOOD};
    for (int i = 0; with_sago && i < 2; i++) {
        split_type = types[i];
        by_storage();
    }
    return check_end();
}
