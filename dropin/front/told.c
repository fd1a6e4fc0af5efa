#include "told.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sago/config.h>

/* Ranks are known by what their launchers set: MPI may not run yet. */
static bool is_quiet(void) {
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    const char *stats = getenv("SAGO_STATS");
    bool quiet = stats && strcmp(stats, "off") == 0;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        quiet = quiet || (getenv(ranks[i]) && strcmp(getenv(ranks[i]), "0") != 0);
    return quiet;
}

void tell_foreign(const mpi_library *mpi) {
    char program[PATH_MAX], name[256];
    if (is_quiet())
        return;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    library_name(mpi, name, sizeof name);
    fprintf(stderr, "sago: %s runs on %s, another MPI library than %s, with which this Sago was built: not used\n",
            length > 0 ? program : "the program", name, SAGO_MPI_NAME);
}

void tell_broken(const char *why) {
    if (!is_quiet())
        fprintf(stderr, "sago: not used: %s\n", why ? why : "no libsago-mpiio-core.so");
}
