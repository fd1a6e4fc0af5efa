/* RUN: n=1,3 cuda */
/* RUN: n=4 cuda nodes */
/* RUN: n=2 hip */
/* RUN: n=2 ze */
/* Buffers in the memory of a GPU, a made-up one that nothing but its own copy function can touch: all ways in and
 * out, in every way that bytes can go, give the same file and the same data as the host's memory. */
#include "fake_device.h"
#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { N = 30000, RUN = 24, LARGE = 5 << 20 };

static fake_device gpu;
static const char *path;
static unsigned char *host, *back; /* LARGE bytes */
static unsigned char *device;      /* the same */

static sago_file *start(const char *hints) {
    path = fresh("device");
    return create_hinted(path, hints);
}

static void fill(int64_t n, int whose) {
    fill_bytes(host, n, whose + rank);
    gpu.put(device, host, (size_t)n);
}

/* What the device has now, after it was made to have something else. */
static void forget(int64_t n) {
    memset(back, 0, (size_t)n);
    gpu.put(device, back, (size_t)n);
}

static bool holds(int64_t n) {
    gpu.get(back, device, (size_t)n);
    return memcmp(back, host, (size_t)n) == 0;
}

static void check_file_is(int64_t n, int64_t turn, int whose) {
    meet();
    if (rank == 0) {
        unsigned char *is = malloc((size_t)(n * ranks));
        CHECK_INT(plain_read(path, is, n * ranks, 0), n * ranks);
        int64_t wrong = 0;
        for (int64_t i = 0; i < n * ranks; i++)
            wrong += is[i] != byte_of(i / (turn * ranks) * turn + i % turn, whose + (int)(i / turn % ranks));
        CHECK_INT(wrong, 0);
        free(is);
    }
    meet();
}

/* Blocking, nonblocking and independent calls. */
static void by_view(const char *hints, int64_t n, int64_t turn) {
    sago_file *file = start(hints);
    sago_request *request = NULL;
    MPI_Count moved = 0;
    view_turns(file, turn);
    for (int pass = 0; pass < 2; pass++) {
        fill(n, 100 * pass);
        CHECK_OK(sago_write_at_all(file, 0, device, n, MPI_BYTE, &moved));
        CHECK_INT(moved, n);
        forget(n);
        CHECK_OK(sago_read_at_all(file, 0, device, n, MPI_BYTE, &moved));
        CHECK_INT(moved, n);
        CHECK(holds(n));
    }
    check_file_is(n, turn, 100);
    fill(n, 300);
    CHECK_OK(sago_iwrite_at_all(file, 0, device, n, MPI_BYTE, &request));
    CHECK_OK(sago_wait(&request, &moved));
    forget(n);
    meet();
    CHECK_OK(sago_iread_at_all(file, 0, device, n, MPI_BYTE, &request));
    CHECK_OK(sago_wait(&request, &moved));
    CHECK(holds(n));
    fill(n, 500);
    meet();
    CHECK_OK(sago_write_at(file, 0, device, n, MPI_BYTE, &moved));
    forget(n);
    CHECK_OK(sago_read_at(file, 0, device, n, MPI_BYTE, &moved));
    CHECK(holds(n));
    CHECK_OK(sago_sync(file));
    check_file_is(n, turn, 500);
    CHECK_OK(sago_close(&file));
}

/* Memory with gaps, which stay as they are. */
static void with_gaps(const char *hints) {
    enum { PIECE = 7, STEP = 16, PIECES = 500 };
    sago_file *file = start(hints);
    MPI_Datatype memory;
    MPI_Count moved = 0;
    MPI_Type_vector(PIECES, PIECE, STEP, MPI_BYTE, &memory);
    MPI_Type_commit(&memory);
    view_turns(file, RUN);
    fill((int64_t)PIECES * STEP, 40);
    CHECK_OK(sago_write_at_all(file, 0, device, 1, memory, &moved));
    CHECK_INT(moved, PIECES * PIECE);
    forget((int64_t)PIECES * STEP);
    CHECK_OK(sago_read_at_all(file, 0, device, 1, memory, &moved));
    gpu.get(back, device, (size_t)PIECES * STEP);
    int64_t wrong = 0;
    for (int i = 0; i < PIECES * STEP; i++)
        wrong += back[i] != (i % STEP < PIECE ? host[i] : 0);
    CHECK_INT(wrong, 0);
    MPI_Type_free(&memory);
    CHECK_OK(sago_close(&file));
}

/* By extents, and what lies past the end of the file is left alone. */
static void by_extents(const char *hints) {
    sago_file *file = start(hints);
    const sago_extent extents[] = {{rank * 100, 60}, {10000 + rank * 100, 40}};
    MPI_Count moved = 0;
    fill(200, 60);
    CHECK_OK(sago_write_extents_all(file, 2, extents, device));
    forget(200);
    CHECK_OK(sago_read_extents_all(file, 2, extents, device, &moved));
    CHECK_INT(moved, 100);
    CHECK(holds(100));
    const sago_extent beyond[] = {{20000 + rank * 100, 60}};
    CHECK_OK(sago_read_extents_all(file, 1, beyond, device, &moved));
    CHECK_INT(moved, 0);
    CHECK(holds(100));
    CHECK_OK(sago_close(&file));
}

