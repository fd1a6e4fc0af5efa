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
        fprintf(out, "layers   3, leaders hold %" PRId64 " messages%s\n", plan->relay_slots,
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
        if (plan->node_leader[n] >= 0)
            fprintf(out, ", leader %" PRId64, plan->node_leader[n]);
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

static void json_string(const char *text, size_t length, FILE *out) {
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void json_number(const char *name, int64_t value, FILE *out) {
    fprintf(out, "  \"%s\": %" PRId64 ",\n", name, value);
}

static void json_scalars(const sagoi_plan *plan, FILE *out) {
    fprintf(out, "  \"direction\": \"%s\",\n  \"strategy\": \"%s\",\n  \"move\": \"%s\",\n",
            plan->write ? "write" : "read", strategies[plan->strategy], moves[plan->move]);
    fprintf(out, "  \"dense\": %s,\n  \"merge\": %s,\n", plan->dense ? "true" : "false",
            plan->merge ? "true" : "false");
    json_number("low", plan->low, out);
    json_number("high", plan->high, out);
    json_number("window", plan->window, out);
    json_number("rounds", plan->rounds, out);
    json_number("local_aggregators", plan->local_aggregators, out);
    json_number("layers", plan->layers, out);
    json_number("staging", plan->staging, out);
    json_number("message", plan->message, out);
    json_number("messages", plan->messages, out);
    json_number("groups", plan->groups, out);
    json_number("max_slots", plan->max_slots, out);
}

static void json_nodes(const sagoi_plan *plan, FILE *out) {
    fprintf(out, "  \"nodes\": [");
    for (int64_t n = 0; n < plan->nodes; n++)
        fprintf(out, "%s\n    {\"low\": %" PRId64 ", \"high\": %" PRId64 ", \"leader\": %" PRId64 "}",
                n > 0 ? "," : "", plan->node_low[n], plan->node_high[n], plan->node_leader[n]);
    fprintf(out, "\n  ],\n");
}

static void json_domains(const sagoi_plan *plan, FILE *out) {
    fprintf(out, "  \"domains\": [");
    for (int64_t d = 0; d < plan->ndomains; d++) {
        const sagoi_domain *domain = &plan->domains[d];
        fprintf(out,
                "%s\n    {\"first\": %" PRId64 ", \"end\": %" PRId64 ", \"block\": %" PRId64
                ", \"stride\": %" PRId64 ", \"windows\": %" PRId64 ", \"group\": %" PRId64 ", \"node\": %" PRId64
                ", \"slot\": %" PRId64 "}",
                d > 0 ? "," : "", domain->first, domain->end, domain->block, domain->stride, domain->windows,
                domain->group, domain->node, domain->slot);
    }
    fprintf(out, "%s],\n", plan->ndomains > 0 ? "\n  " : "");
}

void sagoi_plan_print_members(const sagoi_plan *plan, FILE *out) {
    json_scalars(plan, out);
    json_nodes(plan, out);
    json_domains(plan, out);
    fprintf(out, "  \"reasons\": [");
    const char *separator = "\n    ";
    for (const char *line = plan->reasons; *line; separator = ",\n    ") {
        size_t width = strcspn(line, "\n");
        fputs(separator, out);
        json_string(line, width, out);
        line += width + (line[width] == '\n');
    }
    fprintf(out, "\n  ]\n");
}
