/* A plan in the making: what the files of this folder share while sagoi_plan_make() runs. */
#ifndef SAGOI_DRAFT_H
#define SAGOI_DRAFT_H

#include "plan/plan.h"

enum { SAGOI_PAGE = 4096 };

/* Smallest window, staging and message worth their overhead. */
#define SAGOI_SMALLEST (INT64_C(64) << 10)

typedef struct sagoi_draft {
    const sagoi_machine *machine;
    const sagoi_shape *shape;
    const sagoi_target *target;
    const sagoi_hints *hints;
    sagoi_plan *plan;    /* what is decided so far */
    int64_t ranks;       /* of all nodes */
    int64_t most_ranks;  /* of any node */
    int64_t bytes, runs; /* of all nodes; they stop at INT64_MAX */
    int64_t align;       /* domains begin at multiples of it, the first excepted; a multiple of SAGOI_PAGE */
    int64_t stripe;      /* domains are dealt out in units of it; 0: one contiguous range each */
    int64_t aggregators; /* wanted; the plan may have fewer domains */
    int64_t *slots;      /* aggregators of each node; owned by sagoi_plan_make() */
} sagoi_draft;

/* Keeps one line of `reasons`; a line that does not fit any more is left out. */
void sagoi_draft_reason(sagoi_draft *draft, const char *format, ...) SAGOI_PRINTF(2, 3);

/* strategy.c: strategy, move, merge, local aggregators. */
void sagoi_draft_strategy(sagoi_draft *draft);
void sagoi_draft_movement(sagoi_draft *draft);
/* The window to aim for where memory is no matter. */
int64_t sagoi_draft_window(const sagoi_draft *draft);

/* domains.c: how many aggregators, where, and what each owns. */
void sagoi_draft_aggregators(sagoi_draft *draft);
/* Sets window and ndomains of the plan and the slots of the nodes for windows of at most `window` bytes. */
void sagoi_draft_lay(sagoi_draft *draft, int64_t aggregators, int64_t window);
/* Fills in the domains that sagoi_draft_lay() counted. */
sago_status sagoi_draft_domains(sagoi_draft *draft) SAGOI_CHECKED;

/* sizes.c: window, staging and messages, until every node's memory holds them. */
sago_status sagoi_draft_sizes(sagoi_draft *draft) SAGOI_CHECKED;

/* "4 MiB", "12.5 MiB", "100 B" */
typedef struct sagoi_size_text {
    char text[32];
} sagoi_size_text;
sagoi_size_text sagoi_size_to_text(int64_t bytes);

#endif
