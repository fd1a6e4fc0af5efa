/* RUN: n=1,2 */
/* With hardly any address space left (ulimit -v) whatever the MPI library does works with the drop-in, too. */
#include <sys/mman.h>
#include <sys/resource.h>

#include "dropin_check.h"

enum { MIB = 1 << 20, RUN = 512, BYTES = 8 * MIB, ROOM = 2 * MIB };

/* So much more address space than there is now; -1: as much as there may be. */
static void allow(long more) {
    struct rlimit limit;
    long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    CHECK(in && fscanf(in, "%ld", &pages) == 1);
    if (in)
        fclose(in);
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = more < 0 ? limit.rlim_max : (rlim_t)(pages * sysconf(_SC_PAGESIZE) + more);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static bool is_limited(void) {
    allow(MIB);
    void *much = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (much != MAP_FAILED)
        (void)munmap(much, BYTES);
    allow(-1);
    return much == MAP_FAILED;
}

/* The first calls, of which the MPI libraries' own need memory for good, come before the limit. */
static void write_and_read(const char *path, bool in_turn) {
    static char mine[BYTES], back[BYTES];
    MPI_File file = open_all(path, MODE_NEW);
    MPI_Datatype turn = turns_of(RUN, MPI_BYTE);
    MPI_Offset disp = in_turn ? (MPI_Offset)RUN * rank : (MPI_Offset)BYTES * rank;
    OK(MPI_File_set_view(file, disp, MPI_BYTE, in_turn ? turn : MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Type_free(&turn);
    fill(mine, 0, BYTES, rank);
    OK(MPI_File_write_at_all(file, 0, mine, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    if (with_sago || !in_turn) /* what the libraries need for theirs is their matter */
        allow(ROOM);
    for (int pass = 1; pass < 4; pass++) {
        MPI_Status status;
        fill(mine, 0, BYTES, 10 * pass + rank);
        memset(back, 0, sizeof back);
        OK(MPI_File_write_at_all(file, 0, mine, BYTES, MPI_BYTE, &status));
        CHECK_INT(count_in(&status, MPI_BYTE), BYTES);
        OK(MPI_File_read_at_all(file, 0, back, BYTES, MPI_BYTE, &status));
        CHECK_INT(count_in(&status, MPI_BYTE), BYTES);
        CHECK(memcmp(mine, back, BYTES) == 0);
    }
    allow(-1);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (!is_limited())
        return check_skip("no limit of the address space works here (a sanitizer?)");
    write_and_read("whole", false);
    write_and_read("turns", true);
    return check_end();
}
