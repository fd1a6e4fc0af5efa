/* The MPI library of this process: the program's, never one that Sago brings. */
#ifndef DROPIN_LIBRARY_H
#define DROPIN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mpi_library {
    void *handle; /* handle for dlsym(), which stays open */
} mpi_library;

/* The object with this symbol, for dlsym(); NULL: none. */
void *library_of(void *symbol);

/* Loads a library of Sago's from beside the object with this symbol, whatever the program's current folder is. */
void *library_beside(void *symbol, const char *name);

/* false: no MPI library is loaded. */
bool library_find(mpi_library *mpi);

/* A function of the library itself; NULL: it has none with that name. */
void *library_has(const mpi_library *mpi, const char *name);

/* Has the library the form that Sago was built for? */
bool library_is_own(const mpi_library *mpi);

/* Do the functions of this loaded library of Sago's call that MPI library? */
bool library_serves(const mpi_library *mpi, void *loaded);

/* Writes the library's name and version, in its own words. */
void library_name(const mpi_library *mpi, char *text, size_t capacity);

#endif
