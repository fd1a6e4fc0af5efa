/* RUN: n=1,2,4 */
/* What a collective write does not name it does not touch: not what the file held before, and not what somebody
 * else writes there meanwhile.  (MPI promises the second only for what other ranks write in the same call; both
 * libraries lose it by reading, changing and writing back.  It is Sago's promise.) */
#include <fcntl.h>
#include <pthread.h>

#include "dropin_check.h"

enum { PIECE = 24, TURN = 64, TURNS = 4000 };

static char *mine, *before;
static long long size;
static volatile int stop;

/* `PIECE` bytes of every `TURN` times ranks, this rank's part of the turn. */
static MPI_File open_view(const char *path) {
    MPI_File file = open_all(path, MPI_MODE_RDWR);
    MPI_Datatype piece, type;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, TURN * ranks, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(file, TURN * rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
    return file;
}

static void make_file(const char *path) {
    if (rank == 0) {
        FILE *out = fopen(path, "w");
        CHECK(out && fwrite(before, 1, (size_t)size, out) == (size_t)size && fclose(out) == 0);
    }
    meet();
}

/* What the file must be, when `other` stands in the holes. */
static void check_contents(const char *path, bool known, const char *other) {
    char *model = malloc((size_t)size);
    memcpy(model, other, (size_t)size);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < TURNS * PIECE; i++)
            model[TURN * r + i / PIECE * TURN * ranks + i % PIECE] = (char)byte_of(i, r);
    CHECK_FILE_OR(known, path, model, size);
    free(model);
}

static void kept(void) {
    make_file("kept");
    MPI_File file = open_view("kept");
    OK(MPI_File_write_all(file, mine, TURNS * PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    check_contents("kept", false, before);
}

/* Holes of a new file read as zeros, and nothing is behind the last piece.  MPI leaves them undefined: ROMIO fills
 * them with whatever its buffer held. */
static void new_file(void) {
    char *zeros = calloc(1, (size_t)size);
    MPI_File file = open_all("new", MODE_NEW);
    OK(MPI_File_close(&file));
    file = open_view("new");
    OK(MPI_File_write_all(file, mine, TURNS * PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    meet();
    CHECK_INT(plain_size("new"), size - TURN + PIECE);
    meet();
    if (rank == 0)
        CHECK(truncate("new", size) == 0);
    check_contents("new", PLAIN, zeros);
    free(zeros);
}

/* Somebody who writes into the holes all the time, a byte each, in the end a value of his own into all. */
static void *neighbour(void *arg) {
    int fd = open(arg, O_WRONLY);
    for (int round = 0, last = 0; !last; round++) {
        last = stop;
        char value = (char)(last ? 'z' : 'a' + round % 20);
        for (long long at = PIECE; at < size; at += TURN)
            if (pwrite(fd, &value, 1, at) != 1)
                return arg;
    }
    return close(fd) == 0 ? NULL : arg;
}

/* The last value is written while the last collective calls run: whoever writes back what he read before loses it.
 */
static void meanwhile(void) {
    pthread_t thread;
    void *failed = NULL;
    make_file("meanwhile");
    MPI_File file = open_view("meanwhile");
    stop = 0;
    if (rank == 0)
        CHECK(pthread_create(&thread, NULL, neighbour, "meanwhile") == 0);
    for (int i = 0; i < 20; i++) {
        stop = i == 15;
        OK(MPI_File_write_at_all(file, 0, mine, TURNS * PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    stop = 1;
    if (rank == 0) {
        (void)pthread_join(thread, &failed);
        CHECK(!failed);
    }
    OK(MPI_File_close(&file));
    char *other = malloc((size_t)size);
    memcpy(other, before, (size_t)size);
    for (long long at = PIECE; at < size; at += TURN)
        other[at] = 'z';
    check_contents("meanwhile", PLAIN, other);
    free(other);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    size = (long long)TURN * ranks * TURNS;
    mine = malloc(TURNS * PIECE);
    before = malloc((size_t)size);
    fill(mine, 0, TURNS * PIECE, rank);
    fill(before, 0, size, 77);
    kept();
    new_file();
    meanwhile();
    free(mine);
    free(before);
    return check_end();
}
