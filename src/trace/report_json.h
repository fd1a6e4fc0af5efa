/* The report: a record as JSON, and as a page that draws it.  docs/report-schema.md describes the JSON. */
#ifndef SAGOI_REPORT_H
#define SAGOI_REPORT_H

#include <stdio.h>

#include "trace/rank_record.h"

enum { SAGOI_REPORT_SCHEMA = 1, SAGOI_VERDICT_MAX = 12, SAGOI_SENTENCE_MAX = 512 };

/* A sentence or two about the job; `hint`: what to try, "" if nothing. */
typedef struct sagoi_sentence {
    char text[SAGOI_SENTENCE_MAX];
    char hint[64];
} sagoi_sentence;

/* How many there are. */
int64_t sagoi_verdict_of(const sagoi_record *record, sagoi_sentence said[SAGOI_VERDICT_MAX]);

/* The text of page.html, which CMake puts into the library; a NUL is at its end. */
extern const unsigned char sagoi_page_template[];

/* Aligns the record's rows first. */
void sagoi_report_json(FILE *out, sagoi_record *record);

/* A page with everything in it: of one report, or of two side by side.  The JSON is as sagoi_report_json() writes
 * it. */
void sagoi_report_page(FILE *out, const char *const json[], int count);

#endif
