/* Where the front (front/front.c) comes in. */
#include <sago/report.h>

#include "entries.h"

void sago_dropin_begin(dropin_next *next, dropin_entry *entries[DROPIN_ENTRY_COUNT]) {
    sago_report_leave_stats();
    dropin_calls_begin(next, entries);
}
