#include "defer/pace.h"

#include "base/checked.h"

/* At first few calls are deferred, since nothing is known of the next ones; nine variables fit.  The number grows
 * from move to move. */
enum { FIRST = 16, GROWTH = 8, MOST = 64 << 10, LONGEST_WAIT = 1024, LEAST_TOGETHER = 4 };

void sagoi_pace_init(sagoi_pace *pace, bool eager) {
    *pace = (sagoi_pace){.every = eager ? FIRST : 1, .wait = 2, .longest = 2};
}

bool sagoi_pace_count(sagoi_pace *pace) {
    return ++pace->since >= (sagoi_pace_defers(pace) ? pace->every : pace->wait);
}

void sagoi_pace_meet(sagoi_pace *pace, int64_t largest, int64_t room, bool harmful, bool due) {
    bool deferred = sagoi_pace_defers(pace);
    pace->since = 0;
    pace->largest = sagoi_max(largest, pace->largest / 2);
    int64_t fit = sagoi_min(room / sagoi_max(1, pace->largest), MOST);
    if (harmful || fit < LEAST_TOGETHER) {
        pace->every = 1;
        pace->wait = pace->longest;
        pace->longest = sagoi_min(2 * pace->longest, LONGEST_WAIT);
        return;
    }
    pace->longest = 2;
    pace->every = sagoi_min(fit, !deferred ? FIRST : due ? pace->every * GROWTH : pace->every);
}
