/* RUN: n=3 timeout=200 */
/* RUN: n=3 timeout=200 lasting */
/* The MPI calls that the drop-in itself makes, one after another, fail on one rank, in the middle of every kind of
 * call on files.  The program does not end: no such call is made where MPI would call a handler that ends it,
 * though the program has left MPI_ERRORS_ARE_FATAL on its communicators.  No rank hangs; data that a call has said
 * to be moved is there; and afterwards files are as ever.  lasting: from the failing call on all calls fail, until
 * the program's own call returns.
 *
 * MPI's functions stand in front of the MPI library's here, by both of their names; who calls is told by the
 * address to return to.  Sago's own calls are mpi/test_file_failing.c's. */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>

#include "dropin_check.h"

enum { RUNS = 40, RUN_BYTES = 16, MINE = RUNS * RUN_BYTES, PARTS = 40, MOST = 200, LIMIT = 40 };

/* ---- Calls that fail ---- */

static atomic_int calls_left; /* of the drop-in; the one that makes it 0 fails; -1: none, but they are looked at */
static bool lasting;          /* all later ones fail, too, except those in is_spared() */
static const char *_Atomic failed_call;
static const char *_Atomic fatal_call; /* the first that would have ended the program */

static bool is_dropin(const void *place) {
    Dl_info info;
    return dladdr(place, &info) != 0 && info.dli_fname && strstr(info.dli_fname, "libsago-mpiio");
}

static void *next_of(const char *name) {
    void *next = dlsym(RTLD_NEXT, name);
    if (!next)
        abort();
    return next;
}

