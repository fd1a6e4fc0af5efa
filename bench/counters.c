/* Reads what the kernel counts. */
#include "bench/counters.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Wire ---- */

bool bench_wire_known(void) { return getenv("SAGO_CLUSTER_IFACE"); }

static bool read_counter(const char *path, int64_t *bytes) {
    FILE *file = fopen(path, "r");
    bool ok = file && fscanf(file, "%" SCNd64, bytes) == 1;
    if (file)
        fclose(file);
    return ok;
}

/* The bytes that the cluster's storage targets have sent, as counted at their ports of the switch. */
static int64_t targets_sent(void) {
    char path[256];
    const char *ports = getenv("SAGO_CLUSTER_SWITCH");
    int64_t sum = 0, bytes;
    for (int target = 1; ports; target++) {
        snprintf(path, sizeof path, "%s/s%d/statistics/rx_bytes", ports, target);
        if (!read_counter(path, &bytes))
            break;
        sum += bytes;
    }
    return sum;
}

int64_t bench_wire_sent(const bench_world *world) {
    char path[256];
    int64_t bytes = 0;
    if (!bench_wire_known() || world->node_rank != 0)
        return 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/tx_bytes", getenv("SAGO_CLUSTER_IFACE"));
    if (!read_counter(path, &bytes))
        bytes = 0;
    return bytes + (world->rank == 0 ? targets_sent() : 0);
}

/* ---- Memory ---- */

struct bench_watch {
    const char *path;
    int64_t npids; /* 0: another rank watches this node */
    int *pids;
    int64_t base, peak;
    atomic_bool running;
    pthread_t thread;
};

/* PSS of one process in KiB.  In smaps a mapping is a line "from-to rights offset device inode path", followed by
 * lines "Name: value". */
static int64_t process_pss(int pid, const char *path) {
    char name[64], line[BUFSIZ];
    int64_t sum = 0, value;
    bool counted = true;
    snprintf(name, sizeof name, "/proc/%d/smaps", pid);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            counted = !strstr(line, path);
        else if (counted && sscanf(line, "Pss: %" SCNd64, &value) == 1)
            sum += value;
    }
    if (file)
        fclose(file);
    return sum;
}

static int64_t node_pss(const bench_watch *watch) {
    int64_t sum = 0;
    for (int64_t i = 0; i < watch->npids; i++)
        sum += process_pss(watch->pids[i], watch->path);
    return sum * 1024;
}

static void watch_sample(bench_watch *watch) {
    int64_t now = node_pss(watch);
    if (now > watch->peak)
        watch->peak = now;
}

static void *watch_run(void *argument) {
    bench_watch *watch = argument;
    while (atomic_load(&watch->running)) {
        watch_sample(watch);
        usleep(500);
    }
    return NULL;
}

bench_watch *bench_watch_create(const bench_world *world, const char *path) {
    bench_watch *watch = calloc(1, sizeof *watch);
    int pid = (int)getpid(), *pids = calloc((size_t)world->node_ranks, sizeof *pids);
    if (!watch || !pids) {
        free(watch);
        free(pids);
        return NULL;
    }
    MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, world->node);
    watch->path = path;
    watch->pids = pids;
    watch->npids = world->node_rank == 0 ? world->node_ranks : 0;
    return watch;
}

void bench_watch_start(bench_watch *watch) {
    if (watch->npids == 0)
        return;
    (void)node_pss(watch); /* stdio's buffers count, too, so they are allocated before the base is taken */
    watch->base = watch->peak = node_pss(watch);
    atomic_store(&watch->running, true);
    if (pthread_create(&watch->thread, NULL, watch_run, watch))
        atomic_store(&watch->running, false);
}

int64_t bench_watch_destroy(const bench_world *world, bench_watch *watch) {
    if (watch->npids > 0) {
        if (atomic_exchange(&watch->running, false))
            pthread_join(watch->thread, NULL);
        watch_sample(watch);
    }
    double rise = (double)(watch->peak - watch->base);
    bench_max(world, &rise, 1);
    free(watch->pids);
    free(watch);
    return (int64_t)rise;
}
