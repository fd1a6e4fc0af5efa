#include "packed.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <sago/device.h>

#include "own_calls.h"

enum {
    MANY_PARTS = 32,      /* a type of so many types is packed */
    BYTES_A_PART = 8192,  /* parts longer than this are few enough to be taken apart */
    MOST_BYTES = 4 << 20, /* bytes of a copy */
};

/* ---- Which types ---- */

/* The number of types that a type was made from. */
#if MPI_VERSION >= 4
static MPI_Count parts_of(MPI_Datatype type) {
    MPI_Count integers, addresses, counts, types = 0;
    int combiner;
    (void)DROPIN_DONE(MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner));
    return types;
}
#else
static MPI_Count parts_of(MPI_Datatype type) {
    int integers, addresses, types = 0, combiner;
    (void)DROPIN_DONE(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    return types;
}
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seen_key = MPI_KEYVAL_INVALID;

static bool have_key(void) {
    if (seen_key == MPI_KEYVAL_INVALID)
        (void)DROPIN_DONE(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &seen_key, NULL));
    return seen_key != MPI_KEYVAL_INVALID;
}

/* Also if that cannot be found out. */
static bool is_seen_again(MPI_Datatype type) {
    void *value;
    int found = 0;
    (void)pthread_mutex_lock(&lock);
    bool again = !have_key() || !DROPIN_DONE(MPI_Type_get_attr(type, seen_key, &value, &found)) || found ||
                 !DROPIN_DONE(MPI_Type_set_attr(type, seen_key, NULL));
    (void)pthread_mutex_unlock(&lock);
    return again;
}

static bool is_worth_it(const void *buf, MPI_Count count, MPI_Datatype type, MPI_Count *bytes) {
    MPI_Count size = 0;
    if (count <= 0 || count > INT_MAX)
        return false;
    MPI_Count parts = parts_of(type);
    return parts >= MANY_PARTS && DROPIN_DONE(MPI_Type_size_x(type, &size)) &&
           !__builtin_mul_overflow(size, count, bytes) && *bytes > 0 && *bytes <= MOST_BYTES &&
           *bytes / BYTES_A_PART <= parts && !sago_is_device_memory(buf) && !is_seen_again(type);
}

/* ---- Copies ---- */

dropin_packed dropin_pack(const void *buf, MPI_Count count, MPI_Datatype type) {
    dropin_packed packed = {NULL, 0};
    int end = 0;
    if (!is_worth_it(buf, count, type, &packed.bytes))
        return packed;
    packed.copy = malloc((size_t)packed.bytes);
    if (packed.copy &&
        (!DROPIN_DONE(PMPI_Pack(buf, (int)count, type, packed.copy, (int)packed.bytes, &end, MPI_COMM_SELF)) ||
         end != packed.bytes)) /* as it would be if anything but the data were in it */
        dropin_packed_free(&packed);
    return packed;
}

bool dropin_unpack(const dropin_packed *packed, void *buf, MPI_Count count, MPI_Datatype type) {
    int from = 0;
    return DROPIN_DONE(PMPI_Unpack(packed->copy, (int)packed->bytes, &from, buf, (int)count, type, MPI_COMM_SELF));
}

void dropin_packed_free(dropin_packed *packed) {
    free(packed->copy);
    packed->copy = NULL;
}
