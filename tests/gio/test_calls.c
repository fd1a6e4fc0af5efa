/* RUN: n=1,2,4 */
/* GIO's calls, served by Sago: data in pieces on both sides, and what GIO itself prints or crashes on. */
#include <fcntl.h>
#include <gio.h>

#include "dropin/dropin_check.h"

enum { ROOM = 30000, MEMORY = 2 * ROOM, PAIRS = 300, ROUNDS = 10, UNTOUCHED = 0xEE };

typedef struct pairs {
    MPI_Offset n, bytes, offs[PAIRS], lens[PAIRS];
} pairs;

static unsigned char memory[MEMORY], back[MEMORY], wanted[MEMORY];
static uint64_t state;

static MPI_Offset below(MPI_Offset limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (MPI_Offset)((state >> 33) % (uint64_t)limit);
}

static void add(pairs *list, MPI_Offset off, MPI_Offset len) {
    list->offs[list->n] = off;
    list->lens[list->n++] = len;
    list->bytes += len;
}

/* Cells dealt out to the ranks in turn, or a part of this rank's own with gaps. */
static void draw_file(pairs *list, bool dealt) {
    MPI_Offset cell = 1 + below(80), at = (MPI_Offset)rank * ROOM;
    list->n = list->bytes = 0;
    for (int i = 0; i < PAIRS && dealt; i++)
        add(list, ((MPI_Offset)i * ranks + rank) * cell, cell);
    while (!dealt && list->n < PAIRS && list->bytes < ROOM / 2) {
        MPI_Offset length = below(120);
        at += below(30);
        add(list, at, length);
        at += length;
    }
}

static void draw_memory(pairs *list, MPI_Offset bytes) {
    MPI_Offset at = 0;
    list->n = list->bytes = 0;
    while (list->bytes < bytes) {
        MPI_Offset left = bytes - list->bytes, length = list->n == PAIRS - 1 ? left : below(300);
        at += below(20);
        add(list, at, length < left ? length : left);
        at += length;
    }
}

/* What memory must be where it holds the file's bytes. */
static void lay_out(const pairs *file, const pairs *in, unsigned char *bytes, int whose) {
    MPI_Offset pair = 0, used = 0;
    memset(bytes, UNTOUCHED, MEMORY);
    for (MPI_Offset i = 0; i < file->n; i++)
        for (MPI_Offset j = 0; j < file->lens[i]; j++) {
            while (used == in->lens[pair]) {
                pair++;
                used = 0;
            }
            bytes[in->offs[pair] + used++] = byte_of(file->offs[i] + j, whose);
        }
}

static GIO_File open_file(const char *name, int amode) {
    GIO_File file = GIO_FILE_NULL;
    CHECK_INT(GIO_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file), GIO_NOERR);
    CHECK(file != GIO_FILE_NULL);
    return file;
}

/* ---- Data ---- */

static void round_trip(GIO_File file, int round) {
    pairs at, in;
    bool dealt = round % 2, together = dealt || round % 4 == 0;
    draw_file(&at, dealt);
    draw_memory(&in, at.bytes);
    lay_out(&at, &in, memory, round);
    CHECK_INT((together ? GIO_write_all : GIO_write)(file, memory, at.n, at.offs, at.lens, in.n, in.offs, in.lens),
              at.bytes);
    meet();
    draw_memory(&in, at.bytes);
    lay_out(&at, &in, wanted, round);
    memset(back, UNTOUCHED, sizeof back);
    CHECK_INT((together ? GIO_read_all : GIO_read)(file, back, at.n, at.offs, at.lens, in.n, in.offs, in.lens),
              at.bytes);
    CHECK_INT(memcmp(back, wanted, sizeof back), 0);
    meet();
}

static void moves_data(void) {
    GIO_File file = open_file("data", O_CREAT | O_RDWR);
    for (int round = 0; round < ROUNDS; round++)
        round_trip(file, round);
    CHECK_INT(GIO_sync(file), GIO_NOERR);
    CHECK_INT(GIO_close(&file), GIO_NOERR);
    CHECK(file == GIO_FILE_NULL);
}

