/* A machine as a picture.
 *
 * If a job has few nodes they are drawn one by one, in frames of the switch or router that they share, with a
 * chip for every directory, whose colour shows with which nodes it is shared.  A large machine is drawn as
 * blocks of cells: a cell is a router, a leaf switch or a part of the torus, and a block is what lies above it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/size_text.h"
#include "tools/svg.h"
#include "tools/topo.h"

enum {
    WIDTH = 1200,
    MARGIN = 30,
    FEW_NODES = 48,
    CELLS_MAX = 2500,
    NODE_WIDTH = 170,
    NODE_HEIGHT = 150,
    INSIDE = 48, /* height of the inside of a node */
    GAP = 12,
    CHIP = 14,
    LINE = 20,
};

/* ---- Heading and footing, of both kinds of picture ---- */

static double draw_heading(tool_svg *svg, const topo_view *view) {
    svg_text(svg, MARGIN, 42, 24, SVG_LEFT, "%s", view->name);
    svg_text(svg, MARGIN, 66, 14, SVG_LEFT, "%s", topo_network(view->topology).text);
    svg_text(svg, MARGIN, 86, 12, SVG_LEFT, "%s; gateways: %s", view->source, topo_gateways(view->topology).text);
    return 104;
}

/* What a link of a level joins. */
static void ends_of(const sagoi_topology *t, int64_t level, const char **from, const char **to) {
    const bool leaf = level == 0;
    *from = *to = "node";
    if (t->kind == SAGOI_DRAGONFLY) {
        *from = leaf ? "node" : level == 3 ? "group" : "router";
        *to = level == 3 ? "group" : "router";
    } else if (t->kind == SAGOI_FAT_TREE) {
        *from = leaf ? "node" : "switch";
        *to = "switch";
    }
}

/* Draws a link, as wide as it is fast, between the two things that it joins. */
static void draw_link(tool_svg *svg, const char *from, const char *to, const sagoi_level *level, double y) {
    enum { BOX = 56, WIRE = 60 };
    const double x = MARGIN + 10, width = fmin(12, fmax(1, 1.5 * log2(1 + level->bandwidth / 1e9)));
    svg_line(svg, x + BOX, y, x + BOX + WIRE, y, svg_color_of(0).text, width);
    svg_rect(svg, (svg_box){x, y - 8, BOX, 16}, "#ffffff", SVG_GREY);
    svg_text(svg, x + BOX / 2.0, y + 4, 10, SVG_MIDDLE, "%s", from);
    svg_rect(svg, (svg_box){x + BOX + WIRE, y - 8, BOX, 16}, "#ffffff", SVG_GREY);
    svg_text(svg, x + 1.5 * BOX + WIRE, y + 4, 10, SVG_MIDDLE, "%s", to);
}

static void draw_level(tool_svg *svg, const char *name, const char *meaning, const sagoi_level *level, double y) {
    char text[200], fitted[64];
    snprintf(text, sizeof text, "%s%s%s", name, *name ? ": " : "", meaning);
    svg_fit(text, 11, 190, fitted, sizeof fitted);
    svg_text(svg, MARGIN + 194, y + 4, 11, SVG_LEFT, "%s", fitted);
    svg_text(svg, MARGIN + 450, y + 4, 11, SVG_RIGHT, "%s", sagoi_show_time(level->latency).text);
    svg_text(svg, MARGIN + 540, y + 4, 11, SVG_RIGHT, "%s", sagoi_show_rate(level->bandwidth).text);
}

/* Draws the links of all levels, from inside of a node to the storage; returns where they end. */
static double draw_levels(tool_svg *svg, const sagoi_topology *t, double y) {
    const char *from, *to;
    char number[24];
    svg_text(svg, MARGIN, y + 14, 13, SVG_LEFT, "Links, as wide as they are fast");
    y += LINE + 14;
    draw_link(svg, "rank", "rank", &t->inside, y);
    draw_level(svg, "inside", "ranks of a node", &t->inside, y);
    for (int64_t k = 0; k < t->levels; k++) {
        y += LINE;
        ends_of(t, k, &from, &to);
        draw_link(svg, from, to, &t->level[k], y);
        draw_level(svg, sagoi_level_name(t, k, number), topo_level_meaning(t, k).text, &t->level[k], y);
    }
    y += LINE;
    draw_link(svg, "gateway", "storage", &t->io, y);
    draw_level(svg, "io", "gateway to storage", &t->io, y);
    return y + LINE;
}

