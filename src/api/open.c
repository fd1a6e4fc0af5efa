/* Opening and closing.  Rank 0 creates a file before the other ranks open it, so that no rank depends on how soon
 * a file system shows a new file to other nodes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "api/handle.h"
#include "api/reporting.h"
#include "tier/tier.h"
#include "base/again.h"
#include "base/checked.h"
#include "defer/defer.h"
#include "engine/dispatch.h"
#include "machine/cores.h"
#include "machine/memory_kind.h"
#include "move/calls.h"
#include "move/convene.h"
#include "mpi/quiet.h"
#include "trace/recorder.h"

/* ---- Before anything is touched ---- */

static sago_status check_mode(int amode) {
    int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
    int valid = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL |
                MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_APPEND | MPI_MODE_SEQUENTIAL;
    if (amode & ~valid)
        return sagoi_fail(SAGO_ERR_MODE, "access mode %d has bits that mean nothing", amode);
    if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
        return sagoi_fail(SAGO_ERR_MODE,
                          "the access mode must have exactly one of MPI_MODE_RDONLY, _WRONLY, _RDWR");
    if (amode & MPI_MODE_SEQUENTIAL)
        return sagoi_fail(SAGO_ERR_MODE, "MPI_MODE_SEQUENTIAL is not offered");
    if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        return sagoi_fail(SAGO_ERR_MODE, "MPI_MODE_RDONLY goes with neither MPI_MODE_CREATE nor MPI_MODE_EXCL");
    return SAGO_OK;
}

static sago_status take_hint(sagoi_hints *hints, MPI_Info info, int index) {
    char key[MPI_MAX_INFO_KEY + 1] = "", value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    if (!SAGOI_DONE(MPI_Info_get_nthkey(info, index, key)) ||
        !SAGOI_DONE(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found)))
        return sagoi_fail(SAGO_ERR_MPI, "the hints cannot be read");
    return found ? sagoi_hints_set(hints, key, value) : SAGO_OK;
}

sago_status sagoi_take_hints(sagoi_hints *hints, MPI_Info info) {
    int count = 0;
    sago_status status = sagoi_hints_init(hints);
    if (status || info == MPI_INFO_NULL)
        return status;
    sagoi_quiet_begin(MPI_COMM_NULL);
    if (!SAGOI_DONE(MPI_Info_get_nkeys(info, &count)))
        status = sagoi_fail(SAGO_ERR_MPI, "the hints cannot be read");
    for (int i = 0; i < count && !status; i++)
        status = take_hint(hints, info, i);
    sagoi_quiet_end(MPI_COMM_NULL);
    return status;
}

/* Checks the arguments of this rank; the ranks agree on a failure later. */
static sago_status check_arguments(const char *path, int amode, MPI_Info info, sagoi_hints *hints) {
    if (!path || !*path)
        return sagoi_fail(SAGO_ERR_ARG, "the path is %s", path ? "empty" : "NULL");
    sago_status status = check_mode(amode);
    if (!status)
        status = sagoi_take_hints(hints, info);
    if (!status && hints->nonblocking == SAGOI_NONBLOCKING_APART && hints->tier == SAGOI_TIER_LOCAL)
        status = sagoi_fail(
            SAGO_ERR_HINT,
            "sago_nonblocking=apart goes with no local tier: what is there is moved by all ranks together");
    return status;
}

/* ---- Agreeing ---- */

enum {
    MAX_VERDICT,
    /* Claims, of two maxima each: */
    MAX_MODE,
    MAX_PATH = MAX_MODE + 2,
    MAX_HINTS = MAX_PATH + 2,
    /* Other maxima: */
    MAX_MINUS_MEMORY = MAX_HINTS + 2,
    MAX_WRONG, /* the verdict on arguments, which is reported before any other */
    MAX_UNMAPPABLE,
    MAX_SUBFILES,
    MAX_MINUS_SUBFILES,
    MAX_UNRULED_COUNT
};
enum {
    SUM_COVER_KEY,
    SUM_BLOCK,
    SUM_LOCK_UNIT,
    SUM_STRIPE_UNIT,
    SUM_STRIPE_COUNT, /* and, FIRST_SHIFT bits higher, the number of the first target */
    SUM_KNOWN,
    SUM_UNREPORTED,
    SUM_UNRULED_COUNT,
    SUM_MISSING,  /* number of ranks that found no file */
    SUM_IDENTITY, /* sum of the identities of the files that the ranks found */
};
enum { FIRST_SHIFT = 32 };
_Static_assert((int)MAX_UNRULED_COUNT < (int)SAGOI_MAXIMA && (int)SUM_IDENTITY < (int)SAGOI_SUMS,
               "there is room for all");

