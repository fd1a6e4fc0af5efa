/* Programs that GIO is linked to statically, so that no library can stand before it. */
#ifndef TOOLS_GIO_STATIC_H
#define TOOLS_GIO_STATIC_H

/* The first program among the words of a command that has GIO in it; NULL: there is none. */
const char *gio_static_find(char *const *command);

#endif
