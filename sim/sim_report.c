/* Text, JSON, and the timeline as SVG. */
#include "sim/sim_report.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/size_text.h"
#include "tools/svg.h"

static const double GIB = 1 << 30;

static const char *const phases[SIM_PHASES] = {"gather", "exchange", "store"};

static double rate(const sim_result *r) {
    return r->outcome.seconds > 0 ? r->outcome.bytes / r->outcome.seconds : 0;
}
static double perceived(const sim_result *r) {
    return r->outcome.held > 0 ? r->outcome.bytes / r->outcome.held : 0;
}

void sim_report_text(const sim_case *c, const sim_result *result, int64_t count, FILE *out) {
    fprintf(out, "%s, %s: %lld node%s%s%s with %lld rank%s each, %s\n", c->config.pattern->name,
            c->config.read ? "read" : "write", (long long)c->config.nodes, sagoi_plural(c->config.nodes),
            c->config.machine ? " of " : "", c->config.machine ? c->input.description.name : "",
            (long long)c->config.ranks, sagoi_plural(c->config.ranks),
            sagoi_size_to_text(count ? (int64_t)result->outcome.bytes : 0).text);
    fprintf(out, "costs: %s\n", c->costs_of.text);
    fprintf(out, "%-11s %9s %9s %8s %8s %8s %8s %9s\n", "engine", "seconds", "ahead", "gather", "exchange",
            "store", "GiB/s", "wire GiB");
    for (int64_t i = 0; i < count; i++) {
        const sim_outcome *o = &result[i].outcome;
        fprintf(out, "%-11s %9.4g %9.3g %8.3g %8.3g %8.3g %8.4g %9.3g\n", result[i].course.name, o->seconds,
                o->ahead, o->phase[SIM_GATHER], o->phase[SIM_EXCHANGE], o->phase[SIM_STORE],
                rate(&result[i]) / GIB, o->wire / GIB);
    }
    for (int64_t i = 0; i < count; i++) {
        const sim_outcome *o = &result[i].outcome;
        fprintf(out, "\n%s: %s\n", result[i].course.name, result[i].course.plan);
        if (result[i].course.held_only)
            fprintf(out, "  the application waits %.4g s (%.4g GiB/s perceived)\n", o->held,
                    perceived(&result[i]) / GIB);
        fprintf(out, "  %.0f message%s; busiest: %s %.0f%%, %s %.0f%%, %s %.0f%%\n", o->messages,
                o->messages == 1 ? "" : "s", o->link.name[0] ? o->link.name : "no link", 100 * o->link.share,
                o->target.name[0] ? o->target.name : "no storage target", 100 * o->target.share,
                o->node.name[0] ? o->node.name : "no node", 100 * o->node.share);
    }
}

static void json_use(sagoi_json *json, const char *name, const sim_use *use) {
    sagoi_json_open(json, name, '{');
    sagoi_json_text(json, "name", use->name);
    sagoi_json_real(json, "share", use->share);
    sagoi_json_close(json, '}');
}

static void json_result(sagoi_json *json, const sim_result *r) {
    const sim_outcome *o = &r->outcome;
    sagoi_json_open(json, NULL, '{');
    sagoi_json_text(json, "engine", r->course.name);
    sagoi_json_text(json, "plan", r->course.plan);
    sagoi_json_real(json, "seconds", o->seconds);
    sagoi_json_real(json, "bytes_per_second", rate(r));
    sagoi_json_real(json, "held_seconds", o->held);
    sagoi_json_real(json, "perceived_bytes_per_second", perceived(r));
    sagoi_json_real(json, "ahead", o->ahead);
    for (int p = 0; p < SIM_PHASES; p++)
        sagoi_json_real(json, phases[p], o->phase[p]);
    sagoi_json_real(json, "bytes", o->bytes);
    sagoi_json_real(json, "stored_bytes", o->stored);
    sagoi_json_real(json, "wire_bytes", o->wire);
    sagoi_json_real(json, "messages", o->messages);
    sagoi_json_real(json, "requests", r->requests);
    sagoi_json_real(json, "requests_joined", r->joined);
    json_use(json, "busiest_link", &o->link);
    json_use(json, "busiest_target", &o->target);
    json_use(json, "busiest_node", &o->node);
    sagoi_json_int(json, "calls_simulated", r->calls);
    sagoi_json_int(json, "rounds_simulated", o->rounds);
    sagoi_json_real(json, "wall_seconds", r->wall);
    sagoi_json_close(json, '}');
}

void sim_report_json(const sim_case *c, const sim_result *result, int64_t count, FILE *out) {
    sagoi_json json = {.out = out, .lines = SAGOI_JSON_INDENTED};
    sagoi_json_open(&json, NULL, '{');
    sagoi_json_text(&json, "pattern", c->config.pattern->name);
    sagoi_json_bool(&json, "write", !c->config.read);
    sagoi_json_text(&json, "machine", c->config.machine ? c->input.description.name : NULL);
    sagoi_json_int(&json, "nodes", c->config.nodes);
    sagoi_json_int(&json, "ranks_per_node", c->config.ranks);
    sagoi_json_open(&json, "costs", '{');
    sagoi_json_text(&json, "of", c->costs_of.of);
    sagoi_json_bool(&json, "described", c->costs_of.described);
    sagoi_json_bool(&json, "assumed", c->costs_of.assumed);
    sagoi_json_text(&json, "text", c->costs_of.text);
    sagoi_json_close(&json, '}');
    sagoi_json_open(&json, "engines", '[');
    for (int64_t i = 0; i < count; i++)
        json_result(&json, &result[i]);
    sagoi_json_close(&json, ']');
    sagoi_json_close(&json, '}');
    fputc('\n', out);
}

