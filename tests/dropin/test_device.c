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
    expect_stat("atomic", 2 * ranks);
    prepare(6);
    OK(MPI_File_write_ordered(file, device, N, MPI_BYTE, &status));
    expect_stat("shared_pointer", ranks);
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
    OK(MPI_File_close(&file));
    return check_end();
}
