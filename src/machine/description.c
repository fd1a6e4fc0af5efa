/* The parser of machine descriptions.
 *
 * Each line is a key and its values; a table says which function takes which key.  What belongs together is
 * checked when all has been read, with the number of the last line. */
#include "machine/description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hints.h"
#include "machine/switches.h"

typedef struct parser {
    sagoi_text text;
    sagoi_description *d;
    sagoi_switches switches;
    bool by_switch;       /* the topology is given switch by switch */
    unsigned long seen;   /* bit i: row i of the table was in the file */
    unsigned long levels; /* bit k: level k is set */
    int64_t level_lines;  /* lines of levels, some of which may stand behind the topology */
    int64_t ranks;        /* ranks in all; 0: not given */
} parser;

typedef sago_status (*key_fn)(parser *p);

/* ---- Words -------------------------------------------------------------------------------------------- */

static const char *const kind_names[] = {[SAGOI_FLAT] = "flat",
                                         [SAGOI_FAT_TREE] = "fat-tree",
                                         [SAGOI_TORUS] = "torus",
                                         [SAGOI_DRAGONFLY] = "dragonfly"};
static const char *const dragonfly_levels[] = {"node", "row", "column", "global"};
static const char *const dragonfly_extents[] = {"groups", "rows", "columns", "nodes"};
static const char *const sharing_names[] = {
    [SAGOI_SHARED_NODE] = "node", [SAGOI_SHARED_RACK] = "rack", [SAGOI_SHARED_ALL] = "all"};

const char *sagoi_topology_kind_name(sagoi_topology_kind kind) { return kind_names[kind]; }

const char *sagoi_level_name(const sagoi_topology *topology, int64_t level, char number[24]) {
    if (topology->kind == SAGOI_DRAGONFLY)
        return dragonfly_levels[level];
    (void)snprintf(number, 24, "%lld", (long long)level);
    return number;
}

static int word_index(const char *const *words, int count, const char *word) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* Reads the only word after the key. */
static sago_status single_int(parser *p, int64_t low, int64_t high, int64_t *value) {
    if (p->text.words != 2)
        return sagoi_text_fail(&p->text, "%s takes one number", p->text.word[0]);
    if (!sagoi_parse_int(p->text.word[1], low, high, value))
        return sagoi_text_fail(&p->text, "%s: '%s' is not a number from %lld to %lld", p->text.word[0],
                               p->text.word[1], (long long)low, (long long)high);
    return SAGO_OK;
}

/* A field of "key name value name value ...". */
typedef enum { FIELD_INT, FIELD_SIZE, FIELD_RATE, FIELD_TIME, FIELD_TEXT, FIELD_SHARING } field_kind;
typedef struct field {
    const char *name;
    field_kind kind;
    void *value;
    size_t capacity; /* texts */
    bool required;
    bool given;
} field;

static bool text_copy(const char *word, const field *f) {
    size_t length = strlen(word);
    if (length >= f->capacity)
        return false;
    memcpy(f->value, word, length + 1);
    return true;
}

static bool sharing_parse(const char *word, sagoi_sharing *sharing) {
    int found = word_index(sharing_names, 3, word);
    if (found >= 0)
        *sharing = (sagoi_sharing)found;
    return found >= 0;
}

static bool field_parse(const char *word, const field *f) {
    switch (f->kind) {
    case FIELD_INT:
        return sagoi_parse_int(word, 0, INT64_MAX, f->value);
    case FIELD_SIZE:
        return sagoi_parse_size(word, f->value);
    case FIELD_RATE:
        return sagoi_parse_rate(word, f->value);
    case FIELD_TIME:
        return sagoi_parse_time(word, f->value);
    case FIELD_TEXT:
        return text_copy(word, f);
    case FIELD_SHARING:
        return sharing_parse(word, f->value);
    }
    return false;
}

