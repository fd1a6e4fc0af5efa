/* RUN: n=2 */
/* MPI_THREAD_MULTIPLE: threads that use files of their own, on communicators of their own, and threads that use
 * one file.  They are opened by one thread: MPICH hangs when several open files, and, by itself, when several make
 * collective calls. */
#include <pthread.h>

#include "dropin_check.h"

enum { THREADS = 4, ROUNDS = 30, N = 5000 };

typedef struct worker {
    pthread_t thread;
    MPI_Comm comm;
    MPI_File file;
    int number, wrong;
} worker;

/* Nonblocking, with a message of the thread's own: all threads wait and test at once.  No CHECK here and below:
 * its counter is the main thread's. */
static void work_behind(worker *me, MPI_Offset at, char *mine) {
    char back[N], token = 1, received = 0;
    MPI_Request requests[3];
    int done = 0;
    me->wrong += MPI_File_iwrite_at_all(me->file, at, mine, N, MPI_BYTE, &requests[0]) != MPI_SUCCESS;
    MPI_Irecv(&received, 1, MPI_CHAR, 1 - rank, 0, me->comm, &requests[1]);
    MPI_Isend(&token, 1, MPI_CHAR, 1 - rank, 0, me->comm, &requests[2]);
    me->wrong += MPI_Waitall(3, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS || received != 1;
    me->wrong += MPI_File_iread_at_all(me->file, at, back, N, MPI_BYTE, &requests[0]) != MPI_SUCCESS;
    for (; !done; (void)usleep(20))
        me->wrong += MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    me->wrong += memcmp(mine, back, N) != 0;
}

static void *work(void *arg) {
    worker *me = arg;
    char mine[N], back[N];
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Offset at = (MPI_Offset)N * (round % 3 * ranks + rank);
        fill(mine, round, N, rank * THREADS + me->number);
        me->wrong += MPI_File_write_at_all(me->file, at, mine, N, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        me->wrong += MPI_File_seek(me->file, at, MPI_SEEK_SET) != MPI_SUCCESS;
        me->wrong += MPI_File_read_all(me->file, back, N, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        me->wrong += memcmp(mine, back, N) != 0;
        if (!PLAIN) /* Open MPI crashes now and then, MPICH hangs */
            work_behind(me, at, mine);
    }
    return NULL;
}

/* Independent calls, at a place of the thread's own. */
static void *work_alone(void *arg) {
    worker *me = arg;
    char mine[N], back[N];
    MPI_Offset at = (MPI_Offset)N * (2 * ranks + rank * THREADS + me->number), size = 0;
    for (int round = 0; round < ROUNDS; round++) {
        fill(mine, round, N, me->number);
        me->wrong += MPI_File_write_at(me->file, at, mine, N, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        me->wrong += MPI_File_read_at(me->file, at, back, N, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        me->wrong += MPI_File_get_size(me->file, &size) != MPI_SUCCESS || size < at + N;
        me->wrong += memcmp(mine, back, N) != 0;
    }
    return NULL;
}

static void write_together(MPI_File file, int round) {
    char mine[N], back[N];
    MPI_Request request;
    MPI_Offset at = (MPI_Offset)N * (round % 2 * ranks + rank);
    fill(mine, round, N, rank);
    if (round % 3 == 0) {
        OK(MPI_File_iwrite_at_all(file, at, mine, N, MPI_BYTE, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_File_write_at_all(file, at, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_read_at_all(file, at, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
}

/* One thread makes collective calls on a file, and the others independent ones at the same time. */
static void one_file(MPI_Comm comm, const char *name, const char *hint) {
    worker workers[THREADS];
    MPI_Info info;
    MPI_File file = MPI_FILE_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_defer", hint);
    OK(MPI_File_open(comm, name, MODE_NEW, info, &file));
    MPI_Info_free(&info);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.file = file, .number = i};
        CHECK(pthread_create(&workers[i].thread, NULL, work_alone, &workers[i]) == 0);
    }
    for (int round = 0; round < ROUNDS; round++)
        write_together(file, round);
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        CHECK_INT(workers[i].wrong, 0);
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    worker workers[THREADS];
    int level;
    char name[32];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    check_ready();
    if (level < MPI_THREAD_MULTIPLE)
        return check_skip("this MPI has no MPI_THREAD_MULTIPLE");
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].wrong = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
        (void)snprintf(name, sizeof name, "thread-%d", i);
        workers[i].file = open_in(workers[i].comm, name, MODE_NEW);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
        if (PLAIN_MPICH)
            (void)pthread_join(workers[i].thread, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        if (!PLAIN_MPICH)
            (void)pthread_join(workers[i].thread, NULL);
        CHECK_INT(workers[i].wrong, 0);
        OK(MPI_File_close(&workers[i].file));
        MPI_Comm_free(&workers[i].comm);
    }
    (void)snprintf(name, sizeof name, "own-%d", rank);
    one_file(MPI_COMM_WORLD, "one", "off");
    one_file(MPI_COMM_WORLD, "one-deferred", "on");
    one_file(MPI_COMM_SELF, name, "off");
    expect_stat("writes", (2LL * THREADS + 3) * ROUNDS * ranks);
    return check_end();
}