static bool is_fatal(MPI_Comm comm) {
    MPI_Errhandler handler;
    if (comm == MPI_COMM_NULL || PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return false;
    bool fatal = handler == MPI_ERRORS_ARE_FATAL;
    PMPI_Errhandler_free(&handler);
    return fatal;
}

/* What does not fail for good: Allreduce, in which MPI would keep the other ranks, and what only looks at a valid
 * handle or gives it back, which needs nothing that could be missing. */
static bool is_spared(const char *name) {
    static const char *const spared[] = {"Allreduce", "_size", "_rank",        "_test_inter",
                                         "_get_",     "_free", "_delete_attr", "_complete"};
    for (size_t i = 0; i < sizeof spared / sizeof *spared; i++)
        if (strstr(name, spared[i]))
            return true;
    return false;
}

/* Does this call of the drop-in's fail?  `comm`: what it is made on, or MPI_COMM_NULL: MPI raises its errors at
 * MPI_COMM_WORLD, or at MPI_COMM_SELF since MPI 4. */
static bool fails(const char *name, MPI_Comm comm, const void *caller) {
    static _Thread_local bool within;
    int left = atomic_load(&calls_left);
    const char *none = NULL;
    if (left == 0 || within || !is_dropin(caller))
        return false;
    within = true;
    if (comm != MPI_COMM_NULL ? is_fatal(comm) : is_fatal(MPI_COMM_WORLD) || is_fatal(MPI_COMM_SELF))
        atomic_compare_exchange_strong(&fatal_call, &none, name);
    within = false;
    if (left < 0 || (lasting && is_spared(name)) || (left > 1 && atomic_fetch_sub(&calls_left, 1) > 1))
        return false;
    if (!lasting)
        atomic_store(&calls_left, 0);
    atomic_store(&failed_call, name);
    return true;
}

#define CALL_BY(call, comm, params, args)                                                                         \
    int call params {                                                                                             \
        static int(*_Atomic next) params;                                                                         \
        if (!next)                                                                                                \
            next = (int(*) params)next_of(#call);                                                                 \
        return fails(#call, comm, __builtin_return_address(0)) ? MPI_ERR_OTHER : next args;                       \
    }
#define CALL(name, comm, params, args)                                                                            \
    CALL_BY(MPI_##name, comm, params, args)                                                                       \
    CALL_BY(PMPI_##name, comm, params, args)
#define NONE MPI_COMM_NULL

CALL(Comm_test_inter, comm, (MPI_Comm comm, int *value), (comm, value))
CALL(Comm_size, comm, (MPI_Comm comm, int *value), (comm, value))
CALL(Comm_rank, comm, (MPI_Comm comm, int *value), (comm, value))
CALL(Comm_get_attr, comm, (MPI_Comm comm, int key, void *value, int *found), (comm, key, value, found))
CALL(Comm_set_attr, comm, (MPI_Comm comm, int key, void *value), (comm, key, value))
CALL(Comm_delete_attr, comm, (MPI_Comm comm, int key), (comm, key))
CALL(Comm_create_keyval, NONE,
     (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *drop, int *key, void *state),
     (copy, drop, key, state))
CALL(Comm_group, comm, (MPI_Comm comm, MPI_Group *group), (comm, group))
CALL(Group_intersection, NONE, (MPI_Group a, MPI_Group b, MPI_Group *made), (a, b, made))
CALL(Group_size, NONE, (MPI_Group group, int *size), (group, size))
CALL(Group_free, NONE, (MPI_Group * group), (group))
CALL(Allreduce, comm, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (in, out, n, type, op, comm))
CALL(Info_create, NONE, (MPI_Info * info), (info))
CALL(Info_dup, NONE, (MPI_Info info, MPI_Info *made), (info, made))
CALL(Info_set, NONE, (MPI_Info info, const char *key, const char *value), (info, key, value))
CALL(Info_get_valuelen, NONE, (MPI_Info info, const char *key, int *length, int *found),
     (info, key, length, found))
CALL(Info_free, NONE, (MPI_Info * info), (info))
CALL(Type_contiguous, NONE, (int n, MPI_Datatype of, MPI_Datatype *made), (n, of, made))
CALL(Type_commit, NONE, (MPI_Datatype * type), (type))
CALL(Type_free, NONE, (MPI_Datatype * type), (type))
CALL(Type_create_keyval, NONE,
     (MPI_Type_copy_attr_function * copy, MPI_Type_delete_attr_function *drop, int *key, void *state),
     (copy, drop, key, state))
CALL(Type_get_attr, NONE, (MPI_Datatype type, int key, void *value, int *found), (type, key, value, found))
CALL(Type_set_attr, NONE, (MPI_Datatype type, int key, void *value), (type, key, value))
CALL(Type_get_envelope, NONE, (MPI_Datatype type, int *n, int *addresses, int *types, int *combiner),
     (type, n, addresses, types, combiner))
#if MPI_VERSION >= 4
CALL(Type_get_envelope_c, NONE,
     (MPI_Datatype type, MPI_Count *n, MPI_Count *addresses, MPI_Count *counts, MPI_Count *types, int *combiner),
     (type, n, addresses, counts, types, combiner))
#endif
CALL(Pack, comm, (const void *in, int n, MPI_Datatype type, void *out, int room, int *at, MPI_Comm comm),
     (in, n, type, out, room, at, comm))
CALL(Unpack, comm, (const void *in, int room, int *at, void *out, int n, MPI_Datatype type, MPI_Comm comm),
     (in, room, at, out, n, type, comm))
CALL(Grequest_start, NONE,
     (MPI_Grequest_query_function * query, MPI_Grequest_free_function *release,
      MPI_Grequest_cancel_function *cancel, void *state, MPI_Request *request),
     (query, release, cancel, state, request))
CALL(Grequest_complete, NONE, (MPI_Request request), (request))

/* ---- What a program does ---- */

static MPI_Datatype view, pieces; /* the ranks' runs take turns; memory that is packed */
static unsigned char mine[MINE], back[MINE];
static MPI_File file = MPI_FILE_NULL;
static MPI_Comm comm;

static int open_file(void) { return MPI_File_open(comm, "failing", MODE_NEW, MPI_INFO_NULL, &file); }

static int open_again(void) { return MPI_File_open(comm, "failing", MPI_MODE_RDWR, MPI_INFO_NULL, &file); }

static int open_alone(void) { return MPI_File_open(MPI_COMM_SELF, "own", MODE_NEW, MPI_INFO_NULL, &file); }

static int open_missing(void) { return MPI_File_open(comm, "nowhere", MPI_MODE_RDWR, MPI_INFO_NULL, &file); }

static int set_view(void) {
    return MPI_File_set_view(file, rank * RUN_BYTES, MPI_BYTE, view, "native", MPI_INFO_NULL);
}

static int get_view(void) {
    MPI_Offset at;
    MPI_Datatype etype, filetype = MPI_BYTE;
    char name[MPI_MAX_DATAREP_STRING + 1];
    int code = MPI_File_get_view(file, &at, &etype, &filetype, name);
    if (!code && filetype != MPI_BYTE)
        PMPI_Type_free(&filetype);
    return code;
}

static int get_info(void) {
    MPI_Info info;
    int code = MPI_File_get_info(file, &info);
    if (!code)
        PMPI_Info_free(&info);
    return code;
}

static int write_all(void) { return MPI_File_write_all(file, mine, MINE, MPI_BYTE, MPI_STATUS_IGNORE); }

static int write_packed(void) { return MPI_File_write_at_all(file, 0, mine, 1, pieces, MPI_STATUS_IGNORE); }

static int came_back(int code) {
    if (!code)
        CHECK(memcmp(mine, back, MINE) == 0);
    return code;
}

static int read_packed(void) {
    memset(back, 0, MINE);
    return came_back(MPI_File_read_at_all(file, 0, back, 1, pieces, MPI_STATUS_IGNORE));
}

static int write_started(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_File_iwrite_at_all(file, 0, mine, MINE, MPI_BYTE, &request), waited;
    waited = request != MPI_REQUEST_NULL ? MPI_Wait(&request, MPI_STATUS_IGNORE) : MPI_SUCCESS;
    return code ? code : waited;
}

static int read_started(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    memset(back, 0, MINE);
    int code = MPI_File_iread_at_all(file, 0, back, MINE, MPI_BYTE, &request), waited;
    waited = request != MPI_REQUEST_NULL ? MPI_Wait(&request, MPI_STATUS_IGNORE) : MPI_SUCCESS;
    return came_back(code ? code : waited);
}

static int close_file(void) { return file != MPI_FILE_NULL ? MPI_File_close(&file) : MPI_SUCCESS; }

/* ---- One failure after another ---- */

typedef struct trial {
    const char *name;
    int (*run)(void);
    bool fails; /* as it is */
    bool opens; /* it begins without a file, on a communicator of its own; else with one that has a view */
} trial;

static const trial trials[] = {
    {"open a new file", open_file, false, true},
    {"open", open_again, false, true},
    {"open alone", open_alone, false, true},
    {"open what is not there", open_missing, true, true},
    {"set a view", set_view, false, false},
    {"get the view", get_view, false, false},
    {"get hints", get_info, false, false},
    {"write", write_all, false, false},
    {"write pieces", write_packed, false, false},
    {"read pieces", read_packed, false, false},
    {"start to write", write_started, false, false},
    {"start to read", read_started, false, false},
    {"close", close_file, false, false},
};

static char what[200];

static void ring(int number) {
    static const char hangs[] = ": hangs\n";
    (void)number;
    (void)!write(2, what, strlen(what));
    (void)!write(2, hangs, sizeof hangs - 1);
    void *stack[40];
    backtrace_symbols_fd(stack, backtrace(stack, 40), 2);
    _exit(99);
}

static void prepare(const trial *one) {
    if (one->opens) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &comm); /* nothing is known of it yet */
        return;
    }
    CHECK(open_again() == MPI_SUCCESS && set_view() == MPI_SUCCESS);
    CHECK(write_packed() == MPI_SUCCESS);
}

static void tidy(const trial *one) {
    (void)close_file();
    if (one->opens)
        PMPI_Comm_free(&comm);
    comm = MPI_COMM_WORLD;
}

/* The same on all ranks: has a call failed?  n is -1: none is to. */
static bool try(const trial *one, int n, int victim) {
    (void)snprintf(what, sizeof what, "rank %d: %s, call %d of the drop-in on rank %d fails", rank, one->name, n,
                   victim);
    (void)alarm(LIMIT);
    prepare(one);
    meet();
    atomic_store(&failed_call, NULL);
    atomic_store(&calls_left, rank == victim ? n : -1);
    int code = one->run();
    atomic_store(&calls_left, 0);
    const char *failed = atomic_load(&failed_call);
    if (getenv("SAGO_TEST_VERBOSE") && failed)
        printf("%s: %s: %d\n", what, failed, code);
    int hit = failed != NULL, any = 0;
    PMPI_Allreduce(&hit, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!any && (code != MPI_SUCCESS) != one->fails)
        printf("%s: %d without a failure\n", what, code);
    CHECK(any || (code != MPI_SUCCESS) == one->fails);
    tidy(one);
    return any;
}

static void check_handlers(const char *name) {
    const char *fatal = atomic_exchange(&fatal_call, NULL);
    if (fatal)
        printf("rank %d: %s: an error of %s would have ended the program\n", rank, name, fatal);
    CHECK(!fatal);
}

int main(int argc, char **argv) {
    int lengths[PARTS], tried = 0;
    MPI_Aint places[PARTS];
    MPI_Datatype types[PARTS], run;
    check_start(&argc, &argv);
    lasting = argc > 1;
    expect_stat("files_taken", -1);
    expect_stat("not_opened", -1);
    expect_stat("hints", -1);
    expect_stat("view", -1);
    expect_stat("unknown", -1);
    (void)signal(SIGALRM, ring);
    comm = MPI_COMM_WORLD;
    for (int i = 0; i < PARTS; i++) {
        lengths[i] = MINE / PARTS;
        places[i] = (MPI_Aint)i * (MINE / PARTS);
        types[i] = MPI_BYTE;
    }
    PMPI_Type_create_struct(PARTS, lengths, places, types, &pieces);
    PMPI_Type_commit(&pieces);
    PMPI_Type_contiguous(RUN_BYTES, MPI_BYTE, &run);
    PMPI_Type_create_resized(run, 0, (MPI_Aint)ranks * RUN_BYTES, &view);
    PMPI_Type_commit(&view);
    fill(mine, 0, MINE, rank);
    CHECK(open_file() == MPI_SUCCESS && set_view() == MPI_SUCCESS && write_packed() == MPI_SUCCESS);
    (void)close_file();
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        for (int victim = 0; victim < (with_sago ? ranks : 1); victim += ranks - 1) {
            for (int n = with_sago ? 1 : -1; n < MOST && try(&trials[i], n, victim); n++)
                tried++;
            check_handlers(trials[i].name);
        }
    CHECK(tried > 0 || !with_sago);
    PMPI_Type_free(&pieces);
    PMPI_Type_free(&view);
    PMPI_Type_free(&run);
    return check_end();
}
