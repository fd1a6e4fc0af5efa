/* Ranks, nodes, and meeting without spinning. */
#include "bench/world.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/patterns.h"

double bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { SHORT_PAUSE = 50, LONG_PAUSE = 1600 }; /* microseconds */

/* Sleeps longer and longer, up to `most`, so that ranks that wait for the I/O of others leave the core to them. */
static void wait_asleep(MPI_Request *request, useconds_t most) {
    useconds_t pause = SHORT_PAUSE;
    for (int done = 0;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        usleep(pause);
        if (pause < most)
            pause *= 2;
    }
}

static void max_of_all(const bench_world *world, double values[], int count, useconds_t pause) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, world->comm, &request);
    wait_asleep(&request, pause);
}

void bench_max(const bench_world *world, double values[], int count) {
    max_of_all(world, values, count, LONG_PAUSE);
}

void bench_sum(const bench_world *world, int64_t values[], int count) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM, world->comm, &request);
    wait_asleep(&request, LONG_PAUSE);
}

void bench_barrier(const bench_world *world) {
    const double lead = 0.005; /* longer than a reduction takes to reach all ranks once they have all come */
    double start = 0;
    bench_max(world, &start, 1);
    start = bench_now();
    max_of_all(world, &start, 1, SHORT_PAUSE);
    if (!world->common_clock)
        return;
    start += lead;
    struct timespec at = {.tv_sec = (time_t)start};
    at.tv_nsec = (long)((start - (double)at.tv_sec) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
        ;
}

bool bench_agree(const bench_world *world, bool ok, char *message) {
    double failed = ok ? -1e9 : -(double)world->rank; /* the lowest rank has the largest value */
    bench_max(world, &failed, 1);
    if (failed < -1e8)
        return true;
    MPI_Bcast(message, BENCH_MESSAGE_MAX, MPI_CHAR, (int)-failed, world->comm);
    return false;
}

/* Cores that the ranks of this node may use, whether they are bound one by one or not at all. */
static int64_t allowed_cores(MPI_Comm node) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set))
        return sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Allreduce(MPI_IN_PLACE, &set, (int)sizeof set, MPI_BYTE, MPI_BOR, node);
    return CPU_COUNT(&set);
}

/* Clocks can be compared exactly under one kernel, which virtual nodes share. */
static bool one_kernel(MPI_Comm comm) {
    char mine[64] = "", first[64];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file && !fgets(mine, sizeof mine, file))
        mine[0] = 0;
    if (file)
        fclose(file);
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm);
    int same = mine[0] && strcmp(mine, first) == 0;
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, comm);
    return same;
}

static void mpi_name(char *name, size_t capacity) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    char version[32] = "";
    MPI_Get_library_version(text, &length);
    if (sscanf(text, "Open MPI v%31[^, ]", version) == 1)
        snprintf(name, capacity, "Open MPI %s", version);
    else if (sscanf(text, "MPICH Version: %31s", version) == 1)
        snprintf(name, capacity, "MPICH %s", version);
    else
        snprintf(name, capacity, "%.*s", (int)strcspn(text, "\n"), text);
}

void bench_world_init(bench_world *world) {
    MPI_Comm_dup(MPI_COMM_WORLD, &world->comm);
    MPI_Comm_rank(world->comm, &world->rank);
    MPI_Comm_size(world->comm, &world->ranks);
    MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, world->rank, MPI_INFO_NULL, &world->node);
    MPI_Comm_rank(world->node, &world->node_rank);
    MPI_Comm_size(world->node, &world->node_ranks);
    world->nodes = world->node_rank == 0;
    MPI_Allreduce(MPI_IN_PLACE, &world->nodes, 1, MPI_INT64_T, MPI_SUM, world->comm);
    world->cores = allowed_cores(world->node);
    world->common_clock = one_kernel(world->comm);
    mpi_name(world->mpi, sizeof world->mpi);
}

void bench_world_cleanup(bench_world *world) {
    MPI_Comm_free(&world->node);
    MPI_Comm_free(&world->comm);
}
