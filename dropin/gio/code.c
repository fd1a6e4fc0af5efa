/* Sago's status as GIO's code. */
#include "gio_file.h"

int gio_code(sago_status status) {
    switch (status) {
    case SAGO_OK:
        return GIO_NOERR;
    case SAGO_ERR_ARG:
    case SAGO_ERR_HANDLE:
    case SAGO_ERR_HINT:
        return GIO_EINVAL;
    case SAGO_ERR_MODE:
    case SAGO_ERR_READ_ONLY:
        return GIO_EPERM;
    case SAGO_ERR_EXTENTS:
        return GIO_EFILEVIEW;
    case SAGO_ERR_OVERFLOW:
        return GIO_EINTOVERFLOW;
    case SAGO_ERR_MISMATCH:
        return GIO_EMULTIDEFINE_FNC_ARGS;
    case SAGO_ERR_NO_FILE:
        return GIO_ENOENT;
    case SAGO_ERR_EXISTS:
        return GIO_EEXIST;
    case SAGO_ERR_ACCESS:
        return GIO_EACCESS;
    case SAGO_ERR_BAD_FILE:
        return GIO_EBAD_FILE;
    case SAGO_ERR_NO_SPACE:
        return GIO_ENO_SPACE;
    case SAGO_ERR_QUOTA:
        return GIO_EQUOTA;
    case SAGO_ERR_MEMORY:
        return GIO_ENOMEM;
    default:
        return GIO_EFILE;
    }
}
