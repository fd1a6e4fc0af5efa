/* The three modes of discovery.  The ranks agree on every step before the next one begins, so all ranks take the
 * same way, and all come to the removal of the files, whatever happens. */
#include "neighbourhood/neighbourhood.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "neighbourhood/probe_files.h"

typedef struct discovery {
    sagoi_team *team;
    sagoi_probe probe;
    bool prober; /* this rank probes; other ranks learn the outcome from a rank of their node */
    int speaker; /* number on the node of the rank that probes for this one (auto) */
    int first;   /* the outcome */
} discovery;

/* Agrees on a status.  This is also a barrier: what any rank did before it has happened for all ranks after it. */
static sago_status agree(const discovery *search, sago_status status) {
    return sagoi_agree_status(search->team, status);
}

sago_status sagoi_storage_draw(sagoi_team *team, sago_status status, uint64_t random[2]) {
    sagoi_agreement agreed = {0};
    if (team->rank == 0 && getrandom(agreed.sum, 2 * sizeof agreed.sum[0], 0) < 0 && !status)
        status = sagoi_fail_errno(errno, "no random numbers for the name of a file");
    status = sagoi_agree_with(team, status, &agreed);
    random[0] = agreed.sum[0];
    random[1] = agreed.sum[1];
    return status;
}

/* Agrees on the name of this discovery's files. */
static sago_status share_name(discovery *search, sago_status status) {
    uint64_t random[2];
    status = sagoi_storage_draw(search->team, status, random);
    sagoi_probe_set_name(&search->probe, random);
    return status;
}

/* Rank 0 creates the one file. */
static sago_status create_one(discovery *search) {
    return agree(search, search->team->rank == 0 ? sagoi_probe_create(&search->probe) : SAGO_OK);
}

/* Counts the ranks that looked for the file and did not see it. */
static sago_status count_missed(discovery *search, bool missed, uint64_t *count) {
    sagoi_agreement agreed = {.sum[0] = missed};
    sago_status status = sagoi_agree(search->team, &agreed, NULL, NULL, NULL);
    *count = agreed.sum[0];
    return status;
}

/* ---- Exhaustive (paper 003, 3.1.1), and the second step of auto ---- */

/* Ranks that take part create a file each and list the files that are there: the lowest rank that a rank sees
 * names its group. */
static sago_status probe_by_listing(discovery *search, bool takes_part) {
    const sagoi_team *team = search->team;
    int64_t least = team->rank;
    sago_status status = agree(search, takes_part ? sagoi_probe_enter(&search->probe, team->rank) : SAGO_OK);
    if (!status)
        status = agree(search, takes_part ? sagoi_probe_list(&search->probe, team->size, &least) : SAGO_OK);
    if (!status && takes_part)
        search->first = (int)least;
    return status;
}

static sago_status discover_exhaustively(discovery *search) {
    search->prober = true;
    sago_status status = share_name(search, sagoi_probe_open(&search->probe, true));
    return status ? status : probe_by_listing(search, true);
}

/* ---- Heuristic (paper 003, 3.1.2) ---- */

static sago_status discover_by_challenge(discovery *search) {
    const sagoi_team *team = search->team;
    int challenged = team->nodes == 1 ? 0 : sagoi_team_rank_of(team, 1, 0); /* rank 0 is on node 0 */
    bool looks = team->rank == challenged;
    search->prober = looks || team->rank == 0;
    sago_status opened = search->prober ? sagoi_probe_open(&search->probe, false) : SAGO_OK;
    if (team->rank != 0) /* a directory that does not exist on a rank is not shared with it */
        opened = SAGO_OK;
    sago_status status = share_name(search, opened);
    if (!status)
        status = create_one(search);
    uint64_t missed = 0;
    if (!status)
        status = count_missed(search, looks && !sagoi_probe_sees(&search->probe), &missed);
    search->first = missed ? sagoi_team_rank_of(team, team->node, 0) : 0;
    return status;
}

/* ---- Auto ---- */

/* Gathers a pair of numbers from each rank of the node, and agrees on the outcome.  The caller frees the pairs. */
static sago_status share_on_node(discovery *search, sagoi_pair mine, sagoi_pair **all) {
    *all = calloc((size_t)search->team->local_size, sizeof **all);
    sago_status status = agree(search, *all ? SAGO_OK : sagoi_fail_errno(ENOMEM, "a list of the node's ranks"));
    return status ? status : sagoi_pairs_of_node(search->team, mine, *all);
}

