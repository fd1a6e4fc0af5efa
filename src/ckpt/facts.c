/* The catalog of the whole job: rank 0 reads the directory, and one rank of each storage device reads that
 * device. */
#include <stdlib.h>

#include "ckpt/state.h"
#include "move/calls.h"
#include "move/collect.h"

/* Gathers the bytes of all ranks, one after another, on all ranks. */
static sago_status exchange(sagoi_team *team, const sagoi_wire_out *mine, char **all, int64_t *total) {
    int size = (int)mine->len;
    int *sizes = calloc((size_t)team->size, sizeof *sizes), *places = calloc((size_t)team->size, sizeof *places);
    sago_status status =
        sizes && places ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of ranks");
    status = sagoi_agree_status(team, status);
    if (!status)
        status = sagoi_allgather(team, team->own, &size, sizeof size, sizes);
    *total = 0;
    for (int i = 0; !status && i < team->size; i++) {
        places[i] = (int)*total;
        *total += sizes[i];
    }
    if (!status && *total > INT32_MAX)
        status = sagoi_fail(SAGO_ERR_MEMORY, "the list of checkpoints is too long");
    *all = status ? NULL : malloc((size_t)*total + 1);
    if (!status && !*all)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of checkpoints");
    status = sagoi_agree_status(team, status);
    sagoi_parts parts = {*all, sizes, places};
    if (!status)
        status = sagoi_allgather_parts(team, team->own, mine->bytes, size, &parts);
    sagoi_free_received(team, sizes);
    sagoi_free_received(team, places);
    return status;
}

/* Storage that does not answer counts as empty, if that is good enough: *hangs. */
typedef struct silence {
    bool directory, device;
} silence;

static sago_status scan_level(sagoi_catalog *found, const char *dir, const sagoi_item *where, bool *hangs) {
    int64_t before = found->n;
    sago_status status = sagoi_catalog_scan(found, dir, (sago_level)where->level, where->holder, where->step);
    if (status != SAGO_ERR_TIMEOUT || !hangs)
        return status;
    *hangs = true;
    sagoi_catalog_cut(found, before);
    return SAGO_OK;
}

static sago_status look_through(sago_ckpt *ckpt, int64_t step, sagoi_catalog *found, silence *hangs) {
    sagoi_item directory = {.level = SAGO_LEVEL_GLOBAL, .step = step};
    sagoi_item local = {.level = SAGO_LEVEL_LOCAL, .holder = ckpt->holder, .step = step};
    sago_status status = SAGO_OK;
    if (ckpt->team->rank == 0)
        status = scan_level(found, ckpt->dir, &directory, hangs ? &hangs->directory : NULL);
    if (!status && ckpt->local[0] && ckpt->holder == ckpt->team->rank)
        status = scan_level(found, ckpt->local, &local, hangs ? &hangs->device : NULL);
    if (!status)
        sagoi_message_clear();
    return status;
}

static sago_status merge(const char *all, int64_t total, sagoi_overview *overview) {
    sagoi_wire_in in = {all, all + total, false};
    sago_status status = SAGO_OK;
    while (in.at < in.end && !status)
        status = sagoi_catalog_decode(&overview->catalog, &in);
    return status ? status : sagoi_catalog_views(&overview->catalog, &overview->views, &overview->n);
}

/* `hangs`: the storage that this rank has read and that does not answer; NULL: it answers. */
static sago_status make(sago_ckpt *ckpt, int64_t step, sagoi_overview *overview, silence *hangs) {
    sagoi_catalog mine = {0};
    sagoi_wire_out out = {0};
    char *all = NULL;
    int64_t total = 0;
    *overview = (sagoi_overview){0};
    sago_status status = look_through(ckpt, step, &mine, hangs);
    if (!status && mine.n > 0)
        sagoi_catalog_encode(&mine, &out);
    if (!status && (out.failed || out.len > INT32_MAX))
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of checkpoints, or it is too long");
    sagoi_catalog_cleanup(&mine);
    status = sagoi_agree_status(ckpt->team, status);
    if (!status)
        status = exchange(ckpt->team, &out, &all, &total);
    if (!status)
        status = merge(all, total, overview);
    status = sagoi_agree_status(ckpt->team, status);
    free(out.bytes);
    free(all);
    if (status)
        sagoi_overview_cleanup(overview);
    return status;
}

sago_status sagoi_overview_make(sago_ckpt *ckpt, int64_t step, sagoi_overview *overview) {
    return make(ckpt, step, overview, NULL);
}

sago_status sagoi_overview_of_reachable(sago_ckpt *ckpt, int64_t step, sagoi_overview *overview) {
    silence hangs = {false, false};
    sago_status status = make(ckpt, step, overview, &hangs);
    if (status)
        return status;
    sagoi_agreement agreed = {.sum = {hangs.directory, hangs.device}};
    status = sagoi_agree(ckpt->team, &agreed, NULL, NULL, NULL);
    overview->without_directory = agreed.sum[0] > 0;
    overview->without_devices = (int64_t)agreed.sum[1];
    overview->partial = overview->without_directory || overview->without_devices > 0;
    if (status)
        sagoi_overview_cleanup(overview);
    return status;
}

const sagoi_save_view *sagoi_overview_save(const sagoi_overview *overview, int64_t step) {
    const sagoi_save_view *found = sagoi_views_find(overview->views, overview->n, step);
    for (int64_t i = overview->n - 1; !found && i >= 0; i--)
        if (overview->views[i].step == step && overview->views[i].intent_item &&
            !sagoi_view_aside(&overview->views[i]))
            found = &overview->views[i];
    return found;
}

const sagoi_save_view *sagoi_overview_of_id(const sagoi_overview *overview, int64_t step, uint64_t id_low) {
    const sagoi_save_view *found = NULL;
    if (id_low == SAGOI_NEWEST_SAVE)
        return sagoi_overview_save(overview, step);
    for (int64_t i = 0; i < overview->n; i++)
        if (overview->views[i].step == step && overview->views[i].id_low == id_low)
            found = &overview->views[i];
    if (!found || !found->intent_item)
        return NULL;
    bool on_nodes = found->complete[SAGO_LEVEL_LOCAL] || found->complete[SAGO_LEVEL_REDUNDANT];
    return on_nodes || !sagoi_view_aside(found) ? found : NULL;
}

void sagoi_overview_tell(sago_ckpt *ckpt, const sagoi_overview *overview) {
    if (overview->without_directory)
        sagoi_report_add(&ckpt->report, "passed over: the directory does not answer\n");
    if (overview->without_devices > 0)
        sagoi_report_add(&ckpt->report, "passed over: local storage does not answer, %lld of %lld devices\n",
                         (long long)overview->without_devices, (long long)ckpt->domains);
}

void sagoi_overview_cleanup(sagoi_overview *overview) {
    sagoi_views_free(overview->views, overview->n);
    sagoi_catalog_cleanup(&overview->catalog);
    *overview = (sagoi_overview){0};
}
