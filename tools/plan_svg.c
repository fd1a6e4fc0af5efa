/* The picture of a plan.  From top to bottom, over one axis of file offsets where possible: where the data of each
 * node lies, or of each rank where ranks access the file themselves; the domains of the file; the nodes with their
 * aggregators; and, over time, when each aggregator is filled, stores and waits, round by round. Colours are those
 * of the groups; with one group, those of the aggregators. */
#include "tools/plan_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size_text.h"
#include "tools/plan_time.h"
#include "tools/svg.h"

enum { WIDTH = 1240, LEFT = 130, RIGHT = 30, GAP = 34 };
enum { DATA_ROWS = 24, ROUND_ROWS = 16, ROUNDS_SHOWN = 40, LINKS_MAX = 48, NODES_LABELLED = 64 };

typedef struct picture {
    tool_svg svg;
    const plan_config *config;
    const plan_input *input;
    const sagoi_plan *plan;
    const plan_times *times; /* NULL: nothing is aggregated */
    double y;                /* where the next element begins */
    double cell, nodes_y;
    int64_t columns; /* columns for nodes */
    double domains_y;
} picture;

static double inner(void) { return WIDTH - LEFT - RIGHT; }

static double x_of(const picture *p, int64_t offset) {
    const sagoi_plan *plan = p->plan;
    return LEFT + inner() * ((double)(offset - plan->low) / (double)(plan->high - plan->low));
}

static svg_color color_of(const picture *p, int64_t domain) {
    return svg_color_of(p->plan->groups > 1 ? p->plan->domains[domain].group : domain);
}

static void heading(picture *p, const char *text) {
    p->y += GAP;
    svg_text(&p->svg, 20, p->y - 8, 14, SVG_LEFT, "%s", text);
}

/* ---- Where the data is ---- */

static int64_t data_rows(const sagoi_plan *plan) { return plan->nodes < DATA_ROWS ? plan->nodes : DATA_ROWS; }

/* The part of [start, end) that nodes [first, last) access, at most 1. */
static double density(const picture *p, int64_t first, int64_t last, int64_t start, int64_t end) {
    double bytes = 0;
    for (int64_t n = first; n < last; n++)
        bytes += sagoi_shape_bytes(&p->input->shape, n, start, end);
    double share = bytes / (double)(end - start);
    return share > 1 ? 1 : share;
}

enum { COLUMNS = 128 };

/* Columns that look alike are drawn as one; one with a little data is not one without. */
static bool alike(double a, double b) { return fabs(a - b) < 0.01 && (a > 0) == (b > 0); }

/* Draws one row of the picture: how much of each column is accessed. */
static void draw_shares(picture *p, const double share[COLUMNS], int64_t columns, double y, double height) {
    svg_rect(&p->svg, (svg_box){LEFT, y, inner(), height - 2}, SVG_PALE, NULL);
    for (int64_t c = 0, to; c < columns; c = to) {
        for (to = c + 1; to < columns && alike(share[to], share[c]);)
            to++;
        if (share[c] > 0)
            svg_rect(&p->svg,
                     (svg_box){LEFT + inner() * (double)c / (double)columns, y,
                               inner() * (double)(to - c) / (double)columns, height - 2},
                     svg_color_shade(0.15 + 0.85 * fmin(1, share[c])).text, NULL);
    }
}

static void label_row(picture *p, const char *what, int64_t first, int64_t last, double y) {
    if (last - first == 1)
        svg_text(&p->svg, LEFT - 8, y, 10, SVG_RIGHT, "%s %" PRId64, what, first);
    else
        svg_text(&p->svg, LEFT - 8, y, 9, SVG_RIGHT, "%ss %" PRId64 "-%" PRId64, what, first, last - 1);
}

static int64_t column_start(const sagoi_plan *plan, int64_t column, int64_t columns) {
    return plan->low + (int64_t)((double)(plan->high - plan->low) * (double)column / (double)columns);
}

