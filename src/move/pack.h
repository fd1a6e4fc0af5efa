/* A rank's side of the exchange: its runs for aggregators on other nodes are coded and packed into its staging
 * area.
 *
 * Glossary
 *   staging  this rank's two areas in node-shared memory, used in turn
 *   packet   what a rank has for one domain in one pass: coded extents, then data
 *   part     the coded extents of one stream in a packet: a 4-byte length, then the code
 *   pass     as much as fits; the rest goes in the next pass */
#ifndef SAGOI_PACK_H
#define SAGOI_PACK_H

#include "move/request.h"
#include "plan/plan.h"

/* Lies in node-shared memory, where the local aggregator finds it. */
typedef struct sagoi_packet {
    uint32_t start; /* place in the rank's staging area */
    uint32_t code;  /* bytes of coded extents; 0 when the aggregator remembers them */
    uint64_t data;  /* bytes of data behind them */
} sagoi_packet;

/* How far the packing of a round has come. */
typedef struct sagoi_packer {
    const sagoi_plan *plan;
    const sagoi_request *request;
    int64_t node;         /* this rank's node, whose own domains are not packed */
    int64_t first, reach; /* domains that the node's range overlaps */
    bool code;            /* write the extents? */
    /* For each domain in reach: where the data lies in the caller's memory, if it lies together there and needs no
     * staging; else NULL.  The whole array is NULL if no data may stay there. */
    char **in_place;
    int64_t round;
    int64_t domain; /* the next domain to be packed */
    int64_t stream; /* the next stream of that domain */
    int64_t offset; /* the next offset of that stream; below the window: the window's start */
} sagoi_packer;

void sagoi_packer_start(sagoi_packer *packer, int64_t round);

/* Packs one pass into `staging` (`capacity` bytes), at most `most` bytes for a domain; packets[i] is set for every
 * domain `first` + i in reach.  When reading, only room is left for the data.  Data that may stay in place is only
 * coded, but passes are cut as if it were copied, since the next call's memory may be different.  Returns whether
 * something is left for another pass. */
bool sagoi_pack(sagoi_packer *packer, char *staging, int64_t capacity, int64_t most, sagoi_packet *packets);

/* Reading: walks the pass that began at `began` again, and copies its data from staging to memory. */
void sagoi_unpack(const sagoi_packer *began, const char *staging, const sagoi_packet *packets);

/* ---- The aggregator's side ---- */

/* A window of the aggregator, which the extents of a packet refer to. */
typedef struct sagoi_window {
    char *place;
    int64_t start, end;
    uint64_t *marks; /* a bit for each byte of a window in which writes leave holes; else NULL */
    bool unread;     /* reading failed: there is no data to answer with */
} sagoi_window;

/* Is the packet one run of `bytes` bytes in the window?  Then *place is where. */
bool sagoi_packet_is_run(const uint8_t *code, int64_t code_bytes, int64_t bytes, const sagoi_window *window,
                         char **place);

/* Copies the data of a packet between `data` and the window.  false: the extents are broken, leave the window, or
 * do not have `bytes` bytes. */
bool sagoi_packet_copy(const uint8_t *code, int64_t code_bytes, char *data, int64_t bytes,
                       const sagoi_window *window, sagoi_direction direction);

#endif
