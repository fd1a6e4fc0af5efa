/* Reading constructors back from MPI.  Apart from those for attributes, all of the folder's MPI calls are here.
 *
 * MPI gives the arguments in up to three arrays: of int, of MPI_Aint and, for types made by the large-count
 * calls of MPI 4, of MPI_Count.  One after another, the arrays are always the arguments in the order of the C
 * binding, so the code that follows need not know which call made the type. */
#include "view/contents.h"

#include <limits.h>
#include <string.h>

#include "base/checked.h"

_Static_assert(sizeof(MPI_Aint) == sizeof(int64_t), "addresses are read into int64_t");
_Static_assert(sizeof(MPI_Count) == sizeof(int64_t), "counts are read into int64_t");

/* Combiners that were removed: Open MPI keeps their values under other names. */
#if defined(OPEN_MPI) && !OMPI_ENABLE_MPI1_COMPAT
enum {
    HVECTOR_INTEGER = OMPI_WAS_MPI_COMBINER_HVECTOR_INTEGER,
    HINDEXED_INTEGER = OMPI_WAS_MPI_COMBINER_HINDEXED_INTEGER,
    STRUCT_INTEGER = OMPI_WAS_MPI_COMBINER_STRUCT_INTEGER
};
#else
enum {
    HVECTOR_INTEGER = MPI_COMBINER_HVECTOR_INTEGER,
    HINDEXED_INTEGER = MPI_COMBINER_HINDEXED_INTEGER,
    STRUCT_INTEGER = MPI_COMBINER_STRUCT_INTEGER
};
#endif

typedef struct envelope {
    int combiner;
    int64_t integers, addresses, counts, types; /* number of each */
} envelope;

typedef struct arrays {
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *counts;
    MPI_Datatype *types;
} arrays;

#if MPI_VERSION >= 4
/* Reads the envelope.  The large-count calls read types of both kinds; the others fail for a type that was made by
 * a large-count call. */
static int read_envelope(MPI_Datatype type, envelope *env) {
    MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
    int combiner = MPI_COMBINER_NAMED;
    int code = MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
    *env = (envelope){combiner, integers, addresses, counts, types};
    return code;
}

static int read_arrays(MPI_Datatype type, const envelope *env, const arrays *to) {
    return MPI_Type_get_contents_c(type, env->integers, env->addresses, env->counts, env->types, to->integers,
                                   to->addresses, to->counts, to->types);
}
#else
static int read_envelope(MPI_Datatype type, envelope *env) {
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    int code = MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    *env = (envelope){combiner, integers, addresses, 0, types};
    return code;
}

static int read_arrays(MPI_Datatype type, const envelope *env, const arrays *to) {
    return MPI_Type_get_contents(type, (int)env->integers, (int)env->addresses, (int)env->types, to->integers,
                                 to->addresses, to->types);
}
#endif

static sago_status fail_mpi(int code, const char *call) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    (void)MPI_Error_string(code, text, &length);
    return sagoi_fail(SAGO_ERR_MPI, "%s failed: %s", call, text);
}

static int plain_combiner(int combiner) {
    switch (combiner) {
    case HVECTOR_INTEGER:
        return MPI_COMBINER_HVECTOR;
    case HINDEXED_INTEGER:
        return MPI_COMBINER_HINDEXED;
    case STRUCT_INTEGER:
        return MPI_COMBINER_STRUCT;
    default:
        return combiner;
    }
}

