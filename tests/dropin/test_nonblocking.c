/* RUN: n=1,2,4 */
/* Nonblocking collective calls: real requests, in any order, mixed with the program's own and with blocking calls.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>

#include "dropin_check.h"

enum { N = 1000, FILES = 3, EACH = 4 };

/* ---- One at a time ---- */

static void basic(void) {
    char mine[N], more[N], back[N], token = 1, received = 0;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    fill(mine, 0, N, rank);
    fill(more, N, N, rank);
    MPI_File file = open_all("basic", MODE_NEW);
    OK(MPI_File_seek(file, N * rank, MPI_SEEK_SET));
    OK(MPI_File_iwrite_all(file, mine, N, MPI_BYTE, &requests[0]));
    CHECK_INT(position_of(file), N * (rank + 1));
    MPI_Isend(&token, 1, MPI_CHAR, (rank + 1) % ranks, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&received, 1, MPI_CHAR, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &requests[2]);
    OK(MPI_Waitall(3, requests, statuses));
    CHECK(requests[0] == MPI_REQUEST_NULL);
    CHECK_INT(count_in(&statuses[0], MPI_BYTE), N);
    OK(MPI_File_write_at_all(file, N * (ranks + rank), more, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_iread_at_all(file, N * rank, back, N, MPI_BYTE, &requests[0]));
    OK(MPI_Wait(&requests[0], &statuses[0]));
    CHECK_INT(count_in(&statuses[0], MPI_BYTE), N);
    CHECK(memcmp(back, mine, N) == 0);
    OK(MPI_File_seek(file, N * (ranks + rank), MPI_SEEK_SET));
    OK(MPI_File_iread_all(file, back, N, MPI_BYTE, &requests[0]));
    int done = 0, cancelled = -1;
    while (!done)
        OK(MPI_Test(&requests[0], &done, &statuses[0]));
    OK(MPI_Test_cancelled(&statuses[0], &cancelled));
    CHECK_INT_OR(PLAIN_OPENMPI, cancelled, 0);
    CHECK(memcmp(back, more, N) == 0);
    OK(MPI_File_iwrite_at_all(file, N * rank, more, N, MPI_BYTE, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, N * rank, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, more, N) == 0);
    OK(MPI_File_close(&file));
}

/* The types are gone before the call is done; a view with gaps, memory with gaps. */
static void types(void) {
    int mine[2 * N], back[2 * N];
    MPI_Request request;
    MPI_Status status;
    MPI_Datatype turns = turns_of(5, MPI_INT), gaps;
    MPI_File file = open_all("types", MODE_NEW);
    OK(MPI_File_set_view(file, 5 * sizeof(int) * (size_t)rank, MPI_INT, turns, "native", MPI_INFO_NULL));
    MPI_Type_free(&turns);
    for (int i = 0; i < 2 * N; i++) {
        mine[i] = rank * 100000 + i;
        back[i] = -1;
    }
    MPI_Type_vector(N, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    OK(MPI_File_iwrite_at_all(file, 0, mine, 1, gaps, &request));
    if (!PLAIN_MPICH) { /* crashes */
        MPI_Type_free(&gaps);
        MPI_Type_vector(N, 1, 2, MPI_INT, &gaps);
        MPI_Type_commit(&gaps);
    }
    OK(MPI_Wait(&request, &status));
    CHECK_INT(count_in(&status, MPI_INT), N);
    OK(MPI_File_iread_all(file, back, 1, gaps, &request));
    if (!PLAIN_MPICH)
        MPI_Type_free(&gaps);
    CHECK_INT(position_of(file), N);
    OK(MPI_Wait(&request, &status));
    if (PLAIN_MPICH)
        MPI_Type_free(&gaps);
    CHECK_INT(count_in(&status, MPI_INT), N);
    for (int i = 0; i < 2 * N; i++)
        CHECK(back[i] == (i % 2 ? -1 : mine[i]));
    OK(MPI_File_close(&file));
}

/* Less than asked for at the end of the file; nothing at all. */
static void ends(void) {
    char mine[N], back[N];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (PLAIN_OPENMPI) /* waits for ever for what lies past the end */
        return;
    fill(mine, 0, N, rank);
    MPI_File file = open_all("ends", MODE_NEW);
    OK(MPI_File_iwrite_at_all(file, N * rank, mine, N, MPI_BYTE, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    meet();
    memset(back, 7, N);
    OK(MPI_File_iread_at_all(file, N * ranks - 100 - rank, back, N, MPI_BYTE, &requests[0]));
    OK(MPI_File_iwrite_at_all(file, 0, NULL, 0, MPI_BYTE, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses));
    CHECK_INT_OR(PLAIN_MPICH, count_in(&statuses[0], MPI_BYTE), 100 + rank);
    CHECK_INT(count_in(&statuses[1], MPI_BYTE), 0);
    CHECK(PLAIN || back[100 + rank] == 7);
    OK(MPI_File_close(&file));
}

#if MPI_VERSION >= 4
static void large(void) {
    char mine[N], back[N];
    MPI_Request requests[2];
    fill(mine, 0, N, rank);
    MPI_File file = open_all("large", MODE_NEW);
    OK(MPI_File_iwrite_all_c(file, rank ? NULL : mine, rank ? 0 : N, MPI_BYTE, &requests[0]));
    OK(MPI_File_iwrite_at_all_c(file, N * (rank + 1), mine, N, MPI_BYTE, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    meet();
    OK(MPI_File_iread_at_all_c(file, N * (rank + 1), back, N, MPI_BYTE, &requests[1]));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK(memcmp(back, mine, N) == 0);
    OK(MPI_File_seek(file, N * (rank + 1), MPI_SEEK_SET));
    OK(MPI_File_iread_all_c(file, back, N / 2, MPI_BYTE, &requests[1]));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK(memcmp(back, mine, N) == 0);
    OK(MPI_File_close(&file));
}
#else
static void large(void) {}
#endif

/* ---- Many at once ---- */

static unsigned long random_state;
static int random_below(int n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (unsigned long)n);
}

typedef struct many {
    MPI_File files[FILES];
    char mine[FILES][EACH][N];
    MPI_Request requests[FILES * EACH + 2]; /* and a message each way */
    char token, received;
} many;

static void start_in_any_order(many *m) {
    int left[FILES] = {EACH, EACH, EACH};
    for (int n = 0; n < FILES * EACH; n++) {
        int which = random_below(FILES);
        while (left[which] == 0)
            which = (which + 1) % FILES;
        int number = EACH - left[which]--;
        OK(MPI_File_iwrite_at_all(m->files[which], N * (number * ranks + rank), m->mine[which][number], N,
                                  MPI_BYTE, &m->requests[which * EACH + number]));
    }
    MPI_Irecv(&m->received, 1, MPI_CHAR, (rank + ranks - 1) % ranks, 6, MPI_COMM_WORLD,
              &m->requests[FILES * EACH]);
    MPI_Isend(&m->token, 1, MPI_CHAR, (rank + 1) % ranks, 6, MPI_COMM_WORLD, &m->requests[FILES * EACH + 1]);
}

static void one_done(many *m, int index, const MPI_Status *status) {
    CHECK(m->requests[index] == MPI_REQUEST_NULL);
    if (index < FILES * EACH)
        CHECK_INT(count_in(status, MPI_BYTE), N);
}

static void wait_any(many *m, int n) {
    for (int done = 0; done < n; done++) {
        MPI_Status status;
        int index = -1;
        OK(MPI_Waitany(n, m->requests, &index, &status));
        one_done(m, index, &status);
    }
}

static void wait_some(many *m, int n) {
    for (int done = 0; done < n;) {
        MPI_Status statuses[FILES * EACH + 2];
        int indices[FILES * EACH + 2], some = 0;
        OK(MPI_Waitsome(n, m->requests, &some, indices, statuses));
        CHECK(some > 0);
        for (int i = 0; i < some; i++)
            one_done(m, indices[i], &statuses[i]);
        done += some;
    }
}

static void test_some(many *m, int n) {
    for (int done = 0; done < n;) {
        MPI_Status statuses[FILES * EACH + 2], status;
        int indices[FILES * EACH + 2], some = 0, index = -1, flag = 0;
        OK(MPI_Testsome(n, m->requests, &some, indices, statuses));
        for (int i = 0; i < some; i++)
            one_done(m, indices[i], &statuses[i]);
        done += some > 0 ? some : 0;
        OK(MPI_Testany(n, m->requests, &index, &flag, &status));
        if (flag && index != MPI_UNDEFINED) {
            one_done(m, index, &status);
            done++;
        }
        (void)usleep(50);
    }
}

static void test_all(many *m, int n) {
    MPI_Status statuses[FILES * EACH + 2];
    for (int flag = 0; !flag; (void)usleep(50))
        OK(MPI_Testall(n, m->requests, &flag, statuses));
    for (int i = 0; i < n; i++)
        one_done(m, i, &statuses[i]);
}

/* MPICH never says by MPI_Request_get_status that a request of its own file I/O is complete. */
#define LOOKING_WORKS (!PLAIN_MPICH)

/* A look without freeing, in any order, then MPI_Wait. */
static void get_status(many *m, int n) {
    for (int i = 0; i < n; i++) {
        MPI_Status status;
        for (int flag = 0; !flag; (void)usleep(50))
            OK(MPI_Request_get_status(m->requests[i], &flag, &status));
        CHECK(m->requests[i] != MPI_REQUEST_NULL);
        if (i < FILES * EACH)
            CHECK_INT(count_in(&status, MPI_BYTE), N);
        OK(MPI_Wait(&m->requests[i], &status));
        one_done(m, i, &status);
    }
}

static void check_many(const many *m, const char *name) {
    static char wanted[EACH * N * 64];
    for (int f = 0; f < FILES; f++) {
        char path[32];
        (void)snprintf(path, sizeof path, "%s-%d", name, f);
        for (int number = 0; number < EACH; number++)
            for (int r = 0; r < ranks; r++)
                fill(wanted + N * (number * ranks + r), number, N, r * FILES + f);
        CHECK_FILE(path, wanted, (long long)EACH * N * ranks);
    }
    (void)m;
}

/* Every rank starts them in an order of its own. */
static void orders(const char *name, void (*wait)(many *m, int n)) {
    static many m;
    m.token = 1;
    random_state = (unsigned long)rank * 77 + (unsigned char)name[0];
    for (int f = 0; f < FILES; f++) {
        char path[32];
        (void)snprintf(path, sizeof path, "%s-%d", name, f);
        m.files[f] = open_all(path, MODE_NEW);
        for (int number = 0; number < EACH; number++)
            fill(m.mine[f][number], number, N, rank * FILES + f);
    }
    start_in_any_order(&m);
    wait(&m, FILES * EACH + 2);
    for (int f = 0; f < FILES; f++)
        OK(MPI_File_close(&m.files[f]));
    check_many(&m, name);
}

/* Nonblocking on one file, blocking on another, which the others come to later or earlier. */
static void beside_blocking(void) {
    char mine[N], other[N];
    MPI_Request request;
    fill(mine, 0, N, rank);
    fill(other, 5, N, rank);
    MPI_File one = open_all("beside-1", MODE_NEW), two = open_all("beside-2", MODE_NEW);
    if (rank % 2 == 0)
        OK(MPI_File_iwrite_at_all(one, N * rank, mine, N, MPI_BYTE, &request));
    OK(MPI_File_write_at_all(two, N * rank, other, N, MPI_BYTE, MPI_STATUS_IGNORE));
    if (rank % 2 == 1)
        OK(MPI_File_iwrite_at_all(one, N * rank, mine, N, MPI_BYTE, &request));
    OK(MPI_File_write_at_all(two, N * (ranks + rank), other, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&one));
    OK(MPI_File_close(&two));
    CHECK_INT(plain_size("beside-1"), N * ranks);
    CHECK_INT(plain_size("beside-2"), 2 * N * ranks);
}

/* ---- Requests that nobody waits for ---- */

static void freed(void) {
    static char mine[8][N], wanted[8 * N * 64];
    MPI_File file = open_all("freed", MODE_NEW);
    for (int i = 0; i < 8; i++) {
        MPI_Request request;
        fill(mine[i], i, N, rank);
        OK(MPI_File_iwrite_at_all(file, N * (i * ranks + rank), mine[i], N, MPI_BYTE, &request));
        OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
    }
    if (PLAIN) /* when the MPI libraries are done with them, nobody can say */
        (void)usleep(300000);
    OK(MPI_File_sync(file));
    OK(MPI_File_close(&file));
    for (int i = 0; i < 8; i++)
        for (int r = 0; r < ranks; r++)
            fill(wanted + N * (i * ranks + r), i, N, r);
    CHECK_FILE_OR(PLAIN, "freed", wanted, 8LL * N * ranks);
}

/* Complete, and left so until the end of the program. */
static void left(void) {
    static char mine[N];
    MPI_Request request;
    int flag = 0;
    MPI_File file = open_all("left", MODE_NEW);
    OK(MPI_File_iwrite_at_all(file, N * rank, mine, N, MPI_BYTE, &request));
    for (; !flag; (void)usleep(50))
        OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

/* ---- Errors ---- */

/* One after another: a read sees what the other ranks wrote in the call before, and is not overtaken by what they
 * write in the next.  The MPI libraries promise that to nobody; some programs have it by luck. */
static void in_turn(long long bytes) {
    int next = (rank + 1) % ranks;
    char *mine = calloc(1, (size_t)bytes), *back = calloc(1, (size_t)bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    if (PLAIN || !mine || !back) {
        free(mine), free(back);
        return;
    }
    MPI_File file = open_all("turn", MODE_NEW);
    for (int i = 0; i < 60; i++) {
        bool late = i % ranks == rank && i % 4 == 0;
        memset(mine, i, (size_t)bytes);
        if (late)
            (void)usleep(2000);
        if (i % 5 == 1)
            OK(MPI_File_write_at_all(file, bytes * rank, mine, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_iwrite_at_all(file, bytes * rank, mine, (int)bytes, MPI_BYTE, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (i % 7 == 1)
            OK(MPI_File_read_at_all(file, bytes * next, back, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_iread_at_all(file, bytes * next, back, (int)bytes, MPI_BYTE, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(memcmp(back, mine, (size_t)bytes) == 0);
    }
    OK(MPI_File_close(&file));
    free(mine), free(back);
}

static int called, handled_class;
/* NOLINTNEXTLINE: MPI gives the parameters */
static void handler(MPI_File *file, int *code, ...) {
    (void)file;
    called++;
    handled_class = check_class(*code);
}

/* Fails, and nobody asks how it went; who waits for another call meanwhile learns of that one only. */
static void fail_unasked(MPI_File file, const char *mine) {
    called = 0;
    for (int i = 0; i < 8; i++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int done = 0, indices[2] = {-1, -1};
        MPI_Status statuses[2];
        OK(MPI_File_iwrite_at_all(file, 100000 + N * rank, mine, N, MPI_BYTE, &requests[0]));
        OK(MPI_Request_free(&requests[0]));
        OK(MPI_File_iwrite_at_all(file, 100000 + N * rank, mine, N, MPI_BYTE, &requests[1]));
        FAILS(MPI_Waitsome(2, requests, &done, indices, statuses), MPI_ERR_IN_STATUS);
        CHECK_INT(done, 1);
        CHECK_INT(indices[0], 1);
        CHECK_INT(check_class(statuses[0].MPI_ERROR), MPI_ERR_IO);
        CHECK_INT(called, i + 1);
    }
}

/* ---- A handler of errors that does not return, as one of C++ that throws, and one that waits itself ---- */

static MPI_File turned; /* rank by rank, so that a call on it is not done when it is started */
static jmp_buf before_wait;

static void write_turned(MPI_Offset at) {
    char mine[N];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    fill(mine, at, N, rank);
    OK(MPI_File_iwrite_at_all(turned, at, mine, N, MPI_BYTE, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses));
    CHECK_INT(count_in(&statuses[1], MPI_BYTE), N);
}

/* NOLINTNEXTLINE: MPI gives the parameters */
static void jumping_handler(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    called++;
    longjmp(before_wait, 1);
}

/* NOLINTNEXTLINE: MPI gives the parameters */
static void waiting_handler(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    called++;
    write_turned(N);
}

/* Fails in MPI_Wait. */
static void fail_with(void (*function)(MPI_File *, int *, ...), MPI_File file, const char *mine) {
    static MPI_Request request;
    MPI_Errhandler own;
    MPI_File_create_errhandler(function, &own);
    OK(MPI_File_set_errhandler(file, own));
    MPI_Errhandler_free(&own);
    called = 0;
    OK(MPI_File_iwrite_at_all(file, 100000 + N * rank, mine, N, MPI_BYTE, &request));
    if (setjmp(before_wait) == 0)
        FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK_INT(called, 1);
}

static void handlers_at_large(MPI_File file, const char *mine) {
    char back[3 * N];
    MPI_Datatype turns = turns_of(10, MPI_BYTE);
    turned = open_all("turned", MODE_NEW);
    OK(MPI_File_set_view(turned, 10 * rank, MPI_BYTE, turns, "native", MPI_INFO_NULL));
    MPI_Type_free(&turns);
    fail_with(jumping_handler, file, mine);
    write_turned(0);
    fail_with(waiting_handler, file, mine);
    write_turned(2 * N);
    OK(MPI_File_read_at_all(turned, 0, back, 3 * N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(filled(back, 0, 3 * N, rank));
    OK(MPI_File_close(&turned));
}

/* The store fails; by MPI_Wait and by MPI_Waitall, with the handler of the file. */
static void full_disk(MPI_File file, char *mine) {
    struct rlimit before, small;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    char token = 1, received = 0;
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100000;
    (void)setrlimit(RLIMIT_FSIZE, &small);
    OK(MPI_File_iwrite_at_all(file, 100000 + N * rank, mine, N, MPI_BYTE, &requests[0]));
    FAILS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    CHECK_INT(called, 1);
    CHECK_INT(handled_class, MPI_ERR_IO);
    MPI_Isend(&token, 1, MPI_CHAR, (rank + 1) % ranks, 7, MPI_COMM_WORLD, &requests[0]);
    OK(MPI_File_iwrite_at_all(file, 100000 + N * rank, mine, N, MPI_BYTE, &requests[1]));
    MPI_Irecv(&received, 1, MPI_CHAR, (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD, &requests[2]);
    FAILS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK_INT(check_class(statuses[0].MPI_ERROR), MPI_SUCCESS);
    CHECK_INT(check_class(statuses[1].MPI_ERROR), MPI_ERR_IO);
    CHECK_INT(check_class(statuses[2].MPI_ERROR), MPI_SUCCESS);
    CHECK_INT(called, 2);
    fail_unasked(file, mine);
    handlers_at_large(file, mine);
    (void)setrlimit(RLIMIT_FSIZE, &before);
}

/* One rank's arguments are wrong: it learns at once, the others when they wait, or never: those who go alone have
 * done their parts, as two ranks under OMPIO always do, with Sago as without. */
static void wrong_arguments(MPI_File file, char *mine) {
    MPI_Request request = MPI_REQUEST_NULL;
    bool alone = OPENMPI && ranks == 2;
    called = 0;
    if (rank == ranks - 1) {
        FAILS(MPI_File_iwrite_at_all(file, 0, mine, -1, MPI_BYTE, &request), MPI_ERR_COUNT);
    } else {
        OK(MPI_File_iwrite_at_all(file, N * rank, mine, N, MPI_BYTE, &request));
        int class = check_class(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(class == MPI_SUCCESS || (class == MPI_ERR_ARG && !alone));
        CHECK_INT(called, class != MPI_SUCCESS);
    }
}

/* The MPI libraries hang, abort, or know nothing of such errors. */
static void errors(void) {
    char mine[N];
    MPI_Errhandler own;
    MPI_Request request;
    MPI_Status status;
    if (PLAIN)
        return;
    fill(mine, 0, N, rank);
    MPI_File file = open_all("errors", MODE_NEW);
    MPI_File_create_errhandler(handler, &own);
    OK(MPI_File_set_errhandler(file, own));
    full_disk(file, mine);
    OK(MPI_File_set_errhandler(file, own));
    wrong_arguments(file, mine);
    OK(MPI_File_iwrite_at_all(file, N * rank, mine, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    MPI_Errhandler_free(&own);
    OK(MPI_File_close(&file));
}

/* Atomic mode is the MPI library's. */
static void handed(void) {
    char mine[N];
    MPI_Request request;
    MPI_Status status;
    MPI_File file = open_all("handed", MODE_NEW);
    OK(MPI_File_set_atomicity(file, 1));
    fill(mine, 0, N, rank);
    OK(MPI_File_iwrite_at_all(file, N * rank, mine, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    OK(MPI_File_close(&file));
    expect_stat("atomic", ranks);
}

/* No memory for the node's windows, since no file may be that large: every rank does its part alone. */
static void little_memory(void) {
    enum { FEW = 200 };
    char mine[FEW], back[FEW];
    struct rlimit before, small;
    MPI_Info info;
    MPI_File file;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Datatype turns = turns_of(10, MPI_BYTE);
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_strategy", "aggregated");
    OK(MPI_File_open(MPI_COMM_WORLD, "little", MODE_NEW, info, &file));
    MPI_Info_free(&info);
    OK(MPI_File_set_view(file, 10 * rank, MPI_BYTE, turns, "native", MPI_INFO_NULL));
    MPI_Type_free(&turns);
    (void)getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    (void)setrlimit(RLIMIT_FSIZE, &small);
    fill(mine, 0, FEW, rank);
    OK(MPI_File_iwrite_at_all(file, 0, mine, FEW, MPI_BYTE, &requests[0]));
    OK(MPI_Waitall(1, requests, statuses));
    CHECK_INT(count_in(&statuses[0], MPI_BYTE), FEW);
    meet();
    OK(MPI_File_iread_at_all(file, 0, back, FEW, MPI_BYTE, &requests[0]));
    OK(MPI_File_iread_at_all(file, FEW / 2, mine, FEW / 2, MPI_BYTE, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses));
    CHECK_INT(count_in(&statuses[0], MPI_BYTE), FEW);
    CHECK_INT(count_in(&statuses[1], MPI_BYTE), FEW / 2);
    CHECK(filled(back, 0, FEW, rank));
    CHECK(filled(mine, FEW / 2, FEW / 2, rank));
    (void)setrlimit(RLIMIT_FSIZE, &before);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    basic();
    types();
    ends();
    large();
    orders("any", wait_any);
    orders("some", wait_some);
    orders("tested", test_some);
    orders("all", test_all);
    if (LOOKING_WORKS)
        orders("looked", get_status);
    beside_blocking();
    freed();
    if (LOOKING_WORKS)
        left();
    in_turn(N);
    in_turn(5 << 20); /* by the I/O thread, where it is not mapped */
    errors();
    handed();
    little_memory();
    return check_end();
}
