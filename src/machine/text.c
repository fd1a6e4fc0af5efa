/* Lines and words of a text.  Owns reading the file, and the place of errors. */
#include "machine/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Life --------------------------------------------------------------------------------------------- */

static sago_status text_allocate(sagoi_text *text, const char *source, int64_t length) {
    *text = (sagoi_text){.line = 0};
    (void)snprintf(text->source, sizeof text->source, "%s", source);
    if (length > SAGOI_TEXT_MAX)
        return sagoi_fail(SAGO_ERR_ARG, "%s: larger than %d bytes", source, SAGOI_TEXT_MAX);
    text->copy = malloc((size_t)length + 1);
    if (!text->copy)
        return sagoi_fail(SAGO_ERR_MEMORY, "%s: no memory for %lld bytes", source, (long long)length);
    text->copy[length] = '\0';
    text->next = text->copy;
    text->end = text->copy + length;
    return SAGO_OK;
}

sago_status sagoi_text_init(sagoi_text *text, const char *source, const char *bytes, int64_t length) {
    sago_status status = text_allocate(text, source, length);
    if (status == SAGO_OK && length > 0)
        memcpy(text->copy, bytes, (size_t)length);
    return status;
}

static sago_status read_all(sagoi_text *text, int fd) {
    char *at = text->copy;
    while (at < text->end) {
        ssize_t got = read(fd, at, (size_t)(text->end - at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return sagoi_fail_errno(errno, "reading %s", text->source);
        if (got == 0)
            break;
        at += got;
    }
    text->end = at; /* the file may have become shorter */
    *at = '\0';
    return SAGO_OK;
}

sago_status sagoi_text_open(sagoi_text *text, const char *path) {
    *text = (sagoi_text){.line = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not stop us */
    if (fd < 0)
        return sagoi_fail_errno(errno, "opening %s", path);
    struct stat about;
    sago_status status = SAGO_OK;
    if (fstat(fd, &about) != 0)
        status = sagoi_fail_errno(errno, "%s", path);
    else if (!S_ISREG(about.st_mode))
        status = sagoi_fail(SAGO_ERR_BAD_FILE, "%s is not a regular file", path);
    if (status == SAGO_OK)
        status = text_allocate(text, path, about.st_size);
    if (status == SAGO_OK)
        status = read_all(text, fd);
    (void)close(fd);
    if (status != SAGO_OK)
        sagoi_text_cleanup(text);
    return status;
}

void sagoi_text_cleanup(sagoi_text *text) {
    free(text->copy);
    text->copy = text->next = text->end = NULL;
}

/* ---- Errors ------------------------------------------------------------------------------------------- */

sago_status sagoi_text_locate(const sagoi_text *text, sago_status status) {
    sagoi_message_prefix("%s:%lld: ", text->source, (long long)text->line);
    return status;
}

sago_status sagoi_text_fail(const sagoi_text *text, const char *format, ...) {
    char what[SAGOI_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return sagoi_text_locate(text, sagoi_fail(SAGO_ERR_ARG, "%s", what));
}

/* ---- Lines -------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Splits [line, end) in place. */
static sago_status line_split(sagoi_text *text, char *line, const char *end) {
    text->words = 0;
    for (char *at = line; at < end && *at != '#';) {
        if (is_blank(*at)) {
            at++;
            continue;
        }
        if (text->words == SAGOI_WORDS_MAX)
            return sagoi_text_fail(text, "more than %d words", SAGOI_WORDS_MAX);
        text->word[text->words++] = at;
        for (; at < end && !is_blank(*at) && *at != '#'; at++)
            if ((unsigned char)*at < ' ' || *at == 127)
                return sagoi_text_fail(text, "a character of code %d", (unsigned char)*at);
        if (at < end && *at == '#') {
            *at = '\0';
            break;
        }
        *at++ = '\0';
    }
    return SAGO_OK;
}

sago_status sagoi_text_each(sagoi_text *text, sagoi_line_fn take, void *arg) {
    sago_status status = SAGO_OK;
    while (status == SAGO_OK && text->next < text->end) {
        char *line = text->next, *end = memchr(line, '\n', (size_t)(text->end - line));
        if (!end)
            end = text->end;
        text->next = end + 1;
        text->line++;
        status = line_split(text, line, end);
        if (status == SAGO_OK && text->words > 0)
            status = take(arg);
    }
    return status;
}
