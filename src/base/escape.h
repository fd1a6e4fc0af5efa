/* Texts of any bytes, as names of files are, inside JSON and XML. */
#ifndef SAGOI_ESCAPE_H
#define SAGOI_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* In quotes.  "<", ">" and "&" are escaped, too, so that the JSON may stand in a page. */
void sagoi_escape_json(FILE *out, const char *text, size_t length);

/* XML has no way to write control characters and bytes that are no UTF-8: each becomes "_". */
void sagoi_escape_xml(FILE *out, const char *text);

#endif
