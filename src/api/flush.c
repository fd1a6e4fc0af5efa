/* Deferred writes, for users: moving them by hand. */
#include "api/handle.h"
#include "defer/defer.h"

sago_status sago_flush_all(sago_file *file) {
    sago_status status = sagoi_check_collective(file);
    if (status)
        return sagoi_done("sago_flush_all", NULL, status);
    return sagoi_done("sago_flush_all", file->path, sagoi_flush(file, SAGO_FLUSH_ASKED, false));
}

sago_status sago_flush_own(sago_file *file) {
    sago_status status = sagoi_check_file(file);
    if (status)
        return sagoi_done("sago_flush_own", NULL, status);
    return sagoi_done("sago_flush_own", file->path, sagoi_flush_own(file));
}