/* Draws the storage, right of the levels. */
static double draw_storage(tool_svg *svg, const topo_view *view, double y) {
    const double x = WIDTH / 2.0 + 20;
    char fitted[200];
    svg_text(svg, x, y + 14, 13, SVG_LEFT, "Storage");
    y += LINE;
    for (int64_t i = 0; view->described && i < view->described->tiers; i++, y += LINE) {
        const sagoi_tier *tier = &view->described->tier[i];
        char text[512];
        snprintf(text, sizeof text, "%s %s: %s", tier->name, tier->path, topo_tier(tier).text);
        svg_fit(text, 12, WIDTH - MARGIN - x - 10, fitted, sizeof fitted);
        svg_text(svg, x + 10, y + 14, 12, SVG_LEFT, "%s", fitted);
    }
    for (int64_t i = 0; i < view->dirs; i++, y += LINE) {
        char text[512];
        snprintf(text, sizeof text, "%lld  %s: %s", (long long)i + 1, view->dir[i].path,
                 topo_sharing(view, &view->dir[i]).text);
        svg_fit(text, 12, WIDTH - MARGIN - x - 10, fitted, sizeof fitted);
        svg_text(svg, x + 10, y + 14, 12, SVG_LEFT, "%s", fitted);
    }
    return y;
}

static int64_t footing_lines(const topo_view *view) {
    int64_t storage = (view->described ? view->described->tiers : 0) + view->dirs;
    return 3 + sagoi_max(view->topology->levels + 2, storage);
}

/* ---- Few nodes ---- */

static void draw_chips(tool_svg *svg, const topo_view *view, int64_t n, double x, double y) {
    for (int64_t i = 0; i < view->dirs; i++) {
        const topo_dir *dir = &view->dir[i];
        if (dir->problem[0])
            continue;
        char tip[SAGOI_PATH_MAX + 64];
        snprintf(tip, sizeof tip, "%s: share %lld of %lld", dir->path, (long long)dir->share[n] + 1,
                 (long long)dir->shares);
        svg_group_open(svg, tip);
        svg_rect(svg, (svg_box){x, y, CHIP, CHIP}, svg_color_of(dir->share[n]).text, NULL);
        svg_text_light(svg, x + CHIP / 2.0, y + CHIP - 4, 9, SVG_MIDDLE, "%lld", (long long)i + 1);
        svg_group_close(svg);
        x += CHIP + 3;
    }
}

/* Draws the cores of a NUMA domain as squares; as a number, if they are too many. */
static void draw_numa(tool_svg *svg, int64_t domain, int64_t cores, svg_box box) {
    enum { CORE = 6 };
    int64_t across = (int64_t)((box.width - 4) / CORE), rows = sagoi_div_up(cores, sagoi_max(across, 1));
    char tip[64];
    snprintf(tip, sizeof tip, "NUMA domain %lld: %lld core%s", (long long)domain, (long long)cores,
             cores == 1 ? "" : "s");
    svg_group_open(svg, tip);
    svg_rect(svg, box, SVG_PALE, SVG_GREY);
    if (across < 1 || (double)(rows * CORE) > box.height - 4)
        svg_text(svg, box.x + box.width / 2, box.y + box.height / 2 + 3, 9, SVG_MIDDLE, "%lld", (long long)cores);
    else
        for (int64_t i = 0; i < cores; i++)
            svg_rect(svg,
                     (svg_box){box.x + 3 + (double)(i % across * CORE), box.y + 3 + (double)(i / across * CORE),
                               CORE - 1, CORE - 1},
                     svg_color_of(2).text, NULL);
    svg_group_close(svg);
}

