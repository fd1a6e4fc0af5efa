/* RUN: n=2,3,4 timeout=40 */
/* Opening that fails on one rank: all ranks learn it, nobody waits for ever, and the next file opens. */
#include <fcntl.h>

#include "dropin_check.h"

static int called;
static MPI_Errhandler watching;

/* NOLINTNEXTLINE: MPI gives the parameters */
static void handler(MPI_File *file, int *code, ...) {
    called += *file == MPI_FILE_NULL && check_class(*code) != MPI_SUCCESS;
}

static void make(const char *path) {
    if (rank == 0)
        (void)close(open(path, O_CREAT | O_WRONLY, 0666));
    meet();
}

static void check_next_opens(void) {
    char byte = 'x';
    MPI_File file = open_all("next", MODE_NEW);
    OK(MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

/* The class of the error.  MPICH loses count of a handler that a file inherits: it is taken away at once. */
static int open_watched(const char *path, int amode) {
    MPI_File file = MPI_FILE_NULL;
    called = 0;
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, watching));
    int code = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_INT(called, 1);
    CHECK(file == MPI_FILE_NULL);
    return check_class(code);
}

/* Everybody's code is an error, this rank's the one that is `wanted`. */
static void opens_not(const char *path, int amode, bool mine, int wanted) {
    int class = open_watched(path, amode);
    CHECK(class != MPI_SUCCESS);
    if (mine)
        CHECK_INT(class, wanted);
    check_next_opens();
}

/* Both MPI libraries leave the others waiting. */
static void modes_of(int who) {
    bool mine = rank == who;
    if (PLAIN)
        return;
    opens_not("there", mine ? 0 : MPI_MODE_RDWR, mine, MPI_ERR_AMODE);
    opens_not("there", MPI_MODE_RDONLY | (mine ? MPI_MODE_CREATE : 0), mine, MPI_ERR_AMODE);
    opens_not("there", MPI_MODE_RDWR | (mine ? MPI_MODE_SEQUENTIAL : 0), mine, MPI_ERR_AMODE);
}

/* Open MPI leaves them waiting unless it is rank 0. */
static void files_of(int who) {
    bool mine = rank == who;
    if (PLAIN_OPENMPI && who != 0)
        return;
    opens_not(mine ? "missing" : "there", MPI_MODE_RDWR, mine, MPI_ERR_NO_SUCH_FILE);
    opens_not(mine ? "no/folder" : "there", MPI_MODE_RDWR | MPI_MODE_CREATE, mine, MPI_ERR_NO_SUCH_FILE);
    opens_not(mine ? "there/file" : "there", MPI_MODE_RDONLY, mine, OPENMPI ? MPI_ERR_OTHER : MPI_ERR_BAD_FILE);
}

/* As another user, whom the file may not let in. */
static void rights_of(int who) {
    bool mine = rank == who;
    if (geteuid() != 0 || (PLAIN_OPENMPI && who != 0))
        return;
    make("secret");
    CHECK(chmod("secret", 0600) == 0);
    if (mine)
        CHECK(seteuid(65534) == 0);
    int class = open_watched("secret", MPI_MODE_RDWR);
    if (mine)
        CHECK(seteuid(0) == 0);
    CHECK(class != MPI_SUCCESS);
    if (mine)
        CHECK_INT(class, MPI_ERR_ACCESS);
    check_next_opens();
}

/* Modes that differ and are each fine: MPICH says so, Open MPI opens the file; with Sago as without. */
static void modes_differ(void) {
    MPI_File file = MPI_FILE_NULL;
    int class = check_class(
        MPI_File_open(MPI_COMM_WORLD, "there", rank == 0 ? MPI_MODE_RDONLY : MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK_INT(class, OPENMPI ? MPI_SUCCESS : MPI_ERR_NOT_SAME);
    if (!class)
        OK(MPI_File_close(&file));
    expect_stat("files_taken", -1);
}

/* A file that another rank has only just made. */
static void just_made(void) {
    if (rank == ranks - 1) {
        (void)usleep(50000);
        (void)close(open("just made", O_CREAT | O_WRONLY, 0666));
    }
    MPI_File file = open_all("just made", MPI_MODE_RDWR);
    OK(MPI_File_close(&file));
}

/* One that another rank has only just put in the place of an older one. */
static void just_replaced(void) {
    char byte = 'x';
    make("replaced");
    if (rank == ranks - 1) {
        (void)usleep(50000);
        (void)close(open("newer", O_CREAT | O_WRONLY, 0666));
        CHECK(rename("newer", "replaced") == 0);
    }
    MPI_File file = open_all("replaced", MODE_NEW);
    OK(MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    meet();
    CHECK_INT(plain_size("replaced"), ranks);
    meet();
}

/* The failure of a file's own communicator is not the others' business. */
static void alone(void) {
    MPI_File file = MPI_FILE_NULL;
    if (rank == 0)
        FAILS(MPI_File_open(MPI_COMM_SELF, "missing", MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    meet();
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    make("there");
    OK(MPI_File_create_errhandler(handler, &watching));
    for (int who = 0; who < ranks; who += ranks - 1) {
        modes_of(who);
        files_of(who);
        rights_of(who);
    }
    modes_differ();
    just_made();
    just_replaced();
    alone();
    return check_end();
}
