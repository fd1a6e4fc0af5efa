/* Writing what a bit map marks: finds the runs, a word at a time, and writes them in batches. */
#include <string.h>

#include "base/checked.h"
#include "store/store.h"

enum { BATCH_RUNS = 256, WORD_BITS = 64 };

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

/* Brings what the file has in the holes of [first, last) into buf; zeros past its end. */
static sago_status read_holes(sagoi_store *store, marked_window window, int64_t first, int64_t last) {
    sagoi_io_run runs[BATCH_RUNS];
    int64_t n = 0;
    sago_status status = SAGO_OK;
    for (int64_t i = next_bit(window.marks, first, last, false); i < last && !status;) {
        int64_t upto = next_bit(window.marks, i, last, true);
        memset(window.buf + i, 0, (size_t)(upto - i));
        runs[n++] = (sagoi_io_run){window.off + i, upto - i, window.buf + i};
        i = next_bit(window.marks, upto, last, false);
        if (n < BATCH_RUNS && i < last)
            continue;
        status = sagoi_store_read(store, runs, n, NULL);
        n = 0;
    }
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
