/* RUN: n=1,3 */
/* With hardly any address space left (ulimit -v) nothing large can be mapped, and every call works all the same:
 * through smaller mappings, or by system calls. */
#include <sys/resource.h>

#include "mpi/check.h"

enum { MIB = 1 << 20, RUN = 256, WHOLE = 4 * MIB };

static unsigned char *mine, *back;
static int64_t bytes; /* of a rank */

/* Bytes of address space that this process has now. */
static int64_t mapped_now(void) {
    long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    CHECK(in && fscanf(in, "%ld", &pages) == 1);
    if (in)
        fclose(in);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* So much more than there is now; -1: as much as there may be. */
static void allow(int64_t more) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = more < 0 ? limit.rlim_max : (rlim_t)(mapped_now() + more);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static bool is_limited(void) {
#ifdef __SANITIZE_THREAD__
    return false; /* the sanitizer's own runtime ends the process where it cannot have address space */
#endif
    allow(MIB);
    void *much = mmap(NULL, WHOLE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (much != MAP_FAILED)
        (void)munmap(much, WHOLE);
    allow(-1);
    return much == MAP_FAILED;
}

/* Rank 0 looks at every byte of the file; `turn`: bytes that the ranks have in turn. */
static void check_whole(const char *path, int64_t turn, int whose) {
    meet();
    if (rank == 0) {
        unsigned char *is = malloc(WHOLE);
        CHECK_INT(plain_read(path, is, bytes * ranks, 0), bytes * ranks);
        int64_t wrong = 0;
        for (int64_t i = 0; i < bytes * ranks; i++) {
            int64_t owner = i / turn % ranks, pos = i / (turn * ranks) * turn + i % turn;
            wrong += is[i] != byte_of(pos, whose + (int)owner);
        }
        CHECK_INT(wrong, 0);
        free(is);
    }
    meet();
}

static void fill(int whose) {
    fill_bytes(mine, bytes, whose + rank);
    memset(back, 0, (size_t)bytes);
}

/* Twice, as what was accessed before is mapped, in turns of so many bytes. */
static void write_and_read(const char *hints, int64_t turn, int64_t room) {
    const char *path = fresh("narrow");
    sago_file *file = create_hinted(path, hints);
    MPI_Count moved = 0;
    view_turns(file, turn);
    allow(room);
    for (int pass = 0; pass < 2; pass++) {
        fill(pass * 100);
        CHECK_OK(sago_write_at_all(file, 0, mine, bytes, MPI_BYTE, &moved));
        CHECK_INT(moved, bytes);
        CHECK_OK(sago_read_at_all(file, 0, back, bytes, MPI_BYTE, &moved));
        CHECK_INT(moved, bytes);
        CHECK(memcmp(mine, back, (size_t)bytes) == 0);
    }
    fill(700);
    CHECK_OK(sago_write_at(file, 0, mine, bytes, MPI_BYTE, &moved));
    CHECK_OK(sago_read_at(file, 0, back, bytes, MPI_BYTE, &moved));
    CHECK(memcmp(mine, back, (size_t)bytes) == 0);
    allow(-1);
    check_whole(path, turn, 700);
    CHECK_OK(sago_close(&file));
    if (rank == 0)
        unlink(path);
}

int main(int argc, char **argv) {
    static const char *const hints[] = {"", "sago_agree=turn", "sago_agree=enter sago_map=on",
                                        "sago_strategy=mapped sago_map=on", "sago_strategy=aggregated"};
    check_start(&argc, &argv);
    bytes = WHOLE / ranks / RUN * RUN;
    mine = malloc((size_t)bytes);
    back = malloc((size_t)bytes);
    if (!is_limited()) {
        if (rank == 0)
            printf("SKIP: no limit of the address space works here (a sanitizer?)\n");
        fflush(stdout);
        meet();
        MPI_Finalize();
        return CHECK_SKIPPED;
    }
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        scene = hints[i];
        write_and_read(hints[i], bytes, 3 * MIB / 2);
        write_and_read(hints[i], RUN, 3 * MIB / 2);
        write_and_read(hints[i], bytes, 64 * 1024);
        write_and_read(hints[i], RUN, 64 * 1024);
    }
    free(back);
    free(mine);
    return check_end();
}
