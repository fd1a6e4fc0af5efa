/* Checks of types for elements of arrays. */
#include "mpi/types.h"

#include <stdbool.h>

#include "base/again.h"
#include "mpi/quiet.h"

sago_status sagoi_element_bytes(MPI_Datatype type, int64_t *bytes) {
    MPI_Count size = 0, low = 0, extent = 0;
    if (type == MPI_DATATYPE_NULL)
        return sagoi_fail(SAGO_ERR_TYPE, "the element type is MPI_DATATYPE_NULL");
    sagoi_quiet_begin(MPI_COMM_NULL);
    bool asked =
        SAGOI_DONE(MPI_Type_size_x(type, &size)) && SAGOI_DONE(MPI_Type_get_extent_x(type, &low, &extent));
    sagoi_quiet_end(MPI_COMM_NULL);
    if (!asked)
        return sagoi_fail(SAGO_ERR_TYPE, "the element type cannot be used");
    if (size < 1 || low != 0 || extent != size)
        return sagoi_fail(SAGO_ERR_TYPE, "the element type has holes or no bytes: %lld bytes in %lld",
                          (long long)size, (long long)extent);
    *bytes = size;
    return SAGO_OK;
}
