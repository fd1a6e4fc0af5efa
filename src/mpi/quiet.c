/* Error handlers that are put aside, with one entry for each communicator.  PMPI calls are used, since tools need
 * not see this. */
#include "mpi/quiet.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/again.h"

typedef struct hushed {
    struct hushed *next;
    MPI_Comm comm;
    /* The program's handler, while there are users; MPI_ERRHANDLER_NULL: it could not be got. */
    MPI_Errhandler own;
    int users;
} hushed;

/* These two entries always exist, so that putting handlers aside needs no memory where it happens often. */
static hushed self = {.comm = MPI_COMM_SELF}, world = {.next = &self, .comm = MPI_COMM_WORLD};
static hushed *first = &world;
/* The handler that stands in for others; made once in a process. */
static MPI_Errhandler quiet = MPI_ERRHANDLER_NULL;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void say_nothing(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

/* MPI_ERRORS_RETURN will not do, since it could not be told from the program's own handler if another thread sets
 * that meanwhile. */
static MPI_Errhandler quiet_handler(void) {
    if (quiet == MPI_ERRHANDLER_NULL && !SAGOI_DONE(PMPI_Comm_create_errhandler(say_nothing, &quiet)))
        quiet = MPI_ERRHANDLER_NULL;
    return quiet == MPI_ERRHANDLER_NULL ? MPI_ERRORS_RETURN : quiet;
}

static hushed **find(MPI_Comm comm) {
    hushed **at = &first;
    while (*at && (*at)->comm != comm)
        at = &(*at)->next;
    return at;
}

static hushed *add(MPI_Comm comm) {
    hushed *entry = calloc(1, sizeof *entry);
    if (entry) {
        entry->comm = comm;
        entry->next = first;
        first = entry;
    }
    return entry;
}

/* Puts the handler aside.  Without memory for an entry the handler stays, which matters only if an error comes
 * just then. */
static void hush(MPI_Comm comm) {
    hushed *entry = *find(comm);
    if (!entry)
        entry = add(comm);
    if (!entry || entry->users++ > 0)
        return;
    if (!SAGOI_DONE(PMPI_Comm_get_errhandler(comm, &entry->own)))
        entry->own = MPI_ERRHANDLER_NULL;
    else
        (void)SAGOI_DONE(PMPI_Comm_set_errhandler(comm, quiet_handler()));
}

/* Puts the handler back, unless the program has set another one meanwhile. */
static void put_back(hushed *entry) {
    MPI_Errhandler now;
    if (entry->own == MPI_ERRHANDLER_NULL || !SAGOI_DONE(PMPI_Comm_get_errhandler(entry->comm, &now)))
        return;
    if (now == quiet_handler())
        (void)SAGOI_DONE(PMPI_Comm_set_errhandler(entry->comm, entry->own));
    (void)SAGOI_DONE(PMPI_Errhandler_free(&now));
    (void)SAGOI_DONE(PMPI_Errhandler_free(&entry->own));
}

static void unhush(MPI_Comm comm) {
    hushed **at = find(comm), *entry = *at;
    if (!entry || --entry->users > 0)
        return;
    put_back(entry);
    if (entry == &self || entry == &world)
        return;
    *at = entry->next;
    free(entry);
}

static bool is_another(MPI_Comm comm) {
    return comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF;
}

void sagoi_quiet_begin(MPI_Comm comm) {
    (void)pthread_mutex_lock(&lock);
    hush(MPI_COMM_WORLD);
    hush(MPI_COMM_SELF);
    if (is_another(comm))
        hush(comm);
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_quiet_end(MPI_Comm comm) {
    (void)pthread_mutex_lock(&lock);
    if (is_another(comm))
        unhush(comm);
    unhush(MPI_COMM_SELF);
    unhush(MPI_COMM_WORLD);
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_quiet_pass_on(MPI_Comm from, MPI_Comm made) {
    (void)pthread_mutex_lock(&lock);
    const hushed *entry = *find(from);
    if (entry && entry->users > 0 && entry->own != MPI_ERRHANDLER_NULL)
        (void)SAGOI_DONE(PMPI_Comm_set_errhandler(made, entry->own));
    (void)pthread_mutex_unlock(&lock);
}
