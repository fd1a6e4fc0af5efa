/* When, roughly, each aggregator of a plan is filled and stores, round by round, by the planner's own costs. */
#ifndef TOOLS_PLAN_TIME_H
#define TOOLS_PLAN_TIME_H

#include "plan/plan.h"
#include "tools/plan_input.h"

/* One window of one aggregator, in seconds since the call began.  A write fills and then stores, a read the other
 * way round; `first` is the first of the two. */
typedef struct plan_turn {
    bool used;       /* the aggregator has a window in this round */
    double ready;    /* when the aggregator was through with the step before, and could go on */
    double first[2]; /* from, to */
    double second[2];
    bool waited_for_storage; /* until first[0] the aggregator waited for its own storage; else for the other
                                aggregators */
    double bytes;
} plan_turn;

typedef struct plan_times {
    int64_t domains, rounds; /* the first ones of the plan */
    plan_turn *turns;        /* turns[domain * rounds + round]; owned */
    double end;
} plan_times;

/* For at most so many domains and rounds; false: there is no memory. */
bool plan_times_make(const plan_input *input, const sagoi_plan *plan, int64_t domains, int64_t rounds,
                     plan_times *times);
void plan_times_cleanup(plan_times *times);

#endif
