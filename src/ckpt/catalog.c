/* Reading directories, and judging what was found.  A save counts as complete only by the rules of the format:
 * there must be its intent and the parts of all writers; at the redundant level, as many parts may be missing as
 * parity can bring back. */
#include "ckpt/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"
#include "ckpt/generation.h"

void sagoi_catalog_cut(sagoi_catalog *catalog, int64_t n) {
    while (catalog->n > n)
        free(catalog->items[--catalog->n].bytes);
}

void sagoi_catalog_cleanup(sagoi_catalog *catalog) {
    sagoi_catalog_cut(catalog, 0);
    free(catalog->items);
    *catalog = (sagoi_catalog){0};
}

/* Takes the item's bytes over, even on failure. */
static sago_status add_item(sagoi_catalog *catalog, sagoi_item item) {
    if (!sagoi_grow((void **)&catalog->items, catalog->n, &catalog->capacity, sizeof *catalog->items)) {
        free(item.bytes);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of checkpoints");
    }
    catalog->items[catalog->n++] = item;
    return SAGO_OK;
}

/* ---- Scanning ---- */

/* Scans of a directory that other jobs take over meanwhile, at the most. */
enum { SCANS = 5 };

typedef struct scan {
    sagoi_catalog *catalog;
    const char *dir;
    sago_level level;
    int64_t holder, wanted;
    int64_t first;     /* items that the catalog had before */
    sagoi_found found; /* what counts */
    /* of the folder that is being read */
    char folder[SAGOI_CKPT_PATH];
    int64_t step;
    uint64_t id_low;
    sagoi_intent intent; /* nwriters == 0: none */
    int64_t saw;         /* bits SAGOI_SAW_* */
    int64_t bytes;       /* bytes of the folder's files; only if it is set aside */
    sago_status hung;    /* SAGO_ERR_TIMEOUT: the directory does not answer */
} scan;

static sagoi_item item_of(const scan *at, sagoi_item_kind kind) {
    return (sagoi_item){
        .kind = kind, .level = at->level, .holder = at->holder, .step = at->step, .id_low = at->id_low};
}

static sago_status add_record(scan *at, sagoi_item item, char *bytes, int64_t len, bool keep) {
    if (keep) {
        item.bytes = bytes;
        item.len = len;
    } else {
        free(bytes);
    }
    return add_item(at->catalog, item);
}

/* A file that could not be read may be removed meanwhile; any other failure may be gone the next time. */
static sago_status not_read(scan *at, sago_status status) {
    if (status && status != SAGO_ERR_NO_FILE)
        at->saw |= SAGOI_SAW_UNREADABLE;
    if (status == SAGO_ERR_TIMEOUT)
        at->hung = status;
    return status;
}

