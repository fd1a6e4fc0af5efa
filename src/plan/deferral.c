#include "plan/deferral.h"

#include "base/checked.h"

bool sagoi_deferral_wanted(const sagoi_hints *hints, int64_t nodes, bool writable, bool readable) {
    if (hints->defer == SAGOI_CHOICE_OFF || hints->tier == SAGOI_TIER_LOCAL || !writable)
        return false;
    return hints->defer == SAGOI_CHOICE_ON || (!readable && nodes > 1 && hints->defer_age > 0);
}

void sagoi_deferral_init(sagoi_deferral *deferral, bool eager) {
    *deferral = (sagoi_deferral){.every = eager ? SAGOI_DEFERRED_FIRST : 1, .wait = 2, .longest = 2};
}

bool sagoi_deferral_count(sagoi_deferral *deferral) {
    return ++deferral->since >= (sagoi_deferral_defers(deferral) ? deferral->every : deferral->wait);
}

void sagoi_deferral_set(sagoi_deferral *deferral, int64_t largest, int64_t room, bool harmful, bool due) {
    bool deferred = sagoi_deferral_defers(deferral);
    deferral->since = 0;
    deferral->largest = sagoi_max(largest, deferral->largest / 2);
    int64_t fit = sagoi_min(room / sagoi_max(1, deferral->largest), SAGOI_DEFERRED_MOST);
    if (harmful || fit < SAGOI_DEFERRED_LEAST) {
        deferral->every = 1;
        deferral->wait = deferral->longest;
        deferral->longest = sagoi_min(2 * deferral->longest, SAGOI_DEFERRED_WAIT_MOST);
        return;
    }
    deferral->longest = 2;
    deferral->every = sagoi_min(fit, !deferred ? SAGOI_DEFERRED_FIRST
                                     : due     ? deferral->every * SAGOI_DEFERRED_GROWTH
                                               : deferral->every);
}

bool sagoi_deferral_harms(int64_t runs, int64_t bytes) {
    return runs > SAGOI_FEW_RUNS && bytes / runs < SAGOI_LONG_RUN_OF_ONE_RANK;
}

int64_t sagoi_deferral_room(int64_t nodes) {
    return nodes == 1 ? SAGOI_DEFERRED_ROOM_ONE_NODE : SAGOI_DEFERRED_ROOM_SEVERAL;
}
