#include "ckpt/commit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

#define SYNC_AFTER (INT64_C(4) << 30) /* bytes */

static sago_status folder_of(const sagoi_commit_plan *plan, char folder[SAGOI_CKPT_PATH]) {
    char name[SAGOI_CKPT_FILE_NAME];
    sagoi_save_folder(name, plan->part->step, plan->part->id);
    if (!sagoi_path_join(folder, plan->dir, name) || strlen(folder) + 2 * SAGOI_CKPT_FILE_NAME > SAGOI_CKPT_PATH)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", plan->dir);
    return SAGO_OK;
}

sago_status sagoi_commit_data_path(const sagoi_commit_plan *plan, char path[SAGOI_CKPT_PATH]) {
    char name[SAGOI_CKPT_FILE_NAME], folder[SAGOI_CKPT_PATH];
    if (plan->global)
        sagoi_global_data_name(name, plan->place->file);
    else
        sagoi_local_data_name(name, plan->part->writer);
    sago_status status = folder_of(plan, folder);
    if (!status)
        (void)sagoi_path_join(path, folder, name);
    return status;
}

/* Every writer makes the folder's name durable, not only the one that has made the folder. */
static sago_status make_folder(sagoi_commit *commit) {
    sago_status status = folder_of(&commit->plan, commit->folder);
    if (!status)
        status = sagoi_cdir_make(commit->folder);
    return status ? status : sagoi_cdir_sync(commit->plan.dir);
}

