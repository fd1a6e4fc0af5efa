/* The steps of plan/route.h in their order, rank by rank, without MPI. */
#include "tools/plan_route.h"

#include <inttypes.h>

/* ---- Inputs ---- */

static sagoi_route_call call_of(const plan_config *config) {
    return (sagoi_route_call){.type = config->kind == PLAN_DECLARED      ? SAGOI_DECLARED
                                      : config->kind == PLAN_INDEPENDENT ? SAGOI_INDEPENDENT
                                                                         : SAGOI_COLLECTIVE,
                              .write = !config->read,
                              .nonblocking = config->kind == PLAN_NONBLOCKING,
                              .by_extents = config->extents};
}

/* Sets the inputs as sagoi_dispatch_init() does for a file. */
static sagoi_route_file file_of(const plan_config *config, const plan_input *input, bool gaps) {
    const sagoi_hints *hints = &config->hints;
    bool defers = hints->defer == SAGOI_CHOICE_ON;
    return (sagoi_route_file){.nodes = config->nodes,
                              .ranks = config->nodes * config->ranks,
                              .agree = (sagoi_agree_hint)hints->agree,
                              .strategy = (sagoi_strategy)hints->strategy,
                              .apart = hints->nonblocking == SAGOI_NONBLOCKING_APART,
                              .one_kernel = config->nodes == 1 && input->local,
                              .striped = input->target.stripe_unit > 0 || input->target.lock_unit > 0 ||
                                         input->target.subfiles.count > 0,
                              .mappable = input->target.mappable,
                              .gaps = gaps,
                              .tier = hints->tier == SAGOI_TIER_LOCAL,
                              .defer = defers,
                              .deferring = defers};
}

/* What one rank wants in the calls that are looked at. */
static sagoi_route_wanted wanted_by(const plan_config *config, const bench_access *access) {
    sagoi_route_wanted wanted = {.memory = SAGOI_MEMORY_WHOLE};
    int64_t last = plan_last_call(config, access);
    for (int64_t i = plan_first_call(config); i < last; i++) {
        const bench_call *call = &access->calls[i];
        int64_t low, high;
        bench_region_bounds(&call->file, &low, &high);
        if (low == high)
            continue;
        wanted.low = wanted.bytes == 0 || call->disp + low < wanted.low ? call->disp + low : wanted.low;
        wanted.high = call->disp + high > wanted.high ? call->disp + high : wanted.high;
        wanted.bytes += bench_region_bytes(&call->file);
        wanted.runs += bench_region_runs(&call->file);
        if (bench_region_runs(&call->memory) > 1)
            wanted.memory = SAGOI_MEMORY_PIECES;
    }
    wanted.one_run = wanted.runs == 1;
    wanted.sparse = config->sparse;
    return wanted;
}

/* Sets each rank's `own` to what it is after so many accesses to its part. */
static sagoi_route_own own_of(const plan_route *route, const plan_config *config,
                              const sagoi_route_wanted *wanted) {
    sagoi_route_own own = route->own;
    for (int64_t i = 0; i < config->accessed && i < 2 && wanted->low < wanted->high; i++)
        sagoi_route_note(&own, wanted->low, wanted->high);
    return own;
}

/* A view whose type is more than one contiguous piece has gaps. */
static bool has_gaps(const plan_config *config, const bench_access *access) {
    int64_t last = plan_last_call(config, access);
    for (int64_t i = plan_first_call(config); i < last; i++)
        if (access->calls[i].file.kind != BENCH_CONTIGUOUS)
            return true;
    return false;
}

/* ---- Every rank's part ---- */

static bool are_alike(const sagoi_route *a, const sagoi_route *b) {
    return a->method == b->method && a->worker == b->worker && a->why == b->why && a->unwilling == b->unwilling;
}

static void add_part(plan_route *route, const route_part *part) {
    for (int64_t i = 0; i < route->nparts; i++)
        if (are_alike(&route->part[i].route, &part->route)) {
            route->part[i].ranks++;
            return;
        }
    if (route->nparts < ROUTE_PARTS_MAX)
        route->part[route->nparts++] = *part;
    else
        route->further++;
}

/* Chooses as sagoi_engine_choose() and sagoi_engine_alone() do; the file system is taken to be as the user
 * says. */
static void add_rank(plan_route *route, const plan_config *config, int64_t rank, const bench_access *access) {
    route_part part = {.first = rank, .ranks = 1, .route = {.choice = route->choice}};
    part.wanted = wanted_by(config, access);
    part.own = own_of(route, config, &part.wanted);
    sagoi_route_part(&part.route, route->call, &route->file, &part.own, &part.wanted);
    if (part.route.look || part.route.unwilling) {
        part.wanted.looked = true;
        sagoi_route_part(&part.route, route->call, &route->file, &part.own, &part.wanted);
    }
    route->unwilling += part.route.unwilling;
    if (rank == 0)
        route->patience = sagoi_route_worth(&route->file, &part.own, route->call.write, &part.wanted);
    add_part(route, &part);
}

