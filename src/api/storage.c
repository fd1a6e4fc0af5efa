/* Storage neighbourhoods: checks of arguments, the new communicator, and what is remembered with it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/handle.h"
#include "base/again.h"
#include "base/checked.h"
#include "engine/job_network.h"
#include "move/collect.h"
#include "mpi/quiet.h"
#include "neighbourhood/neighbourhood.h"

/* ---- What hangs on a communicator that a split made ---- */

typedef struct neighbourhood {
    sago_storage_stats stats;
    int ranks;   /* ranks of the communicator that was split */
    int first[]; /* for each of its ranks: the lowest rank of that rank's neighbourhood */
} neighbourhood;

/* MPI gives this handle out once in a process, at the first split. */
static int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t keyval_lock = PTHREAD_MUTEX_INITIALIZER;

static int on_comm_free(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

static sago_status remember(MPI_Comm comm, neighbourhood *facts) {
    (void)pthread_mutex_lock(&keyval_lock);
    if (keyval == MPI_KEYVAL_INVALID)
        (void)SAGOI_DONE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_free, &keyval, NULL));
    (void)pthread_mutex_unlock(&keyval_lock);
    if (keyval == MPI_KEYVAL_INVALID || !SAGOI_DONE(MPI_Comm_set_attr(comm, keyval, facts)))
        return sagoi_fail(SAGO_ERR_MPI, "communicator attributes cannot be used");
    return SAGO_OK;
}

static sago_status recall(MPI_Comm comm, const neighbourhood **facts) {
    void *value = NULL;
    int found = 0;
    sago_status status = sagoi_check_library();
    if (!status)
        status = sagoi_check_comm(comm);
    if (status)
        return status;
    sagoi_quiet_begin(comm);
    bool known =
        keyval != MPI_KEYVAL_INVALID && SAGOI_DONE(MPI_Comm_get_attr(comm, keyval, &value, &found)) && found;
    sagoi_quiet_end(comm);
    if (!known)
        return sagoi_fail(SAGO_ERR_ARG, "the communicator was not made by a split by storage");
    *facts = value;
    return SAGO_OK;
}

sago_status sago_storage_shared(MPI_Comm comm, int one_rank, int other_rank, int *shared) {
    const neighbourhood *facts = NULL;
    sago_status status = recall(comm, &facts);
    if (!status && !shared)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the answer");
    for (int i = 0; i < 2 && !status; i++) {
        int asked = i == 0 ? one_rank : other_rank;
        if (asked < 0 || asked >= facts->ranks)
            status = sagoi_fail(SAGO_ERR_ARG, "rank %d is not one of the %d that were split", asked, facts->ranks);
    }
    if (!status)
        *shared = facts->first[one_rank] == facts->first[other_rank];
    return sagoi_done("sago_storage_shared", NULL, status);
}

sago_status sago_storage_get_stats(MPI_Comm comm, sago_storage_stats *stats) {
    const neighbourhood *facts = NULL;
    sago_status status = recall(comm, &facts);
    if (!status && (!stats || stats->size < sizeof stats->size))
        status = sagoi_fail(SAGO_ERR_ARG, "the struct for the statistics is NULL or of no size");
    if (!status) {
        size_t room = (size_t)sagoi_min((int64_t)stats->size, sizeof *stats), size = stats->size;
        memcpy(stats, &facts->stats, room);
        stats->size = size;
    }
    return sagoi_done("sago_storage_get_stats", NULL, status);
}

/* ---- Splitting ---- */

typedef struct split_request {
    const char *dir;
    int64_t mode; /* sago_storage_mode */
    int key;
} split_request;

static sago_status check_request(const split_request *wanted, const MPI_Comm *newcomm) {
    if (!newcomm)
        return sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the communicator: the last argument is NULL");
    if (!wanted->dir || !*wanted->dir)
        return sagoi_fail(SAGO_ERR_ARG, "the directory is %s", wanted->dir ? "empty" : "NULL");
    if (wanted->mode != SAGO_STORAGE_AUTO && wanted->mode != SAGO_STORAGE_EXHAUSTIVE &&
        wanted->mode != SAGO_STORAGE_HEURISTIC)
        return sagoi_fail(SAGO_ERR_ARG, "%lld is no mode of discovery", (long long)wanted->mode);
    return SAGO_OK;
}

static sago_status agree_request(sagoi_team *team, const split_request *wanted, sago_status status) {
    return sagoi_agree_equal(team, status, wanted->mode, "ranks gave different modes of discovery");
}

