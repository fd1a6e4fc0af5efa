/* GIO's hints: which of them must be equal on all ranks, what they mean to Sago, and what GIO_get_info() says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "gio_file.h"

static bool get(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1]) {
    int found = 0;
    if (info != MPI_INFO_NULL)
        (void)MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    return found;
}

/* A hash of the words of a key and its value: FNV-1a, cut so that it can be negated. */
static unsigned long mix(unsigned long sum, const char *text) {
    for (; *text; text++)
        sum = (sum ^ (unsigned char)*text) * 1099511628211u;
    return sum * 1099511628211u;
}

long gio_hints_sum(MPI_Info info) {
    static const char *const common[] = {"file_striping", "striping_factor", "striping_unit",     "start_iodevice",
                                         "cb_nodes",      "cb_buffer_size",  "overstriping_ratio"};
    char value[MPI_MAX_INFO_VAL + 1];
    unsigned long sum = 14695981039346656037u;
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (get(info, common[i], value))
            sum = mix(mix(sum, common[i]), value);
    return (long)(sum >> 2);
}

static MPI_Info copy_of(MPI_Info info) {
    MPI_Info copy = MPI_INFO_NULL;
    int code = info == MPI_INFO_NULL ? MPI_Info_create(&copy) : MPI_Info_dup(info, &copy);
    return code == MPI_SUCCESS ? copy : MPI_INFO_NULL;
}

static void set_unless_given(MPI_Info info, const char *key, const char *variable, const char *wanted) {
    char value[MPI_MAX_INFO_VAL + 1];
    if (!get(info, key, value) && !(variable && getenv(variable)))
        (void)MPI_Info_set(info, key, wanted);
}

/* Hints without local storage before the file and without subfiles, since PnetCDF also looks at files by itself.
 * Ranks meet at the beginning of a collective call, as GIO's do, and learn of their own errors only. */
MPI_Info gio_hints_for_sago(MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info own = copy_of(info);
    if (own == MPI_INFO_NULL)
        return own;
    (void)MPI_Info_set(own, "sago_tier", "global");
    (void)MPI_Info_set(own, "sago_subfiles", "auto");
    set_unless_given(own, "sago_agree", "SAGO_AGREE", "enter");
    if (!dropin_reports())
        set_unless_given(own, "sago_timing", "SAGO_TIMING", "off");
    if (get(own, "cb_read", value))
        set_unless_given(own, "romio_cb_read", NULL, value);
    if (get(own, "cb_write", value))
        set_unless_given(own, "romio_cb_write", NULL, value);
    return own;
}

/* A word that GIO knows, or ROMIO's hint of that meaning, or "automatic". */
static void put_switch(MPI_Info info, const char *key, const char *romio_key) {
    static const char *const words[] = {"enable", "disable", "automatic", "true", "false"};
    char value[MPI_MAX_INFO_VAL + 1] = "automatic";
    if (!get(info, key, value) && !get(info, romio_key, value))
        (void)strcpy(value, "automatic");
    bool known = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        known = known || strcasecmp(value, words[i]) == 0;
    (void)MPI_Info_set(info, key, known ? value : "automatic");
}

/* Defaults of GIO's that have no meaning here, but are asked for. */
static void put_defaults(MPI_Info info) {
    set_unless_given(info, "cb_buffer_size", NULL, "16777216");
    set_unless_given(info, "ind_rd_buffer_size", NULL, "4194304");
    set_unless_given(info, "ind_wr_buffer_size", NULL, "4194304");
    put_switch(info, "cb_read", "romio_cb_read");
    put_switch(info, "cb_write", "romio_cb_write");
    put_switch(info, "ds_read", "romio_ds_read");
    put_switch(info, "ds_write", "romio_ds_write");
}

/* The block size if the file system has no stripes, as in GIO. */
static void put_block(MPI_Info info, const char *path) {
    struct stat found;
    char value[32];
    long block = stat(path, &found) == 0 ? (long)found.st_blksize : 4096;
    (void)snprintf(value, sizeof value, "%ld", block);
    (void)MPI_Info_set(info, "striping_unit", value);
}

MPI_Info gio_hints_in_force(MPI_Info info, const char *path, sago_file *file) {
    MPI_Info told = copy_of(info);
    if (told == MPI_INFO_NULL)
        return told;
    put_defaults(told);
    put_block(told, path);
    (void)MPI_Info_set(told, "file_system_type", "UFS:");
    (void)sago_get_hints(file, told); /* stripes, too, if there are any */
    return told;
}