static const char *field_expects(const field *f) {
    static const char *const texts[] = {[FIELD_INT] = "a number",
                                        [FIELD_SIZE] = "a size like 16GiB",
                                        [FIELD_RATE] = "a bandwidth above zero like 1.8GB/s",
                                        [FIELD_TIME] = "a time like 1.3us",
                                        [FIELD_TEXT] = "a word that short",
                                        [FIELD_SHARING] = "node, rack or all"};
    return texts[f->kind];
}

static sago_status fields_parse(parser *p, int64_t first, field *fields, int count) {
    for (int64_t w = first; w < p->text.words; w += 2) {
        int i = 0;
        while (i < count && strcmp(fields[i].name, p->text.word[w]) != 0)
            i++;
        if (i == count)
            return sagoi_text_fail(&p->text, "%s: unknown field '%s'", p->text.word[0], p->text.word[w]);
        if (fields[i].given)
            return sagoi_text_fail(&p->text, "%s: %s twice", p->text.word[0], fields[i].name);
        if (w + 1 >= p->text.words)
            return sagoi_text_fail(&p->text, "%s: %s without a value", p->text.word[0], fields[i].name);
        if (!field_parse(p->text.word[w + 1], &fields[i]))
            return sagoi_text_fail(&p->text, "%s: %s '%s' is not %s", p->text.word[0], fields[i].name,
                                   p->text.word[w + 1], field_expects(&fields[i]));
        fields[i].given = true;
    }
    for (int i = 0; i < count; i++)
        if (fields[i].required && !fields[i].given)
            return sagoi_text_fail(&p->text, "%s: %s is missing", p->text.word[0], fields[i].name);
    return SAGO_OK;
}

/* ---- Keys --------------------------------------------------------------------------------------------- */

static sago_status key_name(parser *p) {
    if (p->text.words != 2 || strlen(p->text.word[1]) >= SAGOI_NAME_MAX)
        return sagoi_text_fail(&p->text, "name takes one word of less than %d characters", SAGOI_NAME_MAX);
    (void)snprintf(p->d->name, sizeof p->d->name, "%s", p->text.word[1]);
    return SAGO_OK;
}

static sago_status dragonfly_parse(parser *p) {
    sagoi_topology *t = &p->d->topology;
    if (strcmp(p->text.word[p->text.words - 1], "direct") == 0) {
        t->direct = true;
        p->text.words--;
    }
    t->dimensions = 4;
    t->extent[1] = 1;
    field fields[] = {
        {dragonfly_extents[0], FIELD_INT, &t->extent[0], 0, true, false},
        {dragonfly_extents[1], FIELD_INT, &t->extent[1], 0, false, false},
        {dragonfly_extents[2], FIELD_INT, &t->extent[2], 0, true, false},
        {dragonfly_extents[3], FIELD_INT, &t->extent[3], 0, true, false},
    };
    return fields_parse(p, 2, fields, 4);
}

static sago_status extents_parse(parser *p) {
    sagoi_topology *t = &p->d->topology;
    t->dimensions = p->text.words - 2;
    if (t->dimensions < 1 || t->dimensions > (t->kind == SAGOI_FLAT ? 1 : SAGOI_DIMENSIONS_MAX))
        return sagoi_text_fail(&p->text, "topology %s takes %s", p->text.word[1],
                               t->kind == SAGOI_FLAT ? "one extent" : "1 to 8 extents");
    for (int64_t i = 0; i < t->dimensions; i++)
        if (!sagoi_parse_int(p->text.word[2 + i], 1, SAGOI_PLACES_MAX, &t->extent[i]))
            return sagoi_text_fail(&p->text, "topology: '%s' is not an extent from 1 to %d", p->text.word[2 + i],
                                   SAGOI_PLACES_MAX);
    return SAGO_OK;
}

