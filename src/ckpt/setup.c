/* Taking over a checkpoint directory: is it one, is it free, where is its local storage?  And giving it back. */
#include <inttypes.h>
#include <sago/storage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "ckpt/setup.h"
#include "machine/cores.h"
#include "move/calls.h"
#include "move/collect.h"

#define MARKER_NAME "sago-ckpt"
#define LOCAL_PREFIX "sago-ckpt-"

/* ---- The directory itself: rank 0 ---- */

/* What the marker says: which directory it is in, by a random id, and where that was when it was last opened for
 * writing ("": from before that was written down). */
typedef struct marker {
    sagoi_id id;
    char home[SAGOI_CKPT_PATH];
} marker;

static void encode_marker(const marker *mark, sagoi_wire_out *out) {
    sagoi_record_begin(out, SAGOI_RECORD_DIRECTORY);
    sagoi_out_int(out, (int64_t)mark->id.low);
    sagoi_out_int(out, (int64_t)mark->id.high);
    sagoi_out_text(out, mark->home);
    sagoi_record_end(out);
}

/* A file under the name of a record that is no record.  All that is lost is which storage on the nodes belongs to
 * the directory. */
static sago_status not_a_marker(sago_status status) {
    char why[SAGOI_MESSAGE_MAX];
    if (status != SAGO_ERR_IO && status != SAGO_ERR_BAD_FILE)
        return status;
    sagoi_message_keep(why);
    return sagoi_fail(status,
                      "%.300s; once that file is removed, the steps in the directory can be used again, those on "
                      "the nodes cannot",
                      why);
}

/* *old: the marker does not say what it would say today. */
static sago_status load_marker(const char *dir, marker *mark, bool *old) {
    char path[SAGOI_CKPT_PATH], *bytes = NULL;
    int64_t len = 0;
    sagoi_wire_in in;
    sagoi_wire_out now = {0};
    if (!sagoi_path_join(path, dir, MARKER_NAME))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "the path is too long");
    sago_status status = sagoi_cfile_load(path, 4096, &bytes, &len);
    if (!status)
        status = not_a_marker(sagoi_record_open(bytes, len, SAGOI_RECORD_DIRECTORY, path, &in));
    if (!status) {
        *mark = (marker){0};
        mark->id.low = (uint64_t)sagoi_in_int(&in);
        mark->id.high = (uint64_t)sagoi_in_int(&in);
        if (in.at < in.end)
            sagoi_in_text(&in, mark->home, sizeof mark->home);
        if (in.failed)
            status = sagoi_fail(SAGO_ERR_IO, "%s has contents that cannot be", path);
    }
    if (!status) {
        encode_marker(mark, &now);
        *old = now.failed || now.len != len || memcmp(now.bytes, bytes, (size_t)len) != 0;
    }
    free(now.bytes);
    free(bytes);
    return status;
}

static sago_status draw_id(sagoi_id *id) {
    return getrandom(id, sizeof *id, 0) == (ssize_t)sizeof *id
               ? SAGO_OK
               : sagoi_fail(SAGO_ERR_IO, "no random numbers for a new directory");
}

static sago_status make_marker(const char *dir, marker *mark, bool *old) {
    sagoi_wire_out out = {0};
    bool won = false;
    (void)snprintf(mark->home, sizeof mark->home, "%s", dir);
    sago_status status = sagoi_path_resolve(mark->home);
    if (!status)
        status = draw_id(&mark->id);
    if (status)
        return status;
    encode_marker(mark, &out);
    status = out.failed ? sagoi_fail(SAGO_ERR_MEMORY, "no memory for a record")
                        : sagoi_cfile_claim(dir, MARKER_NAME, out.bytes, out.len, &won);
    free(out.bytes);
    if (!status)
        status = sagoi_cdir_sync(dir);
    return status || won ? status : load_marker(dir, mark, old); /* it is another job's */
}

/* A job of an older Sago looks at its own kind of lock only; from now on the version of the directory makes it
 * refuse. One that came before is waited for like any other. */
