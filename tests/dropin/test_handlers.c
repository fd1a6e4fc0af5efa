/* RUN: n=2 */
/* Error handlers that are called in a wait, of files and of communicators: they do not return, as one of C++ that
 * throws, or they wait themselves.  What waits afterwards goes on, and each failure is told to its own file once.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>

#include "dropin_check.h"

enum { N = 1000, FAR = 1 << 20, TAG = 5 };

static jmp_buf before_wait;
static int called, called_later;
static bool jumps;

/* Its ranks take turns, so that a call on it needs the others, and is not done when it is started. */
static MPI_File open_turned(const char *path) {
    MPI_Datatype turns = turns_of(10, MPI_BYTE);
    MPI_File file = open_all(path, MODE_NEW);
    OK(MPI_File_set_view(file, 10 * rank, MPI_BYTE, turns, "native", MPI_INFO_NULL));
    MPI_Type_free(&turns);
    return file;
}

static void limit_files(rlim_t most) {
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* ---- Handlers of files ---- */

/* NOLINTNEXTLINE: MPI gives the parameters */
static void jumping_handler(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    called++;
    if (jumps)
        longjmp(before_wait, 1);
}

/* NOLINTNEXTLINE: MPI gives the parameters */
static void later_handler(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    called_later++;
}

static void set_handler(MPI_File file, void (*function)(MPI_File *, int *, ...)) {
    MPI_Errhandler handler;
    MPI_File_create_errhandler(function, &handler);
    OK(MPI_File_set_errhandler(file, handler));
    MPI_Errhandler_free(&handler);
}

/* A call of this rank's own with itself, which has nothing to do with files. */
static void wait_for_message(void) {
    MPI_Request request;
    int sent = 1, received = 0;
    MPI_Isend(&sent, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &request);
    MPI_Recv(&received, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void fail_both(MPI_File files[2], const char *mine) {
    static MPI_Request requests[2];
    jumps = true;
    called = 0;
    limit_files(FAR / 2);
    for (int i = 0; i < 2; i++)
        OK(MPI_File_iwrite_at_all(files[i], FAR, mine, N, MPI_BYTE, &requests[i]));
    if (setjmp(before_wait) == 0)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_INT(called, 1);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    limit_files(RLIM_INFINITY);
    jumps = false;
}

/* The handler of the second file is called by the next wait of any kind, or, if the file is closed before that,
 * never: a file that is opened later and has the old handle is not to blame. */
static void two_failures(bool waits) {
    MPI_File files[2] = {open_turned("first"), open_turned("second")}, later[4];
    char mine[N];
    fill(mine, 0, N, rank);
    set_handler(files[0], jumping_handler);
    set_handler(files[1], jumping_handler);
    fail_both(files, mine);
    if (waits)
        wait_for_message();
    CHECK_INT(called, waits ? 2 : 1);
    OK(MPI_File_close(&files[0]));
    OK(MPI_File_close(&files[1]));
    for (int i = 0; i < 4; i++) {
        MPI_Request request;
        later[i] = open_turned("later");
        set_handler(later[i], later_handler);
        OK(MPI_File_iwrite_at_all(later[i], 0, mine, N, MPI_BYTE, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < 4; i++)
        OK(MPI_File_close(&later[i]));
    CHECK_INT(called_later, 0);
}

/* ---- Handlers of communicators ---- */

static MPI_Request of_file;

/* NOLINTNEXTLINE: MPI gives the parameters */
static void handler_of_comm(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    called++;
    if (jumps)
        longjmp(before_wait, 1);
    OK(MPI_Wait(&of_file, MPI_STATUS_IGNORE));
}

static void set_handlers(MPI_Comm comm) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handler_of_comm, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler); /* where MPICH raises errors of requests */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
}

static void reset_handlers(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* Rank 0 receives a message that is too long for it, while rank 1 comes late to the call on the file. */
static void fail_message(MPI_Comm comm) {
    static MPI_Request request;
    static char small[4];
    MPI_Irecv(small, sizeof small, MPI_BYTE, 1, TAG, comm, &request);
    called = 0;
    if (setjmp(before_wait) == 0)
        FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_INT(called, 1);
}

static void message_failed(bool handler_jumps) {
    enum { LATE_US = 300000 };
    MPI_Comm comm;
    char mine[N], long_message[100] = {0};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_handlers(comm);
    jumps = handler_jumps;
    MPI_File file = open_turned("message");
    fill(mine, 0, N, rank);
    if (rank == 1) {
        MPI_Send(long_message, sizeof long_message, MPI_BYTE, 0, TAG, comm);
        (void)usleep(LATE_US);
    }
    OK(MPI_File_iwrite_at_all(file, 0, mine, N, MPI_BYTE, &of_file));
    if (rank == 0)
        fail_message(comm);
    if (jumps || rank != 0)
        OK(MPI_Wait(&of_file, MPI_STATUS_IGNORE));
    OK(MPI_File_iwrite_at_all(file, N, mine, N, MPI_BYTE, &of_file));
    OK(MPI_Wait(&of_file, MPI_STATUS_IGNORE));
    reset_handlers();
    OK(MPI_File_close(&file));
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    message_failed(false);
    message_failed(true);
    if (PLAIN) /* the MPI libraries hang, abort, or know nothing of such errors */
        return check_end();
    two_failures(true);
    two_failures(false);
    return check_end();
}
