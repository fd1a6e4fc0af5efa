/* RUN: n=1,2,4 */
/* RUN: n=4 nodes */
/* Blocks of arrays: random shapes of up to five dimensions, cut among the ranks along one of them, with ghost
 * cells in memory, by all ways of moving data, nonblocking and declared, against plain loops over indices.
 *
 *     test_blocks [nodes]      as if every two ranks had a node of their own */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"
#include "support/random.h"

enum { AXES = 5, ROUNDS = 10, CELLS_MAX = 60000, UNTOUCHED = 0xEE };

static const char *const ways[] = {"",
                                   "sago_strategy=direct",
                                   "sago_strategy=mapped",
                                   "sago_strategy=aggregated sago_window=4K",
                                   "sago_strategy=aggregated sago_move=rma",
                                   "sago_agree=enter",
                                   "sago_agree=turn",
                                   "sago_defer=on",
                                   "sago_subfiles=3 sago_subfile_block=64K",
                                   "sago_tier=local",
                                   "sago_series_parts=2 sago_series_copy=on"};
enum { WAYS = sizeof ways / sizeof *ways };

/* An array in the file, and a block of it in memory. */
typedef struct scenery {
    int axes;
    int64_t element, offset;
    MPI_Datatype type;
    int64_t global[AXES], start[AXES], count[AXES], shape[AXES], inside[AXES];
    int64_t cells; /* of memory */
    bool ghosts;
} scenery;

static uint64_t common, own; /* the same numbers on all ranks, and others */
static unsigned char whole[8 * CELLS_MAX + 65536];

static void draw_array(scenery *s) {
    static const int64_t most[] = {5000, 120, 30, 12, 8};
    static const int64_t sizes[] = {1, 4, 8};
    MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
    int64_t type = random_below(&common, 3);
    s->axes = 1 + (int)random_below(&common, AXES);
    s->element = sizes[type];
    s->type = types[type];
    s->offset = random_below(&common, 2) ? 0 : random_below(&common, 5000);
    for (int d = 0; d < s->axes; d++)
        s->global[d] = 1 + random_below(&common, most[s->axes - 1]);
}

/* Ghost cells around the block, or none. */
static void draw_memory(scenery *s) {
    s->ghosts = random_below(&own, 2);
    s->cells = 1;
    for (int d = 0; d < s->axes; d++) {
        s->inside[d] = s->ghosts ? random_below(&own, 3) : 0;
        s->shape[d] = s->count[d] + s->inside[d] + (s->ghosts ? random_below(&own, 3) : 0);
        s->cells *= s->shape[d];
    }
}

/* The ranks' blocks tile the array: cut along one axis, wherever; some ranks may have nothing. */
static void draw_own_block(scenery *s) {
    int axis = (int)random_below(&common, s->axes);
    int64_t cuts[CHECK_RANKS_MAX + 1] = {0};
    for (int r = 1; r <= ranks; r++)
        cuts[r] =
            r == ranks ? s->global[axis] : cuts[r - 1] + random_below(&common, s->global[axis] - cuts[r - 1] + 1);
    for (int d = 0; d < s->axes; d++) {
        s->start[d] = d == axis ? cuts[rank] : 0;
        s->count[d] = d == axis ? cuts[rank + 1] - cuts[rank] : s->global[d];
    }
    draw_memory(s);
}

static void draw_any_block(scenery *s) {
    for (int d = 0; d < s->axes; d++) {
        s->start[d] = random_below(&own, s->global[d]);
        s->count[d] = random_below(&own, s->global[d] - s->start[d] + 1);
    }
    draw_memory(s);
}

/* Where the element lies in the file; -1: the cell is a ghost. */
static int64_t place_of(const scenery *s, int64_t cell) {
    int64_t at = 0, index[AXES];
    for (int d = s->axes - 1; d >= 0; d--) {
        index[d] = cell % s->shape[d] - s->inside[d];
        cell /= s->shape[d];
        if (index[d] < 0 || index[d] >= s->count[d])
            return -1;
    }
    for (int d = 0; d < s->axes; d++)
        at = at * s->global[d] + s->start[d] + index[d];
    return s->offset + at * s->element;
}

static unsigned char *fill(const scenery *s, int salt) {
    unsigned char *memory = malloc((size_t)(s->cells * s->element + 1));
    CHECK(memory != NULL);
    memset(memory, UNTOUCHED, (size_t)(s->cells * s->element + 1));
    for (int64_t cell = 0; salt >= 0 && cell < s->cells; cell++)
        for (int64_t i = 0, at = place_of(s, cell); at >= 0 && i < s->element; i++)
            memory[cell * s->element + i] = byte_of(at + i, salt);
    return memory;
}