static void draw_data(picture *p) {
    const sagoi_plan *plan = p->plan;
    int64_t rows = data_rows(plan), columns = plan->high - plan->low < COLUMNS ? 1 : COLUMNS;
    double height = rows > 12 ? 10 : 16;
    heading(p, "Data: which nodes access what (dark: all of it)");
    for (int64_t row = 0; row < rows; row++) {
        int64_t first = row * plan->nodes / rows, last = (row + 1) * plan->nodes / rows;
        double y = p->y + (double)row * height, share[COLUMNS];
        label_row(p, "node", first, last, y + height - 3);
        for (int64_t c = 0; c < columns; c++)
            share[c] = density(p, first, last, column_start(plan, c, columns), column_start(plan, c + 1, columns));
        draw_shares(p, share, columns, y, height);
    }
    p->y += (double)rows * height;
}

/* Divides the bytes of [start, end) over their columns. */
static void add_bytes(const sagoi_plan *plan, int64_t columns, int64_t start, int64_t end, double share[COLUMNS]) {
    double width = (double)(plan->high - plan->low) / (double)columns;
    for (double at = (double)(start - plan->low), to = (double)(end - plan->low); at < to;) {
        int64_t c = (int64_t)(at / width);
        double stop = fmin(to, (double)(c + 1) * width);
        if (c >= columns)
            return;
        share[c] += (fmax(stop, at + 1e-9 * width) - at) / width;
        at = fmax(stop, at + 1e-9 * width);
    }
}

/* What a rank accesses in the planned call; of very many runs the first ones. */
static void add_rank(const picture *p, int64_t rank, int64_t columns, double share[COLUMNS]) {
    enum { RUNS = 100000 };
    const plan_config *config = p->config;
    bench_access access;
    char why[256];
    if (!bench_pattern_make(config->pattern, &config->params, rank, config->nodes * config->ranks, &access, why))
        return;
    for (int64_t i = plan_first_call(config); i < plan_last_call(config, &access); i++) {
        bench_cursor cursor = bench_cursor_at(&access.calls[i].file);
        bench_run run;
        for (int64_t n = 0; n < RUNS && bench_cursor_next(&cursor, &run); n++) {
            int64_t start = access.calls[i].disp + run.offset;
            add_bytes(p->plan, columns, start, start + run.length, share);
        }
    }
    bench_access_cleanup(&access);
}

/* Draws the ranks themselves, where nothing is aggregated. */
static void draw_ranks(picture *p) {
    const sagoi_plan *plan = p->plan;
    int64_t ranks = p->config->nodes * p->config->ranks, rows = ranks < DATA_ROWS ? ranks : DATA_ROWS;
    int64_t columns = plan->high - plan->low < COLUMNS ? 1 : COLUMNS;
    double height = rows > 12 ? 12 : 18;
    heading(p, rows < ranks ? "Ranks: which parts of the file they access themselves (the first ones)"
                            : "Ranks: which parts of the file they access themselves");
    for (int64_t rank = 0; rank < rows; rank++) {
        double share[COLUMNS] = {0};
        add_rank(p, rank, columns, share);
        label_row(p, "rank", rank, rank + 1, p->y + height - 4);
        draw_shares(p, share, columns, p->y, height);
        p->y += height;
    }
    p->y += 4;
}

/* ---- Domains ---- */

static void draw_block(picture *p, int64_t d, int64_t start, int64_t end, double height) {
    const sagoi_domain *domain = &p->plan->domains[d];
    double x = x_of(p, start > p->plan->low ? start : p->plan->low);
    double width = x_of(p, end < p->plan->high ? end : p->plan->high) - x;
    char label[64];
    svg_rect(&p->svg, (svg_box){x, p->y, width > 0.6 ? width : 0.6, height}, color_of(p, d).text,
             width > 4 ? "#ffffff" : NULL);
    (void)snprintf(label, sizeof label, "%" PRId64 ": node %" PRId64, d, domain->node);
    if (width < svg_text_width(label, 11) + 6)
        (void)snprintf(label, sizeof label, "%" PRId64, d);
    /* A number that is cut off would be another number. */
    double size = width < svg_text_width(label, 11) + 2 ? 8 : 11;
    if (width > svg_text_width(label, size) + 2)
        svg_text_light(&p->svg, x + width / 2, p->y + height / 2 + 4, size, SVG_MIDDLE, "%s", label);
}

