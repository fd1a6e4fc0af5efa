/* RUN: n=2,3,4 */
/* Nonblocking collective calls of ranks that do not come to wait at the same time: rank 0 waits for its request
 * while the others are held by something that it does only afterwards.  Nobody's request may need the others to be
 * in any call.  With views in pieces, and without a mapping: where the ranks gain by gathering. */
#include <fcntl.h>
#include <sys/mman.h>

#include "dropin_check.h"

enum { PIECE = 10, PIECES = 300, N = PIECE * PIECES, CALLS = 3 };

typedef struct scene {
    const char *name;
    const char *hints; /* "key=value"; may be NULL */
    MPI_File file;
    char mine[CALLS][N], back[CALLS][N];
} scene;

static scene s;
static int written; /* calls so far: each writes other bytes */

/* ---- Files ---- */

static MPI_Info info_of(const char *hints) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_map", "off");
    if (hints) {
        char key[64], value[64];
        if (sscanf(hints, "%63[^=]=%63s", key, value) == 2)
            MPI_Info_set(info, key, value);
    }
    return info;
}

static MPI_File open_in_turns(const char *name, const char *hints) {
    MPI_Info info = info_of(hints);
    MPI_File file;
    MPI_Datatype turns = turns_of(PIECE, MPI_BYTE);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MODE_NEW, info, &file));
    OK(MPI_File_set_view(file, PIECE * rank, MPI_BYTE, turns, "native", MPI_INFO_NULL));
    MPI_Type_free(&turns);
    MPI_Info_free(&info);
    return file;
}

static void start_write(int call, MPI_Request *request) {
    fill(s.mine[call], written, N, rank + 100 * call);
    OK(MPI_File_iwrite_at_all(s.file, (MPI_Offset)N * call, s.mine[call], N, MPI_BYTE, request));
}

static void start_read(int call, MPI_Request *request) {
    memset(s.back[call], 0, N);
    OK(MPI_File_iread_at_all(s.file, (MPI_Offset)N * call, s.back[call], N, MPI_BYTE, request));
}

static void start_all(bool write, MPI_Request requests[CALLS]) {
    for (int call = 0; call < CALLS; call++)
        (write ? start_write : start_read)(call, &requests[call]);
}

static void wait_all(MPI_Request requests[CALLS]) {
    MPI_Status statuses[CALLS];
    OK(MPI_Waitall(CALLS, requests, statuses));
    for (int call = 0; call < CALLS; call++)
        CHECK_INT(count_in(&statuses[call], MPI_BYTE), N);
}

/* Through a communicator and a file of one's own: what each rank wrote, and where. */
static void check_written(void) {
    static char wanted[CALLS * N * 8];
    for (int call = 0; call < CALLS; call++)
        for (int r = 0; r < ranks; r++) {
            char bytes[N];
            fill(bytes, written, N, r + 100 * call);
            for (int piece = 0; piece < PIECES; piece++)
                memcpy(wanted + ((call * PIECES + piece) * ranks + r) * PIECE, bytes + piece * PIECE, PIECE);
        }
    CHECK_FILE(s.name, wanted, (long long)CALLS * N * ranks);
}

static void check_read(void) {
    for (int call = 0; call < CALLS; call++)
        CHECK(filled(s.back[call], written, N, rank + 100 * call));
}

/* ---- What holds the others until rank 0 has waited ---- */

typedef struct holder {
    const char *name;
    void (*hold)(void);    /* the others */
    void (*release)(void); /* rank 0 */
} holder;

static char token;

