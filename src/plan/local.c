/* Local aggregators by the formula of paper 001, IV-A: c of q ranks, e = q mod c, and the first e groups have one
 * rank more.  (The paper lets i run up to c, which is one rank past the node.) */
#include "base/checked.h"
#include "plan/plan.h"

int64_t sagoi_local_aggregator(int64_t ranks, int64_t c, int64_t i) {
    int64_t small = ranks / c, large = sagoi_div_up(ranks, c), extra = ranks % c;
    return i < extra ? large * i : large * extra + small * (i - extra);
}

int64_t sagoi_local_group(int64_t ranks, int64_t c, int64_t rank) {
    int64_t small = ranks / c, large = sagoi_div_up(ranks, c), extra = ranks % c;
    int64_t in_large = large * extra;
    return rank < in_large ? rank / large : extra + (rank - in_large) / small;
}

int64_t sagoi_slot_rank(int64_t ranks, int64_t slots, int64_t slot) {
    return sagoi_local_aggregator(ranks, slots, slot);
}