static void draw_domains(picture *p) {
    const sagoi_plan *plan = p->plan;
    heading(p, plan->groups > 1 ? "File: domains, and the nodes that own them (colours: groups)"
                                : "File: domains, and the nodes that own them");
    p->domains_y = p->y + 30;
    int64_t drawn = 0;
    for (int64_t d = 0; d < plan->ndomains; d++) {
        const sagoi_domain *domain = &plan->domains[d];
        char tip[160];
        (void)snprintf(tip, sizeof tip,
                       "domain %" PRId64 ": node %" PRId64 " slot %" PRId64 ", group %" PRId64 ", %" PRId64
                       " windows from %" PRId64,
                       d, domain->node, domain->slot, domain->group, domain->windows, domain->first);
        svg_group_open(&p->svg, tip);
        for (int64_t start = domain->first; start < domain->end && drawn < 4000; start += domain->stride, drawn++)
            draw_block(p, d, start, start + domain->block < domain->end ? start + domain->block : domain->end, 30);
        svg_group_close(&p->svg);
    }
    p->y += 30;
    /* Stands beside the domains, since lines to the nodes begin below them. */
    svg_text(&p->svg, LEFT - 8, p->y - 18, 11, SVG_RIGHT, "%s to", sagoi_size_to_text(plan->low).text);
    svg_text(&p->svg, LEFT - 8, p->y - 4, 11, SVG_RIGHT, "%s", sagoi_size_to_text(plan->high).text);
    if (drawn >= 4000)
        svg_text(&p->svg, LEFT + inner() / 2, p->y + 14, 11, SVG_MIDDLE,
                 "and so on: windows of %" PRId64 " KiB in turn", plan->window / 1024);
    p->y += 16;
}

/* ---- Nodes ---- */

static void lay_nodes(picture *p) {
    int64_t nodes = p->plan->nodes;
    if (nodes <= 8) {
        p->columns = nodes;
        p->cell = inner() / (double)nodes;
    } else {
        p->columns = nodes <= 64 ? 16 : nodes <= 512 ? 48 : 72;
        p->cell = inner() / (double)p->columns;
    }
}

static svg_box node_box(const picture *p, int64_t node) {
    double height = p->plan->nodes <= 8 ? 54 : p->cell;
    int64_t row = node / p->columns, column = node % p->columns;
    return (svg_box){LEFT + (double)column * p->cell, p->nodes_y + (double)row * height, p->cell, height};
}

/* The place where the aggregator of a slot is drawn. */
static void slot_spot(const picture *p, int64_t node, int64_t slot, double *x, double *y) {
    svg_box box = node_box(p, node);
    double slots = (double)p->plan->node_slots[node];
    *x = box.x + box.width * ((double)slot + 0.5) / slots;
    *y = p->plan->nodes <= 8 ? box.y + 14 : box.y + box.height / 2;
}

static void draw_links(picture *p) {
    const sagoi_plan *plan = p->plan;
    for (int64_t d = 0; plan->ndomains <= LINKS_MAX && d < plan->ndomains; d++) {
        const sagoi_domain *domain = &plan->domains[d];
        double x, y, middle;
        int64_t end = domain->first + domain->block < domain->end ? domain->first + domain->block : domain->end;
        slot_spot(p, domain->node, domain->slot, &x, &y);
        middle = (x_of(p, domain->first > plan->low ? domain->first : plan->low) + x_of(p, end)) / 2;
        svg_line(&p->svg, middle, p->domains_y, x, y, color_of(p, d).text, 1.5);
    }
}

static void draw_node(picture *p, int64_t n) {
    const sagoi_plan *plan = p->plan;
    svg_box box = node_box(p, n);
    double pad = plan->nodes <= 64 ? 3 : 1;
    bool hosts = plan->node_slots[n] > 0;
    svg_color light = svg_color_light(svg_color_of(plan->node_group[n]), 0.25);
    const char *fill = plan->groups > 1 ? light.text : SVG_PALE;
    svg_box inset = {box.x + pad, box.y + pad, box.width - 2 * pad, box.height - 2 * pad};
    svg_rect(&p->svg, inset, fill, hosts ? SVG_INK : SVG_GREY);
    if (plan->nodes <= 8) {
        svg_text(&p->svg, box.x + box.width / 2, box.y + 34, 11, SVG_MIDDLE, "node %" PRId64, n);
        svg_text(&p->svg, box.x + box.width / 2, box.y + 47, 9, SVG_MIDDLE, "%" PRId64 " rank%s, %s",
                 p->input->machine.node[n].ranks, sagoi_plural(p->input->machine.node[n].ranks),
                 sagoi_size_to_text(p->input->machine.node[n].memory).text);
    } else if (plan->nodes <= NODES_LABELLED) {
        svg_text(&p->svg, box.x + box.width / 2, box.y + box.height - 6, 9, SVG_MIDDLE, "%" PRId64, n);
    }
    if (plan->node_relay[n] == n && plan->nodes <= NODES_LABELLED)
        svg_text(&p->svg, inset.x + 3, inset.y + 11, 10, SVG_LEFT, "R");
}

