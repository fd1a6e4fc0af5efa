/* Discovery, once for each communicator and pair of hints. */
#include "engine/surroundings.h"

#include <stdlib.h>
#include <string.h>

#include "machine/discover_mpi.h"

static bool answers(const sagoi_whereabouts *known, const sagoi_hints *hints) {
    return known && strcmp(known->machine, hints->machine) == 0 && strcmp(known->site, hints->site) == 0;
}

static sago_status ask(sagoi_team *team, const sagoi_hints *hints, sagoi_whereabouts *known) {
    sagoi_discover_options options = {
        .machine = hints->machine, .site = hints->site, .slurm_conf = sagoi_environment("SLURM_CONF")};
    memcpy(known->machine, hints->machine, sizeof known->machine);
    memcpy(known->site, hints->site, sizeof known->site);
    return sagoi_discover_mpi(team->all, team->leaders, &options, team->nodes, &known->found, known->place);
}

sago_status sagoi_surroundings_ask(sagoi_team *team, const sagoi_hints *hints, const sagoi_whereabouts **known) {
    *known = team->kept;
    if (answers(*known, hints))
        return SAGO_OK;
    *known = NULL;
    free(team->kept);
    team->kept = calloc(1, sizeof **known + (size_t)team->nodes * sizeof(int64_t));
    sago_status status =
        team->kept ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to know %d nodes", team->nodes);
    status = sagoi_agree_status(team, status);
    if (status == SAGO_OK)
        status = ask(team, hints, team->kept);
    if (status == SAGO_OK) {
        *known = team->kept;
        return SAGO_OK;
    }
    free(team->kept);
    team->kept = NULL;
    return status;
}

void sagoi_surroundings_fill(const sagoi_whereabouts *known, sagoi_hints *hints) {
    _Static_assert(sizeof known->found.local_dirs == sizeof hints->local_dirs, "copied as they are");
    if (!hints->local_dirs[0])
        memcpy(hints->local_dirs, known->found.local_dirs, sizeof hints->local_dirs);
}
