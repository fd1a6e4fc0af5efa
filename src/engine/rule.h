/* The rule of a file in subfiles that was created without one (store/subfile_rule.h): the ranks find it together,
 * or the first collective write makes it. */
#ifndef SAGOI_ENGINE_RULE_H
#define SAGOI_ENGINE_RULE_H

#include "engine/collective.h"

/* Used in the agreement that opens a call: a rank that has found the rule tells its block, as a maximum, and all
 * ranks take it.  If the file has its rule already, *block stays as it is. */
void sagoi_rule_tell(const sago_file *file, int64_t *block);
sago_status sagoi_rule_hear(sago_file *file, int64_t *block) SAGOI_CHECKED;

sagoi_rule_part sagoi_rule_part_of(const sagoi_composed *composed);
/* Collective, called in a write that is to move bytes: chooses a block of its own for every set of nodes, or the
 * default. */
sago_status sagoi_rule_make(const sagoi_call *call) SAGOI_CHECKED;

#endif