/* Gathers the outcome of every rank on every rank. */
static sago_status gather_facts(sagoi_team *team, MPI_Comm comm, int first, const sago_storage_stats *stats,
                                neighbourhood **gathered) {
    neighbourhood *facts = calloc(1, sizeof *facts + (size_t)team->size * sizeof facts->first[0]);
    sago_status status = facts ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for %d ranks", team->size);
    status = sagoi_agree_status(team, status);
    if (!status)
        status = sagoi_allgather(team, comm, &first, sizeof first, facts->first);
    if (status) {
        free(facts);
        return status;
    }
    facts->ranks = team->size;
    facts->stats = *stats;
    *gathered = facts;
    return SAGO_OK;
}

static sago_status make_comm(sagoi_team *team, MPI_Comm comm, int key, neighbourhood *facts, MPI_Comm *newcomm) {
    MPI_Comm made = MPI_COMM_NULL;
    sago_status status = SAGO_OK;
    if (!SAGOI_DONE(MPI_Comm_split(comm, facts->first[team->rank], key, &made)))
        status = sagoi_fail(SAGO_ERR_MPI, "MPI_Comm_split failed");
    else
        sagoi_quiet_pass_on(comm, made);
    if (!status)
        status = remember(made, facts);
    if (status)
        free(facts);
    status = sagoi_agree_status(team, status);
    if (status && made != MPI_COMM_NULL)
        (void)SAGOI_DONE(MPI_Comm_free(&made));
    if (!status)
        *newcomm = made;
    return status;
}

static sago_status split_team(sagoi_team *team, MPI_Comm comm, const split_request *wanted, MPI_Comm *newcomm) {
    int first = 0;
    sago_storage_stats stats = SAGO_STORAGE_STATS_INIT;
    neighbourhood *facts = NULL;
    sago_status status = agree_request(team, wanted, check_request(wanted, newcomm));
    if (!status)
        status = sagoi_storage_discover(team, wanted->dir, (sago_storage_mode)wanted->mode, &first, &stats);
    if (!status)
        status = gather_facts(team, comm, first, &stats, &facts);
    return status ? status : make_comm(team, comm, wanted->key, facts, newcomm);
}

static sago_status split(MPI_Comm comm, const split_request *wanted, MPI_Comm *newcomm) {
    sagoi_team *team = NULL;
    sago_status status = sagoi_team_acquire(comm, &team);
    if (status)
        return status;
    sagoi_quiet_begin(comm);
    status = split_team(team, comm, wanted, newcomm);
    sagoi_quiet_end(comm);
    sagoi_team_release(team);
    return status;
}

sago_status sago_comm_split_storage(MPI_Comm comm, const char *dir, sago_storage_mode mode, int key,
                                    MPI_Comm *newcomm) {
    const split_request wanted = {dir, mode, key};
    if (newcomm)
        *newcomm = MPI_COMM_NULL;
    sago_status status = sagoi_check_library();
    if (!status)
        status = sagoi_check_comm(comm);
    if (!status)
        status = split(comm, &wanted, newcomm);
    return sagoi_done("sago_comm_split_storage", NULL, status);
}

/* ---- By info keys (paper 003, 3.1) ---- */

static const char key_dir[] = "nbhd_common_dirname", key_mode[] = "sago_storage_mode";

static sago_status parse_mode(const char *word, int64_t *mode) {
    static const char *const words[] = {[SAGO_STORAGE_AUTO] = "auto",
                                        [SAGO_STORAGE_EXHAUSTIVE] = "exhaustive",
                                        [SAGO_STORAGE_HEURISTIC] = "heuristic"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(word, words[i]) == 0) {
            *mode = (int64_t)i;
            return SAGO_OK;
        }
    return sagoi_fail(SAGO_ERR_HINT, "%s: \"%.64s\" is not one of auto, exhaustive, heuristic", key_mode, word);
}

typedef struct info_values {
    char dir[MPI_MAX_INFO_VAL + 1]; /* "": the info object names no directory */
    int64_t mode;
} info_values;

static sago_status take_key(MPI_Info info, int index, info_values *values) {
    char key[MPI_MAX_INFO_KEY + 1] = "", value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    if (!SAGOI_DONE(MPI_Info_get_nthkey(info, index, key)) ||
        !SAGOI_DONE(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found)))
        return sagoi_fail(SAGO_ERR_MPI, "the info object cannot be read");
    if (strcmp(key, key_mode) == 0)
        return parse_mode(value, &values->mode);
    if (strcmp(key, key_dir) != 0)
        return sagoi_fail(SAGO_ERR_HINT, "the info key %.64s is unknown; known are %s and %s", key, key_dir,
                          key_mode);
    memcpy(values->dir, value, sizeof values->dir);
    return SAGO_OK;
}

static sago_status take_info(MPI_Info info, info_values *values) {
    int count = 0;
    *values = (info_values){.mode = SAGO_STORAGE_AUTO};
    if (info != MPI_INFO_NULL && !SAGOI_DONE(MPI_Info_get_nkeys(info, &count)))
        return sagoi_fail(SAGO_ERR_MPI, "the info object cannot be read");
    sago_status status = SAGO_OK;
    for (int i = 0; i < count && !status; i++)
        status = take_key(info, i, values);
    return status;
}

