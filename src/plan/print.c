/* Plans as text for people and as JSON for programs. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "plan/draft.h"

enum { LINES_SHOWN = 16 }; /* of nodes and of domains, in the text */

static const char *const strategies[] = {"auto", "direct", "mapped", "aggregated"};
static const char *const moves[] = {"auto", "packed", "rma"};

/* ---- Text --------------------------------------------------------------------------------------------- */

static void print_omitted(int64_t count, FILE *out) {
    if (count > LINES_SHOWN)
        fprintf(out, "    ... and %" PRId64 " more\n", count - LINES_SHOWN);
}

static void print_sizes(const sagoi_plan *plan, FILE *out) {
    fprintf(out, "window   %" PRId64 " (%s), rounds %" PRId64 "\n", plan->window,
            sagoi_size_to_text(plan->window).text, plan->rounds);
    if (plan->nodes == 1)
        return;
    fprintf(out, "move     %s, merge %s, local aggregators %" PRId64 " a node\n", moves[plan->move],
            plan->merge ? "on" : "off", plan->local_aggregators);
    if (plan->layers > 2)
        fprintf(out, "layers   3, relays hold %" PRId64 " messages%s\n", plan->relay_slots,
                plan->write           ? ""
                : plan->relay_repeats ? "; repeated reads, too"
                                      : "; repeated reads go straight");
    fprintf(out, "buffers  staging 2 x %" PRId64 " a rank, %" PRId64 " messages of %" PRId64 " an aggregator\n",
            plan->staging, plan->messages, plan->message);
}

static void print_nodes(const sagoi_plan *plan, FILE *out) {
    fprintf(out, "nodes    %" PRId64 "\n", plan->nodes);
    for (int64_t n = 0; n < sagoi_min(plan->nodes, LINES_SHOWN); n++) {
        fprintf(out, "    %" PRId64 ": accesses [%" PRId64 ", %" PRId64 "), aggregators %" PRId64, n,
                plan->node_low[n], plan->node_high[n], sagoi_plan_slots(plan, n));
        if (plan->node_relay[n] >= 0)
            fprintf(out, ", relay %" PRId64, plan->node_relay[n]);
        fprintf(out, "\n");
    }
    print_omitted(plan->nodes, out);
}

static void print_domains(const sagoi_plan *plan, FILE *out) {
    if (plan->ndomains == 0)
        return;
    fprintf(out, "domains  %" PRId64 "\n", plan->ndomains);
    for (int64_t d = 0; d < sagoi_min(plan->ndomains, LINES_SHOWN); d++) {
        const sagoi_domain *domain = &plan->domains[d];
        fprintf(out, "    %" PRId64 ": node %" PRId64 " slot %" PRId64 ", windows %" PRId64 " from %" PRId64, d,
                domain->node, domain->slot, domain->windows, domain->first);
        if (domain->block == plan->window && domain->stride > domain->block)
            fprintf(out, " every %" PRId64, domain->stride);
        else if (domain->stride > domain->block)
            fprintf(out, " in blocks of %" PRId64 " every %" PRId64, domain->block, domain->stride);
        if (plan->groups > 1)
            fprintf(out, ", group %" PRId64, domain->group);
        fprintf(out, "\n");
    }
    print_omitted(plan->ndomains, out);
}

void sagoi_plan_print_text(const sagoi_plan *plan, FILE *out) {
    fprintf(out, "plan     %s, %s%s\n", plan->write ? "write" : "read", strategies[plan->strategy],
            plan->dense ? ", dense" : "");
    fprintf(out, "range    [%" PRId64 ", %" PRId64 "), %s\n", plan->low, plan->high,
            sagoi_size_to_text(plan->high - plan->low).text);
    if (plan->strategy == SAGOI_STRATEGY_AGGREGATED)
        print_sizes(plan, out);
    print_nodes(plan, out);
    print_domains(plan, out);
    fprintf(out, "because\n");
    for (const char *line = plan->reasons; *line;) {
        int width = (int)strcspn(line, "\n");
        fprintf(out, "    %.*s\n", width, line);
        line += width + (line[width] == '\n');
    }
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

static void json_scalars(const sagoi_plan *plan, sagoi_json *json) {
    sagoi_json_text(json, "direction", plan->write ? "write" : "read");
    sagoi_json_text(json, "strategy", strategies[plan->strategy]);
    sagoi_json_text(json, "move", moves[plan->move]);
    sagoi_json_bool(json, "dense", plan->dense);
    sagoi_json_bool(json, "merge", plan->merge);
    sagoi_json_int(json, "low", plan->low);
    sagoi_json_int(json, "high", plan->high);
    sagoi_json_int(json, "window", plan->window);
    sagoi_json_int(json, "rounds", plan->rounds);
    sagoi_json_int(json, "local_aggregators", plan->local_aggregators);
    sagoi_json_int(json, "layers", plan->layers);
    sagoi_json_int(json, "staging", plan->staging);
    sagoi_json_int(json, "message", plan->message);
    sagoi_json_int(json, "messages", plan->messages);
    sagoi_json_int(json, "groups", plan->groups);
    sagoi_json_int(json, "max_slots", plan->max_slots);
    sagoi_json_bool(json, "fast_memory", plan->fast_memory);
}

static void json_nodes(const sagoi_plan *plan, sagoi_json *json) {
    sagoi_json_open(json, "nodes", '[');
    for (int64_t n = 0; n < plan->nodes; n++) {
        sagoi_json_open(json, NULL, '{');
        sagoi_json_int(json, "low", plan->node_low[n]);
        sagoi_json_int(json, "high", plan->node_high[n]);
        sagoi_json_int(json, "relay", plan->node_relay[n]);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
}

static void json_domains(const sagoi_plan *plan, sagoi_json *json) {
    sagoi_json_open(json, "domains", '[');
    for (int64_t d = 0; d < plan->ndomains; d++) {
        const sagoi_domain *domain = &plan->domains[d];
        sagoi_json_open(json, NULL, '{');
        sagoi_json_int(json, "first", domain->first);
        sagoi_json_int(json, "end", domain->end);
        sagoi_json_int(json, "block", domain->block);
        sagoi_json_int(json, "stride", domain->stride);
        sagoi_json_int(json, "windows", domain->windows);
        sagoi_json_int(json, "group", domain->group);
        sagoi_json_int(json, "node", domain->node);
        sagoi_json_int(json, "slot", domain->slot);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
}

void sagoi_plan_print_json(const sagoi_plan *plan, sagoi_json *json) {
    json_scalars(plan, json);
    json_nodes(plan, json);
    json_domains(plan, json);
    sagoi_json_lines(json, "reasons", plan->reasons);
}
