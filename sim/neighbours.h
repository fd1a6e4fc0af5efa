/* The neighbours of a plan: the same plan but for one decision.  Where one of them is much faster in the
 * simulator, the planner's model is wrong. */
#ifndef SIM_NEIGHBOURS_H
#define SIM_NEIGHBOURS_H

#include "sim/sim_engine.h"

enum { SIM_NEIGHBOURS_MAX = 16 };

typedef struct sim_neighbour {
    char change[64]; /* the hint that leads there */
    sagoi_hints hints;
} sim_neighbour;

/* Lists the neighbours of the plan that the case's own hints give, which `course` describes; returns how many. */
int64_t sim_neighbours(const sim_case *c, const sim_course *course, sim_neighbour list[SIM_NEIGHBOURS_MAX]);

#endif
