/* A plan that is being made: what the files of this folder share while sagoi_plan_make() runs. */
#ifndef SAGOI_DRAFT_H
#define SAGOI_DRAFT_H

#include "base/size_text.h"
#include "plan/plan.h"
#include "plan/route.h"

enum { SAGOI_PAGE = 4096 };

/* How the file is divided. */
typedef enum {
    SAGOI_FORM_RANGES, /* one contiguous range each */
    SAGOI_FORM_DEALT,  /* stripes in turn */
    SAGOI_FORM_TURNS   /* blocks that a node holds in turn with others */
} sagoi_form;

typedef struct sagoi_group {
    int64_t start, end;
    int64_t nodes;       /* nodes that may aggregate for the group */
    double bytes;        /* bytes of those nodes */
    int64_t aggregators; /* number of aggregators that the group is to have */
} sagoi_group;

/* A node's block, which comes again after `turn_bytes`. */
typedef struct sagoi_turn {
    int64_t first, bytes;
    int64_t node, group;
} sagoi_turn;

typedef struct sagoi_hosts sagoi_hosts; /* defined in hosts.h */

typedef struct sagoi_draft {
    const sagoi_machine *machine;
    const sagoi_shape *shape;
    const sagoi_target *target;
    const sagoi_hints *hints; /* the hints given; where there is none, what was measured on the system */
    const sagoi_hints *given;
    sagoi_plan *plan;    /* what is decided so far */
    int64_t ranks;       /* number of ranks on all nodes */
    int64_t most_ranks;  /* number of ranks on the node that has most */
    double crowding;     /* ranks that share a core, on the most crowded node; at least 1 */
    int64_t bytes, runs; /* sums over all nodes, which stop at INT64_MAX */
    int64_t align;   /* Domains begin at multiples of this number, except the first; a multiple of SAGOI_PAGE. */
    int64_t stripe;  /* bytes of a stripe of the file; 0: none */
    int64_t locks;   /* bytes of the file system's locks, on several nodes and without stripes; 0: none */
    int64_t targets; /* storage targets that the stripes go to in turn */
    bool parted;     /* The stripes are the blocks of subfiles. */
    sagoi_form form;
    int64_t aggregators;    /* number of aggregators that is wanted; the plan may have fewer domains */
    int64_t weighed_window; /* the window that weigh.c chose with that number; 0: weigh.c was not asked */
    double weighed_seconds; /* seconds that weigh.c expects */
    /* Nodes with data, ascending by first offset; owned by sagoi_plan_make(), as are the next ones. */
    int64_t *by_low;
    int64_t nwith_data;
    sagoi_group *group; /* plan->groups groups, at most nodes + 1 */
    sagoi_hosts *hosts; /* hosts of aggregators, with several nodes; else NULL */
    sagoi_turn *turn;   /* room for as many as there are nodes, and for as many as there are regions */
    int64_t nturns, turn_bytes;
    int64_t message_most;              /* bytes of a message if memory is short; 0: as many as are useful */
    bool scattered;                    /* Neighbours in a file that is dealt out are none on the machine. */
    bool refused;                      /* A node could not host an aggregator for want of memory. */
    int64_t by_sibling, by_descendant; /* domains that were remerged (004, 3.3) */
} sagoi_draft;

/* Adds a line to `reasons`; a line that does not fit any more is left out. */
void sagoi_draft_reason(sagoi_draft *draft, const char *format, ...) SAGOI_PRINTF(2, 3);

/* strategy.c: strategy, movement, merging, local aggregators. */
void sagoi_draft_strategy(sagoi_draft *draft);
void sagoi_draft_movement(sagoi_draft *draft);
/* Local aggregators of a node, before or after that is decided. */
int64_t sagoi_draft_locals(const sagoi_draft *draft);
/* The window to aim for if memory does not matter. */
int64_t sagoi_draft_window(const sagoi_draft *draft);

/* The lowest bandwidth and the highest latency of the network's levels. */
sagoi_level sagoi_slowest_level(const sagoi_topology *topology);

/* estimate.c: what a number of aggregators would cost, before their places are known. */
typedef struct sagoi_estimate {
    double gather, store; /* seconds of each by itself */
    double seconds;       /* seconds of both, with one window being filled while another is stored */
} sagoi_estimate;
sagoi_estimate sagoi_draft_estimate(const sagoi_draft *draft, int64_t aggregators);
/* The number of nodes with data in such a window, on average. */
double sagoi_draft_senders(const sagoi_draft *draft, int64_t window);
/* Seconds that c local aggregators a node cost in a round (001, IV-A). */
double sagoi_draft_local_cost(const sagoi_draft *draft, int64_t c);

