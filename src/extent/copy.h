/* Copies between the caller's memory and a place that stands for a range of the file. */
#ifndef SAGOI_COPY_H
#define SAGOI_COPY_H

#include "extent/pattern.h"

typedef struct sagoi_staging sagoi_staging;

/* The caller's side of a request: where stream position p of the request lies in memory. */
typedef struct sagoi_memory {
    char *base;                    /* the caller's buffer, which is never written to when the file is */
    sagoi_extents extents;         /* pattern == NULL: the memory is contiguous from base on */
    struct sagoi_staging *staging; /* where memory of a device is staged (staging.h); NULL: host memory */
} sagoi_memory;

typedef enum { SAGOI_TO_FILE, SAGOI_FROM_FILE } sagoi_direction;

/* Copies all runs of `span`: byte `o` of the file is at file_base + (o - file_off). */
void sagoi_copy_span(const sagoi_span *span, char *file_base, int64_t file_off, const sagoi_memory *memory,
                     sagoi_direction direction);

/* Copies `bytes` bytes of the stream from position `pos` on, to or from one contiguous place. */
void sagoi_copy_stream(char *place, int64_t pos, int64_t bytes, const sagoi_memory *memory,
                       sagoi_direction direction);

typedef enum { SAGOI_SCATTER, SAGOI_GATHER } sagoi_packing;

/* Copies packed bytes to the runs of a span (scatter) or back (gather): the run at offset `o` is at base + (o -
 * base_off).  It serves both sides: runs of the file in a window, and the caller's pieces in memory. */
void sagoi_copy_packed(const sagoi_span *span, char *base, int64_t base_off, char *packed, sagoi_packing packing);

/* Coded runs (codec.h) that are being copied between a window of the file and packed bytes. */
typedef struct sagoi_coded {
    const uint8_t *next, *stop; /* the code that is left */
    int64_t end;                /* end of the run before, an offset of the file */
    char *packed;               /* the packed bytes that are left */
    int64_t bytes;              /* number of packed bytes that are left */
} sagoi_coded;

/* Copies runs as long as they are single runs with a short code, end at or below `limit`, and have bytes: the byte
 * at offset `o` is at base + (o - base_off).  What comes next is for the caller to look at. */
void sagoi_copy_coded(sagoi_coded *coded, char *base, int64_t base_off, int64_t limit, sagoi_packing packing);

#endif