int64_t sagoi_positive_hash(const void *data, int64_t bytes) {
    return (int64_t)(sagoi_hash_bytes(data, bytes, (sagoi_hash){0, 0}).low >> 1);
}

/* A hash of all hints but sago_memory, which may differ between nodes; of the ranks of one node the least value
 * counts. */
static int64_t hash_hints(const sagoi_hints *hints) {
    sagoi_hints common = *hints;
    common.memory = 0;
    return sagoi_positive_hash(&common, sizeof common);
}

static void describe_arguments(const sago_file *file, sagoi_agreement *agreed) {
    sagoi_agreement_claim(agreed, MAX_MODE, file->amode);
    sagoi_agreement_claim(agreed, MAX_PATH, sagoi_positive_hash(file->path, (int64_t)strlen(file->path)));
    sagoi_agreement_claim(agreed, MAX_HINTS, hash_hints(&file->hints));
}

static sago_status compare_arguments(const sagoi_agreement *agreed) {
    static const char *const what[] = {"access modes", "paths", "hints"};
    for (int i = MAX_MODE; i <= MAX_HINTS; i += 2)
        if (!sagoi_agreement_is_equal(agreed, i))
            return sagoi_fail(SAGO_ERR_MISMATCH, "ranks gave different %s", what[i / 2]);
    return SAGO_OK;
}

/* The rule of subfiles as one number; 0: one plain file. */
static int64_t number_of_rule(const sagoi_subfiles *rule) {
    int64_t most = SAGOI_SUBFILE_BLOCK_MAX / SAGOI_SUBFILE_UNIT + 1;
    return rule ? rule->count * most + rule->block / SAGOI_SUBFILE_UNIT : 0;
}

static int64_t block_of_number(int64_t number) {
    return number % (SAGOI_SUBFILE_BLOCK_MAX / SAGOI_SUBFILE_UNIT + 1) * SAGOI_SUBFILE_UNIT;
}

static int64_t count_of_number(int64_t number) {
    return number / (SAGOI_SUBFILE_BLOCK_MAX / SAGOI_SUBFILE_UNIT + 1);
}

/* Adds this rank's rule.  Where the rule is not made yet, another rank may make it while the ranks look. */
static void describe_subfiles(const sago_file *file, sagoi_agreement *agreed) {
    const sagoi_subfiles *rule = sagoi_store_subfiles(file->store);
    int64_t count = sagoi_store_subfile_count(file->store);
    bool unruled = !rule && count > 0;
    agreed->max[MAX_SUBFILES] = unruled ? INT64_MIN : number_of_rule(rule);
    agreed->max[MAX_MINUS_SUBFILES] = unruled ? INT64_MIN : -number_of_rule(rule);
    agreed->max[MAX_UNRULED_COUNT] = unruled ? count : 0;
    agreed->sum[SUM_UNRULED_COUNT] = unruled ? (uint64_t)count : 0;
}

static sago_status take_subfiles(sago_file *file, const sagoi_agreement *agreed) {
    int64_t rule = agreed->max[MAX_SUBFILES], unruled = agreed->max[MAX_UNRULED_COUNT];
    file->unruled = rule == INT64_MIN;
    bool same = file->unruled ? agreed->sum[SUM_UNRULED_COUNT] == (uint64_t)unruled * (uint64_t)file->team->size
                              : rule == -agreed->max[MAX_MINUS_SUBFILES] &&
                                    (unruled == 0 || unruled == count_of_number(rule));
    if (!same)
        return sagoi_fail(SAGO_ERR_MISMATCH, "ranks found different subfiles");
    return unruled > 0 && !file->unruled && !sagoi_store_subfiles(file->store)
               ? sagoi_store_take_rule(file->store, block_of_number(rule))
               : SAGO_OK;
}

/* All ranks use the stripes that rank 0 found: what a rank may ask the file system, and what the file system
 * answers, can differ between nodes. */
