/* RUN: n=4 */
/* Writes that leave holes: where a parallel file system is coherent, short holes are read and written back, but
 * only if nobody else of the job has the file open, and never so that somebody's bytes are lost. test_sieve [DIR]
 * DIR: on such a file system; else none of this happens, and all bytes are the same */
#include "mpi/check.h"

enum { CELL = 100, TURN = 300, CELLS = 400, AFAR = 40000, FEW = 30, ROOM = AFAR * FEW * 8 };

static bool coherent;
static char path[CHECK_PATH_MAX];
static unsigned char *model;
static MPI_Comm self = MPI_COMM_SELF;

/* ---- The file, and what it must be ---- */

static void make_file(const char *name, const char *folder) {
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    scene = name;
    for (int64_t i = 0; i < ROOM; i++)
        model[i] = (unsigned char)(1 + i % 250);
    meet();
    if (rank == 0) {
        FILE *out = fopen(path, "w");
        CHECK(out && fwrite(model, 1, ROOM, out) == ROOM && fclose(out) == 0);
    }
    meet();
}

static sago_file *open_on(MPI_Comm comm, int amode, const char *sieve) {
    sago_file *file = NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_strategy", "aggregated");
    MPI_Info_set(info, "striping_unit", "1048576");
    MPI_Info_set(info, "sago_sieve", sieve);
    CHECK_OK(sago_open(comm, path, amode, info, &file));
    MPI_Info_free(&info);
    return file;
}

static unsigned char byte_of_cell(int call, int r, int64_t i) { return (unsigned char)(call * 31 + r * 7 + i); }

/* Rank r's cells, each in a turn of all ranks'. */
static int64_t cell_at(int r, int64_t cell, int64_t turn) { return (cell * ranks + r) * turn; }

static void check_model(void) {
    meet();
    if (rank == 0) {
        unsigned char *is = malloc(ROOM);
        FILE *in = fopen(path, "r");
        CHECK(in && fread(is, 1, ROOM, in) == ROOM);
        CHECK(memcmp(is, model, ROOM) == 0);
        if (in)
            (void)fclose(in);
        free(is);
    }
    meet();
}

/* ---- A collective write of cells ---- */

typedef struct cells {
    int64_t n, turn;
    int call;
    bool nonblocking;
} cells;

static long long store_calls(sago_file *file) {
    sago_stats stats = SAGO_STATS_INIT;
    CHECK_OK(sago_get_stats(file, &stats));
    return stats.phase[SAGO_PHASE_STORE].messages;
}

/* Returns how many system calls all ranks have made for it. */
static long long write_cells(sago_file *file, cells c) {
    sago_extent *extents = calloc((size_t)c.n, sizeof *extents);
    unsigned char *bytes = malloc((size_t)c.n * CELL);
    sago_request *request = NULL;
    for (int64_t i = 0; i < c.n; i++)
        extents[i] = (sago_extent){cell_at(rank, i, c.turn), CELL};
    for (int64_t i = 0; i < c.n * CELL; i++)
        bytes[i] = byte_of_cell(c.call, rank, i);
    for (int r = 0; r < ranks; r++)
        for (int64_t i = 0; i < c.n * CELL; i++)
            model[cell_at(r, i / CELL, c.turn) + i % CELL] = byte_of_cell(c.call, r, i);
    long long before = store_calls(file);
    if (c.nonblocking) {
        CHECK_OK(sago_iwrite_extents_all(file, c.n, extents, bytes, &request));
        CHECK_OK(sago_wait(&request, NULL));
    } else {
        CHECK_OK(sago_write_extents_all(file, c.n, extents, bytes));
    }
    long long made = sum_everywhere(store_calls(file) - before);
    free(extents);
    free(bytes);
    check_model();
    return made;
}

static void check_calls(long long made, int64_t cells_a_rank, bool sieved) {
    if (sieved && coherent)
        CHECK(made < cells_a_rank * ranks / 4);
    else
        CHECK(made >= cells_a_rank * ranks);
}

static const cells near = {.n = CELLS, .turn = TURN, .call = 1};

