/* How long planning takes, and how much memory, as machines grow. */
#ifndef TOOLS_PLAN_SCALE_H
#define TOOLS_PLAN_SCALE_H

#include <stdbool.h>

#include "plan/plan.h"

/* Plans accesses of 1,000 to 1,000,000 ranks, in a process of its own each, and prints a table. */
bool plan_scale(const sagoi_hints *hints, char *why);

#endif
