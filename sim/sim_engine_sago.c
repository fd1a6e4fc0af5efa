/* Sago itself: the plan that the library would make, and TAPIOCA as the same planner with one message a rank. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/size_text.h"
#include "sim/sim_engine.h"

static bool plan_window(const void *self, int64_t domain, int64_t round, int64_t *start, int64_t *end) {
    return sagoi_plan_window(self, domain, round, start, end);
}

static const char *const strategies[] = {"auto", "direct", "mapped", "aggregated"};

static void describe(const sagoi_plan *plan, sim_course *course) {
    course->strategy = plan->strategy;
    course->aggregators = plan->ndomains;
    course->locals = plan->local_aggregators;
    course->window = plan->window;
    course->layers = plan->layers;
    int n = snprintf(course->plan, sizeof course->plan, "%s", strategies[plan->strategy]);
    if (plan->strategy == SAGOI_STRATEGY_AGGREGATED && n > 0)
        snprintf(course->plan + n, sizeof course->plan - (size_t)n,
                 ", %" PRId64 " aggregator%s, %" PRId64 " local one%s a node, windows of %" PRId64 " KiB, %" PRId64
                 " round%s, %" PRId64 " layer%s",
                 plan->ndomains, sagoi_plural(plan->ndomains), plan->local_aggregators,
                 sagoi_plural(plan->local_aggregators), plan->window >> 10, plan->rounds,
                 sagoi_plural(plan->rounds), plan->layers, sagoi_plural(plan->layers));
}

/* With three layers a relay receives what its neighbours have and sends it on in fewer messages. */
static void add_relays(const sim_case *c, const sagoi_plan *plan, sim_load *load) {
    double link = c->topology.level[0].bandwidth * c->costs.payload;
    for (int64_t r = 0; plan->layers == 3 && r < load->rounds; r++)
        for (int64_t n = 0; n < load->nodes; n++)
            for (int64_t d = 0; d < load->aggregators; d++) {
                int64_t relay = plan->node_relay[n];
                sim_flow *from = sim_load_flow(load, r, n, d);
                if (relay < 0 || relay == n || from->bytes == 0 || !sagoi_plan_relayed(plan, n, d))
                    continue;
                sim_flow *to = sim_load_flow(load, r, relay, d);
                load->round[r].node[relay] += from->bytes / link + from->messages * c->costs.receive;
                to->seconds += from->seconds - from->messages * c->costs.receive;
                to->bytes += from->bytes;
                *from = (sim_flow){0};
            }
}

static bool load_plan(const sim_case *c, int64_t call, const sagoi_plan *plan, const sim_style *style,
                      sim_load *load, char *why) {
    int64_t *host = calloc((size_t)plan->ndomains, sizeof *host);
    sim_layout layout = {plan->ndomains, plan->rounds, plan_window, plan, host, false};
    bool ok = host || bench_refuse(why, "out of memory");
    for (int64_t d = 0; ok && d < plan->ndomains; d++)
        host[d] = plan->domains[d].node;
    ok = ok && sim_load_windows(c, call, &layout, style, load, why);
    free(host);
    if (ok)
        add_relays(c, plan, load);
    return ok;
}

/* The plan of a call: calls of one step may differ. */
static bool make_plan(const sim_case *c, int64_t call, const sagoi_hints *hints, sagoi_plan *plan, char *why) {
    plan_config config = c->config;
    plan_input own = {0};
    const plan_input *input = &c->input;
    config.call = call;
    if (call > 0 && !plan_input_make(&config, &own, why))
        return false;
    bool ok = sagoi_plan_make(&input->machine, call > 0 ? &own.shape : &input->shape, &input->target, hints,
                              plan) == SAGO_OK ||
              bench_refuse(why, "%s", sago_error_message());
    if (call > 0)
        plan_input_cleanup(&own);
    return ok;
}

static bool load_hinted(const sim_case *c, int64_t call, const sagoi_hints *hints, bool fences, sim_load *load,
                        sim_course *course, char *why) {
    sagoi_plan plan = {0};
    bool ok = make_plan(c, call, hints, &plan, why);
    if (ok)
        describe(&plan, course);
    if (ok && plan.strategy == SAGOI_STRATEGY_DIRECT)
        ok = sim_load_direct(c, call, &(sim_alone){.agreed = 1}, load, why);
    else if (ok && plan.strategy == SAGOI_STRATEGY_MAPPED)
        ok = bench_refuse(why, "the plan maps the file: there is nothing to simulate");
    else if (ok) {
        sim_style style = {.locals = sagoi_min(plan.local_aggregators, c->config.ranks),
                           .overlapped = true,
                           .in_step = fences,
                           .in_flight = plan.messages};
        if (fences) /* by puts, which nobody has to take */
            style.in_flight *= style.locals;
        ok = load_plan(c, call, &plan, &style, load, why);
    }
    sagoi_plan_cleanup(&plan);
    return ok;
}

static bool load_sago(const sim_case *c, int64_t call, int64_t number, sim_load *load, sim_course *course,
                      char *why) {
    sagoi_hints hints = c->config.hints;
    if (number > 0)
        hints.local_aggregators = number;
    return load_hinted(c, call, &hints, false, load, course, why);
}

static bool load_tapioca(const sim_case *c, int64_t call, int64_t number, sim_load *load, sim_course *course,
                         char *why) {
    sagoi_hints hints = c->config.hints;
    (void)number;
    hints.strategy = SAGOI_STRATEGY_AGGREGATED;
    hints.local_aggregators = c->config.ranks;
    hints.layers = SAGOI_LAYERS_TWO;
    hints.per_target = hints.per_target > 0 ? hints.per_target : c->options.per_target;
    hints.window = hints.window > 0 ? hints.window : c->input.target.stripe_unit; /* buffer : stripe = 1 : 1 */
    if (!c->input.machine.topology)
        return load_hinted(c, call, &hints, true, load, course, why);
    sagoi_topology unlocked = *c->input.machine.topology; /* its partitions do not go by locks */
    sim_case own = *c;
    unlocked.lock = 0;
    own.input.machine.topology = &unlocked;
    return load_hinted(&own, call, &hints, true, load, course, why);
}

const sim_engine sim_engine_sago = {"sago", "the plan that Sago makes; sago:4: four local aggregators a node",
                                    false, load_sago};
const sim_engine sim_engine_tapioca = {"tapioca", "declared, one message a rank, a fence a round (paper 000)",
                                       false, load_tapioca};
