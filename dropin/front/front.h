/* What the entry points of the front have in common. */
#ifndef DROPIN_FRONT_H
#define DROPIN_FRONT_H

#include <stdatomic.h>
#include <stddef.h>

#include "../entries.h"

extern const char *const front_names[DROPIN_ENTRY_COUNT];

/* Where calls go; NULL: not decided yet. */
extern _Atomic(dropin_entry *) front_entries[DROPIN_ENTRY_COUNT];
/* Decides; `second` is the call's second argument. */
dropin_entry *front_resolve(int index, dropin_word second);

/* Inline, since the calls that complete requests are many, and pay for this also without Sago. */
static inline dropin_entry *front_entry(int index, dropin_word second) {
    dropin_entry *entry = atomic_load_explicit(&front_entries[index], memory_order_acquire);
    return __builtin_expect(entry != NULL, 1) ? entry : front_resolve(index, second);
}

#endif
