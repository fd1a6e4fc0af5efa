/* The tree is an array of vertices; its leaves are also linked in the order of the file. */
#include "plan/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"

/* ---- Making ------------------------------------------------------------------------------------------- */

/* A range to be divided: into `leaves` leaves, the first of which is number `first`; 0: by size. */
typedef struct part {
    int64_t start, end;
    int64_t first, leaves;
} part;

/* Where leaf `number` begins. */
static int64_t leaf_start(const sagoi_bisection *b, int64_t number) {
    if (b->bytes > 0)
        return b->origin + number * b->bytes;
    int64_t units = sagoi_div_up(b->end - b->origin, b->unit), each = units / b->leaves,
            remainder = units % b->leaves;
    return b->origin + (number * each + number * remainder / b->leaves) * b->unit;
}

/* Where a part is cut in two; its end: it stays whole. */
static int64_t cut_of(const sagoi_bisection *b, const part *p) {
    if (b->leaves > 0) {
        int64_t cut = leaf_start(b, p->first + p->leaves / 2);
        return p->leaves > 1 && cut < p->end ? cut : p->end;
    }
    if (p->end - p->start <= b->bytes)
        return p->end;
    int64_t middle = p->start + (p->end - p->start) / 2;
    int64_t cut = b->origin + sagoi_round_up(middle - b->origin, b->unit);
    if (cut >= p->end)
        cut -= b->unit;
    return cut > p->start ? cut : p->end;
}

static part left_of(const part *p, int64_t cut) { return (part){p->start, cut, p->first, p->leaves / 2}; }

static part right_of(const part *p, int64_t cut) {
    return (part){cut, p->end, p->first + p->leaves / 2, p->leaves - p->leaves / 2};
}

static int64_t add_vertex(sagoi_tree *tree, int64_t parent, int64_t start, int64_t end) {
    if (!sagoi_grow((void **)&tree->vertex, tree->count, &tree->capacity, sizeof *tree->vertex))
        return -1;
    tree->vertex[tree->count] = (sagoi_vertex){start, end, parent, -1, -1, -1, -1, -1};
    return tree->count++;
}

static void append_leaf(sagoi_tree *tree, int64_t leaf, int64_t *last) {
    tree->vertex[leaf].before = *last;
    if (*last >= 0)
        tree->vertex[*last].after = leaf;
    else
        tree->first = leaf;
    *last = leaf;
    tree->leaves++;
}

/* Depth first, left before right, so that leaves come in order; the depth is the logarithm of the number of
 * leaves. */
static int64_t grow(sagoi_tree *tree, const sagoi_bisection *b, int64_t parent, part p, int64_t *last) {
    int64_t v = add_vertex(tree, parent, p.start, p.end), cut = cut_of(b, &p);
    if (v >= 0 && cut == p.end)
        append_leaf(tree, v, last);
    if (v < 0 || cut == p.end)
        return v;
    int64_t left = grow(tree, b, v, left_of(&p, cut), last);
    int64_t right = left < 0 ? -1 : grow(tree, b, v, right_of(&p, cut), last);
    if (right < 0)
        return -1;
    tree->vertex[v].left = left;
    tree->vertex[v].right = right;
    return v;
}

static part all_of(const sagoi_bisection *b) { return (part){b->start, b->end, 0, b->leaves}; }

sago_status sagoi_tree_make(const sagoi_bisection *bisection, sagoi_tree *tree) {
    sagoi_tree fresh = {0};
    int64_t last = -1;
    if (grow(&fresh, bisection, -1, all_of(bisection), &last) < 0) {
        sagoi_tree_cleanup(&fresh);
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory to divide %" PRId64 " bytes",
                          bisection->end - bisection->start);
    }
    *tree = fresh;
    return SAGO_OK;
}

void sagoi_tree_cleanup(sagoi_tree *tree) {
    free(tree->vertex);
    memset(tree, 0, sizeof *tree);
}

static int64_t count_leaves(const sagoi_bisection *b, part p) {
    int64_t cut = cut_of(b, &p);
    return cut == p.end ? 1 : count_leaves(b, left_of(&p, cut)) + count_leaves(b, right_of(&p, cut));
}

int64_t sagoi_bisection_leaves(const sagoi_bisection *bisection) {
    return count_leaves(bisection, all_of(bisection));
}

/* ---- Remerging (004, 3.3) ----------------------------------------------------------------------------- */

static void unlink_leaf(sagoi_tree *tree, int64_t leaf) {
    const sagoi_vertex *gone = &tree->vertex[leaf];
    if (gone->before >= 0)
        tree->vertex[gone->before].after = gone->after;
    else
        tree->first = gone->after;
    if (gone->after >= 0)
        tree->vertex[gone->after].before = gone->before;
    tree->leaves--;
}

/* The sibling takes the parent's place. */
static void replace_parent(sagoi_tree *tree, int64_t parent, int64_t sibling) {
    int64_t above = tree->vertex[parent].parent;
    tree->vertex[sibling].parent = above;
    if (above < 0)
        return;
    if (tree->vertex[above].left == parent)
        tree->vertex[above].left = sibling;
    else
        tree->vertex[above].right = sibling;
}

/* Removes a leaf (004, 3.3).  Its sibling takes over; if the sibling was split, the neighbouring leaf of the
 * sibling's subtree does.  Returns the leaf that took over; -1: there is no other. */
static int64_t remerge(sagoi_tree *tree, int64_t leaf) {
    sagoi_vertex *vertex = tree->vertex;
    int64_t parent = vertex[leaf].parent;
    if (parent < 0)
        return -1;
    bool was_left = vertex[parent].left == leaf;
    int64_t sibling = was_left ? vertex[parent].right : vertex[parent].left, taker = sibling;
    while (vertex[taker].left >= 0)
        taker = was_left ? vertex[taker].left : vertex[taker].right;
    if (taker == sibling)
        tree->by_sibling++;
    else
        tree->by_descendant++;
    for (int64_t v = taker; v != parent; v = vertex[v].parent) {
        vertex[v].start = sagoi_min(vertex[v].start, vertex[leaf].start);
        vertex[v].end = sagoi_max(vertex[v].end, vertex[leaf].end);
    }
    unlink_leaf(tree, leaf);
    replace_parent(tree, parent, sibling);
    return taker;
}

bool sagoi_tree_elect(sagoi_tree *tree, sagoi_elect_fn elect, void *arg) {
    int64_t leaf = tree->first;
    while (leaf >= 0) {
        sagoi_vertex *at = &tree->vertex[leaf];
        if (at->host < 0)
            at->host = elect(arg, at->start, at->end);
        if (at->host >= 0) {
            leaf = at->after;
            continue;
        }
        leaf = remerge(tree, leaf);
        if (leaf < 0)
            return false;
    }
    return true;
}
