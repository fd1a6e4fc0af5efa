/* A rank's side of the exchange: its runs for aggregators on other nodes, coded and packed into its staging area.
 *
 * Glossary
 *   staging  this rank's two areas in node-shared memory, used in turn
 *   region   what a rank has for one domain in one pass: coded extents, then data, one after the other
 *   part     the coded extents of one stream in a region: a 4-byte length, then the code
 *   pass     as much as fits; what does not comes in the next */
#ifndef SAGOI_PACK_H
#define SAGOI_PACK_H

#include "move/request.h"
#include "plan/plan.h"

/* Lies in node-shared memory, where the local aggregator finds it. */
typedef struct sagoi_region {
    uint32_t start; /* in the rank's staging area */
    uint32_t code;  /* bytes of coded extents; 0 when the aggregator remembers them */
    uint64_t data;  /* bytes of data behind them */
} sagoi_region;

/* Where packing of a round has got to. */
typedef struct sagoi_packer {
    const sagoi_plan *plan;
    const sagoi_request *request;
    int64_t node;         /* this rank's: its own domains are not packed */
    int64_t first, reach; /* domains that its node's range overlaps */
    bool code;            /* write extents? */
    char **in_place; /* one a domain in reach: its data's place in the caller's memory, where they lie together
                        there and need no staging; else NULL.  NULL: none may stay there */
    int64_t round;
    int64_t domain; /* next to be packed */
    int64_t stream; /* next in that domain */
    int64_t offset; /* next in that stream; below the window: its start */
} sagoi_packer;

void sagoi_packer_start(sagoi_packer *packer, int64_t round);

/* Packs one pass into staging (`capacity` bytes), at most `most` bytes for a domain; regions[i] is set for
 * every domain `first` + i in reach.  When reading, only room is left for the data.  What may stay in place is
 * only coded: passes are cut where they would be if it were copied, since the next call's memory may look
 * otherwise. Returns whether something is left for another pass. */
bool sagoi_pack(sagoi_packer *packer, char *staging, int64_t capacity, int64_t most, sagoi_region *regions);

/* Reading: walks the pass that began at `packer` again and takes its data from staging to memory. */
void sagoi_unpack(const sagoi_packer *began, const char *staging, const sagoi_region *regions);

/* ---- The aggregator's side ---- */

/* A window of the aggregator: what a region's extents refer to. */
typedef struct sagoi_window {
    char *place;
    int64_t start, end;
    uint64_t *marks; /* writes that leave holes; else NULL */
} sagoi_window;

/* Is the region one run of `bytes` bytes in the window?  Then *place is where. */
bool sagoi_region_is_run(const uint8_t *code, int64_t code_bytes, int64_t bytes, const sagoi_window *window,
                         char **place);

/* Copies a region's data between `data` and the window.  false: the extents are broken or leave the window, or
 * their bytes are not `bytes`. */
bool sagoi_region_copy(const uint8_t *code, int64_t code_bytes, char *data, int64_t bytes,
                       const sagoi_window *window, sagoi_direction direction);

#endif