static void describe_store(const sago_file *file, sagoi_agreement *agreed) {
    const sagoi_layout *layout = sagoi_store_layout(file->store);
    agreed->max[MAX_UNMAPPABLE] = !file->mappable_here || sagoi_store_subfile_count(file->store) > 0;
    describe_subfiles(file, agreed);
    if (file->team->rank != 0)
        return;
    agreed->sum[SUM_BLOCK] = (uint64_t)layout->block;
    agreed->sum[SUM_LOCK_UNIT] = (uint64_t)layout->lock_unit;
    agreed->sum[SUM_STRIPE_UNIT] = (uint64_t)layout->stripe_unit;
    agreed->sum[SUM_STRIPE_COUNT] =
        (uint64_t)layout->stripe_count + ((uint64_t)layout->stripe_first << FIRST_SHIFT);
}

/* Takes over rank 0's stripes, since the planner's input must be equal on all ranks. */
static sago_status take_store(sago_file *file, const sagoi_agreement *agreed) {
    file->unmappable = agreed->max[MAX_UNMAPPABLE] != 0;
    sago_status status = take_subfiles(file, agreed);
    if (status)
        return status;
    uint64_t count = agreed->sum[SUM_STRIPE_COUNT];
    sagoi_stripes stripes = {(int64_t)agreed->sum[SUM_STRIPE_UNIT], (int64_t)(count & UINT32_MAX)};
    sagoi_store_set_stripes(file->store, (int64_t)agreed->sum[SUM_BLOCK], (int64_t)agreed->sum[SUM_LOCK_UNIT],
                            stripes, (int64_t)(count >> FIRST_SHIFT));
    /* Nodes that are containers of one machine may share even a file system in memory. */
    if (file->team->nodes > 1)
        sagoi_store_set_shared(file->store);
    return SAGO_OK;
}

/* Do all ranks remember the same network from an earlier file?  Then it need not be found again. */
static void recall_surroundings(sago_file *file, sagoi_agreement *agreed) {
    if (!file->network)
        file->network = sagoi_job_network_recall(file->team, &file->hints);
    agreed->sum[SUM_KNOWN] = file->network ? file->network->fingerprint : 0;
}

static void compare_surroundings(sago_file *file, const sagoi_agreement *agreed) {
    if (file->network && agreed->sum[SUM_KNOWN] != file->network->fingerprint * (uint64_t)file->team->size)
        file->network = NULL;
}

/* The inode of a plain file as a number that is equal on every node; 0 for a file in subfiles. */
static uint64_t identity_of(const sago_file *file) {
    uint64_t inode = sagoi_store_layout(file->store)->inode;
    return sagoi_store_subfile_count(file->store) > 0 ? 0 : (uint64_t)sagoi_positive_hash(&inode, sizeof inode);
}

static void describe_found(const sago_file *file, sago_status status, sagoi_agreement *agreed) {
    agreed->sum[SUM_MISSING] = status == SAGO_ERR_NO_FILE;
    agreed->sum[SUM_IDENTITY] = !status && file->store ? identity_of(file) : 0;
}

/* Have some ranks found a file and others none, or a different one?  The answer is equal on all ranks, but for a
 * chance of 2^-63. */
static bool found_differently(const sago_file *file, const sagoi_agreement *mine, const sagoi_agreement *agreed) {
    uint64_t ranks = (uint64_t)file->team->size, missing = agreed->sum[SUM_MISSING];
    return (missing > 0 && missing < ranks) ||
           (!agreed->max[MAX_VERDICT] && agreed->sum[SUM_IDENTITY] != mine->sum[SUM_IDENTITY] * ranks);
}

/* Agrees on everything that must be equal on all ranks of a file: the arguments and, once the file is open, what
 * the ranks found.  `wrong`: this rank's arguments are wrong.  Ranks with different arguments get that error
 * before any other.  If `differ` is not NULL and the ranks found different files, *differ is set and nothing else
 * is decided. */
