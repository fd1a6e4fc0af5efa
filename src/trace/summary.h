/* SAGO_STATS for programs that call Sago: the same lines and the same JSON as those of the drop-in, from a record.
 */
#ifndef SAGOI_SUMMARY_H
#define SAGOI_SUMMARY_H

#include <stdio.h>

#include "trace/rank_record.h"

void sagoi_summary_print(const sagoi_record *record, void (*tell)(const char *line));
void sagoi_summary_json(FILE *out, const sagoi_record *record);

#endif
