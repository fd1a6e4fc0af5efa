#include "view/probe.h"

#include <string.h>

#include "base/checked.h"
#include "view/contents.h"

#ifdef OPEN_MPI
enum { COPIES_PARTS = true };
#else
/* The MPI library gives the program's own parts; and packing a struct with an empty part may divide by zero. */
enum { COPIES_PARTS = false };
#endif

enum {
    LEAST_PARTS = 64,
    /* Bytes of span for each part, up to which packing costs less than the library's copy of the part. */
    SPAN_A_PART = 2048,
    SIZE_A_PART = 256,
    DIGITS = 3,  /* bytes that number a place */
    BLOCK = 256, /* places that one value of a digit tells apart */
    /* Largest span of a part that is packed by itself; reading a longer one back seldom pays. */
    PART_SPAN = BLOCK * BLOCK,
    PART_SIZE = 2048
};

/* Bytes of the type's span, numbered from the first one. */
typedef struct probe {
    int64_t low, span, size;
    int digits;
    unsigned char *numbers; /* span */
    unsigned char *packed;  /* every digit's bytes, one digit after another */
} probe;

/* Writes the digit `digit` of `span` places; `count` neighbouring places have the same digit.  After the last
 * value the numbers begin again, as copies of the first ones. */
static void write_digit(unsigned char *numbers, int64_t span, int digit) {
    int64_t count = (int64_t)1 << (8 * digit), done = 0;
    for (int value = 0; value < BLOCK && done < span; value++) {
        int64_t len = sagoi_min(count, span - done);
        memset(numbers + done, value, (size_t)len);
        done += len;
    }
    for (int64_t len; done < span; done += len) {
        len = sagoi_min(done, span - done);
        memcpy(numbers + done, numbers, (size_t)len);
    }
}

static int64_t place_of(const probe *asked, int64_t byte) {
    int64_t place = 0;
    for (int digit = 0; digit < asked->digits; digit++)
        place |= (int64_t)asked->packed[digit * asked->size + byte] << (8 * digit);
    return place;
}

static bool pack_digits(const probe *asked, MPI_Datatype type) {
    for (int digit = 0; digit < asked->digits; digit++) {
        write_digit(asked->numbers, asked->span, digit);
        if (!sagoi_type_pack(type, asked->numbers, asked->low, asked->packed + digit * asked->size, asked->size))
            return false;
    }
    return true;
}

/* Reads the runs.  The first and the last byte must be where MPI says they are, or else the packed bytes are not
 * those of the type. */
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

/* ---- Part by part ---- */

void sagoi_prober_init(sagoi_prober *prober, int64_t parts, sagoi_budget *budget) {
    *prober = (sagoi_prober){.budget = budget, .size = -1, .failed = !COPIES_PARTS || parts < LEAST_PARTS};
}

void sagoi_prober_cleanup(sagoi_prober *prober) {
    sagoi_budget_free(prober->budget, prober->places, 2 * PART_SPAN);
    sagoi_budget_free(prober->budget, prober->packed, 4 * PART_SIZE);
}

void sagoi_prober_forget(sagoi_prober *prober) { prober->size = -1; }

static bool have_places(sagoi_prober *prober) {
    if (prober->places)
        return true;
    prober->places = sagoi_budget_alloc(prober->budget, 2 * PART_SPAN);
    prober->packed = sagoi_budget_alloc(prober->budget, 4 * PART_SIZE);
    if (!prober->places || !prober->packed)
        return false;
    write_digit(prober->places, PART_SPAN, 0);
    write_digit(prober->places + PART_SPAN, PART_SPAN, 1);
    return true;
}

static unsigned char *packed_of(const sagoi_prober *prober, int which) {
    return prober->packed + (int64_t)which * 2 * PART_SIZE;
}

static int digits_of(int64_t span) { return span > BLOCK ? 2 : 1; }

static bool pack_committed(const sagoi_prober *prober, MPI_Datatype type, int64_t low, int64_t span,
                           int64_t size) {
    unsigned char *to = packed_of(prober, prober->newest);
    return sagoi_type_pack(type, prober->places, low, to, size) &&
           (digits_of(span) == 1 || sagoi_type_pack(type, prober->places + PART_SPAN, low, to + size, size));
}

/* Open MPI packs committed types only, and its copy of the program's part may not be committed. */
static bool pack_part(sagoi_prober *prober, MPI_Datatype type, int64_t low, int64_t span, int64_t size) {
    if (!prober->uncommitted && pack_committed(prober, type, low, span, size))
        return true;
    prober->uncommitted = true;
    return sagoi_type_commit(type) && pack_committed(prober, type, low, span, size);
}

sagoi_probed sagoi_prober_pack(sagoi_prober *prober, MPI_Datatype type) {
    int64_t size, low, span;
    if (prober->failed || sagoi_type_size(type, &size) || sagoi_type_true_extent(type, &low, &span) || size == 0 ||
        size > PART_SIZE || span > PART_SPAN)
        return SAGOI_NOT_PROBED;
    bool alike = size == prober->size && low == prober->low && span == prober->span;
    prober->newest = !prober->newest;
    prober->failed = !have_places(prober) || !pack_part(prober, type, low, span, size);
    if (prober->failed)
        return SAGOI_NOT_PROBED;
    prober->size = size;
    prober->low = low;
    prober->span = span;
    alike = alike && memcmp(packed_of(prober, 0), packed_of(prober, 1), (size_t)(digits_of(span) * size)) == 0;
    return alike ? SAGOI_AS_BEFORE : SAGOI_PROBED;
}

bool sagoi_prober_read(const sagoi_prober *prober, sagoi_pattern *pattern) {
    const probe asked = {.low = prober->low,
                         .span = prober->span,
                         .size = prober->size,
                         .digits = digits_of(prober->span),
                         .packed = packed_of(prober, prober->newest)};
    return read_runs(&asked, pattern);
}