/* The product of the extents, which is known to be small enough from here on. */
static sago_status places_count(parser *p) {
    sagoi_topology *t = &p->d->topology;
    t->places = 1;
    for (int64_t i = 0; i < t->dimensions; i++)
        if (t->extent[i] < 1 || sagoi_mul(t->places, t->extent[i], &t->places) || t->places > SAGOI_PLACES_MAX)
            return sagoi_text_fail(&p->text, "topology: extents must be above zero, their product at most %d",
                                   SAGOI_PLACES_MAX);
    t->levels = t->dimensions;
    return SAGO_OK;
}

static sago_status key_topology(parser *p) {
    if (p->text.words < 2)
        return sagoi_text_fail(&p->text, "topology needs flat, fat-tree, torus, dragonfly or switches");
    if (strcmp(p->text.word[1], "switches") == 0 && p->text.words == 2) {
        p->by_switch = true;
        return SAGO_OK;
    }
    int kind = word_index(kind_names, 4, p->text.word[1]);
    if (kind < 0)
        return sagoi_text_fail(&p->text, "topology '%s' is none of flat, fat-tree, torus, dragonfly, switches",
                               p->text.word[1]);
    p->d->topology.kind = (sagoi_topology_kind)kind;
    sago_status status = kind == SAGOI_DRAGONFLY ? dragonfly_parse(p) : extents_parse(p);
    return status == SAGO_OK ? places_count(p) : status;
}

static sago_status key_switch(parser *p) {
    bool leaf = p->text.words == 4 && strcmp(p->text.word[2], "hosts") == 0;
    if (!leaf && (p->text.words != 4 || strcmp(p->text.word[2], "switches") != 0))
        return sagoi_text_fail(&p->text, "a switch is 'switch NAME hosts LIST' or 'switch NAME switches LIST'");
    return sagoi_switches_add(&p->switches, &p->text, p->text.word[1], p->text.word[3], leaf);
}

/* The number of a level, SAGOI_DIMENSIONS_MAX for "all", -1 for any other word. */
static int64_t level_number(const char *word) {
    int64_t number;
    if (strcmp(word, "all") == 0)
        return SAGOI_DIMENSIONS_MAX;
    int named = word_index(dragonfly_levels, 4, word);
    return named >= 0 ? named : sagoi_parse_int(word, 0, SAGOI_DIMENSIONS_MAX - 1, &number) ? number : -1;
}

static sago_status level_fields(parser *p, int64_t first, sagoi_level *level) {
    field fields[] = {
        {"latency", FIELD_TIME, &level->latency, 0, true, false},
        {"bandwidth", FIELD_RATE, &level->bandwidth, 0, true, false},
    };
    return fields_parse(p, first, fields, 2);
}

static sago_status key_level(parser *p) {
    int64_t number = p->text.words > 1 ? level_number(p->text.word[1]) : -1, links = 0;
    if (number < 0)
        return sagoi_text_fail(&p->text, "level takes its number, its name or 'all' first");
    sagoi_level level = {0};
    field fields[] = {
        {"latency", FIELD_TIME, &level.latency, 0, true, false},
        {"bandwidth", FIELD_RATE, &level.bandwidth, 0, true, false},
        {"links", FIELD_INT, &links, 0, false, false},
    };
    sago_status status = fields_parse(p, 2, fields, sizeof fields / sizeof *fields);
    bool all = number == SAGOI_DIMENSIONS_MAX;
    for (int64_t k = all ? 0 : number; status == SAGO_OK && k < (all ? SAGOI_DIMENSIONS_MAX : number + 1); k++) {
        if (p->levels & 1UL << k)
            return sagoi_text_fail(&p->text, "level %lld is given already", (long long)k);
        p->levels |= 1UL << k;
        p->d->topology.level[k] = level;
        p->d->topology.links[k] = links;
    }
    if (!all)
        p->level_lines = sagoi_max(p->level_lines, number + 1);
    return status;
}

