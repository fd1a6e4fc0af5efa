#include "told.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <sago/config.h>

static bool is_unwanted(void) {
    const char *stats = getenv("SAGO_STATS");
    return stats && strcmp(stats, "off") == 0;
}

/* Ranks are known by variables of their launchers, since MPI may not run yet. */
static bool is_first(void) {
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    bool first = true;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        first = first && (!getenv(ranks[i]) || strcmp(getenv(ranks[i]), "0") == 0);
    return first;
}

void tell_foreign(const mpi_library *mpi) {
    char program[PATH_MAX], name[256];
    if (is_unwanted() || !is_first())
        return;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    library_name(mpi, name, sizeof name);
    fprintf(stderr, "sago: %s runs on %s, another MPI library than %s, with which this Sago was built: not used\n",
            length > 0 ? program : "the program", name, SAGO_MPI_NAME);
}

void tell_broken(const char *why) {
    if (!is_unwanted() && is_first())
        fprintf(stderr, "sago: not used: %s\n", why);
}

/* The position in a list, or -1. */
static int find_word(const char *word, const char *const *list, int count) {
    for (int i = 0; i < count; i++)
        if (strcasecmp(word, list[i]) == 0)
            return i;
    return -1;
}

bool is_disabled(void) {
    static const char *const no[] = {"", "0", "off", "no", "false", "disable"};
    const char *value = getenv("SAGO_DISABLE");
    return value && find_word(value, no, 6) < 0;
}

void tell_disabled(void) {
    static const char *const yes[] = {"1", "on", "yes", "true", "enable"};
    static bool told;
    const char *value = getenv("SAGO_DISABLE");
    if (told || !is_disabled() || find_word(value, yes, 5) >= 0)
        return;
    told = true;
    if (!is_unwanted() && is_first() && !dlsym(RTLD_DEFAULT, "sago_open"))
        fprintf(stderr, "sago: environment variable SAGO_DISABLE: \"%.128s\" is not on or off: not used\n", value);
}

void tell_absent(const char *why) {
    if (!is_unwanted() && !is_first())
        fprintf(stderr, "sago: not used for files of a rank on which it cannot be loaded: %s\n", why);
}
