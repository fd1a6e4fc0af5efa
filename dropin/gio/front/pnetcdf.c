/* PnetCDF builds GIO into its own library, and hides it there unless it is built with -fvisibility=default, so no
 * library can stand before it; the same holds for a program that GIO is linked to statically.  But PnetCDF can use
 * MPI-IO, which the drop-in serves as well (libsago-mpiio.so), and takes hints from its environment.  So in MPI
 * programs without a visible GIO, a variable tells PnetCDF, if it is there, to use MPI-IO. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../front/told.h"

static bool is_preloaded(const char *library) {
    const char *list = getenv("LD_PRELOAD");
    return list && strstr(list, library);
}

__attribute__((constructor)) static void lead_pnetcdf(void) {
    static const char variable[] = "PNETCDF_HINTS", hint[] = "nc_driver=mpiio";
    const char *given = getenv(variable);
    mpi_library mpi;
    if ((given && strstr(given, "nc_driver")) || is_disabled())
        return;
    if (!is_preloaded("libsago-mpiio.so") || dlsym(RTLD_NEXT, "GIO_open") || !library_find(&mpi))
        return;
    size_t capacity = sizeof hint + (given ? strlen(given) : 0) + 1;
    char *hints = malloc(capacity);
    if (!hints)
        return;
    (void)snprintf(hints, capacity, "%s%s%s", given ? given : "", given && *given ? ";" : "", hint);
    (void)setenv(variable, hints, 1);
    free(hints);
}
