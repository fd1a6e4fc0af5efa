#include "ckpt/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

void sagoi_out_bytes(sagoi_wire_out *out, const void *data, int64_t len) {
    if (out->failed)
        return;
    if (len > out->capacity - out->len) {
        int64_t capacity = sagoi_max(2 * out->capacity, out->len + len + 256);
        char *moved = realloc(out->bytes, (size_t)capacity);
        if (!moved) {
            out->failed = true;
            return;
        }
        out->bytes = moved;
        out->capacity = capacity;
    }
    if (len > 0)
        memcpy(out->bytes + out->len, data, (size_t)len);
    out->len += len;
}

void sagoi_out_int(sagoi_wire_out *out, int64_t value) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> (8 * i));
    sagoi_out_bytes(out, bytes, sizeof bytes);
}

void sagoi_out_u32(sagoi_wire_out *out, uint32_t value) {
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    sagoi_out_bytes(out, bytes, sizeof bytes);
}

void sagoi_out_ints(sagoi_wire_out *out, const int64_t *values, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        sagoi_out_int(out, values[i]);
}

void sagoi_out_text(sagoi_wire_out *out, const char *text) {
    int64_t len = (int64_t)strlen(text);
    sagoi_out_int(out, len);
    sagoi_out_bytes(out, text, len);
}

const char *sagoi_in_bytes(sagoi_wire_in *in, int64_t len) {
    if (in->failed || len < 0 || len > in->end - in->at) {
        in->failed = true;
        return NULL;
    }
    const char *bytes = in->at;
    in->at += len;
    return bytes;
}

static uint64_t in_number(sagoi_wire_in *in, int width) {
    const unsigned char *bytes = (const unsigned char *)sagoi_in_bytes(in, width);
    uint64_t value = 0;
    for (int i = 0; bytes && i < width; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

int64_t sagoi_in_int(sagoi_wire_in *in) { return (int64_t)in_number(in, 8); }
uint32_t sagoi_in_u32(sagoi_wire_in *in) { return (uint32_t)in_number(in, 4); }

void sagoi_in_ints(sagoi_wire_in *in, int64_t *values, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        values[i] = sagoi_in_int(in);
}

void sagoi_in_text(sagoi_wire_in *in, char *text, int64_t capacity) {
    int64_t len = sagoi_in_range(in, 0, capacity - 1);
    const char *bytes = sagoi_in_bytes(in, len);
    if (!bytes || memchr(bytes, 0, (size_t)len))
        in->failed = true;
    else
        memcpy(text, bytes, (size_t)len);
    text[in->failed ? 0 : len] = '\0';
}

int64_t sagoi_in_range(sagoi_wire_in *in, int64_t low, int64_t high) {
    int64_t value = sagoi_in_int(in);
    if (value < low || value > high)
        in->failed = true;
    return in->failed ? low : value;
}

int64_t sagoi_in_count(sagoi_wire_in *in, int64_t least) {
    int64_t value = sagoi_in_int(in);
    if (in->failed || value < 0 || value > (in->end - in->at) / least) {
        in->failed = true;
        return 0;
    }
    return value;
}
