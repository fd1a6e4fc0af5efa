#include "late.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "own_calls.h"

static bool is_of_one(MPI_Comm comm) {
    int inter = 1, size = 0;
    return DROPIN_DONE_ON(comm, MPI_Comm_test_inter(comm, &inter)) && !inter &&
           DROPIN_DONE_ON(comm, MPI_Comm_size(comm, &size)) && size == 1;
}

bool dropin_put_off(dropin_file *file, MPI_Comm comm, MPI_Info info) {
    bool known_to_be_refused = file->amode & MPI_MODE_SEQUENTIAL;
    if (known_to_be_refused || !is_of_one(comm) || !file->found || !S_ISREG(file->kind))
        return false;
    dropin_late *late = calloc(1, sizeof *late);
    if (!late)
        return false;
    late->info = MPI_INFO_NULL;
    if (info != MPI_INFO_NULL && !DROPIN_DONE(MPI_Info_dup(info, &late->info))) {
        free(late);
        return false;
    }
    file->late = late;
    return true;
}

void dropin_late_free(dropin_file *file) {
    dropin_late *late = file->late;
    file->late = NULL; /* from here on other threads see what became of the file */
    if (late && late->info != MPI_INFO_NULL)
        (void)DROPIN_DONE(MPI_Info_free(&late->info));
    free(late);
}