static int64_t bytes_of(const scenery *s, const int64_t count[]) {
    int64_t bytes = s->element;
    for (int d = 0; d < s->axes; d++)
        bytes *= count[d];
    return bytes;
}

static sago_block block_of(const scenery *s, void *memory) {
    return (sago_block){s->start, s->count, s->ghosts ? s->shape : NULL, s->ghosts ? s->inside : NULL, memory};
}

/* ---- The three ways to call ---- */

typedef enum { BLOCKING, STARTED, DECLARED, CALLS } call_kind;

static void declare_one(sago_file *file, const scenery *s, const sago_block *block, bool write, MPI_Count *moved) {
    sago_series *series = NULL;
    sago_array arrays[2] = {SAGO_ARRAY_INIT, SAGO_ARRAY_INIT};
    arrays[0] = (sago_array){sizeof arrays[0], s->offset, s->type, s->axes, s->global, block};
    arrays[1] = (sago_array){sizeof arrays[1], 0, MPI_BYTE, 1, s->global, NULL}; /* nobody has any of it */
    CHECK_OK(sago_declare_arrays(file, 2, arrays, &series));
    CHECK_OK(write ? sago_series_write(series, 0, block->data) : sago_series_read(series, 0, block->data));
    CHECK_OK(sago_series_complete(series));
    CHECK_OK(sago_series_bytes(series, moved));
    CHECK_OK(sago_series_free(&series));
}

static MPI_Count access_block(sago_file *file, const scenery *s, call_kind kind, bool write, void *memory) {
    sago_block block = block_of(s, memory);
    const sago_block *given = bytes_of(s, s->count) == 0 && random_below(&own, 2) ? NULL : &block;
    MPI_Count moved = bytes_of(s, s->count);
    sago_request *request = NULL;
    if (kind == DECLARED) {
        declare_one(file, s, &block, write, &moved);
    } else if (kind == STARTED) {
        CHECK_OK(write ? sago_iwrite_block_all(file, s->offset, s->type, s->axes, s->global, given, &request)
                       : sago_iread_block_all(file, s->offset, s->type, s->axes, s->global, given, &request));
        CHECK_OK(sago_wait(&request, &moved));
    } else if (write) {
        CHECK_OK(sago_write_block_all(file, s->offset, s->type, s->axes, s->global, given));
    } else {
        CHECK_OK(sago_read_block_all(file, s->offset, s->type, s->axes, s->global, given, &moved));
    }
    return moved;
}

/* What all ranks wrote is the array, and nothing before it was touched. */
static void check_array(sago_file *file, const scenery *s, int salt) {
    int64_t bytes = bytes_of(s, s->global), wrong = 0;
    MPI_Count got = 0;
    CHECK(s->offset + bytes <= (int64_t)sizeof whole);
    CHECK_OK(sago_read_extents_all(file, 1, &(sago_extent){0, s->offset + bytes}, whole, &got));
    CHECK_INT(got, s->offset + bytes);
    for (int64_t at = s->offset; at < s->offset + bytes; at++)
        wrong += whole[at] != byte_of(at, salt);
    CHECK_INT(wrong, 0);
}

static void try_round(sago_file *file, int round) {
    scenery s = {0};
    call_kind kind = (call_kind)(round % CALLS);
    draw_array(&s);
    draw_own_block(&s);
    unsigned char *mine = fill(&s, round);
    CHECK_INT(access_block(file, &s, kind, true, mine), bytes_of(&s, s.count));
    free(mine);
    CHECK_OK(sago_flush_all(file));
    meet(); /* with sago_agree ranks may still write when others are done */
    check_array(file, &s, round);
    meet();
    draw_any_block(&s);
    unsigned char *back = fill(&s, -1), *wanted = fill(&s, round);
    CHECK_INT(access_block(file, &s, kind, false, back), bytes_of(&s, s.count));
    CHECK_INT(memcmp(back, wanted, (size_t)(s.cells * s.element + 1)), 0);
    free(back);
    free(wanted);
    meet();
}

static void by_all_ways(void) {
    for (int way = 0; way < WAYS; way++) {
        char hints[1024], name[32];
        sago_file *file = NULL;
        scene = ways[way];
        (void)snprintf(hints, sizeof hints, "sago_local_dirs=%s %s", scratch("."), ways[way]);
        (void)snprintf(name, sizeof name, "blocks-%d", way);
        CHECK_OK(open_hinted(scratch(name), MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file));
        for (int round = 0; round < ROUNDS; round++)
            try_round(file, round);
        CHECK_OK(sago_close(&file));
    }
}

