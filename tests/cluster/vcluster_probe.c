/*
 * What a rank sees of the virtual cluster, for test_vcluster.sh: one mode a run, one line a rank, printed by
 * rank 0 in the order of ranks.
 *
 *   where        host name and the ranks MPI says share memory with this one
 *   dirs         how many ranks' files are in the global, rack, scratch and /dev/shm directories
 *   wire BYTES   bytes the first node sent for: a message to the next rank (same node), a message to the
 *                last rank (another node), a put to the last rank
 *   exit N       rank 1 exits with status N, after MPI_Finalize
 *   hang         the last rank never comes to the barrier
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 256 };

static int rank, size;

static void fail(const char *what) {
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static const char *environment(const char *name) {
    const char *value = getenv(name);
    if (!value)
        fail(name);
    return value;
}

static void print_lines(char line[LINE]) {
    char *all = calloc((size_t)size, LINE);
    MPI_Gather(line, LINE, MPI_CHAR, all, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%s\n", all + (size_t)i * LINE);
    free(all);
}

static void where(void) {
    MPI_Comm shared;
    int shared_size, leader = rank;
    char host[64], line[LINE] = {0};

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &shared_size);
    MPI_Bcast(&leader, 1, MPI_INT, 0, shared);
    MPI_Comm_free(&shared);
    gethostname(host, sizeof host);
    snprintf(line, LINE, "rank %d host %s shared %d leader %d", rank, host, shared_size, leader);
    print_lines(line);
}

static void leave_file(const char *dir) {
    char path[512];
    snprintf(path, sizeof path, "%s/probe.%d", dir, rank);
    FILE *f = fopen(path, "w");
    if (!f)
        fail(path);
    fclose(f);
}

static int count_files(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    if (!d)
        fail(dir);
    for (struct dirent *e; (e = readdir(d));)
        n += strncmp(e->d_name, "probe.", 6) == 0;
    closedir(d);
    return n;
}

static void dirs(void) {
    const char *const where[] = {environment("SAGO_CLUSTER_GLOBAL"), environment("SAGO_CLUSTER_RACK"),
                                 environment("SAGO_CLUSTER_SCRATCH"), "/dev/shm"};
    char line[LINE] = {0};

    for (int i = 0; i < 4; i++)
        leave_file(where[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(line, LINE, "rank %d global %d rack %d scratch %d shm %d", rank, count_files(where[0]),
             count_files(where[1]), count_files(where[2]), count_files(where[3]));
    print_lines(line);
}

static long long sent_by_node(void) {
    char path[512];
    long long bytes = -1;

    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/tx_bytes", environment("SAGO_CLUSTER_IFACE"));
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%lld", &bytes) != 1)
        fail(path);
    fclose(f);
    return bytes;
}

static void message(void *buf, int bytes, int to) {
    if (rank == 0)
        MPI_Send(buf, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    else if (rank == to)
        MPI_Recv(buf, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Connections are opened on first use: every transfer is made once before it is measured. */
static void wire(int bytes) {
    char *buf = malloc((size_t)bytes), *target;
    long long near = 0, far = 0, put = 0;
    MPI_Win win;

    memset(buf, 1, (size_t)bytes);
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &target, &win);
    for (int pass = 0; pass < 2; pass++) {
        MPI_Barrier(MPI_COMM_WORLD);
        near = sent_by_node();
        message(buf, bytes, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        near = sent_by_node() - near;

        far = sent_by_node();
        message(buf, bytes, size - 1);
        MPI_Barrier(MPI_COMM_WORLD);
        far = sent_by_node() - far;

        put = sent_by_node();
        MPI_Win_fence(0, win);
        if (rank == 0)
            MPI_Put(buf, bytes, MPI_BYTE, size - 1, 0, bytes, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        put = sent_by_node() - put;
    }
    MPI_Win_free(&win);
    free(buf);
    if (rank == 0)
        printf("near %lld far %lld put %lld\n", near, far, put);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "where";
    int number = argc > 2 ? atoi(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(mode, "where") == 0)
        where();
    else if (strcmp(mode, "dirs") == 0)
        dirs();
    else if (strcmp(mode, "wire") == 0)
        wire(number);
    else if (strcmp(mode, "hang") == 0 && rank == size - 1)
        pause();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return strcmp(mode, "exit") == 0 && rank == 1 ? number : 0;
}