static sago_status bring_up_to_date(sago_ckpt *ckpt, const marker *mark) {
    char path[SAGOI_CKPT_PATH];
    sagoi_wire_out out = {0};
    const sagoi_fence *fence = &ckpt->lease.fence;
    int64_t seconds = ckpt->hints.ckpt_lease;
    sago_status status = sagoi_lease_check_old(ckpt->dir, seconds);
    encode_marker(mark, &out);
    if (!status)
        status = sagoi_fence_publish(fence, 0, ckpt->dir, MARKER_NAME, &out);
    free(out.bytes);
    if (!status)
        status = sagoi_cdir_sync(ckpt->dir);
    if (!status)
        status = sagoi_lease_check_old(ckpt->dir, seconds);
    if (!status && sagoi_path_join(path, ckpt->dir, SAGOI_OLD_LOCK_NAME))
        status = sagoi_fence_remove(fence, 0, path);
    return status;
}

/* Is there anything but what an interrupted first opening leaves, or another job's that goes on, or a directory
 * whose marker is lost? */
static sago_status refuse_name(void *arg, const char *name) {
    sagoi_folder_kind kind;
    int64_t step;
    uint64_t id_low;
    size_t len = strlen(name), suffix = strlen(SAGOI_ASIDE_SUFFIX);
    bool aside = len > suffix && strcmp(name + len - suffix, SAGOI_ASIDE_SUFFIX) == 0;
    if (aside || strcmp(name, MARKER_NAME) == 0 || sagoi_is_generation_name(name) ||
        sagoi_save_folder_parse(name, &kind, &step, &id_low))
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_BAD_FILE, "%s is not a checkpoint directory: it has \"%.64s\" in it", (char *)arg,
                      name);
}

/* Another job may have made it a checkpoint directory meanwhile; if not, it is refused. */
static sago_status look_again(const char *dir, sago_status refused, marker *mark, bool *old) {
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    sagoi_message_clear();
    if (load_marker(dir, mark, old) == SAGO_OK)
        return SAGO_OK;
    sagoi_message_set(why);
    return refused;
}

static sago_status prepare_directory(sago_ckpt *ckpt, marker *mark, bool *old) {
    struct stat info;
    sago_status looked = sagoi_path_stat(ckpt->dir, &info);
    if (!looked && !S_ISDIR(info.st_mode))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "it is not a directory");
    if (looked && (ckpt->hints.ckpt_read_only || looked == SAGO_ERR_TIMEOUT))
        return looked;
    sago_status status = looked ? sagoi_cdir_make(ckpt->dir) : SAGO_OK;
    if (!status)
        status = load_marker(ckpt->dir, mark, old);
    if (status != SAGO_ERR_NO_FILE)
        return status;
    if (ckpt->hints.ckpt_read_only)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "it is not a checkpoint directory");
    sagoi_generations seen = {0};
    status = sagoi_cdir_list(ckpt->dir, refuse_name, ckpt->dir);
    if (status)
        return look_again(ckpt->dir, status, mark, old);
    status = sagoi_generations_look(ckpt->dir, &seen);
    ckpt->unnamed = sagoi_next_generation(&seen) > 1; /* somebody has had it */
    return status ? status : make_marker(ckpt->dir, mark, old);
}

