/* Where the front (front/front.c) enters the core. */
#include "dropin_report.h"
#include "entries.h"

void sago_dropin_begin(dropin_next *next, dropin_entry *entries[DROPIN_ENTRY_COUNT]) {
    dropin_begin_report();
    dropin_calls_begin(next, entries);
}
