/* The route that a call of the pattern would take: what plan/route.h decides, with the answers of all ranks that a
 * running program would have asked for. */
#ifndef TOOLS_PLAN_ROUTE_H
#define TOOLS_PLAN_ROUTE_H

#include "plan/route.h"
#include "tools/plan_input.h"

enum { ROUTE_PARTS_MAX = 8 };

/* Ranks that serve their parts alike. */
typedef struct route_part {
    int64_t first, ranks; /* the lowest one, and how many */
    sagoi_route route;    /* of the lowest one, as is: */
    sagoi_route_wanted wanted;
    sagoi_route_own own;
} route_part;

typedef struct plan_route {
    sagoi_route_call call;
    sagoi_route_file file;
    sagoi_route_own own; /* of every rank, before its accesses */
    sagoi_route_choice choice;
    bool asks;         /* the ranks were asked first: */
    int64_t unwilling; /* so many would rather have help */
    /* Of a call in which ranks may go alone. */
    route_part part[ROUTE_PARTS_MAX];
    int64_t nparts, further; /* ranks whose parts are unlike all of these */
    double patience;         /* convening: seconds that the first rank waits */
    /* Of a call that is, or may be, served together. */
    bool gathers_nothing;
    sagoi_method method;
    sagoi_worker worker;
    sagoi_why why;
} plan_route;

/* False: `why` says what is wrong. */
bool plan_route_make(const plan_config *config, const plan_input *input, const sagoi_plan *plan, plan_route *route,
                     char *why);
/* Is no plan needed? */
bool plan_route_is_alone(const plan_route *route);

void plan_route_print(const plan_route *route, FILE *out);
/* What the other routes would have cost. */
void plan_route_print_others(const plan_route *route, FILE *out);
/* Members of an object that is open. */
void plan_route_print_json(const plan_route *route, sagoi_json *json);
/* The route in a line. */
enum { ROUTE_LINE_MAX = 4 * SAGOI_ROUTE_TEXT_MAX };
void plan_route_line(const plan_route *route, char line[ROUTE_LINE_MAX]);

#endif
