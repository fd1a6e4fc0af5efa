/* Memory of a load. */
#include "sim/load.h"

#include <stdlib.h>

bool sim_load_init(sim_load *load, int64_t nodes, int64_t aggregators, int64_t rounds) {
    *load = (sim_load){
        .nodes = nodes, .aggregators = aggregators, .rounds = rounds, .in_flight = 1, .clients = 1, .repeats = 1};
    load->place = calloc((size_t)nodes, sizeof *load->place);
    load->host = calloc((size_t)aggregators, sizeof *load->host);
    load->round = calloc((size_t)rounds, sizeof *load->round);
    bool ok = load->place && load->host && load->round;
    for (int64_t r = 0; ok && r < rounds; r++) {
        sim_round *round = &load->round[r];
        round->flow = calloc((size_t)(nodes * aggregators), sizeof *round->flow);
        round->node = calloc((size_t)nodes, sizeof *round->node);
        round->store = calloc((size_t)aggregators, sizeof *round->store);
        ok = round->flow && round->node && round->store;
    }
    return ok;
}

void sim_load_cleanup(sim_load *load) {
    for (int64_t r = 0; load->round && r < load->rounds; r++) {
        free(load->round[r].flow);
        free(load->round[r].node);
        free(load->round[r].store);
    }
    free(load->round);
    free(load->place);
    free(load->host);
    *load = (sim_load){0};
}
