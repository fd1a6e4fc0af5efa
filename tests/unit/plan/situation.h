/* A situation: everything a plan is made of. */
#ifndef SITUATION_H
#define SITUATION_H

#include <string.h>

#include "plan/plan.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

enum { NODES_MAX = 24 };

typedef struct situation {
    sagoi_node node[NODES_MAX];
    sagoi_node_shape access[NODES_MAX];
    sagoi_machine machine;
    sagoi_shape shape;
    sagoi_target target;
    sagoi_hints hints;
} situation;

/* Numbers at random, the same for the same state. */
static uint64_t random_state;

static inline int64_t random_below(int64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 11) % (uint64_t)n);
}

/* `nodes` nodes of `ranks` ranks that interleave runs of `run` bytes over [0, bytes). */
static inline void situation_init(situation *s, int64_t nodes, int64_t ranks, int64_t bytes, int64_t run) {
    memset(s, 0, sizeof *s);
    for (int64_t n = 0; n < nodes; n++) {
        s->node[n] = (sagoi_node){ranks, ranks > 8 ? ranks : 8, 4 * GIB, .place = n};
        s->access[n] =
            (sagoi_node_shape){n * run, bytes - (nodes - 1 - n) * run, bytes / nodes, bytes / nodes / run};
    }
    s->machine = (sagoi_machine){.nodes = nodes, .node = s->node};
    s->shape = (sagoi_shape){.write = true, .dense = true, .nodes = nodes, .node = s->access};
    s->target = (sagoi_target){.block = 4096};
    s->hints = (sagoi_hints){.messages = 8, .message_size = 4 * MIB, .lock_time = 1000};
}

#endif
