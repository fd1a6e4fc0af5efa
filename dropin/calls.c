/* What the entry points of the front (front/front.c) lead to, and what comes after them.
 *
 * Both names of a call lead here, because the Fortran layers of the MPI libraries use either.  A tool that was
 * preloaded after Sago is handed what Sago does not take, by MPI_File_x; when it goes on to PMPI_File_x, which
 * may be Sago's again, `within` lets the call straight through. */
#include "calls.h"

#include <stdbool.h>
#include <string.h>

#include "entries.h"
#include "files.h"
#include "report.h"

static dropin_calls after_mpi, after_pmpi;
const dropin_calls *const dropin_mpi = &after_pmpi;

static bool tools; /* somebody else stands behind MPI_File_x */
static _Thread_local bool within;

static void find(dropin_next *next, const char *name, void *mpi, void *pmpi) {
    void *one = next(name + 1), *other = next(name);
    memcpy(mpi, &one, sizeof one);
    memcpy(pmpi, &other, sizeof other);
    tools = tools || one != other;
}

#define ENTER(name, params, args)                                                                                 \
    static int enter_MPI_File_##name params {                                                                     \
        if (within)                                                                                               \
            return after_pmpi.name args;                                                                          \
        within = tools;                                                                                           \
        int code = dropin_##name(&after_mpi, DROPIN_SPREAD args);                                                 \
        within = false;                                                                                           \
        return code;                                                                                              \
    }                                                                                                             \
    static int enter_PMPI_File_##name params {                                                                    \
        return within ? after_pmpi.name args : dropin_##name(&after_pmpi, DROPIN_SPREAD args);                    \
    }
DROPIN_CALLS(ENTER)

/* The end of the program, for the statistics; a tool may lead here twice. */
static int (*finalize_mpi)(void), (*finalize_pmpi)(void);

static int finalize(int (*next)(void)) {
    static bool reported;
    if (!reported && !within)
        dropin_report();
    reported = true;
    return next();
}

static int enter_MPI_Finalize(void) { return finalize(finalize_mpi); }
static int enter_PMPI_Finalize(void) { return finalize(finalize_pmpi); }

/* What this rank has deferred is in its files before it ends. */
typedef int abort_function(MPI_Comm, int);
static abort_function *abort_mpi, *abort_pmpi;

static int enter_MPI_Abort(MPI_Comm comm, int code) {
    dropin_files_flush();
    return abort_mpi(comm, code);
}
static int enter_PMPI_Abort(MPI_Comm comm, int code) {
    dropin_files_flush();
    return abort_pmpi(comm, code);
}

/* Storage neighbourhoods, a split type that the MPI library does not know. */
typedef int split_function(MPI_Comm, int, int, MPI_Info, MPI_Comm *);
static split_function *split_mpi, *split_pmpi;

static int split_type(MPI_Comm comm, int key, MPI_Info info, MPI_Comm *newcomm) {
    int code = sago_status_mpi_class(sago_comm_split_type(comm, SAGO_COMM_TYPE_NEIGHBORHOOD, key, info, newcomm));
    if (code != MPI_SUCCESS && comm != MPI_COMM_NULL)
        (void)MPI_Comm_call_errhandler(comm, code);
    return code;
}

static int enter_MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm) {
    return type == SAGO_COMM_TYPE_NEIGHBORHOOD && !within ? split_type(comm, key, info, newcomm)
                                                          : split_mpi(comm, type, key, info, newcomm);
}
static int enter_PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm) {
    return type == SAGO_COMM_TYPE_NEIGHBORHOOD && !within ? split_type(comm, key, info, newcomm)
                                                          : split_pmpi(comm, type, key, info, newcomm);
}

void dropin_calls_begin(dropin_next *next, dropin_entry *entries[]) {
#define FIND(name, params, args) find(next, "PMPI_File_" #name, &after_mpi.name, &after_pmpi.name);
    DROPIN_CALLS(FIND)
    DROPIN_USED_CALLS(FIND)
#undef FIND
    bool between = tools; /* what stands in front of other calls does not count */
    find(next, "PMPI_Finalize", &finalize_mpi, &finalize_pmpi);
    find(next, "PMPI_Abort", &abort_mpi, &abort_pmpi);
    find(next, "PMPI_Comm_split_type", &split_mpi, &split_pmpi);
    tools = between;
#define NAME(name, params, args)                                                                                  \
    entries[DROPIN_MPI_File_##name] = DROPIN_AS_ENTRY(enter_MPI_File_##name);                                     \
    entries[DROPIN_PMPI_File_##name] = DROPIN_AS_ENTRY(enter_PMPI_File_##name);
    DROPIN_CALLS(NAME)
#undef NAME
    entries[DROPIN_MPI_Finalize] = DROPIN_AS_ENTRY(enter_MPI_Finalize);
    entries[DROPIN_PMPI_Finalize] = DROPIN_AS_ENTRY(enter_PMPI_Finalize);
    entries[DROPIN_MPI_Abort] = DROPIN_AS_ENTRY(enter_MPI_Abort);
    entries[DROPIN_PMPI_Abort] = DROPIN_AS_ENTRY(enter_PMPI_Abort);
    entries[DROPIN_MPI_Comm_split_type] = DROPIN_AS_ENTRY(enter_MPI_Comm_split_type);
    entries[DROPIN_PMPI_Comm_split_type] = DROPIN_AS_ENTRY(enter_PMPI_Comm_split_type);
}