static bool each_rank(const plan_config *config, plan_route *route, bool only_gaps, bool *gaps, char *why) {
    int64_t ranks = config->nodes * config->ranks;
    *gaps = false;
    for (int64_t r = 0; r < ranks && !*gaps; r++) {
        bench_access access;
        if (!bench_pattern_make(config->pattern, &config->params, r, ranks, &access, why))
            return false;
        if (only_gaps)
            *gaps = has_gaps(config, &access);
        else
            add_rank(route, config, r, &access);
        bench_access_cleanup(&access);
    }
    return true;
}

/* ---- Together ---- */

static void add_together(const plan_config *config, const plan_input *input, const sagoi_plan *plan,
                         plan_route *route) {
    sagoi_totals all = {.nodes = config->nodes,
                        .span = plan->high - plan->low,
                        .most_runs = input->most_runs,
                        .write = plan->write,
                        .topology = input->machine.topology,
                        .gathered = input->machine.gathered};
    for (int64_t n = 0; n < config->nodes; n++) {
        all.bytes += input->shapes[n].bytes;
        all.runs += input->shapes[n].runs;
    }
    bool in_place = config->accessed > 0 && !config->sparse;
    route->gathers_nothing = sagoi_route_gathers_nothing(&all, &input->target, &config->hints);
    route->method = route->gathers_nothing ? SAGOI_METHOD_DIRECT
                                           : sagoi_route_planned(plan->strategy, plan->map_in_place, in_place);
    route->worker =
        sagoi_route_worker(&route->own, route->call.nonblocking, all.bytes / (config->nodes * config->ranks));
    route->why = route->gathers_nothing                                       ? SAGOI_WHY_NOTHING_TO_GATHER
                 : plan->map_in_place && route->method == SAGOI_METHOD_MAPPED ? SAGOI_WHY_IN_PLACE
                                                                              : SAGOI_WHY_PLANNED;
}

bool plan_route_make(const plan_config *config, const plan_input *input, const sagoi_plan *plan, plan_route *route,
                     char *why) {
    bool gaps, any;
    *route = (plan_route){.call = call_of(config),
                          .own = {.local = input->local,
                                  .in_memory = input->in_memory,
                                  .neighbours = config->ranks > 1,
                                  .patience = SAGOI_FIRST_PATIENCE}};
    if (!each_rank(config, route, true, &gaps, why))
        return false;
    route->file = file_of(config, input, gaps);
    route->choice = sagoi_route_choose(route->call, &route->file);
    if (route->choice.company != SAGOI_TOGETHER && !each_rank(config, route, false, &any, why))
        return false;
    route->asks = route->choice.company == SAGOI_ASK;
    if (route->asks)
        route->choice = sagoi_route_answer(route->unwilling > 0);
    if (route->choice.company != SAGOI_ALONE)
        add_together(config, input, plan, route);
    return true;
}

bool plan_route_is_alone(const plan_route *route) {
    return route->choice.company == SAGOI_ALONE && route->choice.moment == SAGOI_NOW;
}

/* ---- Printing ---- */

typedef struct sentence {
    char text[SAGOI_ROUTE_TEXT_MAX];
} sentence;

static sentence why_of(sagoi_why why, int64_t value, int64_t limit) {
    sentence s;
    sagoi_route_why(why, value, limit, s.text);
    return s;
}

/* The method of all ranks together, or of the first ones that go alone. */
static sagoi_route summary_of(const plan_route *route) {
    if (route->choice.company != SAGOI_ALONE || route->nparts == 0)
        return (sagoi_route){
            .choice = route->choice, .method = route->method, .worker = route->worker, .why = route->why};
    sagoi_route first = route->part[0].route;
    first.choice = route->choice;
    return first;
}

void plan_route_line(const plan_route *route, char line[ROUTE_LINE_MAX]) {
    const sagoi_route first = summary_of(route);
    sentence name;
    sagoi_route_name(&first, name.text);
    (void)snprintf(line, ROUTE_LINE_MAX, "%s: %s; %s%s", name.text, why_of(route->choice.why, 0, 0).text,
                   why_of(first.why, first.value, first.limit).text,
                   route->choice.company == SAGOI_ALONE && route->nparts > 1 ? "; other ranks otherwise" : "");
}

