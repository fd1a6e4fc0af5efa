/* sago_get_hints(): the hints in force. */
#include <stdio.h>
#include <string.h>

#include "api/handle.h"
#include "mpi/quiet.h"

static sago_status put_hints(const sagoi_hints *hints, MPI_Info info) {
    int64_t rows = 0;
    const sagoi_hint_row *row = sagoi_hint_table(&rows);
    for (; rows > 0; rows--, row++) {
        char value[SAGOI_HINT_TEXT_MAX];
        if (strncmp(row->name, "sago_", 5) != 0)
            continue; /* The MPI library answers for MPI's own names. */
        sagoi_hint_format(hints, row, value, sizeof value);
        if (MPI_Info_set(info, row->name, value) != MPI_SUCCESS)
            return sagoi_fail(SAGO_ERR_MPI, "MPI_Info_set of %s failed", row->name);
    }
    return SAGO_OK;
}

/* MPI's own names for stripes, with what the file system says; nothing where the file system says nothing. */
static sago_status put_stripes(const sagoi_layout *layout, MPI_Info info) {
    const char *const names[] = {"striping_unit", "striping_factor"};
    const int64_t values[] = {layout->stripe_unit, layout->stripe_count};
    for (int i = 0; i < 2; i++) {
        char value[32];
        (void)snprintf(value, sizeof value, "%lld", (long long)values[i]);
        if (values[i] > 0 && MPI_Info_set(info, names[i], value) != MPI_SUCCESS)
            return sagoi_fail(SAGO_ERR_MPI, "MPI_Info_set of %s failed", names[i]);
    }
    return SAGO_OK;
}

sago_status sago_get_hints(sago_file *file, MPI_Info hints) {
    sago_status status = sagoi_check_file(file);
    if (!status && hints == MPI_INFO_NULL)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the hints: MPI_INFO_NULL");
    sagoi_quiet_begin(MPI_COMM_NULL);
    if (!status)
        status = put_hints(&file->hints, hints);
    if (!status)
        status = put_stripes(sagoi_store_layout(file->store), hints);
    sagoi_quiet_end(MPI_COMM_NULL);
    return sagoi_done("sago_get_hints", NULL, status);
}