static sago_status key_inside(parser *p) { return level_fields(p, 1, &p->d->topology.inside); }
static sago_status key_io(parser *p) {
    sagoi_topology *t = &p->d->topology;
    field fields[] = {
        {"latency", FIELD_TIME, &t->io.latency, 0, true, false},
        {"bandwidth", FIELD_RATE, &t->io.bandwidth, 0, true, false},
        {"reading", FIELD_RATE, &t->io_reading, 0, false, false},
        {"file", FIELD_RATE, &t->file, 0, false, false},
        {"seek", FIELD_TIME, &t->seek, 0, false, false},
    };
    return fields_parse(p, 1, fields, sizeof fields / sizeof *fields);
}
static sago_status key_process(parser *p) {
    field fields[] = {
        {"message", FIELD_TIME, &p->d->topology.message, 0, false, false},
        {"copy", FIELD_RATE, &p->d->topology.copy, 0, false, false},
        {"run", FIELD_TIME, &p->d->topology.run, 0, false, false},
        {"storage", FIELD_RATE, &p->d->topology.writer, 0, false, false},
        {"reading", FIELD_RATE, &p->d->topology.reader, 0, false, false},
        {"request", FIELD_TIME, &p->d->topology.request, 0, false, false},
        {"lock", FIELD_TIME, &p->d->topology.lock, 0, false, false},
    };
    return fields_parse(p, 1, fields, sizeof fields / sizeof *fields);
}
static sago_status key_nodes(parser *p) { return single_int(p, 1, SAGOI_PLACES_MAX, &p->d->nodes); }
static sago_status key_ranks(parser *p) { return single_int(p, 1, INT64_MAX, &p->ranks); }
static sago_status key_ranks_per_node(parser *p) { return single_int(p, 1, 1 << 20, &p->d->ranks_per_node); }
static sago_status key_cores(parser *p) { return single_int(p, 1, 1 << 20, &p->d->cores); }

static sago_status key_numa(parser *p) { return single_int(p, 1, 1 << 10, &p->d->topology.numa); }

static sago_status key_memory(parser *p) {
    if (p->text.words != 2 || !sagoi_parse_size(p->text.word[1], &p->d->memory) || p->d->memory == 0)
        return sagoi_text_fail(&p->text, "memory takes a size above zero like 16GiB");
    return SAGO_OK;
}

static sago_status key_memory_level(parser *p) {
    sagoi_topology *t = &p->d->topology;
    sagoi_memory_level level = {.size = 0};
    field fields[] = {
        {"size", FIELD_SIZE, &level.size, 0, true, false},
        {"bandwidth", FIELD_RATE, &level.bandwidth, 0, true, false},
    };
    if (t->memory_levels == SAGOI_MEMORY_LEVELS_MAX)
        return sagoi_text_fail(&p->text, "more than %d levels of memory", SAGOI_MEMORY_LEVELS_MAX);
    if (p->text.words < 2 || strlen(p->text.word[1]) >= sizeof level.name)
        return sagoi_text_fail(&p->text, "memory-level takes a name of less than %zu characters first",
                               sizeof level.name);
    (void)snprintf(level.name, sizeof level.name, "%s", p->text.word[1]);
    for (int64_t i = 0; i < t->memory_levels; i++)
        if (strcmp(t->memory_level[i].name, level.name) == 0)
            return sagoi_text_fail(&p->text, "memory-level %s is given already", level.name);
    sago_status status = fields_parse(p, 2, fields, 2);
    if (status == SAGO_OK && level.size == 0)
        return sagoi_text_fail(&p->text, "memory-level %s has no bytes", level.name);
    if (status == SAGO_OK)
        t->memory_level[t->memory_levels++] = level;
    return status;
}

