/* RUN: n=1 self 800 1024 */
/* RUN: n=2 world 70 256 */
/* RUN: n=2,3 world 70 256 last */
/* RUN: n=2,3 world 20 256 last crowded */
/* RUN-LONG: n=1 self 1500 4096 */
/* RUN-LONG: n=2 world 800 1024 */
/* test_many self|world FILES DESCRIPTORS [last [crowded]]
 *
 * Many files open at once, on MPI_COMM_SELF or MPI_COMM_WORLD, with no more than so many descriptors: as many as
 * with the MPI library alone.  Each file gets a collective call when it is opened, and another when all are open.
 * last: only the last rank has so few, and all ranks agree on what Sago takes.  crowded: so many of them are the
 * program's own that less than a quarter is left, and Sago takes no file.
 */
#include <sys/resource.h>

#include "dropin_check.h"

enum { MOST = 2000, N = 64 };

static bool limit_descriptors(int most) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < (rlim_t)most))
        return false;
    limit.rlim_cur = (rlim_t)most;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* Until three quarters are in use. */
static void crowd(int most) {
    while (dup(STDERR_FILENO) < most / 4 * 3)
        continue;
}

static void fill_block(char *block, int file) {
    for (int i = 0; i < N; i++)
        block[i] = (char)(file * 5 + rank * 3 + i);
}

int main(int argc, char **argv) {
    static MPI_File files[MOST];
    char name[64], mine[N], back[N];
    check_start(&argc, &argv);
    bool self = argc > 1 && strcmp(argv[1], "self") == 0;
    int count = argc > 2 ? atoi(argv[2]) : 100, place = self ? 0 : rank;
    int most = argc > 3 ? atoi(argv[3]) : 1024;
    bool last = argc > 4, crowded = argc > 5;
    if ((!last || rank == ranks - 1) && !limit_descriptors(most))
        return check_skip("not so many descriptors are allowed here");
    if (crowded && rank == ranks - 1)
        crowd(most);
    for (int i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "file-%d-%d", i, self ? rank : ranks);
        files[i] = open_in(self ? MPI_COMM_SELF : MPI_COMM_WORLD, name, MODE_NEW | MPI_MODE_DELETE_ON_CLOSE);
        fill_block(mine, i);
        OK(MPI_File_write_at_all(files[i], place * N, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
        if (failures)
            break;
    }
    for (int i = 0; i < count && !failures; i++) {
        fill_block(mine, i);
        OK(MPI_File_read_at_all(files[i], place * N, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(mine, back, N) == 0);
        OK(MPI_File_close(&files[i]));
    }
    long long taken = crowded ? 0 : count < most / 8 ? count : most / 8;
    expect_stat("files_taken", taken * ranks);
    if (crowded)
        expect_stat("writes", 0);
    expect_stat("not_opened", -1);
    return check_end();
}
