#include "view/known.h"

#include <pthread.h>
#include <stdatomic.h>

#include "view/contents.h"

enum { MOST_KEPT = 1 << 20 }; /* bytes kept with a type: about what MPI keeps itself */

/* A handle that MPI gives out once a process; it lives as long as MPI does. */
static _Atomic int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t keyval_lock = PTHREAD_MUTEX_INITIALIZER;

SAGOI_OFTEN void sagoi_known_release(sagoi_known *known) {
    if (atomic_fetch_sub(&known->users, 1) > 1)
        return;
    sagoi_budget *budget = known->flat.pattern.budget;
    sagoi_flat_cleanup(&known->flat);
    sagoi_budget_free(budget, known, sizeof *known);
}

static int on_type_free(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)extra;
    sagoi_known_release(value);
    return MPI_SUCCESS;
}

static bool have_keyval(void) {
    if (keyval != MPI_KEYVAL_INVALID)
        return true;
    int created = MPI_KEYVAL_INVALID;
    (void)pthread_mutex_lock(&keyval_lock);
    if (keyval == MPI_KEYVAL_INVALID &&
        MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, on_type_free, &created, NULL) == MPI_SUCCESS)
        keyval = created;
    (void)pthread_mutex_unlock(&keyval_lock);
    return keyval != MPI_KEYVAL_INVALID;
}

SAGOI_OFTEN static sagoi_known *find(MPI_Datatype type) {
    void *value = NULL;
    int found = 0;
    if (type == MPI_DATATYPE_NULL || keyval == MPI_KEYVAL_INVALID ||
        MPI_Type_get_attr(type, keyval, &value, &found) != MPI_SUCCESS || !found)
        return NULL;
    return value;
}

static int64_t bytes_of(const sagoi_known *known) {
    const sagoi_pattern *pattern = &known->flat.pattern;
    return (int64_t)sizeof *known + pattern->pieces_capacity * (int64_t)sizeof *pattern->pieces +
           pattern->runs_capacity * (int64_t)sizeof *pattern->runs +
           pattern->nloops * (int64_t)sizeof *pattern->loops;
}

int64_t sagoi_known_bytes(const sagoi_known *known) { return known->flat.pattern.budget ? 0 : bytes_of(known); }

/* From now on it is no longer the file's, which may be closed before the type is freed. */
static void keep_with(MPI_Datatype type, sagoi_known *known) {
    int64_t bytes = bytes_of(known);
    if (bytes > MOST_KEPT || !have_keyval())
        return;
    atomic_fetch_add(&known->users, 1); /* before: a deletion may come at once */
    if (MPI_Type_set_attr(type, keyval, known) != MPI_SUCCESS) {
        atomic_fetch_sub(&known->users, 1);
        return;
    }
    sagoi_budget_count(known->flat.pattern.budget, -bytes);
    known->flat.pattern.budget = NULL;
}

static bool is_plain(const sagoi_flat *flat) {
    return sagoi_pattern_contiguous(&flat->pattern) && flat->pattern.low == 0 && flat->size == flat->extent;
}

SAGOI_OFTEN sago_status sagoi_known_get(MPI_Datatype type, int64_t least, sagoi_budget *budget,
                                        sagoi_known **known) {
    *known = find(type);
    if (*known) {
        atomic_fetch_add(&(*known)->users, 1);
        return SAGO_OK;
    }
    sagoi_known *made = sagoi_budget_alloc(budget, sizeof *made);
    if (!made)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for what a datatype looks like");
    sago_status status = sagoi_flatten(type, budget, &made->flat);
    if (status) {
        sagoi_budget_free(budget, made, sizeof *made);
        return status;
    }
    made->plain_size = is_plain(&made->flat) ? made->flat.size : 0;
    atomic_init(&made->users, 1);
    if (made->flat.numbers >= least)
        keep_with(type, made);
    *known = made;
    return SAGO_OK;
}

static int64_t predefined_size(MPI_Datatype type) {
    int64_t size, lower_bound, extent;
    if (type == MPI_DATATYPE_NULL || !sagoi_type_predefined(type) || sagoi_type_size(type, &size) ||
        sagoi_type_extent(type, &lower_bound, &extent))
        return 0;
    return lower_bound == 0 && extent == size ? size : 0;
}

SAGOI_OFTEN int64_t sagoi_look_up(MPI_Datatype type, const sagoi_known **known) {
    *known = NULL;
    if (type == MPI_BYTE || type == MPI_CHAR)
        return 1;
    if (type == MPI_DOUBLE)
        return sizeof(double);
    if (type == MPI_INT)
        return sizeof(int);
    if (type == MPI_FLOAT)
        return sizeof(float);
    *known = find(type);
    return *known ? (*known)->plain_size : predefined_size(type);
}

int64_t sagoi_plain_size(MPI_Datatype type) {
    const sagoi_known *known;
    return sagoi_look_up(type, &known);
}
