/* Memory runs out in the middle of the calls of files, collective and nonblocking ones: one allocation after
 * another fails, on one rank.  All ranks learn the same, nobody hangs, the next call works. test_file_memory
 * [all]: on every rank, every allocation; else some of them */
/* RUN: n=4 */
/* RUN-LONG: n=4 all */
#include "mpi/check.h"
#include "mpi/failing_memory.h"
#include "mpi/fake_nodes.h"

enum { RUNS = 64, RUN_BYTES = 96, MOST = 400 };

static sago_file *file;
static MPI_Datatype view; /* the ranks' runs take turns */
static unsigned char data[RUNS * RUN_BYTES], back[RUNS * RUN_BYTES], wanted[4 * RUNS * RUN_BYTES];
static const char *hints;
static MPI_Comm comm;
static int64_t tried;

static sago_status open_it(void) {
    MPI_Info info = hints_of(hints);
    file = NULL;
    sago_status status = sago_open(comm, scratch("file"), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return status;
}

static void close_it(void) {
    if (file)
        CHECK_OK(sago_close(&file));
}

/* ---- Calls ---- */

/* What hangs on the communicator is made anew, too. */
static void new_comm(void) {
    close_it();
    MPI_Comm_free(&comm);
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
}

static sago_status open_and_view(void) {
    sago_status status = open_it();
    return status ? status : sago_set_view(file, rank * RUN_BYTES, MPI_BYTE, view);
}

static void reopen(void) {
    close_it();
    CHECK_OK(open_and_view());
}

static sago_status write_all(void) {
    return sago_write_at_all(file, 0, data, (MPI_Count)sizeof data, MPI_BYTE, NULL);
}

static sago_status read_all(void) {
    memset(back, 0, sizeof back);
    sago_status status = sago_read_at_all(file, 0, back, (MPI_Count)sizeof back, MPI_BYTE, NULL);
    if (!status)
        CHECK(memcmp(back, data, sizeof data) == 0);
    return status;
}

static sago_status write_behind(void) {
    sago_request *request = NULL;
    sago_status status = sago_iwrite_at_all(file, 0, data, (MPI_Count)sizeof data, MPI_BYTE, &request);
    sago_status ended = request ? sago_wait(&request, NULL) : status;
    return status ? status : ended;
}

static void after(sago_status status) {
    if (!file || status)
        reopen();
    CHECK_OK(write_all());
    CHECK_OK(sago_sync(file));
    CHECK_OK(read_all());
    CHECK_FILE(scratch("file"), wanted, (int64_t)ranks * RUNS * RUN_BYTES);
}

typedef struct call {
    const char *name;
    void (*before)(void);
    sago_status (*run)(void);
    int first; /* allocation to fail; of a nonblocking call the first is the request, which only its rank
                  learns */
} call;
static const call calls[] = {
    {"open", new_comm, open_and_view, 1},      {"open again", close_it, open_and_view, 1},
    {"write", reopen, write_all, 1},           {"read", reopen, read_all, 1},
    {"write behind", reopen, write_behind, 2},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static bool one(const call *what, int n, int victim) {
    char name[160];
    snprintf(name, sizeof name, "%s (%s), allocation %d of rank %d fails", what->name, hints, n, victim);
    scene = name;
    what->before();
    meet();
    if (rank == victim)
        memory_fail_at(n);
    sago_status status = what->run();
    bool hit = rank == victim && memory_failed();
    CHECK(same_everywhere(status));
    hit = sum_everywhere(hit) > 0;
    tried += hit;
    if (!hit)
        CHECK_INT(status, SAGO_OK);
    after(status);
    scene = "";
    return hit;
}

/* No memory for the stack that a process's first nonblocking call needs and later ones use again: it is one of
 * these allocations, on some rank. */
static void first_stack(void) {
    reopen();
    meet();
    memory_fail_at(2 + rank);
    sago_status status = write_behind();
    CHECK(sum_everywhere(memory_failed()) > 0);
    CHECK(same_everywhere(status));
    after(status);
}

/* All of them, or fewer and fewer. */
static void every_allocation(const call *what, int victim, bool all) {
    for (int n = what->first; n < MOST && sum_everywhere(failures) == 0; n += all ? 1 : 1 + n / 4)
        if (!one(what, n, victim))
            break;
}

int main(int argc, char **argv) {
    static const char *const ways[] = {"sago_strategy=aggregated", "sago_strategy=aggregated sago_layers=2", ""};
    check_start(&argc, &argv);
    bool all = argc > 1;
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < RUNS * RUN_BYTES; i++) {
            unsigned char byte = byte_of(i, r);
            wanted[(i / RUN_BYTES * ranks + r) * RUN_BYTES + i % RUN_BYTES] = byte;
            if (r == rank)
                data[i] = byte;
        }
    fake_node_ranks = 2;
    MPI_Type_vector(1, RUN_BYTES, RUN_BYTES, MPI_BYTE, &view);
    MPI_Datatype one_run = view;
    MPI_Type_create_resized(one_run, 0, (MPI_Aint)ranks * RUN_BYTES, &view);
    MPI_Type_free(&one_run);
    MPI_Type_commit(&view);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    hints = ways[0];
    first_stack();
    for (int way = 0; way < 3; way++) {
        hints = ways[way];
        for (int i = 0; i < CALLS; i++)
            for (int victim = 0; victim < ranks; victim++)
                if (all || victim == (i + way) % ranks)
                    every_allocation(&calls[i], victim, all);
    }
    close_it();
    CHECK(tried > 20);
    if (rank == 0)
        printf("%lld allocations failed\n", (long long)tried);
    MPI_Type_free(&view);
    MPI_Comm_free(&comm);
    return check_end();
}