/* The record under this name says that the writer has not ended. */
static sago_status open_record(sagoi_commit *commit) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    sagoi_begun_name(name, commit->plan.part->writer);
    if (!sagoi_path_join(path, commit->folder, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", commit->folder);
    sagoi_fence_discard(commit->plan.fence, commit->plan.part->id.low, path); /* left by an earlier try */
    return sagoi_cfile_open(path, SAGOI_CFILE_CREATE, &commit->record);
}

static sago_status publish_intent(const sagoi_commit *commit) {
    const sagoi_commit_plan *plan = &commit->plan;
    sagoi_wire_out record = {.len = plan->intent_len};
    record.bytes = (char *)(uintptr_t)plan->intent; /* the intent is only read */
    return sagoi_fence_publish(plan->fence, plan->part->id.low, commit->folder, SAGOI_INTENT_NAME, &record);
}

sago_status sagoi_commit_begin(sagoi_commit *commit, const sagoi_commit_plan *plan) {
    *commit = (sagoi_commit){.plan = *plan, .data = {.fd = -1}, .record = {.fd = -1}};
    commit->base = plan->global ? plan->place->base : 0;
    int64_t nsums = sagoi_div_up(plan->part->bytes, plan->part->piece);
    commit->sums = calloc((size_t)nsums + 1, sizeof *commit->sums);
    if (!commit->sums)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld checksums", (long long)nsums);
    sago_status status = make_folder(commit);
    if (!status)
        status = open_record(commit);
    if (!status && plan->intent)
        status = publish_intent(commit);
    char path[SAGOI_CKPT_PATH];
    if (!status)
        status = sagoi_commit_data_path(plan, path);
    return status ? status : sagoi_cfile_open(path, SAGOI_CFILE_OVERWRITE, &commit->data);
}

/* A sync has a time limit, so it must not be given too much to do. */
static sago_status sync_now_and_then(sagoi_commit *commit, int64_t len) {
    commit->unsynced += len;
    if (commit->unsynced < SYNC_AFTER)
        return SAGO_OK;
    commit->unsynced = 0;
    return sagoi_cfile_sync(&commit->data);
}

sago_status sagoi_commit_write(sagoi_commit *commit, const char *data, int64_t len, int64_t off) {
    int64_t piece = commit->plan.part->piece;
    sago_status status = commit->plan.lent ? sagoi_cfile_write_lent(&commit->data, data, len, commit->base + off)
                                           : sagoi_cfile_write(&commit->data, data, len, commit->base + off);
    if (!status)
        status = sync_now_and_then(commit, len);
    for (int64_t done = 0; done < len && !status; done += piece)
        commit->sums[(off + done) / piece] = sagoi_piece_sum(data + done, sagoi_min(piece, len - done));
    return status;
}

/* A copy of a part must be what the part says. */
static sago_status compare_sums(const sagoi_commit *commit) {
    const sagoi_part *part = commit->plan.part;
    for (int64_t i = 0; part->sums && i < part->nsums; i++)
        if (part->sums[i] != commit->sums[i])
            return sagoi_fail(SAGO_ERR_IO, "piece %lld of writer %lld is damaged: it is not copied", (long long)i,
                              (long long)part->writer);
    return SAGO_OK;
}

static sago_status publish_part(sagoi_commit *commit) {
    sagoi_wire_out record = {0};
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    sagoi_part part = *commit->plan.part;
    part.nsums = sagoi_div_up(part.bytes, part.piece);
    part.sums = commit->sums;
    sagoi_part_encode(&part, &record);
    sagoi_part_name(name, part.writer);
    sago_status status = SAGO_OK;
    if (record.failed || !sagoi_path_join(path, commit->folder, name))
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for a part record, or it is too long");
    if (!status)
        status = sagoi_cfile_write(&commit->record, record.bytes, record.len, 0);
    if (!status)
        status = sagoi_cfile_sync(&commit->record);
    sago_status closed = sagoi_cfile_close(&commit->record);
    if (!status)
        status = closed;
    if (!status)
        status = sagoi_fence_check_adding(commit->plan.fence, part.id.low);
    if (!status) {
        commit->published = true;
        status = sagoi_path_rename(commit->record.path, path);
    }
    free(record.bytes);
    return status;
}

sago_status sagoi_commit_end(sagoi_commit *commit) {
    sago_status status = compare_sums(commit);
    if (!status)
        status = sagoi_cfile_sync(&commit->data);
    sago_status closed = sagoi_cfile_close(&commit->data);
    if (!status)
        status = closed;
    if (!status)
        status = publish_part(commit);
    if (!status)
        status = sagoi_cdir_sync(commit->folder);
    /* The look before the rename may be long ago, and another owner may have gone through the folder since.  An
     * owner that comes after this look finds the part. */
    if (!status)
        status = sagoi_fence_check_adding(commit->plan.fence, commit->plan.part->id.low);
    if (!status) {
        free(commit->sums);
        commit->sums = NULL;
    }
    return status;
}

void sagoi_commit_abandon(sagoi_commit *commit) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH], why[SAGOI_MESSAGE_MAX];
    const sagoi_fence *fence = commit->plan.fence;
    uint64_t id_low = commit->plan.part->id.low;
    sagoi_message_keep(why);
    (void)sagoi_cfile_close(&commit->data);
    (void)sagoi_cfile_close(&commit->record);
    free(commit->sums);
    commit->sums = NULL;
    if (!commit->folder[0])
        return; /* the commit was not begun */
    sagoi_part_name(name, commit->plan.part->writer);
    if (commit->published && sagoi_path_join(path, commit->folder, name) &&
        sagoi_fence_rename(fence, id_low, path, commit->record.path)) /* the part may not be durable */
        sagoi_fence_discard(fence, id_low, path);
    if (!commit->plan.global &&
        !sagoi_commit_data_path(&commit->plan, path)) /* other writers may be writing to a global file */
        sagoi_fence_discard(fence, id_low, path);
    sagoi_message_set(why); /* the first failure matters, not those of cleaning up */
}

/* ---- The folder of a save ---- */

static sago_status too_long(const char *dir) {
    return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", dir);
}

static sago_status fine_if_missing(sago_status status) {
    if (status != SAGO_ERR_NO_FILE)
        return status;
    sagoi_message_clear();
    return SAGO_OK;
}

static bool folder_path(const sagoi_save_name *save, sagoi_folder_kind kind, char path[SAGOI_CKPT_PATH]) {
    char name[SAGOI_CKPT_FILE_NAME];
    sagoi_save_folder_as(name, kind, save->step, save->id_low);
    return sagoi_path_join(path, save->dir, name);
}

