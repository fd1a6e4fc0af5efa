/* The plan: who moves what where, as a printable value.
 *
 *     plan = f(machine, shape, layout, hints)          no MPI, no I/O, no clock, no getenv
 *
 * Every rank computes the same plan from the same inputs.
 *
 * Glossary
 *   domain   the part of the file that one aggregator owns: blocks of `block` bytes, one every `stride` bytes from
 *            `first`, cut at `end`.  One block: a contiguous range (block == stride == end - first); blocks of one
 *            window: dealt out like stripes; larger ones: dealt out as the nodes' own data is.
 *   window   what an aggregator's buffer stands for: `window` bytes of a block, the last one of it cut
 *   round k  every domain's k-th window is filled and stored
 *   slot     the number of an aggregator among those of its node
 *   group    domains, and the nodes that alone may aggregate them (004, 3.1)
 *   relay    three layers: the node that sends on what the nodes of its switch or router have for aggregators
 *            elsewhere
 *   region   one of the equal parts of the accessed range in which each node's bytes are counted
 *
 * Only aggregated plans have domains: in direct and mapped ones, and where nothing is accessed, ndomains,
 * rounds, window, staging, message, messages and max_slots are 0.
 *
 * Invariants (plan_check proves them)
 *   - every byte of [low, high) lies in exactly one window of one domain
 *   - domains are pairwise different aggregators; a node has no more of them than ranks, numbered from slot 0
 *   - no node aggregates for two groups
 *   - window <= the budget's share; what a node's segment and buffers need fits the node's memory
 *   - 1 <= local aggregators <= ranks, on every node
 *   - three layers: a node's relay is a neighbour that is its own relay, and serves two nodes or more */
#ifndef SAGOI_PLAN_H
#define SAGOI_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/hints.h"
#include "base/json.h"
#include "base/status.h"
#include "base/subfiles.h"
#include "machine/machine.h"

/* What one node's ranks access together. */
typedef struct sagoi_node_shape {
    int64_t low, high; /* offsets: the first byte, and one past the last; low == high: nothing */
    int64_t bytes;     /* sum over the ranks: bytes that two ranks access count twice */
    int64_t runs;
} sagoi_node_shape;

enum { SAGOI_REGIONS = 32 };

/* A node's data comes again every `period` bytes, in the first `bytes` of each period, counted from the first
 * offset; period 0: no period is known. */
typedef struct sagoi_node_period {
    int64_t period, bytes;
} sagoi_node_period;

typedef struct sagoi_shape {
    bool write;
    bool dense;        /* The runs of all ranks that write tile [low, high) exactly. */
    int64_t most_runs; /* runs of the rank that has most; 0: not known */
    int64_t nodes;
    const sagoi_node_shape *node; /* not owned */
    /* Bytes of node n in region r, [origin + r * region, + region): histogram[n * SAGOI_REGIONS + r].  Not owned;
     * NULL: each node's bytes lie evenly in its range. */
    int64_t origin, region;
    const int64_t *histogram;
    const sagoi_node_period *periods; /* one for each node; not owned; NULL: not known */
} sagoi_shape;

/* The regions of an access to [low, high): their size is a power of two, and they begin at multiples of it. */
void sagoi_shape_regions(int64_t low, int64_t high, int64_t *origin, int64_t *region);
/* Roughly how many bytes the node has in [start, end). */
double sagoi_shape_bytes(const sagoi_shape *shape, int64_t node, int64_t start, int64_t end);
/* Is each node's data one stretch of the file?  Locks belong to nodes, so ranks of one node that lie side by side
 * pass no lock on. */
bool sagoi_shape_stretched(const sagoi_shape *shape);

/* The parts of store/layout.h that planning needs. */
typedef struct sagoi_target {
    int64_t block; /* alignment that the file system prefers */
    int64_t
        lock_unit; /* bytes of a block for which nodes that write to it wait for each other; 0: none is known */
    int64_t stripe_unit; /* bytes of a stripe; 0: the file is not striped */
    int64_t stripe_count;
    /* The machine's number of the target with stripe 0, plus 1, if the others follow in order; 0: not known. */
    int64_t stripe_first;
    sagoi_subfiles subfiles; /* count 0: one file */
    /* Every rank of the machine may map the file: one node, and a file system in memory or a hint. */
    bool mappable;
    bool sparse; /* A file that is read may have holes, which mapping it could allocate. */
} sagoi_target;

typedef struct sagoi_domain {
    int64_t first, end; /* offsets: where window 0 begins; nothing of the domain is at or past the end */
    int64_t block, stride;
    int64_t windows;
    int64_t group;
    int64_t node, slot; /* the aggregator: rank sagoi_slot_rank(ranks, slots of the node, slot) of its node */
} sagoi_domain;

enum { SAGOI_REASONS_MAX = 2048, SAGOI_COMPARED_MAX = 24 };

