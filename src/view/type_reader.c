#include "view/type_reader.h"

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
typedef struct question {
    int64_t low, span, size;
    int digits;
    unsigned char *numbers; /* span */
    unsigned char *packed;  /* every digit's bytes, one digit after another */
} question;

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

static int64_t place_of(const question *asked, int64_t byte) {
    int64_t place = 0;
    for (int digit = 0; digit < asked->digits; digit++)
        place |= (int64_t)asked->packed[digit * asked->size + byte] << (8 * digit);
    return place;
}

static bool pack_digits(const question *asked, MPI_Datatype type) {
    for (int digit = 0; digit < asked->digits; digit++) {
        write_digit(asked->numbers, asked->span, digit);
        if (!sagoi_type_pack(type, asked->numbers, asked->low, asked->packed + digit * asked->size, asked->size))
            return false;
    }
    return true;
}

/* Reads the runs.  The first and the last byte must be where MPI says they are, or else the packed bytes are not
 * those of the type. */
static bool read_runs(const question *asked, sagoi_pattern *pattern) {
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

static bool describe(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat, question *asked) {
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

bool sagoi_type_read(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat) {
    if (!COPIES_PARTS || type == MPI_DATATYPE_NULL)
        return false;
    question asked = {0};
    memset(flat, 0, sizeof *flat);
    sagoi_pattern_init(&flat->pattern, budget);
    bool found =
        describe(type, budget, flat, &asked) && pack_digits(&asked, type) && read_runs(&asked, &flat->pattern);
    sagoi_budget_free(budget, asked.numbers);
    sagoi_budget_free(budget, asked.packed);
    if (!found)
        sagoi_flat_cleanup(flat);
    flat->strange_to_romio = found; /* The type may be strange: its parts were not looked at. */
    return found;
}

/* ---- Part by part ---- */

void sagoi_type_reader_init(sagoi_type_reader *reader, int64_t parts, sagoi_budget *budget) {
    *reader = (sagoi_type_reader){.budget = budget, .size = -1, .failed = !COPIES_PARTS || parts < LEAST_PARTS};
}

void sagoi_type_reader_cleanup(sagoi_type_reader *reader) {
    sagoi_budget_free(reader->budget, reader->places);
    sagoi_budget_free(reader->budget, reader->packed);
}

void sagoi_type_reader_forget(sagoi_type_reader *reader) { reader->size = -1; }

static bool have_places(sagoi_type_reader *reader) {
    if (reader->places)
        return true;
    reader->places = sagoi_budget_alloc(reader->budget, 2 * PART_SPAN);
    reader->packed = sagoi_budget_alloc(reader->budget, 4 * PART_SIZE);
    if (!reader->places || !reader->packed)
        return false;
    write_digit(reader->places, PART_SPAN, 0);
    write_digit(reader->places + PART_SPAN, PART_SPAN, 1);
    return true;
}

static unsigned char *packed_of(const sagoi_type_reader *reader, int which) {
    return reader->packed + (int64_t)which * 2 * PART_SIZE;
}

static int digits_of(int64_t span) { return span > BLOCK ? 2 : 1; }

static bool pack_committed(const sagoi_type_reader *reader, MPI_Datatype type, int64_t low, int64_t span,
                           int64_t size) {
    unsigned char *to = packed_of(reader, reader->newest);
    return sagoi_type_pack(type, reader->places, low, to, size) &&
           (digits_of(span) == 1 || sagoi_type_pack(type, reader->places + PART_SPAN, low, to + size, size));
}

/* Open MPI packs committed types only, and its copy of the program's part may not be committed. */
static bool pack_part(sagoi_type_reader *reader, MPI_Datatype type, int64_t low, int64_t span, int64_t size) {
    if (!reader->uncommitted && pack_committed(reader, type, low, span, size))
        return true;
    reader->uncommitted = true;
    return sagoi_type_commit(type) && pack_committed(reader, type, low, span, size);
}

sagoi_type_reading sagoi_type_reader_pack(sagoi_type_reader *reader, MPI_Datatype type) {
    int64_t size, low, span;
    if (reader->failed || sagoi_type_size(type, &size) || sagoi_type_true_extent(type, &low, &span) || size == 0 ||
        size > PART_SIZE || span > PART_SPAN)
        return SAGOI_NOT_READ;
    bool alike = size == reader->size && low == reader->low && span == reader->span;
    reader->newest = !reader->newest;
    reader->failed = !have_places(reader) || !pack_part(reader, type, low, span, size);
    if (reader->failed)
        return SAGOI_NOT_READ;
    reader->size = size;
    reader->low = low;
    reader->span = span;
    alike = alike && memcmp(packed_of(reader, 0), packed_of(reader, 1), (size_t)(digits_of(span) * size)) == 0;
    return alike ? SAGOI_READ_AS_BEFORE : SAGOI_READ;
}

bool sagoi_type_reader_read(const sagoi_type_reader *reader, sagoi_pattern *pattern) {
    const question asked = {.low = reader->low,
                            .span = reader->span,
                            .size = reader->size,
                            .digits = digits_of(reader->span),
                            .packed = packed_of(reader, reader->newest)};
    return read_runs(&asked, pattern);
}