static sago_status load(scan *at, const char *name, char **bytes, int64_t *len) {
    char path[SAGOI_CKPT_PATH];
    if (!sagoi_path_join(path, at->folder, name))
        return not_read(at, sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", at->folder));
    return not_read(at, sagoi_cfile_load(path, SAGOI_RECORD_MOST, bytes, len));
}

/* A record that is damaged or cannot be read counts as missing.  An error is only a lack of memory, or a directory
 * that does not answer, which tells nothing of what is there. */
static sago_status pass_over(scan *at, sago_status status) {
    if (status == SAGO_ERR_UNSUPPORTED)
        at->saw |= SAGOI_SAW_UNREADABLE;
    return status == SAGO_ERR_MEMORY ? status : at->hung;
}

/* A file under the name of a record that is no record: it had become durable before it got that name. */
static sago_status not_decoded(scan *at, sago_status status) {
    if (status && status != SAGO_ERR_UNSUPPORTED && status != SAGO_ERR_MEMORY)
        at->saw |= SAGOI_SAW_DAMAGE;
    return status;
}

static sago_status scan_intent(scan *at) {
    char *bytes = NULL;
    int64_t len = 0;
    sago_status status = load(at, SAGOI_INTENT_NAME, &bytes, &len);
    if (!status)
        status = not_decoded(at, sagoi_intent_decode(bytes, len, &at->intent));
    if (status) {
        free(bytes);
        return pass_over(at, status);
    }
    if (at->intent.step == at->step && at->intent.id.low == at->id_low)
        return add_record(at, item_of(at, SAGOI_ITEM_INTENT), bytes, len, true);
    at->saw |= SAGOI_SAW_DAMAGE;
    sagoi_intent_cleanup(&at->intent);
    free(bytes);
    return SAGO_OK;
}

/* A file that is too short was longer when it was synced; a file that is missing may never have got its name. */
static bool long_enough(scan *at, const char *name, int64_t bytes) {
    char path[SAGOI_CKPT_PATH];
    sagoi_cfile file = {.fd = -1};
    int64_t size = -1;
    if (!sagoi_path_join(path, at->folder, name))
        return false;
    sago_status status = not_read(at, sagoi_cfile_open(path, SAGOI_CFILE_READ, &file));
    if (!status)
        status = not_read(at, sagoi_cfile_size(&file, &size));
    (void)sagoi_cfile_close(&file);
    if (!status && size < bytes)
        at->saw |= SAGOI_SAW_DAMAGE;
    return !status && size >= bytes;
}

/* Is the data of the part there?  Where several writers share a file, a writer without data does not make the file
 * any longer. */
static bool data_there(scan *at, const sagoi_part *part) {
    char name[SAGOI_CKPT_FILE_NAME];
    if (at->level != SAGO_LEVEL_GLOBAL) {
        sagoi_local_data_name(name, part->writer);
        return long_enough(at, name, part->bytes);
    }
    if (at->intent.nwriters == 0 || !sagoi_part_fits(part, &at->intent))
        return false;
    const sagoi_writer_desc *place = &at->intent.writers[part->writer];
    sagoi_global_data_name(name, place->file);
    return long_enough(at, name, place->bytes > 0 ? place->base + place->bytes : 0);
}

static sago_status scan_part(scan *at, const char *name, int64_t writer) {
    char *bytes = NULL;
    int64_t len = 0;
    sagoi_part part;
    sago_status status = load(at, name, &bytes, &len);
    if (!status)
        status = not_decoded(at, sagoi_part_decode(bytes, len, &part));
    if (status) {
        free(bytes);
        return pass_over(at, status);
    }
    bool mine = part.writer == writer && part.step == at->step && part.id.low == at->id_low;
    bool good = mine && data_there(at, &part);
    sagoi_part_cleanup(&part);
    at->saw |= mine ? SAGOI_SAW_PART : SAGOI_SAW_DAMAGE;
    if (!good) {
        free(bytes);
        return SAGO_OK;
    }
    sagoi_item item = item_of(at, SAGOI_ITEM_PART);
    item.index = writer;
    return add_record(at, item, bytes, len, at->step == at->wanted);
}

static sago_status scan_parity(scan *at, const char *name, int64_t set, int64_t member) {
    char *bytes = NULL, data[SAGOI_CKPT_FILE_NAME];
    int64_t len = 0;
    sagoi_parity parity;
    sago_status status = load(at, name, &bytes, &len);
    if (!status)
        status = sagoi_parity_decode(bytes, len, &parity);
    if (status) {
        free(bytes);
        return pass_over(at, status);
    }
    sagoi_parity_data_name(data, set, member);
    bool good = parity.set == set && parity.member == member && parity.step == at->step &&
                parity.id.low == at->id_low && long_enough(at, data, parity.chunk * parity.parity);
    sagoi_parity_cleanup(&parity);
    if (!good) {
        free(bytes);
        return SAGO_OK;
    }
    sagoi_item item = item_of(at, SAGOI_ITEM_PARITY);
    item.index = set;
    item.member = member;
    return add_record(at, item, bytes, len, at->step == at->wanted);
}

/* A writer has begun; has it ended? */
static void scan_begun(scan *at, int64_t writer) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    sagoi_cfile part = {.fd = -1};
    sagoi_part_name(name, writer);
    if (!sagoi_path_join(path, at->folder, name))
        return;
    if (not_read(at, sagoi_cfile_open(path, SAGOI_CFILE_READ, &part)) == SAGO_ERR_NO_FILE)
        at->saw |= SAGOI_SAW_INTERRUPTED;
    (void)sagoi_cfile_close(&part);
}

