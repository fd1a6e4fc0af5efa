/* Programs that GIO is linked to statically: no library can stand in front of it. */
#ifndef TOOLS_GIO_STATIC_H
#define TOOLS_GIO_STATIC_H

#include <stdbool.h>

/* The first program among the words of a command that has GIO in itself, or NULL. */
const char *gio_static_find(char *const *command);

#endif