/* What a number of aggregators would take by the model, before their places are known. */
typedef struct sagoi_compared {
    int64_t aggregators;
    double seconds;
} sagoi_compared;

typedef struct sagoi_plan {
    bool write;
    bool dense; /* Windows are full, so no marks are needed. */
    /* Holes of at most so many bytes are worth reading and writing back, if that is allowed (sieve.c); 0: none. */
    int64_t sieve_gap;
    sagoi_strategy strategy; /* never auto */
    bool map_in_place;       /* A direct plan becomes a mapped one if the accessed range is in the file already. */
    sagoi_move move;         /* never auto; matters for aggregated plans on several nodes */
    bool merge;              /* Local aggregators merge and coalesce (001, IV-A). */
    int64_t low, high;       /* accessed range */
    int64_t nodes;
    int64_t window; /* bytes of a window; a multiple of 4096 */
    int64_t rounds;
    int64_t ndomains;
    sagoi_domain *domains;         /* ndomains domains, ascending by first; owned */
    sagoi_placement placement;     /* never auto */
    int64_t *node_low, *node_high; /* for each node: the range that the node accesses (owned) */
    /* Bit r of a node's regions: the node has bytes in [origin + r * region, + region) (owned).  region 0: not
     * known. */
    int64_t origin, region;
    uint32_t *node_regions;
    int64_t *node_slots; /* for each node: number of aggregators (owned) */
    int64_t *node_group; /* for each node: the group that the node may aggregate for (owned) */
    int64_t groups;
    int64_t local_aggregators; /* c, equal on every node, unless a node has fewer ranks */
    int64_t layers;            /* 2; or 3: relays send on what their neighbours have (001, VI) */
    int64_t *node_relay;       /* for each node: the node's relay; -1: messages go straight (owned) */
    int64_t relay_slots;       /* messages that a relay holds at a time; two layers: 0 */
    bool relay_repeats;        /* With three layers, reads that repeat a shape go through relays, too. */
    int64_t staging;           /* bytes that a rank packs for a pass; a rank has two such areas */
    int64_t message;           /* largest message, bytes */
    int64_t messages;          /* receives that an aggregator has in flight */
    int64_t max_slots;         /* the most aggregators of any node */
    bool fast_memory;          /* Windows go to the nodes' memory with most bandwidth (memory_level.c). */
    int64_t aggregators;       /* number that the model, the stripes or a hint wants; ndomains may differ */
    int64_t ncompared;         /* numbers of aggregators that the model compared; 0: the model was not asked */
    sagoi_compared compared[SAGOI_COMPARED_MAX];
    char reasons[SAGOI_REASONS_MAX]; /* one decision a line, with its numbers */
} sagoi_plan;

/* SAGO_ERR_MEMORY: even the smallest plan does not fit a node's memory; SAGO_ERR_ARG: inputs contradict each
 * other.  0 in a hint means that Sago decides. */
sago_status sagoi_plan_make(const sagoi_machine *machine, const sagoi_shape *shape, const sagoi_target *target,
                            const sagoi_hints *hints, sagoi_plan *plan) SAGOI_CHECKED;
void sagoi_plan_cleanup(sagoi_plan *plan); /* fine on a zeroed struct, and twice */

/* Proves the invariants; the message names the one that fails. */
sago_status sagoi_plan_check(const sagoi_plan *plan, const sagoi_machine *machine) SAGOI_CHECKED;

/* Are stripes dealt out section by section, each section to aggregators of its own (domains.c)? */
bool sagoi_plan_sectioned(const sagoi_plan *plan);
/* The range of domain d in round k, cut to [low, high); false: there is none. */
bool sagoi_plan_window(const sagoi_plan *plan, int64_t domain, int64_t round, int64_t *start, int64_t *end);

/* Does a node access [start, end)?  By its range and its regions: the answer may be a yes in vain, but never a no
 * in error. */
bool sagoi_plan_touches(const sagoi_plan *plan, int64_t node, int64_t start, int64_t end);

/* The domains that the node's range overlaps: *first and those behind it, as many as are returned.  No other
 * domain gets anything from the node. */
int64_t sagoi_plan_reach(const sagoi_plan *plan, int64_t node, int64_t *first);

/* Does the node's data for the domain go through its relay? */
bool sagoi_plan_relayed(const sagoi_plan *plan, int64_t node, int64_t domain);

/* The number of aggregators on the node: their slots are 0 .. slots - 1. */
int64_t sagoi_plan_slots(const sagoi_plan *plan, int64_t node);

/* Bytes of node-shared memory and of private buffers on a node with `ranks` ranks that has `slots` aggregators;
 * 0 unless aggregated.  The segment, in this order; what is in brackets is rounded up to 4096:
 *     control    4096
 *     windows    slots * 2 * [window]
 *     marks      slots * 2 * [window / 8]      only writes that are not dense
 *     staging    ranks * 2 * [staging]         only several nodes
 *     table      [ranks * reach * 2 * 16]      only several nodes; every domain counts, before they are known
 * Private: `messages` messages an aggregator, one a local aggregator that merges; several nodes. */
