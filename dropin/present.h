/* Is Sago there on every rank?  If its files are missing on a node, the ranks there have the front only (front/),
 * and no rank may wait for them.  So before the first thing that ranks do together in a call that concerns Sago,
 * all of them, also those without a core, bring these numbers to an MPI_Allreduce by maximum, of MPI_INT.  If Sago
 * is on all ranks of a communicator, they keep that answer with it, and never ask again. */
#ifndef DROPIN_PRESENT_H
#define DROPIN_PRESENT_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>

enum {
    SEEN_WRONG, /* the mode of opening is wrong, and right; 0 in other calls */
    SEEN_RIGHT,
    SEEN_ABSENT,    /* the first rank without a core: dropin_absent(); 0: there is none */
    SEEN_FORGETFUL, /* a rank cannot keep the answer with the communicator */
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
