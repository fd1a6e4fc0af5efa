/* RUN: n=2 0 */
/* test_leftovers SEED
 *
 * Opens and closes files that need node-shared memory, ever more of it.  With a seed other than 0 every rank ends
 * at a random moment, by a signal: scripts/test_killed_memory.sh looks at what is left then. */
#include <signal.h>
#include <sys/time.h>

#include "check.h"

enum { FILES = 6, BLOCK = 64 << 10, KILLED_FILES = 100000, LONGEST_US = 400000 };

static void end_at_random(unsigned seed) {
    struct itimerval when = {{0, 0}, {0, 0}};
    srand(seed * 31 + (unsigned)rank);
    when.it_value.tv_usec = 1 + rand() % LONGEST_US;
    (void)signal(SIGALRM, SIG_DFL);
    CHECK(setitimer(ITIMER_REAL, &when, NULL) == 0);
}

static void write_shared(int number) {
    static char data[BLOCK];
    char hints[80];
    MPI_Comm comm;
    sago_file *file = NULL;
    (void)snprintf(hints, sizeof hints, "sago_strategy=aggregated sago_memory=%dM", 1 + number % 16);
    MPI_Info info = hints_of(hints);
    MPI_Comm_split(MPI_COMM_WORLD, 0, number % 2 ? rank : -rank, &comm);
    CHECK_OK(sago_open(comm, scratch("shared"), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    for (int i = 0; i < 4; i++)
        CHECK_OK(sago_write_at_all(file, (MPI_Offset)(i * ranks + rank) * BLOCK, data, BLOCK, MPI_BYTE, NULL));
    CHECK_OK(sago_close(&file));
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    if (seed)
        end_at_random(seed);
    for (int i = 0; i < (seed ? KILLED_FILES : FILES) && failures == 0; i++)
        write_shared(i);
    return check_end();
}