/* Draws NUMA domains with their cores, and the network interfaces below each. */
static void draw_inside(tool_svg *svg, const sagoi_inside *inside, double x, double y) {
    const double room = NODE_WIDTH - 16;
    int64_t shown = sagoi_min(sagoi_max(inside->numa, 1), 8), hung[8] = {0};
    double width = room / (double)shown;
    for (int64_t i = 0; i < shown; i++)
        draw_numa(svg, i, inside->numa_cores[i], (svg_box){x + (double)i * width, y, width - 3, INSIDE - 20});
    for (int64_t i = 0; i < inside->nics && i < SAGOI_NICS_NAMED; i++) {
        char fitted[32];
        int64_t at = inside->nic[i].numa >= 0 && inside->nic[i].numa < shown ? inside->nic[i].numa : 0;
        double left = x + (double)at * width, step = width / 2;
        if (hung[at] == 2)
            continue; /* the text has all of them */
        double from = left + (double)hung[at]++ * step + 5;
        svg_line(svg, from, y + INSIDE - 20, from, y + INSIDE - 12, SVG_GREY, 1);
        svg_circle(svg, from, y + INSIDE - 10, 3, svg_color_of(3).text, NULL);
        svg_fit(inside->nic[i].name, 8, step - 8, fitted, sizeof fitted);
        svg_text(svg, from + 5, y + INSIDE - 7, 8, SVG_LEFT, "%s", fitted);
    }
}

static void draw_node(tool_svg *svg, const topo_view *view, int64_t n, double x, double y, double most) {
    const topo_node *node = &view->node[n];
    char fitted[64];
    double link = sagoi_topology_link(view->topology, node->place), room = NODE_WIDTH - 16;
    bool slow = isfinite(link);
    svg_rect(svg, (svg_box){x, y, NODE_WIDTH, NODE_HEIGHT}, "#ffffff", slow ? svg_color_of(1).text : SVG_GREY);
    svg_fit(node->host, 13, room - (slow ? 76 : 0), fitted, sizeof fitted);
    svg_text(svg, x + 8, y + 18, 13, SVG_LEFT, "%s", fitted);
    if (slow)
        svg_text(svg, x + NODE_WIDTH - 8, y + 18, 10, SVG_RIGHT, "link %s", sagoi_show_rate(link).text);
    svg_text(svg, x + 8, y + 34, 11, SVG_LEFT, "%lld rank%s, %lld core%s", (long long)node->ranks,
             node->ranks == 1 ? "" : "s", (long long)node->inside.cores, node->inside.cores == 1 ? "" : "s");
    svg_text(svg, x + 8, y + 49, 11, SVG_LEFT, "place %lld", (long long)node->place);
    svg_text(svg, x + NODE_WIDTH - 8, y + 49, 11, SVG_RIGHT, "%s free", sagoi_size_to_text(node->memory).text);
    double share = most > 0 ? (double)node->memory / most : 0;
    svg_rect(svg, (svg_box){x + 8, y + 56, room, 6}, SVG_PALE, NULL);
    svg_rect(svg, (svg_box){x + 8, y + 56, room * share, 6}, svg_color_of(0).text, NULL);
    draw_inside(svg, &node->inside, x + 8, y + 72);
    draw_chips(svg, view, n, x + 8, y + NODE_HEIGHT - CHIP - 8);
}

static const topo_view *sorted_view; /* a global, since qsort() passes no argument on */

static int by_place(const void *a, const void *b) {
    int64_t x = sorted_view->node[*(const int64_t *)a].place, y = sorted_view->node[*(const int64_t *)b].place;
    return x < y ? -1 : x > y;
}

static double most_memory(const topo_view *view) {
    double most = 0;
    for (int64_t n = 0; n < view->nodes; n++)
        most = fmax(most, (double)view->node[n].memory);
    return most;
}

