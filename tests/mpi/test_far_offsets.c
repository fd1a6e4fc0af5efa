/* RUN: n=1,3 */
/* Offsets up to the last one there is, 2^63 - 2: by view, displacement, tiles and extents, in every way that bytes
 * can go, where the file system has files that large (those in memory do). */
#include <errno.h>

#include "mpi/check.h"

enum { N = 1000, RUN = 10 };

static const int64_t last = INT64_MAX; /* one past the last byte */
static const char *path;

static sago_file *start(const char *hints) {
    path = fresh("far");
    return create_hinted(path, hints);
}

static bool is_allowed(void) {
    int fd = open(scratch("probe"), O_RDWR | O_CREAT, 0600);
    bool allowed = fd >= 0 && pwrite(fd, "x", 1, last - 1) == 1;
    if (fd >= 0)
        (void)close(fd);
    meet();
    unlink(scratch("probe"));
    return allowed;
}

/* Rank 0 reads from the file, by itself, what the ranks wrote in turns of `turn` bytes from `at` on. */
static void check_there(int64_t at, int64_t turn) {
    meet();
    if (rank == 0) {
        static unsigned char is[64 * N];
        CHECK_INT(plain_read(path, is, (int64_t)N * ranks, at), (int64_t)N * ranks);
        int64_t wrong = 0;
        for (int64_t i = 0; i < (int64_t)N * ranks; i++)
            wrong += is[i] != byte_of(i / (turn * ranks) * turn + i % turn, 7 + (int)(i / turn % ranks));
        CHECK_INT(wrong, 0);
    }
    meet();
}

/* In turns, so that the last rank's last byte ends at `end`; the place is given by the displacement or the offset.
 */
static void through_views(const char *hints, int64_t end, int64_t turn, bool by_offset) {
    sago_file *file = start(hints);
    unsigned char mine[N], back[N] = {0};
    int64_t at = end - (int64_t)N * ranks;
    MPI_Offset size = 0, first = by_offset ? at / (turn * ranks) * turn : 0;
    MPI_Offset begin = by_offset ? at % (turn * ranks) : at;
    MPI_Count moved = 0;
    fill_bytes(mine, N, 7 + rank);
    view_tiles(file, begin, turn, turn * ranks);
    for (int pass = 0; pass < 2; pass++) {
        CHECK_OK(sago_write_at_all(file, first, mine, N, MPI_BYTE, &moved));
        CHECK_INT(moved, N);
        CHECK_OK(sago_read_at_all(file, first, back, N, MPI_BYTE, &moved));
        CHECK_INT(moved, N);
        CHECK(memcmp(mine, back, N) == 0);
    }
    CHECK_OK(sago_get_size(file, &size));
    CHECK_INT(size, end);
    check_there(at, turn);
    memset(back, 0, N);
    CHECK_OK(sago_read_at(file, first, back, N, MPI_BYTE, &moved));
    CHECK(memcmp(mine, back, N) == 0);
    CHECK_OK(sago_write_at(file, first, mine, N, MPI_BYTE, &moved));
    sago_request *request = NULL;
    memset(back, 0, N);
    meet();
    CHECK_OK(sago_iread_at_all(file, first, back, N, MPI_BYTE, &request));
    CHECK_OK(sago_wait(&request, &moved));
    CHECK(memcmp(mine, back, N) == 0);
    check_there(at, turn);
    CHECK_OK(sago_close(&file));
}

/* From the beginning to the end of what a file can be. */
static void by_extents(const char *hints) {
    sago_file *file = start(hints);
    unsigned char mine[4 * RUN], back[4 * RUN] = {0};
    const int64_t step = (int64_t)RUN * ranks, here = (int64_t)RUN * rank;
    const sago_extent extents[] = {{here, RUN},
                                   {((int64_t)1 << 61) + here, RUN},
                                   {((int64_t)1 << 62) - RUN + here, RUN},
                                   {last - step + here, RUN}};
    MPI_Count moved = 0;
    fill_bytes(mine, sizeof mine, 7 + rank);
    CHECK_OK(sago_write_extents_all(file, 4, extents, mine));
    CHECK_OK(sago_read_extents_all(file, 4, extents, back, &moved));
    CHECK_INT(moved, sizeof back);
    CHECK(memcmp(mine, back, sizeof back) == 0);
    meet();
    for (int i = 0; i < 4; i++) {
        CHECK_INT(plain_read(path, back, RUN, extents[i].offset), RUN);
        CHECK(memcmp(back, mine + (size_t)i * RUN, RUN) == 0);
    }
    CHECK_OK(sago_close(&file));
}

/* One byte further is too far, and nothing is written. */
static void too_far(void) {
    sago_file *file = start("");
    unsigned char mine[N];
    MPI_Count moved = -1;
    fill_bytes(mine, N, 7 + rank);
    EXPECT(sago_write_at_all(file, last - N + 1, mine, N, MPI_BYTE, &moved), SAGO_ERR_OVERFLOW, "2^63", -1);
    CHECK_OK(sago_set_view(file, last - 5, MPI_BYTE, MPI_BYTE));
    EXPECT(sago_write_at_all(file, 3, mine, 3, MPI_BYTE, &moved), SAGO_ERR_OVERFLOW, "2^63", -1);
    meet();
    CHECK_INT(plain_size(path), 0);
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    static const char *const hints[] = {"",
                                        "sago_agree=turn",
                                        "sago_strategy=direct",
                                        "sago_strategy=mapped sago_map=on",
                                        "sago_strategy=aggregated",
                                        "sago_defer=on"};
    check_start(&argc, &argv);
    if (!is_allowed()) {
        if (rank == 0)
            printf("SKIP: this file system has no files of 2^63 - 1 bytes\n");
        fflush(stdout);
        meet();
        MPI_Finalize();
        return CHECK_SKIPPED;
    }
    const int64_t ends[] = {((int64_t)1 << 61) + 5, ((int64_t)1 << 62) + 5, last - 5000, last};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        scene = hints[i];
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            through_views(hints[i], ends[e], RUN, false);
            through_views(hints[i], ends[e], RUN, true);
            through_views(hints[i], ends[e], N, false);
        }

        by_extents(hints[i]);
    }
    scene = "too far";
    too_far();
    if (rank == 0)
        unlink(path);
    return check_end();
}
