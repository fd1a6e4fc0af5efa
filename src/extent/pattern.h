/* Runs of bytes, kept compactly: what a datatype, an extent list or a request looks like to Sago.
 *
 * Glossary
 *   run      a contiguous piece of bytes: offset and length
 *   train    runs of one length at one stride: (off, len, count, stride), however many there are
 *   list     irregular runs, 8 bytes each: gap from the end of the run before, and length
 *   piece    a train or a list of at most SAGOI_LIST_MAX runs
 *   pattern  pieces in stream order: the i-th byte of the data stream lies where the pieces say
 *   lap      the pieces of a pattern walked once; a regular pattern has many laps, each moved somewhere else
 *   loop     how laps are moved, as one axis of an array does it; a pattern keeps its loops, not its laps
 *   extents  a pattern repeated (tiled) at a fixed distance, cut to a range of the stream: one request
 *   cursor   walks extents in order and hands out spans
 *   span     what a cursor hands out: a train, or part of a list, that the caller walks in a tight loop
 *
 * The same structure serves the file side and the memory side.  On the file side a pattern must be
 * `sorted` (ascending, not overlapping) to be walked by offset; on the memory side anything goes. */
#ifndef SAGOI_PATTERN_H
#define SAGOI_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/status.h"

enum { SAGOI_LIST_MAX = 1024 };
/* Largest offset, in either direction, and largest number of bytes of a pattern: offsets can be added without
 * overflow. */
#define SAGOI_OFFSET_MAX (INT64_MAX / 4)
#define SAGOI_NO_LIMIT INT64_MAX /* largest offset of a file; the base of extents takes patterns there */

typedef struct sagoi_run {
    int32_t gap;  /* from the end of the run before; of a piece's first run: not used, 0 */
    uint32_t len; /* > 0 */
} sagoi_run;

typedef struct sagoi_piece {
    int64_t off;    /* start of the first run, relative to the pattern's origin */
    int64_t end;    /* end of the last run (not the largest end, if the piece is unsorted) */
    int64_t pos;    /* position of the first byte in the data stream */
    int64_t count;  /* runs, > 0 */
    int64_t len;    /* train: bytes of a run; list: 0 */
    int64_t stride; /* train: bytes from start to start, any sign; list: index of the first run in runs[] */
} sagoi_piece;

/* Blocks of parts: part `e` is moved by (e / length) * step + (e % length) * stride.  The last block may be
 * shorter. */
typedef struct sagoi_blocks {
    int64_t off;    /* origin of the first part */
    int64_t count;  /* parts of all blocks */
    int64_t length; /* parts of a block, > 0 */
    int64_t stride; /* bytes from part to part inside of a block, any sign */
    int64_t step;   /* bytes from block to block, any sign */
} sagoi_blocks;

/* `count` repetitions of everything inside: of the laps of the loops before this one, or of one lap. */
typedef struct sagoi_loop {
    int64_t count, length, stride, step; /* as in sagoi_blocks; length = count if there is one block */
    int64_t high;                        /* largest end inside, before this loop moves it */
} sagoi_loop;

typedef struct sagoi_pattern {
    sagoi_piece *pieces; /* pieces of the first lap, with positions as if there were no other lap */
    sagoi_run *runs;     /* the runs of the lists */
    sagoi_loop *loops;   /* the innermost loop first; NULL: there is one lap */
    int64_t npieces, nruns, nloops;
    int64_t pieces_capacity, runs_capacity;
    int64_t laps;      /* number of laps of a pattern with loops; else 0 */
    int64_t lap_bytes; /* bytes of a lap, once the pattern is finished */
    int64_t bytes;     /* bytes of the whole pattern */
    int64_t run_count; /* runs of all trains and laps, each counted by itself (laps that touch do not join) */
    int64_t low, high; /* smallest offset and largest end; 0 and 0 when empty */
    bool sorted;       /* offsets ascend in stream order without overlap */
    sagoi_hash hash;   /* hash of a finished pattern's contents */
    bool permuted;     /* offsets ascend, but stream positions do not */
    /* While the pattern is built: */
    int64_t pending_off, pending_len; /* the newest run, which may still grow */
    sago_status failed;               /* SAGO_ERR_MEMORY or SAGO_ERR_OVERFLOW, which finishing reports */
    sagoi_budget *budget;             /* not owned; may be NULL */
} sagoi_pattern;

/* ---- Building ---- */

void sagoi_pattern_init(sagoi_pattern *pattern, sagoi_budget *budget);
void sagoi_pattern_cleanup(sagoi_pattern *pattern); /* fine on a zeroed struct, and twice */

