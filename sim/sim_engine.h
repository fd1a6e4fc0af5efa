/* Engines: from a pattern on a machine to loads for the replay.
 *
 *   sago          the production planner's plan
 *   tapioca       the same planner with one message a rank and a fence a round, as paper 000's library
 *   two-phase     ROMIO: every rank to every aggregator, lists of offsets and lengths first, rounds in step
 *   tam[:c]       paper 001: c local aggregators a node before that
 *   ompio         Open MPI's default: every list to every rank, one window stored while the other fills
 *   gio           GIO: one local aggregator a node, which joins runs, then two-phase
 *   coio[:g]      paper 002: collective writes, a file for each g ranks (64); g = all: one file
 *   rbio[:g]      one writer for each g ranks; the others send and go on
 *   rbio-thread[:g]  the writer's thread stores while its rank goes on */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim/load.h"
#include "sim/network.h"
#include "sim/replay.h"
#include "sim/traffic.h"

typedef struct sim_options {
    int64_t per_target;   /* aggregators that the peers have for each storage target; 0: 1 */
    int64_t buffer;       /* bytes of the peers' buffers; 0: the peers' own default */
    int64_t cb_nodes;     /* aggregators of the peers where nothing is striped; 0: one a node */
    int64_t times;        /* the file is so many times as long */
    bool always;          /* the peers gather even where ranges do not interleave (romio_cb_write=enable) */
    bool sieve_off;       /* the peers do not fill holes by reading first */
    int64_t rounds;       /* rounds that are simulated, where there are more; 0: 2 */
    int64_t shared_cores; /* all nodes share so many, as on a cluster of namespaces; 0: each has its own */
    bool send_only;       /* links limit what nodes send, not what they receive */
    bool plain_peers;     /* the peers do not see stripes */
    bool bridges_first;   /* the peers' aggregators are on gateways' nodes and those after them */
    int64_t burst;        /* bytes that pass a link at once after a pause: a token bucket */
    sim_model model;
    int64_t beside; /* bytes of a node besides those for aggregators' buffers; 0: there is one memory for all */
    bool repeated;  /* an earlier call had the same shape: Sago's lists are known */
} sim_options;

/* First byte, one past the last, bytes and runs of a call of all ranks; do ranks' ranges interleave? */
typedef struct sim_extent {
    int64_t low, high, bytes, runs, most_runs;
    bool interleaved;
} sim_extent;

typedef struct sim_case {
    plan_config config; /* completed */
    plan_input input;
    sagoi_topology topology;
    sim_costs costs;
    sim_costs_origin costs_of;
    sim_options options;
    int64_t targets;    /* targets of the storage that the file is on; 0: storage costs calls and copying only */
    int64_t unit;       /* bytes of the file's stripes there, whether or not engines see them */
    sim_extent *extent; /* extent of all calls together, then of each call (owned) */
    int64_t calls;
} sim_case;

/* Looks at all ranks once.  False: `why`. */
bool sim_case_measure(sim_case *c, char *why);
static inline const sim_extent *sim_extent_of(const sim_case *c, int64_t call) { return &c->extent[call + 1]; }

enum { SIM_ENGINE_NAME_MAX = 48 };

/* What an engine makes of a pattern: calls one after another, of which some are simulated. */
typedef struct sim_course {
    char name[SIM_ENGINE_NAME_MAX];
    char plan[240]; /* how the engine moves the data, in a line */
    double calls;   /* calls in all, each like one of those that have loads */
    bool held_only; /* the application waits only until everything is sent */
    /* What was decided, if the engine is Sago: */
    int64_t strategy, aggregators, locals, window, layers;
} sim_course;

typedef struct sim_engine {
    const char *name;
    const char *help;
    bool by_call; /* one collective call after another; else everything declared together */
    /* The load of a call (SIM_ALL_CALLS unless by_call); `number` is what follows the colon, 0: nothing. */
    bool (*load)(const sim_case *c, int64_t call, int64_t number, sim_load *load, sim_course *course, char *why);
} sim_engine;

/* "tam:4" -> the engine and 4.  NULL: there is none. */
const sim_engine *sim_engine_find(const char *name, int64_t *number);
const sim_engine *const *sim_engines(int64_t *count);

/* ---- For engines ---- */

/* Where windows are, and how what is in them moves. */
typedef struct sim_layout {
    int64_t aggregators, rounds;
    bool (*window)(const void *self, int64_t aggregator, int64_t round, int64_t *start, int64_t *end);
    const void *self;
    const int64_t *host; /* the aggregators' nodes */
    bool own_files;      /* every aggregator has a file of its own */
} sim_layout;

typedef struct sim_style {
    int64_t members; /* ranks of one collective call, where groups make their own; 0: all */
    int64_t locals;  /* senders of a node at most: local aggregators, or all ranks */
    bool lists;      /* offsets and lengths go ahead, 16 bytes a run, and are merged by the aggregator */
    bool joins;      /* local aggregators join runs first, for the whole call */
    bool to_all;     /* lists go to every rank */
    bool overlapped, in_step;
    bool fills_holes;  /* the aggregator reads the whole window first */
    int64_t in_flight; /* messages that an aggregator takes at a time; a node has one of each sender */
} sim_style;

/* Simulated rounds of a layout: what each node and aggregator does there. */
bool sim_load_windows(const sim_case *c, int64_t call, const sim_layout *layout, const sim_style *style,
                      sim_load *load, char *why);
/* Every rank stores its own runs; with sieving, in blocks of 512 KiB that are read first.  `agreed`: collective
 * calls before that. */
typedef struct sim_alone {
    bool sieves;
    int agreed;
} sim_alone;
bool sim_load_direct(const sim_case *c, int64_t call, const sim_alone *how, sim_load *load, char *why);
extern const sim_engine sim_engine_sago, sim_engine_tapioca, sim_engine_two_phase, sim_engine_tam,
    sim_engine_ompio, sim_engine_gio, sim_engine_coio, sim_engine_rbio, sim_engine_rbio_thread;

#endif