/* ---- The timeline ---- */

enum { LEFT = 130, WIDTH = 860, LANE = 18, TOP = 64, LANES_MAX = SIM_LANES, RIGHT = 30 };

/* Lanes of an engine: nodes first, then aggregators. */
static int64_t lane_rank(int64_t lane) { return lane < 0 ? -1 - lane : LANES_MAX + lane; }

static int64_t lanes_of(const sim_result *r, int64_t row[2 * LANES_MAX]) {
    bool seen[2 * LANES_MAX] = {false};
    int64_t rows = 0;
    for (int64_t i = 0; i < r->outcome.nspans; i++)
        seen[lane_rank(r->outcome.span[i].lane) % (2 * LANES_MAX)] = true;
    for (int64_t i = 0; i < 2 * LANES_MAX; i++)
        row[i] = seen[i] ? rows++ : -1;
    return rows;
}

/* Each engine's rounds begin at the left, whatever it did ahead of them. */
static double first_start(const sim_result *r) {
    double start = INFINITY;
    for (int64_t k = 0; k < r->outcome.nspans; k++)
        start = fmin(start, r->outcome.span[k].start);
    return start;
}

static double last_end(const sim_result *result, int64_t count) {
    double end = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < result[i].outcome.nspans; k++)
            end = fmax(end, result[i].outcome.span[k].end - first_start(&result[i]));
    return end > 0 ? end : 1;
}

static void draw_lanes(tool_svg *svg, const sim_result *r, const int64_t row[2 * LANES_MAX], double y,
                       double scale) {
    for (int64_t i = 0; i < 2 * LANES_MAX; i++)
        if (row[i] >= 0)
            svg_text(svg, LEFT - 8, y + (double)row[i] * LANE + 12, 11, SVG_RIGHT, "%s %lld",
                     i < LANES_MAX ? "node" : "aggregator",
                     (long long)(i < LANES_MAX ? r->outcome.drawn[i] : i - LANES_MAX));
    double origin = first_start(r);
    for (int64_t k = 0; k < r->outcome.nspans; k++) {
        const sim_span *span = &r->outcome.span[k];
        /* An aggregator's store runs beside its exchange: the lower half of the lane. */
        double half = span->lane >= 0 ? (LANE - 3) / 2.0 : LANE - 3;
        double top = y + (double)row[lane_rank(span->lane)] * LANE + (span->phase == SIM_STORE ? half + 0.5 : 0);
        svg_box box = {LEFT + (span->start - origin) * scale, top, fmax(0.5, (span->end - span->start) * scale),
                       half};
        svg_color color = svg_color_of(span->phase);
        svg_rect(svg, box, color.text, NULL);
    }
}

/* Grid lines from `top`, which is below an engine's heading, to `y`. */
static void draw_grid(tool_svg *svg, double top, double y, double end, bool labelled) {
    double step = pow(10, floor(log10(end)));
    step = end / step < 2 ? step / 5 : end / step < 5 ? step / 2 : step;
    for (double t = 0; t <= end * 1.0001; t += step) {
        double x = LEFT + t / end * (WIDTH - LEFT - RIGHT);
        svg_line(svg, x, top, x, y, SVG_PALE, 1);
        if (labelled)
            svg_text(svg, x, y + 14, 11, SVG_MIDDLE, "%g s", t);
    }
}

static void draw_legend(tool_svg *svg) {
    static const char *const names[SIM_PHASES] = {"gather: packing on the node", "exchange: sending, receiving",
                                                  "store"};
    double x = LEFT;
    for (int p = 0; p < SIM_PHASES; p++) {
        svg_color color = svg_color_of(p);
        svg_rect(svg, (svg_box){x, 34, 12, 12}, color.text, NULL);
        svg_text(svg, x + 17, 44, 12, SVG_LEFT, "%s", names[p]);
        x += 40 + svg_text_width(names[p], 12);
    }
}

void sim_report_svg(const sim_case *c, const sim_result *result, int64_t count, FILE *out) {
    int64_t row[SIM_ENGINES_MAX][2 * LANES_MAX], rows[SIM_ENGINES_MAX];
    double height = TOP + 24, y = TOP, end = last_end(result, count);
    char title[160];
    for (int64_t i = 0; i < count; i++) {
        rows[i] = lanes_of(&result[i], row[i]);
        height += 22 + (double)rows[i] * LANE + 10;
    }
    snprintf(title, sizeof title, "%s on %lld node%s with %lld rank%s each: the rounds that were simulated",
             c->config.pattern->name, (long long)c->config.nodes, sagoi_plural(c->config.nodes),
             (long long)c->config.ranks, sagoi_plural(c->config.ranks));
    tool_svg svg;
    svg_open(&svg, out, WIDTH, height, title);
    svg_text(&svg, 12, 22, 15, SVG_LEFT, "%s", title);
    draw_legend(&svg);
    for (int64_t i = 0; i < count; i++) {
        svg_text(&svg, 12, y + 14, 13, SVG_LEFT, "%s: %.4g s in all, of which %.3g before the first round",
                 result[i].course.name, result[i].outcome.seconds, result[i].outcome.ahead);
        y += 22;
        draw_grid(&svg, y, y + (double)rows[i] * LANE + (i + 1 < count ? 0 : 10), end, i + 1 == count);
        draw_lanes(&svg, &result[i], row[i], y, (WIDTH - LEFT - RIGHT) / end);
        y += (double)rows[i] * LANE + 10;
    }
    svg_close(&svg);
}