static sago_status key_gateways(parser *p) {
    sagoi_topology *t = &p->d->topology;
    if (t->gateway_rules == SAGOI_GATEWAY_RULES_MAX)
        return sagoi_text_fail(&p->text, "more than %d lines of gateways", SAGOI_GATEWAY_RULES_MAX);
    sagoi_gateway_rule rule = {.count = 1};
    field fields[] = {
        {"at", FIELD_INT, &rule.first, 0, false, false},
        {"every", FIELD_INT, &rule.every, 0, false, false},
        {"count", FIELD_INT, &rule.count, 0, false, false},
        {"serves", FIELD_INT, &rule.serves, 0, false, false},
        {"targets", FIELD_INT, &rule.targets, 0, false, false},
        {"from", FIELD_INT, &rule.from, 0, false, false},
    };
    bool unknown = p->text.words > 1 && strcmp(p->text.word[p->text.words - 1], "unknown") == 0;
    p->text.words -= unknown;
    sago_status status = fields_parse(p, 1, fields, 6);
    if (status != SAGO_OK)
        return status;
    if (unknown == fields[0].given || (unknown && (fields[1].given || fields[3].given)))
        return sagoi_text_fail(&p->text,
                               "gateways are 'at PLACE [every N] [count N] [serves N] [targets N [from T]]' or "
                               "'count N [targets N [from T]] unknown'");
    if (unknown)
        rule.first = -1;
    t->gateway_rule[t->gateway_rules++] = rule;
    return SAGO_OK;
}

static sago_status key_link(parser *p) {
    sagoi_topology *t = &p->d->topology;
    if (t->link_rules == SAGOI_LINK_RULES_MAX)
        return sagoi_text_fail(&p->text, "more than %d lines of links", SAGOI_LINK_RULES_MAX);
    sagoi_link_rule rule = {.count = 1};
    field fields[] = {
        {"at", FIELD_INT, &rule.first, 0, true, false},
        {"count", FIELD_INT, &rule.count, 0, false, false},
        {"bandwidth", FIELD_RATE, &rule.bandwidth, 0, true, false},
    };
    sago_status status = fields_parse(p, 1, fields, 3);
    if (status == SAGO_OK)
        t->link_rule[t->link_rules++] = rule;
    return status;
}

static sago_status key_hosts(parser *p) {
    sagoi_hostlist *hosts = &p->d->hosts;
    int64_t range = hosts->ranges, place = hosts->hosts;
    bool placed = p->text.words == 4 && strcmp(p->text.word[2], "at") == 0 &&
                  sagoi_parse_int(p->text.word[3], 0, SAGOI_PLACES_MAX - 1, &place);
    if (!placed && p->text.words != 2)
        return sagoi_text_fail(&p->text, "hosts are 'hosts LIST' or 'hosts LIST at PLACE'");
    sago_status status = sagoi_hostlist_add(hosts, p->text.word[1]);
    if (status != SAGO_OK)
        return sagoi_text_locate(&p->text, status);
    for (; range < hosts->ranges; range++) {
        hosts->range[range].first = place;
        if (sagoi_add(place, sagoi_host_range_hosts(&hosts->range[range]), &place) || place > SAGOI_PLACES_MAX)
            return sagoi_text_fail(&p->text, "more hosts than places");
    }
    return SAGO_OK;
}