static void count_bytes(scan *at, const char *name) {
    char path[SAGOI_CKPT_PATH];
    struct stat info;
    if (sagoi_path_join(path, at->folder, name) && sagoi_path_stat(path, &info) == SAGO_OK)
        at->bytes += info.st_size;
}

static sago_status scan_file(void *arg, const char *name) {
    scan *at = arg;
    int64_t index, member;
    if (at->saw & (SAGOI_SAW_ASIDE | SAGOI_SAW_COPY))
        count_bytes(at, name);
    if (at->saw & SAGOI_SAW_COPY)
        return SAGO_OK;
    if (sagoi_writer_name_parse(name, sagoi_part_name, &index))
        return scan_part(at, name, index);
    if (sagoi_parity_name_parse(name, &index, &member))
        return scan_parity(at, name, index, member);
    if (sagoi_writer_name_parse(name, sagoi_begun_name, &index))
        scan_begun(at, index);
    if (strcmp(name, SAGOI_MARK_NAME) == 0)
        at->saw |= SAGOI_SAW_MARK;
    if (strcmp(name, SAGOI_BAD_DATA_NAME) == 0)
        at->saw |= SAGOI_SAW_BAD_DATA;
    return SAGO_OK;
}

/* A folder without an intent has never been a checkpoint, or is half removed. */
static sago_status scan_late(scan *at) {
    char path[SAGOI_CKPT_PATH];
    bool there = true;
    sago_status status =
        sagoi_path_join(path, at->folder, SAGOI_INTENT_NAME) ? sagoi_path_there(path, &there) : SAGO_ERR_BAD_FILE;
    at->saw |= status || there ? SAGOI_SAW_LATE : SAGOI_SAW_INTERRUPTED;
    return pass_over(at, status);
}

/* A file, or a link that leads nowhere, is not Sago's, whatever its name is.  Where that cannot be found out, a
 * later call reports the error. */
static bool is_folder(const char *path) {
    struct stat info;
    sago_status status = sagoi_path_look(path, &info);
    if (!status && S_ISLNK(info.st_mode))
        return sagoi_path_stat(path, &info) == SAGO_OK && S_ISDIR(info.st_mode);
    return status ? status != SAGO_ERR_NO_FILE : S_ISDIR(info.st_mode);
}

/* Has somebody put a copy back in the place of a folder that is set aside?  Then files are read there. */
static bool is_copy(const scan *at, sagoi_folder_kind kind) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    sagoi_save_folder_as(name, SAGOI_FOLDER_STEP, at->step, at->id_low);
    return kind == SAGOI_FOLDER_DAMAGED && sagoi_path_join(path, at->dir, name) && is_folder(path);
}

static sago_status scan_contents(scan *at) {
    if (at->saw & SAGOI_SAW_COPY)
        return pass_over(at, not_read(at, sagoi_cdir_list(at->folder, scan_file, at)));
    if (!sagoi_found_counts(&at->found, at->step, at->id_low))
        return scan_late(at);
    sago_status status = scan_intent(at);
    if (!status)
        status = not_read(at, sagoi_cdir_list(at->folder, scan_file, at));
    sagoi_intent_cleanup(&at->intent);
    return pass_over(at, status);
}

