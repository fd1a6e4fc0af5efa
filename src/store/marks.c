/* Writing what a bit map marks: finds the runs, a word at a time, and writes them in batches. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "store/store.h"

enum { BATCH_RUNS = 256, WORD_BITS = 64 };

/* Sieving: what one read may bring, and marked bytes between two holes that are read along with them. */
#define SCRATCH_MOST (INT64_C(1) << 20)
enum { CLOSE_BYTES = 4096 };

/* A buffer that stands for the file from `off`, and which of its bytes count. */
typedef struct marked_window {
    char *buf;
    int64_t off;
    const uint64_t *marks;
} marked_window;

/* The first index from `i` on whose bit is `value`; `len` if there is none. */
static int64_t next_bit(const uint64_t *marks, int64_t i, int64_t len, bool value) {
    if (i >= len)
        return len;
    uint64_t flip = value ? 0 : UINT64_MAX;
    int64_t word = i / WORD_BITS, words = sagoi_div_up(len, WORD_BITS);
    uint64_t found = (marks[word] ^ flip) & (UINT64_MAX << (i % WORD_BITS));
    while (!found) {
        if (++word == words)
            return len;
        found = marks[word] ^ flip;
    }
    return sagoi_min(len, word * WORD_BITS + __builtin_ctzll(found)); /* bits past len mean nothing */
}

/* Holes that are read by one call: those of [from, to). */
typedef struct hole_range {
    int64_t from, to;
} hole_range;

/* From the hole at `from` on, as far as holes lie close together; a call costs more than reading what is between
 * them. */
static hole_range join_holes(const uint64_t *marks, int64_t from, int64_t last) {
    int64_t most = sagoi_min(last, from + SCRATCH_MOST);
    hole_range range = {from, next_bit(marks, from, most, true)};
    for (;;) {
        int64_t next = next_bit(marks, range.to, most, false);
        if (next == most || next - range.to > CLOSE_BYTES)
            return range;
        range.to = next_bit(marks, next, most, true);
    }
}

/* Reads the range of the file into `scratch`, zeros past its end, and copies the holes of it to their places. */
static sago_status fill_holes(sagoi_store *store, marked_window window, hole_range range, char *scratch) {
    int64_t bytes = 0, len = range.to - range.from;
    sagoi_io_run run = {window.off + range.from, len, scratch};
    sago_status status = sagoi_store_read(store, &run, 1, &bytes);
    if (status)
        return status;
    memset(scratch + bytes, 0, (size_t)(len - bytes));
    for (int64_t i = range.from; i < range.to;) {
        int64_t upto = next_bit(window.marks, i, range.to, true);
        memcpy(window.buf + i, scratch + (i - range.from), (size_t)(upto - i));
        i = next_bit(window.marks, upto, range.to, false);
    }
    return SAGO_OK;
}

/* Brings what the file has in the holes of [first, last) into buf. */
static sago_status read_holes(sagoi_store *store, marked_window window, int64_t first, int64_t last) {
    int64_t from = next_bit(window.marks, first, last, false);
    if (from == last)
        return SAGO_OK;
    char *scratch = malloc((size_t)sagoi_min(last - from, SCRATCH_MOST));
    if (!scratch)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to read what lies between runs of %lld bytes",
                          (long long)(last - first));
    sago_status status = SAGO_OK;
    while (from < last && !status) {
        hole_range range = join_holes(window.marks, from, last);
        status = fill_holes(store, window, range, scratch);
        from = next_bit(window.marks, range.to, last, false);
    }
    free(scratch);
    return status;
}

sago_status sagoi_store_write_sieved(sagoi_store *store, char *buf, int64_t off, int64_t len,
                                     const uint64_t *marks) {
    int64_t first = marks ? next_bit(marks, 0, len, true) : 0, last = len;
    if (first == len)
        return SAGO_OK;
    while (marks && !(marks[(last - 1) / WORD_BITS] >> ((last - 1) % WORD_BITS) & 1))
        last--;
    sago_status status = marks ? read_holes(store, (marked_window){buf, off, marks}, first, last) : SAGO_OK;
    return status ? status : sagoi_store_write_marked(store, buf + first, off + first, last - first, NULL);
}

sago_status sagoi_store_write_marked(sagoi_store *store, char *buf, int64_t off, int64_t len,
                                     const uint64_t *marks) {
    sagoi_io_run runs[BATCH_RUNS];
    if (!marks) {
        runs[0] = (sagoi_io_run){off, len, buf};
        return sagoi_store_write(store, runs, 1);
    }
    int64_t end;
    if (off < 0 || len < 0 || sagoi_add(off, len, &end))
        return sagoi_fail(off < 0 || len < 0 ? SAGO_ERR_ARG : SAGO_ERR_OVERFLOW,
                          "write of a window of %lld bytes at offset %lld", (long long)len, (long long)off);
    int64_t n = 0;
    for (int64_t i = next_bit(marks, 0, len, true); i < len;) {
        int64_t upto = next_bit(marks, i, len, false);
        runs[n++] = (sagoi_io_run){off + i, upto - i, buf + i};
        i = next_bit(marks, upto, len, true);
        if (n < BATCH_RUNS && i < len)
            continue;
        sago_status status = sagoi_store_write(store, runs, n);
        if (status != SAGO_OK)
            return status;
        n = 0;
    }
    return SAGO_OK;
}
