#include "base/escape.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the UTF-8 character at `at`; 0: there is none. */
static size_t utf8_length(const unsigned char *at, size_t room) {
    size_t length = *at < 0x80                  ? 1
                    : *at >= 0xc2 && *at < 0xe0 ? 2
                    : *at >= 0xe0 && *at < 0xf0 ? 3
                    : *at >= 0xf0 && *at < 0xf5 ? 4
                                                : 0;
    if (length > room)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

static bool is_control(unsigned char byte) { return byte < ' ' || byte == 0x7f; }

static bool is_plain(unsigned char byte) {
    return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\' && byte != '<' && byte != '>' && byte != '&';
}

/* Text that needs no escapes is written in one piece, since a trace has millions of names. */
void sagoi_escape_json(FILE *out, const char *text, size_t length) {
    const unsigned char *at = (const unsigned char *)text, *end = at + length, *plain = at;
    while (plain < end && is_plain(*plain))
        plain++;
    fputc('"', out);
    fwrite(at, 1, (size_t)(plain - at), out);
    at = plain;
    while (at < end) {
        size_t width = utf8_length(at, (size_t)(end - at));
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (width == 0 || is_control(*at) || strchr("<>&", *at))
            fprintf(out, "\\u%04x", *at);
        else
            fwrite(at, 1, width, out);
        at += width > 0 ? width : 1;
    }
    fputc('"', out);
}

void sagoi_escape_xml(FILE *out, const char *text) {
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    while (at < end) {
        size_t width = utf8_length(at, (size_t)(end - at));
        const char *name = *at == '&'   ? "&amp;"
                           : *at == '<' ? "&lt;"
                           : *at == '>' ? "&gt;"
                           : *at == '"' ? "&quot;"
                                        : NULL;
        if (name)
            fputs(name, out);
        else if (width == 0 || is_control(*at))
            fputc('_', out);
        else
            fwrite(at, 1, width, out);
        at += width > 0 ? width : 1;
    }
}