static void receive_from_first(void) { MPI_Recv(&token, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void send_to_others(void) {
    for (int r = 1; r < ranks; r++)
        MPI_Send(&token, 1, MPI_CHAR, r, 1, MPI_COMM_WORLD);
}

static void send_to_first(void) { MPI_Ssend(&token, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD); }
static void receive_from_others(void) {
    for (int r = 1; r < ranks; r++)
        MPI_Recv(&token, 1, MPI_CHAR, r, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void broadcast(void) { MPI_Bcast(&token, 1, MPI_CHAR, 0, MPI_COMM_WORLD); }

static MPI_Win window;
static void fence(void) { MPI_Win_fence(0, window); }

/* Outside MPI altogether: memory of a file, which the nodes of a made-up cluster share, too. */
static volatile int *flag;
static void await_flag(void) {
    while (!*flag)
        (void)usleep(100);
}
static void raise_flag(void) { *flag = 1; }

static void await_file(void) {
    while (plain_size("go") < 0)
        (void)usleep(100);
}
static void make_file(void) { (void)close(open("go", O_CREAT | O_WRONLY, 0600)); }

static const holder holders[] = {{"recv", receive_from_first, send_to_others},
                                 {"ssend", send_to_first, receive_from_others},
                                 {"barrier", barrier, barrier},
                                 {"bcast", broadcast, broadcast},
                                 {"fence", fence, fence},
                                 {"flag", await_flag, raise_flag},
                                 {"file", await_file, make_file}};
enum { HOLDERS = sizeof holders / sizeof holders[0] };

static void make_holders(void) {
    MPI_Win_create(&token, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    int fd = open("flag", O_CREAT | O_RDWR, 0600);
    CHECK(fd >= 0 && ftruncate(fd, sizeof *flag) == 0);
    void *shared = mmap(NULL, sizeof *flag, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(shared != MAP_FAILED);
    (void)close(fd);
    flag = shared;
    meet();
}

static void free_holders(void) {
    (void)munmap((void *)flag, sizeof *flag);
    MPI_Win_free(&window);
}

static void reset_holders(void) {
    meet();
    if (rank == 0) {
        *flag = 0;
        (void)unlink("go");
    }
    meet();
}

/* ---- Scenes ---- */

static void held(const holder *by, bool write) {
    MPI_Request requests[CALLS];
    start_all(write, requests);
    if (rank == 0) {
        wait_all(requests);
        by->release();
    } else {
        by->hold();
        wait_all(requests);
    }
}

/* Others have not even started. */
static void held_before(const holder *by, bool write) {
    MPI_Request requests[CALLS];
    if (rank != 0)
        by->hold();
    start_all(write, requests);
    wait_all(requests);
    if (rank == 0)
        by->release();
}

/* Rank 0 never waits, it tests. */
static void held_testing(const holder *by, bool write) {
    MPI_Request requests[CALLS];
    start_all(write, requests);
    if (rank != 0)
        by->hold();
    for (int call = 0; call < CALLS; call++)
        for (int done = 0; !done; (void)usleep(call * 300))
            OK(MPI_Test(&requests[call], &done, MPI_STATUS_IGNORE));
    if (rank == 0)
        by->release();
}

static void by_all_holders(const char *name, const char *hints, void (*run)(const holder *by, bool write)) {
    s.name = name;
    s.file = open_in_turns(name, hints);
    for (int i = 0; i < HOLDERS; i++) {
        written++;
        run(&holders[i], true);
        OK(MPI_File_sync(s.file));
        check_written();
        reset_holders();
        run(&holders[i], false);
        check_read();
        reset_holders();
    }
    OK(MPI_File_close(&s.file));
    CHECK_INT(plain_size(name), CALLS * N * ranks);
}

/* Barriers before and after the call that is waited for. */
static void orders(void) {
    MPI_Request requests[CALLS];
    s.name = "orders";
    s.file = open_in_turns(s.name, NULL);
    for (int step = 0; step < 8; step++) {
        written++;
        if (rank % 2 == step % 2) {
            start_all(true, requests);
            if (step >= 4)
                wait_all(requests);
            MPI_Barrier(MPI_COMM_WORLD);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            start_all(true, requests);
        }
        if (rank % 2 != step % 2 || step < 4)
            wait_all(requests);
        check_written();
    }
    OK(MPI_File_close(&s.file));
}

/* Some have gone alone: a blocking call comes after their nonblocking ones on all ranks; and what one rank writes
 * again is the last it wrote. */
static void then_together(void) {
    MPI_Request requests[CALLS], again;
    char last[N];
    s.name = "then";
    s.file = open_in_turns(s.name, NULL);
    for (int step = 0; step < 4; step++) {
        written++;
        start_all(true, requests);
        fill(last, written + 1000, N, rank);
        OK(MPI_File_iwrite_at_all(s.file, 0, last, N, MPI_BYTE, &again));
        if (rank == step % ranks)
            OK(MPI_Wait(&again, MPI_STATUS_IGNORE));
        meet();
        OK(MPI_File_write_at_all(s.file, 0, s.mine[0], N, MPI_BYTE, MPI_STATUS_IGNORE));
        wait_all(requests);
        OK(MPI_Wait(&again, MPI_STATUS_IGNORE));
        check_written();
        start_write(0, &requests[0]);
        OK(MPI_File_iwrite_at_all(s.file, 0, last, N, MPI_BYTE, &again));
        if (rank % 2)
            (void)usleep(3000);
        OK(MPI_Wait(&again, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        meet();
        OK(MPI_File_read_at_all(s.file, 0, s.back[0], N, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(s.back[0], last, N) == 0);
        meet();
    }
    OK(MPI_File_close(&s.file));
}

/* Each rank waits first for the file that the others wait for last. */
static void two_files(void) {
    MPI_Request a, b;
    MPI_File one = open_in_turns("one", NULL), two = open_in_turns("two", NULL);
    char mine[N], other[N];
    for (int step = 0; step < 6; step++) {
        fill(mine, step, N, rank);
        fill(other, step + 50, N, rank);
        OK(MPI_File_iwrite_at_all(rank % 2 ? one : two, 0, mine, N, MPI_BYTE, &a));
        if (rank % 2 == 0)
            OK(MPI_Wait(&a, MPI_STATUS_IGNORE));
        OK(MPI_File_iwrite_at_all(rank % 2 ? two : one, 0, other, N, MPI_BYTE, &b));
        OK(MPI_Wait(&b, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&a, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&one));
    OK(MPI_File_close(&two));
    CHECK_INT(plain_size("one"), N * ranks);
    CHECK_INT(plain_size("two"), N * ranks);
}

/* The file stays open: nobody is there to close it with. */
static void held_by_the_end(void) {
    MPI_Request requests[CALLS];
    s.name = "end";
    s.file = open_in_turns(s.name, NULL);
    start_all(true, requests);
    if (rank == 0)
        (void)usleep(20000);
    wait_all(requests);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (known_to_fail(PLAIN_MPICH, "ROMIO's ranks wait for each other"))
        return check_end();
    make_holders();
    by_all_holders("held", NULL, held);
    by_all_holders("before", NULL, held_before);
    by_all_holders("testing", NULL, held_testing);
    by_all_holders("agreed", "sago_agree=always", held);
    by_all_holders("deferred", "sago_defer=on", held);
    by_all_holders("aggregated", "sago_strategy=aggregated", held);
    orders();
    if (with_sago) /* which write to a byte comes last, MPI leaves open */
        then_together();
    two_files();
    free_holders();
    held_by_the_end();
    return check_end();
}
