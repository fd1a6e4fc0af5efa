/* RUN: n=4 */
/* One-sided movement between nodes shows each plan's memory once, however often the plan is used, and hides all of
 * it again; plans that are dropped, by a blocking call or by one that must not wait inside MPI, leave nothing
 * behind. */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { PIECES = 40, MOST = 700 };

static int shown, hidden;

int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    shown++;
    return PMPI_Win_create(base, size, unit, info, comm, win);
}

int MPI_Win_free(MPI_Win *win) {
    hidden++;
    return PMPI_Win_free(win);
}

/* Pieces of `length` bytes, dealt out to the ranks in turn, with what belongs there. */
typedef struct deal {
    sago_extent extents[PIECES];
    unsigned char bytes[PIECES * MOST];
    int64_t length;
} deal;

static void make_deal(deal *dealt, int64_t length, int64_t whose) {
    dealt->length = length;
    for (int64_t i = 0; i < PIECES; i++) {
        dealt->extents[i] = (sago_extent){(i * ranks + rank) * length, length};
        for (int64_t j = 0; j < length; j++)
            dealt->bytes[i * length + j] = byte_of(dealt->extents[i].offset + j, whose);
    }
}

static void write_deal(sago_file *file, int64_t length, int64_t whose) {
    deal dealt;
    make_deal(&dealt, length, whose);
    CHECK_OK(sago_write_extents_all(file, PIECES, dealt.extents, dealt.bytes));
}

static void read_deal(sago_file *file, int64_t length, int64_t whose) {
    static unsigned char back[PIECES * MOST];
    deal dealt;
    make_deal(&dealt, length, whose);
    memset(back, 0, sizeof back);
    CHECK_OK(sago_read_extents_all(file, PIECES, dealt.extents, back, NULL));
    CHECK(memcmp(back, dealt.bytes, (size_t)(PIECES * length)) == 0);
}

static sago_file *open_one_sided(const char *path, const char *more) {
    char hints[200];
    sago_file *file = NULL;
    (void)snprintf(hints, sizeof hints, "sago_strategy=aggregated sago_move=rma sago_window=4K %s", more);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file));
    shown = hidden = 0;
    return file;
}

static void plans_keep_their_memory_shown(const char *path) {
    scene = "kept";
    sago_file *file = open_one_sided(path, "");
    write_deal(file, 300,
               1); /* two plans: the second one's memory may lie elsewhere, so the first is shown again */
    read_deal(file, 300, 1);
    for (int64_t i = 0; i < 10; i++) {
        write_deal(file, 300, i);
        read_deal(file, 300, i);
    }
    CHECK(shown == 3);
    CHECK_OK(sago_close(&file));
    CHECK(hidden == shown);
}

static void plans_that_go_are_hidden(const char *path) {
    scene = "dropped";
    sago_file *file = open_one_sided(path, "sago_plan_cache=2");
    for (int64_t i = 0; i < 6; i++) {
        write_deal(file, 100 + 100 * i, i);
        read_deal(file, 100 + 100 * i, i);
    }
    CHECK(shown == 12);
    CHECK_OK(sago_close(&file));
    CHECK(hidden == shown);
}

/* It makes a plan of its own, and drops what is shown, but only on paper. */
static void nonblocking_calls_hide_nothing(const char *path) {
    static deal dealt;
    sago_request *request = NULL;
    scene = "nonblocking";
    sago_file *file = open_one_sided(path, "");
    write_deal(file, 300, 1);
    make_deal(&dealt, 500, 2);
    CHECK_OK(sago_iwrite_extents_all(file, PIECES, dealt.extents, dealt.bytes, &request));
    CHECK_OK(sago_wait(&request, NULL));
    CHECK(shown == 1 && hidden == 0);
    read_deal(file, 500, 2);
    CHECK(shown == 2 && hidden == 1);
    CHECK_OK(sago_close(&file));
    CHECK(hidden == shown);
}

int main(int argc, char **argv) {
    fake_node_ranks = 2;
    check_start(&argc, &argv);
    const char *path = scratch("one-sided");
    plans_keep_their_memory_shown(path);
    plans_that_go_are_hidden(path);
    nonblocking_calls_hide_nothing(path);
    return check_end();
}
