/* Datatypes to patterns: the walk over the constructors.
 *
 * A type is flattened from the inside out: its part first, once, then the constructor's copies of it
 * (train.c, combine.c, array.c).  Struct is the only constructor with several parts and is here.  The depth of the
 * recursion is that of the type; whatever grows with counts is on the heap. */
#include "view/flatten.h"

#include <stddef.h>
#include <string.h>

#include "base/checked.h"
#include "view/combine.h"
#include "view/contents.h"
#include "view/probe.h"
#include "view/train.h"

void sagoi_flat_cleanup(sagoi_flat *flat) {
    sagoi_pattern_cleanup(&flat->pattern);
    memset(flat, 0, sizeof *flat);
}

/* ---- Pairs ---- */

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

/* ---- Parts ---- */

/* A type, while the one around it is put together. */
typedef struct part {
    sagoi_flat flat;   /* without a pattern while `lone` */
    sagoi_train train; /* if `lone` */
    bool lone;         /* one train, which needs no memory */
    bool predefined;
} part;

/* Gives it a pattern, if it has none yet. */
static sago_status part_spell_out(part *one) {
    const sagoi_train *train = &one->train;
    if (!one->lone)
        return SAGO_OK;
    one->lone = false;
    sagoi_pattern_add_train(&one->flat.pattern, train->off, train->len, train->count, train->stride);
    return sagoi_pattern_finish(&one->flat.pattern);
}

static sago_status flatten_part(MPI_Datatype type, sagoi_budget *budget, part *one) SAGOI_CHECKED;

/* A part of a type whose contents were read; a handle that is not to be freed is not looked at again. */
static sago_status flatten_inside(const sagoi_contents *contents, int64_t index, part *inside) {
    sago_status status = flatten_part(contents->types[index], contents->budget, inside);
    if (status == SAGO_OK && inside->predefined)
        contents->types[index] = MPI_DATATYPE_NULL;
    return status;
}

/* ---- Predefined types ---- */

static sago_status flatten_predefined(MPI_Datatype type, part *one) {
    sagoi_flat *flat = &one->flat;
    int64_t value_size, index_off;
    one->predefined = true;
    if (flat->size == flat->extent || !find_pair(type, &value_size, &index_off)) {
        one->lone = true;
        one->train = (sagoi_train){.len = flat->size, .count = 1, .stride = flat->size};
        return SAGO_OK;
    }
    sagoi_pattern_add(&flat->pattern, 0, value_size);
    sagoi_pattern_add(&flat->pattern, index_off, sizeof(int));
    return sagoi_pattern_finish(&flat->pattern);
}

/* ---- Derived types ---- */

/* `length` parts from `off` on. */
static sago_status add_member(sagoi_pattern *whole, part *member, int64_t off, int64_t length) {
    sagoi_train train = member->train;
    if (member->lone && sagoi_train_repeat(&train, length, member->flat.extent) && sagoi_train_move(&train, off)) {
        sagoi_pattern_add_train(whole, train.off, train.len, train.count, train.stride);
        return SAGO_OK;
    }
    sago_status status = part_spell_out(member);
    if (status == SAGO_OK)
        sagoi_pattern_add_repeated(whole, &member->flat.pattern, off, length, member->flat.extent);
    return status;
}

/* count, blocklengths[], displacements[]; a type for each block.  Neighbours of one type are flattened once (if
 * it is derived, MPICH gives its handle again, Open MPI a copy each time). */
static sago_status flatten_members(const sagoi_contents *contents, part *member, sagoi_flat *flat) {
    sagoi_pattern *whole = &flat->pattern;
    int64_t count = contents->values[0];
    const int64_t *lengths = contents->values + 1, *displacements = lengths + count;
    MPI_Datatype flattened = MPI_DATATYPE_NULL;
    for (int64_t i = 0; i < count && !whole->failed; i++) {
        sago_status status = SAGO_OK;
        if (lengths[i] == 0)
            continue;
        if (contents->types[i] != flattened) {
            flattened = contents->types[i];
            sagoi_flat_cleanup(&member->flat);
            status = flatten_inside(contents, i, member);
            flat->numbers += member->flat.numbers;
        }
        if (status == SAGO_OK)
            status = add_member(whole, member, displacements[i], lengths[i]);
        if (status != SAGO_OK)
            return status;
    }
    return sagoi_pattern_finish(whole);
}

