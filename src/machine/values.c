/* Numbers with units, to and from text, always in the C locale, whatever the application has set. */
#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hints.h"
#include "machine/text.h"

typedef struct unit {
    const char *name;
    double factor, divisor; /* integers, so that 40ns is the same as 4e-8 */
} unit;

/* Units that a writer may choose come first, the largest first; the last one of those is the base unit. */
static const unit rates[] = {
    {"TB/s", 1e12, 1},    {"GB/s", 1e9, 1},     {"MB/s", 1e6, 1},       {"kB/s", 1e3, 1},
    {"B/s", 1, 1},        {"KiB/s", 1024., 1},  {"MiB/s", 1048576., 1}, {"GiB/s", 1073741824., 1},
    {"Tbit/s", 125e9, 1}, {"Gbit/s", 125e6, 1}, {"Mbit/s", 125e3, 1},   {"kbit/s", 125, 1},
};
static const unit times[] = {{"s", 1, 1}, {"ms", 1, 1e3}, {"us", 1, 1e6}, {"ns", 1, 1e9}};
enum { RATES = sizeof rates / sizeof rates[0], RATES_WRITTEN = 5, TIMES = sizeof times / sizeof times[0] };

bool sagoi_parse_int(const char *word, int64_t low, int64_t high, int64_t *value) {
    int64_t sum = 0;
    if (!*word)
        return false;
    for (; *word; word++)
        if (!isdigit((unsigned char)*word) || sagoi_mul(sum, 10, &sum) || sagoi_add(sum, *word - '0', &sum))
            return false;
    if (sum < low || sum > high)
        return false;
    *value = sum;
    return true;
}

/* The number that `word` begins with: digits, a point, an exponent; no sign, no "inf", no hexadecimal digits. */
static bool real_parse(const char *word, double *value, const char **rest) {
    if (!isdigit((unsigned char)*word) || (word[0] == '0' && (word[1] == 'x' || word[1] == 'X')))
        return false;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    char *end;
    *value = strtod_l(word, &end, plain);
    freelocale(plain);
    *rest = end;
    return isfinite(*value);
}

static bool unit_parse(const char *word, const unit *units, int count, double *value) {
    double number;
    const char *rest;
    if (!real_parse(word, &number, &rest))
        return false;
    for (int i = 0; i < count; i++)
        if (strcmp(rest, units[i].name) == 0) {
            *value = number * units[i].factor / units[i].divisor;
            return isfinite(*value);
        }
    return false;
}

bool sagoi_parse_rate(const char *word, double *rate) {
    double value;
    if (!unit_parse(word, rates, RATES, &value) || value <= 0)
        return false;
    *rate = value;
    return true;
}

bool sagoi_parse_time(const char *word, double *seconds) { return unit_parse(word, times, TIMES, seconds); }

static void number_print(char *text, size_t capacity, int digits, double value, const char *name) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    (void)snprintf(text, capacity, "%.*g%s", digits, value, name);
    if (plain) {
        (void)uselocale(before);
        freelocale(plain);
    }
}

/* Uses the first unit that leaves a number of at least 1 and is read back exactly; else every digit in `base`. */
static sagoi_value_text unit_format(double value, const unit *units, int count, int base) {
    sagoi_value_text made;
    double again;
    for (int i = 0; i < count; i++) {
        if (value * units[i].divisor < units[i].factor && i + 1 < count)
            continue;
        number_print(made.text, sizeof made.text, 9, value * units[i].divisor / units[i].factor, units[i].name);
        if (unit_parse(made.text, units, count, &again) && again == value)
            return made;
    }
    number_print(made.text, sizeof made.text, 17, value, units[base].name);
    return made;
}

sagoi_value_text sagoi_format_rate(double rate) {
    return unit_format(rate, rates, RATES_WRITTEN, RATES_WRITTEN - 1);
}

sagoi_value_text sagoi_format_time(double seconds) {
    if (seconds == 0)
        return (sagoi_value_text){"0s"};
    return unit_format(seconds, times, TIMES, 0);
}

/* For people: uses the first unit that leaves a number of at least 1, with four digits. */
static sagoi_value_text unit_show(double value, const unit *units, int count) {
    sagoi_value_text made;
    int i = 0;
    while (i + 1 < count && value * units[i].divisor < units[i].factor * 0.99995)
        i++;
    number_print(made.text, sizeof made.text, 4, value * units[i].divisor / units[i].factor, units[i].name);
    return made;
}

sagoi_value_text sagoi_show_rate(double rate) { return unit_show(rate, rates, RATES_WRITTEN); }

sagoi_value_text sagoi_show_time(double seconds) {
    return seconds == 0 ? (sagoi_value_text){"0s"} : unit_show(seconds, times, TIMES);
}

sagoi_value_text sagoi_format_size(int64_t bytes) {
    static const char *const names[] = {"", "KiB", "MiB", "GiB", "TiB", "PiB"};
    sagoi_value_text made;
    int i = 0;
    for (; i < 5 && bytes && bytes % 1024 == 0; i++)
        bytes /= 1024;
    (void)snprintf(made.text, sizeof made.text, "%" PRId64 "%s", bytes, names[i]);
    return made;
}
