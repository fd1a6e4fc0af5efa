/* Communicators, counted: what Sago makes and does not free is a leak. */
#ifndef SAGO_TESTS_COUNTED_COMMS_H
#define SAGO_TESTS_COUNTED_COMMS_H

#include <mpi.h>

static int live_comms;

static int count_comm(int code, const MPI_Comm *made) {
    live_comms += code == MPI_SUCCESS && *made != MPI_COMM_NULL;
    return code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) { return count_comm(PMPI_Comm_dup(comm, made), made); }

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made) {
    return count_comm(PMPI_Comm_split(comm, color, key, made), made);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made) {
    return count_comm(PMPI_Comm_split_type(comm, type, key, info, made), made);
}

int MPI_Comm_free(MPI_Comm *comm) {
    live_comms--;
    return PMPI_Comm_free(comm);
}

#endif
