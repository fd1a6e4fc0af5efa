/* The leaders tell rank 0 what their nodes are called; rank 0 looks, and tells all ranks what it found.  So the
 * files are read once, however large the job is. */
#include "machine/discover_mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/again.h"

/* What rank 0 tells. */
typedef struct verdict {
    int64_t status;
    char message[SAGOI_MESSAGE_MAX];
    sagoi_surroundings found;
} verdict;

/* Every node's name, at rank 0 of the leaders; NULL elsewhere, and where there is no memory for them. */
static sagoi_node_name *gather_names(MPI_Comm leaders, int rank, int64_t nodes) {
    sagoi_node_name mine, *name = rank == 0 ? calloc((size_t)nodes, sizeof *name) : NULL;
    int ready = name != NULL;
    sagoi_node_name_ask(&mine);
    if (!SAGOI_DONE(MPI_Bcast(&ready, 1, MPI_INT, 0, leaders)) || !ready ||
        !SAGOI_DONE(MPI_Gather(&mine, sizeof mine, MPI_BYTE, name, sizeof mine, MPI_BYTE, 0, leaders))) {
        free(name);
        return NULL;
    }
    return name;
}

static sago_status look(MPI_Comm leaders, const sagoi_discover_options *options, int64_t nodes,
                        sagoi_surroundings *found, int64_t *place) {
    int rank = 0;
    (void)SAGOI_DONE(MPI_Comm_rank(leaders, &rank));
    sagoi_node_name *name = gather_names(leaders, rank, nodes);
    if (rank != 0)
        return SAGO_OK;
    if (!name)
        return sagoi_fail(SAGO_ERR_MEMORY, "the names of %lld nodes could not be gathered", (long long)nodes);
    sago_status status = sagoi_discover(options, nodes, name, found, place);
    free(name);
    return status;
}

sago_status sagoi_discover_mpi(MPI_Comm all, MPI_Comm leaders, const sagoi_discover_options *options,
                               int64_t nodes, sagoi_surroundings *found, int64_t *place) {
    verdict told;
    memset(&told, 0, sizeof told);
    if (nodes > INT_MAX / (int64_t)sizeof *place)
        return sagoi_fail(SAGO_ERR_UNSUPPORTED, "%lld nodes", (long long)nodes);
    if (leaders != MPI_COMM_NULL) {
        told.status = look(leaders, options, nodes, &told.found, place);
        (void)strncpy(told.message, sagoi_message(), sizeof told.message - 1);
    }
    if (!SAGOI_DONE(MPI_Bcast(&told, sizeof told, MPI_BYTE, 0, all)) ||
        (told.status == SAGO_OK &&
         !SAGOI_DONE(MPI_Bcast(place, (int)(nodes * (int64_t)sizeof *place), MPI_BYTE, 0, all))))
        return sagoi_fail(SAGO_ERR_MPI, "what was found of the machine could not be told");
    if (told.status != SAGO_OK)
        return sagoi_fail((sago_status)told.status, "%s", told.message);
    *found = told.found;
    return SAGO_OK;
}
