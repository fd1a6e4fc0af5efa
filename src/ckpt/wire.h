/* Numbers as bytes, little-endian, for records on disk and for messages.  A writer that runs out of memory and a
 * reader that runs out of bytes remember it: the caller asks once, at the end. */
#ifndef SAGOI_CKPT_WIRE_H
#define SAGOI_CKPT_WIRE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sagoi_wire_out {
    char *bytes; /* to be freed by whoever made it */
    int64_t len, capacity;
    bool failed; /* out of memory */
} sagoi_wire_out;

void sagoi_out_bytes(sagoi_wire_out *out, const void *data, int64_t len);
void sagoi_out_int(sagoi_wire_out *out, int64_t value); /* 8 bytes */
void sagoi_out_u32(sagoi_wire_out *out, uint32_t value);
void sagoi_out_ints(sagoi_wire_out *out, const int64_t *values, int64_t n);
void sagoi_out_text(sagoi_wire_out *out, const char *text); /* its length, and the bytes */

typedef struct sagoi_wire_in {
    const char *at, *end;
    bool failed; /* there was less than was asked for, or something that cannot be */
} sagoi_wire_in;

int64_t sagoi_in_int(sagoi_wire_in *in); /* 0 after a failure */
uint32_t sagoi_in_u32(sagoi_wire_in *in);
void sagoi_in_ints(sagoi_wire_in *in, int64_t *values, int64_t n);
/* Less than `capacity` bytes, none of them 0. */
void sagoi_in_text(sagoi_wire_in *in, char *text, int64_t capacity);
/* Where the next `len` bytes are, or NULL. */
const char *sagoi_in_bytes(sagoi_wire_in *in, int64_t len);
/* A number from low to high; anything else is a failure. */
int64_t sagoi_in_range(sagoi_wire_in *in, int64_t low, int64_t high);
/* How many things of at least `least` bytes each follow: no more than there are bytes for. */
int64_t sagoi_in_count(sagoi_wire_in *in, int64_t least);

#endif
