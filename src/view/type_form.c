#include "view/type_form.h"

#include <pthread.h>
#include <stdatomic.h>

#include "mpi/quiet.h"
#include "view/contents.h"

/* Bytes of forms that are kept with a type, about as many as MPI has for it. */
enum { MOST_CACHED = 1 << 20 };

/* MPI gives this handle out once in a process; it lives as long as MPI does. */
static _Atomic int keyval = MPI_KEYVAL_INVALID;
/* Guards the keyval, and keeping the first form with a type: several threads may flatten one type at a time. */
static pthread_mutex_t keep_lock = PTHREAD_MUTEX_INITIALIZER;

void sagoi_type_form_release(sagoi_type_form *form) {
    if (atomic_fetch_sub(&form->users, 1) > 1)
        return;
    sagoi_budget *budget = form->flat.pattern.budget;
    sagoi_flat_cleanup(&form->flat);
    sagoi_budget_free(budget, form);
}

static int on_type_free(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)extra;
    sagoi_type_form_release(value);
    return MPI_SUCCESS;
}

/* Called with the lock. */
static bool have_keyval(void) {
    int created = MPI_KEYVAL_INVALID;
    if (keyval == MPI_KEYVAL_INVALID &&
        MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, on_type_free, &created, NULL) == MPI_SUCCESS)
        keyval = created;
    return keyval != MPI_KEYVAL_INVALID;
}

/* What is kept with a type stays until the type is freed; it is never replaced. */
static sagoi_type_form *find(MPI_Datatype type) {
    void *value = NULL;
    int found = 0;
    if (type == MPI_DATATYPE_NULL || keyval == MPI_KEYVAL_INVALID ||
        MPI_Type_get_attr(type, keyval, &value, &found) != MPI_SUCCESS || !found)
        return NULL;
    sagoi_type_form *form = value;
    /* Synchronises with the thread that last used the form. */
    (void)atomic_load_explicit(&form->users, memory_order_acquire);
    return form;
}

static int64_t bytes_of(const sagoi_type_form *form) {
    const sagoi_pattern *pattern = &form->flat.pattern;
    return (int64_t)sizeof *form + pattern->pieces_capacity * (int64_t)sizeof *pattern->pieces +
           pattern->runs_capacity * (int64_t)sizeof *pattern->runs +
           pattern->nloops * (int64_t)sizeof *pattern->loops;
}

int64_t sagoi_type_form_bytes(const sagoi_type_form *form) {
    return form->flat.pattern.budget ? 0 : bytes_of(form);
}

/* From now on the form does not belong to the file, which may be closed before the type is freed.  All of this is
 * done before other threads can find the form. */
static void attach(MPI_Datatype type, sagoi_type_form *form, int64_t bytes) {
    sagoi_budget *budget = form->flat.pattern.budget;
    form->flat.pattern.budget = NULL;
    atomic_fetch_add(&form->users, 1);
    if (MPI_Type_set_attr(type, keyval, form) == MPI_SUCCESS) {
        sagoi_budget_count(budget, -bytes);
        return;
    }
    atomic_fetch_sub(&form->users, 1);
    form->flat.pattern.budget = budget;
}

/* Where another thread was first, this form stays its maker's own: a caller that has looked the other form up may
 * use it as long as the type lives. */
static void keep_with(MPI_Datatype type, sagoi_type_form *form) {
    int64_t bytes = bytes_of(form);
    if (bytes > MOST_CACHED)
        return;
    (void)pthread_mutex_lock(&keep_lock);
    if (have_keyval() && !find(type))
        attach(type, form, bytes);
    (void)pthread_mutex_unlock(&keep_lock);
}

static bool is_plain(const sagoi_flat *flat) {
    return sagoi_pattern_contiguous(&flat->pattern) && flat->pattern.low == 0 && flat->size == flat->extent;
}

static sago_status make(MPI_Datatype type, int64_t least, sagoi_budget *budget, sagoi_type_form **form) {
    sagoi_type_form *made = sagoi_budget_alloc(budget, sizeof *made);
    if (!made)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for what a datatype looks like");
    sago_status status = sagoi_flatten(type, budget, &made->flat);
    if (status) {
        sagoi_budget_free(budget, made);
        return status;
    }
    made->plain_size = is_plain(&made->flat) ? made->flat.size : 0;
    atomic_init(&made->users, 1);
    if (made->flat.numbers >= least)
        keep_with(type, made);
    *form = made;
    return SAGO_OK;
}

sago_status sagoi_type_form_get(MPI_Datatype type, int64_t least, sagoi_budget *budget, sagoi_type_form **form) {
    sago_status status = SAGO_OK;
    sagoi_quiet_begin(MPI_COMM_NULL);
    *form = find(type);
    if (*form)
        atomic_fetch_add(&(*form)->users, 1);
    else
        status = make(type, least, budget, form);
    sagoi_quiet_end(MPI_COMM_NULL);
    return status;
}

static int64_t predefined_size(MPI_Datatype type) {
    int64_t size, lower_bound, extent;
    if (type == MPI_DATATYPE_NULL || !sagoi_type_predefined(type) || sagoi_type_size(type, &size) ||
        sagoi_type_extent(type, &lower_bound, &extent))
        return 0;
    return lower_bound == 0 && extent == size ? size : 0;
}

int64_t sagoi_look_up(MPI_Datatype type, const sagoi_type_form **form) {
    *form = NULL;
    int64_t size = sagoi_common_size(type);
    if (size > 0)
        return size;
    sagoi_quiet_begin(MPI_COMM_NULL);
    *form = find(type);
    size = *form ? (*form)->plain_size : predefined_size(type);
    sagoi_quiet_end(MPI_COMM_NULL);
    return size;
}

int64_t sagoi_plain_size(MPI_Datatype type) {
    const sagoi_type_form *form;
    return sagoi_look_up(type, &form);
}