static void print_part(const route_part *part, FILE *out) {
    const sagoi_route *own = &part->route;
    fprintf(out, "    rank %" PRId64, part->first);
    if (part->ranks > 1)
        fprintf(out, " and %" PRId64 " more", part->ranks - 1);
    fprintf(out, ": %s, %s: %s%s\n", sagoi_method_name(own->method), sagoi_worker_name(own->worker),
            why_of(own->why, own->value, own->limit).text,
            own->unwilling ? "; together would serve it better" : "");
}

void plan_route_print(const plan_route *route, FILE *out) {
    const sagoi_route first = summary_of(route);
    const char *company = sagoi_company_name(route->choice.company);
    sentence name;
    sagoi_route_name(&first, name.text);
    fprintf(out, "route    %s\n", name.text);
    if (route->asks)
        fprintf(out, "    asking: %s: %" PRId64 " of %" PRId64 " would rather have help\n",
                why_of(SAGOI_WHY_ASK, 0, 0).text, route->unwilling, route->file.ranks);
    fprintf(out, "    %s: %s\n", company, why_of(route->choice.why, 0, 0).text);
    if (route->choice.company != SAGOI_ALONE)
        fprintf(out, "    %s: %s\n", sagoi_method_name(route->method), why_of(route->why, 0, 0).text);
    if (route->choice.company == SAGOI_CONVENE)
        fprintf(out, "    a rank that has waited %.3g ms in vain goes alone:\n", route->patience * 1e3);
    for (int64_t i = 0; i < route->nparts && route->choice.company != SAGOI_TOGETHER; i++)
        print_part(&route->part[i], out);
    if (route->further > 0)
        fprintf(out, "    and %" PRId64 " ranks otherwise\n", route->further);
}

/* The number of agreements of all ranks. */
static void print_agreements(const plan_route *route, FILE *out) {
    bool leaves = sagoi_route_leaves_alone(route->call, &route->file);
    int64_t taken = route->choice.company == SAGOI_ALONE      ? route->asks
                    : route->gathers_nothing && leaves        ? 1
                    : route->choice.company == SAGOI_TOGETHER ? 2 + route->asks
                                                              : 2;
    fprintf(out, "    agreements of all ranks: %" PRId64 "; alone 0, asking first 1 more, together 2\n", taken);
}

void plan_route_print_others(const plan_route *route, FILE *out) {
    fprintf(out, "other routes\n");
    print_agreements(route, out);
    if (route->nparts == 0) {
        fprintf(out, "    alone: no, %s\n", why_of(route->choice.why, 0, 0).text);
        return;
    }
    const route_part *part = &route->part[0];
    for (int64_t m = SAGOI_METHOD_PIECE; m <= SAGOI_METHOD_DIRECT; m++) {
        const sagoi_weighed other =
            sagoi_route_weigh((sagoi_method)m, route->call, &route->file, &part->own, &part->wanted);
        bool taken = (sagoi_method)m == part->route.method;
        fprintf(out, "  %c %s: %s%s\n", taken ? '*' : ' ', sagoi_method_name((sagoi_method)m),
                other.possible || taken ? "" : "no, ", why_of(other.why, other.value, other.limit).text);
    }
}

/* ---- JSON ---- */

static void json_part(const route_part *part, sagoi_json *json) {
    const sagoi_route *own = &part->route;
    sagoi_json_open(json, NULL, '{');
    sagoi_json_int(json, "first", part->first);
    sagoi_json_int(json, "ranks", part->ranks);
    sagoi_json_text(json, "method", sagoi_method_name(own->method));
    sagoi_json_text(json, "worker", sagoi_worker_name(own->worker));
    sagoi_json_text(json, "why", why_of(own->why, own->value, own->limit).text);
    sagoi_json_close(json, '}');
}

void plan_route_print_json(const plan_route *route, sagoi_json *json) {
    const sagoi_route first = summary_of(route);
    sagoi_json_open(json, "route", '{');
    sagoi_json_text(json, "company", sagoi_company_name(route->choice.company));
    sagoi_json_text(json, "method", sagoi_method_name(first.method));
    sagoi_json_text(json, "worker", sagoi_worker_name(first.worker));
    sagoi_json_text(json, "moment", sagoi_moment_name(route->choice.moment));
    sagoi_json_text(json, "why", why_of(route->choice.why, 0, 0).text);
    sagoi_json_text(json, "method_why", why_of(first.why, first.value, first.limit).text);
    sagoi_json_close(json, '}');
    sagoi_json_open(json, "parts", '[');
    for (int64_t i = 0; i < route->nparts; i++)
        json_part(&route->part[i], json);
    sagoi_json_close(json, ']');
}