static sago_status scan_folder(void *arg, const char *name) {
    scan *at = arg;
    sagoi_folder_kind kind;
    if (!sagoi_save_folder_parse(name, &kind, &at->step, &at->id_low) ||
        !sagoi_path_join(at->folder, at->dir, name) || !is_folder(at->folder))
        return SAGO_OK;
    static const int64_t saw[] = {[SAGOI_FOLDER_STEP] = 0,
                                  [SAGOI_FOLDER_DAMAGED] = SAGOI_SAW_ASIDE,
                                  [SAGOI_FOLDER_REMOVED] = SAGOI_SAW_REMOVED};
    int64_t folder = at->catalog->n;
    at->saw = is_copy(at, kind) ? SAGOI_SAW_COPY : saw[kind];
    at->bytes = 0;
    sago_status status = add_item(at->catalog, item_of(at, SAGOI_ITEM_FOLDER));
    if (!status && kind != SAGOI_FOLDER_REMOVED)
        status = scan_contents(at);
    if (!status) {
        at->catalog->items[folder].index = at->saw;
        at->catalog->items[folder].member = at->bytes;
    }
    return status;
}

/* Scans by the list of what counts, as it is at the beginning; *again: another job has taken over meanwhile. */
static sago_status scan_once(scan *at, bool *again) {
    sagoi_generations before = {0}, after = {0};
    sagoi_catalog_cut(at->catalog, at->first);
    sago_status status = sagoi_generations_look(at->dir, &before);
    if (!status)
        status = sagoi_found_load(at->dir, &at->found);
    if (!status)
        status = sagoi_cdir_list(at->dir, scan_folder, at);
    if (!status)
        status = sagoi_generations_look(at->dir, &after);
    *again = after.found != before.found;
    sagoi_found_cleanup(&at->found);
    return status;
}

sago_status sagoi_catalog_scan(sagoi_catalog *catalog, const char *dir, sago_level level, int64_t holder,
                               int64_t step) {
    scan at = {.catalog = catalog, .dir = dir, .level = level, .holder = holder, .wanted = step};
    sago_status status = SAGO_OK;
    bool again = true;
    at.first = catalog->n;
    for (int i = 0; i < SCANS && again && !status; i++)
        status = scan_once(&at, &again);
    if (status == SAGO_ERR_NO_FILE)
        status = SAGO_OK;
    if (!status && at.hung)
        status = sagoi_fail(at.hung, "%s does not answer", dir);
    return status;
}

/* ---- As a message ---- */

void sagoi_catalog_encode(const sagoi_catalog *catalog, sagoi_wire_out *out) {
    sagoi_out_int(out, catalog->n);
    for (int64_t i = 0; i < catalog->n; i++) {
        const sagoi_item *item = &catalog->items[i];
        const int64_t fields[] = {item->kind,  item->level,  item->holder, item->step, (int64_t)item->id_low,
                                  item->index, item->member, item->len};
        sagoi_out_ints(out, fields, 8);
        sagoi_out_bytes(out, item->bytes, item->len);
    }
}

sago_status sagoi_catalog_decode(sagoi_catalog *catalog, sagoi_wire_in *in) {
    sago_status status = SAGO_OK;
    for (int64_t n = sagoi_in_count(in, 64); n > 0 && !status; n--) {
        int64_t fields[8];
        sagoi_in_ints(in, fields, 8);
        const char *bytes = sagoi_in_bytes(in, fields[7]);
        if (in->failed)
            return sagoi_fail(SAGO_ERR_IO, "a list of checkpoints was cut in transit");
        sagoi_item item = {fields[0], fields[1], fields[2], fields[3], (uint64_t)fields[4],
                           fields[5], fields[6], fields[7], NULL};
        item.bytes = fields[7] > 0 ? malloc((size_t)fields[7]) : NULL;
        if (fields[7] > 0 && !item.bytes)
            return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of checkpoints");
        if (item.bytes)
            memcpy(item.bytes, bytes, (size_t)fields[7]);
        status = add_item(catalog, item);
    }
    return status;
}