enum { NODES_ACROSS = (WIDTH - 2 * MARGIN - GAP) / (NODE_WIDTH + GAP) };

/* Draws the frame around so many nodes. */
static svg_box frame_of(int64_t nodes) {
    int64_t across = sagoi_min(NODES_ACROSS, nodes), rows = sagoi_div_up(nodes, NODES_ACROSS);
    return (svg_box){0, 0, (double)(across * (NODE_WIDTH + GAP) + GAP),
                     (double)(LINE + rows * (NODE_HEIGHT + GAP))};
}

/* Draws the nodes order[from .. to) in their frame. */
static void draw_frame(tool_svg *svg, const topo_view *view, const int64_t *order, int64_t from, int64_t to,
                       svg_box frame) {
    int64_t neighbours = sagoi_topology_neighbours(view->topology);
    double most = most_memory(view);
    svg_rect(svg, frame, SVG_PALE, SVG_GREY);
    if (neighbours > 1)
        svg_text(svg, frame.x + GAP, frame.y + 15, 11, SVG_LEFT, "switch %lld",
                 (long long)(view->node[order[from]].place / neighbours));
    else
        svg_text(svg, frame.x + GAP, frame.y + 15, 11, SVG_LEFT, "network");
    for (int64_t i = 0; i < to - from; i++)
        draw_node(svg, view, order[from + i], frame.x + GAP + (double)(i % NODES_ACROSS * (NODE_WIDTH + GAP)),
                  frame.y + LINE + (double)(i / NODES_ACROSS * (NODE_HEIGHT + GAP)), most);
}

/* Draws all frames, side by side where they fit; without `svg` only finds out where they end. */
static double draw_frames(tool_svg *svg, const topo_view *view, const int64_t *order, double y) {
    int64_t neighbours = sagoi_topology_neighbours(view->topology);
    double x = MARGIN, row = 0;
    for (int64_t from = 0, to; from < view->nodes; from = to) {
        int64_t block = view->node[order[from]].place / neighbours;
        for (to = from + 1; to < view->nodes; to++)
            if (neighbours > 1 && view->node[order[to]].place / neighbours != block)
                break;
        svg_box frame = frame_of(to - from);
        if (x > MARGIN && x + frame.width > WIDTH - MARGIN) {
            x = MARGIN;
            y += row + GAP;
            row = 0;
        }
        frame.x = x;
        frame.y = y;
        if (svg)
            draw_frame(svg, view, order, from, to, frame);
        x += frame.width + GAP;
        row = fmax(row, frame.height);
    }
    return y + row;
}

static void draw_nodes(const topo_view *view, FILE *out) {
    tool_svg svg;
    int64_t order[FEW_NODES];
    for (int64_t n = 0; n < view->nodes; n++)
        order[n] = n;
    sorted_view = view;
    qsort(order, (size_t)view->nodes, sizeof *order, by_place);
    double height = draw_frames(NULL, view, order, 104) + (double)(LINE * (3 + footing_lines(view)) + MARGIN);
    svg_open(&svg, out, WIDTH, height, view->name);
    double y = draw_frames(&svg, view, order, draw_heading(&svg, view)) + LINE;
    svg_text(&svg, MARGIN, y, 11, SVG_LEFT,
             "Bar: memory free, against the node with most.  Frames in a node: NUMA domains with their cores, and "
             "network interfaces (dots).");
    svg_text(&svg, MARGIN, y + 15, 11, SVG_LEFT,
             "Chips: directories, numbered below; the same number and colour mean the same storage.");
    y += 2 * LINE;
    (void)draw_storage(&svg, view, y);
    (void)draw_levels(&svg, view->topology, y);
    svg_close(&svg);
}

/* ---- Blocks of cells ---- */

typedef struct cells {
    int64_t places; /* in a cell */
    int64_t blocks;
    int64_t rows, columns; /* rows and columns of a block */
    int64_t across;        /* blocks side by side */
    double size;           /* pixels of a cell */
    double block_width, block_height;
    int64_t *nodes;    /* for each cell */
    int64_t *gateways; /* for each cell */
} cells;