/* sieve.c: which holes of a write are worth reading and writing back. */
void sagoi_draft_sieve(sagoi_draft *draft);
/* weigh.c: strategy, aggregators and window together, if it is known what storage costs a process. */
typedef struct sagoi_best {
    double seconds;
    int64_t aggregators, window; /* 0: memory holds no window of any size */
    bool short_messages;         /* Messages are short, or memory would not hold all of them. */
} sagoi_best;
/* Is it known what storage costs a process here?  Then the model decides, unless a hint sets the domains. */
bool sagoi_draft_costs_known(const sagoi_draft *draft);
bool sagoi_draft_modelled(const sagoi_draft *draft);
sagoi_best sagoi_draft_choose(const sagoi_draft *draft);
/* Weighs each node with the blocks that it holds in turn with others. */
sagoi_best sagoi_draft_choose_turns(const sagoi_draft *draft);
/* Weighs each rank by itself. */
double sagoi_draft_alone_seconds(const sagoi_draft *draft);

/* switch_links.c: seconds of the busiest links between switches, with the present domains and hosts; 0: no such
 * link is known. */
double sagoi_draft_switch_seconds(const sagoi_draft *draft);

/* count.c: the number of aggregators. */
void sagoi_draft_aggregators(sagoi_draft *draft);

/* Would the plan aggregate if this hint, an offset in sagoi_hints, had not been given? */
bool sagoi_draft_aggregates_without(const sagoi_draft *draft, size_t field);
/* Names the hints that were given and change nothing, or because of which nothing is aggregated. */
void sagoi_draft_explain_idle(sagoi_draft *draft);

/* groups.c: which parts of the file stay among which nodes, and the form of domains. */
sago_status sagoi_draft_groups(sagoi_draft *draft) SAGOI_CHECKED;

/* The fewest bytes that are divided among groups: the last one has at least half of a group's size. */
double sagoi_draft_divided(const sagoi_draft *draft);

/* Groups in which no node can host an aggregator, able[g] == 0, join their neighbours; false: there are none, or
 * all are such. */
bool sagoi_draft_merge_groups(sagoi_draft *draft, const int64_t *able);

/* Makes one group, so that any node may aggregate any part of the file. */
void sagoi_draft_one_group(sagoi_draft *draft);

/* domains.c: what each aggregator owns. */
/* Msg_ind of this direction; 0: the number of aggregators decides. */
int64_t sagoi_draft_domain_hint(const sagoi_draft *draft);
/* The most bytes of a domain if a span is bisected by Msg_ind: halving makes up to twice as many domains as the
 * quotient says, and there must not be more than ranks. */
int64_t sagoi_draft_bisected(const sagoi_draft *draft, int64_t span);
/* Would the groups make some domain much longer than an even share of the whole? */
bool sagoi_draft_uneven(const sagoi_draft *draft);
/* The bytes that go to one of so many aggregators at a time: a window; or a whole stripe, if windows are smaller
 * and the locks of aggregators that share a stripe would move between them. */
int64_t sagoi_draft_dealt(const sagoi_draft *draft, int64_t aggregators, int64_t window);
/* Aggregators that have so many bytes of each storage target between them, a turn; 0: that does not come out
 * even. */
int64_t sagoi_draft_turn(const sagoi_draft *draft, int64_t dealt);
/* Does a node that writes behind another node's data on the same storage target wait for that node's lock, as far
 * as is known? */
bool sagoi_draft_locks_wait(const sagoi_draft *draft);
/* The sections into which the file is cut, if it is dealt out to so many aggregators; 1: it is not cut. */
int64_t sagoi_draft_sections(const sagoi_draft *draft, int64_t aggregators, int64_t dealt);
/* Shares the aggregators among the groups; the bytes of the longest range that one of them then has. */
int64_t sagoi_draft_longest(sagoi_draft *draft, int64_t aggregators);
/* Sets the plan's window, at most `window`, and ndomains, at most as many as there will be. */
void sagoi_draft_lay(sagoi_draft *draft, int64_t aggregators, int64_t window);
/* Makes the domains that sagoi_draft_lay() counted, each with a host; *placed: every domain found one. */
sago_status sagoi_draft_domains(sagoi_draft *draft, bool keep_reserve, bool *placed) SAGOI_CHECKED;

/* The window of a plan with so many aggregators if memory did not matter (sizes.c). */
int64_t sagoi_draft_wanted_window(const sagoi_draft *draft, int64_t aggregators);

/* sizes.c: window, staging and messages, until every node's memory holds them. */
sago_status sagoi_draft_sizes(sagoi_draft *draft) SAGOI_CHECKED;

/* memory_level.c: which of a node's memories the windows are in. */
void sagoi_draft_memory_level(sagoi_draft *draft);

/* layers.c: a third layer, across the nodes of a switch or router, if it is cheaper and memory allows. */
sago_status sagoi_draft_layers(sagoi_draft *draft) SAGOI_CHECKED;

#endif