/* Same data in the same place as the part? */
static bool is_wrapper(const sagoi_contents *contents) {
    return contents->combiner == MPI_COMBINER_DUP || contents->combiner == MPI_COMBINER_RESIZED ||
           (contents->combiner == MPI_COMBINER_CONTIGUOUS && contents->values[0] == 1);
}

/* Of a type with one part, which is taken over. */
static sago_status flatten_around(const sagoi_contents *contents, part *inside, part *one) {
    one->flat.numbers += inside->flat.numbers;
    one->train = inside->train;
    one->lone =
        inside->lone && (is_wrapper(contents) || sagoi_combine_train(contents, inside->flat.extent, &one->train));
    if (one->lone)
        return SAGO_OK;
    if (is_wrapper(contents)) {
        one->flat.pattern = inside->flat.pattern;
        return SAGO_OK;
    }
    sago_status status = part_spell_out(inside);
    if (status == SAGO_OK)
        status = sagoi_combine(contents, &inside->flat, &one->flat.pattern);
    sagoi_flat_cleanup(&inside->flat);
    return status;
}

static sago_status flatten_derived(const sagoi_contents *contents, part *one) {
    part inside = {0};
    if (contents->combiner == MPI_COMBINER_STRUCT) {
        sago_status status = flatten_members(contents, &inside, &one->flat);
        sagoi_flat_cleanup(&inside.flat);
        return status;
    }
    if (contents->ntypes != 1)
        return sagoi_fail(SAGO_ERR_TYPE, "the datatype has an unknown combiner, %d", contents->combiner);
    sago_status status = flatten_inside(contents, 0, &inside);
    return status == SAGO_OK ? flatten_around(contents, &inside, one) : status;
}

/* Fills in what a type whose size is known looks like. */
static sago_status flatten_by_combiner(MPI_Datatype type, sagoi_budget *budget, part *one) {
    sagoi_contents contents;
    sago_status status = sagoi_contents_init(&contents, type, budget);
    if (status != SAGO_OK)
        return status;
    one->flat.numbers = contents.nvalues;
    if (sagoi_combiner_predefined(contents.combiner))
        status = flatten_predefined(type, one);
    else
        status = flatten_derived(&contents, one);
    sagoi_contents_cleanup(&contents);
    return status;
}

static sago_status flatten_part(MPI_Datatype type, sagoi_budget *budget, part *one) {
    sagoi_flat *flat = &one->flat;
    memset(one, 0, sizeof *one);
    if (type == MPI_DATATYPE_NULL)
        return sagoi_fail(SAGO_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
    sagoi_pattern_init(&flat->pattern, budget);
    sago_status status = sagoi_type_extent(type, &flat->lower_bound, &flat->extent);
    if (status == SAGO_OK)
        status = sagoi_type_size(type, &flat->size);
    if (status == SAGO_OK && flat->size == 0) /* whatever is inside need not be looked at */
        status = sagoi_pattern_finish(&flat->pattern);
    else if (status == SAGO_OK)
        status = flatten_by_combiner(type, budget, one);
    if (status != SAGO_OK)
        sagoi_flat_cleanup(flat);
    return status;
}

sago_status sagoi_flatten(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat) {
    part whole;
    if (sagoi_probe(type, budget, flat))
        return SAGO_OK;
    sago_status status = flatten_part(type, budget, &whole);
    if (status == SAGO_OK)
        status = part_spell_out(&whole);
    if (status == SAGO_OK && whole.flat.pattern.bytes != whole.flat.size)
        status = sagoi_fail(SAGO_ERR_TYPE, "the parts of a datatype of %lld bytes, as MPI says, make %lld bytes",
                            (long long)whole.flat.size, (long long)whole.flat.pattern.bytes);
    if (status != SAGO_OK)
        sagoi_flat_cleanup(&whole.flat);
    *flat = whole.flat;
    return status;
}