/* Uses as many leading dimensions as there may be cells; the last two of them are columns and rows of a block. */
static void cells_choose(const sagoi_topology *t, cells *c) {
    int64_t used = 0, count = 1;
    int64_t last = sagoi_topology_neighbours(t) > 1 ? t->dimensions - 1 : t->dimensions;
    while (used < last && count * t->extent[used] <= CELLS_MAX)
        count *= t->extent[used++];
    c->places = t->places / count;
    if (used == 0) { /* a single dimension is too long, so it is cut */
        c->places = sagoi_div_up(t->places, CELLS_MAX);
        count = sagoi_div_up(t->places, c->places);
    }
    c->columns = used > 0 ? t->extent[used - 1] : count;
    c->rows = used > 1 ? t->extent[used - 2] : 1;
    c->blocks = count / (c->rows * c->columns);
    if (c->rows == 1) { /* a long row is folded */
        int64_t folded = (int64_t)ceil(sqrt((double)c->columns * (c->blocks > 1 ? 0.5 : 2)));
        c->rows = sagoi_div_up(c->columns, folded);
        c->columns = folded;
    }
}

static int64_t cells_of_block(const cells *c, const sagoi_topology *t) {
    return t->places / c->places / c->blocks + (t->places % c->places != 0);
}

static void cells_lay(cells *c) {
    c->across = (int64_t)ceil(sqrt((double)c->blocks * 1.6 * (double)c->rows / (double)c->columns));
    c->across = sagoi_max(1, sagoi_min(c->across, c->blocks));
    double room = (WIDTH - 2.0 * MARGIN) / (double)c->across - GAP;
    c->size = fmin(30, fmax(3, floor((room - 8) / (double)c->columns)));
    c->block_width = c->size * (double)c->columns + 8;
    c->block_height = c->size * (double)c->rows + 8 + 16;
}

static bool cells_count(cells *c, const topo_view *view) {
    const sagoi_topology *t = view->topology;
    int64_t count = sagoi_div_up(t->places, c->places);
    c->nodes = calloc((size_t)count, sizeof *c->nodes);
    c->gateways = calloc((size_t)count, sizeof *c->gateways);
    if (!c->nodes || !c->gateways)
        return false;
    for (int64_t n = 0; n < view->nodes; n++)
        c->nodes[(view->node ? view->node[n].place : sagoi_description_place(view->described, n)) / c->places]++;
    for (int64_t g = 0; g < sagoi_topology_gateways(t); g++) {
        int64_t place = sagoi_topology_gateway_place(t, g);
        if (place >= 0)
            c->gateways[place / c->places]++;
    }
    return true;
}

static void draw_cell(tool_svg *svg, const cells *c, int64_t cell, svg_box box) {
    char tip[128];
    double share = (double)c->nodes[cell] / (double)c->places;
    snprintf(tip, sizeof tip, "places %lld to %lld: %lld node%s, %lld gateway%s", (long long)(cell * c->places),
             (long long)((cell + 1) * c->places - 1), (long long)c->nodes[cell], sagoi_plural(c->nodes[cell]),
             (long long)c->gateways[cell], sagoi_plural(c->gateways[cell]));
    svg_group_open(svg, tip);
    svg_rect(svg, box, c->nodes[cell] ? svg_color_shade(0.25 + 0.6 * share).text : SVG_PALE, NULL);
    if (c->gateways[cell])
        svg_circle(svg, box.x + box.width / 2, box.y + box.height / 2, fmax(1.5, c->size / 5),
                   svg_color_of(1).text, "#ffffff");
    svg_group_close(svg);
}

static const char *block_name(const sagoi_topology *t, const cells *c) {
    if (t->kind == SAGOI_DRAGONFLY)
        return "group";
    return c->blocks == 1 ? "network" : t->kind == SAGOI_FAT_TREE ? "tree" : "slice";
}

