/* A plan in the making: what the files of this folder share while sagoi_plan_make() runs. */
#ifndef SAGOI_DRAFT_H
#define SAGOI_DRAFT_H

#include "base/size_text.h"
#include "plan/plan.h"
#include "plan/route.h"

enum { SAGOI_PAGE = 4096 };

/* How the file is shared out. */
typedef enum {
    SAGOI_FORM_RANGES, /* one contiguous range each */
    SAGOI_FORM_DEALT,  /* stripes in turn */
    SAGOI_FORM_TURNS   /* the blocks that a node holds in turn with others */
} sagoi_form;

typedef struct sagoi_group {
    int64_t start, end;
    int64_t nodes;       /* that may aggregate for it */
    double bytes;        /* of those nodes */
    int64_t aggregators; /* wanted */
} sagoi_group;

/* A node's block, which comes again every `turn_bytes`. */
typedef struct sagoi_turn {
    int64_t first, bytes;
    int64_t node, group;
} sagoi_turn;

typedef struct sagoi_hosts sagoi_hosts; /* of hosts.h */

typedef struct sagoi_draft {
    const sagoi_machine *machine;
    const sagoi_shape *shape;
    const sagoi_target *target;
    const sagoi_hints *hints; /* what was given, and what was measured on the system where nothing was */
    const sagoi_hints *given;
    sagoi_plan *plan;    /* what is decided so far */
    int64_t ranks;       /* of all nodes */
    int64_t most_ranks;  /* of any node */
    double crowding;     /* ranks that share a core, where most do; at least 1 */
    int64_t bytes, runs; /* of all nodes; they stop at INT64_MAX */
    int64_t align;       /* domains begin at multiples of it, the first excepted; a multiple of SAGOI_PAGE */
    int64_t stripe;      /* of the file; 0: none */
    int64_t locks;   /* unit of the file system's locks, where there are several nodes and no stripes; 0: none */
    int64_t targets; /* that stripes go to in turn */
    bool parted;     /* the stripes are the blocks of subfiles */
    sagoi_form form;
    int64_t aggregators;    /* wanted; the plan may have fewer domains */
    int64_t weighed_window; /* that weigh.c chose with them; 0: it was not asked */
    double weighed_seconds; /* that it expects of them */
    int64_t *by_low; /* the nodes with data, ascending by first offset; owned by sagoi_plan_make(), as are: */
    int64_t nwith_data;
    sagoi_group *group; /* plan->groups of them, nodes + 1 at most */
    sagoi_hosts *hosts; /* several nodes */
    sagoi_turn *turn;   /* room for nodes, and for regions */
    int64_t nturns, turn_bytes;
    int64_t message_most; /* bytes of a message, where memory is short; 0: as many as are useful */
    bool scattered;       /* dealt out: next to each other in the file are not next to each other on the machine */
    bool refused;         /* a node could not be an aggregator's for want of memory */
    int64_t by_sibling, by_descendant; /* domains that were remerged (004, 3.3) */
} sagoi_draft;

/* Keeps one line of `reasons`; a line that does not fit any more is left out. */
void sagoi_draft_reason(sagoi_draft *draft, const char *format, ...) SAGOI_PRINTF(2, 3);

/* strategy.c: strategy, move, merge, local aggregators. */
void sagoi_draft_strategy(sagoi_draft *draft);
void sagoi_draft_movement(sagoi_draft *draft);
/* Local aggregators of a node, before or after that is decided. */
int64_t sagoi_draft_locals(const sagoi_draft *draft);
/* The window to aim for where memory is no matter. */
int64_t sagoi_draft_window(const sagoi_draft *draft);

/* The least bandwidth and the highest latency of the network's levels. */
sagoi_level sagoi_slowest_level(const sagoi_topology *topology);

/* estimate.c: what a number of aggregators would cost, before anybody knows where they are. */
typedef struct sagoi_estimate {
    double gather, store; /* seconds, if nothing else were to be done */
    double seconds;       /* of both, one window being filled while another is stored */
} sagoi_estimate;
sagoi_estimate sagoi_draft_estimate(const sagoi_draft *draft, int64_t aggregators);
/* How many nodes hold something of such a window, on the average. */
double sagoi_draft_senders(const sagoi_draft *draft, int64_t window);
/* What c local aggregators a node cost a round (001, IV-A), seconds. */
double sagoi_draft_local_cost(const sagoi_draft *draft, int64_t c);

