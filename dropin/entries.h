/* The calls that Sago stands in front of, under both of their names, and the agreement between the two libraries
 * of the drop-in.
 *
 * libsago-mpiio.so (front/) is what is preloaded, or linked before MPI.  It needs no MPI library, since a preload
 * comes before the program has loaded its own; it passes calls on as words, whatever the shape of the handles in
 * them.  libsago-mpiio-core.so, all the rest, is loaded at the first call that is Sago's, if the program's MPI
 * library is the one it was built for. */
#ifndef DROPIN_ENTRIES_H
#define DROPIN_ENTRIES_H

#include "calls.h"
#include "waits.h"

/* All arguments of these calls are integers and pointers, at most six.  Where both fill a register each, whoever
 * passes on six words passes on any of the calls. */
typedef long dropin_word;
typedef dropin_word dropin_entry(dropin_word, dropin_word, dropin_word, dropin_word, dropin_word, dropin_word);
_Static_assert(sizeof(dropin_word) == sizeof(void *) && sizeof(dropin_word) >= sizeof(MPI_Offset),
               "the drop-in is for machines with 64-bit pointers");

/* Whoever uses DROPIN_ENTRIES defines DROPIN_ENTRY(name): of MPI_name and PMPI_name. */
#define DROPIN_FILE_ENTRY(name, params, args) DROPIN_ENTRY(File_##name)
#define DROPIN_WAIT_ENTRY(name, params, args) DROPIN_ENTRY(name)
#define DROPIN_ENTRIES                                                                                            \
    DROPIN_CALLS(DROPIN_FILE_ENTRY)                                                                               \
    DROPIN_WAITS(DROPIN_WAIT_ENTRY)                                                                               \
    DROPIN_ENTRY(Comm_split_type)                                                                                 \
    DROPIN_ENTRY(Finalize)                                                                                        \
    DROPIN_ENTRY(Abort)

enum {
#define DROPIN_ENTRY(name) DROPIN_MPI_##name, DROPIN_PMPI_##name,
    DROPIN_ENTRIES
#undef DROPIN_ENTRY
        DROPIN_ENTRY_COUNT
};

#define DROPIN_AS_ENTRY(function) ((dropin_entry *)(void (*)(void))(function))

/* What comes after Sago under this name, perhaps a tool; NULL: nothing. */
typedef void *dropin_next(const char *name);

/* The one function that the core exports: fills in all entries. */
void sago_dropin_begin(dropin_next *next, dropin_entry *entries[DROPIN_ENTRY_COUNT]);

/* ---- Inside the core ---- */

void dropin_calls_begin(dropin_next *next, dropin_entry *entries[]);
void dropin_waits_begin(dropin_next *next, dropin_entry *entries[]);

#endif
