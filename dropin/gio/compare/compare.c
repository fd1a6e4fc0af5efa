/* Compiles if this header and GIO's say the same (cmake/gio.cmake): a macro with another value is a warning, which
 * is an error there, and a function or type of another kind is one anyway. */
#include SAGO_GIO_HEADER /* GIO's own */
#undef H_GIO
#include "../gio.h"