static sago_status agree_file(sago_file *file, bool wrong, sago_status status, bool *differ) {
    sagoi_agreement agreed = {0}, mine, of_node;
    bool opened = !status && file->store;
    if (!wrong) {
        describe_arguments(file, &agreed);
        recall_surroundings(file, &agreed);
    }
    if (opened)
        describe_store(file, &agreed);
    agreed.max[MAX_MINUS_MEMORY] = file->hints.memory > 0 ? -file->hints.memory : INT64_MIN;
    describe_found(file, status, &agreed);
    agreed.max[MAX_VERDICT] = sagoi_verdict_code(file->team, status);
    agreed.max[MAX_WRONG] = wrong ? agreed.max[MAX_VERDICT] : 0;
    agreed.sum[SUM_UNREPORTED] = !sagoi_report_wanted();
    if (file->team->rank == 0 && getrandom(&agreed.sum[SUM_COVER_KEY], sizeof agreed.sum[0], 0) < 0)
        agreed.sum[SUM_COVER_KEY] = (uint64_t)getpid() * 0x9e3779b97f4a7c15u;
    mine = agreed;
    sago_status met = sagoi_agree(file->team, &agreed, &of_node, NULL, NULL);
    if (!met && agreed.max[MAX_WRONG])
        return sagoi_verdict(file->team, agreed.max[MAX_WRONG]);
    if (!met)
        met = compare_arguments(&agreed);
    if (met)
        return met;
    if (differ && found_differently(file, &mine, &agreed)) {
        *differ = true;
        return SAGO_OK;
    }
    if (agreed.sum[SUM_MISSING] == (uint64_t)file->team->size)
        return sagoi_verdict_of_all(status);
    if (agreed.max[MAX_VERDICT])
        return sagoi_verdict(file->team, agreed.max[MAX_VERDICT]);
    compare_surroundings(file, &agreed);
    file->cover_key = agreed.sum[SUM_COVER_KEY];
    file->reported = agreed.sum[SUM_UNREPORTED] == 0;
    file->hints.memory = of_node.max[MAX_MINUS_MEMORY] == INT64_MIN ? 0 : -of_node.max[MAX_MINUS_MEMORY];
    file->budget.limit = file->hints.memory / file->team->local_size;
    file->team->patience = file->hints.patience;
    return opened ? take_store(file, &agreed) : SAGO_OK;
}

/* The other ranks learn of a failure in agree_file(). */
static sago_status agree_on_failure(sagoi_team *team, sago_status status) {
    sagoi_agreement agreed = {.max[MAX_WRONG] = sagoi_verdict_code(team, status)};
    sago_status met = sagoi_agree(team, &agreed, NULL, NULL, NULL);
    return met ? met : sagoi_verdict(team, agreed.max[MAX_WRONG]);
}

/* ---- The file itself ---- */

static int open_flags(int amode, bool create) {
    int flags = amode & MPI_MODE_RDONLY ? O_RDONLY : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDWR;
    if (create && (amode & MPI_MODE_CREATE))
        flags |= O_CREAT | (amode & MPI_MODE_EXCL ? O_EXCL : 0);
    return flags;
}

/* A file that is opened for writing is opened for reading, too, where that is allowed, since only then it can be
 * mapped. */
static sago_status open_store(sago_file *file, bool create, const sagoi_subfiles *subfiles) {
    sagoi_store_options options = {.flags = open_flags(file->amode, create),
                                   .mode = 0666,
                                   .uring = sagoi_route_takes_uring(&file->hints),
                                   .direct_io = file->hints.direct_io,
                                   .stripes = {file->hints.striping_unit, file->hints.striping_factor},
                                   .subfiles = *subfiles,
                                   .ruled_later = sagoi_subfiles_are_ruled_later(&file->hints)};
    file->mappable_here = file->team->nodes == 1 && sagoi_mapping_supported();
    if ((options.flags & O_ACCMODE) != O_WRONLY)
        return sagoi_store_open(file->path, &options, &file->store);
    sagoi_store_options both = options;
    both.flags = (options.flags & ~O_ACCMODE) | O_RDWR;
    sago_status status = sagoi_store_open(file->path, &both, &file->store);
    if (status != SAGO_ERR_ACCESS)
        return status;
    file->mappable_here = false;
    return sagoi_store_open(file->path, &options, &file->store);
}

/* Chooses the number of subfiles of a file that may be created. */
static sago_status choose_subfiles(const sago_file *file, sagoi_subfiles *chosen) {
    char why[SAGOI_SUBFILES_WHY_MAX];
    *chosen = (sagoi_subfiles){0, 0};
    if (!(file->amode & MPI_MODE_CREATE) || !file->hints.subfiles[0])
        return SAGO_OK;
    sagoi_node *node = calloc((size_t)file->team->nodes, sizeof *node);
    if (!node)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to look at %d nodes", file->team->nodes);
    for (int i = 0; i < file->team->nodes; i++)
        node[i].place = file->network->place[i];
    sagoi_machine machine = {.nodes = file->team->nodes, .node = node, .topology = &file->network->found.topology};
    sago_status status = sagoi_subfiles_choose(&file->hints, &machine, chosen, why);
    free(node);
    return status;
}

