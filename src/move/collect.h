/* Collective calls of MPI among the ranks of a team.  Such a function ends when MPI's call ends or when the team
 * breaks; after that MPI touches none of the caller's buffers.  `comm` is the team's communicator or made from it;
 * the root is rank 0 of `comm`. */
#ifndef SAGOI_COLLECT_H
#define SAGOI_COLLECT_H

#include "move/team.h"

/* Reduces n values in place. */
sago_status sagoi_allreduce(sagoi_team *team, MPI_Comm comm, void *values, int64_t n, MPI_Datatype type, MPI_Op op)
    SAGOI_CHECKED;
/* Sums each of n numbers over all ranks before this one. */
sago_status sagoi_sums_before(sagoi_team *team, MPI_Comm comm, const int64_t mine[], int64_t n, int64_t before[])
    SAGOI_CHECKED;
sago_status sagoi_bcast(sagoi_team *team, MPI_Comm comm, void *bytes, int64_t n) SAGOI_CHECKED;
/* Gather n bytes from each rank. */
sago_status sagoi_gather(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) SAGOI_CHECKED;
sago_status sagoi_allgather(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) SAGOI_CHECKED;

/* Sends n bytes of `mine` to each rank, and receives n bytes of `all` from each rank. */
sago_status sagoi_alltoall(sagoi_team *team, MPI_Comm comm, const void *mine, int64_t n, void *all) SAGOI_CHECKED;

/* Parts of different lengths.  Sizes and places are freed by sagoi_free_received(), as `all` is. */
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

/* One of several messages that sagoi_finish_messages() waits for.  A message that cannot be started breaks the
 * team. */
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
