/* The request of one rank in one call: streams of bytes between the rank's memory and the file. */
#ifndef SAGOI_REQUEST_H
#define SAGOI_REQUEST_H

#include "extent/copy.h"
#include "extent/pattern.h"

/* One variable, or the buffer of one call: walkable extents in the file, and the memory that belongs to the
 * extents. */
typedef struct sagoi_stream {
    sagoi_extents file;
    sagoi_memory memory;
} sagoi_stream;

typedef struct sagoi_request {
    sagoi_direction direction;
    bool nonblocking; /* the call is a nonblocking one, in which nothing may wait inside MPI; equal on all ranks */
    int64_t nstreams;
    sagoi_stream *streams; /* not owned */
    int64_t low, high;     /* the range of this rank's runs; low == high: no bytes */
    int64_t limit;         /* In a read no byte at or past this offset (the end of the file) reaches memory. */
} sagoi_request;

/* Copies this rank's runs in [start, end) between memory and `place`, which stands for the file from `start`.
 * marks (may be NULL): sets the bit of every byte written.  Returns the bytes copied. */
int64_t sagoi_request_copy(const sagoi_request *request, int64_t start, int64_t end, char *place, uint64_t *marks);

/* Is some of the request's memory a device's? */
bool sagoi_request_is_staged(const sagoi_request *request);

/* Brings the bytes that were read to the caller's memory on a device, too; called after the last copy.  If several
 * copies failed, the status is that of the first one. */
sago_status sagoi_request_finish_staging(const sagoi_request *request) SAGOI_CHECKED;

/* Has this rank a byte in [start, end)? */
bool sagoi_request_touches(const sagoi_request *request, int64_t start, int64_t end);

/* Sets the bits of a span's bytes; bit 0 of marks is offset `start`.  Several ranks may do so at once. */
void sagoi_mark_span(const sagoi_span *span, int64_t start, uint64_t *marks);

#endif
