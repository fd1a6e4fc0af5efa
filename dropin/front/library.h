/* The MPI library of this process: the program's, never one that Sago brings. */
#ifndef DROPIN_LIBRARY_H
#define DROPIN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mpi_library {
    void *handle; /* for dlsym(); kept open */
} mpi_library;

/* The object that a symbol is in, for dlsym(); NULL: none. */
void *library_of(void *symbol);

/* A library of Sago's, loaded from beside the one that a symbol is in, whatever folder the program is in by now.
 */
void *library_beside(void *symbol, const char *name);

/* False: none is loaded. */
bool library_find(mpi_library *mpi);

/* A function of its own; NULL: it has none of that name. */
void *library_has(const mpi_library *mpi, const char *name);

/* Has it the shape that Sago was built for? */
bool library_is_own(const mpi_library *mpi);

/* Is it what the functions of this loaded library of Sago's call? */
bool library_serves(const mpi_library *mpi, void *loaded);

/* Its name and version, in its own words. */
void library_name(const mpi_library *mpi, char *text, size_t capacity);

#endif