/* Sets the hints to what the file is. */
static void note_subfiles(sago_file *file) {
    const sagoi_subfiles *is = file->unruled ? NULL : sagoi_store_subfiles(file->store);
    int64_t count = sagoi_store_subfile_count(file->store);
    memset(file->hints.subfiles, 0, sizeof file->hints.subfiles);
    file->hints.subfile_block = is ? is->block : 0;
    if (count > 0)
        (void)snprintf(file->hints.subfiles, sizeof file->hints.subfiles, "%lld", (long long)count);
}

static sago_status look_around(sago_file *file) {
    sago_status status = file->network ? SAGO_OK : sagoi_job_network_ask(file->team, &file->hints, &file->network);
    if (!status)
        sagoi_job_network_fill(file->network, &file->hints);
    return status;
}

/* Collective: rank 0 creates the file once all ranks name the same file, and the other ranks open it after
 * that. */
static sago_status create_store(sago_file *file, sagoi_subfiles *subfiles) {
    sago_status status = agree_file(file, false, SAGO_OK, NULL);
    if (!status)
        status = look_around(file);
    if (status)
        return status;
    status = choose_subfiles(file, subfiles);
    if (!status && file->team->rank == 0)
        status = open_store(file, true, subfiles);
    return sagoi_agree_status(file->team, status);
}

/* Frees what an open, or half open, file owns, without communication. */
static sago_status file_destroy(sago_file *file) {
    while (file->series)
        sagoi_series_destroy(file->series);
    sagoi_tier_destroy(file);
    sagoi_nonblocking_end();
    if (sagoi_is_recorded())
        sagoi_recorder_close(&file->stats);
    sagoi_workqueue_destroy(&file->thread);
    sagoi_drop_exchanges(file);
    sagoi_pending_destroy(file);
    sagoi_mapping_cleanup(&file->mapping, &file->budget);
    sagoi_cache_cleanup(&file->cache);
    sagoi_view_cleanup(&file->view);
    sago_status status = file->store ? sagoi_store_close(&file->store) : SAGO_OK;
    if (file->team) {
        sagoi_convene_drop(file->team);
        sagoi_team_release(file->team);
    }
    free(file->path);
    sagoi_live_remove(&file->live);
    sagoi_writable_remove(&file->writable);
    free(file);
    return status;
}

/* Where ranks are bound to cores, the I/O thread gets a core without a rank, so that it takes no rank's time. */
static int core_without_rank(const void *of) {
    const sagoi_team *team = of;
    return sagoi_spare_core(&team->rank_cores, team->local_rank);
}

/* The windows of the file that had the team before may be larger than this file is allowed to use. */
static void shrink_windows(sago_file *file) {
    if (file->hints.memory > 0 && file->team->windows.bytes > file->hints.memory)
        sagoi_segment_release(&file->team->windows);
}

/* Sets up the rest of a file, without communication. */
static sago_status set_up(sago_file *file) {
    file->timed = file->hints.timing;
    sago_status status = sagoi_memory_kind_parse(file->hints.memory_kind, &file->memory_kind);
    if (!status)
        status = sagoi_view_make(0, MPI_BYTE, MPI_BYTE, &file->budget, &file->view);
    sagoi_cache_init(&file->cache, file->hints.plan_cache, &file->budget);
    if (!status)
        status = sagoi_pending_create(file);
    if (!status)
        status = sagoi_workqueue_create(1, "sago-io", &file->thread);
    if (!status)
        sagoi_workqueue_place(file->thread, core_without_rank, file->team);
    if (!status && file->hints.nonblocking == SAGOI_NONBLOCKING_APART)
        status = sagoi_convene_open(file->team);
    return status;
}

/* Collective.  All ranks open an existing file at once, and one agreement covers everything.  A rank that comes
 * early may find a state that another rank is about to change, by creating or replacing the file; then all ranks
 * look again. */
