#include "tier/tier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tier/tier_state.h"
#include "base/checked.h"
#include "engine/job_network.h"
#include "move/calls.h"
#include "neighbourhood/neighbourhood.h"
#include "store/leftovers.h"

typedef sagoi_local_tier tier;
typedef sagoi_logged logged;

/* ---- What is local ---- */

static void drop_copy(sago_file *file, logged *entry) {
    if (entry)
        sagoi_budget_free(&file->budget, entry);
}

/* Removes the calls before `end` from the log.  The calls behind `end` are independent ones that were made while
 * the others were merged; they come before the next collective call. */
static void forget_calls(sago_file *file, logged **end) {
    tier *t = file->tier;
    logged *left = *end;
    for (logged *entry = t->first, *next; entry != left; entry = next) {
        next = entry->next;
        drop_copy(file, entry);
    }
    for (sagoi_logged_view *logged_view = t->views, *next; logged_view; logged_view = next) {
        next = logged_view->next;
        sagoi_view_cleanup(&logged_view->view);
        free(logged_view);
    }
    /* The calls that are left refer to the file's own view, which is replaced only when no call is pending. */
    t->views = NULL;
    t->first = left;
    t->last = left ? t->last : &t->first;
    t->calls = t->end = t->own = 0;
    t->own_end = left ? t->own_end : 0;
    for (logged *entry = left; entry; entry = entry->next, t->own++)
        entry->key = 0;
    sagoi_tier_forget_persisted(t);
}

void sagoi_tier_destroy(sago_file *file) {
    if (!file->tier)
        return;
    sagoi_tier_end_drains(file, false);
    forget_calls(file, file->tier->last);
    free(file->tier->spare);
    sagoi_claim_cleanup(&file->tier->persisted.claim);
    free(file->tier);
    file->tier = NULL;
    file->stage = NULL;
    file->common.tier = false;
}

int64_t sagoi_tier_end(const sago_file *file) {
    return file->tier ? sagoi_max(file->tier->end, file->tier->own_end) : 0;
}

bool sagoi_tier_keep_view(sago_file *file) {
    bool used = false;
    for (logged *entry = file->tier ? file->tier->first : NULL; entry; entry = entry->next)
        used = used || entry->call.view == &file->view;
    if (!used)
        return false;
    sagoi_logged_view *logged_view = file->tier->spare;
    file->tier->spare = NULL;
    *logged_view = (sagoi_logged_view){file->view, file->tier->views};
    file->tier->views = logged_view;
    for (logged *entry = file->tier->first; entry; entry = entry->next)
        if (entry->call.view == &file->view)
            entry->call.view = &logged_view->view;
    return true;
}

/* ---- Writing ---- */

static logged *copy_call(sago_file *file, const sagoi_origin *what) {
    int64_t list = what->n * (int64_t)sizeof *what->extents;
    if (what->view && !file->tier->spare)
        file->tier->spare = calloc(1, sizeof *file->tier->spare);
    if (what->view && !file->tier->spare)
        return NULL;
    logged *entry = sagoi_budget_alloc(&file->budget, (int64_t)sizeof *entry + list);
    if (!entry)
        return NULL;
    entry->call = *what;
    if (what->n > 0)
        entry->call.extents = memcpy(entry + 1, what->extents, (size_t)list);
    return entry;
}

static void append(tier *t, logged *entry, int64_t key) {
    entry->key = key;
    *t->last = entry;
    t->last = &entry->next;
}

/* Collective.  *all_ok: every neighbourhood's write succeeded.  *all becomes the range that all of them wrote. */
static sago_status agree_written(sago_file *file, bool ok, sagoi_range *all, bool *all_ok) {
    bool any = all->low < all->high;
    sagoi_agreement agreed = {.max = {!ok, any ? all->high : INT64_MIN, any ? -all->low : INT64_MIN}};
    sago_status status = sagoi_agree(file->team, &agreed, NULL, NULL, NULL);
    *all_ok = !agreed.max[0];
    *all = agreed.max[1] == INT64_MIN ? (sagoi_range){0, 0} : (sagoi_range){-agreed.max[2], agreed.max[1]};
    return status;
}

