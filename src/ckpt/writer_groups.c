/* The groups of a checkpoint's ranks, as plan/writers.h has them, and their communicators.  If there are fewer
 * files than writers, several writers share a file, and each has a range of it. */
#include <stdlib.h>

#include "base/checked.h"
#include "ckpt/state.h"
#include "move/calls.h"
#include "move/collect.h"
#include "plan/writers.h"

/* The first local rank of group i of c among q ranks. */
static int64_t first_of_group(int64_t i, int64_t c, int64_t q) {
    int64_t longer = q % c;
    return i < longer ? sagoi_div_up(q, c) * i : sagoi_div_up(q, c) * longer + q / c * (i - longer);
}

static int64_t group_of(int64_t local_rank, int64_t c, int64_t q) {
    int64_t i = 0;
    while (i + 1 < c && first_of_group(i + 1, c, q) <= local_rank)
        i++;
    return i;
}

static sago_status plan_writers(const sago_ckpt *ckpt, sagoi_machine *machine, sagoi_writers *writers) {
    const sagoi_team *team = ckpt->team;
    sagoi_node *node = calloc((size_t)team->nodes, sizeof *node);
    if (!node)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to look at %d nodes", team->nodes);
    for (int i = 0; i < team->nodes; i++)
        node[i] = (sagoi_node){.ranks = sagoi_team_node_ranks(team, i), .place = ckpt->place ? ckpt->place[i] : i};
    machine->nodes = team->nodes;
    machine->node = node;
    machine->topology = ckpt->place ? ckpt->topology : NULL;
    sagoi_writers_wish wish = {.files = ckpt->hints.ckpt_files,
                               .group = ckpt->hints.ckpt_group,
                               .stays = ckpt->local[0],
                               .even = ckpt->hints.ckpt_redundancy != SAGOI_REDUNDANCY_NONE};
    return sagoi_writers_plan(machine, &wish, writers);
}

/* Finds this rank's group, and the groups whose writers are on this node. */
static void find_place(const sago_ckpt *ckpt, const sagoi_machine *machine, const sagoi_writers *writers,
                       sagoi_groups *groups) {
    const sagoi_team *team = ckpt->team;
    int64_t here = sagoi_writers_groups(writers, machine, team->node);
    groups->nwriters = writers->count;
    groups->files = writers->files;
    groups->spans = writers->spans;
    groups->first_on_node = writers->first[team->node];
    groups->writer = groups->first_on_node;
    if (!writers->spans)
        groups->writer += group_of(team->local_rank, here, team->local_size);
    groups->away = writers->host[groups->writer] != team->node;
    groups->on_node = groups->away ? 0 : here;
}

/* The writer comes first, then the ranks of its node, then the others, so that the bytes that are sent lie
 * together. */
static int order_in_group(const sago_ckpt *ckpt, const sagoi_groups *groups) {
    return (groups->away ? ckpt->team->size : 0) +
           (groups->spans && groups->away ? ckpt->team->rank : ckpt->team->local_rank);
}

/* A call that fails for good on one rank leaves the others inside MPI, which waits for that rank. */
static sago_status make_communicators(sago_ckpt *ckpt, sagoi_groups *groups) {
    sagoi_team *team = ckpt->team;
    int file = (int)(groups->writer * groups->files / groups->nwriters);
    bool made =
        SAGOI_DONE(MPI_Comm_split(team->own, (int)groups->writer, order_in_group(ckpt, groups), &groups->mine)) &&
        SAGOI_DONE(MPI_Comm_rank(groups->mine, &groups->rank)) &&
        SAGOI_DONE(MPI_Comm_size(groups->mine, &groups->size)) &&
        SAGOI_DONE(MPI_Comm_split(team->own, groups->rank == 0 ? 0 : MPI_UNDEFINED, (int)groups->writer,
                                  &groups->writers));
    if (made && ckpt->hints.ckpt_mode == SAGOI_CKPT_COIO && !ckpt->local[0])
        made = SAGOI_DONE(MPI_Comm_split(team->own, file, team->rank, &groups->same_file));
    return made ? SAGO_OK
                : sagoi_break(team, sagoi_fail(SAGO_ERR_MPI, "no communicators of the writers could be made"));
}

/* The number of ranks of the group on its writer's node; the others come behind them. */
static sago_status count_near(sago_ckpt *ckpt, sagoi_groups *groups) {
    int64_t near = !groups->away;
    sago_status status =
        groups->spans ? sagoi_allreduce(ckpt->team, groups->mine, &near, 1, MPI_INT64_T, MPI_SUM) : SAGO_OK;
    groups->near = groups->spans ? (int)near : groups->size;
    return status;
}

sago_status sagoi_groups_form(sago_ckpt *ckpt) {
    sagoi_machine machine = {0};
    sagoi_writers writers = {0};
    sago_status status = sagoi_agree_status(ckpt->team, plan_writers(ckpt, &machine, &writers));
    if (!status)
        find_place(ckpt, &machine, &writers, &ckpt->groups);
    sagoi_writers_cleanup(&writers);
    free((void *)(uintptr_t)machine.node);
    if (!status)
        status = make_communicators(ckpt, &ckpt->groups);
    return status ? status : count_near(ckpt, &ckpt->groups);
}

void sagoi_groups_free(sago_ckpt *ckpt) {
    sagoi_free_comm(ckpt->team, &ckpt->groups.mine);
    sagoi_free_comm(ckpt->team, &ckpt->groups.writers);
    sagoi_free_comm(ckpt->team, &ckpt->groups.same_file);
}