int64_t sagoi_plan_segment_bytes(const sagoi_plan *plan, int64_t ranks, int64_t slots);
/* What a node's segment really takes. */
int64_t sagoi_plan_node_segment_bytes(const sagoi_plan *plan, int64_t node, int64_t ranks);
int64_t sagoi_plan_private_bytes(const sagoi_plan *plan, int64_t ranks, int64_t slots);
/* What a relay needs besides: its messages, as much again for replies when reading, and its records of them. */
enum { SAGOI_RELAY_ENTRY = 64 }; /* bytes for each domain in each message */
int64_t sagoi_plan_relay_bytes(const sagoi_plan *plan, int64_t node);

/* ---- Subfiles: decided when a file is made ---- */
enum { SAGOI_SUBFILES_WHY_MAX = 160 };
/* What the hints ask for: a number of files, one for each node, or one for each set of nodes that share gateways;
 * count 0: one file.  `why` gets the reason in one line.  SAGO_ERR_HINT. */
sago_status sagoi_subfiles_choose(const sagoi_hints *hints, const sagoi_machine *machine, sagoi_subfiles *chosen,
                                  char why[SAGOI_SUBFILES_WHY_MAX]) SAGOI_CHECKED;
/* The block with which an access that ends at `end` fills one range of each subfile; a multiple of `unit`. */
int64_t sagoi_subfiles_whole_block(int64_t end, int64_t count, int64_t unit);
/* Is the block left to the first write? */
bool sagoi_subfiles_are_ruled_later(const sagoi_hints *hints);

/* The first write, or the first step of declared variables. */
typedef struct sagoi_first_access {
    int64_t low, high;             /* range of the whole access */
    int64_t first_low, first_high; /* range of the first variable */
    int64_t next_low;              /* where the next variable begins; INT64_MAX: there is none */
    const int64_t *bytes;          /* bytes of each node */
} sagoi_first_access;
/* The block with which each set of nodes, or each node, has a subfile for its own data; 0: some of them have no
 * data. */
int64_t sagoi_subfiles_first_block(const sagoi_machine *machine, const sagoi_first_access *access, int64_t count,
                                   int64_t unit);

/* ---- What a plan costs (000, IV-B), whoever made it; O(domains x nodes) ---- */
typedef struct sagoi_cost {
    double gather, store; /* C1 and C2 of all domains together, in seconds */
    double slowest;       /* C1 + C2 of the slowest domain */
    double wire;          /* bytes that leave their node */
    int64_t senders;      /* pairs of a domain and a node that sends to it */
} sagoi_cost;
sago_status sagoi_plan_cost(const sagoi_plan *plan, const sagoi_machine *machine, const sagoi_shape *shape,
                            sagoi_cost *cost) SAGOI_CHECKED;
/* Compares two layers with three (with the plan's relays) by the same model: how long the busiest node takes at
 * each end, if every message costs its path's latency and every byte its bandwidth.  Of many domains a sample is
 * taken. */
typedef struct sagoi_layers_cost {
    double two, three;                   /* seconds */
    double asking;                       /* seconds: requests without extents, with three layers; writes: 0 */
    double messages_two, messages_three; /* messages between nodes */
} sagoi_layers_cost;
sago_status sagoi_plan_layers_cost(const sagoi_plan *plan, const sagoi_machine *machine, const sagoi_shape *shape,
                                   sagoi_layers_cost *cost) SAGOI_CHECKED;
/* Roughly how many bytes of the domain the node has. */
double sagoi_domain_bytes(const sagoi_plan *plan, const sagoi_shape *shape, int64_t domain, int64_t node);

/* ---- Holes of writes (sieve.c) ---- */
/* The longest hole that costs less, read and written back, than another request; 0: none does.  `io`: the way to
 * the storage. */
int64_t sagoi_sieve_gap(sagoi_level io);

/* ---- Local aggregators: the formula of 001, IV-A ---- */
/* The rank of the i-th of c local aggregators among q ranks, 0 <= i < c <= q; i == c gives q. */
int64_t sagoi_local_aggregator(int64_t ranks, int64_t c, int64_t i);
/* The number of the local aggregator that serves the rank. */
int64_t sagoi_local_group(int64_t ranks, int64_t c, int64_t rank);
/* The rank on its node that holds aggregator slot `slot` of `slots`; slots are spread over the node's ranks. */
int64_t sagoi_slot_rank(int64_t ranks, int64_t slots, int64_t slot);

/* ---- Printing ---- */
void sagoi_plan_print_text(const sagoi_plan *plan, FILE *out);
/* Writes the members of an object that is open, which may have other members. */
void sagoi_plan_print_json(const sagoi_plan *plan, sagoi_json *json);

#endif