/* What the ranks want in a split by type, as they have agreed on it. */
typedef struct wishes {
    uint64_t undefined;     /* number of ranks with MPI_UNDEFINED */
    uint64_t neighbourhood; /* number of ranks with SAGO_COMM_TYPE_NEIGHBORHOOD */
    uint64_t nameless;      /* number of ranks with that type, but without a directory */
} wishes;

static sago_status agree_wishes(sagoi_team *team, int split_type, const info_values *values, sago_status status,
                                wishes *all) {
    bool ours = split_type == SAGO_COMM_TYPE_NEIGHBORHOOD;
    sagoi_agreement agreed = {.sum = {split_type == MPI_UNDEFINED, ours, ours && !values->dir[0]}};
    status = sagoi_agree_with(team, status, &agreed);
    if (status)
        return status;
    *all = (wishes){agreed.sum[0], agreed.sum[1], agreed.sum[2]};
    if (all->neighbourhood && all->neighbourhood + all->undefined < (uint64_t)team->size)
        return sagoi_fail(SAGO_ERR_MISMATCH, "ranks gave different split types");
    if (all->nameless && all->nameless < all->neighbourhood)
        return sagoi_fail(SAGO_ERR_MISMATCH, "some ranks gave %s, others did not", key_dir);
    return SAGO_OK;
}

/* Splits the ranks that take part, where some do not. */
static sago_status split_part(MPI_Comm comm, bool takes_part, const split_request *wanted, MPI_Comm *newcomm) {
    MPI_Comm part = MPI_COMM_NULL;
    if (!SAGOI_DONE(MPI_Comm_split(comm, takes_part ? 0 : MPI_UNDEFINED, 0, &part)))
        return sagoi_fail(SAGO_ERR_MPI, "MPI_Comm_split failed");
    if (!takes_part)
        return SAGO_OK;
    sagoi_quiet_pass_on(comm, part);
    sago_status status = split(part, wanted, newcomm);
    (void)SAGOI_DONE(MPI_Comm_free(&part));
    return status;
}

sago_status sagoi_default_local_dir(sagoi_team *team, char *dir, size_t capacity) {
    sagoi_hints hints;
    const sagoi_job_network *network = NULL;
    sago_status status = sagoi_agree_status(team, sagoi_take_hints(&hints, MPI_INFO_NULL));
    if (!status)
        status = sagoi_job_network_ask(team, &hints, &network);
    if (status)
        return status;
    sagoi_job_network_fill(network, &hints);
    bool none = strcmp(hints.local_dirs, "none") == 0;
    (void)snprintf(dir, capacity, "%.*s", none ? 0 : (int)strcspn(hints.local_dirs, ":"), hints.local_dirs);
    return SAGO_OK;
}

static sago_status split_type_team(sagoi_team *team, MPI_Comm comm, int split_type, int key, MPI_Info info,
                                   MPI_Comm *newcomm) {
    bool ours = split_type == SAGO_COMM_TYPE_NEIGHBORHOOD;
    info_values values = {.mode = SAGO_STORAGE_AUTO};
    wishes all = {0};
    sago_status status = ours ? take_info(info, &values) : SAGO_OK;
    if (!status && !newcomm)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the communicator: the last argument is NULL");
    status = agree_wishes(team, split_type, &values, status, &all);
    if (!status && all.nameless)
        status = sagoi_default_local_dir(team, values.dir, sizeof values.dir);
    if (status || (all.nameless && !values.dir[0]))
        return status;
    if (all.neighbourhood == 0) {
        bool made = SAGOI_DONE(MPI_Comm_split_type(comm, split_type, key, info, newcomm));
        if (made && *newcomm != MPI_COMM_NULL)
            sagoi_quiet_pass_on(comm, *newcomm);
        return made ? SAGO_OK : sagoi_fail(SAGO_ERR_MPI, "MPI_Comm_split_type failed");
    }
    const split_request wanted = {values.dir, values.mode, key};
    if (all.undefined)
        return sagoi_agree_status(team, split_part(comm, ours, &wanted, newcomm));
    return split_team(team, comm, &wanted, newcomm);
}

sago_status sago_comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm) {
    sagoi_team *team = NULL;
    if (newcomm)
        *newcomm = MPI_COMM_NULL;
    sago_status status = sagoi_check_library();
    if (!status)
        status = sagoi_check_comm(comm);
    if (!status)
        status = sagoi_team_acquire(comm, &team);
    if (!status) {
        sagoi_quiet_begin(comm);
        status = split_type_team(team, comm, split_type, key, info, newcomm);
        sagoi_quiet_end(comm);
        sagoi_team_release(team);
    }
    return sagoi_done("sago_comm_split_type", NULL, status);
}
