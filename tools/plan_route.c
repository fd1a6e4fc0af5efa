/* The steps of plan/route.h in their order, rank by rank, without MPI. */
#include "tools/plan_route.h"

#include <inttypes.h>

#include "base/checked.h"
#include "plan/deferral.h"

/* ---- Inputs ---- */

static sagoi_route_call call_of(const plan_config *config) {
    return (sagoi_route_call){.type = config->kind == PLAN_DECLARED      ? SAGOI_DECLARED
                                      : config->kind == PLAN_INDEPENDENT ? SAGOI_INDEPENDENT
                                                                         : SAGOI_COLLECTIVE,
                              .write = !config->read,
                              .nonblocking = config->kind == PLAN_NONBLOCKING,
                              .by_extents = config->extents};
}

/* What must be known of all ranks' parts before any route can be chosen. */
typedef struct survey {
    bool gaps;       /* some rank's view has gaps */
    int64_t largest; /* bytes of the largest part */
} survey;

/* First calls are deferred whatever their size; later ones only if parts like these fit the room, on which the
 * ranks have agreed then. */
static bool is_deferring(const plan_config *config, int64_t largest) {
    int64_t room = sagoi_deferral_room(config->nodes);
    sagoi_deferral deferral;
    if (config->hints.memory > 0)
        room = sagoi_min(room, config->hints.memory / 2 / config->ranks);
    sagoi_deferral_init(&deferral, true);
    if (config->accessed > 0)
        sagoi_deferral_set(&deferral, largest, room, false, true);
    return sagoi_deferral_defers(&deferral);
}

/* The file is open for reading and writing. */
static sagoi_route_file file_of(const plan_config *config, const plan_input *input, const survey *found) {
    sagoi_route_file file = input->file;
    file.gaps = found->gaps;
    file.tier = config->hints.tier == SAGOI_TIER_LOCAL;
    file.defer = sagoi_deferral_wanted(&config->hints, config->nodes, true, true);
    file.deferring = file.defer && is_deferring(config, found->largest);
    return file;
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
        wanted.runs += bench_region_joined_runs(&call->file);
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

static void look_at_rank(const plan_config *config, const bench_access *access, survey *found) {
    found->gaps = found->gaps || has_gaps(config, access);
    found->largest = sagoi_max(found->largest, wanted_by(config, access).bytes);
}

/* Looks at every rank's part (`found`), or adds the routes of the parts (`route`). */
static bool each_rank(const plan_config *config, plan_route *route, survey *found, char *why) {
    int64_t ranks = config->nodes * config->ranks;
    bool all = route || config->hints.defer != SAGOI_CHOICE_OFF;
    for (int64_t r = 0; r < ranks && (all || !found->gaps); r++) {
        bench_access access;
        if (!bench_pattern_make(config->pattern, &config->params, r, ranks, &access, why))
            return false;
        if (route)
            add_rank(route, config, r, &access);
        else
            look_at_rank(config, &access, found);
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
    survey found = {.gaps = false};
    *route = (plan_route){.call = call_of(config),
                          .own = {.local = input->local,
                                  .in_memory = input->in_memory,
                                  .neighbours = config->ranks > 1,
                                  .patience = SAGOI_FIRST_PATIENCE}};
    if (!each_rank(config, NULL, &found, why))
        return false;
    route->file = file_of(config, input, &found);
    route->choice = sagoi_route_choose(route->call, &route->file);
    if (route->choice.moment != SAGOI_NOW)
        return true;
    if (route->choice.company != SAGOI_TOGETHER && !each_rank(config, route, NULL, why))
        return false;
    route->asks = route->choice.company == SAGOI_ASK;
    if (route->asks)
        route->choice = sagoi_route_answer(route->unwilling > 0);
    if (route->choice.company != SAGOI_ALONE)
        add_together(config, input, plan, route);
    return true;
}

bool plan_route_follows_plan(const plan_route *route) {
    return route->choice.company != SAGOI_ALONE && route->choice.moment == SAGOI_NOW;
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
    if (route->choice.moment != SAGOI_NOW) {
        (void)snprintf(line, ROUTE_LINE_MAX, "%s: %s", name.text, why_of(route->choice.why, 0, 0).text);
        return;
    }
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
    if (route->choice.company != SAGOI_ALONE && route->choice.moment == SAGOI_NOW)
        fprintf(out, "    %s: %s\n", sagoi_method_name(route->method), why_of(route->why, 0, 0).text);
    if (route->choice.company == SAGOI_CONVENE)
        fprintf(out, "    a rank that has waited %.3g ms in vain goes alone:\n", route->patience * 1e3);
    for (int64_t i = 0; i < route->nparts && route->choice.company != SAGOI_TOGETHER; i++)
        print_part(&route->part[i], out);
    if (route->further > 0)
        fprintf(out, "    and %" PRId64 " ranks otherwise\n", route->further);
}

/* How often the call takes an agreement of all ranks, beside what other routes take. */
static void print_agreements(const plan_route *route, FILE *out) {
    bool leaves = sagoi_route_leaves_alone(route->call, &route->file);
    int64_t taken =
        route->choice.company == SAGOI_ALONE ? route->asks
        : leaves && (route->gathers_nothing || (route->file.nodes > 1 && route->method == SAGOI_METHOD_DIRECT)) ? 1
        : route->choice.company == SAGOI_TOGETHER ? 2 + route->asks
                                                  : 2;
    fprintf(out,
            "    all ranks agree %" PRId64
            " time%s in this call (never if each goes alone, twice if all go together, "
            "once more if they are asked first)\n",
            taken, taken == 1 ? "" : "s");
}

/* The choice for a file that no stage comes before. */
static void print_without_stage(const plan_route *route, FILE *out) {
    sagoi_route_file file = route->file;
    file.tier = file.defer = file.deferring = false;
    const sagoi_route_choice choice = sagoi_route_choose(route->call, &file);
    fprintf(out, "    %s: %s: %s\n",
            route->choice.moment == SAGOI_DEFERRED ? "sago_defer=off" : "sago_tier=global",
            sagoi_company_name(choice.company), why_of(choice.why, 0, 0).text);
}

void plan_route_print_others(const plan_route *route, FILE *out) {
    fprintf(out, "other routes\n");
    if (route->choice.moment != SAGOI_NOW) {
        print_without_stage(route, out);
        return;
    }
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
    const bool now = route->choice.moment == SAGOI_NOW; /* else a stage decides on the method, later */
    sagoi_json_open(json, "route", '{');
    sagoi_json_text(json, "company", sagoi_company_name(route->choice.company));
    sagoi_json_text(json, "method", now ? sagoi_method_name(first.method) : NULL);
    sagoi_json_text(json, "worker", now ? sagoi_worker_name(first.worker) : NULL);
    sagoi_json_text(json, "moment", sagoi_moment_name(route->choice.moment));
    sagoi_json_text(json, "why", why_of(route->choice.why, 0, 0).text);
    sagoi_json_text(json, "method_why", now ? why_of(first.why, first.value, first.limit).text : NULL);
    sagoi_json_close(json, '}');
    sagoi_json_open(json, "parts", '[');
    for (int64_t i = 0; i < route->nparts; i++)
        json_part(&route->part[i], json);
    sagoi_json_close(json, ']');
}