/* One pair on each rank, and no pairs; sizes; a read that meets the end of the file. */
static void simple_calls(void) {
    GIO_File file = open_file("ufs:simple", O_CREAT | O_RDWR | O_TRUNC);
    MPI_Offset off = rank * 10, len = 10, from = 3, size = -1;
    memset(memory, 'a' + rank, 20);
    CHECK_INT(GIO_write_all(file, memory, 1, &off, &len, 1, &from, &len), 10);
    CHECK_INT(GIO_write_all(file, NULL, 0, NULL, NULL, 0, NULL, NULL), 0);
    CHECK_INT(GIO_get_size(file, &size), GIO_NOERR);
    CHECK_INT(size, 10 * ranks);
    CHECK_INT(GIO_read(file, back, 1, &off, &len, 1, &from, &len), 10);
    CHECK_INT(memcmp(back + 3, memory, 10), 0);
    CHECK_INT(GIO_set_size(file, 10 * ranks - 4), GIO_NOERR);
    memset(back, UNTOUCHED, 20);
    CHECK_INT(GIO_read_all(file, back, 1, &off, &len, 1, &from, &len), rank == ranks - 1 ? 6 : 10);
    CHECK_INT(back[12], rank == ranks - 1 ? UNTOUCHED : 'a' + rank);
    CHECK_INT(GIO_read(file, NULL, 0, NULL, NULL, 0, NULL, NULL), 0);
    CHECK_INT(GIO_close(&file), GIO_NOERR);
    meet();
    CHECK_INT(plain_size("simple"), 10 * ranks - 4);
    meet();
    file = open_file("simple", O_RDWR | O_CREAT | O_TRUNC);
    CHECK_INT(GIO_close(&file), GIO_NOERR);
    meet();
    CHECK_INT(plain_size("simple"), 0);
}

/* ---- Mistakes ---- */

/* On the last rank only: the others' data is written. */
static void wrong_lists(void) {
    GIO_File file = open_file("lists", O_CREAT | O_RDWR);
    const MPI_Offset good_offs[] = {rank * 10, rank * 10 + 5}, back_offs[] = {rank * 10 + 5, rank * 10},
                     good_lens[] = {5, 5}, over_lens[] = {6, 4}, minus_lens[] = {11, -1}, short_lens[] = {5, 4},
                     from = 0, ten = 10;
    const struct {
        const MPI_Offset *offs, *lens;
        MPI_Offset n;
        int code;
    } wrong[] = {
        {back_offs, good_lens, 2, GIO_EFILEVIEW},
        {good_offs, over_lens, 2, GIO_EFILEVIEW},
        {good_offs, minus_lens, 2, GIO_ENEGATIVECNT},
        {good_offs, short_lens, 2, GIO_EINVAL},
        {NULL, good_lens, 2, GIO_EINVAL},
        {good_offs, NULL, 2, GIO_EINVAL},
        {good_offs, good_lens, -1, GIO_EINVAL},
    };
    CHECK_INT(GIO_write_all(file, memory, 2, good_offs, good_lens, 1, &from, &ten), 10);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bool mine = rank == ranks - 1;
        memset(memory, 'A' + (int)i, 10);
        CHECK_INT(GIO_write_all(file, memory, mine ? wrong[i].n : 2, mine ? wrong[i].offs : good_offs,
                                mine ? wrong[i].lens : good_lens, 1, &from, &ten),
                  mine ? wrong[i].code : 10);
        if (mine) {
            CHECK_INT(GIO_write(file, memory, wrong[i].n, wrong[i].offs, wrong[i].lens, 1, &from, &ten),
                      wrong[i].code);
            CHECK_INT(GIO_read(file, memory, 1, &from, &ten, wrong[i].n, wrong[i].offs, wrong[i].lens),
                      wrong[i].code == GIO_EFILEVIEW ? GIO_read(file, memory, 1, &from, &ten, 1, &from, &ten)
                                                     : wrong[i].code);
        } else {
            CHECK_INT(GIO_read(file, back, 2, good_offs, good_lens, 1, &from, &ten), 10);
            CHECK_INT(back[9], 'A' + (int)i);
        }
    }
    CHECK_INT(GIO_close(&file), GIO_NOERR);
}

