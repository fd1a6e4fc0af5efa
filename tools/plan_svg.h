/* `sago plan --svg`: a plan as a picture. */
#ifndef TOOLS_PLAN_SVG_H
#define TOOLS_PLAN_SVG_H

#include "plan/plan.h"
#include "tools/plan_input.h"

void plan_svg(const plan_config *config, const plan_input *input, const sagoi_plan *plan, const char *title,
              FILE *out);

#endif