/* On each node, the lowest rank that sees the same directory speaks for this rank.  Device and inode can be
 * compared between processes of one kernel only, which the ranks of a node are. */
static sago_status form_classes(discovery *search) {
    sagoi_pair mine = {search->probe.device, search->probe.inode}, *all = NULL;
    sago_status status = share_on_node(search, mine, &all);
    int speaker = 0;
    while (!status && (all[speaker].one != mine.one || all[speaker].two != mine.two))
        speaker++;
    search->speaker = speaker;
    search->prober = speaker == search->team->local_rank;
    free(all);
    return status;
}

/* All ranks look for one file; those that do not see it go on to list. */
static sago_status probe_by_looking(discovery *search) {
    sago_status status = create_one(search);
    if (status)
        return status;
    bool missed = search->prober && search->team->rank != 0 && !sagoi_probe_sees(&search->probe);
    uint64_t count = 0;
    search->first = 0;
    status = count_missed(search, missed, &count);
    return status || count == 0 ? status : probe_by_listing(search, missed);
}

/* A speaker tells its result to the ranks of the node that it spoke for. */
static sago_status hear_speakers(discovery *search) {
    sagoi_pair *all = NULL;
    sago_status status = share_on_node(search, (sagoi_pair){(uint64_t)search->first, 0}, &all);
    if (!status)
        search->first = (int)all[search->speaker].one;
    free(all);
    return status;
}

static sago_status discover_classes(discovery *search) {
    sago_status status = share_name(search, sagoi_probe_open(&search->probe, true));
    if (!status)
        status = form_classes(search);
    if (!status)
        status = probe_by_looking(search);
    return status ? status : hear_speakers(search);
}

/* ---- All of them ---- */

/* Called whatever happened.  The folder is removed when all files in it are gone: by the first rank of each group,
 * or by any rank if the groups are not known. */
static sago_status remove_all(discovery *search, sago_status status) {
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    bool grouped = status == SAGO_OK, mine = search->first == search->team->rank;
    sago_status left = agree(search, sagoi_probe_remove_files(&search->probe));
    sago_status folder_left = SAGO_OK;
    if (!grouped || mine)
        folder_left = sagoi_probe_remove_folder(&search->probe, grouped);
    if (!left)
        left = agree(search, folder_left);
    if (status)
        sagoi_message_set(why);
    return status ? status : left;
}

static sago_status sum_counts(discovery *search, sago_storage_stats *stats) {
    const sagoi_probe_counts *counts = &search->probe.counts;
    sagoi_agreement files = {.sum = {(uint64_t)counts->opens, (uint64_t)counts->checks, (uint64_t)counts->creates,
                                     (uint64_t)counts->looks, (uint64_t)counts->lists, (uint64_t)counts->removes}};
    sagoi_agreement ranks = {.sum = {search->first == search->team->rank, search->prober}};
    sago_status status = sagoi_agree(search->team, &files, NULL, NULL, NULL);
    if (!status)
        status = sagoi_agree(search->team, &ranks, NULL, NULL, NULL);
    *stats = (sago_storage_stats){.size = sizeof *stats,
                                  .neighbourhoods = (int64_t)ranks.sum[0],
                                  .probers = (int64_t)ranks.sum[1],
                                  .opens = (int64_t)files.sum[0],
                                  .checks = (int64_t)files.sum[1],
                                  .creates = (int64_t)files.sum[2],
                                  .looks = (int64_t)files.sum[3],
                                  .lists = (int64_t)files.sum[4],
                                  .removes = (int64_t)files.sum[5]};
    return status;
}

sago_status sagoi_storage_discover(sagoi_team *team, const char *dir, sago_storage_mode mode, int *first,
                                   sago_storage_stats *stats) {
    discovery search = {.team = team, .first = -1};
    sago_status status;
    sagoi_probe_init(&search.probe, dir);
    switch (mode) {
    case SAGO_STORAGE_EXHAUSTIVE:
        status = discover_exhaustively(&search);
        break;
    case SAGO_STORAGE_HEURISTIC:
        status = discover_by_challenge(&search);
        break;
    default:
        status = discover_classes(&search);
    }
    status = remove_all(&search, status);
    if (!status)
        status = sum_counts(&search, stats);
    sagoi_probe_cleanup(&search.probe);
    if (!status)
        *first = search.first;
    return status;
}