static sago_status key_tier(parser *p) {
    sagoi_description *d = p->d;
    if (d->tiers == SAGOI_TIERS_MAX)
        return sagoi_text_fail(&p->text, "more than %d tiers", SAGOI_TIERS_MAX);
    if (p->text.words < 2 || strlen(p->text.word[1]) >= SAGOI_NAME_MAX)
        return sagoi_text_fail(&p->text, "tier takes a name of less than %d characters first", SAGOI_NAME_MAX);
    sagoi_tier tier = {.sharing = SAGOI_SHARED_ALL};
    (void)snprintf(tier.name, sizeof tier.name, "%s", p->text.word[1]);
    for (int64_t i = 0; i < d->tiers; i++)
        if (strcmp(d->tier[i].name, tier.name) == 0)
            return sagoi_text_fail(&p->text, "tier %s is given already", tier.name);
    field fields[] = {
        {"shared", FIELD_SHARING, &tier.sharing, 0, true, false},
        {"block", FIELD_INT, &tier.rack, 0, false, false},
        {"path", FIELD_TEXT, tier.path, sizeof tier.path, false, false},
        {"capacity", FIELD_SIZE, &tier.capacity, 0, false, false},
        {"bandwidth", FIELD_RATE, &tier.bandwidth, 0, false, false},
        {"targets", FIELD_INT, &tier.targets, 0, false, false},
        {"locks", FIELD_SIZE, &tier.locks, 0, false, false},
    };
    sago_status status = fields_parse(p, 2, fields, 7);
    if (status != SAGO_OK)
        return status;
    bool rack = tier.sharing == SAGOI_SHARED_RACK;
    if (rack != fields[1].given || (rack && (tier.rack < 1 || tier.rack > SAGOI_PLACES_MAX)))
        return sagoi_text_fail(&p->text,
                               "tier: 'block N', the places that share it, goes with 'shared rack' only");
    if (tier.targets > 1 << 20)
        return sagoi_text_fail(&p->text, "tier: more than %d targets", 1 << 20);
    d->tier[d->tiers++] = tier;
    return SAGO_OK;
}

typedef struct key_row {
    const char *name;
    key_fn take;
    bool required, repeated;
} key_row;

static const key_row keys[] = {
    {"name", key_name, true, false},
    {"topology", key_topology, true, false},
    {"ranks-per-node", key_ranks_per_node, true, false},
    {"memory", key_memory, true, false},
    {"memory-level", key_memory_level, false, true},
    {"nodes", key_nodes, false, false},
    {"ranks", key_ranks, false, false},
    {"cores", key_cores, false, false},
    {"numa", key_numa, false, false},
    {"inside", key_inside, false, false},
    {"io", key_io, false, false},
    {"process", key_process, false, false},
    {"level", key_level, false, true},
    {"switch", key_switch, false, true},
    {"gateways", key_gateways, false, true},
    {"link", key_link, false, true},
    {"hosts", key_hosts, false, true},
    {"tier", key_tier, false, true},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

static sago_status line_take(void *arg) {
    parser *p = arg;
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, p->text.word[0]) != 0)
            continue;
        if (!keys[i].repeated && p->seen & 1UL << i)
            return sagoi_text_fail(&p->text, "%s is given already", keys[i].name);
        p->seen |= 1UL << i;
        return keys[i].take(p);
    }
    return sagoi_text_fail(&p->text, "unknown key '%s'", p->text.word[0]);
}

/* ---- The whole ---------------------------------------------------------------------------------------- */

static sago_status required_check(parser *p) {
    for (int i = 0; i < KEYS; i++)
        if (keys[i].required && !(p->seen & 1UL << i))
            return sagoi_text_fail(&p->text, "%s is missing", keys[i].name);
    if (p->by_switch != (p->switches.count > 0))
        return sagoi_text_fail(&p->text, p->by_switch ? "topology switches without a switch"
                                                      : "lines 'switch' need 'topology switches'");
    return SAGO_OK;
}

static sago_status levels_check(parser *p) {
    const sagoi_topology *t = &p->d->topology;
    char number[24];
    for (int64_t k = 0; k < t->levels; k++)
        if (!(p->levels & 1UL << k))
            return sagoi_text_fail(&p->text, "level %s is missing", sagoi_level_name(t, k, number));
    if (p->level_lines > t->levels)
        return sagoi_text_fail(&p->text, "level %lld is given, but there are only %lld",
                               (long long)p->level_lines - 1, (long long)t->levels);
    return SAGO_OK;
}

