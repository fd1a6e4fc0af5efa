/* Variable-length codes of runs.  A run is two numbers: the gap from the end of the run before, and its length
 * doubled.  A train has the lowest bit of the length set, and is followed by its count and stride.  A byte holds
 * seven bits, the lowest first. */
#include "extent/codec.h"

#include "base/checked.h"

static inline uint8_t *put_number(uint8_t *out, uint64_t value) {
    while (value >= 128) {
        *out++ = (uint8_t)(value | 128);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

/* NULL: the code ends too soon, or has more than 63 bits, which no accepted number needs. */
static const uint8_t *get_long_number(const uint8_t *in, const uint8_t *stop, uint64_t *value) {
    uint64_t result = 0;
    for (int shift = 0; in < stop && shift < 63; shift += 7) {
        uint8_t byte = *in++;
        result |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) {
            *value = result;
            return in;
        }
    }
    return NULL;
}

/* Most numbers have one byte. */
static inline const uint8_t *get_number(const uint8_t *in, const uint8_t *stop, uint64_t *value) {
    if (in == stop || *in >= 128)
        return get_long_number(in, stop, value);
    *value = *in;
    return in + 1;
}

uint8_t *sagoi_code_put(uint8_t *out, const sagoi_span *span, int64_t *end) {
    if (span->runs) {
        uint64_t gap = (uint64_t)(span->off - *end);
        int64_t at = span->off;
        for (int64_t i = 0; i < span->count; i++) {
            if (i > 0) {
                gap = (uint64_t)span->runs[i].gap;
                at += span->runs[i].gap;
            }
            out = put_number(out, gap);
            out = put_number(out, (uint64_t)span->runs[i].len << 1);
            at += span->runs[i].len;
        }
        *end = at;
        return out;
    }
    bool train = span->count > 1;
    out = put_number(out, (uint64_t)(span->off - *end));
    out = put_number(out, (uint64_t)span->len << 1 | train);
    if (train) {
        out = put_number(out, (uint64_t)span->count);
        out = put_number(out, (uint64_t)(span->stride - span->len));
    }
    *end = span->off + (span->count - 1) * span->stride + span->len;
    return out;
}

/* Reads count and distance of the runs of a train. */
static const uint8_t *get_train(const uint8_t *in, const uint8_t *stop, sagoi_span *train) {
    uint64_t count, space;
    if (!(in = get_number(in, stop, &count)) || !(in = get_number(in, stop, &space)))
        return NULL;
    if (count < 1 || sagoi_add(train->len, (int64_t)space, &train->stride)) /* numbers have at most 63 bits */
        return NULL;
    train->count = (int64_t)count;
    return in;
}

const uint8_t *sagoi_code_get(const uint8_t *in, const uint8_t *stop, sagoi_span *train, int64_t *end) {
    uint64_t gap, length;
    if (!(in = get_number(in, stop, &gap)) || !(in = get_number(in, stop, &length)))
        return NULL;
    int64_t last = 0, off, len = (int64_t)(length >> 1);
    if (len < 1 || len > SAGOI_OFFSET_MAX || sagoi_add(*end, (int64_t)gap, &off))
        return NULL;
    *train = (sagoi_span){.off = off, .count = 1, .len = len, .stride = len};
    if (length & 1) {
        in = get_train(in, stop, train);
        if (!in || sagoi_mul(train->count - 1, train->stride, &last))
            return NULL;
    }
    if (sagoi_add(last, len, &last) || sagoi_add(last, off, &last))
        return NULL;
    *end = last;
    return in;
}
