#include "base/size_text.h"

#include <inttypes.h>
#include <stdio.h>

enum { UNITS = 6, HINT_UNITS = 5 }; /* hints have no exbibytes */
static const char letters[UNITS + 1] = "KMGTPE";

sagoi_size_text sagoi_size_to_text(int64_t bytes) {
    sagoi_size_text size;
    int unit = 0;
    int64_t scale = 1;
    for (; unit < UNITS && bytes / scale >= 1024; unit++)
        scale *= 1024;
    if (unit == 0)
        (void)snprintf(size.text, sizeof size.text, "%" PRId64 " B", bytes);
    else
        (void)snprintf(size.text, sizeof size.text, bytes % scale == 0 ? "%.0f %ciB" : "%.1f %ciB",
                       (double)bytes / (double)scale, letters[unit - 1]);
    return size;
}

sagoi_size_text sagoi_size_to_hint(int64_t bytes) {
    sagoi_size_text size;
    int unit = 0;
    for (; unit < HINT_UNITS && bytes != 0 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    (void)snprintf(size.text, sizeof size.text, "%" PRId64 "%.*s", bytes, unit > 0, letters + unit - (unit > 0));
    return size;
}
