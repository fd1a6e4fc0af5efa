/* Names of hosts with ranges in brackets.  If one name has several brackets ("r[0-1]n[0-3]"), each value of all
 * brackets but the last becomes a range. */
#include "machine/hostlist.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"

enum { DIGITS_MAX = 15 };

/* ---- Building ----------------------------------------------------------------------------------------- */

static sago_status range_append(sagoi_hostlist *list, sagoi_host_range range) {
    if (list->ranges == SAGOI_HOST_RANGES_MAX)
        return sagoi_fail(SAGO_ERR_ARG, "more than %d ranges of hosts", SAGOI_HOST_RANGES_MAX);
    if (!sagoi_grow((void **)&list->range, list->ranges, &list->capacity, sizeof *list->range))
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for more than %" PRId64 " ranges of hosts", list->ranges);
    range.first = list->hosts;
    if (sagoi_add(list->hosts, sagoi_host_range_hosts(&range), &list->hosts))
        return sagoi_fail(SAGO_ERR_ARG, "more hosts than a number can count");
    list->range[list->ranges++] = range;
    return SAGO_OK;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.'; }

/* Appends a piece of a name to `name`: the text up to a bracket, a comma or the end. */
static sago_status piece_append(char *name, const char **text) {
    size_t length = strlen(name);
    for (; is_name(**text); (*text)++) {
        if (length + 1 >= SAGOI_HOST_MAX)
            return sagoi_fail(SAGO_ERR_ARG, "a host name longer than %d", SAGOI_HOST_MAX - 1);
        name[length++] = **text;
    }
    name[length] = '\0';
    if (**text && **text != '[' && **text != ',')
        return sagoi_fail(SAGO_ERR_ARG, "'%c' in a host name", **text);
    return SAGO_OK;
}

static bool digits_take(const char **text, int64_t *value, int64_t *width) {
    *width = 0;
    for (*value = 0; isdigit((unsigned char)**text) && *width < DIGITS_MAX; (*text)++, (*width)++)
        *value = *value * 10 + (**text - '0');
    return *width > 0 && !isdigit((unsigned char)**text);
}

/* Takes "3" or "003-017" at *text, which moves past it and a comma. */
static sago_status interval_take(const char **text, sagoi_host_range *range) {
    int64_t width;
    bool good = digits_take(text, &range->low, &range->width);
    range->high = range->low;
    if (good && **text == '-') {
        (*text)++;
        good = digits_take(text, &range->high, &width) && range->high >= range->low;
    }
    if (!good || (**text != ',' && **text != ']'))
        return sagoi_fail(SAGO_ERR_ARG, "a range of hosts is 'low-high' in digits, ascending");
    if (**text == ',')
        (*text)++;
    return SAGO_OK;
}

static sago_status host_add(sagoi_hostlist *list, sagoi_host_range so_far, const char *text);

/* For an interval of a bracket that is not the last: each of its numbers becomes part of the prefix. */
static sago_status prefixes_add(sagoi_hostlist *list, const sagoi_host_range *interval, const char *rest) {
    for (int64_t number = interval->low; number <= interval->high; number++) {
        sagoi_host_range one = *interval;
        one.low = -1;
        int length = snprintf(one.prefix, sizeof one.prefix, "%s%0*" PRId64, interval->prefix,
                              (int)interval->width, number);
        if (length < 0 || (size_t)length >= sizeof one.prefix)
            return sagoi_fail(SAGO_ERR_ARG, "a host name longer than %d", SAGOI_HOST_MAX - 1);
        sago_status status = host_add(list, one, rest);
        if (status != SAGO_OK)
            return status;
    }
    return SAGO_OK;
}

/* `bracket` is the text behind "[", `rest` the text behind "]". */
static sago_status bracket_add(sagoi_hostlist *list, const sagoi_host_range *so_far, const char *bracket,
                               const char *rest) {
    while (*bracket != ']') {
        sagoi_host_range range = *so_far;
        sago_status status = interval_take(&bracket, &range);
        const char *after = rest;
        range.suffix[0] = '\0';
        if (status == SAGO_OK)
            status = piece_append(range.suffix, &after);
        if (status == SAGO_OK)
            status = *after == '[' ? prefixes_add(list, &range, rest) : range_append(list, range);
        if (status != SAGO_OK)
            return status;
    }
    return SAGO_OK;
}

/* Adds the rest of one name; the prefix of `so_far` is the part before it. */
static sago_status host_add(sagoi_hostlist *list, sagoi_host_range so_far, const char *text) {
    sago_status status = piece_append(so_far.prefix, &text);
    if (status != SAGO_OK)
        return status;
    if (*text != '[') {
        so_far.suffix[0] = '\0';
        return so_far.prefix[0] ? range_append(list, so_far) : sagoi_fail(SAGO_ERR_ARG, "an empty host name");
    }
    const char *close = strchr(text, ']');
    if (!close || close == text + 1)
        return sagoi_fail(SAGO_ERR_ARG, close ? "empty brackets" : "'[' without ']'");
    return bracket_add(list, &so_far, text + 1, close + 1);
}

/* The end of the name that begins here: a comma outside of brackets. */
static const char *name_end(const char *text) {
    bool inside = false;
    for (; *text && (inside || *text != ','); text++)
        inside = *text == '[' || (inside && *text != ']');
    return text;
}

sago_status sagoi_hostlist_add(sagoi_hostlist *list, const char *text) {
    for (;;) {
        sagoi_host_range empty = {.low = -1};
        sago_status status = host_add(list, empty, text);
        if (status != SAGO_OK)
            return status;
        text = name_end(text);
        if (!*text)
            return SAGO_OK;
        text++;
    }
}

void sagoi_hostlist_cleanup(sagoi_hostlist *list) {
    free(list->range);
    *list = (sagoi_hostlist){.range = NULL};
}

/* ---- Asking ------------------------------------------------------------------------------------------- */

/* The position of a name in the range, or -1; the name is not terminated. */
static int64_t range_find(const sagoi_host_range *range, const char *name, size_t length) {
    size_t before = strlen(range->prefix), after = strlen(range->suffix);
    if (length < before + after || memcmp(name, range->prefix, before) != 0 ||
        memcmp(name + length - after, range->suffix, after) != 0)
        return -1;
    int64_t digits = (int64_t)(length - before - after), number = 0;
    if (range->low < 0)
        return digits == 0 ? 0 : -1;
    if (digits == 0 || digits > DIGITS_MAX)
        return -1;
    for (const char *at = name + before; at < name + before + digits; at++) {
        if (!isdigit((unsigned char)*at))
            return -1;
        number = number * 10 + (*at - '0');
    }
    char again[DIGITS_MAX + 8];
    int printed = snprintf(again, sizeof again, "%0*" PRId64, (int)range->width, number);
    bool same = printed == digits && memcmp(again, name + before, (size_t)digits) == 0;
    return same && number >= range->low && number <= range->high ? number - range->low : -1;
}

static int64_t list_find(const sagoi_hostlist *list, const char *name, size_t length) {
    for (int64_t i = 0; i < list->ranges; i++) {
        int64_t position = range_find(&list->range[i], name, length);
        if (position >= 0)
            return list->range[i].first + position;
    }
    return -1;
}

int64_t sagoi_hostlist_find(const sagoi_hostlist *list, const char *name) {
    int64_t whole = list_find(list, name, strlen(name));
    return whole >= 0 ? whole : list_find(list, name, strcspn(name, "."));
}

bool sagoi_hostlist_name(const sagoi_hostlist *list, int64_t number, char *name, int64_t capacity) {
    for (int64_t i = 0; i < list->ranges; i++) {
        const sagoi_host_range *range = &list->range[i];
        if (number < range->first || number - range->first >= sagoi_host_range_hosts(range))
            continue;
        int length = range->low < 0
                         ? snprintf(name, (size_t)capacity, "%s%s", range->prefix, range->suffix)
                         : snprintf(name, (size_t)capacity, "%s%0*" PRId64 "%s", range->prefix, (int)range->width,
                                    range->low + number - range->first, range->suffix);
        return length >= 0 && length < capacity;
    }
    return false;
}

void sagoi_host_range_format(const sagoi_host_range *range, char *text, int64_t capacity) {
    if (range->low < 0)
        (void)snprintf(text, (size_t)capacity, "%s%s", range->prefix, range->suffix);
    else if (range->low == range->high)
        (void)snprintf(text, (size_t)capacity, "%s[%0*" PRId64 "]%s", range->prefix, (int)range->width, range->low,
                       range->suffix);
    else
        (void)snprintf(text, (size_t)capacity, "%s[%0*" PRId64 "-%0*" PRId64 "]%s", range->prefix,
                       (int)range->width, range->low, (int)range->width, range->high, range->suffix);
}
