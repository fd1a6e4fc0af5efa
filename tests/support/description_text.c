#include "support/description_text.h"

#include <string.h>

static void level_write(FILE *out, const sagoi_level *level) {
    fprintf(out, "latency %s bandwidth %s\n", sagoi_format_time(level->latency).text,
            sagoi_format_rate(level->bandwidth).text);
}

static void time_write(const char *name, double seconds, FILE *out) {
    if (seconds > 0)
        fprintf(out, " %s %s", name, sagoi_format_time(seconds).text);
}

static void rate_write(const char *name, double rate, FILE *out) {
    if (rate > 0)
        fprintf(out, " %s %s", name, sagoi_format_rate(rate).text);
}

static void process_write(const sagoi_topology *t, FILE *out) {
    if (t->message <= 0 && t->run <= 0 && t->copy <= 0 && t->writer <= 0 && t->reader <= 0 && t->request <= 0 &&
        t->lock <= 0)
        return;
    fputs("process", out);
    time_write("message", t->message, out);
    rate_write("copy", t->copy, out);
    time_write("run", t->run, out);
    rate_write("storage", t->writer, out);
    rate_write("reading", t->reader, out);
    time_write("request", t->request, out);
    time_write("lock", t->lock, out);
    fputc('\n', out);
}

static void topology_write(const sagoi_topology *t, FILE *out) {
    fprintf(out, "topology %s", sagoi_topology_kind_name(t->kind));
    if (t->kind == SAGOI_DRAGONFLY)
        fprintf(out, " groups %lld rows %lld columns %lld nodes %lld%s", (long long)t->extent[0],
                (long long)t->extent[1], (long long)t->extent[2], (long long)t->extent[3],
                t->direct ? " direct" : "");
    else
        for (int64_t i = 0; i < t->dimensions; i++)
            fprintf(out, " %lld", (long long)t->extent[i]);
    fputc('\n', out);
    char number[24];
    for (int64_t k = 0; k < t->levels; k++) {
        fprintf(out, "level %s ", sagoi_level_name(t, k, number));
        level_write(out, &t->level[k]);
    }
    fputs("inside ", out);
    level_write(out, &t->inside);
    fprintf(out, "io latency %s bandwidth %s", sagoi_format_time(t->io.latency).text,
            sagoi_format_rate(t->io.bandwidth).text);
    rate_write("reading", t->io_reading, out);
    rate_write("file", t->file, out);
    fputc('\n', out);
    process_write(t, out);
    if (t->numa > 0)
        fprintf(out, "numa %lld\n", (long long)t->numa);
}

static void targets_write(const sagoi_gateway_rule *rule, FILE *out) {
    if (rule->targets > 0)
        fprintf(out, " targets %lld from %lld", (long long)rule->targets, (long long)rule->from);
}

static void rules_write(const sagoi_topology *t, FILE *out) {
    for (int64_t i = 0; i < t->gateway_rules; i++) {
        const sagoi_gateway_rule *rule = &t->gateway_rule[i];
        if (rule->first < 0)
            fprintf(out, "gateways count %lld", (long long)rule->count);
        else
            fprintf(out, "gateways at %lld every %lld count %lld serves %lld", (long long)rule->first,
                    (long long)rule->every, (long long)rule->count, (long long)rule->serves);
        targets_write(rule, out);
        fputs(rule->first < 0 ? " unknown\n" : "\n", out);
    }
    for (int64_t i = 0; i < t->link_rules; i++)
        fprintf(out, "link at %lld count %lld bandwidth %s\n", (long long)t->link_rule[i].first,
                (long long)t->link_rule[i].count, sagoi_format_rate(t->link_rule[i].bandwidth).text);
}

static void tier_write(const sagoi_tier *tier, FILE *out) {
    static const char *const names[] = {
        [SAGOI_SHARED_NODE] = "node", [SAGOI_SHARED_RACK] = "rack", [SAGOI_SHARED_ALL] = "all"};
    fprintf(out, "tier %s shared %s", tier->name, names[tier->sharing]);
    if (tier->sharing == SAGOI_SHARED_RACK)
        fprintf(out, " block %lld", (long long)tier->rack);
    if (tier->path[0])
        fprintf(out, " path %s", tier->path);
    if (tier->capacity)
        fprintf(out, " capacity %s", sagoi_format_size(tier->capacity).text);
    if (tier->bandwidth > 0)
        fprintf(out, " bandwidth %s", sagoi_format_rate(tier->bandwidth).text);
    if (tier->targets)
        fprintf(out, " targets %lld", (long long)tier->targets);
    if (tier->locks)
        fprintf(out, " locks %s", sagoi_format_size(tier->locks).text);
    fputc('\n', out);
}

