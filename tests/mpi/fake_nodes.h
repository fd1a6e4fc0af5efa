/* Several nodes on one machine: the ranks are split as if every few of them had a node of their own, and the nodes
 * are two or more to a switch of a described machine.  Ours takes the place of MPI's function, in the library too.
 */
#ifndef SAGO_TESTS_FAKE_NODES_H
#define SAGO_TESTS_FAKE_NODES_H

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int fake_node_ranks; /* 0: nodes as they are */

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *split) {
    int world;
#ifdef SAGO_TESTS_FAILING_H
    ON_COMM("MPI_Comm_split_type");
    if (failing_call("MPI_Comm_split_type"))
        return MPI_ERR_OTHER;
#endif
    if (fake_node_ranks == 0 || type != MPI_COMM_TYPE_SHARED)
        return PMPI_Comm_split_type(comm, type, key, info, split);
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    return PMPI_Comm_split(comm, world / fake_node_ranks, key, split);
}

/* A fat tree with so many nodes to a leaf switch, described in a file that every rank may write at once. */
static inline int fake_switches(const char *path, int nodes) {
    char own[4200];
    (void)snprintf(own, sizeof own, "%s.%d", path, (int)getpid());
    FILE *file = fopen(own, "w");
    if (!file)
        return 0;
    int length = fprintf(file,
                         "name switches\ntopology fat-tree 16 %d\nlevel 0 latency 1us bandwidth 10GB/s\n"
                         "level 1 latency 1us bandwidth 10GB/s\nranks-per-node 2\nmemory 1GiB\n",
                         nodes);
    return fclose(file) == 0 && length > 0 && rename(own, path) == 0;
}

#endif
