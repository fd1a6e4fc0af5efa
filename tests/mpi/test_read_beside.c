/* RUN: n=2 */
/* Reads of a rank by itself in a striped file: cut at the end of a stripe, the two parts are read side by side,
 * and what comes is as if they were one, also where the file ends.  No file system here has stripes: ours take the
 * place of the functions that tell, in the library too. */
#include <string.h>
#include <sys/syscall.h>

#include "mpi/check.h"
#include "mpi/fake_nodes.h"
#include "mpi/fake_stripes.h"

enum { STRIPE = 65536, BYTES = 700000, PIECE = 300000 };

static const char *const fake_layout = "stripe_unit=65536 stripe_count=4 object_size=65536 pool=p";

static const char path[] = "read_beside.data";
static unsigned char model[BYTES + PIECE], got[PIECE];

static unsigned char untouched(int64_t i) { return (unsigned char)(0xa5 ^ i); }

static void make_file(void) {
    for (int64_t i = 0; i < BYTES; i++)
        model[i] = (unsigned char)(i % 251);
    if (rank == 0) {
        FILE *out = fopen(path, "w");
        CHECK(out && fwrite(model, 1, BYTES, out) == BYTES && fclose(out) == 0);
    }
    meet();
}

static sago_file *open_file(const char *strategy) {
    sago_file *file = NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_strategy", strategy);
    CHECK_OK(sago_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, info, &file));
    MPI_Info_free(&info);
    return file;
}

static long long system_calls(sago_file *file) {
    sago_stats stats = SAGO_STATS_INIT;
    CHECK_OK(sago_get_stats(file, &stats));
    return stats.phase[SAGO_PHASE_STORE].messages;
}

static void clear(void) {
    for (int64_t i = 0; i < PIECE; i++)
        got[i] = untouched(i);
}

/* One piece a rank; what lies past the end of the file is left as it was. */
static void read_piece(sago_file *file, int64_t offset) {
    int64_t there = offset + PIECE <= BYTES ? PIECE : BYTES - offset;
    MPI_Count bytes = 0;
    clear();
    CHECK_OK(sago_read_at_all(file, offset, got, PIECE, MPI_BYTE, &bytes));
    CHECK_INT(bytes, there);
    CHECK(memcmp(got, model + offset, (size_t)there) == 0);
    for (int64_t i = there; i < PIECE; i++)
        CHECK_INT(got[i], untouched(i));
}

static void pieces(void) {
    scene = "pieces";
    sago_file *file = open_file("auto");
    long long before = system_calls(file);
    read_piece(file, 5 + rank * PIECE);
    CHECK(system_calls(file) >= before + 2); /* it was cut */
    scene = "the end in the second part";
    read_piece(file, 500000);
    scene = "the end in the first part";
    read_piece(file, 690000);
    CHECK_OK(sago_close(&file));
}

/* With gaps, one of them over the place where it is cut, and without. */
static void extents(int64_t gap) {
    enum { N = 7, LENGTH = 30000 };
    sago_extent list[N];
    MPI_Count bytes = 0;
    scene = gap ? "extents with gaps" : "extents one after another";
    sago_file *file = open_file("direct");
    for (int64_t i = 0; i < N; i++)
        list[i] = (sago_extent){rank * 1000 + i * (LENGTH + gap), LENGTH};
    clear();
    CHECK_OK(sago_read_extents_all(file, N, list, got, &bytes));
    CHECK_INT(bytes, N * LENGTH);
    for (int64_t i = 0; i < N; i++)
        CHECK(memcmp(got + i * LENGTH, model + list[i].offset, LENGTH) == 0);
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fake_node_ranks = 1;
    make_file();
    pieces();
    extents(40000);
    extents(0);
    return check_end();
}