bool sagoi_combiner_predefined(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* The number of ints that precede the counts.  Only arrays made by large-count calls have both, and their counts
 * are what the ints after ndims are in the small call. */
static int64_t integers_before_counts(const envelope *env) {
    if (env->combiner == MPI_COMBINER_SUBARRAY)
        return sagoi_min(1, env->integers);
    if (env->combiner == MPI_COMBINER_DARRAY)
        return sagoi_min(3, env->integers);
    return 0;
}

/* Allocates and fills values and types. */
static sago_status read_contents(sagoi_contents *contents, MPI_Datatype type, const envelope *env) {
    int64_t *values = contents->values, before = integers_before_counts(env);
    int64_t size = env->integers * (int64_t)sizeof(int);
    int few[SAGOI_FEW_VALUES];
    bool fits = env->integers <= SAGOI_FEW_VALUES;
    int *integers = fits ? few : sagoi_budget_alloc(contents->budget, size);
    if (!integers)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the contents of a datatype");
    arrays to = {.integers = integers,
                 .addresses = (MPI_Aint *)(values + env->integers + env->counts),
                 .counts = (MPI_Count *)(values + before),
                 .types = contents->types};
    int code = read_arrays(type, env, &to);
    for (int64_t i = 0; i < env->integers && code == MPI_SUCCESS; i++)
        values[i < before ? i : i + env->counts] = integers[i];
    if (!fits)
        sagoi_budget_free(contents->budget, integers);
    return code == MPI_SUCCESS ? SAGO_OK : fail_mpi(code, "MPI_Type_get_contents");
}

static sago_status allocate(sagoi_contents *contents, const envelope *env) {
    contents->nvalues = env->integers + env->counts + env->addresses;
    contents->values = contents->nvalues <= SAGOI_FEW_VALUES
                           ? contents->few_values
                           : sagoi_budget_alloc(contents->budget, contents->nvalues * (int64_t)sizeof(int64_t));
    contents->types = env->types <= 1
                          ? &contents->one_type
                          : sagoi_budget_alloc(contents->budget, env->types * (int64_t)sizeof(MPI_Datatype));
    contents->ntypes = contents->types ? env->types : 0;
    for (int64_t i = 0; i < contents->ntypes; i++)
        contents->types[i] = MPI_DATATYPE_NULL;
    if (!contents->values || !contents->types)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the contents of a datatype");
    return SAGO_OK;
}

/* There may be very many contents, so members that are not used are not cleared. */
static void forget(sagoi_contents *contents) {
    contents->nvalues = contents->ntypes = 0;
    contents->values = NULL;
    contents->types = NULL;
}

sago_status sagoi_contents_init(sagoi_contents *contents, MPI_Datatype type, sagoi_budget *budget) {
    forget(contents);
    contents->budget = budget;
    envelope env;
    int code = read_envelope(type, &env);
    if (code != MPI_SUCCESS)
        return fail_mpi(code, "MPI_Type_get_envelope");
    contents->combiner = plain_combiner(env.combiner);
    if (sagoi_combiner_predefined(env.combiner))
        return SAGO_OK;
    sago_status status = allocate(contents, &env);
    if (status == SAGO_OK)
        status = read_contents(contents, type, &env);
    if (status != SAGO_OK)
        sagoi_contents_cleanup(contents);
    return status;
}

/* A failure is not reported: nothing is lost but a handle. */
static void release_handle(MPI_Datatype type) {
    if (type != MPI_DATATYPE_NULL && sagoi_type_derived(type))
        (void)MPI_Type_free(&type);
}

void sagoi_contents_drop(sagoi_contents *contents, int64_t index, bool derived) {
    if (derived)
        (void)MPI_Type_free(&contents->types[index]);
    contents->types[index] = MPI_DATATYPE_NULL;
}

void sagoi_contents_cleanup(sagoi_contents *contents) {
    for (int64_t i = 0; i < contents->ntypes; i++)
        release_handle(contents->types[i]);
    if (contents->types != &contents->one_type)
        sagoi_budget_free(contents->budget, contents->types);
    if (contents->values != contents->few_values)
        sagoi_budget_free(contents->budget, contents->values);
    forget(contents);
}

sago_status sagoi_type_size(MPI_Datatype type, int64_t *size) {
    MPI_Count bytes;
    int code = MPI_Type_size_x(type, &bytes);
    if (code != MPI_SUCCESS)
        return fail_mpi(code, "MPI_Type_size_x");
    if (bytes < 0) /* MPI_UNDEFINED */
        return sagoi_fail(SAGO_ERR_OVERFLOW, "the size of a datatype does not fit 63 bits");
    *size = bytes;
    return SAGO_OK;
}

sago_status sagoi_type_extent(MPI_Datatype type, int64_t *lower_bound, int64_t *extent) {
    MPI_Count low, distance;
    int code = MPI_Type_get_extent_x(type, &low, &distance);
    if (code != MPI_SUCCESS)
        return fail_mpi(code, "MPI_Type_get_extent_x");
    *lower_bound = low;
    *extent = distance;
    return SAGO_OK;
}

sago_status sagoi_type_true_extent(MPI_Datatype type, int64_t *low, int64_t *span) {
    MPI_Count first, distance;
    int code = MPI_Type_get_true_extent_x(type, &first, &distance);
    if (code != MPI_SUCCESS)
        return fail_mpi(code, "MPI_Type_get_true_extent_x");
    *low = first;
    *span = distance;
    return SAGO_OK;
}

int64_t sagoi_type_parts(MPI_Datatype type, int64_t *numbers) {
    envelope env;
    if (read_envelope(type, &env) != MPI_SUCCESS || plain_combiner(env.combiner) != MPI_COMBINER_STRUCT)
        return 0;
    *numbers = env.integers + env.addresses + env.counts;
    return env.types;
}

bool sagoi_type_commit(MPI_Datatype type) { return MPI_Type_commit(&type) == MPI_SUCCESS; }

/* The address for MPI may lie outside of any buffer, as with MPI_BOTTOM. */
bool sagoi_type_pack(MPI_Datatype type, const void *first, int64_t low, void *packed, int64_t size) {
    int position = 0;
    void *origin = (void *)((uintptr_t)first - (uintptr_t)low);
    return size <= INT_MAX && origin != MPI_BOTTOM &&
           MPI_Pack(origin, 1, type, packed, (int)size, &position, MPI_COMM_SELF) == MPI_SUCCESS &&
           position == size;
}

bool sagoi_type_predefined(MPI_Datatype type) {
    envelope env;
    return read_envelope(type, &env) == MPI_SUCCESS && sagoi_combiner_predefined(env.combiner);
}

bool sagoi_type_derived(MPI_Datatype type) {
    envelope env;
    return read_envelope(type, &env) == MPI_SUCCESS && !sagoi_combiner_predefined(env.combiner);
}
