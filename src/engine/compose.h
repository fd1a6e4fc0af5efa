/* From what the caller gave (view, offset, buffer, datatype; extents; declared variables) to a request. */
#ifndef SAGOI_COMPOSE_H
#define SAGOI_COMPOSE_H

#include "engine/file.h"
#include "move/request.h"
#include "plan/route.h"
#include "view/type_form.h"

/* What a request was composed from: a place in a view, or extents.  They belong to the caller until the call is
 * done. */
typedef struct sagoi_origin {
    const sagoi_view *view; /* NULL: extents, or declared variables */
    int64_t begin, bytes;   /* place and length in the view's stream of data */
    int64_t n;
    const sago_extent *extents;
} sagoi_origin;

/* Tiles that are one train (sagoi_pattern_of_train()). */
typedef struct sagoi_folded {
    sagoi_pattern train;
    sagoi_piece piece;
} sagoi_folded;

/* A rank's part of the call from which the rule of a file in subfiles is made (rule.h). */
typedef struct sagoi_rule_part {
    int64_t low, high;             /* equal: no data */
    int64_t first_low, first_high; /* of the first variable; INT64_MAX and 0: no data */
    int64_t next_low;              /* where the second variable begins; INT64_MAX: there is none */
    int64_t bytes;
} sagoi_rule_part;

/* A request and everything that it owns.  The request points into this struct, so the struct never moves. */
typedef struct sagoi_composed {
    sagoi_request request;
    sagoi_stream first;  /* room for one stream, as most requests have */
    sagoi_folded folded; /* room for one train of tiles */
    bool has_folded;
    sagoi_stream *streams;
    int64_t streams_capacity;
    struct sagoi_owned *owned; /* what the request frees or releases */
    int64_t bytes;             /* bytes that the caller asked for */
    int64_t runs;              /* runs in the file; an estimate where tiles are cut */
    sagoi_origin origin;
    sago_extent *listed; /* the origin's extents, origin.n of them, if they were made for the request; else NULL */
    sagoi_call_type type;
    bool follows;              /* a declared step without buffers on this rank takes the other ranks' direction */
    bool flush;                /* the request moves deferred or local calls, which were counted already */
    int64_t all_low, all_high; /* the range that all ranks accessed, set when the request has run */
    bool all_dense;            /* a write: the runs of all ranks tile that range */
    /* Of the first call of a request that was several; NULL: it was one. */
    const sagoi_rule_part *rule_part;
    sagoi_budget *budget;
} sagoi_composed;

/* The composed call, as the functions of plan/route.h see it. */
static inline sagoi_route_call sagoi_composed_call(const sagoi_composed *composed) {
    return (sagoi_route_call){.type = composed->type,
                              .write = composed->request.direction == SAGOI_TO_FILE,
                              .nonblocking = composed->request.nonblocking,
                              .by_extents = composed->origin.view == NULL};
}

void sagoi_composed_init(sagoi_composed *composed, sagoi_direction direction, sagoi_budget *budget);
void sagoi_composed_cleanup(sagoi_composed *composed);

/* The caller's data: `count` elements of `type` at `buf`. */
typedef struct sagoi_buffer {
    char *base;
    int64_t count;
    MPI_Datatype type;
} sagoi_buffer;

/* Where in the file: a view and a position in its stream of data bytes. */
typedef struct sagoi_view_place {
    const sagoi_view *view;
    int64_t disp;  /* displacement, in place of the view's own */
    int64_t begin; /* first byte, in the stream */
} sagoi_view_place;

/* Adds one stream to the request. */
sago_status sagoi_compose_view(sagoi_composed *composed, const sagoi_view_place *place, const sagoi_buffer *buffer)
    SAGOI_CHECKED;
/* Describes the caller's memory without looking into its datatype; false: the datatype has to be looked at.  The
 * buffer must not be NULL. */
bool sagoi_compose_cached_memory(const sagoi_buffer *buffer, sagoi_memory *memory, int64_t *bytes);
/* Are `bytes` bytes from the place on one run of the file?  Then *off is where that run begins.  Composes
 * nothing. */
bool sagoi_compose_one_run(const sagoi_view_place *place, int64_t bytes, int64_t *off);
/* The caller's data, for extents: all bytes at `base`, or the pieces in the order of the stream. */
typedef struct sagoi_scatter {
    char *base;
    int64_t n; /* number of pieces */
    const sago_extent *pieces;
    bool whole; /* no pieces */
} sagoi_scatter;
sago_status sagoi_compose_extents(sagoi_composed *composed, int64_t n, const sago_extent extents[],
                                  const sagoi_scatter *scatter) SAGOI_CHECKED;
/* A block of an array that lies in the file from `offset` on, and the same elements in memory. */
typedef struct sagoi_block_place {
    int64_t offset;
    sagoi_slab file, memory;
    char *base; /* where `memory` begins */
} sagoi_block_place;
sago_status sagoi_compose_block(sagoi_composed *composed, const sagoi_block_place *place) SAGOI_CHECKED;
/* Sets the range of a request whose streams, and the sum of their runs, were taken from other requests.  The last
 * run of a stream and the first run of the next stream count as one where they touch. */
void sagoi_compose_bounds(sagoi_composed *composed);
/* The fingerprint of a rank's extents in the file, relative to the lowest offset.  Ranks add their fingerprints
 * up, so the rank's number is part of the fingerprint: the sum then tells which rank has which extents. */
sagoi_hash sagoi_compose_fingerprint(const sagoi_composed *composed, int rank);

/* Bytes of the request that lie below the end of the file. */
int64_t sagoi_bytes_below(const sagoi_request *request, int64_t end);

/* ---- Views ---- */
sago_status sagoi_view_make(MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, sagoi_budget *budget,
                            sagoi_view *view) SAGOI_CHECKED;
void sagoi_view_cleanup(sagoi_view *view);

/* One run of the file, and the caller's memory for it. */
typedef struct sagoi_lone_run {
    int64_t off, len;
    sagoi_memory memory;
} sagoi_lone_run;

/* A call of this rank and the call's route.  Until the method is chosen `wanted` says nothing. */
typedef struct sagoi_lone_part {
    sagoi_route_wanted wanted;
    sagoi_route route;
} sagoi_lone_part;

#endif
