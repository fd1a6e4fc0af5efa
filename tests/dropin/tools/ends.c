/* Programs that end as programs do: ends HOW. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    char byte = 'x';
    int rank, status = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(how, "no-files") == 0)
        return MPI_Finalize();
    if (MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return 99;
    MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); /* whoever ends the job now ends the others too, and they have written */
    if (strcmp(how, "fork") == 0 || strcmp(how, "fork-exit") == 0) {
        pid_t child = fork();
        if (child == 0 && strcmp(how, "fork") == 0)
            _exit(5); /* or exec: the child touches no file of MPI's */
        if (child == 0)
            exit(5); /* what was registered with atexit() runs in the child, too */
        waitpid(child, &status, 0);
        if (WEXITSTATUS(status) != 5)
            return 98;
        if (system("echo from a shell >shell.txt") != 0)
            return 97;
    } else if (strcmp(how, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 42);
    } else if (strcmp(how, "abort-all") == 0) {
        sleep(rank == 0 ? 2 : 9); /* the other one, which ends with it, has written by itself by then */
        byte = 'y';
        MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE); /* deferred: waits for nobody */
        MPI_Abort(MPI_COMM_WORLD, 42);
    } else if (strcmp(how, "abort-one") == 0) {
        if (rank == 1)
            MPI_Abort(MPI_COMM_WORLD, 44); /* while the other one waits in a collective call */
    } else if (strcmp(how, "kill") == 0) {
        if (rank == 1)
            raise(SIGKILL);
    } else if (strcmp(how, "exit") == 0) {
        printf("gone\n");
        exit(43);
    } else if (strcmp(how, "open") == 0) {
        return MPI_Finalize(); /* with a file open */
    } else if (strcmp(how, "fatal") == 0) {
        MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
        MPI_File_write_at_all(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return MPI_Finalize();
}
