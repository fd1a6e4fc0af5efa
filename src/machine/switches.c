/* From a list of switches to extents and places. */
#include "machine/switches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"

/* ---- The list ----------------------------------------------------------------------------------------- */

static int64_t switch_find(const sagoi_switches *s, const char *name) {
    for (int64_t i = 0; i < s->count; i++)
        if (strcmp(s->item[i].name, name) == 0)
            return i;
    return -1;
}

sago_status sagoi_switches_add(sagoi_switches *switches, const sagoi_text *text, const char *name,
                               const char *below, bool leaf) {
    if (strlen(name) >= SAGOI_HOST_MAX)
        return sagoi_text_fail(text, "a switch name longer than %d", SAGOI_HOST_MAX - 1);
    int64_t twin = switch_find(switches, name);
    if (twin >= 0)
        return sagoi_text_fail(text, "switch %s is on line %lld already", name,
                               (long long)switches->item[twin].line);
    if (switches->count == SAGOI_SWITCHES_MAX)
        return sagoi_text_fail(text, "more than %d switches", SAGOI_SWITCHES_MAX);
    if (!sagoi_grow((void **)&switches->item, switches->count, &switches->capacity, sizeof *switches->item))
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for more than %lld switches", (long long)switches->count);
    sagoi_switch made = {.line = text->line, .leaf = leaf, .parent = -1};
    (void)snprintf(made.name, sizeof made.name, "%s", name);
    sago_status status = sagoi_hostlist_add(&made.below, below);
    if (status != SAGO_OK) {
        sagoi_hostlist_cleanup(&made.below);
        return sagoi_text_locate(text, status);
    }
    switches->item[switches->count++] = made;
    return SAGO_OK;
}

void sagoi_switches_cleanup(sagoi_switches *switches) {
    for (int64_t i = 0; i < switches->count; i++)
        sagoi_hostlist_cleanup(&switches->item[i].below);
    free(switches->item);
    *switches = (sagoi_switches){.item = NULL};
}

/* ---- The tree ----------------------------------------------------------------------------------------- */

static sago_status fail_at(sagoi_text *text, const sagoi_switch *at, const char *what, const char *name) {
    text->line = at->line;
    return sagoi_text_fail(text, "switch %s: %s%s", at->name, what, name);
}

/* Makes `parent` the parent of every switch that is named below it and has no parent yet. */
static sago_status children_claim(sagoi_switches *s, int64_t parent, sagoi_text *text) {
    sagoi_switch *above = &s->item[parent];
    char name[SAGOI_HOST_MAX];
    for (int64_t i = 0; i < above->below.hosts; i++) {
        bool named = sagoi_hostlist_name(&above->below, i, name, sizeof name);
        int64_t child = named ? switch_find(s, name) : -1;
        if (child < 0)
            return fail_at(text, above, "no such switch below it: ", named ? name : "a name too long");
        if (s->item[child].parent >= 0)
            continue;
        s->item[child].parent = parent;
        s->item[child].position = above->children++;
    }
    return SAGO_OK;
}

/* Finds depths.  A switch that is below itself never reaches a root. */
static sago_status depths_count(sagoi_switches *s, sagoi_text *text, int64_t *deepest) {
    *deepest = 0;
    for (int64_t i = 0; i < s->count; i++) {
        int64_t depth = 0;
        for (int64_t at = s->item[i].parent; at >= 0; at = s->item[at].parent)
            if (++depth > s->count)
                return fail_at(text, &s->item[i], "it is above itself: a cycle", "");
        s->item[i].depth = depth;
        *deepest = sagoi_max(*deepest, depth);
    }
    return SAGO_OK;
}

static int64_t roots_number(sagoi_switches *s) {
    int64_t roots = 0;
    for (int64_t i = 0; i < s->count; i++)
        if (s->item[i].parent < 0)
            s->item[i].position = roots++;
    return roots;
}

/* Sets the extents.  extent[0]: switches below a common root, if there are several roots; then, by depth, the
 * largest number of children. */
static sago_status extents_find(const sagoi_switches *s, int64_t roots, int64_t deepest, sagoi_topology *t) {
    int64_t top = roots > 1;
    t->kind = SAGOI_FAT_TREE;
    t->dimensions = deepest + 1 + top;
    if (t->dimensions > SAGOI_DIMENSIONS_MAX)
        return sagoi_fail(SAGO_ERR_ARG, "switches stand %lld high, more than %d", (long long)t->dimensions,
                          SAGOI_DIMENSIONS_MAX);
    for (int64_t i = 0; i < t->dimensions; i++)
        t->extent[i] = 1;
    if (top)
        t->extent[0] = roots;
    for (int64_t i = 0; i < s->count; i++) {
        const sagoi_switch *item = &s->item[i];
        int64_t *extent = &t->extent[item->leaf ? t->dimensions - 1 : top + item->depth];
        *extent = sagoi_max(*extent, item->leaf ? item->below.hosts : item->children);
    }
    int64_t places = 1;
    for (int64_t i = 0; i < t->dimensions; i++)
        if (sagoi_mul(places, t->extent[i], &places) || places > SAGOI_PLACES_MAX)
            return sagoi_fail(SAGO_ERR_ARG, "the switches make more than %d places", SAGOI_PLACES_MAX);
    t->places = places;
    return SAGO_OK;
}

/* The first place below a leaf switch; if the switch is less deep than others, the missing positions are 0. */
static int64_t leaf_place(const sagoi_switches *s, const sagoi_switch *leaf, const sagoi_topology *t, bool top) {
    int64_t coordinate[SAGOI_DIMENSIONS_MAX] = {0};
    for (const sagoi_switch *at = leaf; at; at = at->parent >= 0 ? &s->item[at->parent] : NULL)
        if (at->depth + top >= 1)
            coordinate[at->depth + top - 1] = at->position;
    return sagoi_topology_place(t, coordinate);
}

static sago_status hosts_place(const sagoi_switches *s, bool top, sagoi_text *text, const sagoi_topology *t,
                               sagoi_hostlist *hosts) {
    char range_text[3 * SAGOI_HOST_MAX];
    for (int64_t i = 0; i < s->count; i++) {
        const sagoi_switch *leaf = &s->item[i];
        int64_t place = leaf->leaf ? leaf_place(s, leaf, t, top) : 0;
        for (int64_t r = 0; leaf->leaf && r < leaf->below.ranges; r++) {
            sagoi_host_range_format(&leaf->below.range[r], range_text, sizeof range_text);
            text->line = leaf->line;
            sago_status status = sagoi_hostlist_add(hosts, range_text);
            if (status != SAGO_OK)
                return sagoi_text_locate(text, status);
            hosts->range[hosts->ranges - 1].first = place + leaf->below.range[r].first;
        }
    }
    return SAGO_OK;
}

sago_status sagoi_switches_lay(sagoi_switches *switches, sagoi_text *text, sagoi_topology *topology,
                               sagoi_hostlist *hosts) {
    int64_t last_line = text->line, deepest;
    sago_status status = SAGO_OK;
    for (int64_t i = 0; status == SAGO_OK && i < switches->count; i++)
        if (!switches->item[i].leaf)
            status = children_claim(switches, i, text);
    if (status == SAGO_OK)
        status = depths_count(switches, text, &deepest);
    if (status != SAGO_OK)
        return status;
    int64_t roots = roots_number(switches);
    status = extents_find(switches, roots, deepest, topology);
    if (status != SAGO_OK)
        return sagoi_text_locate(text, status);
    status = hosts_place(switches, roots > 1, text, topology, hosts);
    text->line = last_line;
    return status;
}
