/* Names of files in a checkpoint directory.  Parsing takes exactly what making gives: anything else is not ours.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ckpt/record.h"

void sagoi_save_folder(char name[SAGOI_CKPT_FILE_NAME], int64_t step, sagoi_id id) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "step-%019" PRId64 "-%016" PRIx64, step, id.low);
}

bool sagoi_save_folder_parse(const char *name, int64_t *step, uint64_t *id_low) {
    char again[SAGOI_CKPT_FILE_NAME];
    sagoi_id id = {0, 0};
    if (sscanf(name, "step-%" SCNd64 "-%" SCNx64, step, &id.low) != 2)
        return false;
    sagoi_save_folder(again, *step, id);
    *id_low = id.low;
    return *step >= 0 && strcmp(again, name) == 0;
}

void sagoi_part_name(char name[SAGOI_CKPT_FILE_NAME], int64_t writer) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "writer-%06" PRId64 ".part", writer);
}

bool sagoi_part_name_parse(const char *name, int64_t *writer) {
    char again[SAGOI_CKPT_FILE_NAME];
    if (sscanf(name, "writer-%" SCNd64, writer) != 1)
        return false;
    sagoi_part_name(again, *writer);
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