static void no_handle(void) {
    GIO_File none = GIO_FILE_NULL;
    MPI_Offset number;
    MPI_Info info;
    CHECK_INT(GIO_close(&none), GIO_EINVAL);
    CHECK_INT(GIO_close(NULL), GIO_EINVAL);
    CHECK_INT(GIO_sync(none), GIO_EINVAL);
    CHECK_INT(GIO_set_size(none, 0), GIO_EINVAL);
    CHECK_INT(GIO_get_size(none, &number), GIO_EINVAL);
    CHECK_INT(GIO_get_info(none, &info), GIO_EINVAL);
    CHECK_INT(GIO_write_all(none, memory, 0, NULL, NULL, 0, NULL, NULL), GIO_EINVAL);
    CHECK_INT(GIO_read(none, memory, 0, NULL, NULL, 0, NULL, NULL), GIO_EINVAL);
    CHECK_INT(GIO_inq_malloc_size(&number), GIO_ENOTENABLED);
}

static void fails_to_open(const char *name, int amode, MPI_Info info, int code) {
    GIO_File file = (GIO_File)memory;
    CHECK_INT(GIO_open(MPI_COMM_WORLD, name, amode, info, &file), code);
    CHECK(file == GIO_FILE_NULL);
}

static void opening(void) {
    char long_name[5000];
    MPI_Info info;
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    fails_to_open("missing", O_RDWR, MPI_INFO_NULL, GIO_ENOENT);
    fails_to_open("", O_RDWR, MPI_INFO_NULL, GIO_EBAD_FILE);
    fails_to_open(NULL, O_RDWR, MPI_INFO_NULL, GIO_EBAD_FILE);
    fails_to_open(long_name, O_RDWR | O_CREAT, MPI_INFO_NULL, GIO_EBAD_FILE);
    fails_to_open("lists/below", O_RDWR | O_CREAT, MPI_INFO_NULL, GIO_EBAD_FILE);
    fails_to_open(".", O_RDWR, MPI_INFO_NULL, GIO_EBAD_FILE);
    fails_to_open("lists", O_RDWR | O_CREAT | O_EXCL, MPI_INFO_NULL, GIO_EEXIST);
    fails_to_open("lists", O_RDWR | O_APPEND, MPI_INFO_NULL, GIO_EINVAL);
    fails_to_open("lists", O_ACCMODE, MPI_INFO_NULL, GIO_EINVAL);
    CHECK_INT(GIO_open(MPI_COMM_NULL, "lists", O_RDWR, MPI_INFO_NULL, &(GIO_File){0}), GIO_EINVAL);
    if (ranks == 1)
        return;
    fails_to_open("lists", rank ? O_RDWR : O_RDONLY, MPI_INFO_NULL, GIO_EMULTIDEFINE_AMODE);
    fails_to_open(rank ? "lists" : "missing", O_RDWR, MPI_INFO_NULL, GIO_EMULTIDEFINE_FNC_ARGS);
    fails_to_open(rank ? "lists" : "", O_RDWR, MPI_INFO_NULL, GIO_EBAD_FILE);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", rank ? "1048576" : "2097152");
    fails_to_open("lists", O_RDWR, info, GIO_EMULTIDEFINE_HINTS);
    MPI_Info_free(&info);
}

static void modes(void) {
    const MPI_Offset off = rank, one = 1, zero = 0;
    GIO_File file = open_file("lists", O_RDONLY);
    CHECK_INT(GIO_write_all(file, memory, 1, &off, &one, 1, &zero, &one), GIO_EPERM);
    CHECK_INT(GIO_write(file, memory, 1, &off, &one, 1, &zero, &one), GIO_EPERM);
    CHECK_INT(GIO_read_all(file, memory, 1, &off, &one, 1, &zero, &one), 1);
    CHECK_INT(GIO_set_size(file, 0), GIO_EPERM);
    CHECK_INT(GIO_sync(file), GIO_NOERR);
    CHECK_INT(GIO_close(&file), GIO_NOERR);
    file = open_file("lists", O_WRONLY);
    CHECK_INT(GIO_read_all(file, memory, 1, &off, &one, 1, &zero, &one), GIO_EPERM);
    CHECK_INT(GIO_write_all(file, memory, 1, &off, &one, 1, &zero, &one), 1);
    CHECK_INT(GIO_set_size(file, -1), GIO_EINVAL);
    CHECK_INT(GIO_close(&file), GIO_NOERR);
    meet();
    if (rank == 0) {
        CHECK_INT(GIO_delete("nfs:lists"), GIO_NOERR);
        CHECK_INT(GIO_delete("lists"), GIO_ENOENT);
        CHECK_INT(GIO_delete(""), GIO_EBAD_FILE);
    }
    meet();
}

