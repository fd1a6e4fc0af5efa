/* Site files: whatever is accepted is written, and what is written is accepted and written the same again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Reads the text from a file in memory. */
static bool accepted(const void *text, size_t length, sagoi_site *site) {
    char path[32];
    int fd = memfd_create("site", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = sagoi_site_read(path, site) == SAGO_OK;
    (void)close(fd);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sagoi_site site, again;
    size_t first_length, second_length;
    if (!accepted(data, size, &site))
        return 0;
    char *first = written(&site, &first_length);
    if (!accepted(first, first_length, &again))
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