/* Appends a run to the stream: neighbours join, and regular runs become trains.  len = 0 adds nothing. */
void sagoi_pattern_add(sagoi_pattern *pattern, int64_t off, int64_t len);
void sagoi_pattern_add_train(sagoi_pattern *pattern, int64_t off, int64_t len, int64_t count, int64_t stride);
/* Appends all of `part` (a finished pattern), moved by `off`. */
void sagoi_pattern_add_pattern(sagoi_pattern *pattern, const sagoi_pattern *part, int64_t off);
/* Appends `part` `count` times, each time `stride` further on.  If the pattern is empty and the repetitions would
 * cost much, they become a loop.  Data that is appended after a loop turns its laps into pieces. */
void sagoi_pattern_add_repeated(sagoi_pattern *pattern, const sagoi_pattern *part, int64_t off, int64_t count,
                                int64_t stride);
/* Appends `part` in blocks. */
void sagoi_pattern_add_blocks(sagoi_pattern *pattern, const sagoi_pattern *part, const sagoi_blocks *blocks);
/* Ends building, once: sets bytes, low, high and sorted.  SAGO_ERR_MEMORY or SAGO_ERR_OVERFLOW. */
sago_status sagoi_pattern_finish(sagoi_pattern *pattern) SAGOI_CHECKED;

/* Makes a finished pattern of one train, which is kept in `piece` with its offset, length, count and stride.  The
 * pattern must not be cleaned up.  SAGO_ERR_OVERFLOW. */
sago_status sagoi_pattern_of_train(sagoi_pattern *pattern, sagoi_piece *piece) SAGOI_CHECKED;

/* A block of a row-major array of `shape` elements of `element` bytes each; start NULL: the block begins at 0. */
enum { SAGOI_AXES_MAX = 8 };
typedef struct sagoi_slab {
    int64_t element; /* > 0 */
    int axes;
    const int64_t *shape, *start, *count; /* arrays with an element for each axis */
} sagoi_slab;
/* Fills and finishes an initialised pattern: the runs of the block, relative to its first byte, which lies *first
 * bytes into the array.  SAGO_ERR_ARG, SAGO_ERR_OVERFLOW or SAGO_ERR_MEMORY. */
sago_status sagoi_pattern_of_slab(sagoi_pattern *pattern, const sagoi_slab *slab, int64_t *first) SAGOI_CHECKED;

/* Sorts a request by offset into `permuted` patterns (one tile, base included, positions kept).  There are several
 * where runs overlap, which is legal when reading; each of them has no overlap.  *layers holds *n patterns and is
 * freed by sagoi_layers_free(). */
struct sagoi_extents;
sago_status sagoi_extents_sort(const struct sagoi_extents *extents, sagoi_budget *budget, sagoi_pattern **layers,
                               int64_t *n) SAGOI_CHECKED;
void sagoi_layers_free(sagoi_budget *budget, sagoi_pattern *layers, int64_t n);

/* Appends a run to a `permuted` pattern, in order of offsets, with its position in the stream; the pattern is
 * finished after each run.  false: there is no memory. */
bool sagoi_pattern_add_placed(sagoi_pattern *pattern, int64_t off, int64_t len, int64_t pos);

/* A hash of the contents: patterns with the same pieces have the same hash. */
sagoi_hash sagoi_pattern_hash(const sagoi_pattern *pattern);

/* Is the whole stream one run? */
static inline bool sagoi_pattern_contiguous(const sagoi_pattern *pattern) {
    return pattern->npieces == 0 ||
           (pattern->npieces == 1 && pattern->pieces[0].count == 1 && pattern->nloops == 0);
}

/* ---- Walking ---- */

/* A pattern that is repeated every `extent` bytes from `base` on, of which the stream bytes [begin, end) count.
 * Walking by offset needs a pattern that is sorted, with extent >= high - low if it is repeated; or one that is
 * permuted, as one whole tile: sagoi_extents_walkable(). */
typedef struct sagoi_extents {
    const sagoi_pattern *pattern; /* not owned */
    int64_t base;                 /* the origin of every tile and every run that counts fit 63 bits */
    int64_t extent;
    int64_t begin, end; /* stream positions; begin <= end */
} sagoi_extents;

typedef struct sagoi_span {
    int64_t off;           /* offset of the first run, base included */
    int64_t pos;           /* position of its first byte in the request: 0 is extents->begin */
    int64_t count;         /* runs, > 0 */
    int64_t len;           /* train: bytes of a run */
    int64_t stride;        /* train */
    const sagoi_run *runs; /* list: `count` runs, of which the first one's gap is ignored; NULL: a train */
} sagoi_span;