/* ---- Errors, the same on all ranks ---- */

static void refused(sago_file *file, sago_status wanted, int axes, const int64_t *global,
                    const sago_block *block) {
    sago_request *request = NULL;
    CHECK_INT(sago_write_block_all(file, 0, MPI_INT, axes, global, block), wanted);
    CHECK_INT(sago_read_block_all(file, 0, MPI_INT, axes, global, block, NULL), wanted);
    CHECK_OK(sago_iread_block_all(file, 0, MPI_INT, axes, global, block, &request));
    CHECK_INT(sago_wait(&request, NULL), wanted);
}

static void wrong(void) {
    const int64_t global[] = {4, 6}, start[] = {1, 2}, count[] = {3, 4}, more[] = {3, 5}, less[] = {-1, 1};
    const int64_t huge[] = {INT64_MAX / 2, 6}, inside[] = {1, 1}, narrow[] = {3, 5};
    int data[64] = {0};
    sago_file *file = NULL;
    sago_series *series = NULL;
    sago_block good = {start, count, NULL, NULL, data};
    scene = "wrong";
    CHECK_OK(open_hinted(scratch("wrong"), MPI_MODE_RDWR | MPI_MODE_CREATE, "", &file));
    CHECK_OK(sago_write_block_all(file, 0, MPI_INT, 2, global, rank == 0 ? &good : NULL));
    refused(file, SAGO_ERR_ARG, 0, global, &good);
    refused(file, SAGO_ERR_ARG, 9, global, &good);
    refused(file, SAGO_ERR_ARG, 2, NULL, &good);
    refused(file, SAGO_ERR_OVERFLOW, 2, huge, &good);
    refused(file, SAGO_ERR_ARG, 2, global, &(sago_block){start, more, NULL, NULL, data});
    refused(file, SAGO_ERR_ARG, 2, global, &(sago_block){less, count, NULL, NULL, data});
    refused(file, SAGO_ERR_ARG, 2, global, &(sago_block){start, NULL, NULL, NULL, data});
    refused(file, SAGO_ERR_ARG, 2, global, &(sago_block){start, count, narrow, inside, data});
    refused(file, SAGO_ERR_ARG, 2, global, &(sago_block){start, count, narrow, NULL, data});
    refused(file, SAGO_ERR_ARG, 2, global, &(sago_block){start, count, NULL, NULL, NULL});
    refused(file, SAGO_ERR_ARG, 2, global,
            rank == ranks - 1 ? &(sago_block){start, more, NULL, NULL, data} : NULL);
    CHECK_INT(sago_write_block_all(file, -1, MPI_INT, 2, global, &good), SAGO_ERR_ARG);
    CHECK_INT(sago_write_block_all(file, INT64_MAX - 8, MPI_INT, 2, global, &good), SAGO_ERR_OVERFLOW);
    CHECK_INT(sago_write_block_all(file, 0, MPI_DATATYPE_NULL, 2, global, &good), SAGO_ERR_TYPE);
    CHECK_INT(sago_write_block_all(file, 0, MPI_DOUBLE_INT, 2, global, &good), SAGO_ERR_TYPE);
    CHECK_INT(sago_declare_arrays(file, 1, &(sago_array){3, 0, MPI_INT, 2, global, &good}, &series), SAGO_ERR_ARG);
    CHECK_INT(sago_write_block_all(NULL, 0, MPI_INT, 2, global, &good), SAGO_ERR_HANDLE);
    CHECK_OK(sago_close(&file));
}

/* A block of more rows than any list could hold: its description has the size of its dimensions. */
static void compact(void) {
    const int64_t global[] = {INT64_C(1) << 30, 2}, start[] = {0, rank % 2}, count[] = {INT64_C(1) << 30, 1};
    sago_file *file = NULL;
    MPI_Count moved = -1;
    char nothing[1];
    scene = "compact";
    CHECK_OK(open_hinted(scratch("compact"), MPI_MODE_RDWR | MPI_MODE_CREATE, "", &file));
    sago_block block = {start, count, NULL, NULL, nothing}; /* the file is empty: nothing is read */
    CHECK_OK(sago_read_block_all(file, 0, MPI_BYTE, 2, global, &block, &moved));
    CHECK_INT(moved, 0);
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fake_node_ranks = argc > 1 && !strcmp(argv[1], "nodes") ? 2 : 0;
    common = 1;
    own = (uint64_t)rank + 2;
    by_all_ways();
    wrong();
    compact();
    return check_end();
}
