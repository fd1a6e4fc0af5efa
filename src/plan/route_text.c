/* Routes as text. */
#include <inttypes.h>
#include <stdio.h>

#include "plan/draft.h"
#include "plan/route.h"

const char *sagoi_company_name(sagoi_company company) {
    static const char *const names[] = {"alone", "asking", "convening", "together"};
    return names[company];
}

const char *sagoi_method_name(sagoi_method method) {
    static const char *const names[] = {"nothing", "one piece", "read-through", "mapped", "direct", "aggregated"};
    return names[method];
}

const char *sagoi_worker_name(sagoi_worker worker) {
    return worker == SAGOI_BY_THREAD ? "by the I/O thread" : "by the caller";
}

const char *sagoi_moment_name(sagoi_moment moment) {
    static const char *const names[] = {"now", "deferred", "to local storage first"};
    return names[moment];
}

/* How a stage before the file moves the data is decided when it does. */
void sagoi_route_name(const sagoi_route *route, char text[SAGOI_ROUTE_TEXT_MAX]) {
    if (route->choice.moment != SAGOI_NOW) {
        (void)snprintf(text, SAGOI_ROUTE_TEXT_MAX, "%s, %s", sagoi_company_name(route->choice.company),
                       sagoi_moment_name(route->choice.moment));
        return;
    }
    (void)snprintf(text, SAGOI_ROUTE_TEXT_MAX, "%s, %s, %s, %s", sagoi_company_name(route->choice.company),
                   sagoi_method_name(route->method), sagoi_worker_name(route->worker),
                   sagoi_moment_name(route->choice.moment));
}

#define NOTHING_TO_GATHER "no rank has more than one run: nothing to gather"

const char *sagoi_route_ungathered(void) { return "strategy: direct, " NOTHING_TO_GATHER "\n"; }

/* What a sentence says of the route's two numbers. */
typedef enum { NO_NUMBERS, SIZE, TWO_SIZES, COUNT_AND_SIZE, COUNT_AND_LIMIT } numbers;

typedef struct reason {
    numbers numbers;
    const char *sentence;
} reason;

