/* RUN: n=1,2,4 */
/* Extents with memory in pieces: random cuts of both sides, which have nothing to do with each other, by all ways
 * of moving data, against a plain loop.  Where MPI's datatypes describe memory, this is the same code below. */
#include "mpi/check.h"
#include "support/random.h"

enum { ROOM = 40000, MEMORY = 3 * ROOM, LISTS = 400, ROUNDS = 12, UNTOUCHED = 0xEE };

static const char *const ways[] = {"",
                                   "sago_strategy=direct",
                                   "sago_strategy=mapped",
                                   "sago_strategy=aggregated sago_window=4K",
                                   "sago_strategy=aggregated sago_move=rma",
                                   "sago_agree=enter",
                                   "sago_agree=turn",
                                   "sago_defer=on"};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct list {
    int64_t n, bytes;
    sago_extent at[LISTS];
} list;

static unsigned char mine[MEMORY], back[MEMORY], wanted[MEMORY];
static unsigned char whole[CHECK_RANKS_MAX * ROOM];
static uint64_t state;

static int64_t below(int64_t limit) { return random_below(&state, limit); }

/* Of the file: ascending, in this rank's own part, or dealt out to the ranks in turn. */
static void draw_extents(list *extents, bool dealt) {
    int64_t cell = 1 + below(90), at = 0;
    extents->n = extents->bytes = 0;
    for (int64_t i = 0; i < LISTS / 2; i++) {
        int64_t gap = dealt ? 0 : below(60), length = dealt ? cell : below(120);
        int64_t offset = dealt ? (i * ranks + rank) * cell : rank * ROOM + at + gap;
        if (!dealt && at + gap + length > ROOM)
            break;
        at += gap + length;
        extents->at[extents->n++] = (sago_extent){offset, length};
        extents->bytes += length;
    }
}

/* Of memory: any order, some without bytes, as many bytes in all. */
static void draw_pieces(list *pieces, int64_t bytes) {
    int64_t at = 0, left = bytes;
    pieces->n = 0;
    pieces->bytes = bytes;
    while (left > 0) {
        int64_t length = pieces->n == LISTS - 1 || at > MEMORY - ROOM - 300 ? left : below(250);
        length = length < left ? length : left;
        at += below(50);
        pieces->at[pieces->n++] = (sago_extent){at, length};
        at += length;
        left -= length;
    }
    for (int64_t i = pieces->n - 1; i > 0; i--) {
        int64_t other = below(i + 1);
        sago_extent kept = pieces->at[i];
        pieces->at[i] = pieces->at[other];
        pieces->at[other] = kept;
    }
}

/* The stream of the extents' bytes, laid out in memory as the pieces say. */
static void lay_out(const list *extents, const list *pieces, unsigned char *memory) {
    int64_t piece = 0, used = 0;
    memset(memory, UNTOUCHED, MEMORY);
    for (int64_t i = 0; i < extents->n; i++)
        for (int64_t j = 0; j < extents->at[i].length; j++) {
            while (used == pieces->at[piece].length) {
                piece++;
                used = 0;
            }
            memory[pieces->at[piece].offset + used++] = byte_of(extents->at[i].offset + j, 7);
        }
}

static void check_extents(const char *path, const list *extents) {
    int64_t size = plain_read(path, whole, sizeof whole, 0);
    for (int64_t i = 0; i < extents->n; i++)
        for (int64_t at = extents->at[i].offset; at < extents->at[i].offset + extents->at[i].length; at++)
            if (at >= size || whole[at] != byte_of(at, 7)) {
                CHECK_INT(at < size ? whole[at] : -1, byte_of(at, 7));
                return;
            }
}

static void write_and_read(sago_file *file, const char *path, int round) {
    list extents, pieces;
    MPI_Count bytes = -1;
    draw_extents(&extents, round % 2);
    draw_pieces(&pieces, extents.bytes);
    lay_out(&extents, &pieces, mine);
    CHECK_OK(sago_write_pieces_all(file, extents.n, extents.at, mine, pieces.n, pieces.at));
    CHECK_OK(sago_flush_all(file));
    meet();
    check_extents(path, &extents);
    draw_pieces(&pieces, extents.bytes);
    lay_out(&extents, &pieces, wanted);
    memset(back, UNTOUCHED, sizeof back);
    CHECK_OK(sago_read_pieces_all(file, extents.n, extents.at, back, pieces.n, pieces.at, &bytes));
    CHECK_INT(bytes, extents.bytes);
    CHECK_INT(memcmp(back, wanted, sizeof back), 0);
    meet();
}

