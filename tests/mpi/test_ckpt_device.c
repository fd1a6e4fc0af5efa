/* RUN: n=1,3 cuda */
/* Checkpoints of arrays in the memory of a GPU, a made-up one: saved, restored, and what the device fails to copy.
 */
#include <sago/ckpt.h>

#include "fake_device.h"
#include "mpi/check.h"

enum { ROWS = 20, COLUMNS = 33, GHOST = 2, WIDTH = COLUMNS + 2 * GHOST, CELLS = (ROWS + 2 * GHOST) * WIDTH };

static fake_device gpu;
static double host[CELLS], back[CELLS];
static double *device;

/* Ghost cells have -1. */
static void fill(int whose) {
    for (int i = 0; i < CELLS; i++) {
        int row = i / WIDTH, column = i % WIDTH;
        bool inner = row >= GHOST && row < GHOST + ROWS && column >= GHOST && column < GHOST + COLUMNS;
        host[i] = inner ? whose + rank * 1e6 + i : -1;
    }
    gpu.put(device, host, sizeof host);
}

static void forget(void) {
    for (int i = 0; i < CELLS; i++)
        back[i] = -1;
    gpu.put(device, back, sizeof back);
}

static bool holds(void) {
    gpu.get(back, device, sizeof back);
    return memcmp(host, back, sizeof host) == 0;
}

static void protect(sago_ckpt *ckpt, unsigned char *own) {
    const int64_t global[] = {(int64_t)ROWS * ranks, COLUMNS}, first[] = {(int64_t)ROWS * rank, 0};
    const int64_t count[] = {ROWS, COLUMNS}, shape[] = {ROWS + 2 * GHOST, WIDTH}, ghosts[] = {GHOST, GHOST};
    const sago_block block = {
        .start = first, .count = count, .data = device, .mem_shape = shape, .mem_start = ghosts};
    CHECK_OK(sago_ckpt_protect(ckpt, "field", MPI_DOUBLE, 2, global, 1, &block));
    CHECK_OK(sago_ckpt_protect_local(ckpt, "own", own, 100));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const char *build = getenv("SAGO_BUILD");
    char folder[CHECK_PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%s/tests", build ? build : ".");
    if (argc < 2 || !fake_device_load(folder, argv[1], &gpu))
        MPI_Abort(MPI_COMM_WORLD, 1);
    device = gpu.allocate(sizeof host);
    unsigned char *own = gpu.allocate(100), plain[100];
    sago_ckpt *ckpt = NULL;
    const char *dir = scratch("ckpt");
    CHECK_OK(sago_ckpt_open(MPI_COMM_WORLD, dir, MPI_INFO_NULL, &ckpt));
    protect(ckpt, own);
    memset(plain, 'o' + rank, sizeof plain);
    gpu.put(own, plain, sizeof plain);
    fill(1);
    CHECK_OK(sago_ckpt_save(ckpt, 1));
    CHECK_OK(sago_ckpt_wait(ckpt, 1, SAGO_LEVEL_GLOBAL));
    forget();
    CHECK_OK(sago_ckpt_restore(ckpt, 1));
    CHECK(holds());
    gpu.get(plain, own, sizeof plain);
    CHECK(plain[0] == 'o' + rank && plain[99] == 'o' + rank);

    scene = "a copy fails";
    fill(2);
    gpu.fail_after(rank == ranks - 1 ? 3 : -1);
    CHECK_OK(sago_ckpt_save(ckpt, 2));
    EXPECT(sago_ckpt_wait(ckpt, 2, SAGO_LEVEL_GLOBAL), SAGO_ERR_IO, "made-up", -1);
    gpu.fail_after(-1);
    int64_t step = -1;
    CHECK_OK(sago_ckpt_latest(ckpt, SAGO_LEVEL_GLOBAL, &step));
    CHECK_INT(step, 1);
    CHECK_OK(sago_ckpt_save(ckpt, 3));
    CHECK_OK(sago_ckpt_wait(ckpt, 3, SAGO_LEVEL_GLOBAL));
    forget();
    gpu.fail_after(rank == 0 ? 0 : -1);
    EXPECT(sago_ckpt_restore(ckpt, 3), SAGO_ERR_IO, "device", -1);
    gpu.fail_after(-1);
    CHECK_OK(sago_ckpt_restore(ckpt, 3));
    CHECK(holds());
    CHECK_OK(sago_ckpt_close(&ckpt));
    return check_end();
}
