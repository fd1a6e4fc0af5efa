/* RUN: n=1,4 */
/* MPI_Comm_split_type by storage (paper 003): the split type is one that only Sago knows. */
#include "dropin_check.h"

enum { TYPE_NEIGHBORHOOD = 0x5a60 };

static int split(const char *key, const char *value, MPI_Comm *comm) {
    MPI_Info info;
    MPI_Info_create(&info);
    if (key)
        MPI_Info_set(info, key, value);
    *comm = MPI_COMM_WORLD;
    int code = MPI_Comm_split_type(MPI_COMM_WORLD, TYPE_NEIGHBORHOOD, rank, info, comm);
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
    FAILS(split("nbhd_network", "x", &comm), MPI_ERR_INFO_VALUE);
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
    if (with_sago)
        by_storage();
    return check_end();
}
