/* Statuses, and the message of the last error, which each thread has for itself. */
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_message[SAGOI_MESSAGE_MAX];

static const char *const status_names[SAGO_STATUS_COUNT] = {
    [SAGO_OK] = "success",
    [SAGO_ERR_ARG] = "wrong argument",
    [SAGO_ERR_HANDLE] = "null or closed handle",
    [SAGO_ERR_MODE] = "wrong access mode",
    [SAGO_ERR_HINT] = "wrong hint",
    [SAGO_ERR_TYPE] = "wrong datatype",
    [SAGO_ERR_EXTENTS] = "extents overlap or do not ascend",
    [SAGO_ERR_OVERFLOW] = "offset too large",
    [SAGO_ERR_MISMATCH] = "ranks disagree on an argument",
    [SAGO_ERR_STATE] = "call out of order",
    [SAGO_ERR_NO_FILE] = "no such file",
    [SAGO_ERR_EXISTS] = "file exists",
    [SAGO_ERR_ACCESS] = "permission denied",
    [SAGO_ERR_READ_ONLY] = "read-only file or file system",
    [SAGO_ERR_BAD_FILE] = "not a usable file",
    [SAGO_ERR_NO_SPACE] = "no space left",
    [SAGO_ERR_QUOTA] = "quota exceeded",
    [SAGO_ERR_IO] = "I/O error",
    [SAGO_ERR_MEMORY] = "out of memory",
    [SAGO_ERR_MPI] = "MPI error",
    [SAGO_ERR_WRONG_MPI] = "built with another MPI library",
    [SAGO_ERR_PEER] = "a process is lost",
    [SAGO_ERR_UNSUPPORTED] = "not supported",
    [SAGO_ERR_BUSY] = "busy",
    [SAGO_ERR_TIMEOUT] = "no answer in time",
};

const char *sago_status_string(sago_status status) {
    if ((int)status < 0 || status >= SAGO_STATUS_COUNT)
        return "unknown status";
    return status_names[status];
}

const char *sago_error_message(void) { return last_message; }

const char *sagoi_message(void) { return last_message; }

void sagoi_message_clear(void) { last_message[0] = '\0'; }

/* Names of files may contain anything; a message is one line, and must not control a terminal. */
static void make_printable(void) {
    for (char *at = last_message; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = *at == '\n' ? ' ' : '?';
}

void sagoi_message_keep(char kept[SAGOI_MESSAGE_MAX]) {
    (void)snprintf(kept, SAGOI_MESSAGE_MAX, "%s", sagoi_message());
}

void sagoi_message_set(const char *text) { (void)snprintf(last_message, sizeof last_message, "%s", text); }

sago_status sagoi_fail(sago_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(last_message, sizeof last_message, format, args);
    va_end(args);
    make_printable();
    return status;
}

static sago_status status_of_errno(int error) {
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return SAGO_ERR_NO_FILE;
    case EEXIST:
        return SAGO_ERR_EXISTS;
    case EACCES:
    case EPERM:
        return SAGO_ERR_ACCESS;
    case EROFS:
        return SAGO_ERR_READ_ONLY;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
        return SAGO_ERR_BAD_FILE;
    case ENOSPC:
        return SAGO_ERR_NO_SPACE;
    case EDQUOT:
        return SAGO_ERR_QUOTA;
    case ENOMEM:
        return SAGO_ERR_MEMORY;
    default:
        return SAGO_ERR_IO;
    }
}

sago_status sagoi_fail_errno(int error, const char *format, ...) {
    char what[SAGOI_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    char reason[128];
    return sagoi_fail(status_of_errno(error), "%s: %s", what, strerror_r(error, reason, sizeof reason));
}

void sagoi_message_prefix(const char *format, ...) {
    char prefix[SAGOI_MESSAGE_MAX], rest[SAGOI_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    (void)snprintf(rest, sizeof rest, "%s", last_message);
    (void)snprintf(last_message, sizeof last_message, "%.200s%.300s", prefix, rest);
    make_printable();
}