/* ---- Judging ---- */

static bool of_save(const sagoi_item *item, const sagoi_save_view *save) {
    return item->step == save->step && item->id_low == save->id_low;
}

const sagoi_item *sagoi_catalog_part(const sagoi_catalog *catalog, const sagoi_save_view *save, sago_level level,
                                     int64_t writer) {
    for (int64_t i = 0; i < catalog->n; i++) {
        const sagoi_item *item = &catalog->items[i];
        if (item->kind == SAGOI_ITEM_PART && item->level == (int64_t)level && item->index == writer &&
            of_save(item, save))
            return item;
    }
    return NULL;
}

const sagoi_item *sagoi_catalog_parity(const sagoi_catalog *catalog, const sagoi_save_view *save, int64_t set,
                                       int64_t member) {
    for (int64_t i = 0; i < catalog->n; i++) {
        const sagoi_item *item = &catalog->items[i];
        if (item->kind == SAGOI_ITEM_PARITY && item->index == set && item->member == member && of_save(item, save))
            return item;
    }
    return NULL;
}

/* Writers of this set that are lost and cannot be rebuilt.  A member counts as there only with both its data and
 * its parity; then any `parity` members may be missing. */
static int64_t lost_of_set(const sagoi_catalog *catalog, const sagoi_save_view *save, int64_t set) {
    int64_t without_data = 0, incomplete = 0;
    for (int64_t w = 0; w < save->intent.nwriters; w++) {
        const sagoi_writer_desc *writer = &save->intent.writers[w];
        if (writer->set != set)
            continue;
        bool data = sagoi_catalog_part(catalog, save, SAGO_LEVEL_LOCAL, w) != NULL;
        bool parity = sagoi_catalog_parity(catalog, save, set, writer->member) != NULL;
        without_data += !data;
        incomplete += !data || !parity;
    }
    return without_data > 0 && incomplete > save->intent.parity ? without_data : 0;
}

/* Are all parity records there, too?  Without them the step is only local, not redundant. */
static void judge_redundancy(const sagoi_catalog *catalog, sagoi_save_view *save) {
    const sagoi_intent *intent = &save->intent;
    int64_t sets = 0, incomplete = 0;
    for (int64_t w = 0; w < intent->nwriters; w++)
        sets = sagoi_max(sets, intent->writers[w].set + 1);
    for (int64_t s = 0; s < sets; s++)
        save->lost += lost_of_set(catalog, save, s);
    for (int64_t w = 0; w < intent->nwriters; w++) {
        int64_t set = intent->writers[w].set;
        bool parity = set >= 0 && sagoi_catalog_parity(catalog, save, set, intent->writers[w].member);
        incomplete += !parity;
        if (set < 0)
            save->lost += !sagoi_catalog_part(catalog, save, SAGO_LEVEL_LOCAL, w);
    }
    bool whole = save->parts[SAGO_LEVEL_LOCAL] == intent->nwriters;
    save->parts[SAGO_LEVEL_REDUNDANT] = intent->parity > 0 ? intent->nwriters - save->lost : 0;
    save->complete[SAGO_LEVEL_REDUNDANT] =
        intent->parity > 0 && save->lost == 0 && (!whole || incomplete == 0) && save->intent_at[SAGO_LEVEL_LOCAL];
}

static const sago_level levels[] = {SAGO_LEVEL_LOCAL, SAGO_LEVEL_GLOBAL}; /* the levels that have folders */
enum { LEVELS = sizeof levels / sizeof levels[0] };

/* Is every part at one of the levels? */
static bool is_spread(const sagoi_catalog *catalog, const sagoi_save_view *save) {
    for (int64_t w = 0; w < save->intent.nwriters; w++)
        if (!sagoi_catalog_part(catalog, save, SAGO_LEVEL_LOCAL, w) &&
            !sagoi_catalog_part(catalog, save, SAGO_LEVEL_GLOBAL, w))
            return false;
    return true;
}