static void draw_nodes(picture *p) {
    const sagoi_plan *plan = p->plan;
    char text[160];
    int64_t hosts = 0;
    for (int64_t n = 0; n < plan->nodes; n++)
        hosts += plan->node_slots[n] > 0;
    (void)snprintf(text, sizeof text,
                   "Nodes: %" PRId64 ", in order, %" PRId64 " of them with %" PRId64 " aggregators (dots)%s%s",
                   plan->nodes, hosts, plan->ndomains, plan->groups > 1 ? "; colours: the groups they serve" : "",
                   plan->layers == 3 ? "; R: relay of its switch" : "");
    p->y += 8 + (plan->ndomains <= LINKS_MAX ? 44 : 0);
    p->nodes_y = p->y;
    lay_nodes(p);
    for (int64_t n = 0; n < plan->nodes; n++)
        draw_node(p, n);
    draw_links(p);
    double radius = plan->nodes <= 8 ? 7 : p->cell / 3.2 / (double)(plan->max_slots > 1 ? plan->max_slots : 1) + 1;
    for (int64_t d = 0; d < plan->ndomains; d++) {
        double x, y;
        slot_spot(p, plan->domains[d].node, plan->domains[d].slot, &x, &y);
        svg_circle(&p->svg, x, y, radius < 9 ? radius : 9, color_of(p, d).text, "#ffffff");
    }
    svg_box last = node_box(p, plan->nodes - 1);
    p->y = last.y + last.height + 18;
    svg_text(&p->svg, 20, p->y, 14, SVG_LEFT, "%s", text); /* below, where no line crosses the text */
}

/* ---- Rounds, over time ---- */

static double x_at(const picture *p, double seconds) { return LEFT + inner() * seconds / p->times->end; }

static void draw_bar(picture *p, const double from_to[2], double y, double height, const char *color) {
    double x = x_at(p, from_to[0]), width = x_at(p, from_to[1]) - x;
    svg_rect(&p->svg, (svg_box){x, y, width > 0.7 ? width : 0.7, height}, color, NULL);
}

/* The messages above, in the aggregator's colour; the storage below, darker. */
static void draw_turn(picture *p, int64_t d, int64_t k, double height) {
    const plan_turn *turn = &p->times->turns[d * p->times->rounds + k];
    const double *fill = p->plan->write ? turn->first : turn->second;
    const double *store = p->plan->write ? turn->second : turn->first;
    double half = (height - 4) / 2, wait[2] = {turn->ready, turn->first[0]};
    char tip[200], label[24];
    if (!turn->used)
        return;
    (void)snprintf(tip, sizeof tip, "domain %" PRId64 ", round %" PRId64 ": %s; messages %.3f ms, storage %.3f ms",
                   d, k, sagoi_size_to_text((int64_t)turn->bytes).text, 1e3 * (fill[1] - fill[0]),
                   1e3 * (store[1] - store[0]));
    svg_group_open(&p->svg, tip);
    if (p->plan->write && wait[1] > wait[0])
        draw_bar(p, wait, p->y + 1, half, turn->waited_for_storage ? "#f2b8a0" : "#d9dee4");
    draw_bar(p, fill, p->y + 1, half, svg_color_light(color_of(p, d), k % 2 == 0 ? 1 : 0.75).text);
    draw_bar(p, store, p->y + 1 + half, half, svg_color_light(color_of(p, d), k % 2 == 0 ? 0.5 : 0.35).text);
    (void)snprintf(label, sizeof label, "%" PRId64, k);
    double width = x_at(p, store[1]) - x_at(p, store[0]);
    if (width > svg_text_width(label, 8) + 3)
        svg_text(&p->svg, x_at(p, store[0]) + width / 2, p->y + height - 4, 8, SVG_MIDDLE, "%s", label);
    svg_group_close(&p->svg);
}

