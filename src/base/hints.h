/* The one table of hints, which MPI_Info, the environment, `sago hints`, the documentation and the planner all
 * use.  A variable of the environment (SAGO_MEMORY for sago_memory) gives the default, and an MPI_Info value wins
 * over it.  No other file of the library calls getenv(). */
#ifndef SAGOI_HINTS_H
#define SAGOI_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum {
    SAGOI_STRATEGY_AUTO,
    SAGOI_STRATEGY_DIRECT,
    SAGOI_STRATEGY_MAPPED,
    SAGOI_STRATEGY_AGGREGATED
} sagoi_strategy;
typedef enum { SAGOI_MOVE_AUTO, SAGOI_MOVE_PACKED, SAGOI_MOVE_RMA } sagoi_move;
typedef enum { SAGOI_LAYERS_AUTO, SAGOI_LAYERS_TWO, SAGOI_LAYERS_THREE } sagoi_layers;
typedef enum { SAGOI_IO_AUTO, SAGOI_IO_POSIX, SAGOI_IO_URING } sagoi_io;
typedef enum {
    SAGOI_PLACEMENT_AUTO,
    SAGOI_PLACEMENT_COST,   /* least C1 + C2 (000, IV-B) */
    SAGOI_PLACEMENT_MEMORY, /* most available memory (004, 3.4) */
    SAGOI_PLACEMENT_RANK,   /* the first nodes, one each, then again (ROMIO) */
    SAGOI_PLACEMENT_SPREAD  /* evenly over the nodes (001, IV) */
} sagoi_placement;
typedef enum { SAGOI_AGREE_ALWAYS, SAGOI_AGREE_ENTER, SAGOI_AGREE_TURN } sagoi_agree_hint;
typedef enum { SAGOI_NONBLOCKING_TOGETHER, SAGOI_NONBLOCKING_APART } sagoi_nonblocking_hint;
typedef enum { SAGOI_TIER_GLOBAL, SAGOI_TIER_LOCAL } sagoi_tier_hint;
typedef enum { SAGOI_DRAIN_CALL, SAGOI_DRAIN_BACKGROUND } sagoi_drain_hint;
typedef enum { SAGOI_FOUND_SAFE, SAGOI_FOUND_MERGE, SAGOI_FOUND_DROP } sagoi_found_hint;
typedef enum { SAGOI_CHOICE_AUTO, SAGOI_CHOICE_ON, SAGOI_CHOICE_OFF } sagoi_choice;
typedef enum { SAGOI_CKPT_THREADED, SAGOI_CKPT_RBIO, SAGOI_CKPT_COIO } sagoi_ckpt_mode;
typedef enum { SAGOI_EARLY_WAIT, SAGOI_EARLY_SKIP, SAGOI_EARLY_REPLACE } sagoi_ckpt_early;
typedef enum {
    SAGOI_REDUNDANCY_NONE,
    SAGOI_REDUNDANCY_COPY,
    SAGOI_REDUNDANCY_XOR,
    SAGOI_REDUNDANCY_RS
} sagoi_redundancy;
enum { SAGOI_SIGNAL_USR1 = 1, SAGOI_SIGNAL_TERM = 2 }; /* bits of ckpt_signal */

enum { SAGOI_HINTS_MAX = 128 };     /* rows that the table may have; a multiple of 8 */
enum { SAGOI_HINT_TEXT_MAX = 512 }; /* bytes of a text, the closing NUL included; a multiple of 8 */

/* The values in force, field by field as the rows of the table describe them; sizes are in bytes, and 0 means that
 * Sago decides. */
