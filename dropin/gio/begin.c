/* Where the front (front/gio_front.c) enters the core. */
#include "gio_file.h"

const gio_calls *sago_gio_begin(void) {
    static const gio_calls calls = {gio_open,     gio_close, gio_sync,      gio_delete, gio_set_size, gio_get_size,
                                    gio_get_info, gio_write, gio_write_all, gio_read,   gio_read_all};
    return &calls;
}
