/* Descriptions of subfiles: whatever is accepted is a valid rule, and is the one text of that rule. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/subfile_rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[SAGOI_SUBFILES_TEXT_MAX];
    sagoi_subfiles rule;
    if (sagoi_subfiles_parse("fuzz", (const char *)data, (int64_t)size, &rule) != SAGO_OK)
        return 0;
    if (!sagoi_subfiles_valid(&rule) || sagoi_subfiles_format(&rule, text) != (int64_t)size ||
        memcmp(text, data, size) != 0)
        abort();
    return 0;
}