typedef struct sagoi_hints {
    int64_t memory;            /* sago_memory: budget of a node */
    int64_t strategy;          /* sagoi_strategy */
    int64_t move;              /* sagoi_move */
    int64_t merge;             /* sagoi_choice: heap merge at the local aggregators */
    int64_t map;               /* sagoi_choice: may the file be mapped */
    int64_t aggregators;       /* global aggregators in all */
    int64_t local_aggregators; /* c of a node */
    int64_t layers;            /* sagoi_layers: of aggregation */
    int64_t per_target;        /* aggregators of each storage target: k */
    int64_t placement;         /* sagoi_placement */
    int64_t per_node;          /* at most so many aggregators on a node: N_ah */
    int64_t domain_write;      /* bytes that saturate an aggregator: Msg_ind, one for each direction */
    int64_t domain_read;
    int64_t group_size;      /* bytes of an aggregation group: Msg_group */
    int64_t host_memory;     /* least memory of an aggregator's node: Mem_min */
    int64_t window;          /* bytes of one of an aggregator's two buffers */
    int64_t messages;        /* messages in flight an aggregator */
    int64_t message_size;    /* largest message */
    int64_t io;              /* sagoi_io */
    int64_t direct_io;       /* 0/1: O_DIRECT */
    int64_t sieve;           /* sagoi_choice: holes are filled by read-modify-write */
    int64_t plan_cache;      /* plans kept a file */
    int64_t series_copy;     /* 0/1 */
    int64_t timing;          /* 0/1: ranks time what they do alone */
    int64_t tier;            /* sagoi_tier_hint */
    int64_t tier_found;      /* sagoi_found_hint */
    int64_t tier_drain;      /* sagoi_drain_hint */
    int64_t agree;           /* sagoi_agree: when ranks meet in collective calls */
    int64_t lock_time;       /* microseconds that a stripe's lock takes to go to another node */
    int64_t patience;        /* seconds in a call for nodes that do not answer; 0: for ever */
    int64_t nonblocking;     /* sagoi_nonblocking_hint: may they need the other ranks */
    int64_t series_parts;    /* parts of a step; each part may move before the step is complete */
    int64_t defer;           /* sagoi_choice: collective writes are put off and moved together */
    int64_t defer_age;       /* seconds; 0: no limit */
    int64_t striping_factor; /* as MPI's reserved hints */
    int64_t striping_unit;
    int64_t subfile_block;                 /* bytes of a block of a subfile */
    char subfiles[SAGOI_HINT_TEXT_MAX];    /* sago_subfiles: a number, "node" or "gateway" */
    char memory_kind[SAGOI_HINT_TEXT_MAX]; /* sago_memory_kind: machine/memory_kind.h */
    char machine[SAGOI_HINT_TEXT_MAX];    /* sago_machine: a description's name or path; "" = auto, as all texts */
    char site[SAGOI_HINT_TEXT_MAX];       /* sago_site: path of the site file */
    char local_dirs[SAGOI_HINT_TEXT_MAX]; /* sago_local_dirs: "/tmp:/scratch/local" */
    int64_t ckpt_mode;                    /* sagoi_ckpt_mode */
    int64_t ckpt_files;                   /* nf; 0: one a writer */
    int64_t ckpt_group;                   /* np / ng; 0: not said */
    int64_t ckpt_early;                   /* sagoi_ckpt_early */
    int64_t ckpt_redundancy;              /* sagoi_redundancy; SAGOI_REDUNDANCY_RS + k - 1: rs:k */
    int64_t ckpt_set;                     /* storage devices in a redundancy set */
    int64_t ckpt_redundant_every, ckpt_global_every; /* saves; 0: never */
    int64_t ckpt_keep_local, ckpt_keep_global;       /* complete steps; 0: all */
    int64_t ckpt_rate;                               /* bytes a second when draining, all writers together */
    int64_t ckpt_interval, ckpt_overhead, ckpt_mtbf; /* seconds, percent, seconds; 0: off */
    int64_t ckpt_signal;                             /* bits SAGOI_SIGNAL_* */
    int64_t ckpt_lease;                              /* seconds */
    int64_t ckpt_patience;                           /* seconds */
    int64_t ckpt_read_only;                          /* 0/1 */
    char ckpt_stats[SAGOI_HINT_TEXT_MAX];            /* a file for a line a checkpoint; "": none */
    bool named[SAGOI_HINTS_MAX]; /* row i was set by its own name in an MPI_Info, so an alias no longer sets it */
} sagoi_hints;

typedef enum {
    SAGOI_HINT_SIZE,
    SAGOI_HINT_INT,
    SAGOI_HINT_BOOL,
    SAGOI_HINT_ENUM,
    SAGOI_HINT_TEXT
} sagoi_hint_type;

typedef struct sagoi_hint_row {
    const char *name; /* "sago_memory" */
    sagoi_hint_type type;
    size_t field;         /* offset in sagoi_hints */
    const char *fallback; /* the default, as text */
    int64_t low, high;    /* range of sizes and ints (0 = auto is allowed where the default is "auto") */
    /* Enums: "auto|direct|mapped|aggregated", in the order of their values; texts: the words allowed beside a
     * number in the range; NULL: any text. */
    const char *choices;
    const char *alias; /* ROMIO's or MPI's names for the same hint, "a|b", or NULL */
    const char *help;  /* one line */
} sagoi_hint_row;

/* The table; *count: how many rows it has. */
const sagoi_hint_row *sagoi_hint_table(int64_t *count);

/* Sets all defaults, then the environment's values (an empty variable counts as unset).  SAGO_ERR_HINT: a value of
 * the environment is wrong. */
sago_status sagoi_hints_init(sagoi_hints *hints) SAGOI_CHECKED;

/* Sets one key and value of an MPI_Info.  SAGO_ERR_HINT: a sago_* key is unknown, or its value is wrong or out of
 * range.  Keys of other libraries are ignored.  MPI's own names (striping_factor, ...) and aliases are lenient: a
 * value that Sago cannot use is ignored, as MPI asks.  The order of keys does not matter: sago_window wins over
 * its alias cb_buffer_size. */
sago_status sagoi_hints_set(sagoi_hints *hints, const char *key, const char *value) SAGOI_CHECKED;

/* Writes the value in force as text that sagoi_hints_set() would take. */
void sagoi_hint_format(const sagoi_hints *hints, const sagoi_hint_row *row, char *text, size_t capacity);

/* Where the value of row i comes from: "environment", "MPI_Info"; NULL: it is the default, or Sago's choice. */
const char *sagoi_hint_source(const sagoi_hints *hints, int64_t i);

/* Tells of every wrong variable of the environment that begins with SAGO_: a wrong value, a path that cannot be
 * used from here, or a name that is nearly that of a known variable.  What SAGO_SITE and SAGO_MACHINE name is not
 * opened (machine/discover.h). */
void sagoi_check_environment(void (*tell)(const char *said));

/* Tells of the variables that begin with SAGO_ and are not at all like one that Sago knows.  Not for every job:
 * they may be a program's own. */
void sagoi_check_unknown(void (*tell)(const char *said));

/* A variable of the environment that is no hint (those of batch systems); NULL: unset or empty. */
const char *sagoi_environment(const char *name);

/* Reads "64M", "1GiB", "4096": bytes, in powers of 1024; false: it is no size. */
bool sagoi_parse_size(const char *text, int64_t *bytes);

#endif
