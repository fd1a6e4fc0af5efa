/* What the entry points of the front (front/front.c) lead to, and what stands behind them.
 *
 * Both names of a call lead here, because the Fortran layers of the MPI libraries use either.  A tool that was
 * preloaded after Sago gets what Sago does not serve, by MPI_File_x.  When the tool goes on to PMPI_File_x,
 * which may be Sago's again, `dropin_stage` lets the call straight through. */
#include "mpi_calls.h"

#include <stdbool.h>
#include <string.h>

#include "entries.h"
#include "mpi_files.h"
#include "foresee.h"
#include "own_calls.h"
#include "dropin_report.h"

dropin_calls dropin_after_mpi, dropin_after_pmpi;
const dropin_calls *const dropin_mpi = &dropin_after_pmpi;

bool dropin_tools;
_Thread_local dropin_stages dropin_stage;

static void find(dropin_next *next, const char *name, void *mpi, void *pmpi) {
    void *one = next(name + 1), *other = next(name);
    memcpy(mpi, &one, sizeof one);
    memcpy(pmpi, &other, sizeof other);
    dropin_tools = dropin_tools || one != other;
}

/* The end of the program, for the statistics; a tool may lead here twice. */
static int (*finalize_mpi)(void), (*finalize_pmpi)(void);

static int finalize(int (*next)(void)) {
    static bool reported;
    if (!reported && dropin_stage != DROPIN_WITHIN)
        dropin_report();
    reported = true;
    return next();
}

static int enter_MPI_Finalize(void) { return finalize(finalize_mpi); }
static int enter_PMPI_Finalize(void) { return finalize(finalize_pmpi); }

/* Writes what this rank has deferred before it ends. */
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

/* Storage neighbourhoods: a split type that the MPI library does not know, or its own one, unless that asks for
 * the network, which only the MPI library knows. */
typedef int split_function(MPI_Comm, int, int, MPI_Info, MPI_Comm *);
static split_function *split_mpi, *split_pmpi;

static int split_type(MPI_Comm comm, int key, MPI_Info info, MPI_Comm *newcomm) {
    int code = sago_status_mpi_class(sago_comm_split_type(comm, SAGO_COMM_TYPE_NEIGHBORHOOD, key, info, newcomm));
    if (code != MPI_SUCCESS && comm != MPI_COMM_NULL)
        (void)MPI_Comm_call_errhandler(comm, code);
    return code;
}

static bool is_neighbourhood(int type) {
    return dropin_stage != DROPIN_WITHIN && (type == SAGO_COMM_TYPE_NEIGHBORHOOD || type == DROPIN_NEIGHBORHOOD);
}

/* Is it the MPI library's own kind, of neighbours in the network? */
static bool is_of_network(int type, MPI_Info info) {
    int network = 0, length;
    if (type != SAGO_COMM_TYPE_NEIGHBORHOOD && info != MPI_INFO_NULL)
        (void)DROPIN_DONE(MPI_Info_get_valuelen(info, "nbhd_network", &length, &network));
    return network;
}

static int split(split_function *next, MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm) {
    if (!is_neighbourhood(type))
        return next(comm, type, key, info, newcomm);
    if (dropin_present(comm) && !is_of_network(type, info))
        return split_type(comm, key, info, newcomm);
    dropin_stage = DROPIN_WITHIN;
    int code = next(comm, type, key, info, newcomm);
    dropin_stage = DROPIN_OUTSIDE;
    return code;
}

static int enter_MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm) {
    return split(split_mpi, comm, type, key, info, newcomm);
}
static int enter_PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm) {
    return split(split_pmpi, comm, type, key, info, newcomm);
}

/* Nobody knows whether Sago is there in such processes: foresee.h. */
typedef int merge_function(MPI_Comm, int, MPI_Comm *);
static merge_function *merge_mpi, *merge_pmpi;

static int enter_MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *newcomm) {
    dropin_note_merge();
    return merge_mpi(comm, high, newcomm);
}
static int enter_PMPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *newcomm) {
    dropin_note_merge();
    return merge_pmpi(comm, high, newcomm);
}

void dropin_calls_begin(dropin_next *next, dropin_entry *entries[]) {
    dropin_find_file_calls(next, find);
    bool between = dropin_tools; /* tools before other calls do not count */
    dropin_find_waits(next, find);
    find(next, "PMPI_Finalize", &finalize_mpi, &finalize_pmpi);
    find(next, "PMPI_Abort", &abort_mpi, &abort_pmpi);
    find(next, "PMPI_Comm_split_type", &split_mpi, &split_pmpi);
    find(next, "PMPI_Intercomm_merge", &merge_mpi, &merge_pmpi);
    dropin_tools = between;
    dropin_fill_entries(entries);
    entries[DROPIN_MPI_Finalize] = DROPIN_AS_ENTRY(enter_MPI_Finalize);
    entries[DROPIN_PMPI_Finalize] = DROPIN_AS_ENTRY(enter_PMPI_Finalize);
    entries[DROPIN_MPI_Abort] = DROPIN_AS_ENTRY(enter_MPI_Abort);
    entries[DROPIN_PMPI_Abort] = DROPIN_AS_ENTRY(enter_PMPI_Abort);
    entries[DROPIN_MPI_Comm_split_type] = DROPIN_AS_ENTRY(enter_MPI_Comm_split_type);
    entries[DROPIN_PMPI_Comm_split_type] = DROPIN_AS_ENTRY(enter_PMPI_Comm_split_type);
    entries[DROPIN_MPI_Intercomm_merge] = DROPIN_AS_ENTRY(enter_MPI_Intercomm_merge);
    entries[DROPIN_PMPI_Intercomm_merge] = DROPIN_AS_ENTRY(enter_PMPI_Intercomm_merge);
}