/* Writes the call's data to the local files.  *all_ok: all of them took their part; else none counts. */
static sago_status write_local(sago_file *file, sagoi_composed *composed, logged *entry, int64_t *bytes,
                               bool *all_ok) {
    tier *t = file->tier;
    entry->all = (sagoi_range){composed->request.low, composed->request.high};
    sago_status written = sagoi_engine_run(t->local, composed, SAGO_OK, bytes);
    sago_status status = agree_written(file, written == SAGO_OK, &entry->all, all_ok);
    if (status || !*all_ok)
        return status;
    if (composed->all_dense)
        entry->near = (sagoi_range){composed->all_low, composed->all_high};
    append(t, entry, 2 * t->calls++ + 1);
    t->end = sagoi_max(t->end, entry->all.high);
    file->stats.local_writes++;
    file->stats.collective_writes++;
    file->stats.bytes_written += *bytes;
    file->stats.routes[SAGO_ROUTE_LOCAL]++;
    return SAGO_OK;
}

/* Collective. */
static sago_status write_all(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes) {
    *bytes = 0;
    logged *entry = status ? NULL : copy_call(file, &composed->origin);
    if (!status && !entry)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory to remember a write to local storage");
    status = sagoi_engine_agree(file, status, SAGOI_MEETING_TIER, 0);
    bool all_ok = false;
    if (!status)
        status = write_local(file, composed, entry, bytes, &all_ok);
    if (!status && all_ok)
        return SAGO_OK;
    drop_copy(file, entry);
    if (!status) {
        file->stats.local_refused++;
        status = sagoi_tier_merge(file, false);
    }
    return status ? status : sagoi_engine_run(file, composed, SAGO_OK, bytes);
}

static sago_status write_own(sago_file *file, sagoi_composed *composed, int64_t *bytes) {
    tier *t = file->tier;
    logged *entry = copy_call(file, &composed->origin);
    if (!entry)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to remember a write to local storage");
    sagoi_lone_part part = {.route = {.method = SAGOI_METHOD_NONE}};
    sago_status status = sagoi_engine_alone(t->local, composed, &part, bytes);
    if (status) {
        drop_copy(file, entry);
        sagoi_message_prefix("in local storage, which sago_sync empties: ");
        return status;
    }
    append(t, entry, 2 * t->calls);
    t->own++;
    t->own_end = sagoi_max(t->own_end, composed->bytes > 0 ? composed->request.high : 0);
    file->stats.bytes_written += *bytes;
    file->stats.routes[SAGO_ROUTE_LOCAL]++;
    return SAGO_OK;
}

/* ---- Merging ---- */

/* The bytes that this rank wrote in a call. */
static int64_t call_bytes(const sagoi_origin *call) {
    int64_t bytes = call->view ? call->bytes : 0;
    for (int64_t i = 0; i < call->n; i++)
        bytes += call->extents[i].length;
    return bytes;
}

/* The extents that hold bytes [begin, begin + bytes) of the call's data; `part` has room for all of them. */
static int64_t cut_extents(const sagoi_origin *call, int64_t begin, int64_t bytes, sago_extent *part) {
    int64_t n = 0, at = 0;
    for (int64_t i = 0; i < call->n; i++) {
        int64_t length = call->extents[i].length;
        int64_t from = sagoi_max(begin, at), to = sagoi_min(begin + bytes, at + length);
        if (from < to)
            part[n++] = (sago_extent){call->extents[i].offset + from - at, to - from};
        at += length;
    }
    return n;
}

typedef struct merge_buffer {
    char *data;
    int64_t bytes;     /* of data */
    sago_extent *part; /* room for the extents of the call with most of them */
    logged **end;      /* where merging stops: calls behind this one were made while the merge was under way */
    bool nonblocking;  /* a nonblocking call needs the merge, so nothing may wait inside MPI; equal on all ranks */
} merge_buffer;