static void alone(sago_file *file) {
    list extents, pieces;
    MPI_Count bytes = -1;
    draw_extents(&extents, false);
    draw_pieces(&pieces, extents.bytes);
    lay_out(&extents, &pieces, mine);
    CHECK_OK(sago_write_pieces(file, extents.n, extents.at, mine, pieces.n, pieces.at));
    CHECK_OK(sago_sync_own(file));
    draw_pieces(&pieces, extents.bytes);
    lay_out(&extents, &pieces, wanted);
    memset(back, UNTOUCHED, sizeof back);
    CHECK_OK(sago_read_pieces(file, extents.n, extents.at, back, pieces.n, pieces.at, &bytes));
    CHECK_INT(bytes, extents.bytes);
    CHECK_INT(memcmp(back, wanted, sizeof back), 0);
    meet();
}

static void started(sago_file *file) {
    list extents, pieces;
    sago_request *request = NULL;
    MPI_Count bytes = -1;
    draw_extents(&extents, true);
    draw_pieces(&pieces, extents.bytes);
    lay_out(&extents, &pieces, mine);
    CHECK_OK(sago_iwrite_pieces_all(file, extents.n, extents.at, mine, pieces.n, pieces.at, &request));
    CHECK_OK(sago_wait(&request, &bytes));
    CHECK_INT(bytes, extents.bytes);
    memset(back, UNTOUCHED, sizeof back);
    CHECK_OK(sago_iread_pieces_all(file, extents.n, extents.at, back, pieces.n, pieces.at, &request));
    CHECK_OK(sago_wait(&request, &bytes));
    CHECK_INT(bytes, extents.bytes);
    CHECK_INT(memcmp(back, mine, sizeof back), 0);
    meet();
}

static void by_all_ways(void) {
    for (int way = 0; way < WAYS; way++) {
        sago_file *file = NULL;
        const char *path = scratch("pieces");
        scene = ways[way];
        CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, ways[way], &file));
        for (int round = 0; round < ROUNDS; round++)
            write_and_read(file, path, round);
        alone(file);
        started(file);
        CHECK_OK(sago_close(&file));
    }
}

/* Addresses in the place of a buffer; and extents so far apart that they become several streams. */
static void far_apart(sago_file *file) {
    const int64_t far = (int64_t)3 << 61;
    const sago_extent own[] = {{rank * 10, 10}, {far, 6}};
    const sago_extent addresses[] = {{(int64_t)(uintptr_t)(mine + 5), 5}, {(int64_t)(uintptr_t)mine, 5}};
    const sago_extent cut[] = {{-16, 3}, {-10, 13}};
    MPI_Count bytes = -1;
    scene = "far apart";
    memcpy(mine, "5678901234", 10);
    CHECK_OK(sago_write_pieces_all(file, 1, own, NULL, 2, addresses));
    memset(back, '-', 20);
    CHECK_OK(sago_read_pieces_all(file, 2, own, back + 16, 2, cut, &bytes));
    CHECK_INT(bytes, 10);
    CHECK_INT(memcmp(back, "012---3456789------", 19), 0);
    CHECK_INT(sago_write_pieces(file, 1, own, mine, 1, (const sago_extent[]){{far, 10}}), SAGO_ERR_OVERFLOW);
}

static void wrong(sago_file *file) {
    const sago_extent extent[] = {{rank * 10, 10}}, shorter[] = {{0, 9}}, negative[] = {{0, 11}, {20, -1}};
    scene = "wrong";
    CHECK_INT(sago_write_pieces_all(file, 1, extent, mine, 1, shorter), SAGO_ERR_ARG);
    CHECK_INT(sago_write_pieces_all(file, 1, extent, mine, 2, negative), SAGO_ERR_ARG);
    CHECK_INT(sago_write_pieces_all(file, 1, extent, mine, 0, NULL), SAGO_ERR_ARG);
    CHECK_INT(sago_write_pieces_all(file, 1, extent, mine, -1, NULL), SAGO_ERR_ARG);
    CHECK_INT(sago_write_pieces_all(file, 1, extent, mine, 1, NULL), SAGO_ERR_ARG);
    CHECK_INT(sago_write_pieces_all(file, 1, extent, NULL, 1, extent), SAGO_ERR_ARG);
    CHECK_INT(sago_write_pieces(file, 1, extent, mine, 1, shorter), SAGO_ERR_ARG);
    CHECK_OK(sago_write_pieces_all(file, 0, NULL, NULL, 0, NULL));
    CHECK_INT(sago_sync_own(NULL), SAGO_ERR_HANDLE);
}

int main(int argc, char **argv) {
    sago_file *file = NULL;
    check_start(&argc, &argv);
    state = (uint64_t)rank + 1;
    by_all_ways();
    CHECK_OK(open_hinted(scratch("far"), MPI_MODE_RDWR | MPI_MODE_CREATE, "", &file));
    far_apart(file);
    wrong(file);
    CHECK_OK(sago_close(&file));
    return check_end();
}