static const reason reasons[] = {
    [SAGOI_WHY_INDEPENDENT] = {NO_NUMBERS, "the call is of this rank alone"},
    [SAGOI_WHY_INDEPENDENT_TIER] = {NO_NUMBERS, "the call is of this rank alone, on a file with sago_tier=local"},
    [SAGOI_WHY_TIER] = {NO_NUMBERS,
                        "sago_tier=local: writes go to local storage, and to the file at the next sync"},
    [SAGOI_WHY_DEFERRED] = {NO_NUMBERS,
                            "sago_defer: data that fits is copied, and moved with that of other calls"},
    [SAGOI_WHY_DECLARED] = {NO_NUMBERS, "declared variables move in one step of all ranks"},
    [SAGOI_WHY_AGREE_ALWAYS] = {NO_NUMBERS, "sago_agree=always: all ranks learn how each call went"},
    [SAGOI_WHY_SEVERAL_NODES] = {NO_NUMBERS, "the ranks are on several nodes"},
    [SAGOI_WHY_NOT_LOCAL] = {NO_NUMBERS, "the file system is not of one kernel"},
    [SAGOI_WHY_STRATEGY_HINT] = {NO_NUMBERS, "sago_strategy asks for a plan"},
    [SAGOI_WHY_AFTER_OTHERS] = {NO_NUMBERS, "deferred or local data of other calls goes to the file first"},
    [SAGOI_WHY_IN_ORDER] = {NO_NUMBERS, "nonblocking calls by extents are done in one order by all ranks"},
    [SAGOI_WHY_ONE_RANK] = {NO_NUMBERS, "there is one rank"},
    [SAGOI_WHY_TURN] = {NO_NUMBERS, "sago_agree=turn, and every part is served well alone"},
    [SAGOI_WHY_ASK] = {NO_NUMBERS, "the ranks meet once, and each says whether it can go alone"},
    [SAGOI_WHY_ALL_WILLING] = {NO_NUMBERS, "no rank's part would be served better together"},
    [SAGOI_WHY_ANY_UNWILLING] = {NO_NUMBERS, "some rank's part is served better together"},
    [SAGOI_WHY_APART] = {NO_NUMBERS, "sago_nonblocking=apart: together if all ranks come to the call in time"},
    [SAGOI_WHY_NOTHING_TO_GATHER] = {NO_NUMBERS, NOTHING_TO_GATHER},
    [SAGOI_WHY_ONE_PIECE] = {SIZE, "one run of %s, which one system call moves"},
    [SAGOI_WHY_CLOSE_RUNS] = {COUNT_AND_SIZE, "%" PRId64 " runs within %s: one call reads them with the gaps"},
    [SAGOI_WHY_MANY_SHORT_RUNS] = {COUNT_AND_LIMIT, "%" PRId64 " short runs, more than %" PRId64
                                                    ": system calls would cost more than the pages"},
    [SAGOI_WHY_ACCESSED_AGAIN] = {TWO_SIZES, "%s of a range of %s that was accessed twice before"},
    [SAGOI_WHY_NOT_MAPPABLE] = {COUNT_AND_SIZE, "%" PRId64 " runs, %s in all, of a file that cannot be mapped"},
    [SAGOI_WHY_HOLES] = {TWO_SIZES, "the file may have holes, and %s are less than %s, half of the range"},
    [SAGOI_WHY_SYSTEM_CALLS] = {COUNT_AND_LIMIT,
                                "%" PRId64 " runs, of a part of the file that was not accessed twice "
                                "before, or at most %" PRId64 " short ones"},
    [SAGOI_WHY_PLANNED] = {NO_NUMBERS, "as the plan says"},
    [SAGOI_WHY_IN_PLACE] = {NO_NUMBERS, "the accessed range is in the file already, without holes"},
    [SAGOI_WHY_NOTHING] = {NO_NUMBERS, "nothing is accessed"},
    [SAGOI_WHY_SEVERAL_RUNS] = {COUNT_AND_LIMIT, "%" PRId64 " runs, not one"},
    [SAGOI_WHY_MEMORY_IN_PIECES] = {TWO_SIZES,
                                    "memory in pieces, or of a device, %s, and more than %s is not packed"},
    [SAGOI_WHY_WRITES] = {NO_NUMBERS, "nothing is written that nobody asked for"},
    [SAGOI_WHY_LONG_RANGE] = {TWO_SIZES, "a range of %s, more than %s"},
    [SAGOI_WHY_GAPS] = {TWO_SIZES, "gaps and copying cost as much as reading %s, the calls saved %s"},
    [SAGOI_WHY_A_CALL_A_RUN] = {COUNT_AND_SIZE, "%" PRId64 " system calls for %s"},
};
_Static_assert(sizeof reasons / sizeof *reasons == SAGOI_WHY_COUNT, "every reason has a sentence");

void sagoi_route_why(sagoi_why why, int64_t number, int64_t beside, char text[SAGOI_ROUTE_TEXT_MAX]) {
    const char *sentence = reasons[why].sentence;
    sagoi_size_text value = sagoi_size_to_text(number), limit = sagoi_size_to_text(beside);
    switch (reasons[why].numbers) {
    case SIZE:
        (void)snprintf(text, SAGOI_ROUTE_TEXT_MAX, sentence, value.text);
        break;
    case TWO_SIZES:
        (void)snprintf(text, SAGOI_ROUTE_TEXT_MAX, sentence, value.text, limit.text);
        break;
    case COUNT_AND_SIZE:
        (void)snprintf(text, SAGOI_ROUTE_TEXT_MAX, sentence, number, limit.text);
        break;
    case COUNT_AND_LIMIT:
        (void)snprintf(text, SAGOI_ROUTE_TEXT_MAX, sentence, number, beside);
        break;
    default:
        (void)snprintf(text, SAGOI_ROUTE_TEXT_MAX, "%s", sentence);
    }
}