/* ---- Hints, helpers ---- */

static void value_is(MPI_Info info, const char *key, const char *wanted_value) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    CHECK(found && strcmp(value, wanted_value) == 0);
}

static void hints(void) {
    GIO_File file = GIO_FILE_NULL;
    MPI_Info info, used = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "disable");
    MPI_Info_set(info, "nobody_knows", "me");
    MPI_Info_set(info, "cb_nodes", "no number");
    CHECK_INT(GIO_open(MPI_COMM_WORLD, "hints", O_CREAT | O_RDWR, info, &file), GIO_NOERR);
    MPI_Info_free(&info);
    CHECK_INT(GIO_get_info(file, &used), GIO_NOERR);
    value_is(used, "nobody_knows", "me");
    value_is(used, "cb_write", "disable");
    value_is(used, "cb_read", "automatic");
    value_is(used, "cb_buffer_size", "16777216");
    value_is(used, "ind_wr_buffer_size", "4194304");
    value_is(used, "sago_agree", "enter");
    MPI_Info_free(&used);
    CHECK_INT(GIO_close(&file), GIO_NOERR);
}

static void subarrays(void) {
    const int sizes[] = {4, 5, 6}, subsizes[] = {2, 2, 3}, starts[] = {1, 3, 2};
    MPI_Offset n = -1, *offs = NULL, *lens = NULL;
    CHECK_INT(GIO_flatten_subarray(2, 4, 100, sizes, subsizes, starts, &n, &offs, &lens), GIO_NOERR);
    CHECK_INT(n, 2);
    CHECK_INT(offs[1], 100 + (2 * 5 + 3) * 4);
    CHECK_INT(lens[1], 8);
    free(offs);
    free(lens);
    CHECK_INT(GIO_flatten_subarray(3, 1, 0, sizes, subsizes, starts, &n, &offs, &lens), GIO_NOERR);
    CHECK_INT(n, 4);
    CHECK_INT(offs[0], (1 * 5 + 3) * 6 + 2);
    CHECK_INT(offs[3], (2 * 5 + 4) * 6 + 2);
    CHECK_INT(lens[3], 3);
    free(offs);
    free(lens);
    CHECK_INT(GIO_flatten_subarray(1, 8, 0, sizes, subsizes, starts, &n, &offs, &lens), GIO_NOERR);
    CHECK(n == 1 && offs[0] == 8 && lens[0] == 16);
    free(offs);
    free(lens);
    CHECK_INT(GIO_flatten_subarray(0, 8, 0, sizes, subsizes, starts, &n, &offs, &lens), GIO_NOERR);
    CHECK_INT(GIO_flatten_subarray(2, 8, 0, subsizes, sizes, starts, &n, &offs, &lens), GIO_EINVAL);
    CHECK_INT(GIO_flatten_subarray(2, 8, 0, NULL, sizes, starts, &n, &offs, &lens), GIO_EINVAL);
}

static void words(void) {
    CHECK(strcmp(GIO_strerrno(GIO_EFILEVIEW), "GIO_EFILEVIEW") == 0);
    CHECK(GIO_strerror(GIO_ENOENT) && GIO_strerror(2) && GIO_strerror(-9999) && GIO_strerrno(-9999));
    CHECK(strncmp(GIO_inq_libvers(), "1.0.0", 5) == 0);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    state = (uint64_t)rank + 1;
    no_handle();
    moves_data();
    simple_calls();
    wrong_lists();
    opening();
    modes();
    hints();
    subarrays();
    words();
    return check_end();
}