static sago_status counts_check(parser *p) {
    sagoi_description *d = p->d;
    if (d->nodes == 0)
        d->nodes = p->by_switch ? sagoi_max(1, d->hosts.hosts) : d->topology.places;
    if (d->nodes > d->topology.places)
        return sagoi_text_fail(&p->text, "%lld nodes do not fit %lld places", (long long)d->nodes,
                               (long long)d->topology.places);
    if (d->cores == 0)
        d->cores = d->ranks_per_node;
    int64_t ranks;
    if (p->ranks && (sagoi_mul(d->nodes, d->ranks_per_node, &ranks) || ranks != p->ranks))
        return sagoi_text_fail(&p->text, "%lld ranks are not %lld nodes with %lld ranks each", (long long)p->ranks,
                               (long long)d->nodes, (long long)d->ranks_per_node);
    for (int64_t i = 0; i < d->hosts.ranges; i++) {
        const sagoi_host_range *range = &d->hosts.range[i];
        if (range->first + sagoi_host_range_hosts(range) > d->topology.places)
            return sagoi_text_fail(&p->text, "hosts from place %lld on do not fit %lld places",
                                   (long long)range->first, (long long)d->topology.places);
    }
    return SAGO_OK;
}

static sago_status whole_check(parser *p) {
    sagoi_topology *t = &p->d->topology;
    sago_status status = required_check(p);
    if (status == SAGO_OK && p->by_switch) {
        status = sagoi_switches_lay(&p->switches, &p->text, t, &p->d->hosts);
        t->levels = t->dimensions;
    }
    if (status == SAGO_OK)
        status = levels_check(p);
    if (status == SAGO_OK)
        status = counts_check(p);
    if (status != SAGO_OK)
        return status;
    for (int64_t k = t->levels; k < SAGOI_DIMENSIONS_MAX; k++)
        t->level[k] = (sagoi_level){0};
    status = sagoi_topology_complete(t);
    return status == SAGO_OK ? SAGO_OK : sagoi_text_locate(&p->text, status);
}

/* Where nothing is said, levels are as in a flat network. */
static void take_usual(sagoi_topology *topology) {
    sagoi_topology_flat(topology, 1);
    const sagoi_level inside = topology->inside, io = topology->io;
    memset(topology, 0, sizeof *topology);
    topology->inside = inside;
    topology->io = io;
}

/* Parses a text, which this function frees; *description stays as it is if that fails. */
static sago_status parse(sagoi_text *text, sagoi_description *description) {
    sagoi_description *made = calloc(1, sizeof *made); /* too large for the stack of a thread that has little */
    parser p = {.text = *text, .d = made};
    sago_status status = SAGO_OK;
    if (made)
        take_usual(&made->topology);
    else
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for the description of a machine");
    if (!status)
        status = sagoi_text_each(&p.text, line_take, &p);
    if (!status)
        status = whole_check(&p);
    sagoi_switches_cleanup(&p.switches);
    sagoi_text_cleanup(&p.text);
    if (!status)
        *description = *made;
    else if (made)
        sagoi_description_cleanup(made);
    free(made);
    return status;
}

sago_status sagoi_description_parse(const char *source, const char *bytes, int64_t length,
                                    sagoi_description *description) {
    sagoi_text text;
    sago_status status = sagoi_text_init(&text, source, bytes, length);
    return status == SAGO_OK ? parse(&text, description) : status;
}

sago_status sagoi_description_read(const char *path, sagoi_description *description) {
    sagoi_text text;
    sago_status status = sagoi_text_open(&text, path);
    return status == SAGO_OK ? parse(&text, description) : status;
}

void sagoi_description_cleanup(sagoi_description *description) { sagoi_hostlist_cleanup(&description->hosts); }

int64_t sagoi_description_place(const sagoi_description *description, int64_t node) {
    int64_t before = 0;
    for (int64_t i = 0; i < description->hosts.ranges; i++) {
        const sagoi_host_range *range = &description->hosts.range[i];
        int64_t hosts = sagoi_host_range_hosts(range);
        if (node - before < hosts)
            return range->first + node - before;
        before += hosts;
    }
    return node;
}
