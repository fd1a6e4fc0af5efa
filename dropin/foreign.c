/* A program of another MPI library than Sago's.  Its handles have another shape, so that not even handing its
 * calls on would work, and Sago has brought its own MPI library into the process.  So the program is started again
 * without Sago, before anything of it has run. */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sago/config.h>

static const char own_name[] = "libsago-mpiio.so";

/* Something that only the other library has. */
static bool is_foreign(void) {
    bool mpich = strcmp(SAGO_MPI_NAME, "MPICH") == 0;
    return dlsym(RTLD_DEFAULT, mpich ? "ompi_mpi_init" : "MPIR_Err_create_code") != NULL;
}

/* Takes Sago out of a list of libraries; false if it is not in there. */
static bool list_remove(char *list) {
    bool removed = false;
    char *to = list;
    for (char *from = list; *from;) {
        size_t length = strcspn(from, " :"), name = sizeof own_name - 1;
        size_t whole = length + (from[length] != '\0');
        bool own = length >= name && strncmp(from + length - name, own_name, name) == 0;
        if (!own) {
            memmove(to, from, whole);
            to += whole;
        }
        removed = removed || own;
        from += whole;
    }
    *to = '\0';
    return removed;
}

/* Once a job, unless nobody wants to hear of Sago. */
static void tell(const char *program) {
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    const char *stats = getenv("SAGO_STATS");
    bool quiet = stats && strcmp(stats, "off") == 0;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        quiet = quiet || (getenv(ranks[i]) && strcmp(getenv(ranks[i]), "0") != 0);
    if (!quiet)
        fprintf(stderr, "sago: %s runs on another MPI library than %s, with which this Sago was built: not used\n",
                program, SAGO_MPI_NAME);
}

/* glibc gives constructors what main() gets. */
__attribute__((constructor)) static void leave_foreign(int argc, char **argv) {
    const char *preloaded = getenv("LD_PRELOAD");
    char program[PATH_MAX], *list = preloaded && is_foreign() ? strdup(preloaded) : NULL;
    if (!list || argc < 1)
        return;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0 && list_remove(list) && setenv("LD_PRELOAD", list, 1) == 0) {
        program[length] = '\0';
        tell(program);
        (void)execv(program, argv);
    }
    free(list);
}
