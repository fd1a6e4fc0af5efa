/* RUN: n=2 1 4 */
/* Memory that differs from node to node (paper 004, its evaluation): each node's is drawn from a normal
 * distribution whose mean is what an aggregator with usual buffers takes, and whose standard deviation is 50 MiB,
 * cut off at 1 MiB. The same data is written with one aggregator on every node, wherever the memory is, and as the
 * planner decides; the rounds are counted and compared, the throughput is shown, and the MPI library's own beside
 * it.
 *
 *     test_draws [DRAWS [MIB]]        MiB of data a rank; on the virtual cluster: tests/cluster/test_draws.sh */
#include "mpi/check.h"

#include <inttypes.h>
#include <math.h>

enum { MIB = 1 << 20, RUN = 65536, MEAN = 64, DEVIATION = 50 };

/* How to place aggregators. */
static const struct policy {
    const char *name, *hints;
} policies[] = {
    {"fixed", "sago_strategy=aggregated sago_window=16M sago_placement=spread"},
    {"planned", "sago_strategy=aggregated sago_window=16M"},
    {"memory", "sago_strategy=aggregated sago_window=16M sago_placement=memory"},
};
enum { FIXED, PLANNED, POLICIES = 3 };

typedef struct outcome {
    int64_t rounds;
    double seconds;
} outcome;

static char path[512];
static unsigned char *data, *back;
static MPI_Datatype runs;
static int node, nodes;
static int bytes; /* of a rank */

/* ---- Memory ---- */

static double uniform(uint64_t *state) { /* above 0, up to 1 */
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)((*state >> 33) + 1) / (double)(UINT64_C(1) << 31);
}

static int64_t draw_memory(uint64_t *state) {
    const double pi = 3.14159265358979;
    double one = uniform(state), two = uniform(state);
    double mib = MEAN + DEVIATION * sqrt(-2 * log(one)) * cos(2 * pi * two);
    return mib < 1 ? MIB : (int64_t)(mib * MIB);
}

/* ---- Writing ---- */

static void number_nodes(void) {
    MPI_Comm mine, firsts;
    int local = 0, of_first[2] = {0, 0};
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &mine);
    MPI_Comm_rank(mine, &local);
    MPI_Comm_split(MPI_COMM_WORLD, local == 0 ? 0 : MPI_UNDEFINED, rank, &firsts);
    if (firsts != MPI_COMM_NULL) {
        MPI_Comm_rank(firsts, &of_first[0]);
        MPI_Comm_size(firsts, &of_first[1]);
        MPI_Comm_free(&firsts);
    }
    MPI_Bcast(of_first, 2, MPI_INT, 0, mine);
    MPI_Comm_free(&mine);
    node = of_first[0];
    nodes = of_first[1];
}

static unsigned char byte_at(int64_t offset, int turn) {
    return (unsigned char)(offset * 31 + offset / 4096 + turn);
}

static void fill(int turn) {
    for (int64_t i = 0; i < bytes; i++)
        data[i] = byte_at((i / RUN * ranks + rank) * RUN + i % RUN, turn);
}

static double slowest(double seconds) {
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static outcome write_with_sago(const struct policy *policy, int64_t memory, int turn) {
    char hints[256];
    sago_file *file = NULL;
    (void)snprintf(hints, sizeof hints, "%s sago_aggregators=%d sago_memory=%" PRId64, policy->hints, nodes,
                   memory);
    scene = hints;
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, hints, &file));
    CHECK_OK(sago_set_view(file, (MPI_Offset)rank * RUN, MPI_BYTE, runs));
    fill(turn);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    CHECK_OK(sago_write_at_all(file, 0, data, bytes, MPI_BYTE, NULL));
    outcome got = {stats_of(file).rounds, slowest(MPI_Wtime() - begin)};
    CHECK_INT(stats_of(file).memory_budget, memory);
    memset(back, 0, (size_t)bytes);
    CHECK_OK(sago_read_at_all(file, 0, back, bytes, MPI_BYTE, NULL));
    CHECK(memcmp(data, back, (size_t)bytes) == 0);
    CHECK_OK(sago_close(&file));
    return got;
}

