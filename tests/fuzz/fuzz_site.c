/* Site files: whatever is accepted is written, and what is written is accepted and written the same again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(const sagoi_site *site, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    sagoi_site_write(site, out);
    if (fclose(out) != 0)
        abort();
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sagoi_site site, again;
    size_t first_length, second_length;
    if (sagoi_site_parse("fuzz", (const char *)data, (int64_t)size, &site) != SAGO_OK)
        return 0;
    char *first = written(&site, &first_length);
    if (sagoi_site_parse("again", first, (int64_t)first_length, &again) != SAGO_OK)
        abort();
    char *second = written(&again, &second_length);
    if (first_length != second_length || memcmp(first, second, first_length) != 0)
        abort();
    free(first);
    free(second);
    sagoi_site_cleanup(&site);
    sagoi_site_cleanup(&again);
    return 0;
}
