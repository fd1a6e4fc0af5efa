/* Functions of a shared library that other code has loaded into the process: a GPU's runtime, PMIx.  No library is
 * loaded for this, so such a library is never a dependency. */
#ifndef SAGOI_LOADED_H
#define SAGOI_LOADED_H

#include <stdbool.h>

typedef struct sagoi_wanted {
    const char *name;
    void *function; /* the pointer to be set */
} sagoi_wanted;

/* Sets all of `functions`, up to one without a name, from the first library of `names`, up to a NULL, that is
 * loaded; the library then stays loaded.  false: no library is loaded, or it lacks a function. */
bool sagoi_loaded_find(const char *const names[], const sagoi_wanted functions[]);

#endif
