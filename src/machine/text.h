/* Small text files: lines of words; "#" begins a comment.  Machine descriptions, site files and Slurm's
 * topology.conf are read by these functions, which trust nothing in them.  Errors name the file and the line. */
#ifndef SAGOI_TEXT_H
#define SAGOI_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { SAGOI_WORDS_MAX = 64, SAGOI_TEXT_MAX = 16 << 20 };

typedef struct sagoi_text {
    char source[256]; /* the name that errors show */
    char *copy;       /* copy of the whole text, in which the words lie; owned */
    char *next, *end; /* the part that has not been read */
    int64_t line;     /* the current line, from 1 */
    int64_t words;
    char *word[SAGOI_WORDS_MAX];
} sagoi_text;

/* SAGO_ERR_MEMORY, or SAGO_ERR_ARG for more than SAGOI_TEXT_MAX bytes. */
sago_status sagoi_text_init(sagoi_text *text, const char *source, const char *bytes, int64_t length) SAGOI_CHECKED;
/* Reads the contents of a regular file. */
sago_status sagoi_text_open(sagoi_text *text, const char *path) SAGOI_CHECKED;
void sagoi_text_cleanup(sagoi_text *text);

/* Calls `take` for every line that has words, until a call fails. */
typedef sago_status (*sagoi_line_fn)(void *arg);
sago_status sagoi_text_each(sagoi_text *text, sagoi_line_fn take, void *arg) SAGOI_CHECKED;

/* Fails with "FILE:LINE: message" and SAGO_ERR_ARG. */
sago_status sagoi_text_fail(const sagoi_text *text, const char *format, ...) SAGOI_PRINTF(2, 3);
/* Puts "FILE:LINE: " before this thread's message. */
sago_status sagoi_text_locate(const sagoi_text *text, sago_status status);

/* ---- Values; false: it is none ---- */

/* Parses decimal digits, from low to high. */
bool sagoi_parse_int(const char *word, int64_t low, int64_t high, int64_t *value);
/* Parses "1.8GB/s", "25e9B/s", "12GiB/s", "100Mbit/s": bytes a second, more than 0; kB, MB, ... are powers of
 * 1000. */
bool sagoi_parse_rate(const char *word, double *rate);
/* Parses "1.3us", "40ns", "2ms", "0s": seconds. */
bool sagoi_parse_time(const char *word, double *seconds);

/* Texts that the functions above read back as exactly the same value, short if that is possible. */
typedef struct sagoi_value_text {
    char text[48];
} sagoi_value_text;
sagoi_value_text sagoi_format_rate(double rate);
sagoi_value_text sagoi_format_time(double seconds);
/* A text for people to read: four digits. */
sagoi_value_text sagoi_show_rate(double rate);
sagoi_value_text sagoi_show_time(double seconds);
sagoi_value_text sagoi_format_size(int64_t bytes);

#endif