static void judge(const sagoi_catalog *catalog, sagoi_save_view *save) {
    for (int i = 0; i < LEVELS; i++) {
        sago_level level = levels[i];
        for (int64_t w = 0; w < save->intent.nwriters; w++)
            save->parts[level] += sagoi_catalog_part(catalog, save, level, w) != NULL;
        save->complete[level] = save->intent_at[level] && save->parts[level] == save->intent.nwriters;
    }
    judge_redundancy(catalog, save);
    save->whole = !(sagoi_view_saw(save) & SAGOI_SAW_BAD_DATA) &&
                  (sagoi_view_complete(save, SAGO_LEVEL_LOCAL) || is_spread(catalog, save));
    for (int level = SAGO_LEVEL_LOCAL; level < SAGO_LEVEL_COUNT; level++)
        if (!save->whole || save->saw[level == SAGO_LEVEL_REDUNDANT ? SAGO_LEVEL_LOCAL : level] & SAGOI_SAW_ASIDE)
            save->complete[level] = false;
}

sagoi_past sagoi_view_past(const sagoi_save_view *view) {
    sagoi_past past = SAGOI_NEVER_COMPLETE;
    for (int i = 0; i < LEVELS; i++) {
        int64_t saw = view->saw[levels[i]];
        if (saw & SAGOI_SAW_REMOVED)
            continue;
        if (saw & (SAGOI_SAW_MARK | SAGOI_SAW_BAD_DATA))
            return SAGOI_ONCE_COMPLETE;
        if (saw & SAGOI_SAW_INTERRUPTED)
            continue;
        if (saw & SAGOI_SAW_DAMAGE)
            past = SAGOI_ONCE_COMPLETE;
        else if (past == SAGOI_NEVER_COMPLETE && (saw & SAGOI_SAW_PART))
            past = SAGOI_PERHAPS_COMPLETE;
    }
    return past;
}

bool sagoi_view_damaged(const sagoi_save_view *view) {
    if (sagoi_view_complete(view, SAGO_LEVEL_LOCAL) || (sagoi_view_saw(view) & SAGOI_SAW_UNREADABLE))
        return false;
    return sagoi_view_aside(view) || (!view->whole && sagoi_view_past(view) == SAGOI_ONCE_COMPLETE);
}

void sagoi_view_lack(const sagoi_save_view *view, char *text, size_t room) {
    size_t at = 0;
    text[0] = '\0';
    if (sagoi_view_late(view)) {
        (void)snprintf(text, room, "it was made by a job that another one had replaced, and does not count");
        return;
    }
    if (!view->intent_item) {
        (void)snprintf(text, room, "its intent is missing or damaged");
        return;
    }
    if (sagoi_view_saw(view) & SAGOI_SAW_BAD_DATA)
        at += (size_t)snprintf(text, room, "its data could not be restored from");
    for (int i = 0; i < LEVELS && at < room; i++) {
        sago_level level = levels[i];
        if (view->saw[level] || view->intent_at[level] || view->parts[level] > 0)
            at += (size_t)snprintf(text + at, room - at, "%s%s: the parts of %lld of %lld writers are good",
                                   at ? "; " : "", sago_level_string(level), (long long)view->parts[level],
                                   (long long)view->intent.nwriters);
    }
}

int sagoi_view_age_order(const sagoi_save_view *x, const sagoi_save_view *y) {
    int64_t before = sagoi_id_generation(x->id_low), after = sagoi_id_generation(y->id_low);
    if (before != after)
        return before < after ? -1 : 1;
    if (x->intent.time != y->intent.time)
        return x->intent.time < y->intent.time ? -1 : 1;
    return 0;
}

static int by_step(const void *a, const void *b) {
    const sagoi_save_view *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    int order = sagoi_view_age_order(x, y);
    return order ? order : x->id_low < y->id_low ? -1 : x->id_low > y->id_low;
}

