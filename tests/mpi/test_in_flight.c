/* RUN: n=8 */
/* As many messages as the hint says, and no more, are on their way to an aggregator at a time (001, IV:
 * synchronous sends bound them).  Its receives are counted where MPI starts and ends them: seven nodes have a
 * message each for the only aggregator, in every call. */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { RUN = 1000, TURNS = 100, LARGE = 20000, OPEN_MOST = 64, CALLS = 2 };

static MPI_Request open_receives[OPEN_MOST];
static int nopen, most_open, received;

static void opened(MPI_Request request) {
    CHECK(nopen < OPEN_MOST);
    open_receives[nopen++ % OPEN_MOST] = request;
    most_open = nopen > most_open ? nopen : most_open;
}

static void ended(MPI_Request request) {
    for (int i = 0; i < nopen; i++)
        if (open_receives[i] == request) {
            open_receives[i] = open_receives[--nopen];
            received++;
            return;
        }
}

/* Agreements have small messages. */
int MPI_Irecv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    int error = PMPI_Irecv(buf, count, type, from, tag, comm, request);
    if (error == MPI_SUCCESS && count >= LARGE)
        opened(*request);
    return error;
}

int MPI_Testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    MPI_Request before[OPEN_MOST];
    CHECK(n <= OPEN_MOST);
    for (int i = 0; i < n && i < OPEN_MOST; i++)
        before[i] = requests[i];
    int error = PMPI_Testsome(n, requests, done, indices, statuses);
    for (int i = 0; error == MPI_SUCCESS && i < *done; i++)
        ended(before[indices[i]]);
    return error;
}

static void write_with(int messages) {
    static unsigned char data[TURNS * RUN];
    sago_extent extents[TURNS];
    sago_file *file = NULL;
    char hints[160];
    (void)snprintf(hints, sizeof hints,
                   "sago_strategy=aggregated sago_layers=2 sago_aggregators=1 sago_messages=%d", messages);
    scene = hints;
    for (int64_t i = 0; i < TURNS; i++)
        extents[i] = (sago_extent){.offset = (i * ranks + rank) * RUN, .length = RUN};
    CHECK_OK(open_hinted(scratch("flight.dat"), MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file));
    most_open = received = 0;
    for (int call = 0; call < CALLS; call++)
        CHECK_OK(sago_write_extents_all(file, TURNS, extents, data));
    CHECK_OK(sago_close(&file));
    CHECK(most_open <= messages);
    CHECK_INT(sum_everywhere(received), (ranks - 1) * CALLS);
    CHECK_INT(sum_everywhere(most_open), messages);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fake_node_ranks = 1;
    for (int messages = 1; messages <= 4; messages++)
        write_with(messages);
    return check_end();
}
