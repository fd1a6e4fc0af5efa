/* Numbers as bytes, little-endian, for records on disk and for messages.  A writer that runs out of memory, or a
 * reader that runs out of bytes, remembers that; the caller asks once, at the end. */
#ifndef SAGOI_CKPT_WIRE_H
#define SAGOI_CKPT_WIRE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sagoi_wire_out {
    char *bytes; /* the caller who initialised the writer frees them */
    int64_t len, capacity;
    bool failed; /* there was no memory */
} sagoi_wire_out;

void sagoi_out_bytes(sagoi_wire_out *out, const void *data, int64_t len);
void sagoi_out_int(sagoi_wire_out *out, int64_t value); /* 8 bytes */
void sagoi_out_u32(sagoi_wire_out *out, uint32_t value);
void sagoi_out_ints(sagoi_wire_out *out, const int64_t *values, int64_t n);
void sagoi_out_text(sagoi_wire_out *out, const char *text); /* writes the length and the bytes */

typedef struct sagoi_wire_in {
    const char *at, *end;
    bool failed; /* fewer bytes were there than asked for, or an impossible value */
} sagoi_wire_in;

int64_t sagoi_in_int(sagoi_wire_in *in); /* 0 after a failure */
uint32_t sagoi_in_u32(sagoi_wire_in *in);
void sagoi_in_ints(sagoi_wire_in *in, int64_t *values, int64_t n);
/* Reads fewer than `capacity` bytes, none of them 0. */
void sagoi_in_text(sagoi_wire_in *in, char *text, int64_t capacity);
/* The place of the next `len` bytes; NULL: there are fewer. */
const char *sagoi_in_bytes(sagoi_wire_in *in, int64_t len);
/* Reads a number from low to high; any other number is a failure. */
int64_t sagoi_in_range(sagoi_wire_in *in, int64_t low, int64_t high);
/* Reads how many things of at least `least` bytes each follow; more than there are bytes for is a failure. */
int64_t sagoi_in_count(sagoi_wire_in *in, int64_t least);

#endif
