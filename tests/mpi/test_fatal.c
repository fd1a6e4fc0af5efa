/* RUN: n=1,2 */
/* "The library never aborts": MPI errors inside it are returned, though the program's communicators have handlers
 * that end it.  Calls of MPI's fail here as they do in MPI: the handler of the communicator is called, or of
 * MPI_COMM_WORLD and MPI_COMM_SELF where there is none. */
#include "check.h"

static int failing; /* so many more calls of those below fail */
static int raised;  /* handlers of the program that were called */

static void on_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    raised++;
}

static bool fails(MPI_Comm comm, int *code) {
    if (failing <= 0)
        return false;
    failing--;
    *code = MPI_ERR_OTHER;
    PMPI_Comm_call_errhandler(comm, *code);
    if (comm == MPI_COMM_WORLD)
        PMPI_Comm_call_errhandler(MPI_COMM_SELF, *code);
    return true;
}

/* ---- In the place of MPI's ---- */

int MPI_Comm_group(MPI_Comm comm, MPI_Group *group) {
    int code;
    return fails(comm, &code) ? code : PMPI_Comm_group(comm, group);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made) {
    int code;
    return fails(comm, &code) ? code : PMPI_Comm_create(comm, group, made);
}

int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value) {
    int code;
    return fails(comm, &code) ? code : PMPI_Comm_set_attr(comm, keyval, value);
}

int MPI_Info_get_nkeys(MPI_Info info, int *count) {
    int code;
    return fails(MPI_COMM_WORLD, &code) ? code : PMPI_Info_get_nkeys(info, count);
}

int MPI_Info_set(MPI_Info info, const char *key, const char *value) {
    int code;
    return fails(MPI_COMM_WORLD, &code) ? code : PMPI_Info_set(info, key, value);
}

int MPI_Type_get_extent_x(MPI_Datatype type, MPI_Count *low, MPI_Count *extent) {
    int code;
    return fails(MPI_COMM_WORLD, &code) ? code : PMPI_Type_get_extent_x(type, low, extent);
}

/* ---- Tests ---- */

static const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;

/* Fails for good on all ranks, and then no more. */
static void check_call(sago_status status, const char *what) {
    failing = 0;
    scene = what;
    CHECK(status != SAGO_OK);
    CHECK_INT(raised, 0);
    raised = 0;
}

static void test_calls(MPI_Comm comm) {
    MPI_Info info = hints_of("sago_memory=4M");
    MPI_Datatype type;
    sago_file *file = NULL;
    failing = 1000;
    check_call(sago_open(comm, scratch("fatal"), amode, MPI_INFO_NULL, &file), "opening, on a new communicator");
    CHECK_OK(sago_open(comm, scratch("fatal"), amode, MPI_INFO_NULL, &file));
    sago_file *other = NULL;
    failing = 1000;
    check_call(sago_open(comm, scratch("fatal"), amode, info, &other), "opening, with hints");
    failing = 1000;
    check_call(sago_get_hints(file, info), "asking for hints");
    MPI_Type_vector(5, 2, 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    failing = 1000;
    check_call(sago_set_view(file, 0, MPI_INT, type), "a view");
    CHECK_OK(sago_set_view(file, 0, MPI_INT, type));
    CHECK_OK(sago_close(&file));
    MPI_Type_free(&type);
    MPI_Info_free(&info);
}

static bool is_fatal(MPI_Comm comm) {
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(comm, &handler);
    bool fatal = handler == MPI_ERRORS_ARE_FATAL;
    MPI_Errhandler_free(&handler);
    return fatal;
}

/* With every communicator of MPI's in use, where there is an end to them. */
static void test_no_communicators(void) {
    enum { MOST = 4000 };
    static MPI_Comm taken[MOST];
    MPI_Comm own, comm;
    sago_file *file = NULL;
    int n = 0;
    scene = "no communicators left";
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); /* other ranks than before, if there are several */
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    while (n < MOST && MPI_Comm_dup(own, &taken[n]) == MPI_SUCCESS)
        n++;
    meet();
    if (n == MOST && rank == 0)
        printf("more than %d communicators can be had: not tried what happens without\n", MOST);
    sago_status status = sago_open(comm, scratch("without"), amode, MPI_INFO_NULL, &file);
    if (n < MOST && ranks > 1) {
        CHECK_INT(status, SAGO_ERR_MPI);
        CHECK(strstr(sago_error_message(), "communicator"));
    } else { /* the circle of one rank is there already */
        CHECK_INT(status, SAGO_OK);
        CHECK_OK(sago_close(&file));
    }
    CHECK(is_fatal(comm) && is_fatal(MPI_COMM_WORLD) && is_fatal(MPI_COMM_SELF));
    meet();
    while (n > 0)
        MPI_Comm_free(&taken[--n]);
    meet();
    CHECK_OK(sago_open(comm, scratch("with"), amode, MPI_INFO_NULL, &file));
    CHECK_OK(sago_close(&file));
    MPI_Comm_free(&comm);
    MPI_Comm_free(&own);
}

int main(int argc, char **argv) {
    MPI_Errhandler counting;
    MPI_Comm comm;
    check_start(&argc, &argv);
    MPI_Comm_create_errhandler(on_error, &counting);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
    test_calls(comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&counting);
    test_no_communicators();
    return check_end();
}
