#include "ckpt/drain.h"

#include <stdlib.h>
#include <time.h>

#include "base/checked.h"
#include "ckpt/clock.h"

/* Sleeps until `bytes` are no more than the rate allows since `begin`, in short naps, so that other work can come
 * between. */
static sago_status keep_rate(const sagoi_drain_plan *plan, double begin, int64_t bytes) {
    sago_status status = plan->pause ? plan->pause(plan->pause_arg) : SAGO_OK;
    while (plan->rate > 0 && !status) {
        double early = (double)bytes / (double)plan->rate - (sagoi_ckpt_now() - begin);
        if (early <= 0)
            break;
        double nap = early < 0.02 ? early : 0.02;
        struct timespec time = {0, (long)(nap * 1e9)};
        (void)nanosleep(&time, NULL);
        status = plan->pause ? plan->pause(plan->pause_arg) : SAGO_OK;
    }
    return status;
}

static sago_status copy_pieces(const sagoi_drain_plan *plan, sagoi_commit *commit, sagoi_cfile *data) {
    const sagoi_part *part = commit->plan.part;
    char *piece = malloc((size_t)part->piece);
    double begin = sagoi_ckpt_now();
    sago_status status = piece ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to drain a checkpoint");
    for (int64_t off = 0; off < part->bytes && !status; off += part->piece) {
        int64_t len = sagoi_min(part->piece, part->bytes - off), got = 0;
        status = sagoi_cfile_read(data, piece, len, off, &got);
        if (!status && got < len)
            status = sagoi_fail(SAGO_ERR_IO, "%s is shorter than its part says", data->path);
        if (!status && sagoi_piece_sum(piece, len) != part->sums[off / part->piece])
            status = sagoi_fail(SAGO_ERR_IO, "piece %lld of writer %lld of step %lld is damaged: it is not copied",
                                (long long)(off / part->piece), (long long)part->writer, (long long)part->step);
        if (!status)
            status = sagoi_commit_write(commit, piece, len, off);
        if (!status)
            status = keep_rate(plan, begin, off + len);
    }
    free(piece);
    return status;
}

static sago_status load_part(const sagoi_drain_plan *plan, sagoi_part *part) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH], *bytes = NULL;
    int64_t len = 0;
    sagoi_part_name(name, plan->writer);
    sago_status status = sagoi_save_path(path, plan->from, plan->step, plan->id, name);
    if (!status)
        status = sagoi_cfile_load(path, SAGOI_RECORD_MOST, &bytes, &len);
    if (!status)
        status = sagoi_part_decode(bytes, len, part);
    free(bytes);
    return status;
}

static sago_status drain_data(const sagoi_drain_plan *plan, const sagoi_part *part, sagoi_cfile *data) {
    sagoi_commit commit;
    sagoi_commit_plan to = {.dir = plan->to,
                            .global = true,
                            .intent = plan->intent,
                            .intent_len = plan->intent_len,
                            .part = part,
                            .place = plan->place,
                            .fence = plan->fence};
    sago_status status = sagoi_commit_begin(&commit, &to);
    if (!status)
        status = copy_pieces(plan, &commit, data);
    if (!status)
        status = sagoi_commit_end(&commit);
    if (status)
        sagoi_commit_abandon(&commit);
    return status;
}

sago_status sagoi_drain_part(const sagoi_drain_plan *plan) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    sagoi_part part = {0};
    sagoi_cfile data = {.fd = -1};
    sago_status status = load_part(plan, &part);
    sagoi_local_data_name(name, plan->writer);
    if (!status)
        status = sagoi_save_path(path, plan->from, plan->step, plan->id, name);
    if (!status)
        status = sagoi_cfile_open(path, SAGOI_CFILE_READ, &data);
    if (!status)
        status = drain_data(plan, &part, &data);
    (void)sagoi_cfile_close(&data);
    sagoi_part_cleanup(&part);
    return status;
}