/* Declared: one variable on the device, one on the host. */
static void declared(const char *hints) {
    sago_file *file = start(hints);
    sago_series *series = NULL;
    sago_var vars[2] = {SAGO_VAR_INIT, SAGO_VAR_INIT};
    unsigned char beside[100];
    for (int i = 0; i < 2; i++) {
        vars[i].offset = i * N * ranks + rank * (i ? 100 : N);
        vars[i].count = i ? 100 : N;
        vars[i].type = MPI_BYTE;
    }
    memset(beside, 'b', sizeof beside);
    fill(N, 80);
    CHECK_OK(sago_declare(file, 2, vars, &series));
    CHECK_OK(sago_series_write(series, 0, device));
    CHECK_OK(sago_series_write(series, 1, beside));
    CHECK_OK(sago_series_complete(series));
    forget(N);
    memset(beside, 0, sizeof beside);
    CHECK_OK(sago_series_read(series, 0, device));
    CHECK_OK(sago_series_read(series, 1, beside));
    CHECK_OK(sago_series_complete(series));
    CHECK(holds(N));
    CHECK(beside[0] == 'b' && beside[99] == 'b');
    CHECK_OK(sago_series_free(&series));
    CHECK_OK(sago_close(&file));
}

/* A copy that fails is told on every rank, in the runtime's words, and the next call works. */
static void failing(const char *hints) {
    sago_file *file = start(hints);
    MPI_Count moved = 0;
    view_turns(file, RUN);
    fill(N, 90);
    gpu.fail_after(rank == 0 ? 0 : -1);
    EXPECT(sago_write_at_all(file, 0, device, N, MPI_BYTE, &moved), SAGO_ERR_IO, "device", 0);
    gpu.fail_after(-1);
    CHECK_OK(sago_write_at_all(file, 0, device, N, MPI_BYTE, &moved));
    forget(N);
    gpu.fail_after(rank == ranks - 1 ? 0 : -1);
    EXPECT(sago_read_at_all(file, 0, device, N, MPI_BYTE, &moved), SAGO_ERR_IO, "device", ranks - 1);
    gpu.fail_after(-1);
    CHECK_OK(sago_read_at_all(file, 0, device, N, MPI_BYTE, &moved));
    CHECK(holds(N));
    CHECK_OK(sago_close(&file));
}

/* Memory that both sides reach is used as it is. */
static void managed(void) {
    sago_file *file = start("");
    unsigned char *both = gpu.allocate_both(N);
    MPI_Count moved = 0;
    long before = gpu.copies();
    memset(both, 'm', N);
    CHECK_OK(sago_write_at_all(file, (MPI_Offset)N * rank, both, N, MPI_BYTE, &moved));
    memset(both, 0, N);
    CHECK_OK(sago_read_at_all(file, (MPI_Offset)N * rank, both, N, MPI_BYTE, &moved));
    CHECK(both[0] == 'm' && both[N - 1] == 'm');
    CHECK_INT(gpu.copies(), before);
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    static const char *const hints[] = {
        "",
        "sago_agree=turn",
        "sago_strategy=direct",
        "sago_strategy=mapped sago_map=on",
        "sago_strategy=aggregated",
        "sago_strategy=aggregated sago_move=rma sago_memory=2M",
        "sago_defer=on",
        "sago_series_copy=on",
    };
    check_start(&argc, &argv);
    fake_node_ranks = argc > 2 ? 2 : 0; /* two nodes */
    const char *build = getenv("SAGO_BUILD");
    char folder[CHECK_PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%s/tests", build ? build : ".");
    sago_file *early = start(""); /* the runtime is loaded while files are open */
    CHECK_OK(sago_close(&early));
    if (argc < 2 || !fake_device_load(folder, argv[1], &gpu))
        MPI_Abort(MPI_COMM_WORLD, 1);
    host = malloc(LARGE);
    back = malloc(LARGE);
    device = gpu.allocate(LARGE);
    bool first = strcmp(argv[1], "cuda") == 0, nodes = argc > 2;
    for (size_t i = nodes ? 4 : 0; i < (first ? sizeof hints / sizeof *hints : 1); i++) {
        scene = hints[i];
        by_view(hints[i], N, RUN);
        by_view(hints[i], N, N);
        with_gaps(hints[i]);
        by_extents(hints[i]);
        declared(hints[i]);
    }
    scene = "large";
    if (first && !nodes) {
        by_view("sago_strategy=aggregated", LARGE, 1024);
        by_view("", LARGE, LARGE);
        by_view("sago_agree=turn", LARGE, 4096);
    }
    scene = "failing";
    failing(first ? "" : "sago_strategy=aggregated");
    failing("sago_strategy=direct");
    scene = "managed";
    managed();
    if (rank == 0)
        unlink(path);
    free(back);
    free(host);
    return check_end();
}
