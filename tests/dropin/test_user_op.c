/* RUN: n=2,3,4 */
/* Reductions by an operation of the program's that needs a large part of its stack, while nonblocking collective
 * calls on a file are under way: whoever lets these go on may let the MPI library reduce. */
#include <sys/resource.h>

#include "dropin_check.h"

enum { PIECES = 30000, ROUNDS = 30, N = 10, DEEP = 2 << 20 };

/* NOLINTNEXTLINE: MPI gives the parameters */
static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
    volatile char deep[DEEP];
    (void)type;
    for (int i = 0; i < DEEP; i += 512)
        deep[i] = (char)i;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i] + deep[0];
}

static void reduce_meanwhile(MPI_File file, MPI_Op op, int *data, int round) {
    int mine[N], first[N], second[N];
    MPI_Request requests[3];
    fill(data, 0, PIECES * sizeof *data, rank + round);
    for (int i = 0; i < N; i++)
        mine[i] = i + rank;
    OK(MPI_Iallreduce(mine, first, N, MPI_INT, op, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_File_iwrite_at_all(file, 0, data, PIECES, MPI_INT, &requests[1]));
    OK(MPI_Iallreduce(mine, second, N, MPI_INT, op, MPI_COMM_WORLD, &requests[2]));
    if (round % 2)
        (void)usleep(1000 * (unsigned)rank);
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < N; i++) {
        CHECK_INT(first[i], i * ranks + ranks * (ranks - 1) / 2);
        CHECK_INT(second[i], first[i]);
    }
}

/* Without a mapping: where the ranks gain by gathering. */
static MPI_File open_unmapped(void) {
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_map", "off");
    OK(MPI_File_open(MPI_COMM_WORLD, "ints", MODE_NEW, info, &file));
    MPI_Info_free(&info);
    return file;
}

int main(int argc, char **argv) {
    struct rlimit stack;
    MPI_Op op;
    static int data[PIECES], back[PIECES];
    check_start(&argc, &argv);
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur < 2 * DEEP)
        return check_skip("the stack is small");
    if (known_to_fail(PLAIN_OPENMPI, "hangs"))
        return check_end();
    OK(MPI_Op_create(add, 1, &op));
    MPI_File file = open_unmapped();
    MPI_Datatype type = turns_of(1, MPI_INT);
    OK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, type, "native", MPI_INFO_NULL));
    for (int round = 0; round < ROUNDS; round++)
        reduce_meanwhile(file, op, data, round);
    OK(MPI_File_read_at_all(file, 0, back, PIECES, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(data, back, sizeof data) == 0);
    OK(MPI_File_close(&file));
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    return check_end();
}
