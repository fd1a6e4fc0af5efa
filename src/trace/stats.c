#include "trace/stats.h"

const char *sago_phase_string(sago_phase phase) {
    static const char *const names[SAGO_PHASE_COUNT] = {"flatten", "plan", "gather", "exchange", "store", "wait"};
    return (int)phase >= 0 && phase < SAGO_PHASE_COUNT ? names[phase] : "unknown phase";
}
