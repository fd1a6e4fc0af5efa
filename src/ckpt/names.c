/* Names of files in a checkpoint directory.  Parsing accepts exactly the names that are made here; any other name
 * is not Sago's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ckpt/record.h"

static const char *const prefixes[] = {
    [SAGOI_FOLDER_STEP] = "step-", [SAGOI_FOLDER_DAMAGED] = "damaged-", [SAGOI_FOLDER_REMOVED] = "removed-"};
enum { PREFIXES = sizeof prefixes / sizeof prefixes[0] };

void sagoi_save_folder_as(char name[SAGOI_CKPT_FILE_NAME], sagoi_folder_kind kind, int64_t step, uint64_t id_low) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "%s%019" PRId64 "-%016" PRIx64, prefixes[kind], step, id_low);
}

void sagoi_save_folder(char name[SAGOI_CKPT_FILE_NAME], int64_t step, sagoi_id id) {
    sagoi_save_folder_as(name, SAGOI_FOLDER_STEP, step, id.low);
}

sago_status sagoi_save_path(char path[SAGOI_CKPT_PATH], const char *dir, int64_t step, sagoi_id id,
                            const char *name) {
    char folder[SAGOI_CKPT_FILE_NAME];
    sagoi_save_folder(folder, step, id);
    int length = snprintf(path, SAGOI_CKPT_PATH, "%s/%s%s%s", dir, folder, name ? "/" : "", name ? name : "");
    bool fits = length >= 0 && length < SAGOI_CKPT_PATH;
    return fits ? SAGO_OK : sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", dir);
}

bool sagoi_save_folder_parse(const char *name, sagoi_folder_kind *kind, int64_t *step, uint64_t *id_low) {
    for (int i = 0; i < PREFIXES; i++) {
        char again[SAGOI_CKPT_FILE_NAME];
        size_t prefix = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], prefix) != 0 ||
            sscanf(name + prefix, "%" SCNd64 "-%" SCNx64, step, id_low) != 2)
            continue;
        *kind = (sagoi_folder_kind)i;
        sagoi_save_folder_as(again, *kind, *step, *id_low);
        return *step >= 0 && strcmp(again, name) == 0;
    }
    return false;
}

void sagoi_part_name(char name[SAGOI_CKPT_FILE_NAME], int64_t writer) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "writer-%06" PRId64 ".part", writer);
}

void sagoi_begun_name(char name[SAGOI_CKPT_FILE_NAME], int64_t writer) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "writer-%06" PRId64 ".begun", writer);
}

bool sagoi_writer_name_parse(const char *name, sagoi_writer_name_fn *make, int64_t *writer) {
    char again[SAGOI_CKPT_FILE_NAME];
    if (sscanf(name, "writer-%" SCNd64, writer) != 1)
        return false;
    make(again, *writer);
    return *writer >= 0 && strcmp(again, name) == 0;
}

void sagoi_local_data_name(char name[SAGOI_CKPT_FILE_NAME], int64_t writer) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "writer-%06" PRId64 ".data", writer);
}

void sagoi_global_data_name(char name[SAGOI_CKPT_FILE_NAME], int64_t file) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "file-%06" PRId64 ".data", file);
}

void sagoi_parity_name(char name[SAGOI_CKPT_FILE_NAME], int64_t set, int64_t member) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "set-%06" PRId64 "-%03" PRId64 ".parity", set, member);
}

bool sagoi_parity_name_parse(const char *name, int64_t *set, int64_t *member) {
    char again[SAGOI_CKPT_FILE_NAME];
    if (sscanf(name, "set-%" SCNd64 "-%" SCNd64, set, member) != 2)
        return false;
    sagoi_parity_name(again, *set, *member);
    return *set >= 0 && *member >= 0 && strcmp(again, name) == 0;
}

void sagoi_parity_data_name(char name[SAGOI_CKPT_FILE_NAME], int64_t set, int64_t member) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "set-%06" PRId64 "-%03" PRId64 ".data", set, member);
}
