#include "absent.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sago/sago.h>

#include "../present.h"
#include "told.h"

/* The MPI library's own objects, found by their names, since the front is linked with no MPI library. */
static struct {
    int (*initialized)(int *), (*finalized)(int *);
    int (*test_inter)(MPI_Comm, int *), (*size)(MPI_Comm, int *), (*rank)(MPI_Comm, int *);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    dropin_groups groups;
    MPI_Comm world, none;
    MPI_Datatype integer;
    MPI_Op maximum;
} calls;

static char reason[512];
static _Atomic bool merged;       /* present.h */
static _Thread_local bool within; /* a tool behind Sago calls the other name of the same function */
static dropin_entry *after[DROPIN_ENTRY_COUNT];

static void find(const mpi_library *mpi, const char *name, void *function) {
    void *symbol = dlsym(mpi->handle, name);
    memcpy(function, &symbol, sizeof symbol);
}

#ifdef SAGO_MPI_MPICH
static void find_handles(const mpi_library *mpi) {
    (void)mpi;
    calls.world = MPI_COMM_WORLD;
    calls.none = MPI_COMM_NULL;
    calls.integer = MPI_INT;
    calls.maximum = MPI_MAX;
}
#else
/* A program that uses these objects has them itself: the linker copies data there. */
static void *find_handle(const mpi_library *mpi, const char *name) {
    void *symbol = dlsym(RTLD_DEFAULT, name);
    return symbol ? symbol : dlsym(mpi->handle, name);
}

static void find_handles(const mpi_library *mpi) {
    calls.world = find_handle(mpi, "ompi_mpi_comm_world");
    calls.none = find_handle(mpi, "ompi_mpi_comm_null");
    calls.integer = find_handle(mpi, "ompi_mpi_int");
    calls.maximum = find_handle(mpi, "ompi_mpi_op_max");
}
#endif

static bool mpi_runs(void) {
    int begun = 0, ended = 0;
    return calls.initialized(&begun) == MPI_SUCCESS && begun && calls.finalized(&ended) == MPI_SUCCESS && !ended;
}

/* Do other ranks take part in the call? */
static bool is_for_several(MPI_Comm comm) {
    int inter = 0, size = 1;
    return comm != calls.none && calls.test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
           calls.size(comm, &size) == MPI_SUCCESS && size > 1;
}

/* The first of several ranks without a core tells, unless it is the job's first rank, which has told already. */
static void say_absent(MPI_Comm comm) {
    static _Atomic bool told;
    int rank = 0, seen[SEEN_COUNT] = {0};
    if (!mpi_runs() || !is_for_several(comm) || (merged && !dropin_in_one_world(&calls.groups, comm, calls.world)))
        return;
    (void)calls.rank(comm, &rank);
    int mine = dropin_absent(rank);
    seen[SEEN_ABSENT] = mine;
    if (calls.allreduce(MPI_IN_PLACE, seen, SEEN_COUNT, calls.integer, calls.maximum, comm) == MPI_SUCCESS &&
        seen[SEEN_ABSENT] == mine && !told) {
        told = true;
        tell_absent(reason);
    }
}

static bool are_reports_wanted(void) {
    const char *wanted = getenv("SAGO_STATS");
    return getenv("SAGO_REPORT") || getenv("SAGO_TRACE") ||
           (wanted && (strcmp(wanted, "summary") == 0 || strncmp(wanted, "json:", 5) == 0));
}

static MPI_Comm comm_of(dropin_word word) { return (MPI_Comm)word; }

/* As in the core: do the other ranks meet in this call? */
static void take_part(int index, dropin_word first, dropin_word second) {
    switch (index) {
    case DROPIN_MPI_File_open:
    case DROPIN_PMPI_File_open:
        say_absent(comm_of(first));
        break;
    case DROPIN_MPI_Comm_split_type:
    case DROPIN_PMPI_Comm_split_type:
        if ((int)second == SAGO_COMM_TYPE_NEIGHBORHOOD || (int)second == DROPIN_NEIGHBORHOOD)
            say_absent(comm_of(first));
        break;
    case DROPIN_MPI_Intercomm_merge:
    case DROPIN_PMPI_Intercomm_merge:
        merged = true;
        break;
    default:
        if (are_reports_wanted())
            say_absent(calls.world);
    }
}

/* Passes a call on.  Functions of other types are called here, on purpose. */
__attribute__((no_sanitize("undefined"))) static dropin_word pass_on(int index, const dropin_word *words) {
    bool outer = !within;
    if (outer)
        take_part(index, words[0], words[1]);
    within = true;
    dropin_word code = after[index](words[0], words[1], words[2], words[3], words[4], words[5]);
    within = !outer;
    return code;
}

