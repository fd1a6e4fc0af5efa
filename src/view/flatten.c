/* Datatypes to patterns: the walk over the constructors.
 *
 * A type is flattened from the inside out: first its part, once, then the constructor's copies of the part
 * (train.c, combine.c, array.c).  Struct is the only constructor with several parts, and is in this file.  The
 * recursion is as deep as the type; memory that grows with counts is on the heap. */
#include "view/flatten.h"

#include <stddef.h>
#include <string.h>

#include "view/combine.h"
#include "view/contents.h"
#include "view/type_reader.h"
#include "view/train.h"

void sagoi_flat_cleanup(sagoi_flat *flat) {
    sagoi_pattern_cleanup(&flat->pattern);
    memset(flat, 0, sizeof *flat);
}

static sago_status fail_null(void) { return sagoi_fail(SAGO_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL"); }

/* ---- Pairs ---- */

/* Of all predefined types only the pairs for MAXLOC and MINLOC in C may have gaps. */
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

/* Finds the offset of the index in a pair type, and the size of the value; false: the type is no pair. */
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

/* A type while the type around it is put together. */
typedef struct part {
    sagoi_flat flat;   /* has no pattern while `lone` */
    sagoi_train train; /* if `lone` */
    bool lone;         /* the type is one train, which needs no memory, or is not known yet */
    MPI_Datatype type;
    int64_t depth; /* nested derived types that it was taken apart into */
    bool predefined;
    bool measured; /* lower_bound and extent are set, which only copies need; size is set in the whole type only */
} part;

/* There may be very many parts, so members that are not used are not cleared. */
static void part_init(part *one, MPI_Datatype type) {
    one->flat.size = one->flat.lower_bound = one->flat.extent = one->flat.numbers = 0;
    one->flat.strange_to_romio = false;
    one->train = (sagoi_train){0}; /* a combiner without parts leaves this */
    one->lone = true;
    one->type = type;
    one->depth = 0;
    one->predefined = one->measured = false;
}

static void part_cleanup(part *one) {
    if (!one->lone)
        sagoi_flat_cleanup(&one->flat);
}

static sagoi_pattern *part_begin_pattern(part *one, sagoi_budget *budget) {
    one->lone = false;
    sagoi_pattern_init(&one->flat.pattern, budget);
    return &one->flat.pattern;
}

/* Gives the part a pattern, if it has none yet. */
static sago_status part_spell_out(part *one, sagoi_budget *budget) {
    const sagoi_train *train = &one->train;
    if (!one->lone)
        return SAGO_OK;
    (void)part_begin_pattern(one, budget);
    sagoi_pattern_add_train(&one->flat.pattern, train->off, train->len, train->count, train->stride);
    return sagoi_pattern_finish(&one->flat.pattern);
}

static sago_status flatten_part(MPI_Datatype type, sagoi_budget *budget, part *one) SAGOI_CHECKED;

/* Measures a part.  Types of tens of thousands of parts are mostly one part in several wrappings, so MPI is asked
 * only for what is needed. */
static sago_status part_measure(part *one, MPI_Datatype type) {
    if (one->measured)
        return SAGO_OK;
    one->measured = true;
    return sagoi_type_extent(type, &one->flat.lower_bound, &one->flat.extent);
}

/* ---- Predefined types ---- */

static void be_one_run(part *one, int64_t size) {
    one->predefined = true;
    one->train = (sagoi_train){.len = size, .count = 1, .stride = size};
}

static sago_status be_pair(part *one, int64_t value_size, int64_t index_off, sagoi_budget *budget) {
    sagoi_pattern *pattern = part_begin_pattern(one, budget);
    one->predefined = one->flat.strange_to_romio = true;
    sagoi_pattern_add(pattern, 0, value_size);
    sagoi_pattern_add(pattern, index_off, sizeof(int));
    return sagoi_pattern_finish(pattern);
}

static sago_status flatten_predefined(MPI_Datatype type, sagoi_budget *budget, part *one) {
    int64_t size, value_size, index_off;
    sago_status status = sagoi_type_size(type, &size);
    if (status == SAGO_OK)
        status = part_measure(one, type);
    if (status != SAGO_OK)
        return status;
    if (size != one->flat.extent && find_pair(type, &value_size, &index_off))
        return be_pair(one, value_size, index_off, budget);
    be_one_run(one, size);
    return SAGO_OK;
}

/* ---- Derived types ---- */

/* Adds `length` parts from `off` on. */
static sago_status add_member(sagoi_pattern *whole, part *member, int64_t off, int64_t length) {
    sagoi_train train = member->train;
    if (member->lone && sagoi_train_repeat(&train, length, member->flat.extent) && sagoi_train_move(&train, off)) {
        sagoi_pattern_add_train(whole, train.off, train.len, train.count, train.stride);
        return SAGO_OK;
    }
    sago_status status = part_spell_out(member, whole->budget);
    if (status == SAGO_OK)
        sagoi_pattern_add_repeated(whole, &member->flat.pattern, off, length, member->flat.extent);
    return status;
}

/* Reads a part from packed numbers.  false: the type has to be taken apart. */
static bool read_part(const sagoi_type_reader *reader, MPI_Datatype type, part *member) {
    int64_t depth = member->depth;
    part_cleanup(member);
    part_init(member, type);
    member->depth = depth;
    member->flat.strange_to_romio = true; /* it may be */
    sagoi_pattern *pattern = part_begin_pattern(member, reader->budget);
    if (!sagoi_type_reader_read(reader, pattern))
        return false;
    if (sagoi_pattern_contiguous(pattern)) {
        member->lone = true;
        member->train =
            (sagoi_train){.off = pattern->low, .len = reader->size, .count = 1, .stride = reader->size};
        sagoi_pattern_cleanup(pattern);
    }
    return true;
}

/* Called after a part that had nested parts, each of which Open MPI copies to show it. */
static bool pack_part(sagoi_type_reader *reader, MPI_Datatype type, part *member) {
    if (reader->failed || member->depth < 2 || !sagoi_type_derived(type))
        return false;
    sagoi_type_reading read = sagoi_type_reader_pack(reader, type);
    member->flat.strange_to_romio = true; /* it may be */
    if (read == SAGOI_READ)
        return read_part(reader, type, member);
    member->type = type;
    member->measured = false;
    return read == SAGOI_READ_AS_BEFORE;
}

/* Flattens a block of a struct; `member` is the member of the block before. */
static sago_status flatten_member(sagoi_contents *contents, int64_t i, sagoi_type_reader *reader, part *member,
                                  sagoi_flat *flat) {
    int64_t count = contents->values[0], length = contents->values[1 + i], off = contents->values[1 + count + i];
    sago_status status = SAGO_OK;
    if (contents->types[i] != member->type && !pack_part(reader, contents->types[i], member)) {
        sagoi_type_reader_forget(reader);
        part_cleanup(member);
        status = flatten_part(contents->types[i], contents->budget, member);
        flat->numbers += member->flat.numbers;
    }
    flat->strange_to_romio = flat->strange_to_romio || member->flat.strange_to_romio;
    if (status == SAGO_OK && length != 1)
        status = part_measure(member, contents->types[i]);
    if (status == SAGO_OK)
        status = add_member(&flat->pattern, member, off, length);
    if (status == SAGO_OK)
        sagoi_contents_drop(contents, i, !member->predefined);
    return status;
}

/* count, blocklengths[], displacements[]; a type for each block.  Neighbours of one type are flattened once (for a
 * derived type MPICH gives the same handle again, Open MPI a new copy each time). */
static sago_status flatten_members(sagoi_contents *contents, sagoi_flat *flat) {
    part member;
    sagoi_type_reader reader;
    sago_status status = SAGO_OK;
    part_init(&member, MPI_DATATYPE_NULL);
    sagoi_type_reader_init(&reader, contents->ntypes, contents->budget);
    for (int64_t i = 0; i < contents->values[0] && status == SAGO_OK && !flat->pattern.failed; i++)
        if (contents->values[1 + i] != 0)
            status = flatten_member(contents, i, &reader, &member, flat);
    sagoi_type_reader_cleanup(&reader);
    part_cleanup(&member);
    return status == SAGO_OK ? sagoi_pattern_finish(&flat->pattern) : status;
}

/* Has the type the same data in the same place as its part? */
static bool is_wrapper(const sagoi_contents *contents) {
    return contents->combiner == MPI_COMBINER_DUP || contents->combiner == MPI_COMBINER_RESIZED ||
           (contents->combiner == MPI_COMBINER_CONTIGUOUS && contents->values[0] == 1);
}

/* Flattens a type around its only part, which it takes over. */
static sago_status flatten_around(const sagoi_contents *contents, part *inside, part *one) {
    one->flat.numbers += inside->flat.numbers;
    one->flat.strange_to_romio = one->flat.strange_to_romio || inside->flat.strange_to_romio;
    one->depth = inside->depth + 1;
    one->train = inside->train;
    if (inside->lone && (is_wrapper(contents) || sagoi_combine_train(contents, inside->flat.extent, &one->train)))
        return SAGO_OK;
    if (is_wrapper(contents)) {
        one->lone = false;
        one->flat.pattern = inside->flat.pattern;
        return SAGO_OK;
    }
    sago_status status = part_spell_out(inside, contents->budget);
    if (status == SAGO_OK)
        status = sagoi_combine(contents, &inside->flat, part_begin_pattern(one, contents->budget));
    sagoi_flat_cleanup(&inside->flat);
    return status;
}

static sago_status flatten_derived(sagoi_contents *contents, part *one) {
    part inside;
    if (contents->combiner == MPI_COMBINER_STRUCT) {
        one->depth = 2; /* or more */
        (void)part_begin_pattern(one, contents->budget);
        return flatten_members(contents, &one->flat);
    }
    if (contents->ntypes != 1)
        return sagoi_fail(SAGO_ERR_TYPE, "the datatype has an unknown combiner, %d", contents->combiner);
    sago_status status = flatten_part(contents->types[0], contents->budget, &inside);
    if (status != SAGO_OK)
        return status;
    if (!is_wrapper(contents) && !sagoi_combines_one(contents))
        status = part_measure(&inside, contents->types[0]);
    if (status == SAGO_OK)
        status = flatten_around(contents, &inside, one);
    else
        part_cleanup(&inside);
    sagoi_contents_drop(contents, 0, !inside.predefined);
    return status;
}

/* Fills in the pattern of a type. */
static sago_status flatten_by_combiner(MPI_Datatype type, sagoi_budget *budget, part *one) {
    sagoi_contents contents;
    sago_status status = sagoi_contents_init(&contents, type, budget);
    if (status != SAGO_OK)
        return status;
    one->flat.numbers = contents.nvalues;
    one->flat.strange_to_romio = contents.combiner == MPI_COMBINER_RESIZED && contents.values[0] != 0;
    if (sagoi_combiner_predefined(contents.combiner))
        status = flatten_predefined(type, budget, one);
    else
        status = flatten_derived(&contents, one);
    sagoi_contents_cleanup(&contents);
    return status;
}

static sago_status flatten_part(MPI_Datatype type, sagoi_budget *budget, part *one) {
    part_init(one, type);
    if (type == MPI_DATATYPE_NULL)
        return fail_null();
    int64_t size = sagoi_common_size(type);
    if (size > 0) {
        be_one_run(one, size);
        one->measured = true;
        one->flat.extent = size;
        return SAGO_OK;
    }
    sago_status status = flatten_by_combiner(type, budget, one);
    if (status != SAGO_OK)
        part_cleanup(one);
    return status;
}

/* Flattens the type's data.  A type without data need not be looked into. */
static sago_status flatten_data(MPI_Datatype type, int64_t size, sagoi_budget *budget, sagoi_flat *flat) {
    part whole;
    sago_status status = flatten_part(size == 0 ? MPI_BYTE : type, budget, &whole);
    if (status != SAGO_OK)
        return status;
    if (size == 0)
        whole.train.len = 0;
    status = part_spell_out(&whole, budget);
    *flat = whole.flat;
    if (status == SAGO_OK && flat->pattern.bytes != size)
        return sagoi_fail(SAGO_ERR_TYPE, "the parts of a datatype of %lld bytes, as MPI says, make %lld bytes",
                          (long long)size, (long long)flat->pattern.bytes);
    return status;
}

sago_status sagoi_flatten(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat) {
    int64_t size = 0;
    if (sagoi_type_read(type, budget, flat))
        return SAGO_OK;
    memset(flat, 0, sizeof *flat);
    if (type == MPI_DATATYPE_NULL)
        return fail_null();
    sago_status status = sagoi_type_size(type, &size);
    if (status == SAGO_OK)
        status = flatten_data(type, size, budget, flat);
    flat->size = size;
    if (status == SAGO_OK)
        status = sagoi_type_extent(type, &flat->lower_bound, &flat->extent);
    if (status != SAGO_OK)
        sagoi_flat_cleanup(flat);
    return status;
}
