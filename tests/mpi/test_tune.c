/* RUN: n=4 */
/* What `sago tune` makes of a storage that is known (004: Msg_ind, N_ah, Mem_min and Msg_group by measurement).
 * The calls that move bytes move none here: each adds to its rank's clock what a made-up storage takes for it. */
#include <sys/statvfs.h>

#include "mpi/check.h"
#include "tools/tune.h"

enum { NODE_RANKS = 2 };
static const double bandwidth = 1e9; /* of a rank that has the storage for itself */
static const int64_t mib = 1 << 20;

typedef enum { BY_RANK, BY_NODE, BY_ALL } sharing; /* whose requests wait for each other's */

static double now, write_latency, read_latency;
static sharing shared;

/* ---- The storage, and the clock ---- */

/* Of those who share something the last one is done when all bytes have been moved. */
static ssize_t moved(size_t bytes, double latency) {
    const int turn[] = {0, rank % NODE_RANKS, rank % NODE_RANKS + rank / NODE_RANKS};
    now += latency + (double)bytes / bandwidth * (1 + turn[shared]);
    return (ssize_t)bytes;
}

ssize_t pwrite(int fd, const void *buf, size_t bytes, off_t offset) {
    (void)fd, (void)buf, (void)offset;
    return moved(bytes, write_latency);
}

ssize_t pread(int fd, void *buf, size_t bytes, off_t offset) {
    (void)fd, (void)buf, (void)offset;
    return moved(bytes, read_latency);
}

int fstatvfs(int fd, struct statvfs *space) {
    (void)fd;
    *space = (struct statvfs){.f_bavail = 1 << 30, .f_frsize = 4096};
    return 0;
}

double bench_now(void) { return now; }

void bench_barrier(const bench_world *world) { MPI_Barrier(world->comm); }

void bench_max(const bench_world *world, double values[], int count) {
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, world->comm);
}

void bench_sum(const bench_world *world, int64_t values[], int count) {
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM, world->comm);
}

bool bench_agree(const bench_world *world, bool ok, char *message) {
    int good = ok;
    (void)message;
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, world->comm);
    return good;
}

void tune_progress(const tune_plan *plan, const char *format, ...) { (void)plan, (void)format; }
void tune_found(const tune_plan *plan, const char *format, ...) { (void)plan, (void)format; }

/* ---- What follows from it ---- */

/* Two nodes of two ranks. */
static sagoi_tuned tuned_on(double writes, double reads, sharing by, sagoi_level *io) {
    static sagoi_site site;
    tune_plan plan = {.world = {.comm = MPI_COMM_WORLD,
                                .rank = rank,
                                .ranks = ranks,
                                .node_rank = rank % NODE_RANKS,
                                .node_ranks = NODE_RANKS,
                                .nodes = ranks / NODE_RANKS},
                      .node = rank / NODE_RANKS,
                      .dir = scratch(".")};
    write_latency = writes;
    read_latency = reads;
    shared = by;
    memset(&site, 0, sizeof site);
    CHECK(tune_store(&plan, &site));
    *io = site.io;
    return site.tuned;
}

/* The smallest request that reaches 90% of 1 GB/s is 16 MiB when a request takes 1 ms beside its bytes, and 1 MiB
 * when it takes 0.1 ms; half of it is reached with 1 MiB and 256 KiB. */
static void requests_decide(void) {
    sagoi_level io;
    scene = "dear writes";
    sagoi_tuned tuned = tuned_on(1e-3, 1e-4, BY_RANK, &io);
    CHECK_INT(tuned.domain_write, 8 * 16 * mib);
    CHECK_INT(tuned.domain_read, 8 * mib);
    CHECK_INT(tuned.least_memory, 2 * mib);
    CHECK(io.latency > 0.99e-3 && io.latency < 1.01e-3 && io.bandwidth > 0.98e9 && io.bandwidth <= 1e9);
    scene = "dear reads";
    tuned = tuned_on(1e-4, 1e-3, BY_RANK, &io);
    CHECK_INT(tuned.domain_write, 8 * mib);
    CHECK_INT(tuned.domain_read, 8 * 16 * mib);
    CHECK_INT(tuned.least_memory, 2 * mib / 4);
    CHECK(io.latency > 0.99e-4 && io.latency < 1.01e-4);
}

/* As many aggregators a node as are faster together than fewer are, and groups of as many nodes. */
static void sharing_decides(void) {
    static const struct {
        const char *what;
        sharing by;
        int64_t of_node, nodes;
    } cases[] = {
        {"each rank for itself", BY_RANK, 2, 2}, {"each node", BY_NODE, 1, 2}, {"all together", BY_ALL, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sagoi_level io;
        scene = cases[i].what;
        sagoi_tuned tuned = tuned_on(1e-4, 1e-4, cases[i].by, &io);
        CHECK_INT(tuned.aggregators_per_node, cases[i].of_node);
        CHECK_INT(tuned.group, cases[i].nodes * cases[i].of_node * tuned.domain_write);
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    requests_decide();
    sharing_decides();
    return check_end();
}
