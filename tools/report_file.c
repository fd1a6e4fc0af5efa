#include "tools/report_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/params.h"

char *report_read(const char *path, char *why) {
    FILE *in = fopen(path, "r");
    char *text = NULL, part[65536];
    size_t size = 0, length;
    FILE *out = in ? open_memstream(&text, &size) : NULL;
    if (!out) {
        (void)bench_refuse(why, "%s: %s", path, strerror(errno));
        if (in)
            (void)fclose(in);
        return NULL;
    }
    while ((length = fread(part, 1, sizeof part, in)) > 0)
        (void)fwrite(part, 1, length, out);
    (void)fclose(in);
    (void)fclose(out);
    return text;
}