static void draw_block(tool_svg *svg, const topo_view *view, const cells *c, int64_t block, double x, double y) {
    const sagoi_topology *t = view->topology;
    int64_t in_block = cells_of_block(c, t), count = sagoi_div_up(t->places, c->places);
    svg_rect(svg, (svg_box){x, y, c->block_width, c->block_height}, "#ffffff", SVG_GREY);
    if (c->blocks == 1)
        svg_text(svg, x + 4, y + 12, 10, SVG_LEFT, "%s", block_name(t, c));
    else if (c->block_width >= 60)
        svg_text(svg, x + 4, y + 12, 10, SVG_LEFT, "%s %lld", block_name(t, c), (long long)block);
    else
        svg_text(svg, x + 4, y + 12, 9, SVG_LEFT, "%lld", (long long)block);
    for (int64_t i = 0; i < in_block && block * in_block + i < count; i++)
        draw_cell(svg, c, block * in_block + i,
                  (svg_box){x + 4 + (double)(i % c->columns) * c->size,
                            y + 20 + (double)(i / c->columns) * c->size, c->size - (c->size > 5 ? 2 : 0.5),
                            c->size - (c->size > 5 ? 2 : 0.5)});
}

static const char *cell_name(const sagoi_topology *t) {
    return t->kind == SAGOI_DRAGONFLY ? "router" : t->kind == SAGOI_FAT_TREE ? "switch" : "stretch";
}

static void draw_legend(tool_svg *svg, const topo_view *view, const cells *c, double y) {
    double x = MARGIN;
    svg_rect(svg, (svg_box){x, y, CHIP, CHIP}, svg_color_shade(0.85).text, NULL);
    if (c->places == 1)
        svg_text(svg, x + 20, y + 12, 12, SVG_LEFT, "place with a node");
    else
        svg_text(svg, x + 20, y + 12, 12, SVG_LEFT, "%s of %lld places, all with nodes", cell_name(view->topology),
                 (long long)c->places);
    x += 300;
    svg_rect(svg, (svg_box){x, y, CHIP, CHIP}, svg_color_shade(0.35).text, NULL);
    svg_text(svg, x + 20, y + 12, 12, SVG_LEFT, "some");
    x += 90;
    svg_rect(svg, (svg_box){x, y, CHIP, CHIP}, SVG_PALE, SVG_GREY);
    svg_text(svg, x + 20, y + 12, 12, SVG_LEFT, "none");
    x += 90;
    svg_circle(svg, x + 7, y + 7, 5, svg_color_of(1).text, "#ffffff");
    svg_text(svg, x + 20, y + 12, 12, SVG_LEFT, "gateway here");
    x += 150;
    svg_text(svg, x, y + 12, 12, SVG_LEFT, "%lld node%s in all", (long long)view->nodes,
             sagoi_plural(view->nodes));
}

static void draw_cells(const topo_view *view, FILE *out) {
    tool_svg svg;
    cells c = {0};
    cells_choose(view->topology, &c);
    cells_lay(&c);
    if (cells_count(&c, view)) {
        double top = 104, below = top + (double)sagoi_div_up(c.blocks, c.across) * (c.block_height + GAP) + GAP;
        svg_open(&svg, out, WIDTH, below + LINE * (double)(2 + footing_lines(view)) + MARGIN, view->name);
        (void)draw_heading(&svg, view);
        for (int64_t b = 0; b < c.blocks; b++)
            draw_block(&svg, view, &c, b, MARGIN + (double)(b % c.across) * (c.block_width + GAP),
                       top + (double)(b / c.across) * (c.block_height + GAP));
        draw_legend(&svg, view, &c, below);
        (void)draw_storage(&svg, view, below + 2 * LINE);
        (void)draw_levels(&svg, view->topology, below + 2 * LINE);
        svg_close(&svg);
    }
    free(c.nodes);
    free(c.gateways);
}

void topo_print_svg(const topo_view *view, FILE *out) {
    if (view->node && view->nodes <= FEW_NODES)
        draw_nodes(view, out);
    else
        draw_cells(view, out);
}
