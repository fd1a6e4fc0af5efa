/* Is Sago there on every rank?  Where Sago's files are missing on a node, the ranks of that node have the front
 * only (front/), and the other ranks would wait for them for ever.  So the ranks of a communicator find out before
 * Sago does anything with them together: all ranks, also those with the front only, call MPI_Allreduce (MPI_MAX of
 * SEEN_COUNT numbers of type MPI_INT, below).  If Sago is on all ranks, each rank keeps that answer with the
 * communicator, and does not ask again. */
#ifndef DROPIN_PRESENT_H
#define DROPIN_PRESENT_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>

enum {
    SEEN_WRONG,     /* 1: this rank opens a file with a mode that is wrong; 0 in other calls */
    SEEN_RIGHT,     /* 1: this rank opens a file with a mode that is right; 0 in other calls */
    SEEN_ABSENT,    /* dropin_absent() of a rank without a core, so that the maximum names the first one; else 0 */
    SEEN_FORGETFUL, /* 1: this rank cannot keep the answer with the communicator */
    SEEN_COUNT
};

static inline int dropin_absent(int rank) { return INT_MAX - rank; }

/* Processes of another MPI_COMM_WORLD, spawned or connected, may have been started without the front, and then
 * make no such call.  Every member of a communicator with such processes can see them in its groups.  Looking
 * takes an MPI library long in large groups, but a process that never called MPI_Intercomm_merge is in no such
 * communicator. */
typedef struct dropin_groups {
    int (*of_comm)(MPI_Comm, MPI_Group *), (*intersection)(MPI_Group, MPI_Group, MPI_Group *);
    int (*size)(MPI_Group, int *), (*free)(MPI_Group *);
} dropin_groups;

static inline bool dropin_in_one_world(const dropin_groups *mpi, MPI_Comm comm, MPI_Comm world) {
    MPI_Group all, own, common;
    int wanted = 0, found = -1;
    if (mpi->of_comm(comm, &all) != MPI_SUCCESS)
        return false;
    if (mpi->of_comm(world, &own) == MPI_SUCCESS) {
        if (mpi->intersection(all, own, &common) == MPI_SUCCESS) {
            (void)mpi->size(all, &wanted);
            (void)mpi->size(common, &found);
            (void)mpi->free(&common);
        }
        (void)mpi->free(&own);
    }
    (void)mpi->free(&all);
    return found == wanted;
}

#endif