static cells call_of(int call) { return (cells){.n = CELLS, .turn = TURN, .call = call}; }

/* ---- Scenes ---- */

/* What other ranks have written into the holes just before, by themselves, stays; so does what one writes after.
 */
static void own_writes(sago_file *file) {
    for (int call = 2; call < 6; call++) {
        unsigned char mine = (unsigned char)(200 + call + rank);
        int64_t at = cell_at((rank + 1) % ranks, call, TURN) + CELL + 50;
        for (int r = 0; r < ranks; r++)
            model[cell_at((r + 1) % ranks, call, TURN) + CELL + 50] = (unsigned char)(200 + call + r);
        CHECK_OK(sago_write_at(file, at, &mine, 1, MPI_BYTE, NULL));
        check_calls(write_cells(file, call_of(call)), CELLS, true);
    }
}

static void alone(const char *folder) {
    make_file("alone", folder);
    sago_file *file = open_on(MPI_COMM_WORLD, MPI_MODE_RDWR, "auto");
    check_calls(write_cells(file, near), CELLS, true);
    own_writes(file);
    check_calls(write_cells(file, (cells){.n = FEW, .turn = AFAR, .call = 7}), FEW, false);
    check_calls(write_cells(file, (cells){CELLS, TURN, 8, .nonblocking = true}), CELLS, false);
    CHECK_OK(sago_close(&file));
    file = open_on(MPI_COMM_WORLD, MPI_MODE_WRONLY, "auto");
    check_calls(write_cells(file, call_of(9)), CELLS, true);
    CHECK_OK(sago_close(&file));
    file = open_on(MPI_COMM_WORLD, MPI_MODE_RDWR, "off");
    check_calls(write_cells(file, call_of(10)), CELLS, false);
    CHECK_OK(sago_close(&file));
}

/* One rank has the file open a second time, by another name. */
static void two_handles(const char *folder) {
    char other[CHECK_PATH_MAX + 8];
    make_file("twice", folder);
    (void)snprintf(other, sizeof other, "%s.link", path);
    if (rank == 0)
        CHECK(link(path, other) == 0);
    meet();
    sago_file *file = open_on(MPI_COMM_WORLD, MPI_MODE_RDWR, "auto"), *second = NULL;
    if (rank == ranks - 1)
        CHECK_OK(sago_open(self, other, MPI_MODE_RDWR, MPI_INFO_NULL, &second));
    check_calls(write_cells(file, near), CELLS, false);
    if (rank == ranks - 1)
        CHECK_OK(sago_close(&second));
    check_calls(write_cells(file, call_of(2)), CELLS, true);
    if (rank == ranks - 1)
        CHECK_OK(sago_open(self, other, MPI_MODE_RDONLY, MPI_INFO_NULL, &second));
    check_calls(write_cells(file, call_of(3)), CELLS, true);
    if (rank == ranks - 1)
        CHECK_OK(sago_close(&second));
    CHECK_OK(sago_close(&file));
}

/* Two groups of ranks have it open, each for itself, and write at the same time, into each other's holes. */
static void two_groups(const char *folder) {
    MPI_Comm half;
    enum { TIMES = 5 };
    make_file("groups", folder);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    sago_file *file = open_on(half, MPI_MODE_RDWR, "auto");
    for (int call = 0; call < TIMES; call++)
        (void)write_cells(file, call_of(call));
    CHECK_OK(sago_close(&file));
    MPI_Comm_free(&half);
}

static void elsewhere(const char *folder) {
    make_file("elsewhere", folder);
    sago_file *file = open_on(MPI_COMM_WORLD, MPI_MODE_RDWR, "auto");
    if (rank == 0)
        sago_write_elsewhere();
    check_calls(write_cells(file, near), CELLS, false);
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    coherent = argc > 1;
    const char *folder = coherent ? argv[1] : ".";
    model = malloc(ROOM);
    alone(folder);
    two_handles(folder);
    two_groups(folder);
    elsewhere(folder); /* the last: it is for good */
    free(model);
    return check_end();
}