/* sieve.c: which holes of a write are worth being read and written back. */
void sagoi_draft_sieve(sagoi_draft *draft);
/* weigh.c: strategy, aggregators and window together, where it is known what storage costs a process. */
typedef struct sagoi_best {
    double seconds;
    int64_t aggregators, window; /* 0: memory holds no window of any size */
    bool short_messages;         /* or it would not hold them all */
} sagoi_best;
bool sagoi_draft_modelled(const sagoi_draft *draft);
sagoi_best sagoi_draft_choose(const sagoi_draft *draft);
/* Each node with the blocks that it holds in turn with others. */
sagoi_best sagoi_draft_choose_turns(const sagoi_draft *draft);
/* Each rank by itself. */
double sagoi_draft_alone_seconds(const sagoi_draft *draft);

/* routes.c: seconds of the busiest links between switches, with the domains and hosts there are; 0: none is known.
 */
double sagoi_draft_route_seconds(const sagoi_draft *draft);

/* count.c: how many aggregators. */
void sagoi_draft_aggregators(sagoi_draft *draft);

/* Hints that were given and change nothing, with the reason of each. */
void sagoi_draft_explain_idle(sagoi_draft *draft);

/* groups.c: which parts of the file stay among which nodes, and the form. */
sago_status sagoi_draft_groups(sagoi_draft *draft) SAGOI_CHECKED;

/* Groups none of whose nodes can host an aggregator, able[g] == 0, join their neighbours; false: none or all are
 * such. */
bool sagoi_draft_merge_groups(sagoi_draft *draft, const int64_t *able);

/* Any node may aggregate any part of the file. */
void sagoi_draft_one_group(sagoi_draft *draft);

/* domains.c: what each aggregator owns. */
/* Msg_ind of this direction; 0: the number of aggregators decides. */
int64_t sagoi_draft_domain_hint(const sagoi_draft *draft);
/* What a domain may have where a span is bisected by that: halving makes up to twice as many as the quotient says,
 * and there are to be no more than ranks. */
int64_t sagoi_draft_bisected(const sagoi_draft *draft, int64_t span);
/* Would the groups make some domain much longer than an even share of the whole? */
bool sagoi_draft_uneven(const sagoi_draft *draft);
/* What is dealt out at a time to so many aggregators: windows, or whole stripes where windows are smaller and
 * locks would go to and fro between those that share a stripe. */
int64_t sagoi_draft_dealt(const sagoi_draft *draft, int64_t aggregators, int64_t window);
/* Aggregators that have so many bytes of each storage target between them, a turn; 0: that does not come out even.
 */
int64_t sagoi_draft_turn(const sagoi_draft *draft, int64_t dealt);
/* Does a node that writes behind another one's data on the same storage target wait for its lock, as far as is
 * known? */
bool sagoi_draft_locks_wait(const sagoi_draft *draft);
/* Dealt out to so many aggregators: into how many sections the file is cut, each of which has its own.  1: it is
 * not. */
int64_t sagoi_draft_sections(const sagoi_draft *draft, int64_t aggregators, int64_t dealt);
/* Sets window of the plan, at most `window`, and ndomains, at most as many as there will be. */
void sagoi_draft_lay(sagoi_draft *draft, int64_t aggregators, int64_t window);
/* Makes the domains that sagoi_draft_lay() counted, with a host each; *placed: every one found one. */
sago_status sagoi_draft_domains(sagoi_draft *draft, bool keep_reserve, bool *placed) SAGOI_CHECKED;

/* The window that a plan of so many aggregators would have, did memory not matter (sizes.c). */
int64_t sagoi_draft_wanted_window(const sagoi_draft *draft, int64_t aggregators);

/* sizes.c: window, staging and messages, until every node's memory holds them. */
sago_status sagoi_draft_sizes(sagoi_draft *draft) SAGOI_CHECKED;

/* memory_level.c: which of a node's memories the windows are in. */
void sagoi_draft_memory_level(sagoi_draft *draft);

/* layers.c: a third layer, across the nodes of a switch or router, where it is cheaper and memory allows. */
sago_status sagoi_draft_layers(sagoi_draft *draft) SAGOI_CHECKED;

#endif