/* Finds the save of an item; adds it if it is new. */
static sagoi_save_view *view_of(sagoi_save_view *views, int64_t *n, const sagoi_item *item) {
    for (int64_t i = 0; i < *n; i++)
        if (of_save(item, &views[i]))
            return &views[i];
    views[*n] = (sagoi_save_view){.step = item->step, .id_low = item->id_low};
    return &views[(*n)++];
}

static bool is_trace(const sagoi_item *item) {
    return item->kind == SAGOI_ITEM_FOLDER && (item->index & SAGOI_SAW_REMOVED);
}

/* A trace alone is no save. */
static void note_traces(const sagoi_catalog *catalog, sagoi_save_view *views, int64_t n) {
    for (int64_t t = 0; t < catalog->n; t++)
        for (int64_t i = 0; is_trace(&catalog->items[t]) && i < n; i++)
            if (of_save(&catalog->items[t], &views[i]))
                views[i].saw[catalog->items[t].level] |= SAGOI_SAW_REMOVED;
}

sago_status sagoi_catalog_views(const sagoi_catalog *catalog, sagoi_save_view **views, int64_t *n) {
    sagoi_save_view *found = calloc((size_t)catalog->n + 1, sizeof *found);
    int64_t count = 0;
    sago_status status = found ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of checkpoints");
    for (int64_t i = 0; i < catalog->n && !status; i++) {
        const sagoi_item *item = &catalog->items[i];
        if (is_trace(item))
            continue;
        sagoi_save_view *view = view_of(found, &count, item);
        if (item->kind == SAGOI_ITEM_FOLDER) {
            view->saw[item->level] |= item->index;
            view->aside_bytes += item->member;
        }
        if (item->kind != SAGOI_ITEM_INTENT)
            continue;
        view->intent_at[item->level] = true;
        if (view->intent_item)
            continue;
        view->intent_item = item;
        status = sagoi_intent_decode(item->bytes, item->len, &view->intent);
    }
    note_traces(catalog, found, count);
    for (int64_t i = 0; i < count && !status; i++)
        if (found[i].intent_item)
            judge(catalog, &found[i]);
    if (status) {
        sagoi_views_free(found, count);
        return status;
    }
    qsort(found, (size_t)count, sizeof *found, by_step);
    *views = found;
    *n = count;
    return SAGO_OK;
}

void sagoi_views_free(sagoi_save_view *views, int64_t n) {
    for (int64_t i = 0; views && i < n; i++)
        sagoi_intent_cleanup(&views[i].intent);
    free(views);
}

/* 2: complete at a level; 1: its parts are spread over both; 0: it cannot be restored from. */
static int fitness(const sagoi_save_view *view) {
    if (sagoi_view_complete(view, SAGO_LEVEL_LOCAL))
        return 2;
    return view->whole && !sagoi_view_aside(view);
}

static bool comes_before(const sagoi_save_view *x, const sagoi_save_view *y) {
    return fitness(x) != fitness(y) ? fitness(x) > fitness(y) : x > y; /* the newest is the last of its step */
}

/* NULL: the first one. */
static const sagoi_save_view *find_behind(const sagoi_save_view *views, int64_t n, int64_t step,
                                          const sagoi_save_view *after) {
    const sagoi_save_view *found = NULL;
    for (const sagoi_save_view *at = views; at < views + n; at++)
        if (at->step == step && fitness(at) > 0 && (!after || comes_before(after, at)) &&
            (!found || comes_before(at, found)))
            found = at;
    return found;
}

const sagoi_save_view *sagoi_views_find(const sagoi_save_view *views, int64_t n, int64_t step) {
    return find_behind(views, n, step, NULL);
}

const sagoi_save_view *sagoi_views_next(const sagoi_save_view *views, int64_t n, const sagoi_save_view *after) {
    return find_behind(views, n, after->step, after);
}