static sago_status compose_part(sagoi_composed *composed, const sagoi_origin *call, int64_t done,
                                const merge_buffer *buffer) {
    int64_t bytes = sagoi_max(0, sagoi_min(buffer->bytes, call_bytes(call) - done));
    sago_status status;
    if (call->view) {
        sagoi_view_place place = {.view = call->view, .disp = call->view->disp, .begin = call->begin + done};
        sagoi_buffer memory = {buffer->data, bytes, MPI_BYTE};
        status = sagoi_compose_view(composed, &place, &memory);
    } else {
        const sagoi_scatter memory = {.base = buffer->data, .whole = true};
        status =
            sagoi_compose_extents(composed, cut_extents(call, done, bytes, buffer->part), buffer->part, &memory);
    }
    return status;
}

/* Reads the bytes of the call that come next from the local file (`file` is the local file), or writes them to the
 * global file (`file` is the global file). */
static sago_status move_part(sago_file *file, const sagoi_origin *call, int64_t done, const merge_buffer *buffer,
                             sagoi_direction direction, sago_status status) {
    sagoi_composed composed;
    int64_t moved = 0;
    sagoi_composed_init(&composed, direction, &file->budget);
    composed.request.nonblocking = buffer->nonblocking;
    composed.flush = true;
    if (!status)
        status = compose_part(&composed, call, done, buffer);
    status = sagoi_engine_run(file, &composed, status, &moved);
    if (!status && moved != composed.bytes)
        status = sagoi_fail(SAGO_ERR_IO, "the file in local storage has become shorter");
    sagoi_composed_cleanup(&composed);
    return status;
}

static sago_status merge_call(sago_file *file, const sagoi_origin *call, const merge_buffer *buffer) {
    sagoi_agreement most = {.max[0] = call_bytes(call)};
    sago_status status = sagoi_agree(file->team, &most, NULL, NULL, NULL);
    for (int64_t done = 0; !status && done < most.max[0]; done += buffer->bytes) {
        sago_status loaded = move_part(file->tier->local, call, done, buffer, SAGOI_FROM_FILE, SAGO_OK);
        status = move_part(file, call, done, buffer, SAGOI_TO_FILE, loaded);
    }
    return status;
}

/* The first call from `at` on that was not drained; NULL: there is no such call before the end. */
static logged *next_to_merge(logged **at, const merge_buffer *buffer) {
    while (at != buffer->end && (*at)->drained)
        at = &(*at)->next;
    return at == buffer->end ? NULL : *at;
}

/* Merges the calls of all ranks in the order of their keys.  An independent call is one rank's, so the ranks agree
 * on which key comes next. */
static sago_status merge_in_order(sago_file *file, const merge_buffer *buffer) {
    static const sagoi_origin nothing = {0};
    logged *entry = next_to_merge(&file->tier->first, buffer);
    for (;;) {
        int64_t key = entry ? entry->key : INT64_MAX;
        sagoi_agreement least = {.max[0] = -key};
        sago_status status = sagoi_agree(file->team, &least, NULL, NULL, NULL);
        if (status || least.max[0] == -INT64_MAX)
            return status;
        bool mine = key == -least.max[0];
        status = merge_call(file, mine ? &entry->call : &nothing, buffer);
        if (status)
            return status;
        entry = mine ? next_to_merge(&entry->next, buffer) : entry;
    }
}

/* Collective.  Gives the space of the local files back.  All calls were merged before, and this rank makes no
 * other call meanwhile. */
static sago_status empty_local(sago_file *file) {
    sago_file *local = file->tier->local;
    sago_status status = local->team->rank == 0 ? sagoi_store_resize(local->store, 0) : SAGO_OK;
    local->written_end = local->known_end = 0;
    sagoi_mapping_cleanup(&local->mapping, &local->budget);
    status = sagoi_agree_status(file->team, status);
    file->tier->spent = status != SAGO_OK;
    return status;
}

