#include "machine/cray.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CNAME_MAX = 64, DIGITS_MAX = 4 };

/* Takes a letter and the number behind it; false: they are not there. */
static bool part_take(const char **at, const char *end, char letter, int *number) {
    int digits = 0;
    if (*at == end || **at != letter)
        return false;
    *number = 0;
    for (++*at; *at < end && **at >= '0' && **at <= '9' && digits <= DIGITS_MAX; ++*at, digits++)
        *number = 10 * *number + (**at - '0');
    return digits > 0 && digits <= DIGITS_MAX;
}

bool sagoi_cray_address(const char *cname, int64_t length, const char *host, char *address, int64_t capacity) {
    static const char letters[] = "c-csn";
    const char *at = cname, *end = cname + length;
    int part[5];
    while (end > at && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    for (int i = 0; i < 5; i++)
        if (!part_take(&at, end, letters[i], &part[i]))
            return false;
    if (at != end || strchr(host, '.') || !host[0])
        return false;
    int needed = snprintf(address, (size_t)capacity, "c%d-%d.%d.%d.%s", part[0], part[1], part[2], part[3], host);
    bool fits = needed > 0 && needed < capacity;
    if (!fits && capacity > 0)
        address[0] = 0;
    return fits;
}

bool sagoi_cray_ask(const char *root, const char *host, char *address, int64_t capacity) {
    char path[4096], cname[CNAME_MAX];
    int needed = snprintf(path, sizeof path, "%s/proc/cray_xt/cname", root);
    int fd = needed > 0 && (size_t)needed < sizeof path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return false;
    ssize_t length = read(fd, cname, sizeof cname);
    (void)close(fd);
    return length > 0 && length < CNAME_MAX && sagoi_cray_address(cname, length, host, address, capacity);
}
