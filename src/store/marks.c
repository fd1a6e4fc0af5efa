/* Writing the bytes that a bit map marks: finds the runs, a word at a time, and writes them in batches; holes
 * between the runs are read and written back where sieving is allowed. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "store/store.h"

enum { BATCH_RUNS = 256, WORD_BITS = 64 };

/* For sieving: bytes that one read may bring, and marked bytes between two holes that are read along with them. */
#define SCRATCH_MOST (INT64_C(1) << 20)
enum { CLOSE_BYTES = 4096 };

/* A buffer that stands for the file from `off` on; `marks` tells which of its bytes count. */
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

/* Holes in [from, to), which are read by one call. */
typedef struct hole_range {
    int64_t from, to;
} hole_range;

/* Joins holes from `from` on as long as they lie close together, since a call costs more than reading what is
 * between them. */
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

/* Reads the range of the file into `scratch`, with zeros past the file's end, and copies the bytes of the holes to
 * their places. */
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

/* Reads what the file has in the holes of [first, last) into the buffer. */
static sago_status read_holes(sagoi_store *store, marked_window window, int64_t first, int64_t last) {
    char *scratch = malloc((size_t)sagoi_min(last - first, SCRATCH_MOST));
    if (!scratch)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to read what lies between runs of %lld bytes",
                          (long long)(last - first));
    sago_status status = SAGO_OK;
    int64_t from = next_bit(window.marks, first, last, false);
    while (from < last && !status) {
        hole_range range = join_holes(window.marks, from, last);
        status = fill_holes(store, window, range, scratch);
        from = next_bit(window.marks, range.to, last, false);
    }
    free(scratch);
    return status;
}

/* ---- Writing ---- */

/* Runs on their way to the store. */
typedef struct outgoing {
    sagoi_store *store;
    marked_window window;
    sagoi_io_run runs[BATCH_RUNS];
    int64_t n;
} outgoing;

static sago_status flush(outgoing *out) {
    sago_status status = out->n > 0 ? sagoi_store_write(out->store, out->runs, out->n) : SAGO_OK;
    out->n = 0;
    return status;
}

static sago_status add_run(outgoing *out, int64_t from, int64_t to) {
    out->runs[out->n++] = (sagoi_io_run){out->window.off + from, to - from, out->window.buf + from};
    return out->n == BATCH_RUNS ? flush(out) : SAGO_OK;
}

/* Runs in [from, to), which lie close together. */
typedef struct stretch {
    int64_t from, to, runs;
} stretch;

static stretch stretch_from(const uint64_t *marks, int64_t from, int64_t len, int64_t gap) {
    stretch s = {from, next_bit(marks, from, len, false), 1};
    for (;;) {
        int64_t next = next_bit(marks, s.to, len, true);
        if (next == len || next - s.to > gap)
            return s;
        s.to = next_bit(marks, next, len, false);
        s.runs++;
    }
}

static sago_status add_runs(outgoing *out, const stretch *s) {
    const uint64_t *marks = out->window.marks;
    sago_status status = SAGO_OK;
    for (int64_t i = s->from; i < s->to && !status;) {
        int64_t upto = next_bit(marks, i, s->to, false);
        status = add_run(out, i, upto);
        i = next_bit(marks, upto, s->to, true);
    }
    return status;
}

/* Adds the runs of a stretch as one run or, if its holes cannot be read, one by one. */
static sago_status add_stretch(outgoing *out, const stretch *s, int64_t least_runs) {
    bool whole =
        s->runs == 1 || (s->runs >= least_runs && read_holes(out->store, out->window, s->from, s->to) == SAGO_OK);
    return whole ? add_run(out, s->from, s->to) : add_runs(out, s);
}

sago_status sagoi_store_write_marked(sagoi_store *store, char *buf, int64_t off, int64_t len,
                                     const uint64_t *marks, sagoi_sieve sieve) {
    outgoing out;
    out.store = store;
    out.window = (marked_window){buf, off, marks};
    out.n = 0;
    if (!marks) {
        out.runs[0] = (sagoi_io_run){off, len, buf};
        return sagoi_store_write(store, out.runs, 1);
    }
    int64_t end;
    if (off < 0 || len < 0 || sagoi_add(off, len, &end))
        return sagoi_fail(off < 0 || len < 0 ? SAGO_ERR_ARG : SAGO_ERR_OVERFLOW,
                          "write of a window of %lld bytes at offset %lld", (long long)len, (long long)off);
    sago_status status = SAGO_OK;
    for (int64_t i = next_bit(marks, 0, len, true); i < len && !status;) {
        stretch s = stretch_from(marks, i, len, sieve.gap);
        status = add_stretch(&out, &s, sieve.runs);
        i = next_bit(marks, s.to, len, true);
    }
    return status ? status : flush(&out);
}
