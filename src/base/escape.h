/* Texts of any bytes, such as names of files, inside of JSON and XML. */
#ifndef SAGOI_ESCAPE_H
#define SAGOI_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* Writes the text in quotes.  "<", ">" and "&" are escaped, too, so that the JSON may stand in a page. */
void sagoi_escape_json(FILE *out, const char *text, size_t length);

/* Writes the text for XML.  Control characters and bytes that are not UTF-8 cannot be written in XML: each becomes
 * "_". */
void sagoi_escape_xml(FILE *out, const char *text);

#endif