static void draw_legend(picture *p) {
    static const char *const colors[] = {"#6b7785", "#b5bbc2", "#d9dee4", "#f2b8a0"};
    static const char *const words[] = {"above: messages", "below: storage, with the round's number",
                                        "waits for other aggregators", "waits for its own storage"};
    double x = LEFT;
    for (int i = 0; i < (p->plan->write ? 4 : 2); i++) {
        svg_rect(&p->svg, (svg_box){x, p->y + 4, 10, 10}, colors[i], NULL);
        svg_text(&p->svg, x + 14, p->y + 13, 10, SVG_LEFT, "%s", words[i]);
        x += svg_text_width(words[i], 10) + 40;
    }
    p->y += 20;
}

static void draw_axis(picture *p) {
    for (int i = 0; i <= 4; i++)
        svg_text(&p->svg, LEFT + inner() * i / 4, p->y + 10, 9,
                 i == 0   ? SVG_LEFT
                 : i == 4 ? SVG_RIGHT
                          : SVG_MIDDLE,
                 "%.3g ms", 1e3 * p->times->end * i / 4);
    p->y += 14;
}

static void draw_rounds(picture *p) {
    const sagoi_plan *plan = p->plan;
    const plan_times *times = p->times;
    double height = times->domains > 8 ? 18 : 24;
    char text[200];
    (void)snprintf(text, sizeof text,
                   "Time by the planner's model: %" PRId64 " round%s of windows of %s, two in turn (shades)%s",
                   plan->rounds, plan->rounds == 1 ? "" : "s", sagoi_size_to_text(plan->window).text,
                   times->rounds < plan->rounds ? "; the first ones" : "");
    heading(p, text);
    for (int64_t d = 0; d < times->domains; d++) {
        svg_text(&p->svg, LEFT - 8, p->y + height - 8, 10, SVG_RIGHT, "domain %" PRId64 ", node %" PRId64, d,
                 plan->domains[d].node);
        svg_rect(&p->svg, (svg_box){LEFT, p->y + 1, inner(), height - 4}, SVG_PALE, NULL);
        for (int64_t k = 0; k < times->rounds; k++)
            draw_turn(p, d, k, height);
        p->y += height;
    }
    draw_axis(p);
    draw_legend(p);
    if (times->domains < plan->ndomains) {
        svg_text(&p->svg, LEFT, p->y + 12, 11, SVG_LEFT, "... and %" PRId64 " more aggregators",
                 plan->ndomains - times->domains);
        p->y += 16;
    }
}

/* ---- All of it ---- */

/* Returns the height. */
static double draw(picture p, const char *title, double height, FILE *out) {
    static const char *const strategies[] = {"auto", "direct", "mapped", "aggregated"};
    const sagoi_plan *plan = p.plan;
    p.y = 28;
    svg_open(&p.svg, out, WIDTH, height, title);
    svg_text(&p.svg, 20, p.y, 18, SVG_LEFT, "%s", title);
    svg_text(&p.svg, 20, p.y + 20, 12, SVG_LEFT, "%s, %s", plan->write ? "write" : "read",
             strategies[plan->strategy]);
    p.y += 20;
    if (plan->low < plan->high)
        draw_data(&p);
    if (plan->ndomains > 0) {
        draw_domains(&p);
        draw_nodes(&p);
    } else if (plan->low < plan->high) {
        draw_ranks(&p);
    }
    if (p.times && p.times->end > 0)
        draw_rounds(&p);
    svg_close(&p.svg);
    return p.y + 16;
}

void plan_svg(const plan_config *config, const plan_input *input, const sagoi_plan *plan, const char *title,
              FILE *out) {
    plan_times times = {.turns = NULL};
    picture p = {.config = config, .input = input, .plan = plan};
    if (plan->ndomains > 0 && plan_times_make(input, plan, ROUND_ROWS, ROUNDS_SHOWN, &times))
        p.times = &times;
    FILE *nowhere = fopen("/dev/null", "w"); /* the height has to be known before */
    double height = nowhere ? draw(p, title, 100, nowhere) : 2000;
    if (nowhere)
        (void)fclose(nowhere);
    (void)draw(p, title, height, out);
    plan_times_cleanup(&times);
}
