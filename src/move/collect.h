/* Collective calls among ranks of a team that are not agreements: they end when MPI's do, or when the team breaks,
 * and then MPI touches none of the caller's buffers.  `comm` is the team's or made from it; rank 0 of it is the
 * root. */
#ifndef SAGOI_COLLECT_H
#define SAGOI_COLLECT_H

#include "move/team.h"

/* In place. */
sago_status sagoi_allreduce(sagoi_team *team, MPI_Comm comm, void *values, int64_t n, MPI_Datatype type, MPI_Op op)
    SAGOI_CHECKED;
/* Of each of n numbers the sum over all ranks before this one. */
sago_status sagoi_sums_before(sagoi_team *team, MPI_Comm comm, const int64_t mine[], int64_t n, int64_t before[])
    SAGOI_CHECKED;
sago_status sagoi_bcast(sagoi_team *team, MPI_Comm comm, void *bytes, int64_t n) SAGOI_CHECKED;
/* n bytes of each rank. */
sago_status sagoi_gather(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) SAGOI_CHECKED;
sago_status sagoi_allgather(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) SAGOI_CHECKED;

/* n bytes of `mine` to each rank, n of `all` from each. */
sago_status sagoi_alltoall(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) SAGOI_CHECKED;

/* Bytes of different lengths; sizes and places go by sagoi_free_received(), too. */
typedef struct sagoi_parts {
    void *all;
    const int *sizes, *places; /* one a rank */
} sagoi_parts;
sago_status sagoi_gather_parts(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n,
                               const sagoi_parts *parts) SAGOI_CHECKED;
sago_status sagoi_allgather_parts(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n,
                                  const sagoi_parts *parts) SAGOI_CHECKED;
sago_status sagoi_alltoall_parts(sagoi_team *team, MPI_Comm comm, const sagoi_parts *to, const sagoi_parts *from)
    SAGOI_CHECKED;

/* ---- Messages: their memory goes by sagoi_free_received() (calls.h), since it is MPI's in a broken team ---- */

/* One of several that sagoi_finish_messages() waits for; one that cannot be started breaks the team. */
typedef struct sagoi_message_to {
    MPI_Comm comm;
    int peer, tag;
    void *data;
    int64_t bytes;
} sagoi_message_to;
sago_status sagoi_start_send(sagoi_team *team, const sagoi_message_to *message, MPI_Request *request)
    SAGOI_CHECKED;
sago_status sagoi_start_receive(sagoi_team *team, const sagoi_message_to *message, MPI_Request *request)
    SAGOI_CHECKED;
sago_status sagoi_finish_messages(sagoi_team *team, int64_t n, MPI_Request requests[]) SAGOI_CHECKED;

#endif
