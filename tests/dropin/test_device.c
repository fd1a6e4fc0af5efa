/* RUN: n=1,2 */
/* Buffers in the memory of a GPU, a made-up one that nothing but its own copy function can touch, in calls that
 * Sago serves and in calls that the MPI library does. */
#include "fake_device.h"

#include "dropin_check.h"

enum { N = 5000 };

static fake_device gpu;
static char host[N], back[N];
static char *device;

static void prepare(int whose) {
    fill(host, 0, N, whose + rank);
    gpu.put(device, host, N);
}

static void forget(void) {
    memset(back, 0, N);
    gpu.put(device, back, N);
}

static bool holds(void) {
    gpu.get(back, device, N);
    return memcmp(back, host, N) == 0;
}

static void served(MPI_File file) {
    MPI_Offset here = (MPI_Offset)N * rank;
    MPI_Status status;
    MPI_Request request;
    prepare(1);
    OK(MPI_File_write_at_all(file, here, device, N, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    forget();
    OK(MPI_File_read_at_all(file, here, device, N, MPI_BYTE, &status));
    CHECK(holds());
    prepare(2);
    OK(MPI_File_iwrite_at_all(file, here, device, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    forget();
    OK(MPI_File_iread_at_all(file, here, device, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(holds());
}

static void handed(MPI_File file) {
    MPI_Offset here = (MPI_Offset)N * rank;
    MPI_Status status;
    MPI_Request request;
    prepare(3);
    OK(MPI_File_write_at(file, here, device, N, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    forget();
    OK(MPI_File_seek(file, here, MPI_SEEK_SET));
    OK(MPI_File_read(file, device, N, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    CHECK(holds());
    prepare(4);
    OK(MPI_File_iwrite_at(file, here, device, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    forget();
    OK(MPI_File_iread_at(file, here, device, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(holds());
    meet();
    prepare(5);
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_write_at_all(file, here, device, N, MPI_BYTE, &status));
    forget();
    OK(MPI_File_read_at_all(file, here, device, N, MPI_BYTE, &status));
    CHECK(holds());
    OK(MPI_File_set_atomicity(file, 0));
    expect_stat("atomic", 6 * ranks);
    prepare(6);
    OK(MPI_File_write_ordered(file, device, N, MPI_BYTE, &status));
    expect_stat("shared_pointer", 3 * ranks);
}

/* What the MPI library begins it ends, and it may use its copy until then. */
static void handed_split(MPI_File file) {
    MPI_Offset here = (MPI_Offset)N * rank;
    MPI_Status status;
    OK(MPI_File_set_atomicity(file, 1));
    prepare(7);
    OK(MPI_File_write_at_all_begin(file, here, device, N, MPI_BYTE));
    OK(MPI_File_write_at_all_end(file, device, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    forget();
    OK(MPI_File_seek(file, here, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin(file, device, N, MPI_BYTE));
    OK(MPI_File_read_all_end(file, device, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    CHECK(holds());
    OK(MPI_File_set_atomicity(file, 0));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    prepare(8);
    OK(MPI_File_write_ordered_begin(file, device, N, MPI_BYTE));
    OK(MPI_File_write_ordered_end(file, device, &status));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    forget();
    OK(MPI_File_read_ordered_begin(file, device, N, MPI_BYTE));
    OK(MPI_File_read_ordered_end(file, device, &status));
    CHECK(holds());
}

static MPI_Datatype backwards(void) {
    MPI_Datatype type;
    OK(MPI_Type_create_resized(MPI_BYTE, 0, -1, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

static MPI_Datatype addressed(const void *buffer) {
    MPI_Datatype type;
    MPI_Aint address;
    int length = N;
    OK(MPI_Get_address(buffer, &address));
    OK(MPI_Type_create_hindexed(1, &length, &address, MPI_BYTE, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

/* Where the buffer's first byte is not where the pointer points. */
static void elsewhere(MPI_File file) {
    MPI_Offset here = (MPI_Offset)N * rank;
    MPI_Datatype from_bottom = addressed(device), back_to_front = backwards();
    prepare(9);
    OK(MPI_File_write_at(file, here, MPI_BOTTOM, 1, from_bottom, MPI_STATUS_IGNORE));
    forget();
    OK(MPI_File_read_at(file, here, MPI_BOTTOM, 1, from_bottom, MPI_STATUS_IGNORE));
    CHECK(holds());
    OK(MPI_File_write_at(file, here, device + N - 1, N, back_to_front, MPI_STATUS_IGNORE));
    forget();
    OK(MPI_File_read_at(file, here, device + N - 1, N, back_to_front, MPI_STATUS_IGNORE));
    CHECK(holds());
    OK(MPI_Type_free(&from_bottom));
    OK(MPI_Type_free(&back_to_front));
}

/* One rank's copy fails: it is told, and the others are not left waiting. */
static void failing(MPI_File file) {
    MPI_Offset here = (MPI_Offset)N * rank;
    OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    OK(MPI_File_set_atomicity(file, 1));
    gpu.fail_after(rank == 0 ? 0 : -1);
    CHECK((MPI_File_write_at_all(file, here, device, N, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS) ==
          (rank == 0));
    gpu.fail_after(-1);
    OK(MPI_File_write_at_all(file, here, device, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_atomicity(file, 0));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    char folder[512];
    const char *build = getenv("SAGO_BUILD");
    (void)snprintf(folder, sizeof folder, "%s/tests", build ? build : ".");
    if (known_to_fail(PLAIN, "memory of a GPU, in an MPI library that knows none"))
        return check_end();
    MPI_File file = open_all("device", MODE_NEW); /* before the runtime is there */
    if (!fake_device_load(folder, "cuda", &gpu))
        MPI_Abort(MPI_COMM_WORLD, 1);
    device = gpu.allocate(N);
    served(file);
    handed(file);
    handed_split(file);
    elsewhere(file);
    failing(file);
    OK(MPI_File_close(&file));
    return check_end();
}