static sago_status merge_calls(sago_file *file, bool nonblocking, logged **end) {
    tier *t = file->tier;
    merge_buffer buffer = {.bytes = t->chunk, .end = end, .nonblocking = nonblocking};
    int64_t extents = 1;
    for (logged *entry = t->first; entry; entry = entry->next)
        extents = sagoi_max(extents, entry->call.n);
    buffer.data = sagoi_budget_alloc(&file->budget, buffer.bytes);
    buffer.part = sagoi_budget_alloc(&file->budget, extents * (int64_t)sizeof *buffer.part);
    bool ok = buffer.data && buffer.part;
    sago_status status = ok ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to merge");
    status = sagoi_engine_agree(file, status, SAGOI_MEETING_TIER, 1);
    if (!status)
        status = merge_in_order(file, &buffer);
    sagoi_budget_free(&file->budget, buffer.data);
    sagoi_budget_free(&file->budget, buffer.part);
    return status;
}

/* Collective.  *any: some rank has written bytes that are not in the global file yet.  All ranks know of
 * collective calls; only independent calls have to be asked for. */
static sago_status ask_holds(sago_file *file, bool *any) {
    *any = file->tier && file->tier->calls > 0;
    if (!file->tier || *any)
        return SAGO_OK;
    return sagoi_engine_agree_any(file, SAGO_OK, SAGOI_MEETING_TIER_HOLDS, file->tier->own > 0, any);
}

/* Merges what is in the log now.  While a nonblocking call merges, the rank may write and read by independent
 * calls whenever the merge waits for other ranks; the log appends such writes behind the calls that are merged
 * now. */
static sago_status merge(sago_file *file, bool nonblocking) {
    sagoi_tier_end_drains(file, true);
    logged **end = file->tier->last;
    sago_status status = sagoi_tier_begin_merge(file);
    if (!status)
        status = merge_calls(file, nonblocking, end);
    if (!status)
        status = sagoi_tier_end_merge(file);
    if (status)
        return status;
    forget_calls(file, end);
    file->tier->spent = true;
    file->stats.local_merges++;
    return SAGO_OK;
}

/* A nonblocking call leaves the local file as it is, since independent calls may be using it. */
sago_status sagoi_tier_merge(sago_file *file, bool nonblocking) {
    bool any = false;
    sago_status status = ask_holds(file, &any);
    if (!status && any)
        status = merge(file, nonblocking);
    if (!status && !nonblocking && file->tier && file->tier->spent)
        status = empty_local(file);
    if (status)
        sagoi_message_prefix("moving local data to the global file: ");
    return status;
}

/* ---- The stage ---- */

static sago_status serve_own(sago_file *file, sagoi_composed *composed, int64_t *bytes) {
    return composed->request.direction == SAGOI_TO_FILE ? write_own(file, composed, bytes)
                                                        : sagoi_tier_read_alone(file, composed, bytes);
}

static sago_status drain(sago_file *file, sago_flush reason, bool nonblocking) {
    (void)reason; /* The reason matters to deferred writes only. */
    return sagoi_tier_merge(file, nonblocking);
}

static const sagoi_stage stage = {.write = write_all, .drain = drain, .own = serve_own};

/* ---- Opening ---- */

/* Takes the next directory off a list "a:b:c"; false: the list has ended. */
static bool next_dir(const char **list, char dir[SAGOI_CKPT_PATH]) {
    size_t length = strcspn(*list, ":");
    if (!**list)
        return false;
    (void)snprintf(dir, SAGOI_CKPT_PATH, "%.*s", (int)sagoi_min((int64_t)length, SAGOI_CKPT_PATH - 1), *list);
    *list += length + ((*list)[length] == ':');
    return true;
}

/* Finds the first directory of the hint that all ranks can use. */
static sago_status find_storage(sago_file *file, char dir[SAGOI_CKPT_PATH], int *first) {
    const char *list = file->hints.local_dirs[0] ? file->hints.local_dirs : file->network->found.local_dirs;
    sago_storage_stats stats;
    sago_status status = SAGO_ERR_HINT;
    if (!*list || strcmp(list, "none") == 0)
        return sagoi_fail(SAGO_ERR_HINT, "sago_tier=local needs directories in sago_local_dirs");
    while (status && next_dir(&list, dir))
        if (*dir)
            status = sagoi_storage_discover(file->team, dir, SAGO_STORAGE_AUTO, first, &stats);
    if (status)
        sagoi_message_prefix("none of the sago_local_dirs can be used: ");
    return status;
}