typedef struct sagoi_cursor {
    sagoi_extents extents;
    int64_t tile, lap, piece;
    int64_t lap_off, lap_pos; /* the lap's origin, base included, and its start in the stream */
    int64_t index;            /* index of the run in the piece */
    int64_t off;              /* start of that run, base included */
    int64_t pos;              /* where that run starts in the (uncut) stream */
    int64_t skip;             /* bytes of it that were handed out already */
} sagoi_cursor;

/* A layer of a sorted request has only some bytes of the stream. */
static inline int64_t sagoi_extents_bytes(const sagoi_extents *extents) {
    return extents->pattern->permuted ? extents->pattern->bytes : extents->end - extents->begin;
}

/* Can the extents be walked by offset, without being sorted first? */
bool sagoi_extents_walkable(const sagoi_extents *extents);

/* The first offset and one past the last; 0 and 0 if there are no bytes.  The extents must be walkable by
 * offset. */
void sagoi_extents_bounds(const sagoi_extents *extents, int64_t *low, int64_t *high);

/* An estimate of the number of runs, which is exact unless a tile is cut.  Where offsets ascend, 1 means that
 * there is exactly one run. */
int64_t sagoi_extents_runs(const sagoi_extents *extents);

/* Goes to the first byte. */
void sagoi_cursor_init(sagoi_cursor *cursor, const sagoi_extents *extents);
/* Goes to the first byte at or after `offset`; the extents must be walkable by offset. */
void sagoi_cursor_seek(sagoi_cursor *cursor, int64_t offset);
/* Goes to the byte at request position `pos` (0 is extents->begin), in any pattern but a permuted one. */
void sagoi_cursor_seek_pos(sagoi_cursor *cursor, int64_t pos);
/* Hands out the next span, all of it below `limit`, where runs are cut; false: nothing is left below `limit`.
 * Without a limit pass SAGOI_NO_LIMIT. */
bool sagoi_cursor_next(sagoi_cursor *cursor, int64_t limit, sagoi_span *span);

/* What is left of a lap: whole pieces, and the place that their offsets count from. */
typedef struct sagoi_lap {
    const sagoi_piece *pieces; /* `count` pieces, whose positions and bytes follow each other in the stream */
    const sagoi_run *runs;     /* the runs of those that are lists: from runs[piece->stride] on */
    int64_t count, off;
} sagoi_lap;
/* Hands out the rest of a lap; false: the cursor stands inside of a piece, or the stream ends inside of the lap,
 * and the next span is all that there is.  A copy of short pieces takes less time lap by lap than span by span.
 * Not for permuted patterns. */
bool sagoi_cursor_next_lap(sagoi_cursor *cursor, sagoi_lap *lap);

/* Walks the runs of a span one by one, where a loop need not be tight:
 *     for (sagoi_walk run = sagoi_walk_span(&span); sagoi_walk_run(&run);)
 *         ... run.off, run.len, run.pos */
typedef struct sagoi_walk {
    const sagoi_span *span;
    int64_t next;          /* index of the next run */
    int64_t off, len, pos; /* the present run */
} sagoi_walk;

static inline sagoi_walk sagoi_walk_span(const sagoi_span *span) {
    return (sagoi_walk){.span = span, .off = span->off, .pos = span->pos};
}

static inline bool sagoi_walk_run(sagoi_walk *walk) {
    const sagoi_span *span = walk->span;
    if (walk->next == span->count)
        return false;
    if (walk->next > 0) {
        walk->off += span->runs ? walk->len + span->runs[walk->next].gap : span->stride;
        walk->pos += walk->len;
    }
    walk->len = span->runs ? span->runs[walk->next].len : span->len;
    walk->next++;
    return true;
}

/* Bytes of a span. */
int64_t sagoi_span_bytes(const sagoi_span *span);
/* Bytes of an ascending span below `limit`. */
int64_t sagoi_span_bytes_below(const sagoi_span *span, int64_t limit);

/* Bytes of the request below `offset`; the extents must be walkable by offset. */
int64_t sagoi_extents_bytes_below(const sagoi_extents *extents, int64_t offset);

/* The runs of a request come again every `bytes` bytes from its first offset on, and lie in the first `length`
 * bytes of each period.  0, 0: no period is known. */
typedef struct sagoi_period {
    int64_t bytes, length;
} sagoi_period;
sagoi_period sagoi_extents_period(const sagoi_extents *extents);

/* The sum over all runs of h(end) - h(start), where h is keyed by `key`: the cover check.  The runs of all ranks
 * tile [low, high) exactly when their sums add up to h(high) - h(low). */
uint64_t sagoi_extents_cover(const sagoi_extents *extents, uint64_t key);

#endif
