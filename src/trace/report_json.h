/* The report: a record as JSON, and as a page that draws the JSON.  docs/report-schema.md describes the JSON. */
#ifndef SAGOI_REPORT_H
#define SAGOI_REPORT_H

#include <stdio.h>

#include "trace/rank_record.h"

enum { SAGOI_REPORT_SCHEMA = 1, SAGOI_VERDICT_MAX = 12, SAGOI_SENTENCE_MAX = 512 };

/* One or two sentences about the job; `hint`: the hint to try, or "". */
typedef struct sagoi_sentence {
    char text[SAGOI_SENTENCE_MAX];
    char hint[64];
} sagoi_sentence;

/* Fills in the sentences about a record, and returns their number. */
int64_t sagoi_verdict_of(const sagoi_record *record, sagoi_sentence said[SAGOI_VERDICT_MAX]);

/* The text of page.html, which CMake puts into the library, with a NUL at its end. */
extern const unsigned char sagoi_page_template[];

/* Prints a record as JSON; aligns the record's rows first. */
void sagoi_report_json(FILE *out, sagoi_record *record);

/* Prints a page with everything in it, of one report or of two side by side.  The JSON is as sagoi_report_json()
 * prints it. */
void sagoi_report_page(FILE *out, const char *const json[], int count);

#endif
