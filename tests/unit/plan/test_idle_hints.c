/* Hints that change nothing, and hints because of which nothing is aggregated, are named in the reasons: what they
 * say is compared with the plan without the hint, for random machines and accesses. */
#include <stdio.h>
#include <stdlib.h>

#include "machine/topology.h"
#include "situation.h"
#include "support/unit.h"

static situation s;
static sagoi_topology topology;

static void draw(uint64_t seed) {
    random_state = seed * 7919 + 1;
    int64_t nodes = 1 + random_below(13), ranks = 1 + random_below(8), run = 1 + random_below(200 * KIB);
    situation_init(&s, nodes, ranks, nodes * run * (1 + random_below(3000)), run);
    if (random_below(3) == 0)
        for (int64_t n = 0; n < nodes; n++) {
            s.access[n].low = n * s.access[n].bytes;
            s.access[n].high = s.access[n].low + s.access[n].bytes;
        }
    sagoi_topology_flat(&topology, nodes);
    if (random_below(2)) {
        topology.request = topology.lock = 1e-3;
        topology.writer = 50e6;
        topology.message = 1e-6;
        topology.seek = random_below(2) ? 0.02 : 0;
        s.machine.topology = &topology;
    }
    s.shape.write = random_below(3) > 0;
    for (int64_t n = 0; n < nodes; n++)
        s.node[n].memory = (random_below(4) ? 1024 : 24 + random_below(64)) * MIB;
    s.target.stripe_unit = random_below(2) ? (64 * KIB) << random_below(8) : 0;
    s.target.stripe_count = s.target.stripe_unit > 0 ? 1 + random_below(12) : 0;
    s.hints.strategy = random_below(2) ? SAGOI_STRATEGY_AGGREGATED : SAGOI_STRATEGY_AUTO;
}

/* What the plan says and what its reasons are. */
typedef struct telling {
    char *text, *reasons;
    bool aggregated;
} telling;

static bool tell(telling *told) {
    sagoi_plan plan = {0};
    size_t length;
    if (sagoi_plan_make(&s.machine, &s.shape, &s.target, &s.hints, &plan) != SAGO_OK)
        return false; /* memory holds no plan */
    told->aggregated = plan.strategy == SAGOI_STRATEGY_AGGREGATED;
    told->reasons = strdup(plan.reasons);
    plan.reasons[0] = '\0';
    FILE *out = open_memstream(&told->text, &length);
    assert_non_null(out);
    sagoi_plan_print_text(&plan, out);
    assert_int_equal(fclose(out), 0);
    sagoi_plan_cleanup(&plan);
    return told->reasons && told->text;
}

static void forget(telling *told) {
    free(told->text);
    free(told->reasons);
    *told = (struct telling){NULL, NULL, false};
}

static bool says(const telling *told, const char *name, const char *what) {
    char line[120];
    (void)snprintf(line, sizeof line, "%s: %s", name, what);
    return strstr(told->reasons, line) != NULL;
}

typedef struct given_hint {
    const char *name;
    size_t field;
    int64_t value;
} given_hint;

#define FIELD(field) offsetof(sagoi_hints, field)
static const given_hint hints[] = {{"sago_domain_write", FIELD(domain_write), 7 * MIB + 4096},
                                   {"sago_domain_read", FIELD(domain_read), 7 * MIB + 4096},
                                   {"sago_group_size", FIELD(group_size), 3 * MIB},
                                   {"sago_window", FIELD(window), 3 * MIB},
                                   {"sago_aggregators", FIELD(aggregators), 3},
                                   {"sago_aggregators_per_target", FIELD(per_target), 3},
                                   {"sago_aggregators_per_node", FIELD(per_node), 1},
                                   {"sago_local_aggregators", FIELD(local_aggregators), 3},
                                   {"sago_layers", FIELD(layers), SAGOI_LAYERS_THREE},
                                   {"sago_placement", FIELD(placement), SAGOI_PLACEMENT_MEMORY},
                                   {"sago_move", FIELD(move), SAGOI_MOVE_PACKED},
                                   {"sago_merge", FIELD(merge), SAGOI_CHOICE_OFF},
                                   {"sago_host_memory", FIELD(host_memory), 40 * MIB},
                                   {"sago_messages", FIELD(messages), 3},
                                   {"sago_message_size", FIELD(message_size), 128 * KIB}};

enum { IDLE, GUILTY, COUNTS };

static void compare(uint64_t seed, const given_hint *hint, int64_t counts[COUNTS]) {
    telling without = {NULL, NULL, false}, with = {NULL, NULL, false};
    draw(seed);
    bool made = tell(&without);
    *(int64_t *)((char *)&s.hints + hint->field) = hint->value;
    bool other =
        s.shape.write ? !strcmp(hint->name, "sago_domain_read") : !strcmp(hint->name, "sago_domain_write");
    if (made && tell(&with)) {
        bool guilty = without.aggregated && !with.aggregated, idle = says(&with, hint->name, "no effect, ");
        bool wrong = (idle && strcmp(with.text, without.text) != 0) ||
                     guilty != says(&with, hint->name, "with it nothing is aggregated") ||
                     (!with.aggregated && !guilty && !other && !idle);
        if (wrong)
            fail_msg("%s, seed %llu: says\n%s%s\nwithout it\n%s%s", hint->name, (unsigned long long)seed,
                     with.text, with.reasons, without.text, without.reasons);
        counts[IDLE] += idle;
        counts[GUILTY] += guilty;
    }
    forget(&without);
    forget(&with);
}

static void what_is_said_of_hints_is_true(void **state) {
    int64_t counts[COUNTS] = {0};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        for (uint64_t seed = 1; seed <= 400; seed++)
            compare(seed, &hints[i], counts);
    assert_true(counts[IDLE] > 100);
    assert_true(counts[GUILTY] > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said_of_hints_is_true)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