static dropin_word absent_MPI_File_open(dropin_word a, dropin_word b, dropin_word c, dropin_word d, dropin_word e,
                                        dropin_word f) {
    return pass_on(DROPIN_MPI_File_open, (const dropin_word[]){a, b, c, d, e, f});
}
static dropin_word absent_PMPI_File_open(dropin_word a, dropin_word b, dropin_word c, dropin_word d, dropin_word e,
                                         dropin_word f) {
    return pass_on(DROPIN_PMPI_File_open, (const dropin_word[]){a, b, c, d, e, f});
}
static dropin_word absent_MPI_Comm_split_type(dropin_word a, dropin_word b, dropin_word c, dropin_word d,
                                              dropin_word e, dropin_word f) {
    return pass_on(DROPIN_MPI_Comm_split_type, (const dropin_word[]){a, b, c, d, e, f});
}
static dropin_word absent_PMPI_Comm_split_type(dropin_word a, dropin_word b, dropin_word c, dropin_word d,
                                               dropin_word e, dropin_word f) {
    return pass_on(DROPIN_PMPI_Comm_split_type, (const dropin_word[]){a, b, c, d, e, f});
}
static dropin_word absent_MPI_Finalize(dropin_word a, dropin_word b, dropin_word c, dropin_word d, dropin_word e,
                                       dropin_word f) {
    return pass_on(DROPIN_MPI_Finalize, (const dropin_word[]){a, b, c, d, e, f});
}
static dropin_word absent_PMPI_Finalize(dropin_word a, dropin_word b, dropin_word c, dropin_word d, dropin_word e,
                                        dropin_word f) {
    return pass_on(DROPIN_PMPI_Finalize, (const dropin_word[]){a, b, c, d, e, f});
}

static dropin_word absent_MPI_Intercomm_merge(dropin_word a, dropin_word b, dropin_word c, dropin_word d,
                                              dropin_word e, dropin_word f) {
    return pass_on(DROPIN_MPI_Intercomm_merge, (const dropin_word[]){a, b, c, d, e, f});
}
static dropin_word absent_PMPI_Intercomm_merge(dropin_word a, dropin_word b, dropin_word c, dropin_word d,
                                               dropin_word e, dropin_word f) {
    return pass_on(DROPIN_PMPI_Intercomm_merge, (const dropin_word[]){a, b, c, d, e, f});
}

static void find_calls(const mpi_library *mpi) {
    find(mpi, "PMPI_Initialized", &calls.initialized);
    find(mpi, "PMPI_Finalized", &calls.finalized);
    find(mpi, "PMPI_Comm_test_inter", &calls.test_inter);
    find(mpi, "PMPI_Comm_size", &calls.size);
    find(mpi, "PMPI_Comm_rank", &calls.rank);
    find(mpi, "PMPI_Allreduce", &calls.allreduce);
    find(mpi, "PMPI_Comm_group", &calls.groups.of_comm);
    find(mpi, "PMPI_Group_intersection", &calls.groups.intersection);
    find(mpi, "PMPI_Group_size", &calls.groups.size);
    find(mpi, "PMPI_Group_free", &calls.groups.free);
}

void absent_begin(const mpi_library *mpi, const char *why, dropin_next *next,
                  dropin_entry *entries[DROPIN_ENTRY_COUNT]) {
    (void)snprintf(reason, sizeof reason, "%s", why);
    find_calls(mpi);
    find_handles(mpi);
    const struct {
        int index;
        const char *name;
        dropin_entry *entry;
    } rows[] = {
        {DROPIN_MPI_File_open, "MPI_File_open", absent_MPI_File_open},
        {DROPIN_PMPI_File_open, "PMPI_File_open", absent_PMPI_File_open},
        {DROPIN_MPI_Comm_split_type, "MPI_Comm_split_type", absent_MPI_Comm_split_type},
        {DROPIN_PMPI_Comm_split_type, "PMPI_Comm_split_type", absent_PMPI_Comm_split_type},
        {DROPIN_MPI_Finalize, "MPI_Finalize", absent_MPI_Finalize},
        {DROPIN_PMPI_Finalize, "PMPI_Finalize", absent_PMPI_Finalize},
        {DROPIN_MPI_Intercomm_merge, "MPI_Intercomm_merge", absent_MPI_Intercomm_merge},
        {DROPIN_PMPI_Intercomm_merge, "PMPI_Intercomm_merge", absent_PMPI_Intercomm_merge},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        after[rows[i].index] = DROPIN_AS_ENTRY(next(rows[i].name));
        entries[rows[i].index] = rows[i].entry;
    }
}
