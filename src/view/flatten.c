/* Datatypes to patterns: the walk over the constructors.
 *
 * A type is flattened from the inside out: its part first, once, then the constructor's copies of it
 * (combine.c, array.c).  Struct is the only constructor with several parts and is here.  The depth of the
 * recursion is that of the type; whatever grows with counts is on the heap. */
#include "view/flatten.h"

#include <stddef.h>
#include <string.h>

#include "base/checked.h"
#include "view/combine.h"
#include "view/contents.h"

void sagoi_flat_cleanup(sagoi_flat *flat) {
    sagoi_pattern_cleanup(&flat->pattern);
    memset(flat, 0, sizeof *flat);
}

/* ---- Predefined types ---- */

/* The pairs of MAXLOC and MINLOC in C are the only predefined types that may have gaps. */
struct float_int {
    float value;
    int index;
};
struct double_int {
    double value;
    int index;
};
struct long_int {
    long value;
    int index;
};
struct short_int {
    short value;
    int index;
};
struct long_double_int {
    long double value;
    int index;
};

/* Where the index of a pair type stands, and how long the value is; false: not a pair. */
static bool find_pair(MPI_Datatype type, int64_t *value_size, int64_t *index_off) {
    const struct {
        MPI_Datatype type;
        size_t value_size, index_off;
    } pairs[] = {
        {MPI_FLOAT_INT, sizeof(float), offsetof(struct float_int, index)},
        {MPI_DOUBLE_INT, sizeof(double), offsetof(struct double_int, index)},
        {MPI_LONG_INT, sizeof(long), offsetof(struct long_int, index)},
        {MPI_SHORT_INT, sizeof(short), offsetof(struct short_int, index)},
        {MPI_LONG_DOUBLE_INT, sizeof(long double), offsetof(struct long_double_int, index)},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].type != type)
            continue;
        *value_size = (int64_t)pairs[i].value_size;
        *index_off = (int64_t)pairs[i].index_off;
        return true;
    }
    return false;
}

static sago_status flatten_predefined(MPI_Datatype type, sagoi_flat *flat) {
    int64_t value_size, index_off;
    if (flat->size != flat->extent && find_pair(type, &value_size, &index_off)) {
        sagoi_pattern_add(&flat->pattern, 0, value_size);
        sagoi_pattern_add(&flat->pattern, index_off, sizeof(int));
    } else {
        sagoi_pattern_add(&flat->pattern, 0, flat->size);
    }
    return sagoi_pattern_finish(&flat->pattern);
}

/* ---- Derived types ---- */

/* count, blocklengths[], displacements[]; a type for each block.  Neighbours of one type are flattened once (if
 * it is derived, MPICH gives its handle again, Open MPI a copy each time). */
static sago_status flatten_members(const sagoi_contents *contents, sagoi_flat *member, sagoi_flat *flat) {
    sagoi_pattern *whole = &flat->pattern;
    int64_t count = contents->values[0];
    const int64_t *lengths = contents->values + 1, *displacements = lengths + count;
    MPI_Datatype flattened = MPI_DATATYPE_NULL;
    for (int64_t i = 0; i < count && !whole->failed; i++) {
        if (lengths[i] == 0)
            continue;
        sago_status status = SAGO_OK;
        if (contents->types[i] != flattened) {
            sagoi_flat_cleanup(member);
            status = sagoi_flatten(contents->types[i], contents->budget, member);
            flattened = contents->types[i];
            flat->numbers += member->numbers;
        }
        if (status != SAGO_OK)
            return status;
        sagoi_pattern_add_repeated(whole, &member->pattern, displacements[i], lengths[i], member->extent);
    }
    return sagoi_pattern_finish(whole);
}

/* Same data in the same place as the part? */
static bool is_wrapper(const sagoi_contents *contents) {
    return contents->combiner == MPI_COMBINER_DUP || contents->combiner == MPI_COMBINER_RESIZED ||
           (contents->combiner == MPI_COMBINER_CONTIGUOUS && contents->values[0] == 1);
}

static sago_status flatten_derived(const sagoi_contents *contents, sagoi_flat *flat) {
    sagoi_flat part = {0};
    sago_status status;
    if (contents->combiner == MPI_COMBINER_STRUCT) {
        status = flatten_members(contents, &part, flat);
        sagoi_flat_cleanup(&part);
        return status;
    }
    if (contents->ntypes != 1)
        return sagoi_fail(SAGO_ERR_TYPE, "the datatype has an unknown combiner, %d", contents->combiner);
    status = sagoi_flatten(contents->types[0], contents->budget, &part);
    if (status != SAGO_OK)
        return status;
    flat->numbers += part.numbers;
    if (is_wrapper(contents)) {
        flat->pattern = part.pattern;
        return SAGO_OK;
    }
    status = sagoi_combine(contents, &part, &flat->pattern);
    sagoi_flat_cleanup(&part);
    return status;
}

/* Fills the pattern of a type whose size is known. */
static sago_status flatten_by_combiner(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat) {
    sagoi_contents contents;
    sago_status status = sagoi_contents_init(&contents, type, budget);
    if (status != SAGO_OK)
        return status;
    flat->numbers = contents.nvalues;
    if (sagoi_combiner_predefined(contents.combiner))
        status = flatten_predefined(type, flat);
    else
        status = flatten_derived(&contents, flat);
    sagoi_contents_cleanup(&contents);
    return status;
}

sago_status sagoi_flatten(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat) {
    memset(flat, 0, sizeof *flat);
    if (type == MPI_DATATYPE_NULL)
        return sagoi_fail(SAGO_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
    sagoi_pattern_init(&flat->pattern, budget);
    sago_status status = sagoi_type_extent(type, &flat->lower_bound, &flat->extent);
    if (status == SAGO_OK)
        status = sagoi_type_size(type, &flat->size);
    if (status == SAGO_OK && flat->size == 0) /* whatever is inside need not be looked at */
        status = sagoi_pattern_finish(&flat->pattern);
    else if (status == SAGO_OK)
        status = flatten_by_combiner(type, budget, flat);
    if (status == SAGO_OK && flat->pattern.bytes != flat->size)
        status = sagoi_fail(SAGO_ERR_TYPE, "the parts of a datatype of %lld bytes, as MPI says, make %lld bytes",
                            (long long)flat->size, (long long)flat->pattern.bytes);
    if (status != SAGO_OK)
        sagoi_flat_cleanup(flat);
    return status;
}
