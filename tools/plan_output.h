/* What `sago plan` shows besides the plan and its route. */
#ifndef TOOLS_PLAN_OUTPUT_H
#define TOOLS_PLAN_OUTPUT_H

#include "plan/plan.h"
#include "tools/plan_input.h"

/* --explain, behind the plan: what was decided, and what other decisions would have cost. */
bool plan_explain(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan, char *why);

/* --svg: the plan as a picture. */
void plan_svg(const plan_config *config, const plan_input *input, const sagoi_plan *plan, const char *title,
              FILE *out);

/* --scale: plans accesses of 1,000 to 1,000,000 ranks, each in a process of its own, and prints time and memory of
 * each. */
bool plan_scale(const sagoi_hints *hints, char *why);

#endif
