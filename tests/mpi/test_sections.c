/* RUN: n=6 */
/* Several aggregators of each storage target, on a machine whose description says that locks cost something: the
 * file is dealt out section by section, and every byte comes to its place, wherever an access begins, and back. No
 * file system here has stripes: ours take the place of the functions that tell, in the library too. */
#include <string.h>
#include <sys/syscall.h>

#include "mpi/check.h"
#include "mpi/fake_nodes.h"
#include "mpi/fake_stripes.h"

enum { RUN = 3001, TURNS = 100 };

static const char *const fake_layout = "stripe_unit=65536 stripe_count=2 object_size=65536 pool=p";

enum { STRIPE = 65536, TARGETS = 2, STRIPES_MOST = 64 };

/* The rank that wrote the first byte of each stripe, of those that this rank wrote. */
static int writer[STRIPES_MOST];

ssize_t pwrite(int fd, const void *buf, size_t bytes, off_t offset) {
    for (int64_t at = (offset + STRIPE - 1) / STRIPE; at * STRIPE < offset + (int64_t)bytes; at++)
        if (at < STRIPES_MOST)
            writer[at] = rank + 1;
    return syscall(SYS_pwrite64, fd, buf, bytes, offset);
}

static unsigned char data[TURNS * RUN], back[TURNS * RUN];
static sago_extent extents[TURNS];

static int64_t file_end(int64_t start) { return start + (int64_t)TURNS * ranks * RUN; }

static unsigned char byte_at(int64_t offset) { return (unsigned char)(offset % 251 + offset / STRIPE); }

static void set_extents(int64_t start) {
    int64_t at = 0;
    for (int64_t i = 0; i < TURNS; i++) {
        extents[i] = (sago_extent){.offset = start + (i * ranks + rank) * RUN, .length = RUN};
        for (int64_t b = 0; b < RUN; b++)
            data[at++] = byte_at(extents[i].offset + b);
    }
    for (int64_t i = 0; i < STRIPES_MOST; i++)
        writer[i] = 0;
}

static void check_bytes(const char *path, int64_t start) {
    FILE *in = fopen(path, "r");
    CHECK(in != NULL);
    for (int64_t at = 0; in && at < file_end(start); at++) {
        int byte = fgetc(in);
        if (byte != (at < start ? 0 : byte_at(at))) {
            CHECK_INT(at, -1);
            break;
        }
    }
    if (in)
        CHECK(fclose(in) == 0);
}

/* The stripes of a target, one after another, change hands no more often than it has aggregators but one. */
static void check_writers(int64_t start, int aggregators) {
    int of[STRIPES_MOST];
    MPI_Allreduce(writer, of, STRIPES_MOST, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int64_t target = 0; target < TARGETS; target++) {
        int changes = 0, before = 0;
        for (int64_t at = target; at * STRIPE < file_end(start); at += TARGETS) {
            changes += of[at] != 0 && before != 0 && of[at] != before;
            before = of[at] != 0 ? of[at] : before;
        }
        CHECK_INT(changes, aggregators - 1);
    }
}

static void write_and_read(int aggregators, int64_t start, const char *window) {
    sago_file *file = NULL;
    char text[512];
    MPI_Count bytes = 0;
    (void)snprintf(text, sizeof text,
                   "sago_strategy=aggregated sago_machine=%s sago_aggregators_per_target=%d sago_window=%s",
                   scratch("sections.sago"), aggregators, window);
    plain_write(scratch("sections.dat"), "", 0);
    CHECK_OK(open_hinted(scratch("sections.dat"), MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file));
    set_extents(start);
    CHECK_OK(sago_write_extents_all(file, TURNS, extents, data));
    check_writers(start, aggregators);
    CHECK_OK(sago_read_extents_all(file, TURNS, extents, back, &bytes));
    CHECK_INT(bytes, TURNS * RUN);
    CHECK(memcmp(data, back, sizeof data) == 0);
    CHECK_OK(sago_close(&file));
    if (rank == 0)
        check_bytes(scratch("sections.dat"), start);
    meet();
}

static bool describe_machine(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    int length = fprintf(file, "name sections\ntopology flat 3\nlevel 0 latency 1us bandwidth 10GB/s\n"
                               "ranks-per-node 2\nmemory 1GiB\n"
                               "process message 1us copy 1GB/s run 10ns storage 10MB/s request 1us lock 10ms\n");
    return fclose(file) == 0 && length > 0;
}

int main(int argc, char **argv) {
    static const int64_t starts[] = {0, STRIPE + 7, 5 * STRIPE};
    check_start(&argc, &argv);
    if (rank == 0)
        CHECK(describe_machine(scratch("sections.sago")));
    meet();
    fake_node_ranks = 2;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (int aggregators = 1; aggregators <= 3; aggregators++)
            write_and_read(aggregators, starts[i], i % 2 ? "64K" : "32K");
    return check_end();
}
