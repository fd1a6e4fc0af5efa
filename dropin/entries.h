/* The calls that Sago stands before, under both of their names, and the agreement between the two libraries of
 * the drop-in.
 *
 * libsago-mpiio.so (front/) is preloaded, or linked before MPI.  It needs no MPI library, since a preloaded
 * library comes before the program has loaded its own; it passes calls on as words, whatever the form of the
 * handles in them. libsago-mpiio-core.so, which has everything else, is loaded at the first call that concerns
 * Sago, if the program's MPI library is the one that the core was built for. */
#ifndef DROPIN_ENTRIES_H
#define DROPIN_ENTRIES_H

#include "entry_points.h"

/* The arguments of these calls are integers and pointers, at most six.  If each of them fills a register, a
 * function that passes on six words passes on any of the calls. */
typedef long dropin_word;
typedef dropin_word dropin_entry(dropin_word, dropin_word, dropin_word, dropin_word, dropin_word, dropin_word);
_Static_assert(sizeof(dropin_word) == sizeof(void *) && sizeof(dropin_word) >= sizeof(MPI_Offset),
               "the drop-in is for machines with 64-bit pointers");

/* MPI_Comm_split_type() takes this type to find who shares storage (paper 003).  MPICH has a number of its own for
 * it; an MPI library without one gets Sago's number. */
#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
#define DROPIN_NEIGHBORHOOD MPIX_COMM_TYPE_NEIGHBORHOOD
#else
#define DROPIN_NEIGHBORHOOD SAGO_COMM_TYPE_NEIGHBORHOOD
#endif

#define DROPIN_AS_ENTRY(function) ((dropin_entry *)(void (*)(void))(function))
#define DROPIN_WORDS dropin_word a, dropin_word b, dropin_word c, dropin_word d, dropin_word e, dropin_word f
/* For functions that call an entry, whose type differs on purpose. */
#define DROPIN_CALLS_ANY __attribute__((no_sanitize("undefined")))

/* Finds the function that would be called by this name if Sago were not there: a tool's, or the MPI library's;
 * NULL: there is none. */
typedef void *dropin_next(const char *name);

/* The one function that the core exports: fills in all entries. */
void sago_dropin_begin(dropin_next *next, dropin_entry *entries[DROPIN_ENTRY_COUNT]);

/* ---- Inside the core ---- */

void dropin_calls_begin(dropin_next *next, dropin_entry *entries[]);
/* For the calls in entry_points.c: `find` stores the functions that stand behind a call's two names. */
typedef void dropin_finder(dropin_next *next, const char *name, void *mpi, void *pmpi);
void dropin_find_file_calls(dropin_next *next, dropin_finder *find);
void dropin_find_waits(dropin_next *next, dropin_finder *find);
void dropin_fill_entries(dropin_entry *entries[]);

#endif
