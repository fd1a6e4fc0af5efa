/* The rule of a file in subfiles that was made without one (store/subfile_rule.h): found by all ranks together, or
 * made by the first collective write. */
#ifndef SAGOI_ENGINE_RULE_H
#define SAGOI_ENGINE_RULE_H

#include "engine/engine.h"

/* In the agreement that opens a call: whoever has found the rule tells its block, as a maximum, and all take it.
 * Of a file that has its rule *block stays as it is. */
void sagoi_rule_tell(const sago_file *file, int64_t *block);
sago_status sagoi_rule_hear(sago_file *file, int64_t *block) SAGOI_CHECKED;

/* Collective, in a write that is to move bytes: a block of its own for every set of nodes, or the default. */
sago_status sagoi_rule_make(const sagoi_call *call) SAGOI_CHECKED;

#endif