static sago_status find_store(sago_file *file, const sagoi_subfiles *subfiles, bool wrong, sago_status before) {
    bool given = file->store != NULL && !(file->amode & MPI_MODE_CREATE), differ = false;
    sago_status status = before;
    if (!status && !file->store)
        status = open_store(file, false, subfiles);
    status = agree_file(file, wrong, status, given ? NULL : &differ);
    if (status || !differ)
        return status;
    status = file->store ? sagoi_store_close(&file->store) : SAGO_OK;
    if (!status)
        status = open_store(file, false, subfiles);
    return agree_file(file, false, status, NULL);
}

/* Collective; `wrong` is what is wrong with the arguments. */
static sago_status open_together(sago_file *file, sago_status wrong) {
    sagoi_subfiles subfiles = {0, 0};
    sago_status status = wrong;
    if (!wrong && (file->amode & MPI_MODE_CREATE)) {
        status = create_store(file, &subfiles);
        if (status)
            return status;
    }
    if (!status)
        status = set_up(file);
    status = find_store(file, &subfiles, wrong, status);
    if (!status)
        status = look_around(file);
    if (status)
        return status;
    shrink_windows(file);
    note_subfiles(file);
    sagoi_dispatch_init(file);
    return sagoi_tier_open(file, sagoi_open_hinted);
}

/* Takes this rank's arguments. */
static sago_status take_arguments(sago_file *file, const char *path, MPI_Info info, const sagoi_hints *given) {
    sago_status status = check_arguments(path, file->amode, info, &file->hints);
    if (!status && given)
        file->hints = *given;
    file->path = strdup(path ? path : "");
    if (!status && !file->path)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for a path");
    return status;
}

static void register_writable(sago_file *file) {
    const sagoi_layout *layout = sagoi_store_layout(file->store);
    file->writable.device = layout->device;
    file->writable.inode = layout->inode;
    if (!(file->amode & MPI_MODE_RDONLY))
        sagoi_writable_add(&file->writable);
}

/* What a file is opened with. */
typedef struct opening {
    const char *path;
    int amode;
    MPI_Info info;
    const sagoi_hints *given; /* the hints; NULL: those of `info` */
    sagoi_store *store;       /* a store that is open already; NULL: the file has to be opened */
} opening;

static sago_status open_file(MPI_Comm comm, const opening *with, sago_file **opened) {
    sagoi_team *team = NULL;
    sagoi_store *store = with->store;
    sago_status status = sagoi_team_acquire(comm, &team);
    if (status) {
        (void)sagoi_store_close(&store);
        return status;
    }
    sago_file *file = calloc(1, sizeof *file);
    if (!file) {
        (void)sagoi_store_close(&store);
        status = agree_on_failure(team, sagoi_fail(SAGO_ERR_MEMORY, "no memory for a handle"));
        sagoi_team_release(team);
        return status;
    }
    file->team = team;
    file->amode = with->amode;
    file->store = store;
    status = take_arguments(file, with->path, with->info, with->given);
    if (!status && !opened)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the file: the last argument is NULL");
    status = open_together(file, status);
    if (status) {
        char why[SAGOI_MESSAGE_MAX];
        sagoi_message_keep(why);
        team->patience = 0;
        (void)file_destroy(file);
        sagoi_message_set(why);
        return status;
    }
    if (file->reported)
        sagoi_report_join(comm, team);
    sagoi_report_file(file, with->given);
    sagoi_live_add(&file->live);
    register_writable(file);
    *opened = file;
    return SAGO_OK;
}

sago_status sagoi_open_for(const char *call, MPI_Comm comm, const char *path, int amode, MPI_Info hints,
                           sago_file **file) {
    sago_status status = sagoi_check_library();
    if (!status)
        sagoi_report_environment();
    if (!status)
        status = sagoi_check_comm(comm);
    double began = sagoi_report_clock(NULL);
    if (!status)
        status = open_file(comm, &(opening){.path = path, .amode = amode, .info = hints}, file);
    sagoi_report_around(SAGO_REPORT_OPEN, began);
    return sagoi_done(call, path, status);
}

sago_status sago_open(MPI_Comm comm, const char *path, int amode, MPI_Info hints, sago_file **file) {
    return sagoi_open_for("sago_open", comm, path, amode, hints, file);
}

sago_status sagoi_open_hinted(MPI_Comm comm, const char *path, int amode, const sagoi_hints *hints,
                              sago_file **file) {
    opening with = {.path = path, .amode = amode, .info = MPI_INFO_NULL, .given = hints};
    return open_file(comm, &with, file);
}

