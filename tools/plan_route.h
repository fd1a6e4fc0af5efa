/* The route that a call of the pattern would take: what plan/route.h decides, with the answers that all ranks of a
 * running program would give. */
#ifndef TOOLS_PLAN_ROUTE_H
#define TOOLS_PLAN_ROUTE_H

#include "plan/route.h"
#include "tools/plan_input.h"

enum { ROUTE_PARTS_MAX = 8 };

/* Ranks that serve their parts in the same way. */
typedef struct route_part {
    int64_t first, ranks; /* lowest rank, and number of ranks */
    sagoi_route route;    /* route of the lowest rank, as is the next field */
    sagoi_route_wanted wanted;
    sagoi_route_own own;
} route_part;

typedef struct plan_route {
    sagoi_route_call call;
    sagoi_route_file file;
    sagoi_route_own own; /* what each rank knows before its accesses, the same on all */
    sagoi_route_choice choice;
    bool asks;         /* the ranks are asked first */
    int64_t unwilling; /* ranks that would rather go together */
    /* For a call in which ranks may go alone: */
    route_part part[ROUTE_PARTS_MAX];
    int64_t nparts, further; /* ranks whose parts are unlike all of these */
    double patience;         /* when ranks convene: seconds that the first rank waits */
    /* For a call that is, or may be, served together: */
    bool gathers_nothing;
    sagoi_method method;
    sagoi_worker worker;
    sagoi_why why;
} plan_route;

/* false: `why` says what is wrong. */
bool plan_route_make(const plan_config *config, const plan_input *input, const sagoi_plan *plan, plan_route *route,
                     char *why);
/* Does the call follow the plan, or may it?  Ranks that go alone need none, nor does data that a stage takes. */
bool plan_route_follows_plan(const plan_route *route);

void plan_route_print(const plan_route *route, FILE *out);
/* Prints what the other routes would have cost. */
void plan_route_print_others(const plan_route *route, FILE *out);
/* Writes members of an object that is open. */
void plan_route_print_json(const plan_route *route, sagoi_json *json);
/* Prints the route in one line. */
enum { ROUTE_LINE_MAX = 4 * SAGOI_ROUTE_TEXT_MAX };
void plan_route_line(const plan_route *route, char line[ROUTE_LINE_MAX]);

#endif