void description_write(const sagoi_description *description, FILE *out) {
    fprintf(out, "name %s\n", description->name);
    topology_write(&description->topology, out);
    fprintf(out, "nodes %lld\nranks-per-node %lld\ncores %lld\nmemory %s\n", (long long)description->nodes,
            (long long)description->ranks_per_node, (long long)description->cores,
            sagoi_format_size(description->memory).text);
    rules_write(&description->topology, out);
    for (int64_t i = 0; i < description->tiers; i++)
        tier_write(&description->tier[i], out);
    char text[3 * SAGOI_HOST_MAX];
    for (int64_t i = 0; i < description->hosts.ranges; i++) {
        sagoi_host_range_format(&description->hosts.range[i], text, sizeof text);
        fprintf(out, "hosts %s at %lld\n", text, (long long)description->hosts.range[i].first);
    }
}

static bool level_equal(const sagoi_level *a, const sagoi_level *b) {
    return a->latency == b->latency && a->bandwidth == b->bandwidth;
}

static bool rules_equal(const sagoi_topology *a, const sagoi_topology *b) {
    if (a->gateway_rules != b->gateway_rules || a->link_rules != b->link_rules)
        return false;
    for (int64_t i = 0; i < a->gateway_rules; i++) {
        const sagoi_gateway_rule *x = &a->gateway_rule[i], *y = &b->gateway_rule[i];
        if (x->first != y->first || x->every != y->every || x->count != y->count || x->serves != y->serves ||
            x->targets != y->targets || x->from != y->from)
            return false;
    }
    for (int64_t i = 0; i < a->link_rules; i++) {
        const sagoi_link_rule *x = &a->link_rule[i], *y = &b->link_rule[i];
        if (x->first != y->first || x->count != y->count || x->bandwidth != y->bandwidth)
            return false;
    }
    return true;
}

static bool topology_equal(const sagoi_topology *a, const sagoi_topology *b) {
    if (a->kind != b->kind || a->direct != b->direct || a->dimensions != b->dimensions || a->places != b->places ||
        a->levels != b->levels)
        return false;
    for (int64_t i = 0; i < a->dimensions; i++)
        if (a->extent[i] != b->extent[i])
            return false;
    for (int64_t i = 0; i < a->levels; i++)
        if (!level_equal(&a->level[i], &b->level[i]))
            return false;
    return level_equal(&a->inside, &b->inside) && level_equal(&a->io, &b->io) && a->message == b->message &&
           a->run == b->run && a->copy == b->copy && a->io_reading == b->io_reading && a->file == b->file &&
           a->writer == b->writer && a->reader == b->reader && a->request == b->request && a->lock == b->lock &&
           a->numa == b->numa && rules_equal(a, b);
}

static bool tier_equal(const sagoi_tier *a, const sagoi_tier *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->path, b->path) == 0 && a->sharing == b->sharing &&
           a->rack == b->rack && a->capacity == b->capacity && a->bandwidth == b->bandwidth &&
           a->targets == b->targets && a->locks == b->locks;
}

static bool range_equal(const sagoi_host_range *a, const sagoi_host_range *b) {
    return strcmp(a->prefix, b->prefix) == 0 && strcmp(a->suffix, b->suffix) == 0 && a->low == b->low &&
           a->high == b->high && a->width == b->width && a->first == b->first;
}

bool description_equal(const sagoi_description *a, const sagoi_description *b) {
    if (strcmp(a->name, b->name) != 0 || !topology_equal(&a->topology, &b->topology) || a->nodes != b->nodes ||
        a->ranks_per_node != b->ranks_per_node || a->cores != b->cores || a->memory != b->memory ||
        a->tiers != b->tiers || a->hosts.ranges != b->hosts.ranges)
        return false;
    for (int64_t i = 0; i < a->tiers; i++)
        if (!tier_equal(&a->tier[i], &b->tier[i]))
            return false;
    for (int64_t i = 0; i < a->hosts.ranges; i++)
        if (!range_equal(&a->hosts.range[i], &b->hosts.range[i]))
            return false;
    return true;
}