sago_status sagoi_open_on_store(MPI_Comm comm, const char *name, const sagoi_hints *hints, sagoi_store *store,
                                sago_file **file) {
    opening with = {.path = name, .amode = MPI_MODE_WRONLY, .info = MPI_INFO_NULL, .given = hints, .store = store};
    return open_file(comm, &with, file);
}

/* Rank 0 removes the file after all ranks have closed it. */
static sago_status remove_closed(sagoi_team *team, const char *path) {
    sago_status status = SAGO_OK;
    if (team->rank == 0)
        status = sagoi_tier_remove_global(path);
    if (status)
        sagoi_message_prefix("on close: ");
    return sagoi_hear_first(team, status);
}

/* Merges the data in local storage and closes the tier.  If the ranks cannot agree any more, the tier is closed
 * without merging. */
static sago_status leave_local(sago_file *file, sago_status agreed) {
    if (file->hints.tier != SAGOI_TIER_LOCAL)
        return SAGO_OK;
    sago_status status = agreed ? agreed : sagoi_tier_merge(file, false);
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    sago_status closed = sagoi_tier_close(file);
    if (!agreed)
        closed = sagoi_agree_status(file->team, closed);
    if (status)
        sagoi_message_set(why);
    if (agreed)
        return SAGO_OK;
    return status ? status : closed;
}

static sago_status close_file(sago_file **opened) {
    sago_file *file = *opened;
    sagoi_team *team = file->team;
    char *path = file->path;
    bool remove = file->amode & MPI_MODE_DELETE_ON_CLOSE, spoke = false;
    sago_status flushed = sagoi_flush(file, SAGO_FLUSH_CLOSE, false);
    sago_status agreed = flushed;
    if (flushed != SAGO_ERR_MISMATCH)
        agreed = sagoi_engine_agree_any(file, SAGO_OK, SAGOI_MEETING_CLOSE, sagoi_convene_spoke(team), &spoke);
    if (agreed && !sagoi_beyond_agreeing(agreed))
        /* Other ranks are in another call, so the file stays open on all ranks. */
        return sagoi_done("sago_close", path, agreed);
    if (!agreed)
        agreed = sagoi_convene_close(team, spoke);
    sago_status merged = leave_local(file, agreed);
    merged = !agreed && flushed ? flushed : merged;
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    *opened = NULL;
    file->team = NULL; /* the caller still needs the team */
    file->path = NULL;
    sago_status status = file_destroy(file);
    status = agreed ? agreed : sagoi_agree_status(team, status);
    if (!status && remove)
        status = remove_closed(team, path);
    if (merged) {
        sagoi_message_set(why);
        status = merged;
    }
    sagoi_team_release(team);
    status = sagoi_done("sago_close", path, status);
    free(path);
    return status;
}

sago_status sago_close(sago_file **file) {
    if (!file)
        return sagoi_done("sago_close", NULL, sagoi_fail(SAGO_ERR_HANDLE, "the pointer to the file is NULL"));
    sago_status status = sagoi_check_unmerged(*file);
    if (status)
        return sagoi_done("sago_close", NULL, status);
    double began = sagoi_report_clock(*file);
    status = close_file(file);
    sagoi_report_around(SAGO_REPORT_CLOSE, began);
    return status;
}

sago_status sago_close_alone(sago_file **file) {
    sago_status status = sagoi_check_file(file ? *file : NULL);
    if (status)
        return sagoi_done("sago_close_alone", NULL, status);
    char why[SAGOI_MESSAGE_MAX];
    (void)snprintf(why, sizeof why, "rank %d has closed the file alone", (*file)->team->rank);
    sagoi_leave((*file)->team, why);
    (void)close_file(file);
    return sagoi_done("sago_close_alone", NULL, SAGO_OK);
}

sago_status sago_delete(const char *path, MPI_Info hints) {
    (void)hints; /* no hint matters to a file that is removed */
    sago_status status = SAGO_OK;
    if (!path || !*path) {
        status = sagoi_fail(SAGO_ERR_ARG, "the path is %s", path ? "empty" : "NULL");
    } else {
        sagoi_flush_named(path);
        status = sagoi_tier_remove_global(path);
    }
    return sagoi_done("sago_delete", path, status);
}