/* The MPI library's collective buffering, with its default buffers: they do not ask what memory there is. */
static double write_with_mpi(void) {
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, info,
                        &file) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_File_set_view(file, (MPI_Offset)rank * RUN, MPI_BYTE, runs, "native", MPI_INFO_NULL);
    fill(0);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    CHECK(MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    double seconds = slowest(MPI_Wtime() - begin);
    MPI_File_close(&file);
    return seconds;
}

/* ---- Comparing ---- */

static double speed(double seconds) { return (double)bytes * ranks / seconds / 1e6; }

static void show(int draw, const int64_t *memory, const outcome *got) {
    printf("# draw %d, MiB:", draw);
    for (int n = 0; n < nodes; n++)
        printf(" %.0f", (double)memory[n] / MIB);
    for (int p = 0; p < POLICIES; p++)
        printf("; %s %" PRId64 " rounds %.0f MB/s", policies[p].name, got[p].rounds, speed(got[p].seconds));
    printf("\n");
}

static void judge(const outcome *sum, int draws) {
    const double least = 1.24; /* times fewer rounds */
    for (int p = 0; p < POLICIES && rank == 0; p++)
        printf("# %d draws, %s: %" PRId64 " rounds, %.2f times fewer than fixed, %.0f MB/s, %.2f times as fast\n",
               draws, policies[p].name, sum[p].rounds, (double)sum[FIXED].rounds / (double)sum[p].rounds,
               speed(sum[p].seconds / draws), sum[FIXED].seconds / sum[p].seconds);
    if (nodes > 1)
        CHECK((double)sum[FIXED].rounds >= least * (double)sum[PLANNED].rounds);
}

static void run_draws(int draws) {
    uint64_t seed = 1;
    int64_t memory[CHECK_RANKS_MAX] = {0};
    outcome got[POLICIES], sum[POLICIES] = {{0, 0}};
    (void)write_with_sago(&policies[PLANNED], MEAN * MIB, 0); /* connections are made, memory was touched */
    for (int d = 1; d <= draws; d++) {
        for (int n = 0; n < nodes; n++)
            memory[n] = draw_memory(&seed);
        for (int i = 0; i < POLICIES; i++) {
            int p = (d + i) % POLICIES; /* each is the first as often as others: it pays for pages let go before */
            got[p] = write_with_sago(&policies[p], memory[node], d * POLICIES + p);
            sum[p].rounds += got[p].rounds;
            sum[p].seconds += got[p].seconds;
        }
        CHECK(got[PLANNED].rounds <= got[FIXED].rounds);
        if (rank == 0)
            show(d, memory, got);
    }
    judge(sum, draws);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv); /* several nodes: not what check_start() is for */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    number_nodes();
    const char *global = getenv("SAGO_CLUSTER_GLOBAL");
    (void)snprintf(path, sizeof path, "%s/draws.dat", global ? global : scratch("."));
    bytes = (argc > 2 ? atoi(argv[2]) : 8) * MIB;
    data = malloc((size_t)bytes);
    back = malloc((size_t)bytes);
    MPI_Type_vector(bytes / RUN, RUN, RUN * ranks, MPI_BYTE, &runs);
    MPI_Type_commit(&runs);
    CHECK(data && back && nodes <= CHECK_RANKS_MAX);
    run_draws(argc > 1 ? atoi(argv[1]) : 1);
    double seconds = write_with_mpi();
    if (rank == 0)
        printf("# the MPI library, with its default buffers: %.0f MB/s\n", speed(seconds));
    MPI_Type_free(&runs);
    free(data);
    free(back);
    int failed = failures;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed ? 1 : 0;
}
