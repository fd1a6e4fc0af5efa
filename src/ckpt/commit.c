#include "ckpt/commit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

static void data_path(const sagoi_commit *commit, char path[SAGOI_CKPT_PATH]) {
    char name[SAGOI_CKPT_FILE_NAME];
    if (commit->plan.global)
        sagoi_global_data_name(name, commit->plan.place->file);
    else
        sagoi_local_data_name(name, commit->plan.part->writer);
    (void)sagoi_path_join(path, commit->folder, name);
}

/* The folder's own name is made durable by everybody, not only by who happened to make it. */
static sago_status make_folder(sagoi_commit *commit) {
    char name[SAGOI_CKPT_FILE_NAME];
    sagoi_save_folder(name, commit->plan.part->step, commit->plan.part->id);
    if (!sagoi_path_join(commit->folder, commit->plan.dir, name) ||
        strlen(commit->folder) + 2 * SAGOI_CKPT_FILE_NAME > SAGOI_CKPT_PATH)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", commit->plan.dir);
    sago_status status = sagoi_cdir_make(commit->folder);
    return status ? status : sagoi_cdir_sync(commit->plan.dir);
}

sago_status sagoi_commit_begin(sagoi_commit *commit, const sagoi_commit_plan *plan) {
    *commit = (sagoi_commit){.plan = *plan, .data = {.fd = -1}, .base = plan->global ? plan->place->base : 0};
    int64_t nsums = sagoi_div_up(plan->part->bytes, plan->part->piece);
    commit->sums = calloc((size_t)nsums + 1, sizeof *commit->sums);
    if (!commit->sums)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld checksums", (long long)nsums);
    sago_status status = make_folder(commit);
    if (!status && plan->intent)
        status = sagoi_cfile_publish(commit->folder, SAGOI_INTENT_NAME, plan->intent, plan->intent_len);
    char path[SAGOI_CKPT_PATH];
    data_path(commit, path);
    if (!status)
        status = sagoi_cfile_open(path, SAGOI_CFILE_OVERWRITE, &commit->data);
    return status;
}

sago_status sagoi_commit_write(sagoi_commit *commit, const char *data, int64_t len, int64_t off) {
    int64_t piece = commit->plan.part->piece;
    sago_status status = sagoi_cfile_write(&commit->data, data, len, commit->base + off);
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

static sago_status publish_part(const sagoi_commit *commit) {
    sagoi_wire_out record = {0};
    char name[SAGOI_CKPT_FILE_NAME];
    sagoi_part part = *commit->plan.part;
    part.nsums = sagoi_div_up(part.bytes, part.piece);
    part.sums = commit->sums;
    sagoi_part_encode(&part, &record);
    sagoi_part_name(name, part.writer);
    sago_status status = record.failed ? sagoi_fail(SAGO_ERR_MEMORY, "no memory for a part record")
                                       : sagoi_cfile_publish(commit->folder, name, record.bytes, record.len);
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
    if (!status) {
        free(commit->sums);
        commit->sums = NULL;
    }
    return status;
}

void sagoi_commit_abandon(sagoi_commit *commit) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH], why[SAGOI_MESSAGE_MAX];
    (void)snprintf(why, sizeof why, "%s", sagoi_message());
    (void)sagoi_cfile_close(&commit->data);
    free(commit->sums);
    commit->sums = NULL;
    if (!commit->folder[0])
        return; /* it was not begun */
    sagoi_part_name(name, commit->plan.part->writer);
    if (sagoi_path_join(path, commit->folder, name))
        sagoi_path_discard(path);
    data_path(commit, path);
    if (!commit->plan.global) /* others may be writing to a global one */
        sagoi_path_discard(path);
    sagoi_message_set(why); /* the reason for it all, not what cleaning up met */
}

static sago_status remove_name(void *arg, const char *name) {
    char path[SAGOI_CKPT_PATH];
    if (!sagoi_path_join(path, arg, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", name);
    return sagoi_path_remove(path);
}

sago_status sagoi_save_remove(const char *dir, const char *folder) {
    char path[SAGOI_CKPT_PATH], intent[SAGOI_CKPT_PATH];
    if (!sagoi_path_join(path, dir, folder) || !sagoi_path_join(intent, path, SAGOI_INTENT_NAME))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", folder);
    sago_status status = sagoi_path_remove(intent); /* first: what is half removed is no checkpoint */
    if (!status)
        status = sagoi_cdir_list(path, remove_name, path);
    if (!status)
        status = sagoi_cdir_remove(path);
    return status == SAGO_ERR_NO_FILE ? SAGO_OK : status;
}
