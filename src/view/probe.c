#include "view/probe.h"

#include <string.h>

#include "base/checked.h"
#include "view/contents.h"

#ifdef OPEN_MPI
enum { COPIES_PARTS = true };
#else
enum { COPIES_PARTS = false }; /* and packing a struct with an empty part may divide by zero */
#endif

enum {
    LEAST_PARTS = 64,
    /* Bytes for each part, up to which packing costs less than its copy: */
    SPAN_A_PART = 256,
    SIZE_A_PART = 64,
    DIGITS = 3, /* bytes of a place */
    BLOCK = 256 /* what one of them counts */
};

/* Bytes of the type's span, numbered from its first one. */
typedef struct probe {
    int64_t low, span, size;
    int digits;
    unsigned char *numbers; /* span */
    unsigned char *packed;  /* size of each digit, one after another */
} probe;

/* The `digit`-th one of every place. */
static void write_digit(const probe *asked, int digit) {
    int64_t count = (int64_t)1 << (8 * digit); /* places with the same one, in turn */
    for (int64_t at = 0; digit == 0 && at < asked->span; at++)
        asked->numbers[at] = (unsigned char)at;
    for (int64_t at = 0; digit > 0 && at < asked->span; at += count)
        memset(asked->numbers + at, (int)((at >> (8 * digit)) % BLOCK),
               (size_t)sagoi_min(count, asked->span - at));
}

static int64_t place_of(const probe *asked, int64_t byte) {
    int64_t place = 0;
    for (int digit = 0; digit < asked->digits; digit++)
        place |= (int64_t)asked->packed[digit * asked->size + byte] << (8 * digit);
    return place;
}

static bool pack_digits(const probe *asked, MPI_Datatype type) {
    for (int digit = 0; digit < asked->digits; digit++) {
        write_digit(asked, digit);
        if (!sagoi_type_pack(type, asked->numbers, asked->low, asked->packed + digit * asked->size, asked->size))
            return false;
    }
    return true;
}

/* The first and the last byte must be where MPI says they are, or this is not what was asked. */
static bool read_runs(const probe *asked, sagoi_pattern *pattern) {
    int64_t least = INT64_MAX, most = -1;
    for (int64_t i = 0, next; i < asked->size && !pattern->failed; i = next) {
        int64_t first = place_of(asked, i);
        for (next = i + 1; next < asked->size && place_of(asked, next) == first + (next - i);)
            next++;
        least = sagoi_min(least, first);
        most = sagoi_max(most, first + (next - i) - 1);
        sagoi_pattern_add(pattern, asked->low + first, next - i);
    }
    return sagoi_pattern_finish(pattern) == SAGO_OK && least == 0 && most == asked->span - 1;
}

static bool describe(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat, probe *asked) {
    int64_t parts = sagoi_type_parts(type, &flat->numbers);
    if (parts < LEAST_PARTS || sagoi_type_size(type, &flat->size) ||
        sagoi_type_extent(type, &flat->lower_bound, &flat->extent) ||
        sagoi_type_true_extent(type, &asked->low, &asked->span))
        return false;
    asked->size = flat->size;
    if (asked->size == 0 || asked->size / parts > SIZE_A_PART || asked->span / parts > SPAN_A_PART ||
        asked->span > (int64_t)1 << (8 * DIGITS))
        return false;
    for (asked->digits = 1; asked->span > (int64_t)1 << (8 * asked->digits);)
        asked->digits++;
    asked->numbers = sagoi_budget_alloc(budget, asked->span);
    asked->packed = sagoi_budget_alloc(budget, asked->digits * asked->size);
    return asked->numbers && asked->packed;
}

bool sagoi_probe(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat) {
    if (!COPIES_PARTS || type == MPI_DATATYPE_NULL)
        return false;
    probe asked = {0};
    memset(flat, 0, sizeof *flat);
    sagoi_pattern_init(&flat->pattern, budget);
    bool found =
        describe(type, budget, flat, &asked) && pack_digits(&asked, type) && read_runs(&asked, &flat->pattern);
    sagoi_budget_free(budget, asked.numbers, asked.span);
    sagoi_budget_free(budget, asked.packed, asked.digits * asked.size);
    if (!found)
        sagoi_flat_cleanup(flat);
    return found;
}