/* Is another name the directory's own?  Only there is the lock that this job has just made. */
static bool is_here(const sago_ckpt *ckpt, const char *name) {
    struct stat here, there;
    if (!ckpt->hints.ckpt_read_only)
        return sagoi_lease_is_in(&ckpt->lease, name);
    return sagoi_path_stat(ckpt->dir, &here) == SAGO_OK && sagoi_path_stat(name, &there) == SAGO_OK &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* What is at a place where this directory, or one with its id, once was. */
typedef enum { NOT_IT, PUT_THERE, USED_THERE, HIDDEN } other_place;

/* *what: PUT_THERE: another one with this id, but by its record it was used elsewhere (a backup, for instance);
 * HIDDEN: the place cannot be looked at. */
static sago_status look_at(const sago_ckpt *ckpt, const char *home, sagoi_id id, other_place *what) {
    marker other;
    bool old;
    sagoi_watch *watched = NULL;
    *what = NOT_IT;
    if (!home[0] || strcmp(home, ckpt->home) == 0)
        return SAGO_OK;
    sago_status status = sagoi_watch_begin(home, ckpt->hints.ckpt_patience, &watched);
    if (!status)
        status = load_marker(home, &other, &old);
    if (status)
        *what = status == SAGO_ERR_NO_FILE ? NOT_IT : HIDDEN;
    else if (sagoi_id_equal(other.id, id) && !is_here(ckpt, home))
        *what = strcmp(other.home, home) == 0 ? USED_THERE : PUT_THERE;
    sagoi_watch_end(&watched);
    if (status == SAGO_ERR_MEMORY)
        return status;
    sagoi_message_clear();
    return SAGO_OK;
}

/* A directory that is not where it was has been moved, or it is a copy: then the one that was copied is still
 * there, or may be.  What the nodes have by the id of a copied directory is that one's: the copy gets an id of its
 * own.  Opened for reading it has one for this time. */
static sago_status settle(sago_ckpt *ckpt, marker *mark, bool old) {
    other_place there = NOT_IT;
    (void)snprintf(ckpt->home, sizeof ckpt->home, "%s", ckpt->dir);
    sago_status status = sagoi_path_resolve(ckpt->home);
    if (!status)
        status = look_at(ckpt, mark->home, mark->id, &there);
    ckpt->copied = there != NOT_IT;
    ckpt->used_here = strcmp(mark->home, ckpt->home) == 0;
    if (!status && ckpt->copied)
        status = draw_id(&mark->id);
    if (status || ckpt->hints.ckpt_read_only || (!old && strcmp(mark->home, ckpt->home) == 0))
        return status;
    memcpy(mark->home, ckpt->home, sizeof mark->home);
    return bring_up_to_date(ckpt, mark);
}

/* Called on rank 0: makes sure that the directory is a checkpoint directory, and takes it over. */
static sago_status take_directory(sago_ckpt *ckpt) {
    marker mark = {0};
    bool old = false;
    sago_status status = prepare_directory(ckpt, &mark, &old);
    if (!status && !ckpt->hints.ckpt_read_only)
        /* Steps are no more durable than the name that they are under. */
        status = sagoi_cdir_sync_parent(ckpt->dir);
    if (!status && !ckpt->hints.ckpt_read_only)
        status = sagoi_lease_take(&ckpt->lease, ckpt->dir, ckpt->hints.ckpt_lease);
    if (!status)
        status = settle(ckpt, &mark, old);
    ckpt->directory = mark.id;
    return status;
}

static void tell_copied(sago_ckpt *ckpt) {
    sagoi_report_add(&ckpt->report,
                     "the directory is a copy: the steps that the other one has on the nodes are not its own\n");
}

static sago_status open_directory(sago_ckpt *ckpt) {
    sagoi_agreement agreed = {0};
    sago_status status = sagoi_watch_begin(ckpt->dir, ckpt->hints.ckpt_patience, &ckpt->watched_dir);
    if (!status && ckpt->team->rank == 0) {
        status = take_directory(ckpt);
        agreed.sum[0] = ckpt->directory.low;
        agreed.sum[1] = ckpt->directory.high;
        if (!status && getrandom(&agreed.sum[2], sizeof agreed.sum[2], 0) < 0)
            agreed.sum[2] = ckpt->directory.low * 0x9e3779b97f4a7c15u;
        agreed.max[1] = ckpt->lease.fence.generation;
        agreed.max[2] = ckpt->copied;
        agreed.max[3] = ckpt->unnamed;
    }
    sago_status met = sagoi_agree_with(ckpt->team, status, &agreed);
    ckpt->directory = (sagoi_id){agreed.sum[0], agreed.sum[1]};
    ckpt->key = agreed.sum[2];
    ckpt->fence.generation = agreed.max[1];
    if (!met && agreed.max[2])
        tell_copied(ckpt);
    if (!met && agreed.max[3])
        sagoi_report_add(
            &ckpt->report,
            "the directory had lost its record %s: steps that the nodes have of it are not found any more\n",
            MARKER_NAME);
    (void)snprintf(ckpt->fence.dir, sizeof ckpt->fence.dir, "%s", ckpt->dir);
    return met;
}

/* ---- The nodes' own storage ---- */

/* Takes the which-th candidate of "a:b:c"; false: there are fewer. */
static bool candidate(const sago_ckpt *ckpt, int which, char path[SAGOI_CKPT_PATH]) {
    const char *at = ckpt->hints.local_dirs;
    for (; which > 0 && *at; which--) {
        at += strcspn(at, ":");
        at += *at == ':';
    }
    int len = (int)strcspn(at, ":");
    if (len == 0)
        return false;
    int length = snprintf(path, SAGOI_CKPT_PATH, "%.*s/" LOCAL_PREFIX "%016" PRIx64 "%016" PRIx64, len, at,
                          ckpt->directory.low, ckpt->directory.high);
    return length > 0 && length < SAGOI_CKPT_PATH;
}

/* ---- Whose they are ----
 *
 * Where a directory was moved and then copied, neither is where the nodes' steps were saved.  They belong to the
 * one that is opened first, which writes down in the storage of the nodes where it is. */

static bool uses_nodes(const sago_ckpt *ckpt) {
    return ckpt->hints.local_dirs[0] && strcmp(ckpt->hints.local_dirs, "none") != 0;
}

/* *other: another place where there is, or may be, a directory with this one's id that has used the storage of
 * this node. */
static sago_status look_for_other(const sago_ckpt *ckpt, char other[SAGOI_CKPT_PATH]) {
    char path[SAGOI_CKPT_PATH];
    sago_status status = SAGO_OK;
    for (int i = 0; candidate(ckpt, i, path) && !other[0] && status != SAGO_ERR_MEMORY; i++) {
        marker mark = {0};
        other_place there = NOT_IT;
        bool old;
        sagoi_watch *watched = NULL;
        status = sagoi_watch_begin(path, ckpt->hints.ckpt_patience, &watched);
        if (!status)
            status = load_marker(path, &mark, &old);
        sagoi_watch_end(&watched);
        if (!status)
            status = look_at(ckpt, mark.home, ckpt->directory, &there);
        if (there == USED_THERE || there == HIDDEN)
            (void)snprintf(other, SAGOI_CKPT_PATH, "%s", mark.home);
    }
    if (status == SAGO_ERR_MEMORY)
        return status;
    sagoi_message_clear();
    return SAGO_OK;
}

/* Rank 0: is it really another one, and not this one by another name?  Then this one gets an id of its own.  Where
 * it cannot be looked at, this one has what is on the nodes if it was used where it is before: the nodes that have
 * not seen that may remember a place that it has left. */
static sago_status part_from(sago_ckpt *ckpt, const char *other) {
    marker mark = {.id = ckpt->directory};
    other_place there = NOT_IT;
    sago_status status = look_at(ckpt, other, ckpt->directory, &there);
    ckpt->copied = there == USED_THERE || (there == HIDDEN && !ckpt->used_here);
    if (!status && ckpt->copied)
        status = draw_id(&mark.id);
    memcpy(mark.home, ckpt->home, sizeof mark.home);
    if (!status && ckpt->copied && !ckpt->hints.ckpt_read_only)
        status = bring_up_to_date(ckpt, &mark);
    ckpt->directory = mark.id;
    return status;
}

/* Collective.  *parted: this one has an id of its own now. */
static sago_status part(sago_ckpt *ckpt, const char *other, bool *parted) {
    sagoi_agreement agreed = {0};
    sago_status status = SAGO_OK;
    if (ckpt->team->rank == 0) {
        status = part_from(ckpt, other);
        agreed = (sagoi_agreement){.sum = {ckpt->directory.low, ckpt->directory.high}, .max = {0, ckpt->copied}};
    }
    status = sagoi_agree_with(ckpt->team, status, &agreed);
    ckpt->directory = (sagoi_id){agreed.sum[0], agreed.sum[1]};
    *parted = !status && agreed.max[1];
    if (*parted)
        tell_copied(ckpt);
    return status;
}

/* Collective.  one: a place that a node names; "": none does. */
static sago_status choose_other(const sago_ckpt *ckpt, sago_status status, const char other[SAGOI_CKPT_PATH],
                                char one[SAGOI_CKPT_PATH]) {
    sagoi_agreement agreed = {.max = {0, other[0] ? ckpt->team->rank + 1 : 0}};
    status = sagoi_agree_with(ckpt->team, status, &agreed);
    memset(one, 0, SAGOI_CKPT_PATH);
    if (status || agreed.max[1] == 0)
        return status;
    if (agreed.max[1] == ckpt->team->rank + 1)
        (void)snprintf(one, SAGOI_CKPT_PATH, "%s", other);
    return sagoi_allreduce(ckpt->team, ckpt->team->own, one, SAGOI_CKPT_PATH, MPI_UNSIGNED_CHAR, MPI_MAX);
}

/* Collective; before the storage of the nodes is chosen, since that goes by the id.  Nodes may name different
 * places, of which some are this directory by another name. */
static sago_status settle_nodes(sago_ckpt *ckpt) {
    char other[SAGOI_CKPT_PATH] = "", one[SAGOI_CKPT_PATH];
    bool parted = false;
    if (!uses_nodes(ckpt))
        return SAGO_OK;
    sago_status status = sagoi_bcast(ckpt->team, ckpt->team->own, ckpt->home, sizeof ckpt->home);
    if (!status && ckpt->team->local_rank == 0)
        status = look_for_other(ckpt, other);
    do {
        status = choose_other(ckpt, status, other, one);
        if (!status && one[0])
            status = part(ckpt, one, &parted);
        if (strcmp(one, other) == 0)
            other[0] = '\0';
    } while (!status && one[0] && !parted);
    return status;
}

static sago_status write_home(const sago_ckpt *ckpt) {
    marker mark = {0};
    bool old;
    sagoi_wire_out out = {0};
    if (!ckpt->local[0] || ckpt->team->local_rank != 0 || ckpt->hints.ckpt_read_only)
        return SAGO_OK;
    if (load_marker(ckpt->local, &mark, &old) == SAGO_OK && strcmp(mark.home, ckpt->home) == 0)
        return SAGO_OK;
    sagoi_message_clear();
    mark.id = ckpt->directory;
    memcpy(mark.home, ckpt->home, sizeof mark.home);
    encode_marker(&mark, &out);
    sago_status status = sagoi_fence_publish(&ckpt->fence, 0, ckpt->local, MARKER_NAME, &out);
    free(out.bytes);
    return status ? status : sagoi_cdir_sync(ckpt->local);
}

/* ---- The first that can be used ---- */

static sago_status try_candidate(const sago_ckpt *ckpt, const char *path) {
    struct stat info;
    sagoi_watch *watched = NULL;
    sago_status status = sagoi_watch_begin(path, ckpt->hints.ckpt_patience, &watched);
    if (!status)
        status = ckpt->hints.ckpt_read_only ? sagoi_path_stat(path, &info) : sagoi_cdir_make(path);
    sagoi_watch_end(&watched);
    return status;
}

/* The first candidate in which a directory can be made; -1: none. */
static int64_t choose_candidate(const sago_ckpt *ckpt) {
    char path[SAGOI_CKPT_PATH];
    for (int i = 0; candidate(ckpt, i, path); i++)
        if (try_candidate(ckpt, path) == SAGO_OK)
            return i;
    return -1;
}

/* A relative name may mean different storage on each rank. */
static sago_status use_candidate(sago_ckpt *ckpt, int64_t chosen) {
    if (chosen < 0 || !candidate(ckpt, (int)chosen, ckpt->local))
        return SAGO_OK;
    sagoi_path_fix(ckpt->local);
    sago_status status = sagoi_watch_begin(ckpt->local, ckpt->hints.ckpt_patience, &ckpt->watched_local);
    return status || ckpt->hints.ckpt_read_only ? status : sagoi_cdir_make(ckpt->local);
}

/* Trying tells which ranks share the storage (sago/storage.h); the first of them reads it. */
static sago_status find_holder(sago_ckpt *ckpt) {
    MPI_Comm sharers = MPI_COMM_NULL;
    if (ckpt->hints.ckpt_read_only || !ckpt->local[0])
        return SAGO_OK;
    sago_status status = sago_comm_split_storage(ckpt->team->own, ckpt->local, SAGO_STORAGE_AUTO, 0, &sharers);
    if (status)
        return status;
    ckpt->holder = ckpt->team->rank;
    status = sagoi_bcast(ckpt->team, sharers, &ckpt->holder, sizeof ckpt->holder);
    sagoi_free_comm(ckpt->team, &sharers);
    return status;
}

/* Storage devices are numbered by the ranks that read them. */
static sago_status number_domains(sago_ckpt *ckpt) {
    int *all = calloc((size_t)ckpt->team->size, sizeof *all);
    ckpt->holders = calloc((size_t)ckpt->team->size, sizeof *ckpt->holders);
    sago_status status =
        all && ckpt->holders ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of storage devices");
    status = sagoi_agree_status(ckpt->team, status);
    if (!status)
        status = sagoi_allgather(ckpt->team, ckpt->team->own, &ckpt->holder, sizeof ckpt->holder, all);
    for (int r = 0; !status && r < ckpt->team->size; r++) {
        if (all[r] == ckpt->holder && r == ckpt->holder)
            ckpt->domain = ckpt->domains;
        if (all[r] == r)
            ckpt->holders[ckpt->domains++] = r;
    }
    free(all);
    return status;
}

static sago_status tell_domains(sago_ckpt *ckpt) {
    const sagoi_groups *groups = &ckpt->groups;
    ckpt->domain_of = calloc((size_t)groups->nwriters, sizeof *ckpt->domain_of);
    sago_status status =
        ckpt->domain_of ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of storage devices");
    status = sagoi_agree_status(ckpt->team, status);
    if (status)
        return status;
    if (sagoi_is_writer(ckpt))
        status = sagoi_allgather(ckpt->team, groups->writers, &ckpt->domain, sizeof ckpt->domain, ckpt->domain_of);
    if (!status)
        status = sagoi_bcast(ckpt->team, groups->mine, ckpt->domain_of,
                             groups->nwriters * (int64_t)sizeof *ckpt->domain_of);
    ckpt->keeper = sagoi_is_writer(ckpt);
    for (int64_t w = 0; w < groups->writer; w++)
        ckpt->keeper = ckpt->keeper && ckpt->domain_of[w] != ckpt->domain;
    return status;
}

/* For collective writing all ranks must see the file, which a relative name on the nodes may not mean. */
static sago_status choose_together(sago_ckpt *ckpt) {
    bool seen = !ckpt->local[0] || ckpt->domain_of[ckpt->groups.writer] == ckpt->domain;
    sagoi_agreement agreed = {.max = {!seen}};
    if (ckpt->hints.ckpt_mode != SAGOI_CKPT_COIO)
        return SAGO_OK;
    sago_status status = sagoi_agree(ckpt->team, &agreed, NULL, NULL, NULL);
    ckpt->together = agreed.max[0] == 0;
    return status;
}

/* Either every node has storage of its own, or no node uses any. */
static sago_status choose_local(sago_ckpt *ckpt) {
    int64_t chosen = 0;
    sago_status status = SAGO_OK;
    ckpt->holder = sagoi_team_rank_of(ckpt->team, ckpt->team->node, 0);
    if (!uses_nodes(ckpt))
        return SAGO_OK;
    if (ckpt->team->local_rank == 0)
        chosen = choose_candidate(ckpt) + 1;
    status = sagoi_gate_sum(ckpt->team, chosen, &chosen);
    if (!status && chosen == 0 && !ckpt->hints.ckpt_read_only)
        status = sagoi_fail(SAGO_ERR_NO_FILE, "none of the sago_local_dirs \"%.128s\" can be used on this node",
                            ckpt->hints.local_dirs);
    if (!status)
        status = use_candidate(ckpt, chosen - 1);
    if (!status)
        sagoi_message_clear(); /* left by candidates that could not be used */
    return sagoi_agree_status(ckpt->team, status);
}

static sago_status open_local(sago_ckpt *ckpt) {
    sago_status status = settle_nodes(ckpt);
    if (!status)
        status = choose_local(ckpt);
    if (!status)
        status = sagoi_agree_status(ckpt->team, write_home(ckpt));
    if (!status)
        status = sagoi_agree_status(ckpt->team, find_holder(ckpt));
    return status ? status : sagoi_agree_status(ckpt->team, number_domains(ckpt));
}

/* More owners than this between two openings are none of this directory: a number on a node is wrong. */
enum { GENERATIONS_MISSED = 10000 };

/* The storage of this rank's node has a list that is too far ahead.  If it is none, everything counts there, as
 * where there is no list; of a real one nobody knows what it is of. */
static sago_status check_far_list(const sago_ckpt *ckpt) {
    sagoi_found found;
    sago_status status = sagoi_found_load(ckpt->local, &found);
    if (!status && found.generation > 0)
        status = sagoi_fail(SAGO_ERR_BAD_FILE,
                            "%s/found.%08lld is of an owner that this directory, at generation %lld, cannot have "
                            "had: what is saved there would not count until that file is removed",
                            ckpt->local, (long long)found.generation, (long long)ckpt->fence.generation);
    sagoi_found_cleanup(&found);
    return status;
}

/* *last: the latest owner of whom the storage of this rank's node knows; 0: it knows of none. */
static sago_status last_owner(const sago_ckpt *ckpt, int64_t *last) {
    sagoi_generations seen;
    int64_t most = ckpt->fence.generation + GENERATIONS_MISSED;
    sago_status status = sagoi_generations_look(ckpt->local, &seen);
    if (!status && seen.found > most)
        status = check_far_list(ckpt);
    if (seen.found > most)
        seen.found = 0;
    if (seen.save > most)
        seen.save = 0;
    *last = seen.found > 0 ? seen.found : seen.save;
    return status;
}

/* The storage of the nodes may know of later owners than the directory does, if somebody has removed locks and
 * lists from it, or has brought back an old copy of it.  What is older than a list on the nodes does not count
 * there, so this job has to be later than all of them. */
static sago_status catch_up(sago_ckpt *ckpt) {
    sagoi_agreement agreed = {0};
    int64_t last = 0;
    sago_status status = SAGO_OK;
    if (ckpt->local[0] && ckpt->holder == ckpt->team->rank)
        status = last_owner(ckpt, &last);
    status = sagoi_agree_status(ckpt->team, status);
    agreed.max[0] = last + 1;
    if (!status)
        status = sagoi_agree(ckpt->team, &agreed, NULL, NULL, NULL);
    if (status || agreed.max[0] <= ckpt->fence.generation)
        return status;
    if (ckpt->team->rank == 0)
        status = sagoi_lease_raise(&ckpt->lease, agreed.max[0]);
    ckpt->fence.generation = agreed.max[0];
    return sagoi_agree_status(ckpt->team, status);
}

/* ---- All together ---- */

static sago_status start_writer(sago_ckpt *ckpt) {
    if (!sagoi_is_writer(ckpt) || ckpt->hints.ckpt_read_only)
        return SAGO_OK;
    sago_status status = ckpt->keeper && ckpt->local[0] ? sagoi_cdir_sync_parent(ckpt->local) : SAGO_OK;
    if (status)
        return status;
    int64_t rate = ckpt->hints.ckpt_rate;
    sagoi_background_options options = {
        .dir = ckpt->dir,
        .local = ckpt->local,
        .pool = &ckpt->pool,
        .group_size = (uint32_t)ckpt->groups.size,
        .rate = rate > 0 ? sagoi_max(1, rate / ckpt->groups.nwriters) : 0,
        .lease = ckpt->team->rank == 0 ? &ckpt->lease : NULL,
        .fence = &ckpt->fence,
        .core = sagoi_spare_core(&ckpt->team->rank_cores, ckpt->groups.writer - ckpt->groups.first_on_node)};
    return sagoi_background_start(&options, &ckpt->background);
}

sago_status sagoi_ckpt_set_up(sago_ckpt *ckpt) {
    sago_status status = SAGO_OK;
    ckpt->groups.mine = ckpt->groups.writers = ckpt->groups.same_file = MPI_COMM_NULL;
    ckpt->opened = ckpt->last_save = sagoi_ckpt_now();
    status = open_directory(ckpt);
    if (!status)
        status = sagoi_agree_status(ckpt->team, sagoi_journal_open(ckpt));
    if (!status)
        status = open_local(ckpt);
    if (!status && !ckpt->hints.ckpt_read_only)
        status = catch_up(ckpt);
    if (!status)
        status = sagoi_take_stock(ckpt);
    if (!status)
        status = sagoi_agree_status(ckpt->team, sagoi_groups_form(ckpt));
    if (!status)
        status = sagoi_agree_status(ckpt->team, tell_domains(ckpt));
    if (!status)
        status = choose_together(ckpt);
    if (!status)
        status = sagoi_agree_status(ckpt->team, start_writer(ckpt));
    if (!status)
        sagoi_signals_watch(ckpt->watched = ckpt->hints.ckpt_signal);
    return status;
}

/* Adds to a text the steps from here on whose failure was not reported. */
static void list_untold(const sagoi_saving *at, char *text, size_t capacity) {
    size_t used = 0;
    for (; at && used + 32 < capacity; at = at->next)
        if (at->status && !at->told)
            used += (size_t)snprintf(text + used, capacity - used, "%s%lld", used ? ", " : "; neither are steps ",
                                     (long long)at->step);
}

/* Reports failures that were not reported yet: the oldest in full, the others by their numbers. */
static sago_status untold_failure(const sago_ckpt *ckpt) {
    const sagoi_saving *at = ckpt->saves;
    char others[128] = "";
    while (at && (!at->status || at->told))
        at = at->next;
    if (!at)
        return SAGO_OK;
    list_untold(at->next, others, sizeof others);
    return sagoi_fail(at->status, "%.380s%s", at->message, others);
}

sago_status sagoi_ckpt_finish(sago_ckpt *ckpt) {
    sago_status status = sagoi_saves_await_first(ckpt);
    if (!status)
        status = sagoi_redundancy_advance(ckpt);
    if (!status)
        status = sagoi_saves_await_all(ckpt);
    if (!status)
        status = sagoi_journal_advance(ckpt);
    return status ? status : untold_failure(ckpt);
}

void sagoi_ckpt_tear_down(sago_ckpt *ckpt) {
    sagoi_signals_leave(ckpt->watched);
    sagoi_allocation_cleanup(&ckpt->allocation);
    sagoi_background_stop(&ckpt->background);
    sagoi_lease_give_back(&ckpt->lease);
    sagoi_journal_close(ckpt);
    sagoi_savings_free(ckpt);
    if (ckpt->team && ckpt->groups.spans && sagoi_is_broken(ckpt->team))
        ckpt->pool.segment.leaked = true; /* MPI may still receive into it */
    sagoi_far_cleanup(ckpt);
    sagoi_layout_cleanup(&ckpt->layout);
    sagoi_pool_release(&ckpt->pool);
    sagoi_dataset_cleanup(&ckpt->data);
    sagoi_groups_free(ckpt);
    sagoi_watch_end(&ckpt->watched_local);
    sagoi_watch_end(&ckpt->watched_dir);
    free(ckpt->steps);
    free(ckpt->holders);
    free(ckpt->domain_of);
    if (ckpt->team)
        sagoi_team_release(ckpt->team);
}
