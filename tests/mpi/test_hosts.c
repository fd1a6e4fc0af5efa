/* RUN: n=1,4 interleaved 4096 1048576 */
/* Which nodes aggregate: writes once, reads back, and shows which nodes stored bytes, what crossed the network,
 * and how fast.  On the virtual cluster, tests/cluster/test_placement.sh says who may.
 *
 *     test_hosts PATTERN RUN BYTES [HOSTS [MOST [MESSAGES]]]
 *
 *   PATTERN  interleaved: all ranks have BYTES bytes in runs of RUN bytes, in turn;
 *            heavy-N: the ranks of host nN have 15 times as many as the others
 *   HOSTS    "n3,n4": only these may store anything; "any"
 *   MOST     bytes that the nodes may send each other in all, as Sago counts them; -1: any number
 *   MESSAGES that the nodes must send each other in all, the same way */
#include "mpi/check.h"

#include <inttypes.h>

static char host[64];

/* How many runs this rank has in each turn. */
static int64_t runs_a_turn(const char *pattern) {
    if (!strncmp(pattern, "heavy-", 6))
        return !strcmp(host + 1, pattern + 6) ? 15 : 1;
    return 1;
}

static unsigned char byte_at(int64_t offset) { return (unsigned char)(offset * 31 + offset / 4096); }

static void fill(unsigned char *buffer, int64_t first, int64_t length, int64_t stride, int64_t turns) {
    for (int64_t t = 0; t < turns; t++)
        for (int64_t i = 0; i < length; i++)
            buffer[t * length + i] = byte_at(first + t * stride + i);
}

/* Was anything stored here that must not be? */
static bool allowed(const char *hosts) {
    size_t length = strlen(host);
    for (const char *at = hosts; (at = strstr(at, host)); at += length)
        if (at[length] == '\0' || at[length] == ',')
            return true;
    return !strcmp(hosts, "any");
}

typedef struct expectation {
    const char *hosts;
    int64_t most, messages; /* -1: any */
} expectation;

static void report(sago_file *file, const expectation *expected, double seconds, int64_t bytes) {
    sago_stats stats = SAGO_STATS_INIT;
    CHECK_OK(sago_get_stats(file, &stats));
    int64_t stored = stats.phase[SAGO_PHASE_STORE].bytes, wire = 0, messages = 0;
    MPI_Allreduce(&stats.wire_bytes, &wire, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&stats.phase[SAGO_PHASE_EXCHANGE].messages, &messages, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (stored > 0)
        printf("# rank %d on %s stored %" PRId64 " bytes\n", rank, host, stored);
    if (rank == 0)
        printf("# %.1f MB/s, %" PRId64 " bytes in %" PRId64 " messages between nodes\n%s",
               (double)bytes / seconds / 1e6, wire, messages, stats.decision);
    scene = "placement";
    CHECK(stored == 0 || allowed(expected->hosts));
    CHECK(expected->most < 0 || wire <= expected->most);
    if (expected->messages >= 0)
        CHECK_INT(messages, expected->messages);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv); /* several nodes: not what check_start() is for */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(argc >= 4);
    CHECK(gethostname(host, sizeof host) == 0);
    int64_t run = atoll(argv[2]), runs = runs_a_turn(argv[1]), before = 0, all = 0;
    int64_t turns = atoll(argv[3]) / run, length = runs * run;
    MPI_Exscan(&length, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&length, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    unsigned char *data = malloc((size_t)(length * turns)), *back = calloc((size_t)(length * turns), 1);
    CHECK(data && back);
    before = rank == 0 ? 0 : before;
    fill(data, before, length, all, turns);

    const char *global = getenv("SAGO_CLUSTER_GLOBAL");
    char path[512];
    (void)snprintf(path, sizeof path, "%s/hosts.dat", global ? global : scratch("."));
    sago_file *file = NULL;
    CHECK_OK(sago_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    MPI_Datatype view;
    MPI_Type_create_hvector((int)turns, (int)length, (MPI_Aint)all, MPI_BYTE, &view);
    MPI_Type_commit(&view);
    CHECK_OK(sago_set_view(file, before, MPI_BYTE, view));
    double begin = MPI_Wtime();
    CHECK_OK(sago_write_at_all(file, 0, data, (int)(length * turns), MPI_BYTE, NULL));
    double seconds = MPI_Wtime() - begin;
    expectation expected = {argc > 4 ? argv[4] : "any", argc > 5 ? atoll(argv[5]) : -1,
                            argc > 6 ? atoll(argv[6]) : -1};
    report(file, &expected, seconds, all * turns);
    CHECK_OK(sago_read_at_all(file, 0, back, (int)(length * turns), MPI_BYTE, NULL));
    CHECK(memcmp(data, back, (size_t)(length * turns)) == 0);
    MPI_Type_free(&view);
    CHECK_OK(sago_close(&file));
    free(data);
    free(back);
    int failed = failures;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed ? 1 : 0;
}
