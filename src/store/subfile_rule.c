#include "store/subfile_rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

static const char header[] = "sago subfiles ";

int64_t sagoi_subfiles_format(const sagoi_subfiles *rule, char text[SAGOI_SUBFILES_TEXT_MAX]) {
    int length = snprintf(text, SAGOI_SUBFILES_TEXT_MAX, "%s1\ncount %" PRId64 "\nblock %" PRId64 "\n", header,
                          rule->count, rule->block);
    sagoi_hash sum = sagoi_hash_bytes(text, length, (sagoi_hash){0, 0});
    length +=
        snprintf(text + length, (size_t)(SAGOI_SUBFILES_TEXT_MAX - length), "checksum %016" PRIx64 "\n", sum.low);
    return length;
}

/* Each rule has only one text, so a text that says the same in other words is damaged. */
sago_status sagoi_subfiles_parse(const char *name, const char *text, int64_t bytes, sagoi_subfiles *rule) {
    char copy[SAGOI_SUBFILES_TEXT_MAX] = "", again[SAGOI_SUBFILES_TEXT_MAX];
    sagoi_subfiles found = {0, 0};
    if (bytes < (int64_t)sizeof header || bytes >= SAGOI_SUBFILES_TEXT_MAX ||
        memcmp(text, header, sizeof header - 1) != 0)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: not a description of subfiles", name);
    memcpy(copy, text, (size_t)bytes);
    const char *version = copy + sizeof header - 1;
    if (strncmp(version, "1\n", 2) != 0)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: subfiles of version %.*s are not known here", name,
                          (int)strcspn(version, "\n"), version);
    if (sscanf(version, "1 count %18" SCNd64 " block %18" SCNd64, &found.count, &found.block) != 2 ||
        !sagoi_subfiles_valid(&found) || sagoi_subfiles_format(&found, again) != bytes ||
        memcmp(again, text, (size_t)bytes) != 0)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the description of subfiles is damaged", name);
    *rule = found;
    return SAGO_OK;
}

void sagoi_subfile_name(int64_t subfile, char name[SAGOI_SUBFILE_NAME_MAX]) {
    (void)snprintf(name, SAGOI_SUBFILE_NAME_MAX, "part.%05d", (int)subfile);
}