/* Finds the ranks that share the directory, and merges or drops what an earlier job has left there. */
static sago_status find_neighbours(sago_file *file) {
    sagoi_tier_place *place = &file->tier->place;
    sago_status status = find_storage(file, place->dir, &place->first);
    if (status)
        return status;
    place->head = place->first == file->team->rank;
    if (!SAGOI_DONE(MPI_Comm_split(file->team->own, place->first, file->team->rank, &place->near)))
        status = sagoi_fail(SAGO_ERR_MPI, "splitting by storage failed");
    status = sagoi_agree_status(file->team, status);
    if (!status)
        status = sagoi_tier_take_found(file, place);
    if (!status && place->head)
        sagoi_tier_clear_leftovers(place->dir);
    return status;
}

static sago_status open_local(sago_file *file, sagoi_open_fn *open_file) {
    tier *t = file->tier;
    char name[SAGOI_TIER_NAME], path[SAGOI_CKPT_PATH];
    uint64_t random[2];
    sagoi_hints hints = file->hints;
    hints.tier = SAGOI_TIER_GLOBAL;
    hints.striping_unit = hints.striping_factor = 0;
    hints.subfiles[0] = '\0';
    sago_status status = sagoi_storage_draw(file->team, SAGO_OK, random);
    if (status)
        return status;
    t->persisted.id = (sagoi_id){random[0], random[1]};
    sagoi_tier_name(name, t->persisted.id, t->place.first);
    if (!sagoi_path_join(path, t->place.dir, name))
        return sagoi_fail(SAGO_ERR_HINT, "the path %.200s is too long", t->place.dir);
    status =
        open_file(t->place.near, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE,
                  &hints, &t->local);
    if (!status) {
        t->local->team->within = file->team;
        sagoi_leftovers_lock(t->local->store);
    }
    return sagoi_agree_status(file->team, status);
}

static sago_status open_tier(sago_file *file, sagoi_open_fn *open_file) {
    file->tier = calloc(1, sizeof *file->tier);
    sago_status status = file->tier ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the local tier");
    if (file->tier)
        file->tier->place.near = MPI_COMM_NULL;
    status = sagoi_agree_status(file->team, status);
    if (status)
        return status;
    file->tier->last = &file->tier->first;
    file->tier->chunk = file->hints.window > 0 ? file->hints.window : SAGOI_TIER_CHUNK;
    status = find_neighbours(file);
    if (!status)
        status = open_local(file, open_file);
    if (!status) {
        file->stage = &stage;
        file->common.tier = true;
    }
    return status;
}

sago_status sagoi_tier_open(sago_file *file, sagoi_open_fn *open_file) {
    if (file->hints.tier != SAGOI_TIER_LOCAL)
        return SAGO_OK;
    sago_status status = sagoi_team_need_own(file->team);
    if (status)
        return status;
    if (file->amode & MPI_MODE_RDONLY)
        return sagoi_tier_take_found_for_reading(file, open_file);
    status = open_tier(file, open_file);
    if (status) {
        char why[SAGOI_MESSAGE_MAX];
        sagoi_message_keep(why);
        (void)sagoi_tier_close(file);
        sagoi_message_set(why);
    }
    return status;
}

sago_status sagoi_tier_close(sago_file *file) {
    tier *t = file->tier;
    if (!t)
        return SAGO_OK;
    sagoi_tier_end_drains(file, false);
    if (t->local && t->persisted.claimed) /* data that could not be merged stays, for a later job to find */
        t->local->amode &= ~MPI_MODE_DELETE_ON_CLOSE;
    else
        sagoi_tier_remove_part(t);
    sago_status status = t->local ? sago_close(&t->local) : SAGO_OK;
    sagoi_free_comm(file->team, &t->place.near);
    sagoi_tier_destroy(file);
    return status;
}
