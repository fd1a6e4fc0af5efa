/* `sago plan --explain`: what was decided, and what other decisions would have cost. */
#ifndef TOOLS_PLAN_EXPLAIN_H
#define TOOLS_PLAN_EXPLAIN_H

#include "plan/plan.h"
#include "tools/plan_input.h"

/* After the plan itself. */
bool plan_explain(const plan_input *input, const sagoi_hints *hints, const sagoi_plan *plan, char *why);

#endif
