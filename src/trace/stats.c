#include "trace/stats.h"

const char *sago_phase_string(sago_phase phase) {
    static const char *const names[SAGO_PHASE_COUNT] = {"flatten", "plan", "gather", "exchange", "store", "wait"};
    return (int)phase >= 0 && phase < SAGO_PHASE_COUNT ? names[phase] : "unknown phase";
}

const char *sago_flush_string(sago_flush reason) {
    static const char *const names[SAGO_FLUSH_COUNT] = {"memory", "overlap", "read",  "sync", "size",
                                                        "step",   "close",   "asked", "own"};
    return (int)reason >= 0 && reason < SAGO_FLUSH_COUNT ? names[reason] : "unknown reason";
}
