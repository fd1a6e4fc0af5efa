/* np ranks in groups with one writer each (002, section 3): contiguous ranks of one node, so that a group meets in
 * shared memory.  With fewer files than nodes, the writers of several nodes share a file, each in a range of its
 * own: data never crosses the network to be written. */
#include "base/checked.h"
#include "ckpt/state.h"
#include "move/calls.h"

/* Writers of a node, before its size is looked at: as even as can be. */
static int64_t share_of(int64_t total, int64_t nodes, int64_t node) {
    return total / nodes + (node < total % nodes);
}

static int64_t fewest_ranks(const sagoi_team *team) {
    int64_t fewest = team->size;
    for (int64_t i = 0; i < team->nodes; i++)
        fewest = sagoi_min(fewest, sagoi_team_node_ranks(team, i));
    return fewest;
}

/* Redundancy sets take the same writer of every node: then all nodes have equally many. */
static int64_t writers_of(const sago_ckpt *ckpt, int64_t node) {
    const sagoi_team *team = ckpt->team;
    int64_t wanted = ckpt->hints.ckpt_files > 0 ? ckpt->hints.ckpt_files : team->nodes;
    if (ckpt->hints.ckpt_redundancy != SAGOI_REDUNDANCY_NONE)
        return sagoi_max(1, sagoi_min(wanted / team->nodes, fewest_ranks(team)));
    int64_t share = sagoi_max(1, share_of(wanted, team->nodes, node));
    return sagoi_min(share, sagoi_team_node_ranks(team, node));
}

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

/* What fails for good on one rank leaves the others in MPI, which waits for it. */
static sago_status make_communicators(sagoi_team *team, sagoi_groups *groups) {
    bool made = SAGOI_DONE(MPI_Comm_split(team->own, (int)groups->writer, team->local_rank, &groups->mine)) &&
                SAGOI_DONE(MPI_Comm_rank(groups->mine, &groups->rank)) &&
                SAGOI_DONE(MPI_Comm_size(groups->mine, &groups->size)) &&
                SAGOI_DONE(MPI_Comm_split(team->own, groups->rank == 0 ? 0 : MPI_UNDEFINED, (int)groups->writer,
                                          &groups->writers));
    return made ? SAGO_OK
                : sagoi_break(team, sagoi_fail(SAGO_ERR_MPI, "no communicators of the writers could be made"));
}

sago_status sagoi_groups_form(sago_ckpt *ckpt) {
    sagoi_team *team = ckpt->team;
    sagoi_groups *groups = &ckpt->groups;
    groups->mine = groups->writers = MPI_COMM_NULL;
    groups->on_node = writers_of(ckpt, team->node);
    for (int64_t i = 0; i < team->nodes; i++) {
        int64_t writers = writers_of(ckpt, i);
        if (i < team->node)
            groups->first_on_node += writers;
        groups->nwriters += writers;
    }
    groups->files =
        sagoi_min(groups->nwriters, ckpt->hints.ckpt_files > 0 ? ckpt->hints.ckpt_files : groups->nwriters);
    groups->writer = groups->first_on_node + group_of(team->local_rank, groups->on_node, team->local_size);
    return make_communicators(team, groups);
}

void sagoi_groups_free(sago_ckpt *ckpt) {
    sagoi_free_comm(ckpt->team, &ckpt->groups.mine);
    sagoi_free_comm(ckpt->team, &ckpt->groups.writers);
}
