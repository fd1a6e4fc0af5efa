/* Functions of a shared library that somebody else has loaded into the process: a GPU's runtime, PMIx.  Nothing is
 * loaded that is not there, so such a library is never a dependency. */
#ifndef SAGOI_LOADED_H
#define SAGOI_LOADED_H

#include <stdbool.h>

typedef struct sagoi_wanted {
    const char *name;
    void *function; /* the pointer to be set */
} sagoi_wanted;

/* Sets all of `functions`, up to one without a name, from the first library of `names`, up to a NULL, that is
 * there; it then stays loaded.  False: there is no such library, or it lacks one of them. */
bool sagoi_loaded_find(const char *const names[], const sagoi_wanted functions[]);

#endif
