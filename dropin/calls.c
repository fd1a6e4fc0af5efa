/* Entry points, and finding what comes after them.
 *
 * Both names of a call lead here, because the Fortran layers of the MPI libraries use either.  A tool that was
 * preloaded after Sago is handed what Sago does not take, by MPI_File_x; when it goes on to PMPI_File_x, which
 * may be Sago's again, `within` lets the call straight through. */
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static dropin_calls after_mpi, after_pmpi;
const dropin_calls *const dropin_mpi = &after_pmpi;

static bool enabled; /* not SAGO_DISABLE */
static bool tools;   /* somebody else stands behind MPI_File_x */
static pthread_once_t found = PTHREAD_ONCE_INIT;
static _Thread_local bool within;

static void find(const char *name, void *mpi, void *pmpi) {
    void *one = dlsym(RTLD_NEXT, name + 1), *other = dlsym(RTLD_NEXT, name);
    memcpy(mpi, &one, sizeof one);
    memcpy(pmpi, &other, sizeof other);
    tools = tools || one != other;
}

static void find_all(void) {
    const char *off = getenv("SAGO_DISABLE");
#define FIND(name, params, args) find("PMPI_File_" #name, &after_mpi.name, &after_pmpi.name);
    DROPIN_CALLS(FIND)
    DROPIN_USED_CALLS(FIND)
#undef FIND
    enabled = !off || !*off || strcmp(off, "0") == 0;
}

static bool taking(void) {
    (void)pthread_once(&found, find_all);
    return enabled && !within;
}

#define ENTER(name, params, args)                                                                                 \
    int MPI_File_##name params {                                                                                  \
        if (!taking())                                                                                            \
            return (within ? &after_pmpi : &after_mpi)->name args;                                                \
        within = tools;                                                                                           \
        int code = dropin_##name(&after_mpi, DROPIN_SPREAD args);                                                 \
        within = false;                                                                                           \
        return code;                                                                                              \
    }                                                                                                             \
    int PMPI_File_##name params {                                                                                 \
        return taking() ? dropin_##name(&after_pmpi, DROPIN_SPREAD args) : after_pmpi.name args;                  \
    }
DROPIN_CALLS(ENTER)

/* What comes after Sago under this name. */
static void *next_of(const char *name) { return dlsym(RTLD_NEXT, name); }

/* The end of the program, for the statistics; a tool may lead here twice. */
static int finalize(const char *name) {
    static bool reported;
    int (*next)(void);
    void *symbol = next_of(name);
    memcpy(&next, &symbol, sizeof next);
    if (taking() && !reported)
        dropin_report();
    reported = true;
    return next();
}

int MPI_Finalize(void) { return finalize("MPI_Finalize"); }
int PMPI_Finalize(void) { return finalize("PMPI_Finalize"); }

/* Storage neighbourhoods, a split type that the MPI library does not know. */
static int split_type(const char *name, MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm) {
    int (*next)(MPI_Comm, int, int, MPI_Info, MPI_Comm *);
    void *symbol = next_of(name);
    memcpy(&next, &symbol, sizeof next);
    if (type != SAGO_COMM_TYPE_NEIGHBORHOOD || !taking())
        return next(comm, type, key, info, newcomm);
    int code = sago_status_mpi_class(sago_comm_split_type(comm, type, key, info, newcomm));
    if (code != MPI_SUCCESS && comm != MPI_COMM_NULL)
        (void)MPI_Comm_call_errhandler(comm, code);
    return code;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm) {
    return split_type("MPI_Comm_split_type", comm, type, key, info, newcomm);
}
int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm) {
    return split_type("PMPI_Comm_split_type", comm, type, key, info, newcomm);
}
