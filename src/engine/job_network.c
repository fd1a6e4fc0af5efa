/* Discovery, done once for each circle and pair of hints.  Rank 0 reads the files and tells all ranks what it
 * found, so that each file is read once, however large the job is. */
#include "engine/job_network.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "machine/memory_kind.h"
#include "move/calls.h"
#include "move/leaders.h"

static bool answers(const sagoi_job_network *network, const sagoi_hints *hints) {
    return strcmp(network->machine, hints->machine) == 0 && strcmp(network->site, hints->site) == 0;
}

/* The leaders tell rank 0 the names of their nodes. */
static sago_status collect_names(sagoi_team *team, sagoi_node_name **names) {
    sagoi_node_name mine;
    bool leads = team->local_rank == 0;
    *names = leads ? calloc((size_t)team->nodes, sizeof **names) : NULL;
    sago_status status = leads && !*names
                             ? sagoi_fail(SAGO_ERR_MEMORY, "no memory for the names of %d nodes", team->nodes)
                             : SAGO_OK;
    status = sagoi_agree_status(team, status);
    if (!status && leads) {
        sagoi_node_name_ask(&mine);
        if (team->nodes > 1) { /* hwloc takes milliseconds, and on one node little depends on its answer */
            mine.numa = sagoi_numa_domains(NULL);
            mine.fast = sagoi_memory_fast(NULL);
        }
        status = sagoi_leaders_collect(team, &mine, sizeof mine, *names);
    }
    return status;
}

static sago_status ask(sagoi_team *team, const sagoi_hints *hints, sagoi_job_network *network) {
    sagoi_discover_options options = {
        .machine = hints->machine, .site = hints->site, .slurm_conf = sagoi_environment("SLURM_CONF")};
    sagoi_node_name *names = NULL;
    memcpy(network->machine, hints->machine, sizeof network->machine);
    memcpy(network->site, hints->site, sizeof network->site);
    sago_status status = collect_names(team, &names);
    if (!status && team->rank == 0)
        status = sagoi_discover(&options, team->nodes, names, &network->found, network->place);
    sagoi_free_received(team, names);
    status = sagoi_agree_status(team, status);
    if (!status)
        status = sagoi_team_tell(team, &network->found, sizeof network->found);
    if (!status)
        status = sagoi_team_tell(team, network->place, team->nodes * (int64_t)sizeof *network->place);
    return sagoi_agree_status(team, status);
}

const sagoi_job_network *sagoi_job_network_recall(const sagoi_team *team, const sagoi_hints *hints) {
    const sagoi_circle_note *at = atomic_load(&team->circle->notes);
    while (at && !answers((const sagoi_job_network *)at, hints))
        at = at->next;
    return (const sagoi_job_network *)at;
}

static uint64_t fingerprint_of(const sagoi_job_network *network, int64_t nodes) {
    sagoi_hash found = sagoi_hash_bytes(&network->found, sizeof network->found, (sagoi_hash){0, 0});
    return sagoi_hash_bytes(network->place, nodes * (int64_t)sizeof *network->place, found).low | 1;
}

/* Keeps the answer with the circle, unless the circle has an equal one. */
static const sagoi_job_network *keep(sagoi_team *team, const sagoi_hints *hints, sagoi_job_network *asked) {
    const sagoi_job_network *before = sagoi_job_network_recall(team, hints);
    asked->fingerprint = fingerprint_of(asked, team->nodes);
    if (before && before->fingerprint == asked->fingerprint) {
        free(asked);
        return before;
    }
    sagoi_circle_keep(team->circle, &asked->note);
    return asked;
}

sago_status sagoi_job_network_ask(sagoi_team *team, const sagoi_hints *hints, const sagoi_job_network **network) {
    sagoi_job_network *asked = calloc(1, sizeof *asked + (size_t)team->nodes * sizeof(int64_t));
    sago_status status = asked ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to know %d nodes", team->nodes);
    status = sagoi_agree_status(team, status);
    if (status == SAGO_OK)
        status = ask(team, hints, asked);
    if (status == SAGO_OK)
        *network = keep(team, hints, asked);
    else
        sagoi_free_received(team, asked);
    return status;
}

void sagoi_job_network_fill(const sagoi_job_network *network, sagoi_hints *hints) {
    _Static_assert(sizeof network->found.local_dirs == sizeof hints->local_dirs, "copied as they are");
    if (!hints->local_dirs[0])
        memcpy(hints->local_dirs, network->found.local_dirs, sizeof hints->local_dirs);
}
