/* Collective calls among ranks of a team that are not agreements: they end when MPI's do, or when the team breaks,
 * and then MPI touches none of the caller's buffers.  `comm` is the team's or made from it; rank 0 of it is the
 * root. */
#ifndef SAGOI_COLLECT_H
#define SAGOI_COLLECT_H

#include "move/team.h"

/* In place. */
sago_status sagoi_allreduce(sagoi_team *team, MPI_Comm comm, void *values, int64_t n, MPI_Datatype type, MPI_Op op)
    SAGOI_CHECKED;
/* The sum over all ranks before this one. */
sago_status sagoi_sum_before(sagoi_team *team, MPI_Comm comm, int64_t mine, int64_t *before) SAGOI_CHECKED;
sago_status sagoi_bcast(sagoi_team *team, MPI_Comm comm, void *bytes, int64_t n) SAGOI_CHECKED;
/* n bytes of each rank. */
sago_status sagoi_gather(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) SAGOI_CHECKED;
sago_status sagoi_allgather(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) SAGOI_CHECKED;

/* Bytes of different lengths. */
typedef struct sagoi_parts {
    void *all;
    const int *sizes, *places; /* one a rank */
} sagoi_parts;
sago_status sagoi_gather_parts(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n,
                               const sagoi_parts *parts) SAGOI_CHECKED;
sago_status sagoi_allgather_parts(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n,
                                  const sagoi_parts *parts) SAGOI_CHECKED;

#endif