sago_status sagoi_save_rename(const sagoi_save_name *save, sagoi_folder_kind from, sagoi_folder_kind to) {
    char old[SAGOI_CKPT_PATH], new[SAGOI_CKPT_PATH];
    if (!folder_path(save, from, old) || !folder_path(save, to, new))
        return too_long(save->dir);
    sago_status status = sagoi_fence_rename(save->fence, save->id_low, old, new);
    return status ? status : sagoi_cdir_sync(save->dir);
}

sago_status sagoi_save_note(const sagoi_save_name *save, const char *name) {
    char folder[SAGOI_CKPT_PATH], path[SAGOI_CKPT_PATH];
    sagoi_cfile note = {.fd = -1};
    if (!folder_path(save, SAGOI_FOLDER_STEP, folder) || !sagoi_path_join(path, folder, name))
        return too_long(save->dir);
    sago_status status = sagoi_fence_check_adding(save->fence, save->id_low);
    if (!status)
        status = sagoi_cfile_open(path, SAGOI_CFILE_OVERWRITE, &note);
    if (!status)
        status = sagoi_cfile_close(&note);
    if (!status)
        status = sagoi_cdir_sync(folder);
    return fine_if_missing(status);
}

static sago_status remove_name(void *arg, const char *name) {
    char path[SAGOI_CKPT_PATH];
    return sagoi_path_join(path, arg, name) ? sagoi_path_remove(path) : too_long(arg);
}

/* Removes everything in a folder; fine if there is none.  A symbolic link in its place is removed itself, since
 * what it leads to may be the user's. */
static sago_status empty_folder(char *path) {
    struct stat info;
    sago_status status = sagoi_path_look(path, &info);
    if (!status)
        status = S_ISDIR(info.st_mode) ? sagoi_cdir_list(path, remove_name, path) : sagoi_path_remove(path);
    if (status == SAGO_ERR_NO_FILE)
        sagoi_message_clear();
    return status == SAGO_ERR_NO_FILE ? SAGO_OK : status;
}

sago_status sagoi_save_remove(const sagoi_save_name *save, sagoi_folder_kind kind, bool leave_trace) {
    char path[SAGOI_CKPT_PATH];
    if (!folder_path(save, SAGOI_FOLDER_REMOVED, path))
        return too_long(save->dir);
    sago_status status = sagoi_fence_check(save->fence, save->id_low);
    if (!status)
        status = empty_folder(path); /* left by a removal that was interrupted; a rename needs the folder empty */
    if (!status && kind != SAGOI_FOLDER_REMOVED)
        status = sagoi_save_rename(save, kind, SAGOI_FOLDER_REMOVED);
    status = fine_if_missing(status);
    if (!status)
        status = empty_folder(path);
    return status || leave_trace ? status : sagoi_cdir_remove(path);
}

sago_status sagoi_save_tidy(const sagoi_save_name *save, sagoi_folder_kind kind) {
    if (save->fence && sagoi_id_generation(save->id_low) > save->fence->generation)
        return SAGO_OK; /* a strange name, or a later owner's, who has replaced this one */
    sago_status status = sagoi_save_remove(save, kind, false);
    if (status == SAGO_ERR_BUSY || status == SAGO_ERR_TIMEOUT || status == SAGO_ERR_MEMORY)
        return status;
    if (status)
        sagoi_message_clear();
    return SAGO_OK;
}

typedef struct trace_sweep {
    const sagoi_fence *fence;
    const char *dir;
    const sagoi_save_name *but;
} trace_sweep;

static sago_status sweep_trace(void *arg, const char *name) {
    const trace_sweep *at = arg;
    sagoi_save_name save = {.dir = at->dir, .fence = at->fence};
    sagoi_folder_kind kind;
    if (!sagoi_save_folder_parse(name, &kind, &save.step, &save.id_low) || kind != SAGOI_FOLDER_REMOVED)
        return SAGO_OK;
    if (at->but && at->but->step == save.step && at->but->id_low == save.id_low)
        return SAGO_OK;
    return sagoi_save_tidy(&save, SAGOI_FOLDER_REMOVED);
}

sago_status sagoi_traces_remove(const sagoi_fence *fence, const char *dir, const sagoi_save_name *but) {
    trace_sweep at = {fence, dir, but};
    return sagoi_cdir_list(dir, sweep_trace, &at);
}
