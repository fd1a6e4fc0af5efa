/* Handlers that are put aside, one entry a communicator.  By PMPI calls: they are no part of what a tool looks at.
 */
#include "mpi/quiet.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/again.h"

typedef struct hushed {
    struct hushed *next;
    MPI_Comm comm;
    MPI_Errhandler own; /* of the program */
    int users;
} hushed;

static hushed *first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static hushed **find(MPI_Comm comm) {
    hushed **at = &first;
    while (*at && (*at)->comm != comm)
        at = &(*at)->next;
    return at;
}

/* Without memory for an entry the handler stays: an error would have to come just then. */
static void hush(MPI_Comm comm) {
    hushed *entry = *find(comm);
    if (!entry) {
        entry = calloc(1, sizeof *entry);
        if (!entry)
            return;
        if (!SAGOI_DONE(PMPI_Comm_get_errhandler(comm, &entry->own))) {
            free(entry);
            return;
        }
        entry->comm = comm;
        entry->next = first;
        first = entry;
        (void)SAGOI_DONE(PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    }
    entry->users++;
}

static void unhush(MPI_Comm comm) {
    hushed **at = find(comm), *entry = *at;
    if (!entry || --entry->users > 0)
        return;
    (void)SAGOI_DONE(PMPI_Comm_set_errhandler(comm, entry->own));
    (void)SAGOI_DONE(PMPI_Errhandler_free(&entry->own));
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
    if (entry)
        (void)SAGOI_DONE(PMPI_Comm_set_errhandler(made, entry->own));
    (void)pthread_mutex_unlock(&lock);
}
