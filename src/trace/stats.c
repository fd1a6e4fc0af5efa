#include "trace/stats.h"

const char *sago_phase_string(sago_phase phase) {
    static const char *const names[] = {"flatten", "plan", "gather", "exchange", "store", "wait"};
    _Static_assert(sizeof names / sizeof *names == SAGO_PHASE_COUNT, "every phase has a name");
    return (int)phase >= 0 && phase < SAGO_PHASE_COUNT ? names[phase] : "unknown phase";
}

const char *sago_flush_string(sago_flush reason) {
    static const char *const names[] = {"memory",  "overlap", "read",  "sync", "size", "step",
                                        "started", "close",   "asked", "own",  "room", "age"};
    _Static_assert(sizeof names / sizeof *names == SAGO_FLUSH_COUNT, "every reason has a name");
    return (int)reason >= 0 && reason < SAGO_FLUSH_COUNT ? names[reason] : "unknown reason";
}

const char *sago_route_string(sago_route route) {
    static const char *const names[] = {
        "alone_piece",     "alone_read_through",  "alone_mapped", "alone_direct", "together_direct",
        "together_mapped", "together_aggregated", "nothing",      "deferred",     "local"};
    _Static_assert(sizeof names / sizeof *names == SAGO_ROUTE_COUNT, "every route has a name");
    return (int)route >= 0 && route < SAGO_ROUTE_COUNT ? names[route] : "unknown route";
}
